//! Stores the status of a set.
//!
//! In:  the status that was decided.
//! Out: the smallest merge patch of the status subresource that says it; none where nothing changed.
//! Source: SET-106, SET-109 (`applicationset/controllers/applicationset_controller.go`
//! `setApplicationSetStatusCondition`, `updateResourcesStatus`).

use serde_json::{Value, json};

use super::feed;
use crate::api::appset::{ApplicationSet, ApplicationSetStatus};
use crate::api::names;
use crate::cluster::{Error, Target};
use crate::controller::context::Context;
use crate::controller::queue::AppKey;
use crate::status::merge_patch;

/// Stores a status; `set` is the set as it is stored, and carries the status afterwards.
pub async fn store(ctx: &Context, set: &mut ApplicationSet, status: ApplicationSetStatus) -> Result<(), Error> {
    let Some(patch) = patch(&set.status, &status) else { return Ok(()) };
    let sets = &ctx.sets;
    let (namespace, name) = (&set.metadata.namespace, &set.metadata.name);
    let target = Target { subresource: "status", ..Target::new(&sets.resource, namespace, name) };
    let answer = ctx.cluster.merge_patch(sets.leave()?, &target, &patch, names::SETS_MANAGER).await;
    if let Err(Error::NotFound(_)) = &answer {
        sets.forget(&AppKey { namespace: namespace.clone(), name: name.clone() });
        return Ok(());
    }
    feed::absorb(ctx, &answer?);
    set.status = status;
    Ok(())
}

fn patch(old: &ApplicationSetStatus, new: &ApplicationSetStatus) -> Option<Value> {
    let value = |status: &ApplicationSetStatus| serde_json::to_value(status).unwrap_or_default();
    merge_patch(&value(old), &value(new)).map(|status| json!({"status": status}))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_what_changed_is_sent() {
        let old = ApplicationSetStatus { resources_count: 3, ..ApplicationSetStatus::default() };
        assert_eq!(patch(&old, &old), None);
        let new = ApplicationSetStatus { resources_count: 4, ..old.clone() };
        assert_eq!(patch(&old, &new), Some(json!({"status": {"resourcesCount": 4}})));
    }
}
