//! Which fields differ, whose they are, and what lives on without an owner.

use serde_json::{Value, json};

use super::{app, deployment, facts, live, pair, report, timer, why};
use crate::explain::report::ObjectReport;

fn managers() -> Value {
    json!([
        {"manager": "argocd-controller", "operation": "Update", "apiVersion": "apps/v1", "time": "2026-01-01T00:00:00Z",
         "fieldsV1": {"f:spec": {"f:template": {"f:spec": {"f:containers": {
             "k:{\"name\":\"web\"}": {".": {}, "f:name": {}, "f:image": {}}}}}}}},
        {"manager": "kubectl-edit", "operation": "Update", "apiVersion": "apps/v1", "time": "2026-01-02T00:00:00Z",
         "fieldsV1": {"f:spec": {"f:replicas": {}}}},
        {"manager": "kube-controller-manager", "operation": "Update", "subresource": "status", "fieldsV1": {"f:status": {"f:replicas": {}}}},
    ])
}

fn containers(images: &[(&str, &str)]) -> Value {
    let list: Vec<Value> = images.iter().map(|(name, image)| json!({"name": name, "image": image})).collect();
    json!({"spec": {"containers": list}})
}

fn only(target: Value, there: Value) -> ObjectReport {
    let report = report(&facts(app(json!({})), vec![pair(Some(target), Some(there))]));
    report.objects.into_iter().next().expect("an object to tell about")
}

#[test]
fn fields_tell_both_values_and_the_live_ones_owner() {
    let target = deployment("web", json!({"replicas": 3, "template": containers(&[("web", "web:2")])}));
    let there = deployment("web", json!({"replicas": 5, "template": containers(&[("side", "s:1"), ("web", "web:1")])}));
    let object = only(target, live(there, managers()));
    let found: Vec<_> = object
        .fields
        .iter()
        .map(|field| {
            let owners: Vec<_> =
                field.owners.iter().map(|owner| (owner.manager.as_str(), owner.since.as_str())).collect();
            (field.path.as_str(), field.pointer.as_str(), field.desired.clone(), field.live.clone(), owners)
        })
        .collect();
    assert_eq!(
        found,
        [
            (
                "spec.replicas",
                "/spec/replicas",
                Some(json!(3)),
                Some(json!(5)),
                vec![("kubectl-edit", "2026-01-02T00:00:00Z")]
            ),
            (
                "spec.template.spec.containers[name=web].image",
                "/spec/template/spec/containers/1/image",
                Some(json!("web:2")),
                Some(json!("web:1")),
                vec![("argocd-controller", "2026-01-01T00:00:00Z")]
            ),
        ]
    );
}

#[test]
fn who_owns_a_map_need_not_own_its_entries_but_who_owns_a_value_owns_all_of_it() {
    let managers = json!([
        {"manager": "map", "operation": "Update", "fieldsV1": {"f:spec": {"f:selector": {"f:matchLabels": {".": {}}}}}},
        {"manager": "entry", "operation": "Update", "fieldsV1": {"f:spec": {"f:selector": {"f:matchLabels": {"f:app": {}}}}}},
        {"manager": "value", "operation": "Apply", "fieldsV1": {"f:spec": {"f:selector": {}}}},
        {"manager": "other", "operation": "Apply", "fieldsV1": {"f:spec": {"f:replicas": {}}}},
    ]);
    let selector = |app: &str| deployment("web", json!({"selector": {"matchLabels": {"app": app}}}));
    let object = only(selector("a"), live(selector("b"), managers));
    let owners: Vec<_> = object.fields[0].owners.iter().map(|owner| owner.manager.as_str()).collect();
    assert_eq!((object.fields[0].path.as_str(), owners), ("spec.selector.matchLabels.app", vec!["entry", "value"]));
}

#[test]
fn names_with_dots_and_slashes_are_quoted_in_paths_and_escaped_in_pointers() {
    let mut target = deployment("web", json!({}));
    target["metadata"]["annotations"] = json!({"example.com/a": "1"});
    let mut there = deployment("web", json!({}));
    there["metadata"]["annotations"] = json!({"example.com/a": "2"});
    let object = only(target, live(there, json!([])));
    assert_eq!(object.fields[0].path, "metadata.annotations[\"example.com/a\"]");
    assert_eq!(object.fields[0].pointer, "/metadata/annotations/example.com~1a");
    assert!(object.fields[0].owners.is_empty());
}

/// A live Deployment whose first manager was forgotten.
fn forgotten(manager: &str, also_owned_by: Option<&str>) -> Value {
    let side = json!({"f:spec": {"f:template": {"f:spec": {
        "f:containers": {"k:{\"name\":\"side\"}": {".": {}, "f:name": {}, "f:image": {}}},
        "f:dnsPolicy": {}}}},
        "f:metadata": {"f:labels": {"f:team": {}}, "f:annotations": {"f:deployment.kubernetes.io/revision": {}}}});
    let mut entries =
        vec![json!({"manager": manager, "operation": "Update", "time": "2025-05-05T00:00:00Z", "fieldsV1": side})];
    entries.extend(also_owned_by.map(|owner| json!({"manager": owner, "operation": "Apply", "fieldsV1": side})));
    let mut there = deployment("web", json!({"template": containers(&[("side", "s:1"), ("web", "web:1")])}));
    there["spec"]["template"]["spec"]["dnsPolicy"] = "ClusterFirst".into();
    there["metadata"]["labels"] = json!({"team": "a"});
    there["metadata"]["annotations"] = json!({"deployment.kubernetes.io/revision": "3"});
    live(there, entries.into())
}

#[test]
fn a_dropped_container_whose_owner_was_forgotten_is_named_although_all_looks_in_sync() {
    let target = deployment("web", json!({"template": containers(&[("web", "web:1")])}));
    for manager in ["ancient-changes", "before-first-apply"] {
        let object = only(target.clone(), forgotten(manager, None));
        assert_eq!(object.sync, "Synced");
        let lost: Vec<_> = object.lost.iter().map(|lost| (lost.path.as_str(), lost.manager.as_str())).collect();
        let expect = [("metadata.labels.team", manager), ("spec.template.spec.containers[name=side]", manager)];
        assert_eq!(lost, expect, "neither defaults nor what Kubernetes writes itself");
    }
}

#[test]
fn what_somebody_still_owns_is_not_lost() {
    let target = deployment("web", json!({"template": containers(&[("web", "web:1")])}));
    let facts = facts(app(json!({})), vec![pair(Some(target), Some(forgotten("ancient-changes", Some("injector"))))]);
    assert!(report(&facts).objects.is_empty());
}

#[test]
fn the_manager_that_keeps_foreign_data_is_named_although_the_object_is_synced() {
    let config = |data: Value| json!({"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "conf", "namespace": "shop"}, "data": data});
    let target = config(json!({"a": "1"}));
    let mut live = config(json!({"a": "1", "b": "0"}));
    live["metadata"]["managedFields"] = json!([
        {"manager": "argocd-controller", "operation": "Apply", "fieldsV1": {"f:data": {"f:a": {}}}},
        {"manager": "installer", "operation": "Update", "fieldsV1": {"f:data": {"f:b": {}}}},
    ]);
    let report = why(&facts(app(json!({})), vec![pair(Some(target), Some(live))]), None, &timer());
    assert_eq!(report.objects.iter().map(|object| object.sync.as_str()).collect::<Vec<_>>(), ["Synced"]);
    assert!(report.text().contains("data.b is not in the sources and stays: field manager installer owns it"));
}
