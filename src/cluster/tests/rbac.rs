//! What `auth reconcile` would do.

use serde_json::{Value, json};

use crate::cluster::rbac::{Operation, plan};
use crate::cluster::rbac_rules::{missing, rules_of};

fn lacks(owned: Value, wanted: Value) -> Vec<String> {
    let rules = |list: Value| rules_of(&json!({"rules": list}));
    missing(&rules(owned), &rules(wanted)).iter().map(ToString::to_string).collect()
}

#[test]
fn missing_permissions_are_broken_down() {
    assert_eq!(
        lacks(
            json!([{"apiGroups": [""], "resources": ["pods"], "verbs": ["get"]}]),
            json!([{"apiGroups": ["", "apps"], "resources": ["pods"], "verbs": ["get", "list"]}]),
        ),
        [
            "{Verbs:[list] APIGroups:[] Resources:[pods] ResourceNames:[] NonResourceURLs:[]}",
            "{Verbs:[get] APIGroups:[apps] Resources:[pods] ResourceNames:[] NonResourceURLs:[]}",
            "{Verbs:[list] APIGroups:[apps] Resources:[pods] ResourceNames:[] NonResourceURLs:[]}",
        ]
    );
}

#[test]
fn stars_cover_what_they_should() {
    let covered = |owned: Value, wanted: Value| lacks(json!([owned]), json!([wanted])).is_empty();
    let rule = |resources: Value| json!({"apiGroups": [""], "resources": resources, "verbs": ["get"]});
    assert!(covered(rule(json!(["*"])), rule(json!(["pods/log"]))));
    assert!(covered(rule(json!(["*/log"])), rule(json!(["pods/log"]))));
    assert!(!covered(rule(json!(["*/log"])), rule(json!(["pods"]))));
    assert!(!covered(rule(json!(["pods"])), rule(json!(["pods/log"]))));
    let named =
        |names: Value| json!({"apiGroups": [""], "resources": ["pods"], "verbs": ["get"], "resourceNames": names});
    assert!(covered(rule(json!(["pods"])), named(json!(["a"]))));
    assert!(!covered(named(json!(["a"])), rule(json!(["pods"]))));
    assert!(!covered(named(json!(["a"])), named(json!(["b"]))));
    let url = |url: &str| json!({"nonResourceURLs": [url], "verbs": ["get"]});
    assert!(covered(url("/healthz/*"), url("/healthz/ready")));
    assert!(!covered(url("/healthz"), url("/healthz/ready")));
}

fn role(labels: Value, rules: Value) -> Value {
    json!({"apiVersion": "rbac.authorization.k8s.io/v1", "kind": "Role", "metadata": {"name": "r", "labels": labels}, "rules": rules})
}

#[test]
fn existing_labels_win_and_new_ones_are_added() {
    let live = role(json!({"a": "live"}), json!([]));
    let made = plan(Some(&live), &role(json!({"a": "wanted"}), json!([])));
    assert_eq!((made.operation, made.object), (Operation::None, live.clone()));
    let made = plan(Some(&live), &role(json!({"a": "wanted", "b": "1"}), json!([])));
    assert_eq!(made.operation, Operation::Update);
    assert_eq!(made.object["metadata"]["labels"], json!({"a": "live", "b": "1"}));
}

#[test]
fn extra_rules_stay() {
    let extra = json!({"apiGroups": [""], "resources": ["secrets"], "verbs": ["get"]});
    let wanted = json!({"apiGroups": [""], "resources": ["pods"], "verbs": ["get"]});
    let made = plan(Some(&role(json!({}), json!([extra]))), &role(json!({}), json!([wanted])));
    assert_eq!(made.operation, Operation::Update);
    assert_eq!(made.object["rules"], json!([extra, wanted]));
}

#[test]
fn opted_out_objects_are_protected() {
    let mut live = role(json!({}), json!([]));
    live["metadata"]["annotations"] = json!({"rbac.authorization.kubernetes.io/autoupdate": "false"});
    assert!(plan(Some(&live), &role(json!({}), json!([]))).is_protected);
}

fn binding(role: &str, subjects: Value) -> Value {
    json!({"kind": "RoleBinding", "metadata": {"name": "b"}, "subjects": subjects,
        "roleRef": {"apiGroup": "rbac.authorization.k8s.io", "kind": "Role", "name": role}})
}

#[test]
fn bindings_gain_subjects_and_are_recreated_for_another_role() {
    let user = |name: &str| json!({"kind": "User", "apiGroup": "rbac.authorization.k8s.io", "name": name});
    let live = binding("r", json!([user("a")]));
    let made = plan(Some(&live), &binding("r", json!([user("b"), user("b")])));
    assert_eq!(made.object["subjects"], json!([user("a"), user("b")]));
    assert_eq!(made.added, ["{Kind:User APIGroup:rbac.authorization.k8s.io Name:b Namespace:}"]);
    let made = plan(Some(&live), &binding("s", json!([user("a")])));
    assert_eq!((made.operation, made.added), (Operation::Recreate, vec![]));
}

#[test]
fn aggregation_rules_gain_selectors_and_go_when_unwanted() {
    let cluster_role = |rule: Value| json!({"kind": "ClusterRole", "metadata": {"name": "c"}, "aggregationRule": rule});
    let selector = |name: &str| json!({"matchLabels": {name: "true"}});
    let selecting = |list: Value| cluster_role(json!({"clusterRoleSelectors": list}));
    let live = selecting(json!([selector("a")]));
    let made =
        plan(Some(&live), &selecting(json!([{"matchLabels": {"a": "true"}, "matchExpressions": []}, selector("b")])));
    assert_eq!(made.object, selecting(json!([selector("a"), selector("b")])));
    let made = plan(Some(&live), &json!({"kind": "ClusterRole", "metadata": {"name": "c"}}));
    assert_eq!((made.operation, made.object.get("aggregationRule")), (Operation::Update, None));
    let made = plan(Some(&live), &live);
    assert_eq!(made.operation, Operation::None);
}
