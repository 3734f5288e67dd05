//! Writes to Applications: status, history, operation state, finalizers, events.
//!
//! In:  what was decided, and the verdict on who may write.
//! Out: the smallest merge patch that says it; the answer goes into the store at once.
//! Source: APP-042 to APP-048, APP-161, APP-259 to APP-268 (`controller/appcontroller.go`).

use std::collections::BTreeMap;
use std::time::Duration;

use serde_json::{Value, json};

use super::context::Context;
use super::queue::AppKey;
use super::stores::StoredApp;
use crate::api::operation::OperationState;
use crate::api::status::{ApplicationStatus, Time};
use crate::api::{ObjectExt, names};
use crate::cluster::{Error, Resource};
use crate::compare::Level;
use crate::gocompat::glob;
use crate::health::Code;
use crate::status::{self, events, events::Event};
use crate::sync::lifecycle::{self, PatchKind};

/// Stores a refresh's result and takes the refresh annotation away; sends nothing when nothing changed.
pub async fn status(ctx: &Context, app: &StoredApp, mut new: ApplicationStatus) {
    let old = &app.app.status;
    let now = Time::from_timestamp(ctx.now());
    for change in status::events::status_changed(old, &new) {
        event(ctx, app, &change).await;
    }
    status::settle_health(old, &mut new, now);
    let consumes = app.raw.annotation(names::REFRESH).is_some();
    let Some(patch) = status::status_patch(old, &new, consumes) else {
        tracing::debug!("No status changes. Skipping patch");
        return;
    };
    match ctx.patch_app(app, &patch).await {
        Ok(()) | Err(Error::NotFound(_)) => {}
        Err(Error::TooLarge(_)) => {
            tracing::warn!(
                "Application status exceeds the Kubernetes resource size limit; falling back to error condition only"
            );
            let Some(patch) = status::oversize_patch(old, consumes, now) else { return };
            if let Err(error) = ctx.patch_app(app, &patch).await {
                tracing::error!(reason = %error, "Error persisting fallback status with error condition");
            }
        }
        Err(error) => {
            tracing::warn!(reason = %error, "Error updating application");
            ctx.again(&app.key(), Some(Level::Recent));
        }
    }
}

/// What an operation's state is stored over.
pub struct Stored<'a> {
    /// Whether an attempt begins or goes on.
    pub kind: PatchKind,
    /// The state the API server holds now.
    pub read: Option<&'a OperationState>,
    /// The application's health, where the operation made it worse.
    pub health: Option<Code>,
}

/// Stores an operation's state; retried until it is stored or the application is gone, which gives `false`.
///
/// A completed phase also removes `.operation` and is announced.
pub async fn operation_state(ctx: &Context, app: &StoredApp, stored: Stored<'_>, state: &mut OperationState) -> bool {
    let Some(mut patch) = lifecycle::patch(stored.kind, stored.read, state, ctx.now()) else { return true };
    if let Some(code) = stored.health {
        let mut new = app.app.status.clone();
        new.health.status = code.to_string();
        for change in status::events::status_changed(&app.app.status, &new) {
            event(ctx, app, &change).await;
        }
        let now = Time::from_timestamp(ctx.now());
        patch["status"]["health"] = json!({"status": code.as_str(), "lastTransitionTime": now});
    }
    if !retry_until_stored(ctx, app, &patch).await {
        return false;
    }
    tracing::info!(phase = state.phase, "updated operation");
    if state.is_completed() {
        event(ctx, app, &status::events::operation_completed(state)).await;
    }
    true
}

/// Sends the patch until it is stored; `false` when it never will be.
pub async fn retry_until_stored(ctx: &Context, app: &StoredApp, patch: &Value) -> bool {
    loop {
        match ctx.patch_app(app, patch).await {
            Ok(()) => return true,
            Err(Error::NotFound(_) | Error::Refused { .. }) => return false,
            // These will be refused for ever; the operation is tried again from what is stored.
            Err(error @ (Error::Invalid(_) | Error::TooLarge(_))) => {
                tracing::error!(reason = %error, "cannot store the operation state");
                return false;
            }
            Err(error) => {
                tracing::warn!(reason = %error, "error patching application with operation state");
                tokio::time::sleep(Duration::from_secs(1)).await;
            }
        }
    }
}

/// Posts an event about the application; a failure is only logged, as in Argo CD.
pub async fn event(ctx: &Context, app: &StoredApp, event: &Event) {
    let Some(permit) = ctx.permit() else { return };
    let enabled = events::Enabled::parse(&ctx.parameters.enable_k8s_event.join(","));
    if !enabled.allows(event) {
        return;
    }
    let object = events::object(&app.app, event, &labels(ctx, app), ctx.now());
    let resource = Resource {
        version: "v1".to_owned(),
        kind: "Event".to_owned(),
        plural: "events".to_owned(),
        namespaced: true,
        ..Resource::default()
    };
    if let Err(error) = ctx.cluster.create(permit, &resource, &object, names::BINARY_MANAGER).await {
        tracing::warn!(reason = %error, "Unable to create an event");
    }
}

/// Labels of the application and its project that the settings let through.
fn labels(ctx: &Context, app: &StoredApp) -> BTreeMap<String, String> {
    let config = ctx.config();
    let Ok(settings) = &config.settings else { return BTreeMap::new() };
    let project = config.projects.iter().find(|project| project.metadata.name == app.app.spec.project_name());
    let rules = events::LabelRules {
        include: &settings.include_event_label_keys,
        exclude: &settings.exclude_event_label_keys,
        matches: |pattern, key| glob::matches(pattern, key, &[]),
    };
    let none = BTreeMap::new();
    events::labels(&app.app.metadata.labels, project.map_or(&none, |project| &project.metadata.labels), &rules)
}

/// Edits finalizers, which are written as a whole list: read anew right before, and refused when somebody else was
/// faster, so that a finalizer that a user removed never comes back.
pub async fn finalizers(
    ctx: &Context,
    key: &AppKey,
    edit: impl Fn(&[String]) -> Option<Vec<String>>,
) -> Result<(), Error> {
    for _ in 0..5 {
        let Some(fresh) = ctx.read_app(key).await? else { return Ok(()) };
        let Some(wanted) = edit(&fresh.app.metadata.finalizers) else { return Ok(()) };
        let list = if wanted.is_empty() { Value::Null } else { json!(wanted) };
        let version = &fresh.app.metadata.resource_version;
        let patch = json!({"metadata": {"resourceVersion": version, "finalizers": list}});
        match ctx.patch_app(&fresh, &patch).await {
            Err(Error::Conflict(_)) => {}
            Err(Error::NotFound(_)) => return Ok(()),
            outcome => return outcome,
        }
    }
    Err(Error::Refused { text: "the finalizers change all the time".to_owned() })
}
