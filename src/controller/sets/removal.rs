//! The deletion of a set.
//!
//! In:  a set with a deletion timestamp.
//! Out: its Applications disowned or deleted one by one where that is wanted; its finalizer taken away last.
//! Source: SET-095, SET-132 (`applicationset/controllers/applicationset_controller.go`
//! `removeOwnerReferencesOnDeleteAppSet`).

use std::time::Duration;

use serde_json::{Value, json};

use super::turns::End;
use super::{feed, reconcile, writes};
use crate::api::appset::ApplicationSet;
use crate::api::names;
use crate::appset::Patch;
use crate::appset::deletion::{self, Step};
use crate::cluster::{Error, Target};
use crate::controller::context::Context;
use crate::controller::queue::AppKey;

/// Takes the next steps.
pub async fn run(ctx: &Context, key: &AppKey, set: &ApplicationSet) -> End {
    match steps(ctx, key, set).await {
        Ok(again) => End::Again(again),
        Err(error) => {
            tracing::warn!(reason = %error, "Failed to delete ApplicationSet");
            End::Failed
        }
    }
}

async fn steps(ctx: &Context, key: &AppKey, set: &ApplicationSet) -> Result<Option<Duration>, Error> {
    let wait = Duration::try_from(deletion::WAIT).ok();
    let mut live = reconcile::owned(ctx, key);
    loop {
        match deletion::step(set, &ctx.sets.options, &live, reconcile::now(ctx)) {
            Step::Disown(names) => {
                disown(ctx, key, &names).await?;
                live = reconcile::owned(ctx, key);
                // What still counts as owned was written by somebody else in between.
                if live.iter().any(|app| names.contains(&app.name)) {
                    return Err(refused("an Application got its owner back"));
                }
            }
            Step::Delete { name, uid } => {
                writes::remove_for_good(ctx, set, (&name, &uid)).await?;
                return Ok(wait);
            }
            Step::Wait => return Ok(wait),
            Step::Stuck { name, error } => {
                let app = AppKey { namespace: key.namespace.clone(), name };
                if ctx.read_app(&app).await?.is_some() {
                    return Err(refused(&error));
                }
                live.retain(|known| known.name != app.name);
            }
            Step::Release => return release(ctx, key, set).await.map(|()| None),
        }
    }
}

fn refused(text: &str) -> Error {
    Error::Refused { text: text.to_owned() }
}

/// Takes all owners from Applications, lest they are collected with the set.
async fn disown(ctx: &Context, key: &AppKey, names: &[String]) -> Result<(), Error> {
    for name in names {
        let app = AppKey { namespace: key.namespace.clone(), name: name.clone() };
        let patch = Patch::Merge(json!({"metadata": {"ownerReferences": null}}));
        match writes::patch(ctx, &app, &patch).await {
            Ok(()) | Err(Error::NotFound(_)) => {}
            Err(error) => return Err(error),
        }
    }
    Ok(())
}

/// Takes the finalizer from the set, with the version that was looked at: a whole list is written.
async fn release(ctx: &Context, key: &AppKey, set: &ApplicationSet) -> Result<(), Error> {
    let kept: Vec<&String> =
        set.metadata.finalizers.iter().filter(|name| *name != names::RESOURCES_FINALIZER).collect();
    if kept.len() == set.metadata.finalizers.len() {
        return Ok(());
    }
    let list = if kept.is_empty() { Value::Null } else { json!(kept) };
    finalizers(ctx, key, set, &list).await
}

/// Writes the list of a set's finalizers.
pub async fn finalizers(ctx: &Context, key: &AppKey, set: &ApplicationSet, list: &Value) -> Result<(), Error> {
    let body = json!({"metadata": {"resourceVersion": set.metadata.resource_version, "finalizers": list}});
    let target = Target::new(&ctx.sets.resource, &key.namespace, &key.name);
    match ctx.cluster.merge_patch(ctx.sets.leave()?, &target, &body, names::SETS_MANAGER).await {
        Ok(answer) => feed::absorb(ctx, &answer),
        Err(Error::NotFound(_)) => ctx.sets.forget(key),
        Err(error) => return Err(error),
    }
    Ok(())
}

/// The finalizers of a set whose Applications shall go one after the other; nothing when they are as they shall be.
pub fn wanted_finalizers(set: &ApplicationSet, progressive: bool) -> Option<Vec<String>> {
    let known = &set.metadata.finalizers;
    let has = known.iter().any(|name| name == names::RESOURCES_FINALIZER);
    (progressive && deletion::is_reversed(set) && !has)
        .then(|| known.iter().cloned().chain([names::RESOURCES_FINALIZER.to_owned()]).collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_set_whose_applications_go_in_reverse_waits_for_them() {
        let set = |order: &str, finalizers: &[&str]| -> ApplicationSet {
            serde_json::from_value(json!({
                "metadata": {"name": "a", "finalizers": finalizers},
                "spec": {"generators": [], "template": {"metadata": {}, "spec": {}}, "strategy":
                    {"type": "RollingSync", "deletionOrder": order, "rollingSync": {"steps": [{}]}}},
            }))
            .unwrap()
        };
        let own = names::RESOURCES_FINALIZER;
        let wanted = |set: &ApplicationSet| wanted_finalizers(set, true);
        assert_eq!(wanted(&set("reverse", &["x"])), Some(vec!["x".to_owned(), own.to_owned()]));
        assert_eq!(wanted(&set("Reverse", &[own])), None);
        assert_eq!(wanted(&set("AllAtOnce", &[])), None);
        assert_eq!(wanted_finalizers(&set("Reverse", &[]), false), None);
    }
}
