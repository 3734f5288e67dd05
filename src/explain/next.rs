//! Says what happens next to an application, and what holds it.
//!
//! In:  the Application after a comparison, with windows, rights and the time.
//! Out: one sentence for the next action, and one for each thing in its way.
//! Invariant: the answer comes from the same decisions that the controller makes, not from a second reading of the rules.
//! Source: APP-142 to APP-157, APP-158 to APP-172, APP-185 to APP-188.

use std::time::Duration;

use jiff::Timestamp;
use serde::Serialize;
use serde_json::json;

use super::{Facts, hold};
use crate::api::names;
use crate::api::operation::OperationState;
use crate::api::status::Time;
use crate::guard::Verdict;
use crate::sync::auto::{self, Auto, AutoInput};
use crate::sync::lifecycle::{self, Lifecycle};

/// What comes next.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Next {
    /// The next action, or why there is none.
    pub action: String,
    /// What is in its way, and what a person can do about it.
    pub holds: Vec<String>,
}

/// What comes next for the application.
pub fn next(facts: &Facts) -> Next {
    let mut holds = general(facts);
    let action = if facts.app.metadata.deletion_timestamp.is_some() {
        "the application is being deleted".to_owned()
    } else if facts.app.operation.is_some() {
        running(facts, &mut holds)
    } else {
        idle(facts, &mut holds)
    };
    Next { action, holds }
}

/// What holds everything.
fn general(facts: &Facts) -> Vec<String> {
    let mut holds = Vec::new();
    if let Verdict::StandDown { reason, .. } = &facts.verdict {
        holds.push(format!("litecd stands down: {reason}"));
    }
    let skip = facts.app.metadata.annotations.get(names::SKIP_RECONCILE);
    if skip.is_some_and(|value| matches!(value.as_str(), "1" | "t" | "T" | "true" | "TRUE" | "True")) {
        holds.push(format!("annotation {} stops all work on the application", names::SKIP_RECONCILE));
    }
    if facts.app.metadata.deletion_timestamp.is_some() {
        let finalizers = facts.app.metadata.finalizers.join(", ");
        holds.push(format!("it stays until its finalizers are done: {finalizers}"));
    }
    holds
}

fn running(facts: &Facts, holds: &mut Vec<String>) -> String {
    let state = facts.app.status.operation_state.as_ref().filter(|state| !state.is_completed());
    let requested = state.map(|state| &state.operation).or(facts.app.operation.as_ref());
    let manual = requested.is_some_and(|operation| !operation.initiated_by.automated);
    hold::windows(facts, (manual, state.map(|state| state.started_at.timestamp())), holds);
    hold::objects(facts, holds);
    let Some(state) = state else { return "the requested sync starts".to_owned() };
    if !state.message.is_empty() {
        holds.push(hold::unquoted(facts, &state.message));
    }
    hold::results(facts, state, "Running", holds);
    hold::results(facts, state, "Failed", holds);
    let since = state.started_at;
    match lifecycle::decide(&facts.app, facts.now, Duration::ZERO) {
        Lifecycle::Wait(left) => format!("attempt #{} of the sync {}", state.retry_count, at(facts.now, left)),
        _ if state.phase == "Terminating" => format!("the sync that runs since {since} ends early"),
        _ => format!("the sync that runs since {since} goes on"),
    }
}

fn idle(facts: &Facts, holds: &mut Vec<String>) -> String {
    match facts.status.status.as_str() {
        "Synced" => "nothing: the application is in sync".to_owned(),
        "OutOfSync" => out_of_sync(facts, holds),
        _ => {
            let errors = facts.conditions.iter().filter(|condition| condition.is_error());
            holds.extend(errors.map(|condition| format!("{}: {}", condition.r#type, condition.message)));
            "nothing until the comparison works".to_owned()
        }
    }
}

fn out_of_sync(facts: &Facts, holds: &mut Vec<String>) -> String {
    let last = facts.app.status.operation_state.as_ref().filter(|state| failed(state));
    let automated = facts.app.spec.automated().is_some();
    let is_held = hold::windows(facts, (!automated, None), holds);
    hold::objects(facts, holds);
    if let Some(last) = last {
        hold::results(facts, last, "Failed", holds);
    }
    if !automated {
        holds.push("automated sync is off (spec.syncPolicy.automated)".to_owned());
        holds.push(format!("start one with {}", by_hand(facts)));
        return "nothing by itself: somebody has to start a sync".to_owned();
    }
    if is_held {
        return "an automated sync, once no window holds it".to_owned();
    }
    let input = AutoInput {
        app: &facts.app,
        status: &facts.status,
        resources: &facts.resources,
        compares_revisions: true,
        prunes: &facts.prunes,
        guard: &facts.prune_guard,
        backoff: &facts.backoff,
        now: facts.now,
    };
    match auto::decide(&input) {
        Auto::Start { event, .. } => format!("an automated sync at the next comparison ({event})"),
        Auto::Wait { after, .. } => {
            holds.push("repairs of live changes are spaced, the more of them the longer".to_owned());
            format!("a repair of the live change {}", at(facts.now, after))
        }
        Auto::Error(text) => {
            holds.push(hold::unquoted(facts, &text));
            "nothing until the revision or the sources change, or somebody starts a sync".to_owned()
        }
        Auto::Skip(reason) => {
            let reason = reason.unwrap_or_default();
            let reason = reason.trim_start_matches("Skipping auto-sync: ");
            let heals = if reason.starts_with("most recent sync already") {
                ", and what changed since is not repaired because spec.syncPolicy.automated.selfHeal is off"
            } else {
                ""
            };
            holds.push(format!("{reason}{heals}"));
            "nothing by itself".to_owned()
        }
    }
}

/// The command that starts a sync without anything but kubectl. An operation takes no options from the spec, so that they
/// stand in it.
fn by_hand(facts: &Facts) -> String {
    let (meta, options) = (&facts.app.metadata, facts.app.spec.sync_options());
    let sync = if options.is_empty() { json!({}) } else { json!({"syncOptions": options}) };
    // A quote in the shell's quotes ends them.
    let patch = json!({"operation": {"sync": sync}}).to_string().replace('\'', "'\\''");
    format!("kubectl -n {} patch applications.argoproj.io {} --type merge -p '{patch}'", meta.namespace, meta.name)
}

fn failed(state: &OperationState) -> bool {
    matches!(state.phase.as_str(), "Failed" | "Error")
}

/// `at TIME, in SECONDS s`.
fn at(now: Timestamp, left: Duration) -> String {
    let at = now.checked_add(left).map(Time::from_timestamp).unwrap_or_default();
    format!("at {at}, in {} s", left.as_secs_f64().ceil())
}
