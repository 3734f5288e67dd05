//! One pass of an operation.
//!
//! In:  an Application with `.operation` set.
//! Out: its operation state, one step further; everything an operation knows is in that state.
//! Source: APP-158 to APP-184, SYNC-001 to SYNC-025 (`controller/appcontroller.go` `processRequestedAppOperation`,
//! `controller/sync.go` `SyncAppState`).

use std::rc::Rc;
use std::time::Duration;

use super::comparison::{self, Comparison, Failure};
use super::config::Config;
use super::context::Context;
use super::execute;
use super::outcome;
use super::persist;
use super::queue::{AppKey, Purpose};
use super::stores::StoredApp;
use crate::api::operation::{OperationState, SyncOperation, SyncOperationResult};
use crate::api::status::{Condition, RevisionHistory, Time};
use crate::compare::Level;
use crate::health::Code;
use crate::project::{Project, Windows};
use crate::status;
use crate::sync::OperationPhase;
use crate::sync::lifecycle::{self, Attempt, Lifecycle, PatchKind, RefreshAfter};

/// Runs one pass.
pub async fn run(ctx: &Rc<Context>, key: &AppKey) {
    // The store may lag behind a user's write; the API server is asked (APP-158).
    let app = match ctx.read_app(key).await {
        Ok(Some(app)) => app,
        Ok(None) => return,
        Err(error) => {
            tracing::warn!(reason = %error, "Failed to read application");
            return ctx.again(key, None);
        }
    };
    let timeout = Duration::try_from(ctx.parameters.sync_timeout).unwrap_or_default();
    let attempt = match lifecycle::decide(&app.app, ctx.now(), timeout) {
        Lifecycle::Idle => return,
        Lifecycle::Wait(left) => return ctx.queue.add_after(key, Some(Level::Latest), Purpose::Retry, left),
        Lifecycle::End(mut state) => {
            let read = app.app.status.operation_state.clone();
            let stored = persist::Stored { kind: PatchKind::Continue, read: read.as_ref(), health: None };
            persist::operation_state(ctx, &app, stored, &mut state).await;
            return;
        }
        Lifecycle::Run(attempt) => attempt,
    };
    let mut state = attempt.state.clone();
    let mut read = app.app.status.operation_state.clone();
    if let Some(kind) = attempt.stores_first() {
        let stored = persist::Stored { kind, read: read.as_ref(), health: None };
        if !persist::operation_state(ctx, &app, stored, &mut state).await {
            return;
        }
        read = Some(state.clone());
    }
    if !timeout.is_zero() {
        let end = attempt.state.started_at.timestamp() + timeout;
        let left = Duration::try_from(end.duration_since(ctx.now())).unwrap_or_default();
        ctx.queue.add_after(key, None, Purpose::Timeout, left + Duration::from_secs(1));
    }
    let health = step(ctx, (&app, &attempt), &mut state).await;
    conclude(ctx, (&app, &attempt), (read, state), health).await;
}

/// Decides on retry or end, and stores the state.
async fn conclude(
    ctx: &Rc<Context>,
    (app, attempt): (&StoredApp, &Attempt),
    (read, state): (Option<OperationState>, OperationState),
    health: Option<Code>,
) {
    let key = app.key();
    // Somebody may have asked to terminate while the step ran; that wins (APP-164).
    let stored_phase = if state.phase == "Running" { stored_phase(ctx, &key).await } else { None };
    let zone = jiff::tz::TimeZone::system();
    let closing = lifecycle::Closing { stored_phase: stored_phase.as_deref(), now: ctx.now(), zone: &zone };
    let mut state = lifecycle::close(attempt, state, closing);
    let health = health.filter(|_| state.is_completed());
    let stored = persist::Stored { kind: PatchKind::Continue, read: read.as_ref(), health };
    if !persist::operation_state(ctx, app, stored, &mut state).await {
        return;
    }
    let level = match lifecycle::refresh_after(&attempt.operation, &state) {
        Some(RefreshAfter::Latest) => Level::Latest,
        Some(RefreshAfter::LatestForceResolve) => Level::LatestForceResolve,
        None => return,
    };
    ctx.queue.add(&key, Some(level));
}

/// The phase that the API server holds now. While nobody answers it is asked again: the state could not be stored then
/// either, and a request to terminate must not be overwritten unread.
async fn stored_phase(ctx: &Context, key: &AppKey) -> Option<String> {
    loop {
        match ctx.read_app(key).await {
            Ok(fresh) => return fresh?.app.status.operation_state.map(|state| state.phase),
            Err(error) if (error.is_unreachable() || error.is_transient()) && ctx.permit().is_some() => {
                tracing::warn!(reason = %error, "Failed to read application before storing its operation");
                tokio::time::sleep(Duration::from_secs(1)).await;
            }
            Err(error) => {
                tracing::warn!(reason = %error, "Failed to read application before storing its operation");
                return None;
            }
        }
    }
}

/// Compares and runs one step of the sync; the outcome is in `state`. Returns the health where it got worse.
async fn step(ctx: &Rc<Context>, scene: (&StoredApp, &Attempt), state: &mut OperationState) -> Option<Code> {
    try_step(ctx, scene, state).await.unwrap_or_else(|text| {
        state.phase = "Error".to_owned();
        state.message = text;
        None
    })
}

async fn try_step(
    ctx: &Rc<Context>,
    (app, attempt): (&StoredApp, &Attempt),
    state: &mut OperationState,
) -> Result<Option<Code>, String> {
    let config = ctx.config();
    let project = super::projects::find(ctx, &config, &app.app)
        .map_err(|error| format!("Failed to load application project: {error}"))?;
    let Some(sync) = attempt.operation.sync.clone() else {
        return Err("Invalid operation request: no operation specified".to_owned());
    };
    let result = state.sync_result.get_or_insert_with(|| lifecycle::new_result(&app.app.spec, &sync));
    let request = request(result, &sync);
    if let Some(text) = blocked(ctx, app, &project) {
        if state.phase == "Running" {
            state.message = text;
        }
        return Ok(None);
    }
    let multi = request.multi;
    let found = comparison::run(ctx, &config, app, &project, request).await.map_err(|failure| match failure {
        Failure::Destination(text) => text,
        Failure::Grace(_) => "failed to get repo objects".to_owned(),
    })?;
    if let Some(result) = &mut state.sync_result {
        result.revision = found.status.revision.clone();
        result.revisions = found.status.revisions.clone();
    }
    if refused(ctx, app, &sync, &found, state) {
        return Ok(None);
    }
    execute::pass(ctx, (&config, app, &project), (&found, &sync), state).await?;
    let settings = config.settings.as_ref().ok().filter(|_| state.is_completed() && !sync.dry_run);
    let health = settings.and_then(|settings| outcome::lowered_health(settings, &app.app, &found));
    if OperationPhase::parse(&state.phase).is_some_and(|phase| lifecycle::enters_history(&sync, phase)) {
        record(ctx, app, (&found, multi), state).await?;
    }
    Ok(health)
}

fn request(result: &SyncOperationResult, sync: &SyncOperation) -> comparison::Request {
    let multi = !result.sources.is_empty();
    comparison::Request {
        sources: if multi { result.sources.clone() } else { vec![result.source.clone()] },
        revisions: if multi { result.revisions.clone() } else { vec![result.revision.clone()] },
        multi,
        hard: false,
        force_resolve: true,
        local_manifests: sync.manifests.clone(),
    }
}

/// The message when a sync window holds the operation (APP-172).
fn blocked(ctx: &Context, app: &StoredApp, project: &Project) -> Option<String> {
    let state = app.app.status.operation_state.as_ref();
    let manual = state.is_some_and(|state| !state.operation.initiated_by.automated);
    let started = state.map(|state| state.started_at.timestamp());
    const TEXT: &str = "Sync operation blocked by sync window";
    match Windows::matching(&project.spec.sync_windows, &app.app).can_sync(manual, ctx.now(), started) {
        Ok(true) => None,
        Ok(false) => Some(TEXT.to_owned()),
        Err(error) => Some(format!("{TEXT}: {error}")),
    }
}

/// Ends the operation where the comparison forbids it (APP-173, APP-174).
fn refused(
    ctx: &Context,
    app: &StoredApp,
    sync: &SyncOperation,
    found: &Comparison,
    state: &mut OperationState,
) -> bool {
    let now = Time::from_timestamp(ctx.now());
    let conditions =
        status::set_conditions(&app.app.status.conditions, found.conditions.clone(), comparison::CONDITIONS, now);
    let shared = conditions.iter().find(|condition| condition.r#type == "SharedResourceWarning");
    if let Some(shared) = shared
        && sync.sync_options.iter().any(|option| option == "FailOnSharedResource=true")
    {
        state.phase = "Failed".to_owned();
        state.message = format!("Shared resource found: {}", shared.message);
        return true;
    }
    let stops = |condition: &&Condition| matches!(condition.r#type.as_str(), "ComparisonError" | "InvalidSpecError");
    let errors: Vec<String> = conditions
        .iter()
        .filter(stops)
        .map(|condition| format!("{}: {}", condition.r#type, condition.message))
        .collect();
    if errors.is_empty() {
        return false;
    }
    state.phase = "Error".to_owned();
    state.message = errors.join(";");
    true
}

/// Adds the sync to the history, before the final state is stored (APP-189 to APP-191).
async fn record(
    ctx: &Context,
    app: &StoredApp,
    (found, multi): (&Comparison, bool),
    state: &OperationState,
) -> Result<(), String> {
    let compared = &found.status.compared_to;
    let mut entry = RevisionHistory {
        deployed_at: Time::from_timestamp(ctx.now()),
        deploy_started_at: Some(state.started_at),
        initiated_by: state.operation.initiated_by.clone(),
        ..RevisionHistory::default()
    };
    if multi {
        entry.sources = compared.sources.clone();
        entry.revisions = found.status.revisions.clone();
    } else {
        entry.source = compared.source.clone();
        entry.revision = found.status.revision.clone();
    }
    if status::is_recorded(&app.app.status.history, &entry) {
        return Ok(());
    }
    let history = status::append(&app.app.status.history, entry, app.app.spec.history_limit());
    let patch = status::history_patch(&history);
    // Everything is applied by now: an API server that is away for a moment must not turn that into an error.
    if persist::retry_until_stored(ctx, app, &patch).await {
        Ok(())
    } else {
        Err("failed to record sync to history: the application cannot be written".to_owned())
    }
}

/// Settings that a pass needs, for `execute`.
pub type Scene<'a> = (&'a Config, &'a StoredApp, &'a Project);
