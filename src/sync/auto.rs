//! Whether an application is synced on its own, and with which operation.
//!
//! In:  the Application, the comparison that was just made, the time. Sync windows were asked before.
//! Out: the operation to post, or why there is none.
//! Invariant: the same revision of the same sources is not tried again after a failure; an automated sync never
//! removes everything unless `allowEmpty` says so, nor what the guard of prunes holds back.
//! Source: APP-142 to APP-157, SYNC-255 to SYNC-259 (`controller/appcontroller.go` `autoSync`,
//! `alreadyAttemptedSync`, `selfHealRemainingBackoff`).

use std::time::Duration;

use jiff::Timestamp;

use super::budget::Prunes;
use super::prune_guard::PruneGuard;
use crate::api::Application;
use crate::api::application::Automated;
use crate::api::operation::{
    Operation, OperationInitiator, OperationState, RetryStrategy, SyncOperation, SyncOperationResource,
};
use crate::api::status::{ResourceStatus, SyncStatus};

/// Retries of an automated operation when the spec says nothing (SYNC-239).
const DEFAULT_RETRY_LIMIT: i64 = 5;

/// How self-heal attempts are spaced (APP-152).
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct SelfHealBackoff {
    /// Delay after the first attempt; zero turns the backoff off.
    pub first: Duration,
    /// Growth per attempt; zero keeps the delay.
    pub factor: u32,
    /// Longest delay; zero means none.
    pub cap: Duration,
    /// Delay that holds while the backoff is off.
    pub fixed: Duration,
}

impl Default for SelfHealBackoff {
    fn default() -> Self {
        Self { first: Duration::from_secs(2), factor: 3, cap: Duration::from_secs(300), fixed: Duration::ZERO }
    }
}

impl SelfHealBackoff {
    /// Delay after `attempts` attempts.
    pub fn delay(&self, attempts: i64) -> Duration {
        if self.first.is_zero() {
            return self.fixed;
        }
        if attempts <= 0 {
            return Duration::ZERO;
        }
        let mut delay = self.first;
        for _ in 1..attempts {
            if self.factor == 0 || delay == self.cap || delay == Duration::MAX {
                break;
            }
            delay = delay.checked_mul(self.factor).unwrap_or(Duration::MAX);
            if !self.cap.is_zero() && delay > self.cap {
                delay = self.cap;
            }
        }
        delay
    }
}

/// What the decision is made from.
#[derive(Debug, Clone, Copy)]
pub struct AutoInput<'a> {
    /// The Application; its stored state is that of the last operation.
    pub app: &'a Application,
    /// Result of the comparison.
    pub status: &'a SyncStatus,
    /// Compared objects.
    pub resources: &'a [ResourceStatus],
    /// Whether a new revision counts as a change; false when none of its paths concern the application and nothing
    /// differs (APP-148).
    pub compares_revisions: bool,
    /// What the sync would prune.
    pub prunes: &'a Prunes,
    /// What of that it may not.
    pub guard: &'a PruneGuard,
    /// Spacing of self-heal attempts.
    pub backoff: &'a SelfHealBackoff,
    /// The time.
    pub now: Timestamp,
}

/// The decision. Every variant but [`Auto::Error`] clears a `SyncError` condition.
#[derive(Debug, Clone, PartialEq)]
pub enum Auto {
    /// Nothing to do; the log line, unless automated sync is simply off.
    Skip(Option<String>),
    /// A `SyncError` condition with this message.
    Error(String),
    /// Self-heal has to wait; ask for a refresh after that time.
    Wait {
        /// Time left.
        after: Duration,
        /// Log line.
        log: String,
    },
    /// Post this operation (APP-156), unless somebody else's is there by now.
    Start {
        /// The operation.
        operation: Box<Operation>,
        /// Log line and message of the event `OperationStarted`.
        event: String,
    },
}

/// Decides whether to sync now.
pub fn decide(input: &AutoInput<'_>) -> Auto {
    let Some(automated) = input.app.spec.automated() else { return Auto::Skip(None) };
    if let Some(reason) = reason_to_skip(input, automated) {
        return Auto::Skip(Some(format!("Skipping auto-sync: {reason}")));
    }
    let desired = desired_revisions(input);
    let mut operation = new_operation(input, automated);
    if let Some(last) = last_attempt(input, &desired) {
        if last.state.phase != "Succeeded" {
            let revisions = go_list(&last.revisions);
            return Auto::Error(format!("Failed last sync attempt to {revisions}: {}", last.state.message));
        }
        if automated.self_heal != Some(true) {
            let reason = format!("most recent sync already to {}", go_list(&desired));
            return Auto::Skip(Some(format!("Skipping auto-sync: {reason}")));
        }
        if let Some(wait) = self_heal(input, &last, &mut operation) {
            return wait;
        }
    }
    if wipes_out_everything(automated, input.resources) {
        let desired = go_list(&desired);
        return Auto::Error(format!("Skipping sync attempt to {desired}: auto-sync will wipe out all resources"));
    }
    if let Some(objection) = input.guard.objection(input.prunes) {
        return Auto::Error(format!("Skipping sync attempt to {}: {objection}", go_list(&desired)));
    }
    let event = format!("Initiated automated sync to '{}'", desired.join(", "));
    Auto::Start { operation: Box::new(operation), event }
}

fn reason_to_skip(input: &AutoInput<'_>, automated: &Automated) -> Option<String> {
    if input.app.operation.is_some() {
        return Some("another operation is in progress".to_owned());
    }
    if input.app.metadata.deletion_timestamp.is_some() {
        return Some("deletion in progress".to_owned());
    }
    if input.status.status != "OutOfSync" {
        return Some(format!("application status is {}", input.status.status));
    }
    let needs_more_than_prune = |resource: &ResourceStatus| resource.status != "Synced" && !resource.requires_pruning;
    if automated.prune != Some(true) && !input.resources.iter().any(needs_more_than_prune) {
        return Some("need to prune extra resources only but automated prune is disabled".to_owned());
    }
    None
}

fn desired_revisions(input: &AutoInput<'_>) -> Vec<String> {
    if input.app.spec.has_multiple_sources() {
        input.status.revisions.clone()
    } else {
        vec![input.status.revision.clone()]
    }
}

fn new_operation(input: &AutoInput<'_>, automated: &Automated) -> Operation {
    let spec = &input.app.spec;
    let source = if spec.has_multiple_sources() { None } else { spec.effective_sources().into_iter().next() };
    let retry = spec.sync_policy.as_ref().and_then(|policy| policy.retry.clone());
    Operation {
        sync: Some(SyncOperation {
            source,
            revision: input.status.revision.clone(),
            prune: automated.prune == Some(true),
            sync_options: spec.sync_options().to_vec(),
            sources: spec.sources.clone(),
            revisions: input.status.revisions.clone(),
            ..SyncOperation::default()
        }),
        initiated_by: OperationInitiator { automated: true, ..OperationInitiator::default() },
        retry: retry.unwrap_or(RetryStrategy { limit: DEFAULT_RETRY_LIMIT, ..RetryStrategy::default() }),
        ..Operation::default()
    }
}

/// An earlier operation on the same revisions and sources.
struct LastAttempt<'a> {
    state: &'a OperationState,
    revisions: Vec<String>,
}

/// The last operation, when it was on these revisions and sources (APP-147). One that ended without any result counts
/// for every revision: most likely it met an error that would come again.
fn last_attempt<'a>(input: &AutoInput<'a>, desired: &[String]) -> Option<LastAttempt<'a>> {
    let spec = &input.app.spec;
    let state = input.app.status.operation_state.as_ref()?;
    let Some(result) = &state.sync_result else {
        return state.is_completed().then(|| LastAttempt { state, revisions: Vec::new() });
    };
    let is_multi = spec.has_multiple_sources();
    let revisions = if is_multi { result.revisions.clone() } else { vec![result.revision.clone()] };
    if input.compares_revisions && revisions != desired {
        return None;
    }
    let is_same_source = if is_multi {
        spec.sources == result.sources
    } else {
        spec.effective_sources().first() == Some(&result.source)
    };
    is_same_source.then_some(LastAttempt { state, revisions })
}

/// Turns the operation into a repair of what differs, or says how long that has to wait (APP-151, APP-153).
fn self_heal(input: &AutoInput<'_>, last: &LastAttempt<'_>, operation: &mut Operation) -> Option<Auto> {
    let attempts = last.state.operation.sync.as_ref().map_or(0, |sync| sync.self_heal_attempts);
    let delay = input.backoff.delay(attempts);
    let since =
        last.state.finished_at.and_then(|end| Duration::try_from(input.now.duration_since(end.timestamp())).ok());
    let left = delay.saturating_sub(since.unwrap_or_default());
    if !left.is_zero() {
        let (revisions, fixed) = (go_list(&last.revisions), input.backoff.fixed);
        let log = format!(
            "Skipping auto-sync: already attempted sync to {revisions} with timeout {fixed:?} (retrying in {left:?})"
        );
        return Some(Auto::Wait { after: left, log });
    }
    let sync = operation.sync.get_or_insert_default();
    sync.self_heal_attempts = attempts.saturating_add(1);
    sync.resources = input.resources.iter().filter(|resource| resource.status != "Synced").map(selected).collect();
    None
}

fn selected(resource: &ResourceStatus) -> SyncOperationResource {
    SyncOperationResource {
        group: resource.group.clone(),
        kind: resource.kind.clone(),
        name: resource.name.clone(),
        namespace: String::new(),
    }
}

/// Whether nothing of the application's own would be left (APP-154).
///
/// Argo CD asks whether every listed object requires pruning, so one hook, or one object that merely carries a copied
/// tracking id, lets everything else be wiped out. Only objects with a sync status of their own are counted here,
/// unless the application has none.
fn wipes_out_everything(automated: &Automated, resources: &[ResourceStatus]) -> bool {
    if automated.prune != Some(true) || automated.allow_empty == Some(true) {
        return false;
    }
    let is_own = |resource: &ResourceStatus| !resource.hook && !resource.status.is_empty();
    let has_own = resources.iter().any(is_own);
    resources.iter().filter(|resource| !has_own || is_own(resource)).all(|resource| resource.requires_pruning)
}

/// A list as Go prints it.
fn go_list(items: &[String]) -> String {
    format!("[{}]", items.join(" "))
}
