//! What is due for an application's operation, and what its state becomes after a pass.
//!
//! In:  the Application as just read from the API server; the time; what a pass left.
//! Out: start, resume, retry, wait, terminate or end; the state to store.
//! Invariant: nothing of an earlier operation counts for a later one, although the stored state is a mixture of both.
//! Source: SYNC-002 to SYNC-016, SYNC-235 to SYNC-241, APP-158 to APP-170 (`controller/appcontroller.go`
//! `processRequestedAppOperation`, `controller/sync.go` `newSyncOperationResult`).
//!
//! The stored `operationState` is written by merge patch, as Argo CD does, so fields that the new operation leaves out
//! keep the values of the operation before. [`patch`] therefore clears results, message and retry count when an attempt
//! begins, and [`Attempt::operation`] is the request itself, not the stored mixture: a `prune: true` of last week's
//! operation must not prune today.

use std::time::Duration;

use jiff::Timestamp;
use jiff::tz::TimeZone;

use super::retry;
use super::words::OperationPhase;
use crate::api::operation::{Operation, OperationState, SyncOperation, SyncOperationResult};
use crate::api::status::Time;
use crate::api::{Application, ApplicationSpec};

pub use super::state_patch::{PatchKind, patch};

const TIMED_OUT: &str = "operation is terminating due to timeout";
const NOT_RETRIED: &str = "(not retried: the application is being deleted)";
const TERMINATING: &str = "operation is terminating";
const TIMEOUT_CAUSE: &str = "controller sync timeout";

/// What is due.
#[derive(Debug, Clone, PartialEq)]
pub enum Lifecycle {
    /// No operation is requested.
    Idle,
    /// A retry is due later; ask for a refresh after that time and do nothing else (APP-168).
    Wait(Duration),
    /// The operation ends here; store the state.
    End(Box<OperationState>),
    /// Run a pass.
    Run(Box<Attempt>),
}

/// Why a pass is run.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Cause {
    /// A new operation.
    Requested,
    /// The next attempt of a failed operation.
    Retried,
    /// The next pass of a running or terminating operation.
    Resumed,
    /// The time for the operation is over.
    TimedOut,
}

/// A pass to run.
#[derive(Debug, Clone, PartialEq)]
pub struct Attempt {
    /// The state to go on from.
    pub state: OperationState,
    /// What was requested; the pass takes its options from here.
    pub operation: Operation,
    /// Why the pass is run.
    pub cause: Cause,
    /// Whether the pass terminates the operation.
    pub terminating: bool,
}

impl Attempt {
    /// How the state has to be stored before the pass starts, if it has to (SYNC-003).
    pub fn stores_first(&self) -> Option<PatchKind> {
        match self.cause {
            Cause::Requested | Cause::Retried => Some(PatchKind::Begin),
            Cause::TimedOut => Some(PatchKind::Continue),
            Cause::Resumed => None,
        }
    }
}

/// Says what is due for the application's operation; a zero timeout means none.
pub fn decide(app: &Application, now: Timestamp, sync_timeout: Duration) -> Lifecycle {
    let Some(requested) = &app.operation else { return Lifecycle::Idle };
    let stored = app.status.operation_state.as_ref().filter(|state| is_in_progress(state));
    let Some(stored) = stored else {
        return run(start(requested, now), requested.clone(), Cause::Requested);
    };
    let operation = effective(requested, stored);
    let mut state = stored.clone();
    if state.phase == OperationPhase::Terminating.as_str() {
        return run(state, operation, Cause::Resumed);
    }
    if !sync_timeout.is_zero() && has_passed(state.started_at, sync_timeout, now) {
        state.phase = OperationPhase::Terminating.as_str().to_owned();
        state.message = TIMED_OUT.to_owned();
        return run(state, operation, Cause::TimedOut);
    }
    match state.finished_at {
        // A retry could make anew what the deletion takes away, its namespace first.
        Some(_) if app.metadata.deletion_timestamp.is_some() => {
            state.phase = OperationPhase::Failed.as_str().to_owned();
            state.message = format!("{} {NOT_RETRIED}", state.message);
            Lifecycle::End(Box::new(state))
        }
        Some(finished_at) => retry(state, operation, finished_at, now),
        None => run(state, operation, Cause::Resumed),
    }
}

/// Whether an operation with this state is resumed rather than started anew (SYNC-004).
pub fn is_in_progress(state: &OperationState) -> bool {
    !state.is_completed()
}

fn start(requested: &Operation, now: Timestamp) -> OperationState {
    OperationState {
        operation: requested.clone(),
        phase: OperationPhase::Running.as_str().to_owned(),
        started_at: Time::from_timestamp(now),
        ..OperationState::default()
    }
}

fn run(state: OperationState, operation: Operation, cause: Cause) -> Lifecycle {
    let terminating = state.phase == OperationPhase::Terminating.as_str();
    Lifecycle::Run(Box::new(Attempt { state, operation, cause, terminating }))
}

fn has_passed(started_at: Time, timeout: Duration, now: Timestamp) -> bool {
    started_at.timestamp().checked_add(timeout).is_ok_and(|end| now > end)
}

/// Starts the next attempt when its time has come (SYNC-237, SYNC-238).
fn retry(mut state: OperationState, mut operation: Operation, finished_at: Time, now: Timestamp) -> Lifecycle {
    let due_at = match retry::next_at(&operation.retry, finished_at.timestamp(), state.retry_count) {
        Ok(due_at) => due_at,
        Err(error) => {
            state.phase = OperationPhase::Error.as_str().to_owned();
            state.message = error.to_string();
            return Lifecycle::End(Box::new(state));
        }
    };
    if let Ok(left) = Duration::try_from(due_at.duration_since(now))
        && !left.is_zero()
    {
        return Lifecycle::Wait(left);
    }
    let mut extra = "";
    if operation.retry.refresh {
        extra = " with latest revisions";
        forget_revisions(&mut operation);
        forget_revisions(&mut state.operation);
    }
    state.message = format!("Retrying operation{extra}. Attempt #{}", state.retry_count);
    state.finished_at = None;
    state.sync_result = None;
    run(state, operation, Cause::Retried)
}

fn forget_revisions(operation: &mut Operation) {
    if let Some(sync) = &mut operation.sync {
        sync.revision.clear();
        sync.revisions.clear();
    }
}

/// The operation that runs: the request, unless it was changed while it ran.
///
/// The stored copy is the request laid over whatever operation was stored before. As long as that explains it, the
/// request itself counts; a request that changed since does not disturb the running operation.
fn effective(requested: &Operation, state: &OperationState) -> Operation {
    let (mut requested, mut stored) = (requested.clone(), state.operation.clone());
    if requested.retry.refresh && state.retry_count > 0 {
        forget_revisions(&mut requested);
        forget_revisions(&mut stored);
    }
    let json = |operation: &Operation| serde_json::to_value(operation).unwrap_or_default();
    let before = json(&stored);
    let mut laid_over = before.clone();
    json_patch::merge(&mut laid_over, &json(&requested));
    if laid_over == before { requested } else { stored }
}

/// The empty result of an operation's first pass (SYNC-014): sources from the operation if it names any, else from the
/// spec; revisions as requested.
pub fn new_result(spec: &ApplicationSpec, sync: &SyncOperation) -> SyncOperationResult {
    let mut result = SyncOperationResult {
        revision: sync.revision.clone(),
        revisions: sync.revisions.clone(),
        ..SyncOperationResult::default()
    };
    if sync.source.is_some() || !sync.sources.is_empty() {
        result.source = sync.source.clone().unwrap_or_default();
        result.sources.clone_from(&sync.sources);
    } else {
        result.source = spec.effective_sources().into_iter().next().unwrap_or_default();
        result.sources.clone_from(&spec.sources);
    }
    result
}

/// Whether a successful operation enters the history (SYNC-254).
pub fn enters_history(sync: &SyncOperation, phase: OperationPhase) -> bool {
    phase == OperationPhase::Succeeded && !sync.dry_run && sync.resources.is_empty()
}

/// What is known besides the pass when its end is stored.
#[derive(Debug, Clone, Copy)]
pub struct Closing<'a> {
    /// Phase in the API server, read again after the pass.
    pub stored_phase: Option<&'a str>,
    /// The time.
    pub now: Timestamp,
    /// Zone in which the time of a retry is shown.
    pub zone: &'a TimeZone,
}

/// The state to store after a pass, with retries and terminations taken into account (APP-164 to APP-169).
pub fn close(attempt: &Attempt, mut state: OperationState, closing: Closing<'_>) -> OperationState {
    match OperationPhase::parse(&state.phase) {
        Some(OperationPhase::Running) if closing.stored_phase == Some(OperationPhase::Terminating.as_str()) => {
            state.phase = OperationPhase::Terminating.as_str().to_owned();
            state.message = TERMINATING.to_owned();
        }
        Some(OperationPhase::Failed | OperationPhase::Error) => close_failed(attempt, &mut state, closing),
        _ => {}
    }
    state
}

fn close_failed(attempt: &Attempt, state: &mut OperationState, closing: Closing<'_>) {
    let policy = &attempt.operation.retry;
    if attempt.terminating || !retry::is_due(policy, state.retry_count) {
        if attempt.cause == Cause::TimedOut {
            state.message = format!("{}, triggered by {TIMEOUT_CAUSE}", state.message);
        }
        if state.retry_count > 0 {
            state.message = format!("{} (retried {} times).", state.message, state.retry_count);
        }
        return;
    }
    match retry::next_at(policy, closing.now, state.retry_count) {
        Ok(at) => {
            state.phase = OperationPhase::Running.as_str().to_owned();
            state.finished_at = Some(Time::from_timestamp(closing.now));
            state.retry_count += 1;
            let (message, count, at) = (&state.message, state.retry_count, retry::kitchen(at, closing.zone));
            state.message = format!("{message}. Retrying attempt #{count} at {at}.");
        }
        Err(error) => {
            state.phase = OperationPhase::Error.as_str().to_owned();
            state.message = format!("{} (failed to retry: {error})", state.message);
        }
    }
}

/// How thoroughly the application is refreshed after its operation.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum RefreshAfter {
    /// Compares with the newest revision known.
    Latest,
    /// Resolves the revision again.
    LatestForceResolve,
}

/// The refresh that a completed operation asks for (SYNC-012).
pub fn refresh_after(operation: &Operation, state: &OperationState) -> Option<RefreshAfter> {
    let is_wet = operation.sync.as_ref().is_some_and(|sync| !sync.dry_run);
    (state.is_completed() && is_wet).then_some(if operation.initiated_by.automated {
        RefreshAfter::Latest
    } else {
        RefreshAfter::LatestForceResolve
    })
}
