//! Starts automated operations.
//!
//! In:  a comparison.
//! Out: an operation posted to the Application, or a `SyncError` condition, or a timer.
//! Source: APP-142 to APP-157 (`controller/appcontroller.go` `autoSync`, `util/argo/argo.go` `SetAppOperation`).

use std::rc::Rc;

use serde_json::{Value, json};

use super::comparison::Comparison;
use super::config::Config;
use super::context::Context;
use super::persist;
use super::queue::Purpose;
use super::stores::StoredApp;
use crate::api::names;
use crate::api::operation::{Operation, SyncOperation};
use crate::api::status::{Condition, Time};
use crate::cluster::{Error, Target};
use crate::compare::Level;
use crate::project::{Project, Windows};
use crate::status::{self, events::Event};
use crate::sync::auto::{self, Auto, AutoInput};
use crate::sync::budget::{Candidate, PruneBudget, Prunes};
use crate::sync::partial::PartialRender;
use crate::sync::prune_guard::PruneGuard;

/// Decides on an automated sync and posts it; edits the conditions as Argo CD does.
pub async fn run(
    ctx: &Rc<Context>,
    app: &StoredApp,
    (found, project): (&Comparison, &Project),
    conditions: &mut Vec<Condition>,
) {
    let now = Time::from_timestamp(ctx.now());
    match Windows::matching(&project.spec.sync_windows, &app.app).can_sync(false, ctx.now(), None) {
        Ok(true) => {}
        Ok(false) | Err(_) => return tracing::info!("Sync prevented by sync window"),
    }
    let config = ctx.config();
    let prunes = prunes(app, found);
    let guard = prune_guard(app, found, &config);
    let input = AutoInput {
        app: &app.app,
        status: &found.status,
        resources: &found.resources,
        compares_revisions: found.may_have_changed || found.status.status == "OutOfSync",
        prunes: &prunes,
        guard: &guard,
        backoff: &ctx.self_heal_backoff(),
        now: ctx.now(),
    };
    let mut raised = None;
    match auto::decide(&input) {
        Auto::Skip(log) => log.iter().for_each(|log| tracing::info!("{log}")),
        Auto::Error(text) => raised = Some(Condition::new("SyncError", text)),
        Auto::Wait { after, log } => {
            tracing::info!("{log}");
            ctx.queue.add_after(&app.key(), Some(Level::Latest), Purpose::SelfHeal, after);
        }
        Auto::Start { operation, event } => match post(ctx, app, &operation).await {
            Ok(true) => {
                let started = Event { reason: "OperationStarted", is_warning: false, message: event.clone() };
                persist::event(ctx, app, &started).await;
                tracing::info!("{event}");
            }
            Ok(false) => tracing::info!("Skipping auto-sync: another operation is in progress"),
            Err(text) => raised = Some(Condition::new("SyncError", text)),
        },
    }
    *conditions = status::set_conditions(conditions, raised.into_iter().collect(), &["SyncError"], now);
}

/// What holds prunes back: the budget of the Application, else that of the settings, and sources that rendered nothing.
pub(super) fn prune_guard(app: &StoredApp, found: &Comparison, config: &Config) -> PruneGuard {
    let annotation = |name| app.app.metadata.annotations.get(name).map(String::as_str);
    let of_settings = config.settings.as_ref().ok().and_then(|settings| settings.prune_budget.as_deref());
    let status = &found.status;
    let single = [status.revision.clone()];
    let revisions = if app.app.spec.has_multiple_sources() { &status.revisions[..] } else { &single };
    let written = annotation(names::PRUNE_BUDGET).or(of_settings);
    let approved = annotation(names::PRUNE_APPROVED);
    PruneGuard {
        budget: PruneBudget::in_force(written, approved, revisions),
        partial: PartialRender::of(&found.rendered, approved, revisions),
    }
}

/// What an automated sync would prune.
pub(super) fn prunes(app: &StoredApp, found: &Comparison) -> Prunes {
    let spec = &app.app.spec;
    let operation = SyncOperation {
        prune: spec.automated().is_some_and(|automated| automated.prune == Some(true)),
        sync_options: spec.sync_options().to_vec(),
        ..SyncOperation::default()
    };
    let own = found.self_referenced.iter().copied().chain(std::iter::repeat(false));
    let candidates = found.paired.pairs.iter().zip(own).map(|(pair, own)| Candidate {
        wanted: pair.target.is_some(),
        live: pair.live.as_ref(),
        own,
    });
    Prunes::of(candidates, &operation)
}

/// Sets `.operation` and clears the last operation's state, unless another operation is there (APP-156).
async fn post(ctx: &Context, app: &StoredApp, operation: &Operation) -> Result<bool, String> {
    let name = &app.app.metadata.name;
    loop {
        let fresh = match ctx.read_app(&app.key()).await {
            Ok(Some(fresh)) => fresh,
            Ok(None) => return Ok(false),
            Err(error) => return Err(format!("error getting application {name:?}: {error}")),
        };
        if fresh.app.operation.is_some() {
            return Ok(false);
        }
        let Some(permit) = ctx.permit() else { return Ok(false) };
        let object = with_operation(fresh, operation);
        let meta = &app.app.metadata;
        let target = Target::new(&ctx.applications, &meta.namespace, &meta.name);
        match ctx.cluster.update(permit, &target, &object, names::BINARY_MANAGER).await {
            Ok(answer) => {
                ctx.absorb(&answer);
                return Ok(true);
            }
            Err(Error::Conflict(_)) => {
                tracing::warn!("Failed to set operation due to update conflict. Retrying again...")
            }
            Err(error) => return Err(format!("error updating application {name:?}: {error}")),
        }
    }
}

/// The object that Argo CD would send: typed zero structs become visible (APP-045), unknown fields stay.
fn with_operation(fresh: StoredApp, operation: &Operation) -> Value {
    let mut object = fresh.raw;
    let mut typed = fresh.app;
    typed.status.operation_state = None;
    if typed.status.source_hydrator.is_null() {
        typed.status.source_hydrator = json!({});
    }
    let spec = serde_json::to_value(&typed.spec).unwrap_or_default();
    drop_zero(&mut object["spec"], &spec);
    fill_missing(&mut object["status"], &serde_json::to_value(&typed.status).unwrap_or_default());
    if let Some(map) = object["status"].as_object_mut() {
        map.remove("operationState");
    }
    object["operation"] = serde_json::to_value(operation).unwrap_or_default();
    object
}

/// Drops what Go's encoder would drop: zero values that the typed form leaves out. Unknown fields stay.
fn drop_zero(raw: &mut Value, typed: &Value) {
    match (raw, typed) {
        (Value::Object(raw), Value::Object(typed)) => {
            raw.retain(|key, value| typed.contains_key(key) || !is_zero(value));
            for (key, value) in raw.iter_mut() {
                if let Some(typed) = typed.get(key) {
                    drop_zero(value, typed);
                }
            }
        }
        (Value::Array(raw), Value::Array(typed)) => {
            raw.iter_mut().zip(typed).for_each(|(raw, typed)| drop_zero(raw, typed));
        }
        _ => {}
    }
}

fn is_zero(value: &Value) -> bool {
    match value {
        Value::Null => true,
        Value::Bool(on) => !on,
        Value::Number(number) => number.as_f64() == Some(0.0),
        Value::String(text) => text.is_empty(),
        Value::Array(list) => list.is_empty(),
        Value::Object(_) => false,
    }
}

/// Adds what `typed` has and `raw` has not.
fn fill_missing(raw: &mut Value, typed: &Value) {
    let Value::Object(typed) = typed else { return };
    if raw.is_null() {
        *raw = json!({});
    }
    let Value::Object(raw) = raw else { return };
    for (key, value) in typed {
        match raw.get_mut(key) {
            Some(known) => fill_missing(known, value),
            None => {
                raw.insert(key.clone(), value.clone());
            }
        }
    }
}
