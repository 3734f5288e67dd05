use serde_json::{Value, json};

use super::at;
use crate::api::status::{ApplicationStatus, RevisionHistory};
use crate::status::{append, history_patch, merge_patch, normalize_spec, oversize_patch, settle_health, status_patch};

fn check(old: Value, new: Value, expected: Option<Value>) {
    assert_eq!(merge_patch(&old, &new), expected, "{old} {new}");
}

#[test]
fn only_differences_are_sent_and_lists_go_whole() {
    check(json!({"a": 1}), json!({"a": 1}), None);
    check(json!({"a": {"b": 1, "c": 2}}), json!({"a": {"b": 1, "c": 3}}), Some(json!({"a": {"c": 3}})));
    check(json!({"a": {"b": 1}, "c": 2}), json!({"c": 2}), Some(json!({"a": null})));
    check(json!({"a": [1, 2]}), json!({"a": [1, 3]}), Some(json!({"a": [1, 3]})));
    check(json!({"a": {}}), json!({"a": {}}), None);
    check(json!({}), json!({"a": {}}), Some(json!({"a": {}})));
}

fn status(sync: &str, health: &str) -> ApplicationStatus {
    let mut status = ApplicationStatus::default();
    status.sync.status = sync.to_owned();
    status.health.status = health.to_owned();
    status
}

#[test]
fn unchanged_status_is_not_written_and_refresh_alone_nulls_its_key() {
    let old = status("Synced", "Healthy");
    assert_eq!(status_patch(&old, &old, false), None);
    let refresh = json!({"metadata": {"annotations": {"argocd.argoproj.io/refresh": null}}});
    assert_eq!(status_patch(&old, &old, true), Some(refresh));
}

#[test]
fn zero_structs_that_stay_zero_are_not_sent() {
    let patch = status_patch(&ApplicationStatus::default(), &status("Synced", "Healthy"), false);
    assert_eq!(patch, Some(json!({"status": {"sync": {"status": "Synced"}, "health": {"status": "Healthy"}}})));
}

#[test]
fn health_time_moves_only_with_the_code() {
    let mut old = status("Synced", "Healthy");
    old.health.last_transition_time = Some(at(1));
    let mut same = status("OutOfSync", "Healthy");
    settle_health(&old, &mut same, at(2));
    assert_eq!(same.health.last_transition_time, Some(at(1)));
    let mut changed = status("Synced", "Degraded");
    settle_health(&old, &mut changed, at(2));
    assert_eq!(changed.health.last_transition_time, Some(at(2)));
    let mut never = status("Synced", "Healthy");
    settle_health(&status("Synced", "Healthy"), &mut never, at(2));
    assert_eq!(never.health.last_transition_time, None);
}

#[test]
fn too_large_status_leaves_a_condition_and_consumes_the_refresh() {
    let old = status("Synced", "Healthy");
    let patch = oversize_patch(&old, true, at(0)).expect("a condition is new");
    assert_eq!(patch["status"]["conditions"][0]["type"], "UnknownError");
    assert_eq!(patch["status"]["conditions"][0]["lastTransitionTime"], "1970-01-01T00:00:00Z");
    assert_eq!(patch["status"].as_object().map(|status| status.len()), Some(1));
    assert!(patch["metadata"]["annotations"].get("argocd.argoproj.io/refresh").is_some());
}

#[test]
fn history_counts_on_and_keeps_the_newest() {
    let entry = |revision: &str| RevisionHistory { revision: revision.to_owned(), ..RevisionHistory::default() };
    let mut history = Vec::new();
    for revision in ["a", "b", "c"] {
        history = append(&history, entry(revision), 2);
    }
    let found: Vec<(i64, &str)> = history.iter().map(|entry| (entry.id, entry.revision.as_str())).collect();
    assert_eq!(found, [(1, "b"), (2, "c")]);
    assert_eq!(append(&history, entry("d"), 0), []);
    let patch = history_patch(&history);
    assert_eq!(patch["status"]["history"][0]["initiatedBy"], json!({}));
    assert_eq!(patch["status"]["history"][0]["source"], json!({"repoURL": ""}));
}

fn check_spec(spec: Value, expected: Option<Value>) {
    let expected = expected.map(|patch| json!({"spec": patch}));
    assert_eq!(normalize_spec(&json!({"spec": spec})), expected, "{spec}");
}

#[test]
fn blocks_that_say_nothing_are_dropped() {
    check_spec(json!({"project": "p", "source": {"repoURL": "r", "helm": {"values": "a: b"}}}), None);
    check_spec(json!({"project": "", "syncPolicy": {}}), Some(json!({"project": "default", "syncPolicy": null})));
    check_spec(json!({"project": "p", "syncPolicy": {"syncOptions": []}}), Some(json!({"syncPolicy": null})));
    check_spec(json!({"project": "p", "syncPolicy": {"automated": {}}}), None);
    let empty = json!({"project": "p", "source": {"repoURL": "r", "helm": {}, "kustomize": {"forceCommonLabels": true},
        "directory": {"recurse": false, "jsonnet": {}}}});
    check_spec(empty, Some(json!({"source": {"helm": null, "kustomize": null, "directory": null}})));
    check_spec(json!({"project": "p", "source": {"repoURL": "r", "directory": {"include": "*.yaml"}}}), None);
}

#[test]
fn several_sources_are_never_rewritten_and_unreadable_specs_stay() {
    check_spec(json!({"project": "p", "source": {"helm": {}}, "sources": [{"repoURL": "r", "helm": {}}]}), None);
    check_spec(json!({"project": 1}), None);
}
