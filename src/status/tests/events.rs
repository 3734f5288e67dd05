use std::collections::BTreeMap;

use serde_json::json;

use super::texts;
use crate::api::Application;
use crate::api::operation::{OperationState, SyncOperation, SyncOperationResource, SyncOperationResult};
use crate::api::status::ApplicationStatus;
use crate::status::events::{
    Enabled, Event, LabelRules, deletion_failed, labels, object, operation_completed, status_changed, sync_started,
};

fn check(event: Event, reason: &str, is_warning: bool, message: &str) {
    assert_eq!((event.reason, event.is_warning, event.message.as_str()), (reason, is_warning, message));
}

fn state(phase: &str, revision: Option<&str>) -> OperationState {
    OperationState {
        phase: phase.to_owned(),
        message: "m".to_owned(),
        sync_result: revision
            .map(|revision| SyncOperationResult { revision: revision.to_owned(), ..SyncOperationResult::default() }),
        ..OperationState::default()
    }
}

#[test]
fn operation_texts() {
    check(
        operation_completed(&state("Succeeded", Some("r"))),
        "OperationCompleted",
        false,
        "Sync operation to r succeeded",
    );
    check(
        operation_completed(&state("Succeeded", Some(""))),
        "OperationCompleted",
        false,
        "Sync operation to  succeeded",
    );
    check(operation_completed(&state("Error", None)), "OperationCompleted", true, "Sync operation failed: m");
    let mut partial = state("Failed", Some("r"));
    let resources = vec![SyncOperationResource::default()];
    partial.operation.sync = Some(SyncOperation { resources, ..SyncOperation::default() });
    check(operation_completed(&partial), "OperationCompleted", true, "Partial sync operation to r failed: m");
    check(sync_started(&texts(&["a", "b"])), "OperationStarted", false, "Initiated automated sync to 'a, b'");
    check(deletion_failed("x"), "StatusRefreshed", true, "Unable to delete application resources: x");
}

#[test]
fn status_changes_tell_sync_before_health() {
    let old = ApplicationStatus::default();
    let mut new = old.clone();
    new.sync.status = "Synced".to_owned();
    new.health.status = "Healthy".to_owned();
    let found: Vec<String> = status_changed(&old, &new).into_iter().map(|event| event.message).collect();
    assert_eq!(found, ["Updated sync status:  -> Synced", "Updated health status:  -> Healthy"]);
    assert!(status_changed(&new, &new).is_empty());
}

#[test]
fn event_object_names_the_app_the_destination_and_the_time() {
    let mut app = Application::default();
    app.metadata.name = "web".to_owned();
    app.metadata.namespace = "argocd".to_owned();
    app.metadata.uid = "u".to_owned();
    app.metadata.resource_version = "7".to_owned();
    app.spec.destination.namespace = "demo".to_owned();
    let now = jiff::Timestamp::from_nanosecond(0x1234_5678_9abc).unwrap();
    let event = sync_started(&texts(&["a"]));
    let found = object(&app, &event, &BTreeMap::new(), now);
    assert_eq!(found["metadata"]["name"], "web.123456789abc");
    assert_eq!(found["metadata"]["namespace"], "argocd");
    assert_eq!(found["metadata"]["annotations"], json!({"dest-server": "", "dest-namespace": "demo"}));
    assert!(found["metadata"].get("labels").is_none());
    assert_eq!(found["involvedObject"]["apiVersion"], "argoproj.io/v1alpha1");
    assert_eq!(found["involvedObject"]["resourceVersion"], "7");
    assert_eq!(found["source"]["component"], "argocd-application-controller");
    assert_eq!(found["firstTimestamp"], "1970-01-01T05:33:35Z");
    assert_eq!(found["firstTimestamp"], found["lastTimestamp"]);
    assert_eq!((&found["count"], &found["type"]), (&json!(1), &json!("Normal")));
    let labelled = object(&app, &event, &BTreeMap::from([("a".to_owned(), "b".to_owned())]), now);
    assert_eq!(labelled["metadata"]["labels"], json!({"a": "b"}));
}

#[test]
fn labels_are_included_then_excluded_and_the_app_wins() {
    let map = |pairs: &[(&str, &str)]| {
        pairs.iter().map(|(key, value)| ((*key).to_owned(), (*value).to_owned())).collect::<BTreeMap<_, _>>()
    };
    let matches = |glob: &str, key: &str| glob == "*" || glob == key;
    let (all, team) = (texts(&["*"]), texts(&["team"]));
    let (app, project) = (map(&[("env", "app")]), map(&[("env", "project"), ("team", "red")]));
    let rules = LabelRules { include: &all, exclude: &[], matches };
    assert_eq!(labels(&app, &project, &rules), map(&[("env", "app"), ("team", "red")]));
    let rules = LabelRules { include: &all, exclude: &team, matches };
    assert_eq!(labels(&app, &project, &rules), map(&[("env", "app")]));
    let rules = LabelRules { include: &[], exclude: &[], matches };
    assert_eq!(labels(&app, &project, &rules), map(&[]));
}

#[test]
fn reasons_can_be_chosen() {
    let event = deletion_failed("x");
    for (list, expected) in [
        ("all", true),
        ("none", false),
        ("StatusRefreshed,OperationStarted", true),
        ("OperationStarted", false),
        ("none,all", false),
        ("OperationStarted,all", true),
    ] {
        assert_eq!(Enabled::parse(list).allows(&event), expected, "{list}");
    }
}
