//! Server-side diff with made-up answers.

use serde_json::{Value, json};

use super::{comparer, rule};
use crate::diff::{Dropped, DryRun, Webhooks, kept_data};

fn deployment(replicas: i64, containers: Value) -> Value {
    json!({"apiVersion": "apps/v1", "kind": "Deployment", "metadata": {"name": "d"},
        "spec": {"replicas": replicas, "template": {"spec": {"containers": containers}}}})
}

fn owned(mut object: Value, fields: Value) -> Value {
    object["metadata"]["managedFields"] = json!([
        {"manager": "argocd-controller", "operation": "Apply", "apiVersion": "apps/v1", "fieldsV1": fields}]);
    object["metadata"]["resourceVersion"] = "7".into();
    object
}

/// Ownership of replicas and of the name and image of container `m`.
fn fields() -> Value {
    json!({"f:spec": {"f:replicas": {}, "f:template": {"f:spec": {"f:containers": {
        r#"k:{"name":"m"}"#: {".": {}, "f:name": {}, "f:image": {}}}}}}})
}

#[test]
fn what_a_webhook_adds_is_undone_unless_it_counts() {
    let target = deployment(1, json!([{"name": "m", "image": "i:2"}]));
    let live = deployment(1, json!([{"name": "m", "image": "i:1"}]));
    let answer =
        owned(deployment(1, json!([{"name": "m", "image": "i:2", "args": ["hook"]}, {"name": "side"}])), fields());
    let comparer = comparer(&[]);
    let find = |webhooks| {
        comparer
            .compare_dry_run(&target, &live, &DryRun { answer: &answer, webhooks, dropped: Dropped::Removed })
            .unwrap()
            .predicted
    };
    assert_eq!(find(Webhooks::Undone), deployment(1, json!([{"name": "m", "image": "i:2"}])));
    let all = find(Webhooks::Kept);
    assert_eq!(all["spec"]["template"]["spec"]["containers"][1]["name"], "side");
    assert_eq!(all["metadata"], json!({"name": "d"}));
}

#[test]
fn what_the_answer_dropped_stays_dropped() {
    let target = deployment(1, json!([{"name": "m", "image": "i:1"}]));
    let live = deployment(1, json!([{"name": "m", "image": "i:1", "command": ["old"]}]));
    let answer = owned(target.clone(), fields());
    let run = DryRun { answer: &answer, webhooks: Webhooks::Undone, dropped: Dropped::Removed };
    let found = comparer(&[]).compare_dry_run(&target, &live, &run).unwrap();
    assert!(found.modified);
    assert_eq!(found.predicted, target);
}

#[test]
fn ignored_fields_are_sent_and_then_left_out() {
    let comparer =
        comparer(&[rule(json!({"group": "apps", "kind": "Deployment", "jsonPointers": ["/spec/replicas"]}))]);
    let target = deployment(1, json!([]));
    let live = deployment(5, json!([]));
    assert_eq!(comparer.dry_run_object(&target, &live)["spec"]["replicas"], 1);
    let answer = owned(target.clone(), fields());
    let run = DryRun { answer: &answer, webhooks: Webhooks::Undone, dropped: Dropped::Removed };
    assert!(!comparer.compare_dry_run(&target, &live, &run).unwrap().modified);
}

#[test]
fn an_answer_without_owners_is_refused() {
    let object = deployment(1, json!([]));
    let run = DryRun { answer: &object, webhooks: Webhooks::Undone, dropped: Dropped::Removed };
    let error = comparer(&[]).compare_dry_run(&object, &object, &run).unwrap_err();
    assert!(error.to_string().ends_with("predictedLive for resource Deployment/d must have the managedFields"));
}

#[test]
fn what_git_dropped_is_noticed_although_only_client_side_applies_wrote_it() {
    let target = json!({"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "c"}, "data": {"a": "1"}});
    let mut applied = target.clone();
    applied["data"]["b"] = "2".into();
    let mut live = applied.clone();
    live["metadata"]["annotations"] = json!({"kubectl.kubernetes.io/last-applied-configuration": applied.to_string()});
    live["data"]["c"] = "somebody else's".into();
    // The server leaves b alone: another manager owns it.
    let answer = owned(live.clone(), json!({"f:data": {"f:a": {}}}));
    let run = DryRun { answer: &answer, webhooks: Webhooks::Undone, dropped: Dropped::Removed };
    let found = comparer(&[]).compare_dry_run(&target, &live, &run).unwrap();
    assert!(found.modified);
    assert_eq!(found.predicted["data"], json!({"a": "1", "c": "somebody else's"}));
    let left = DryRun { dropped: Dropped::Left, ..run };
    assert!(!comparer(&[]).compare_dry_run(&target, &live, &left).unwrap().modified, "left as the server has it");
    let ignoring = comparer(&[rule(json!({"kind": "ConfigMap", "jsonPointers": ["/data/b"]}))]);
    assert!(!ignoring.compare_dry_run(&target, &live, &run).unwrap().modified, "ignored fields are not dropped");
}

#[test]
fn data_that_another_manager_keeps_is_named() {
    let manifest = json!({"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "c"}, "data": {"a": "1"}});
    let mut applied = manifest.clone();
    applied["data"] = json!({"a": "1", "b": "0", "c": "0"});
    let entry =
        |manager: &str, data: Value| json!({"manager": manager, "operation": "Update", "fieldsV1": {"f:data": data}});
    applied["metadata"]["managedFields"] = json!([
        entry("argocd-controller", json!({"f:a": {}, "f:c": {}})),
        entry("installer", json!({".": {}, "f:a": {}, "f:b": {}, "f:c": {}})),
    ]);
    let expected = vec![("data.b".to_owned(), "installer".to_owned())];
    assert_eq!(kept_data(&manifest, &applied), expected, "c is ours too and goes with the next apply");
    let without = json!({"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "c"}});
    assert!(kept_data(&without, &applied).is_empty(), "whoever states no data leaves it to others");
}
