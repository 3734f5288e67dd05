//! Kubernetes events about Applications.
//!
//! In:  what happened.
//! Out: an event's reason, type and text, and the object to create.
//! Invariant: each event is a new object; nothing is aggregated.
//! Source: APP-259 to APP-268 (`util/argo/audit_logger.go`, `util/argo/argo.go` `GetAppEventLabels`,
//! `controller/appcontroller.go`).

use std::collections::BTreeMap;

use jiff::Timestamp;
use serde_json::{Value, json};

use crate::api::operation::OperationState;
use crate::api::status::{ApplicationStatus, Time};
use crate::api::{Application, names};

/// Something to tell about an Application.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Event {
    /// Machine-readable reason.
    pub reason: &'static str,
    /// Whether it is a warning.
    pub is_warning: bool,
    /// Text for people.
    pub message: String,
}

impl Event {
    fn normal(reason: &'static str, message: String) -> Self {
        Self { reason, is_warning: false, message }
    }

    fn warning(reason: &'static str, message: String) -> Self {
        Self { reason, is_warning: true, message }
    }
}

/// Events of a status patch: sync status first, then health (APP-262, APP-263).
pub fn status_changed(old: &ApplicationStatus, new: &ApplicationStatus) -> Vec<Event> {
    let changes = [("sync", &old.sync.status, &new.sync.status), ("health", &old.health.status, &new.health.status)];
    changes
        .into_iter()
        .filter(|(_, old, new)| old != new)
        .map(|(what, old, new)| Event::normal("ResourceUpdated", format!("Updated {what} status: {old} -> {new}")))
        .collect()
}

/// Auto-sync posted an operation (APP-264).
pub fn sync_started(revisions: &[String]) -> Event {
    Event::normal("OperationStarted", format!("Initiated automated sync to '{}'", revisions.join(", ")))
}

/// An operation ended (APP-265 to APP-267). Several sources have an empty revision and so two blanks.
pub fn operation_completed(state: &OperationState) -> Event {
    let is_partial = state.operation.sync.as_ref().is_some_and(|sync| !sync.resources.is_empty());
    let what = if is_partial { "Partial sync operation" } else { "Sync operation" };
    let target = state.sync_result.as_ref().map(|result| format!(" to {}", result.revision)).unwrap_or_default();
    if state.phase == "Succeeded" {
        Event::normal("OperationCompleted", format!("{what}{target} succeeded"))
    } else {
        Event::warning("OperationCompleted", format!("{what}{target} failed: {}", state.message))
    }
}

/// A deletion pass failed (APP-268).
pub fn deletion_failed(error: &str) -> Event {
    Event::warning("StatusRefreshed", format!("Unable to delete application resources: {error}"))
}

/// Which reasons are told (APP-261).
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Enabled {
    /// Every reason.
    All,
    /// Only these.
    Only(Vec<String>),
}

impl Enabled {
    /// Reads a comma list; `all` and `none` count wherever they stand, the first of them wins.
    pub fn parse(list: &str) -> Self {
        let reasons: Vec<&str> = list.split(',').map(str::trim).collect();
        match reasons.iter().find(|reason| matches!(**reason, "all" | "none")) {
            Some(&"all") => Self::All,
            Some(_) => Self::Only(Vec::new()),
            None => Self::Only(reasons.into_iter().filter(|reason| !reason.is_empty()).map(str::to_owned).collect()),
        }
    }

    /// Whether an event is told.
    pub fn allows(&self, event: &Event) -> bool {
        match self {
            Self::All => true,
            Self::Only(reasons) => reasons.iter().any(|reason| reason == event.reason),
        }
    }
}

/// Which labels go from an Application and its project onto events (APP-260).
pub struct LabelRules<'a> {
    /// Globs of keys that are taken.
    pub include: &'a [String],
    /// Globs of keys that are left out again.
    pub exclude: &'a [String],
    /// Whether a glob (first) matches a key (second).
    pub matches: fn(&str, &str) -> bool,
}

/// Labels of an event: the Application's, then the project's it does not set itself.
pub fn labels(
    app: &BTreeMap<String, String>,
    project: &BTreeMap<String, String>,
    rules: &LabelRules<'_>,
) -> BTreeMap<String, String> {
    let any = |globs: &[String], key: &str| globs.iter().any(|glob| (rules.matches)(glob, key));
    let mut all = project.clone();
    all.extend(app.clone());
    all.retain(|key, _| any(rules.include, key) && !any(rules.exclude, key));
    all
}

/// The event object to create in the Application's namespace (APP-259).
pub fn object(app: &Application, event: &Event, labels: &BTreeMap<String, String>, now: Timestamp) -> Value {
    let time = Time::from_timestamp(now);
    let mut object = json!({
        "apiVersion": "v1",
        "kind": "Event",
        "metadata": {
            "name": format!("{}.{:x}", app.metadata.name, now.as_nanosecond()),
            "namespace": app.metadata.namespace,
            "annotations": {
                "dest-server": app.spec.destination.server,
                "dest-namespace": app.spec.destination.namespace,
            },
        },
        "involvedObject": {
            "apiVersion": format!("{}/v1alpha1", names::GROUP),
            "kind": "Application",
            "name": app.metadata.name,
            "namespace": app.metadata.namespace,
            "resourceVersion": app.metadata.resource_version,
            "uid": app.metadata.uid,
        },
        "source": {"component": names::BINARY_MANAGER},
        "firstTimestamp": time,
        "lastTimestamp": time,
        "count": 1,
        "type": if event.is_warning { "Warning" } else { "Normal" },
        "reason": event.reason,
        "message": event.message,
    });
    if !labels.is_empty() {
        crate::api::object::child_map(&mut object, "metadata").insert("labels".to_owned(), json!(labels));
    }
    object
}
