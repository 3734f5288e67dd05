//! Starting, resuming, retrying, timing out and closing operations; what the stored state becomes.

use jiff::tz::TimeZone;

use super::super::lifecycle::{Attempt, Cause, Closing, Lifecycle, PatchKind, RefreshAfter};
use super::super::lifecycle::{close, decide, new_result, patch, refresh_after};
use super::*;
use crate::api::Application;
use crate::api::operation::{OperationInitiator, RetryStrategy};

const NONE: Duration = Duration::ZERO;

fn request(sync: SyncOperation) -> Operation {
    Operation { sync: Some(sync), ..Operation::default() }
}

fn revision(text: &str) -> SyncOperation {
    SyncOperation { revision: text.into(), ..SyncOperation::default() }
}

fn app(operation: Operation, state: Option<OperationState>) -> Application {
    let mut app = Application { operation: Some(operation), ..Application::default() };
    app.status.operation_state = state;
    app
}

fn running(operation: Operation) -> OperationState {
    let started_at = Time::from_timestamp(at(START));
    OperationState { operation, phase: "Running".into(), started_at, ..OperationState::default() }
}

#[track_caller]
fn attempt(app: &Application, now: &str, timeout: Duration) -> Attempt {
    match decide(app, at(now), timeout) {
        Lifecycle::Run(attempt) => *attempt,
        other => panic!("{other:?}"),
    }
}

/// What the API server stores after a merge patch.
fn stored(read: Option<&OperationState>, patch: &Value) -> OperationState {
    let mut status = json!({"status": {"operationState": read.map(OperationState::to_value)}});
    json_patch::merge(&mut status, patch);
    serde_json::from_value(status["status"]["operationState"].clone()).unwrap()
}

#[test]
fn app_158_without_an_operation_nothing_is_due() {
    assert_eq!(decide(&Application::default(), at(START), NONE), Lifecycle::Idle);
}

#[test]
fn sync_003_a_completed_state_is_followed_by_a_new_operation() {
    let app = app(request(revision("b")), Some(ended("Failed", "a")));
    let attempt = attempt(&app, START, NONE);
    assert_eq!((attempt.cause, attempt.stores_first()), (Cause::Requested, Some(PatchKind::Begin)));
    assert_eq!(attempt.state, running(request(revision("b"))));
}

#[test]
fn sync_004_a_running_state_is_resumed_as_it_is() {
    let state = running(request(revision("b")));
    let attempt = attempt(&app(request(revision("b")), Some(state.clone())), START, NONE);
    assert_eq!((attempt.cause, attempt.terminating, attempt.stores_first()), (Cause::Resumed, false, None));
    assert_eq!(attempt.state, state);
}

#[test]
fn sync_005_a_completed_state_removes_the_operation_and_gets_its_end() {
    let read = running(request(revision("b")));
    let mut state = OperationState { phase: "Succeeded".into(), ..read.clone() };
    let patch = patch(PatchKind::Continue, Some(&read), &mut state, at("2024-04-05T20:00:00Z")).unwrap();
    assert_eq!(patch["operation"], Value::Null);
    assert!(patch.as_object().unwrap().contains_key("operation"));
    assert_eq!(patch["status"]["operationState"]["finishedAt"], "2024-04-05T20:00:00Z");
}

#[test]
fn sync_006_an_equal_state_is_not_written() {
    let read = running(request(revision("b")));
    assert_eq!(patch(PatchKind::Continue, Some(&read), &mut read.clone(), at(START)), None);
}

#[test]
fn results_of_an_earlier_operation_never_count_for_a_later_one() {
    let mut old = ended("Succeeded", "a");
    old.retry_count = 3;
    old.sync_result.as_mut().unwrap().resources = vec![ResourceResult { name: "old".into(), ..Default::default() }];
    let first = attempt(&app(request(revision("b")), Some(old.clone())), "2024-04-06T00:00:00Z", NONE);
    let begun = patch(PatchKind::Begin, Some(&old), &mut first.state.clone(), at(START)).unwrap();
    let begun = stored(Some(&old), &begun);
    assert_eq!((&begun.sync_result, begun.retry_count, begun.finished_at), (&None, 0, None));

    // The first pass only deletes an old hook and records nothing.
    let mut after = first.state.clone();
    after.sync_result = Some(SyncOperationResult { revision: "bbb".into(), ..SyncOperationResult::default() });
    let after = patch(PatchKind::Continue, Some(&old), &mut after, at(START)).unwrap();
    let resumed = stored(Some(&begun), &after);
    assert!(resumed.sync_result.unwrap().resources.is_empty());
}

#[test]
fn options_of_an_earlier_operation_never_count_for_a_later_one() {
    let old = request(SyncOperation { prune: true, sync_options: vec!["Replace=true".into()], ..revision("a") });
    let new = request(revision("b"));
    let mut mixture = serde_json::to_value(&old).unwrap();
    json_patch::merge(&mut mixture, &serde_json::to_value(&new).unwrap());
    let mixture: Operation = serde_json::from_value(mixture).unwrap();
    assert!(mixture.sync.as_ref().unwrap().prune);
    let attempt = attempt(&app(new.clone(), Some(running(mixture.clone()))), START, NONE);
    assert_eq!((attempt.operation, attempt.state.operation), (new, mixture));
}

#[test]
fn a_request_that_changes_while_it_runs_does_not_disturb_the_operation() {
    let state = running(request(revision("b")));
    let changed = request(SyncOperation { prune: true, ..revision("b") });
    assert_eq!(attempt(&app(changed, Some(state)), START, NONE).operation, request(revision("b")));
}

#[test]
fn sync_240_a_timeout_terminates_in_the_same_pass() {
    let app = app(request(revision("b")), Some(running(request(revision("b")))));
    let timeout = Duration::from_secs(60);
    assert_eq!(attempt(&app, "2024-04-05T19:36:45Z", timeout).cause, Cause::Resumed);
    let attempt = attempt(&app, "2024-04-05T19:36:46Z", timeout);
    assert_eq!((attempt.cause, attempt.terminating), (Cause::TimedOut, true));
    assert_eq!(attempt.state.message, "operation is terminating due to timeout");
    let mut state = attempt.state.clone();
    (state.phase, state.message) = ("Failed".into(), "Operation terminated".into());
    let closed = closing(&attempt, state, None);
    assert_eq!(closed.message, "Operation terminated, triggered by controller sync timeout");
}

fn closing(attempt: &Attempt, state: OperationState, stored_phase: Option<&str>) -> OperationState {
    close(attempt, state, Closing { stored_phase, now: at("2024-04-05T15:00:00Z"), zone: &TimeZone::UTC })
}

fn retrying(limit: i64) -> Operation {
    Operation { retry: RetryStrategy { limit, ..RetryStrategy::default() }, ..request(revision("b")) }
}

fn failed(operation: Operation, retry_count: i64) -> (Attempt, OperationState) {
    let state = OperationState { retry_count, ..running(operation.clone()) };
    let attempt = attempt(&app(operation, Some(state.clone())), START, NONE);
    (attempt, OperationState { phase: "Failed".into(), message: "no luck".into(), ..state })
}

#[test]
fn sync_118_a_failure_announces_its_retry() {
    let (attempt, state) = failed(retrying(2), 1);
    let closed = closing(&attempt, state, None);
    assert_eq!((closed.phase.as_str(), closed.retry_count), ("Running", 2));
    assert_eq!(closed.finished_at, Time::parse("2024-04-05T15:00:00Z"));
    assert_eq!(closed.message, "no luck. Retrying attempt #2 at 3:00PM.");
}

#[test]
fn sync_118_the_last_failure_counts_the_retries() {
    let (attempt, state) = failed(retrying(2), 2);
    let closed = closing(&attempt, state, None);
    assert_eq!((closed.phase.as_str(), closed.message.as_str()), ("Failed", "no luck (retried 2 times)."));
}

#[test]
fn sync_241_a_terminating_operation_is_never_retried() {
    let (mut attempt, state) = failed(retrying(2), 0);
    attempt.terminating = true;
    assert_eq!(closing(&attempt, state, None).message, "no luck");
}

#[test]
fn sync_236_a_bad_backoff_ends_the_operation() {
    let mut operation = retrying(2);
    operation.retry.backoff = Some(crate::api::operation::Backoff { duration: "soon".into(), ..Default::default() });
    let (attempt, state) = failed(operation, 0);
    let closed = closing(&attempt, state, None);
    assert_eq!(closed.phase, "Error");
    assert_eq!(closed.message, "no luck (failed to retry: unable to parse soon as a duration)");
}

#[test]
fn sync_008_a_termination_that_came_meanwhile_wins() {
    let (attempt, state) = failed(retrying(0), 0);
    let running = OperationState { phase: "Running".into(), ..state };
    let closed = closing(&attempt, running, Some("Terminating"));
    assert_eq!((closed.phase.as_str(), closed.message.as_str()), ("Terminating", "operation is terminating"));
}

#[test]
fn sync_237_the_first_retry_really_waits_ten_seconds() {
    let waiting = OperationState {
        retry_count: 1,
        finished_at: Time::parse("2024-04-05T20:00:00Z"),
        sync_result: Some(SyncOperationResult::default()),
        ..running(retrying(2))
    };
    let app = app(retrying(2), Some(waiting.clone()));
    let decision = decide(&app, at("2024-04-05T20:00:06Z"), NONE);
    assert_eq!(decision, Lifecycle::Wait(Duration::from_secs(4)));
    let attempt = attempt(&app, "2024-04-05T20:00:10Z", NONE);
    assert_eq!((attempt.cause, attempt.state.message.as_str()), (Cause::Retried, "Retrying operation. Attempt #1"));
    assert_eq!((&attempt.state.sync_result, attempt.state.finished_at), (&None, None));
    let patch = patch(PatchKind::Begin, Some(&waiting), &mut attempt.state.clone(), at(START)).unwrap();
    assert_eq!(stored(Some(&waiting), &patch), attempt.state);
}

#[test]
fn sync_238_a_refreshing_retry_takes_the_newest_revision() {
    let mut operation = retrying(2);
    operation.retry.refresh = true;
    let waiting = OperationState { retry_count: 1, finished_at: Time::parse(START), ..running(operation.clone()) };
    let first = attempt(&app(operation.clone(), Some(waiting.clone())), "2024-04-05T20:00:00Z", NONE);
    assert_eq!(first.state.message, "Retrying operation with latest revisions. Attempt #1");
    assert_eq!(first.operation.sync.as_ref().unwrap().revision, "");
    let resumed = OperationState { finished_at: None, ..waiting };
    let next = attempt(&app(operation, Some(resumed)), "2024-04-05T20:00:01Z", NONE);
    assert_eq!(next.operation.sync.unwrap().revision, "", "the merge patch leaves the old revision in the state");
}

#[test]
fn sync_236_a_waiting_retry_with_a_bad_backoff_ends() {
    let mut operation = retrying(2);
    operation.retry.backoff = Some(crate::api::operation::Backoff { duration: "soon".into(), ..Default::default() });
    let waiting = OperationState { finished_at: Time::parse(START), ..running(operation.clone()) };
    let Lifecycle::End(state) = decide(&app(operation, Some(waiting)), at(START), NONE) else { panic!() };
    assert_eq!((state.phase.as_str(), state.message.as_str()), ("Error", "unable to parse soon as a duration"));
}

#[test]
fn sync_014_sources_come_from_the_operation_or_else_from_the_spec() {
    let source = |path: &str| crate::api::ApplicationSource { path: path.into(), ..Default::default() };
    let spec = ApplicationSpec { sources: vec![source("a"), source("b")], ..ApplicationSpec::default() };
    let from_spec = new_result(&spec, &revision("x"));
    assert_eq!((from_spec.source.path.as_str(), from_spec.sources.len(), from_spec.revision.as_str()), ("a", 2, "x"));
    let named = SyncOperation { sources: vec![source("c")], ..SyncOperation::default() };
    let from_operation = new_result(&spec, &named);
    assert_eq!((from_operation.source, from_operation.sources), (source(""), vec![source("c")]));
}

#[test]
fn sync_012_a_completed_wet_operation_asks_for_a_refresh() {
    let state = ended("Succeeded", "a");
    let automated = OperationInitiator { automated: true, ..OperationInitiator::default() };
    let by_hand = request(revision("a"));
    assert_eq!(refresh_after(&by_hand, &state), Some(RefreshAfter::LatestForceResolve));
    let by_controller = Operation { initiated_by: automated, ..by_hand.clone() };
    assert_eq!(refresh_after(&by_controller, &state), Some(RefreshAfter::Latest));
    let dry = request(SyncOperation { dry_run: true, ..revision("a") });
    assert_eq!(refresh_after(&dry, &state), None);
    assert_eq!(refresh_after(&by_hand, &running(by_hand.clone())), None);
}

#[test]
fn results_that_are_gone_from_the_state_are_removed_from_the_store() {
    let mut read = running(request(revision("b")));
    let resources = vec![ResourceResult { name: "old".into(), ..ResourceResult::default() }];
    read.sync_result = Some(SyncOperationResult { resources, ..SyncOperationResult::default() });
    let mut state = read.clone();
    state.sync_result.as_mut().unwrap().resources.clear();
    let patch = patch(PatchKind::Continue, Some(&read), &mut state, at(START)).unwrap();
    assert_eq!(stored(Some(&read), &patch), state);
}

#[test]
fn a_deleted_application_retries_nothing() {
    let mut state = running(request(revision("a")));
    state.finished_at = Some(Time::from_timestamp(at(START)));
    state.retry_count = 1;
    state.message = "one or more objects failed to apply".to_owned();
    let retry = RetryStrategy { limit: 5, ..RetryStrategy::default() };
    let mut app = app(Operation { retry, ..request(revision("a")) }, Some(state));
    assert!(matches!(decide(&app, at(START), NONE), Lifecycle::Wait(_)));
    app.metadata.deletion_timestamp = Some(START.to_owned());
    let Lifecycle::End(state) = decide(&app, at(START), NONE) else { panic!("it ends") };
    assert_eq!(state.phase, "Failed");
    assert!(state.message.starts_with("one or more objects failed to apply (not retried"));
}
