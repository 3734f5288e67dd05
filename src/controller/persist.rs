//! Writes to Applications: status, history, operation state, finalizers, events.
//!
//! In:  what was decided, and the verdict on who may write.
//! Out: the smallest merge patch that says it; the answer goes into the store at once.
//! Source: APP-042 to APP-048, APP-161, APP-259 to APP-268 (`controller/appcontroller.go`).

use std::time::Duration;

use serde_json::{Map, Value, json};

use super::context::Context;
use super::stores::StoredApp;
use crate::api::operation::OperationState;
use crate::api::status::{ApplicationStatus, Time};
use crate::api::{ObjectExt, names};
use crate::cluster::Error;
use crate::guard::Permit;
use crate::status;
use crate::sync::lifecycle::{self, PatchKind};
use crate::sync;

/// What a status patch takes away besides.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Consume {
    /// Nothing.
    Nothing,
    /// The refresh annotation, as it was when the refresh began.
    Refresh,
}

/// Stores a refresh's result; sends nothing when nothing changed.
pub async fn status(ctx: &Context, permit: Permit, app: &StoredApp, mut new: ApplicationStatus, consume: Consume) {
    let old = &app.app.status;
    if old.sync.status != new.sync.status {
        let text = format!("Updated sync status: {} -> {}", old.sync.status, new.sync.status);
        event(ctx, permit, app, ("Normal", "ResourceUpdated"), &text).await;
    }
    if old.health.status == new.health.status {
        new.health.last_transition_time = old.health.last_transition_time;
    } else {
        new.health.last_transition_time = Some(Time::from_timestamp(ctx.now()));
        let text = format!("Updated health status: {} -> {}", old.health.status, new.health.status);
        event(ctx, permit, app, ("Normal", "ResourceUpdated"), &text).await;
    }
    let Some(patch) = status_patch(app, old, &new, consume) else {
        tracing::debug!("No status changes. Skipping patch");
        return;
    };
    match ctx.patch_app(permit, app, &patch).await {
        Ok(()) => {}
        Err(Error::TooLarge(_)) => too_large(ctx, permit, app, consume).await,
        Err(Error::NotFound(_)) => {}
        Err(error) => {
            tracing::warn!(reason = %error, "Error updating application");
            ctx.again(&app.key());
        }
    }
}

fn status_patch(app: &StoredApp, old: &ApplicationStatus, new: &ApplicationStatus, consume: Consume) -> Option<Value> {
    let changes = status::merge_patch(&to_value(old), &to_value(new));
    let mut patch = Map::new();
    if let Some(changes) = changes {
        patch.insert("status".to_owned(), changes);
    }
    if consume == Consume::Refresh && app.raw.annotation(names::REFRESH).is_some() {
        // Only this key: nulling the whole map would race with other writers.
        patch.insert("metadata".to_owned(), json!({"annotations": {names::REFRESH: null}}));
    }
    if patch.is_empty() { None } else { Some(Value::Object(patch)) }
}

async fn too_large(ctx: &Context, permit: Permit, app: &StoredApp, consume: Consume) {
    tracing::warn!("Application status exceeds the Kubernetes resource size limit; falling back to error condition only");
    let mut fallback = app.app.status.clone();
    let condition = crate::api::status::Condition::new("UnknownError", status::TOO_LARGE);
    fallback.conditions =
        status::set_conditions(&fallback.conditions, vec![condition], &["UnknownError"], Time::from_timestamp(ctx.now()));
    if let Some(patch) = status_patch(app, &app.app.status, &fallback, consume)
        && let Err(error) = ctx.patch_app(permit, app, &patch).await
    {
        tracing::error!(reason = %error, "Error persisting fallback status with error condition");
    }
}

/// What an operation's state is stored over.
pub struct Stored<'a> {
    /// Whether an attempt begins or goes on.
    pub kind: PatchKind,
    /// The state the API server holds now.
    pub read: Option<&'a OperationState>,
}

/// Stores an operation's state; retried until it is stored or the application is gone, which gives `false`.
///
/// A completed phase also removes `.operation` and is announced.
pub async fn operation_state(
    ctx: &Context,
    permit: Permit,
    app: &StoredApp,
    stored: Stored<'_>,
    state: &mut OperationState,
) -> bool {
    let Some(patch) = lifecycle::patch(stored.kind, stored.read, state, ctx.now()) else { return true };
    if !retry_until_stored(ctx, permit, app, &patch).await {
        return false;
    }
    tracing::info!(phase = state.phase, "updated operation");
    if state.is_completed() {
        let (warning, text) = sync::text::completion(&state.operation, state);
        let r#type = if warning { "Warning" } else { "Normal" };
        event(ctx, permit, app, (r#type, "OperationCompleted"), &text).await;
    }
    true
}

async fn retry_until_stored(ctx: &Context, permit: Permit, app: &StoredApp, patch: &Value) -> bool {
    loop {
        match ctx.patch_app(permit, app, patch).await {
            Ok(()) => return true,
            Err(Error::NotFound(_)) => return false,
            Err(error) => {
                tracing::warn!(reason = %error, "error patching application with operation state");
                tokio::time::sleep(Duration::from_secs(1)).await;
                // Whoever took over meanwhile owns the operation now.
                if ctx.permit().is_none() {
                    return false;
                }
            }
        }
    }
}

/// Posts an event about the application; a failure is only logged, as in Argo CD.
pub async fn event(ctx: &Context, permit: Permit, app: &StoredApp, (r#type, reason): (&str, &str), message: &str) {
    let event = status::event(&app.app, &app.raw, (r#type, reason), message, ctx.now());
    if let Err(error) = ctx.cluster.create_event(permit, &event).await {
        tracing::warn!(reason = %error, "Unable to create an event");
    }
}

/// Patches finalizers as a whole list, only when they differ.
pub async fn finalizers(ctx: &Context, permit: Permit, app: &StoredApp, wanted: &[String]) -> Result<(), Error> {
    if app.app.metadata.finalizers == wanted {
        return Ok(());
    }
    let list = if wanted.is_empty() { Value::Null } else { json!(wanted) };
    ctx.patch_app(permit, app, &json!({"metadata": {"finalizers": list}})).await
}

fn to_value(status: &ApplicationStatus) -> Value {
    serde_json::to_value(status).unwrap_or_default()
}
