//! The status of a set: conditions, health, and the Applications it has.
//!
//! In:  the status so far, what happened, the time.
//! Out: the new status.
//! Invariant: a condition that says the same keeps its time, and health changes only together with a condition.
//! Source: SET-100 to SET-108 (`pkg/apis/application/v1alpha1/applicationset_types.go` `SetConditions`,
//! `CalculateHealth`; `applicationset/controllers/applicationset_controller.go` `setApplicationSetStatusCondition`).

use super::live::Live;
use super::options::Options;
use super::rollout::is_rolling;
use super::{Failure, Pass, WriteError, WriteStage, validate};
use crate::api::appset::{ApplicationSet, ApplicationSetCondition, ApplicationSetStatus};
use crate::api::names::GROUP;
use crate::api::status::{HealthStatus, ResourceStatus, Time};

const ERROR: &str = "ErrorOccurred";
const PARAMETERS: &str = "ParametersGenerated";
const UP_TO_DATE: &str = "ResourcesUpToDate";
/// Type of the condition of a rolling sync.
pub const ROLLOUT: &str = "RolloutProgressing";
const SUCCESS: &str = "All applications have been generated successfully";

/// A condition without its time.
pub fn condition(kind: &str, status: bool, reason: &str, message: &str) -> ApplicationSetCondition {
    ApplicationSetCondition {
        r#type: kind.to_owned(),
        status: if status { "True" } else { "False" }.to_owned(),
        reason: reason.to_owned(),
        message: message.to_owned(),
        last_transition_time: None,
    }
}

/// Sets a condition and those that follow from it.
pub fn set_condition(
    set: &ApplicationSet,
    status: &mut ApplicationSetStatus,
    new: ApplicationSetCondition,
    generated: bool,
    now: Time,
) {
    let mut conditions = vec![if generated {
        condition(PARAMETERS, true, PARAMETERS, "Successfully generated parameters for all Applications")
    } else {
        condition(PARAMETERS, false, ERROR, &new.message)
    }];
    match (new.r#type.as_str(), new.status.as_str()) {
        (UP_TO_DATE, "True") => conditions.push(condition(ERROR, false, &new.reason, &new.message)),
        (ERROR, "True") => conditions.push(condition(UP_TO_DATE, false, ERROR, &new.message)),
        _ => {}
    }
    conditions.push(new);
    let rolls = is_rolling(set);
    let is_evaluated =
        |kind: &str| conditions.iter().any(|condition| condition.r#type == kind) || kind == ROLLOUT && !rolls;
    let mut all: Vec<_> = status.conditions.iter().filter(|old| !is_evaluated(&old.r#type)).cloned().collect();
    for mut condition in conditions.iter().filter(|condition| rolls || condition.r#type != ROLLOUT).cloned() {
        let same = status.conditions.iter().find(|old| says_the_same(old, &condition));
        condition.last_transition_time = same.map_or(Some(now), |old| old.last_transition_time.or(Some(now)));
        all.push(condition);
    }
    all.sort_by(|a, b| {
        (&a.r#type, &a.status, &a.reason, &a.message).cmp(&(&b.r#type, &b.status, &b.reason, &b.message))
    });
    let unchanged = all.len() == status.conditions.len()
        && all.iter().zip(&status.conditions).all(|(new, old)| says_the_same(old, new));
    if !unchanged {
        status.conditions = all;
        status.health = health(&status.conditions);
    }
}

fn says_the_same(a: &ApplicationSetCondition, b: &ApplicationSetCondition) -> bool {
    (&a.r#type, &a.status, &a.reason, &a.message) == (&b.r#type, &b.status, &b.reason, &b.message)
}

/// Health that follows from conditions.
pub fn health(conditions: &[ApplicationSetCondition]) -> HealthStatus {
    let holds = |kind: &str| conditions.iter().find(|c| c.r#type == kind && c.status == "True");
    let verdicts = [(ERROR, "Degraded"), (ROLLOUT, "Progressing"), (UP_TO_DATE, "Healthy")];
    let found = verdicts.into_iter().find_map(|(kind, code)| holds(kind).map(|c| (code, c.message.as_str())));
    let (code, message) = found.unwrap_or(if conditions.is_empty() {
        ("Unknown", "No status conditions found for ApplicationSet")
    } else {
        ("Unknown", "Waiting for health status to be determined")
    });
    HealthStatus { status: code.to_owned(), message: message.to_owned(), last_transition_time: None }
}

/// The status of a set whose expansion failed.
pub fn failed(set: &ApplicationSet, failure: &Failure, now: Time) -> ApplicationSetStatus {
    let mut status = set.status.clone();
    set_condition(set, &mut status, condition(ERROR, true, failure.reason, &failure.message), false, now);
    status
}

/// Says in the status what is wrong with generated Applications.
pub fn report_invalid(set: &ApplicationSet, status: &mut ApplicationSetStatus, message: &str, now: Time) {
    set_condition(set, status, condition(ERROR, true, "ApplicationValidationError", message), true, now);
}

/// The status after the writes of a pass; `live` are the Applications the set owns now.
pub fn conclude(
    set: &ApplicationSet,
    options: &Options,
    pass: &Pass,
    live: &[Live],
    error: Option<&WriteError>,
    now: Time,
) -> ApplicationSetStatus {
    let mut status = pass.status.clone();
    // A pass that a failed write ends never comes to count the Applications.
    if error.is_none_or(|error| error.stage == WriteStage::Refresh) {
        count(set, options, &mut status, live);
    }
    if let Some(error) = error {
        let reason = match error.stage {
            WriteStage::Apply if options.policy_of(set).allows_update() => "UpdateApplicationError",
            WriteStage::Apply => "CreateApplicationError",
            WriteStage::Delete => "DeleteApplicationError",
            WriteStage::Refresh => "RefreshApplicationError",
        };
        set_condition(set, &mut status, condition(ERROR, true, reason, &error.message), true, now);
    } else if validate::message(&pass.invalid).is_none() {
        set_condition(set, &mut status, condition(UP_TO_DATE, true, "ApplicationSetUpToDate", SUCCESS), true, now);
    }
    status
}

fn count(set: &ApplicationSet, options: &Options, status: &mut ApplicationSetStatus, live: &[Live]) {
    let owned = live.iter().filter(|app| app.is_owned_by(&set.metadata.name));
    let mut resources: Vec<ResourceStatus> = owned.map(resource).collect();
    resources.sort_by(|a, b| a.name.cmp(&b.name));
    status.resources_count = i64::try_from(resources.len()).unwrap_or(i64::MAX);
    if options.max_resources > 0 {
        resources.truncate(options.max_resources);
    }
    status.resources = resources;
}

fn resource(app: &Live) -> ResourceStatus {
    ResourceStatus {
        group: GROUP.to_owned(),
        version: "v1alpha1".to_owned(),
        kind: "Application".to_owned(),
        name: app.name.clone(),
        namespace: app.namespace.clone(),
        status: app.observed.sync.clone(),
        health: Some(HealthStatus { status: app.observed.health.clone(), ..HealthStatus::default() }),
        ..ResourceStatus::default()
    }
}
