//! Rolling syncs: which Applications may sync now.
//!
//! In:  the set with its status, the stored and the generated Applications, which of them have a pending change.
//! Out: the progress of each Application, who may sync in this pass, the condition.
//! Invariant: an Application of a later step moves only when all of the earlier steps exist and are Healthy.
//! Source: SET-105, SET-120 to SET-131 (`applicationset/progressivesync/progressive_sync.go`).

use std::collections::{BTreeMap, BTreeSet};

use serde_json::Value;

use super::live::Live;
use super::status::{ROLLOUT, condition, set_condition};
use crate::api::Application;
use crate::api::application::Info;
use crate::api::appset::{
    ApplicationMatchExpression, ApplicationSet, ApplicationSetApplicationStatus, ApplicationSetStatus, RolloutStep,
};
use crate::api::operation::{Operation, OperationInitiator, RetryStrategy, SyncOperation};
use crate::api::status::Time;

/// Whether the set asks for a rolling sync, with or without steps.
pub fn is_rolling(set: &ApplicationSet) -> bool {
    set.spec
        .strategy
        .as_ref()
        .is_some_and(|strategy| strategy.r#type == "RollingSync" && strategy.rolling_sync.is_some())
}

/// The steps of a rolling sync; none for other strategies.
pub fn steps(set: &ApplicationSet) -> &[RolloutStep] {
    let strategy = set.spec.strategy.as_ref().filter(|_| is_rolling(set));
    strategy.and_then(|strategy| strategy.rolling_sync.as_ref()).map_or(&[], |sync| &sync.steps)
}

/// Names per step, and the first step of each name.
#[derive(Debug, Default)]
pub struct Order {
    /// Names in each step.
    pub names: Vec<Vec<String>>,
    /// Index of the first step that takes a name.
    pub step: BTreeMap<String, usize>,
}

impl Order {
    /// Sorts labelled names into steps.
    pub fn new<'a>(
        steps: &[RolloutStep],
        apps: impl IntoIterator<Item = (&'a str, &'a BTreeMap<String, String>)>,
    ) -> Self {
        let mut order = Self { names: vec![Vec::new(); steps.len()], step: BTreeMap::new() };
        for (name, labels) in apps {
            for (at, (step, names)) in steps.iter().zip(&mut order.names).enumerate() {
                if step.match_expressions.iter().all(|expression| selects(expression, labels)) {
                    names.push(name.to_owned());
                    order.step.entry(name.to_owned()).or_insert(at);
                }
            }
        }
        order
    }

    /// The step as the status shows it.
    fn shown(&self, name: &str) -> String {
        self.step.get(name).map_or("-1".to_owned(), |step| (step + 1).to_string())
    }

    /// Argo CD counts what no step takes to the first.
    fn counted(&self, name: &str) -> usize {
        self.step.get(name).copied().unwrap_or_default()
    }
}

fn selects(expression: &ApplicationMatchExpression, labels: &BTreeMap<String, String>) -> bool {
    match (labels.get(&expression.key), expression.operator.as_str()) {
        (Some(value), "In") => expression.values.contains(value),
        (Some(value), "NotIn") => !expression.values.contains(value),
        (Some(_), _) => false,
        (None, operator) => operator != "In",
    }
}

/// Moves every Application's progress on, and says who may sync; `changed` are those whose spec differs from what is
/// generated.
pub fn advance(
    set: &ApplicationSet,
    status: &mut ApplicationSetStatus,
    live: &[&Live],
    generated: &[Application],
    changed: &BTreeSet<String>,
    now: Time,
) -> BTreeSet<String> {
    let steps = steps(set);
    let order = Order::new(steps, generated.iter().map(|app| (app.metadata.name.as_str(), &app.metadata.labels)));
    let old = std::mem::take(&mut status.application_status);
    let mut progress: Vec<_> = live
        .iter()
        .map(|app| {
            let known = old.iter().find(|entry| entry.application == app.name);
            observed(app, known, &order, changed.contains(&app.name), now)
        })
        .collect();
    progress.sort_by(|a, b| a.application.cmp(&b.application));
    let may_sync = may_sync(&order, &progress);
    status.application_status =
        if steps.is_empty() { Vec::new() } else { promoted(progress, steps, &order, &may_sync, now) };
    report(set, status, now);
    may_sync
}

fn observed(
    app: &Live,
    known: Option<&ApplicationSetApplicationStatus>,
    order: &Order,
    spec_changed: bool,
    now: Time,
) -> ApplicationSetApplicationStatus {
    let facts = &app.observed;
    let current = known.cloned().unwrap_or_else(|| ApplicationSetApplicationStatus {
        application: app.name.clone(),
        target_revisions: facts.revisions.clone(),
        last_transition_time: Some(now),
        message: "No Application status found, defaulting status to Waiting".to_owned(),
        status: "Waiting".to_owned(),
        step: String::new(),
    });
    let mut new = ApplicationSetApplicationStatus { step: order.shown(&app.name), ..current.clone() };
    let turn = |new: &mut ApplicationSetApplicationStatus, status: &str, message: &str| {
        new.status = status.to_owned();
        new.message = message.to_owned();
        new.last_transition_time = Some(now);
    };
    // Seen before its first comparison: that it has a revision now is no change.
    let is_first = current.target_revisions.iter().all(String::is_empty);
    if is_first {
        new.target_revisions.clone_from(&facts.revisions);
    }
    let pending = match (!is_first && current.target_revisions != facts.revisions, spec_changed) {
        (true, true) => Some("Application has pending changes (revision and spec differ), setting status to Waiting"),
        (true, false) => Some("Application has pending changes, setting status to Waiting"),
        (false, true) => Some("Application has pending changes (spec differs), setting status to Waiting"),
        (false, false) => None,
    };
    if let Some(message) = pending {
        new.target_revisions.clone_from(&facts.revisions);
        turn(&mut new, "Waiting", message);
    }
    let is_healthy = facts.sync == "Synced" && facts.health == "Healthy";
    match (new.status.as_str(), current.status.as_str()) {
        ("Waiting", _) if is_healthy => {
            turn(&mut new, "Healthy", "Application resource has synced, updating status to Healthy");
        }
        ("Waiting", _) if facts.sync == "Synced" => {
            turn(&mut new, "Progressing", "Application resource has synced, updating status to Progressing");
        }
        ("Waiting", _) => {}
        (_, "Pending") => {
            if let Some(message) = begun(app, &current) {
                turn(&mut new, "Progressing", message);
            }
        }
        (_, "Progressing") if is_healthy => {
            turn(
                &mut new,
                "Healthy",
                "Application resource became Healthy, updating status from Progressing to Healthy",
            );
        }
        _ => {}
    }
    new
}

/// What a pending Application says about its sync, once it was compared after the transition.
fn begun(app: &Live, current: &ApplicationSetApplicationStatus) -> Option<&'static str> {
    let since = current.last_transition_time;
    let is_newer = |at: Time| since.is_none_or(|since| at > since);
    if !app.observed.reconciled_at.is_none_or(is_newer) {
        return None;
    }
    match &app.observed.operation {
        Some((start, phase)) if is_newer(*start) => Some(match phase.as_str() {
            "Succeeded" => {
                "Application resource completed a sync successfully, updating status from Pending to Progressing"
            }
            "Failed" | "Error" => "Application resource completed a sync, updating status from Pending to Progressing",
            _ => "Application resource became Progressing, updating status from Pending to Progressing",
        }),
        _ if app.observed.has_error => {
            Some("Application resource has error and cannot sync, updating status to Progressing")
        }
        _ => None,
    }
}

/// Names of all steps up to the first that is not complete.
fn may_sync(order: &Order, progress: &[ApplicationSetApplicationStatus]) -> BTreeSet<String> {
    let mut allowed = BTreeSet::new();
    for names in &order.names {
        allowed.extend(names.iter().cloned());
        let is_healthy = |name: &String| progress.iter().any(|p| p.application == *name && p.status == "Healthy");
        if !names.iter().all(is_healthy) {
            break;
        }
    }
    allowed
}

fn promoted(
    mut progress: Vec<ApplicationSetApplicationStatus>,
    steps: &[RolloutStep],
    order: &Order,
    may_sync: &BTreeSet<String>,
    now: Time,
) -> Vec<ApplicationSetApplicationStatus> {
    let mut total = vec![0_usize; steps.len()];
    let mut busy = vec![0_usize; steps.len()];
    for entry in &progress {
        let step = order.counted(&entry.application);
        total[step] += 1;
        busy[step] += usize::from(["Pending", "Progressing"].contains(&entry.status.as_str()));
    }
    for entry in &mut progress {
        let step = order.counted(&entry.application);
        let has_room = limit(steps[step].max_update.as_ref(), total[step]).is_none_or(|limit| busy[step] < limit);
        if entry.status == "Waiting" && may_sync.contains(&entry.application) && has_room {
            entry.last_transition_time = Some(now);
            entry.status = "Pending".to_owned();
            entry.message =
                "Application moved to Pending status, watching for the Application resource to start Progressing"
                    .to_owned();
            busy[step] += 1;
        }
    }
    progress
}

/// How many of a step may change at once; nothing is no limit. A text that is no percentage counts as one.
fn limit(max_update: Option<&Value>, total: usize) -> Option<usize> {
    match max_update? {
        Value::Number(number) => Some(usize::try_from(number.as_i64().unwrap_or_default()).unwrap_or(0)),
        Value::String(text) if text == "0%" => Some(0),
        Value::String(text) => {
            let percent = text.strip_suffix('%').and_then(|digits| digits.parse::<usize>().ok()).unwrap_or_default();
            Some((percent.saturating_mul(total) / 100).max(1))
        }
        _ => None,
    }
}

/// The condition: the first step that is not complete.
fn report(set: &ApplicationSet, status: &mut ApplicationSetStatus, now: Time) {
    let is_open = |step: &String| status.application_status.iter().any(|p| p.step == *step && p.status != "Healthy");
    let open = (1..=steps(set).len()).map(|step| step.to_string()).find(is_open);
    let new = match open {
        Some(step) => {
            let message = format!("ApplicationSet is performing rollout of step {step}");
            condition(ROLLOUT, true, "ApplicationSetModified", &message)
        }
        None => condition(ROLLOUT, false, "ApplicationSetRolloutComplete", "ApplicationSet Rollout has completed"),
    };
    set_condition(set, status, new, true, now);
}

/// Takes automated sync from an Application; whether it would have pruned.
pub fn disarm(app: &mut Application) -> bool {
    let Some(automated) = app.spec.sync_policy.as_mut().and_then(|policy| policy.automated.as_mut()) else {
        return false;
    };
    let prunes = automated.enabled.unwrap_or(true) && automated.prune.unwrap_or_default();
    automated.enabled = Some(false);
    prunes
}

/// Prepares an Application for a rolling sync: it does not sync by itself, and syncs now when it is pending.
///
/// `before` is the status at the start of the pass, so that a sync begins one pass after the transition is stored.
pub fn prepare(app: &mut Application, before: &ApplicationSetStatus, may_sync: &BTreeSet<String>) {
    let prune = disarm(app);
    let name = &app.metadata.name;
    let is_pending = before.application_status.iter().any(|p| p.application == *name && p.status == "Pending");
    if !is_pending || !may_sync.contains(name) {
        return;
    }
    let policy = app.spec.sync_policy.clone().unwrap_or_default();
    app.operation = Some(Operation {
        sync: Some(SyncOperation { prune, sync_options: policy.sync_options, ..SyncOperation::default() }),
        initiated_by: OperationInitiator { username: "applicationset-controller".to_owned(), automated: true },
        info: vec![Info {
            name: "Reason".to_owned(),
            value: "ApplicationSet RollingSync triggered a sync of this Application resource".to_owned(),
        }],
        retry: policy.retry.unwrap_or(RetryStrategy { limit: 5, ..RetryStrategy::default() }),
    });
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn live(status: Value) -> Live {
        Live::read(&json!({"metadata": {"name": "web", "namespace": "argocd"}, "spec": {}, "status": status})).unwrap()
    }

    fn entry(status: Value, known: Option<&ApplicationSetApplicationStatus>) -> ApplicationSetApplicationStatus {
        let order = Order { names: Vec::new(), step: BTreeMap::new() };
        observed(&live(status), known, &order, false, Time::parse("2024-01-01T10:00:00Z").unwrap())
    }

    fn compared(revision: &str) -> Value {
        json!({"sync": {"status": "OutOfSync", "revision": revision}, "health": {"status": "Missing"}})
    }

    #[test]
    fn the_first_revision_of_an_application_is_no_pending_change_but_the_next_is() {
        let new = entry(json!({}), None);
        assert_eq!(new.message, "No Application status found, defaulting status to Waiting");
        let first = entry(compared("abc"), Some(&new));
        assert_eq!((first.message, &first.target_revisions), (new.message, &vec!["abc".to_owned()]));
        let first = ApplicationSetApplicationStatus { message: String::new(), ..first };
        let second = entry(compared("def"), Some(&first));
        assert_eq!(second.message, "Application has pending changes, setting status to Waiting");
        assert_eq!(second.target_revisions, ["def"]);
    }
}
