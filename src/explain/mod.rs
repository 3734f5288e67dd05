//! What a person reads about a verdict: what differs and whose it is, which rule matters, what comes next and what
//! holds it.
//!
//! In:  [`Facts`]: an Application, its compared objects, settings, the time.
//! Out: a unified diff ([`diff`]), and a [`Report`] that answers "why" as text and as JSON.
//! Invariant: everything is computed from what the comparison saw; no value of a Secret is in any output.
//! Source: litecd's own; masks follow DIFF-121 to DIFF-128.

mod body;
mod changes;
pub mod diff;
mod health;
mod hold;
mod lost;
mod next;
mod owners;
pub mod published;
mod report;
mod rules;
mod shown;
mod text;

#[cfg(test)]
mod tests;

use std::collections::BTreeSet;

use jiff::Timestamp;

use crate::api::project::SyncWindow;
use crate::api::status::{Condition, ResourceStatus, SyncStatus};
use crate::api::{Application, GroupKind, ResourceKey};
use crate::compare::Paired;
use crate::diff::{Difference, SystemRules};
use crate::guard::Verdict;
use crate::health::Health;
use crate::sync::auto::SelfHealBackoff;
use crate::sync::budget::Prunes;
use crate::sync::prune_guard::PruneGuard;

pub use health::Cause;
pub use next::Next;
pub use report::{FieldReport, LostReport, ObjectReport, Report, why};
pub use rules::{Effect, RuleNote};

/// What is known about an Application after one comparison.
pub struct Facts {
    /// The Application as read.
    pub app: Application,
    /// Result of the comparison.
    pub status: SyncStatus,
    /// Health of the Application as the comparison found it.
    pub health: String,
    /// What the comparison and the check of the spec have to say.
    pub conditions: Vec<Condition>,
    /// Compared objects, in pair order.
    pub resources: Vec<ResourceStatus>,
    /// Both sides, in the same order.
    pub paired: Paired,
    /// Differences, in the same order; empty when nothing could be compared.
    pub differences: Vec<Difference>,
    /// Health of each live object, in the same order; nothing where nobody defines one.
    pub healths: Vec<Option<Health>>,
    /// Kinds that the cluster does not know.
    pub unknown_kinds: BTreeSet<GroupKind>,
    /// Rules of `argocd-cm`.
    pub system: SystemRules,
    /// Annotations of Secrets that are hidden.
    pub hidden: BTreeSet<String>,
    /// Sync windows of the project.
    pub windows: Vec<SyncWindow>,
    /// Who may write.
    pub verdict: Verdict,
    /// What an automated sync would prune.
    pub prunes: Prunes,
    /// What of that it may not.
    pub prune_guard: PruneGuard,
    /// How self-heal attempts are spaced.
    pub backoff: SelfHealBackoff,
    /// The time.
    pub now: Timestamp,
}

/// An object as headings name it: `apps/Deployment shop/web`, core kinds and cluster-scoped objects shorter.
pub fn heading(key: &ResourceKey) -> String {
    let kind = if key.group.is_empty() { key.kind.clone() } else { format!("{}/{}", key.group, key.kind) };
    if key.namespace.is_empty() {
        format!("{kind} {}", key.name)
    } else {
        format!("{kind} {}/{}", key.namespace, key.name)
    }
}
