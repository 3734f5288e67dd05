//! All that may hold the prunes of an automated sync back.

use super::budget::{PruneBudget, Prunes};
use super::partial::PartialRender;

/// What holds prunes back; nothing unless somebody or something gives a reason.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct PruneGuard {
    /// The budget somebody set.
    pub budget: Option<PruneBudget>,
    /// Sources that rendered nothing beside others that did.
    pub partial: Option<PartialRender>,
}

impl PruneGuard {
    /// Why a sync may not prune what it would prune; `None` when it may.
    pub fn objection(&self, prunes: &Prunes) -> Option<String> {
        let partial = self.partial.as_ref().and_then(|partial| partial.objection(prunes));
        partial.or_else(|| self.budget.as_ref()?.objection(prunes))
    }
}
