//! Which ignore rules concern an object.

use serde_json::{Value, json};

use super::{app, deployment, facts_with, live, pair, system, timer};
use crate::diff::IgnoreRules;
use crate::explain::{Effect, why};

fn effects(rules: Value) -> Vec<(String, Effect)> {
    let target = deployment("web", json!({"replicas": 3, "paused": true}));
    let managers = json!([{"manager": "hpa", "operation": "Update", "fieldsV1": {"f:spec": {"f:replicas": {}}}}]);
    let there = live(deployment("web", json!({"replicas": 5, "paused": false})), managers);
    let mut system = system();
    let of_kind = IgnoreRules { json_pointers: vec!["/spec/paused".to_owned()], ..IgnoreRules::default() };
    system.ignore.insert("apps/Deployment".to_owned(), of_kind);
    let app = app(json!({"spec": {"ignoreDifferences": rules}}));
    let facts = facts_with(app, vec![pair(Some(target), Some(there))], system);
    let report = why(&facts, Some("web"), &timer());
    report.objects[0].rules.iter().map(|note| (note.origin.clone(), note.effect.clone())).collect()
}

#[track_caller]
fn check(rule: Value, expect: Effect) {
    let found = effects(json!([rule]));
    assert_eq!(found[0], ("spec.ignoreDifferences[0]".to_owned(), expect));
    let system = ("argocd-cm, apps/Deployment".to_owned(), Effect::Hides(vec!["spec.paused".to_owned()]));
    assert_eq!(found[1..], [system], "the status rule for everything is no news");
}

#[test]
fn a_rule_says_what_it_hides_or_why_it_hides_nothing() {
    let hides = || Effect::Hides(vec!["spec.replicas".to_owned()]);
    check(json!({"group": "apps", "kind": "Deployment", "jsonPointers": ["/spec/replicas"]}), hides());
    check(json!({"group": "*", "kind": "*", "jqPathExpressions": [".spec.replicas"]}), hides());
    check(json!({"group": "apps", "kind": "Deployment", "jsonPointers": ["/spec/replica"]}), Effect::NoSuchField);
    let manager = |name: &str| json!({"group": "apps", "kind": "Deployment", "managedFieldsManagers": [name]});
    check(manager("hpa"), Effect::HidesWhatManagerChanged("hpa".to_owned()));
    check(manager("vpa"), Effect::ManagerOwnsNothing("vpa".to_owned()));
    check(
        json!({"kind": "Deployment", "jsonPointers": ["/spec/replicas"]}),
        Effect::DoesNotMatch("group \"\" is wanted, the object's is \"apps\"".to_owned()),
    );
    check(
        json!({"group": "apps", "kind": "Deployment", "name": "api", "jsonPointers": ["/spec/replicas"]}),
        Effect::DoesNotMatch("name \"api\" is wanted, the object's is \"web\"".to_owned()),
    );
}

#[test]
fn rules_for_other_kinds_are_not_mentioned() {
    let found = effects(json!([{"group": "apps", "kind": "StatefulSet", "jsonPointers": ["/spec/replicas"]}]));
    assert_eq!(found.len(), 1);
}
