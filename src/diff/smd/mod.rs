//! Predicts a server-side apply: merges by schema and ownership instead of by what was applied last.
//!
//! In:  a desired and a live object; the live object's managedFields say who owns what.
//! Out: the live object and what it would become; for managedFieldsManagers rules, both sides without what the
//!      managers changed.
//! Invariant: fields that another manager owns are never removed.
//! Source: DIFF-044 to DIFF-046, DIFF-083 to DIFF-085 (`gitops-engine/pkg/diff/diff.go` structuredMergeDiff,
//! `util/argo/managedfields`, structured-merge-diff 6.4.0). Kinds outside client-go's scheme have no schema here:
//! their lists merge by the keys that managedFields show for them, and as one value where none are shown. Argo CD
//! reads the cluster's OpenAPI document for those.

mod check;
mod merge;
mod place;
mod prune;
mod webhook;

use serde_json::Value;

use super::fields::{self, Fields};
use super::{Difference, defaults};
use crate::api::names::{FIELD_MANAGER, LAST_APPLIED};
use crate::api::object::ObjectExt;
use place::Place;

pub use webhook::{WebhookError, without_webhook_changes};

/// Which side does not fit its type.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum Error {
    /// The live object.
    #[error("error building typed value from live resource: {0}")]
    Live(check::Problems),
    /// The desired object.
    #[error("error building typed value from config resource: {0}")]
    Config(check::Problems),
}

/// Compares as server-side apply by Argo CD's manager would change the live object.
pub fn compare(target: &Value, live: &Value) -> Result<Difference, Error> {
    let merged = apply(target, live)?;
    if merged == *live {
        return Ok(Difference { modified: false, live: merged.clone(), predicted: merged });
    }
    Ok(Difference::between(finished(live.clone()), finished(merged)))
}

/// The live object after a server-side apply by Argo CD's manager, conflicts forced.
pub fn apply(target: &Value, live: &Value) -> Result<Value, Error> {
    let owners = fields::owners(live);
    let mut all = Fields::default();
    owners.iter().for_each(|owner| all.extend(&owner.fields));
    let root = Place::root(target, &all);
    check::check(live, root).map_err(Error::Live)?;
    check::check(target, root).map_err(Error::Config)?;

    let mut kept = merge::field_set(target, root);
    let mut last = Fields::default();
    for owner in &owners {
        let is_ours = owner.manager == FIELD_MANAGER && owner.operation == "Apply" && owner.subresource.is_empty();
        if is_ours { &mut last } else { &mut kept }.extend(&owner.fields);
    }
    Ok(prune::prune(merge::merge(live, target, root), root, &last, Some(&kept)))
}

fn finished(mut object: Value) -> Value {
    if let Some(Value::Object(annotations)) = object.metadata_mut().get_mut("annotations") {
        annotations.remove(LAST_APPLIED);
    }
    defaults::with_defaults(object)
}

/// Both sides without the fields that these managers own and that differ. Fields of one side only stay; objects that
/// do not fit their type stay as they are.
pub fn without_managed(target: &Value, live: &Value, managers: &[&str]) -> (Value, Value) {
    let owners = fields::owners(live);
    let mut all = Fields::default();
    owners.iter().for_each(|owner| all.extend(&owner.fields));
    let root = Place::root(target, &all);
    let fit = check::check(live, root).is_ok() && check::check(target, root).is_ok();
    let (mut target, mut live) = (target.clone(), live.clone());
    if !fit {
        return (target, live);
    }
    let changed = merge::modified(&live, &target, root);
    for owner in owners.iter().filter(|owner| managers.contains(&owner.manager.as_str())) {
        let theirs = prune::intersection(&owner.fields, &changed);
        target = prune::remove(target, root, &theirs);
        live = prune::remove(live, root, &theirs);
    }
    (target, live)
}
