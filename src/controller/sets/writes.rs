//! Carries out what was decided on the Applications of a set, and tells of it.
//!
//! In:  the changes of a pass, in their order.
//! Out: writes under the name of Argo CD's ApplicationSet controller; events on the set; the first failure.
//! Invariant: one write that fails does not stop the others, but nothing is deleted after a creation or an update failed;
//! the answer to every write goes into the store at once, so that the Application is worked on without waiting for its
//! watch.
//! Source: SET-086, SET-093, SET-094, SET-097 (`applicationset/controllers/applicationset_controller.go`
//! `createOrUpdateInCluster`, `deleteInCluster`).

use serde_json::{Value, json};

use crate::api::appset::ApplicationSet;
use crate::api::names;
use crate::api::status::Time;
use crate::appset::{Change, Patch, WriteError, WriteStage};
use crate::cluster::{Error, Propagation, Resource, Target};
use crate::controller::context::Context;
use crate::controller::queue::AppKey;

/// What became of a change.
enum Done {
    Created,
    Updated,
    Deleted,
    /// It was gone already.
    Nothing,
}

/// Writes the changes; the first failure is returned. Standing down in between ends it without one.
pub async fn carry_out(ctx: &Context, set: &ApplicationSet, changes: &[Change]) -> Option<WriteError> {
    for stage in [WriteStage::Apply, WriteStage::Delete] {
        let mut failure = None;
        for change in changes.iter().filter(|change| stage_of(change) == stage) {
            if !ctx.sets.is_at_work() {
                return None;
            }
            match write(ctx, set, change).await {
                Ok(done) => tell(ctx, set, change.name(), &done).await,
                Err(message) => {
                    tracing::warn!(application = change.name(), reason = message, "Failed to write Application");
                    failure.get_or_insert(WriteError { stage, message });
                }
            }
        }
        if failure.is_some() {
            return failure;
        }
    }
    None
}

fn stage_of(change: &Change) -> WriteStage {
    if matches!(change, Change::Delete { .. }) { WriteStage::Delete } else { WriteStage::Apply }
}

async fn write(ctx: &Context, set: &ApplicationSet, change: &Change) -> Result<Done, String> {
    let text = |error: Error| error.to_string();
    match change {
        Change::Create { object, .. } => {
            let permit = ctx.sets.leave().map_err(text)?;
            let object = with_empty_status(object);
            let made = ctx.cluster.create(permit, &ctx.applications, &object, names::SETS_MANAGER).await;
            ctx.absorb(&made.map_err(text)?);
            Ok(Done::Created)
        }
        Change::Update { name, patch } => {
            self::patch(ctx, &key(set, name), patch).await.map_err(text)?;
            Ok(Done::Updated)
        }
        Change::Delete { name, uid, finalizers } => delete(ctx, set, (name, uid), finalizers.as_deref()).await,
        Change::Refused { message, .. } => Err(message.clone()),
    }
}

/// The object with what Argo CD's own client sends of a status that is empty, and which stays there for ever.
fn with_empty_status(object: &Value) -> Value {
    let mut object = object.clone();
    crate::api::object::child_map(&mut object, "status")
        .extend([("sourceHydrator".to_owned(), json!({})), ("summary".to_owned(), json!({}))]);
    object
}

fn key(set: &ApplicationSet, name: &str) -> AppKey {
    AppKey { namespace: set.metadata.namespace.clone(), name: name.to_owned() }
}

/// Patches an Application and stores the answer.
pub async fn patch(ctx: &Context, app: &AppKey, patch: &Patch) -> Result<(), Error> {
    let target = Target::new(&ctx.applications, &app.namespace, &app.name);
    let permit = ctx.sets.leave()?;
    let answer = match patch {
        Patch::Merge(body) => ctx.cluster.merge_patch(permit, &target, body, names::SETS_MANAGER).await,
        Patch::Json(body) => ctx.cluster.json_patch(permit, &target, body, names::SETS_MANAGER).await,
    };
    if let Err(Error::NotFound(_)) = &answer {
        ctx.forget_app(app);
    }
    ctx.absorb(&answer?);
    Ok(())
}

async fn delete(
    ctx: &Context,
    set: &ApplicationSet,
    (name, uid): (&str, &str),
    finalizers: Option<&[String]>,
) -> Result<Done, String> {
    let app = key(set, name);
    if let Some(kept) = finalizers {
        let list = if kept.is_empty() { Value::Null } else { json!(kept) };
        // The uid holds off a namesake, and so it does below.
        let body = json!({"metadata": {"uid": uid, "finalizers": list}});
        match patch(ctx, &app, &Patch::Merge(body)).await {
            Ok(()) => {}
            Err(Error::NotFound(_)) => return Ok(Done::Nothing),
            Err(error) => return Err(format!("error updating finalizers: {error}")),
        }
        let why = "finalizer before deletion, because application has an invalid destination";
        event(ctx, set, "Updated", format!("Updated Application {name:?} {why}")).await;
    }
    remove(ctx, &app, uid).await.map_err(|error| error.to_string())
}

/// Deletes an Application in the background.
async fn remove(ctx: &Context, app: &AppKey, uid: &str) -> Result<Done, Error> {
    let target = Target::new(&ctx.applications, &app.namespace, &app.name);
    let uid = Some(uid).filter(|uid| !uid.is_empty());
    match ctx.cluster.delete(ctx.sets.leave()?, &target, Propagation::Background, uid).await {
        Ok(answer) => {
            // The answer may show it as it was before; whether it is gone only the watch or its finalizers tell.
            if let Some(left) = answer {
                ctx.absorb(&left);
            }
            Ok(Done::Deleted)
        }
        Err(Error::NotFound(_)) => {
            ctx.forget_app(app);
            Ok(Done::Nothing)
        }
        Err(error) => Err(error),
    }
}

/// Deletes one Application of a set that is being deleted itself.
pub async fn remove_for_good(ctx: &Context, set: &ApplicationSet, (name, uid): (&str, &str)) -> Result<(), Error> {
    remove(ctx, &key(set, name), uid).await.map(drop)
}

async fn tell(ctx: &Context, set: &ApplicationSet, name: &str, done: &Done) {
    let (reason, verb) = match done {
        Done::Created => ("created", "created"),
        Done::Updated => ("updated", "updated"),
        Done::Deleted => ("Deleted", "Deleted"),
        Done::Nothing => return,
    };
    tracing::info!(application = name, "{verb} Application");
    event(ctx, set, reason, format!("{verb} Application {name:?}")).await;
}

/// Posts an event about the set; a failure is only logged, as in Argo CD.
async fn event(ctx: &Context, set: &ApplicationSet, reason: &str, message: String) {
    let Ok(permit) = ctx.sets.leave() else { return };
    let resource = Resource {
        version: "v1".to_owned(),
        kind: "Event".to_owned(),
        plural: "events".to_owned(),
        namespaced: true,
        ..Resource::default()
    };
    let object = event_object(set, (reason, &message), ctx.now());
    if let Err(error) = ctx.cluster.create(permit, &resource, &object, names::SETS_MANAGER).await {
        tracing::warn!(reason = %error, "Unable to create an event");
    }
}

fn event_object(set: &ApplicationSet, (reason, message): (&str, &str), now: jiff::Timestamp) -> Value {
    let (meta, time) = (&set.metadata, Time::from_timestamp(now));
    json!({
        "apiVersion": "v1",
        "kind": "Event",
        "metadata": {"name": format!("{}.{:x}", meta.name, now.as_nanosecond()), "namespace": meta.namespace},
        "involvedObject": {
            "apiVersion": format!("{}/v1alpha1", names::GROUP),
            "kind": crate::appset::live::KIND,
            "name": meta.name,
            "namespace": meta.namespace,
            "resourceVersion": meta.resource_version,
            "uid": meta.uid,
        },
        "source": {"component": "applicationset-controller"},
        "reportingComponent": "applicationset-controller",
        "firstTimestamp": time,
        "lastTimestamp": time,
        "count": 1,
        "type": "Normal",
        "reason": reason,
        "message": message,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn deletions_are_a_stage_of_their_own() {
        let gone = Change::Delete { name: "a".to_owned(), uid: "1".to_owned(), finalizers: None };
        let refused = Change::Refused { name: "a".to_owned(), message: "owned".to_owned() };
        assert_eq!([stage_of(&gone), stage_of(&refused)], [WriteStage::Delete, WriteStage::Apply]);
    }

    #[test]
    fn events_are_about_the_set() {
        let set: ApplicationSet = serde_json::from_value(json!({
            "metadata": {"name": "shop", "namespace": "argocd", "uid": "1"},
            "spec": {"generators": [], "template": {"metadata": {}, "spec": {}}},
        }))
        .unwrap();
        let now = jiff::Timestamp::from_second(1_700_000_000).unwrap();
        let event = event_object(&set, ("created", "created Application \"a\""), now);
        assert_eq!(event["involvedObject"]["kind"], "ApplicationSet");
        assert_eq!(event["metadata"]["name"], "shop.17979cfe362a0000");
        assert_eq!((&event["type"], &event["reason"]), (&json!("Normal"), &json!("created")));
    }
}
