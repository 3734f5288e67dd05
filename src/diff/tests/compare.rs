//! Pairs of objects and whether they differ.

use proptest::prelude::*;
use serde_json::{Map, Value, json};

use super::{comparer, comparer_with, rule, settings};
use crate::api::ObjectExt;
use crate::api::names::LAST_APPLIED;
use crate::diff::{Comparer, Error, IgnoreRules, KnownTypeField, StatusField, SystemRules, with_last_applied};

fn config_map(data: Value) -> Value {
    json!({"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "c", "namespace": "n"}, "data": data})
}

fn widget(spec: Value) -> Value {
    json!({"apiVersion": "x.io/v1", "kind": "Widget", "metadata": {"name": "w"}, "spec": spec})
}

/// The live object after `applied` was applied and then became `now`.
fn live(applied: &Value, now: &Value) -> Value {
    let mut live = now.clone();
    let text = with_last_applied(applied)["metadata"]["annotations"][LAST_APPLIED].clone();
    live["metadata"]["annotations"] = json!({ LAST_APPLIED: text });
    live
}

fn modified(target: &Value, live: &Value) -> bool {
    comparer(&[]).compare(Some(target), Some(live)).unwrap().modified
}

#[test]
fn what_others_add_is_no_drift_and_what_git_drops_is() {
    let git = config_map(json!({"a": "1"}));
    assert!(!modified(&git, &live(&git, &config_map(json!({"a": "1", "theirs": "2"})))));
    let before = config_map(json!({"a": "1", "gone": "2"}));
    assert!(modified(&git, &live(&before, &before)));
    // Without the annotation nobody can know that git once had the key.
    assert!(!modified(&git, &before));
}

#[test]
fn broken_annotation_means_two_way() {
    let git = config_map(json!({"a": "1"}));
    let mut now = config_map(json!({"a": "1", "b": "2"}));
    now["metadata"]["annotations"] = json!({LAST_APPLIED: "{not json"});
    assert!(!modified(&git, &now));
}

#[test]
fn one_side_only() {
    let git = config_map(json!({"a": "1"}));
    let comparer = comparer(&[]);
    let created = comparer.compare(Some(&git), None).unwrap();
    assert_eq!((created.modified, created.live), (true, Value::Null));
    let extra = comparer.compare(None, Some(&git)).unwrap();
    assert_eq!((extra.modified, extra.predicted), (false, Value::Null));
    assert!(matches!(comparer.compare(None, None), Err(Error::Nothing)));
}

#[test]
fn custom_lists_are_one_value() {
    let git = widget(json!({"l": [{"name": "a"}]}));
    assert!(!modified(&git, &live(&git, &widget(json!({"l": [{"name": "a", "filled": 1}]})))));
    assert!(modified(&git, &live(&git, &widget(json!({"l": [{"name": "a"}, {"name": "b"}]})))));
}

#[test]
fn large_integers_of_custom_resources_compare_as_floats() {
    let git = widget(json!({"n": 9_007_199_254_740_993_i64}));
    assert!(!modified(&git, &live(&git, &widget(json!({"n": 9_007_199_254_740_992_i64})))));
}

#[test]
fn quantities_compare_by_value_unless_a_field_is_unknown() {
    let pod = |extra: Value, cpu: Value| {
        let mut container = json!({"name": "m", "image": "i:1", "resources": {"limits": {"cpu": cpu}}});
        container.as_object_mut().unwrap().extend(extra.as_object().unwrap().clone());
        json!({"apiVersion": "v1", "kind": "Pod", "metadata": {"name": "p"}, "spec": {"containers": [container]}})
    };
    let now = pod(json!({}), json!("1"));
    assert!(!modified(&pod(json!({}), json!("1000m")), &now));
    assert!(!modified(&pod(json!({}), json!(1)), &now));
    assert!(modified(&pod(json!({"colour": "red"}), json!("1000m")), &now));
}

#[test]
fn declared_fields_of_custom_resources_compare_as_their_types() {
    let declared = |field: &str, ty: &str| KnownTypeField { field: field.to_owned(), ty: ty.to_owned() };
    let fields = vec![
        declared("spec.limits", "core/v1/ResourceList"),
        declared("spec.size", "core/Quantity"),
        declared("spec.none", "core/v1/NoSuchType"),
    ];
    let system = SystemRules { known_types: [("x.io/Widget".to_owned(), fields)].into(), ..SystemRules::default() };
    let modified = |git: Value, now: Value| {
        comparer_with(&[], &system).compare(Some(&widget(git)), Some(&widget(now))).unwrap().modified
    };
    assert!(!modified(
        json!({"limits": {"memory": "1024Mi", "cpu": 0.5}}),
        json!({"limits": {"memory": "1Gi", "cpu": "500m"}})
    ));
    assert!(modified(json!({"limits": {"memory": "1024Mi"}}), json!({"limits": {"memory": "2Gi"}})));
    assert!(!modified(json!({"size": "1000m"}), json!({"size": 1})));
    assert!(modified(json!({"none": "1000m"}), json!({"none": "1"})));
}

#[test]
fn secrets_compare_by_data() {
    let secret = |part: &str, value: Value| json!({"apiVersion": "v1", "kind": "Secret", "metadata": {"name": "s"}, part: value});
    let now = secret("data", json!({"a": "eA==", "empty": ""}));
    assert!(!modified(&secret("stringData", json!({"a": "x", "empty": ""})), &now));
    assert!(modified(&secret("stringData", json!({"a": "y"})), &now));
    assert!(!modified(&secret("data", json!({"a": "eA==", "empty": null})), &now));
}

#[test]
fn dropping_a_defaulted_field_is_no_drift() {
    let deployment = |spec: Value| {
        let mut object = json!({"apiVersion": "apps/v1", "kind": "Deployment", "metadata": {"name": "d"}, "spec": {
            "template": {"spec": {"containers": [{"name": "m", "image": "i:1"}]}}}});
        object["spec"].as_object_mut().unwrap().extend(spec.as_object().unwrap().clone());
        object
    };
    let git = deployment(json!({}));
    let before = deployment(json!({"revisionHistoryLimit": 10, "replicas": 1}));
    assert!(!modified(&git, &live(&before, &before)));
    let before = deployment(json!({"revisionHistoryLimit": 3}));
    assert!(modified(&git, &live(&before, &before)));
}

#[test]
fn claim_templates_ignore_what_the_server_fills_in() {
    let set = |claim: Value| {
        json!({"apiVersion": "apps/v1", "kind": "StatefulSet", "metadata": {"name": "s"},
            "spec": {"volumeClaimTemplates": [claim]}})
    };
    let git = set(json!({"metadata": {"name": "c"}, "spec": {"accessModes": ["ReadWriteOnce"]}}));
    let now = set(json!({"apiVersion": "v1", "kind": "PersistentVolumeClaim", "metadata": {"name": "c"},
        "spec": {"accessModes": ["ReadWriteOnce"], "volumeMode": "Filesystem"}, "status": {"phase": "Pending"}}));
    assert!(!modified(&git, &live(&git, &now)));
}

#[test]
fn rules_apply_by_glob_and_name() {
    let (git, now) = (config_map(json!({"a": "1"})), config_map(json!({"a": "2"})));
    let check = |wire: Value| comparer(&[rule(wire)]).compare(Some(&git), Some(&now)).unwrap().modified;
    let pointers = json!(["/data/a"]);
    assert!(!check(json!({"kind": "ConfigMap", "jsonPointers": pointers})));
    assert!(!check(json!({"group": "*", "kind": "Config*", "jsonPointers": pointers})));
    assert!(!check(json!({"kind": "{Secret,ConfigMap}", "namespace": "n", "name": "c", "jsonPointers": pointers})));
    assert!(check(json!({"kind": "ConfigMap", "name": "other", "jsonPointers": pointers})));
    assert!(check(json!({"group": "apps", "kind": "ConfigMap", "jsonPointers": pointers})));
    assert!(check(json!({"kind": "Config[", "jsonPointers": pointers})));
}

#[test]
fn pointers_are_followed_one_after_the_other() {
    let rules =
        [rule(json!({"group": "x.io", "kind": "Widget", "jsonPointers": ["/spec/l/0", "/spec/l/1", "/nope/x"]}))];
    let found = comparer(&rules).compare(None, Some(&widget(json!({"l": [0, 1, 2, 3]})))).unwrap();
    assert_eq!(found.live["spec"]["l"], json!([1, 3]));
}

#[test]
fn a_bad_expression_fails_the_comparer_with_the_words_of_gojq() {
    let rules = [rule(json!({"kind": "ConfigMap", "jqPathExpressions": [".a | nope"]}))];
    let error = Comparer::new(settings(&rules, &SystemRules::default())).err().unwrap();
    assert_eq!(error.to_string(), "failed to create diff normalizer: function not defined: nope/0");
}

#[test]
fn status_is_ignored_by_a_system_rule() {
    let with = |phase: &str| {
        let mut object = widget(json!({}));
        object["status"] = json!({"phase": phase});
        object
    };
    let check = |setting: StatusField| {
        let mut system = SystemRules::default();
        system.ignore_status(setting);
        comparer_with(&[], &system).compare(Some(&with("a")), Some(&with("b"))).unwrap().modified
    };
    assert!(!check(StatusField::All));
    assert!(check(StatusField::Crd));
    assert!(check(StatusField::None));
    assert_eq!(StatusField::parse("off"), Some(StatusField::None));
    assert_eq!(StatusField::parse("sometimes"), None);
}

#[test]
fn fields_of_trusted_managers_are_ignored_where_they_differ() {
    let git = config_map(json!({"a": "1", "b": "1"}));
    let mut now = config_map(json!({"a": "2", "b": "2"}));
    now["metadata"]["managedFields"] =
        json!([{"manager": "painter", "operation": "Update", "fieldsV1": {"f:data": {"f:a": {}}}}]);
    let find = |managers: Value| {
        let rules = [rule(json!({"kind": "ConfigMap", "managedFieldsManagers": managers}))];
        comparer(&rules).compare(Some(&git), Some(&now)).unwrap()
    };
    assert_eq!(find(json!(["painter"])).predicted["data"], json!({"b": "1"}));
    assert_eq!(find(json!(["other"])).predicted["data"], json!({"a": "1", "b": "1"}));
}

#[test]
fn managers_of_core_kinds_count_only_under_a_slash_key() {
    let git = config_map(json!({"a": "1"}));
    let mut now = config_map(json!({"a": "2"}));
    now["metadata"]["managedFields"] =
        json!([{"manager": "painter", "operation": "Update", "fieldsV1": {"f:data": {"f:a": {}}}}]);
    let check = |key: &str| {
        let mut system = SystemRules::default();
        let rule = IgnoreRules { managers: vec!["painter".to_owned()], ..IgnoreRules::default() };
        system.ignore.insert(key.to_owned(), rule);
        comparer_with(&[], &system).compare(Some(&git), Some(&now)).unwrap().modified
    };
    assert!(check("ConfigMap"));
    assert!(!check("/ConfigMap"));
    assert!(!check("*/*"));
}

#[test]
fn server_side_apply_removes_what_the_manager_owned_and_git_dropped() {
    let mut git = config_map(json!({"a": "1"}));
    git["metadata"]["annotations"] = json!({"argocd.argoproj.io/sync-options": "ServerSideApply=true"});
    let mut now = git.clone();
    now["data"] = json!({"a": "1", "gone": "1", "theirs": "1"});
    now["metadata"]["managedFields"] = json!([
        {"manager": "argocd-controller", "operation": "Apply", "apiVersion": "v1",
            "fieldsV1": {"f:data": {"f:a": {}, "f:gone": {}}}},
        {"manager": "else", "operation": "Update", "apiVersion": "v1", "fieldsV1": {"f:data": {"f:theirs": {}}}}]);
    let found = comparer(&[]).compare(Some(&git), Some(&now)).unwrap();
    assert_eq!(found.predicted["data"], json!({"a": "1", "theirs": "1"}));
}

#[test]
fn server_side_apply_refuses_unknown_fields() {
    let git = json!({"apiVersion": "v1", "kind": "Pod", "spec": {"containers": [{"name": "m", "colour": "red"}]},
        "metadata": {"name": "p", "annotations": {"argocd.argoproj.io/sync-options": "ServerSideApply=true"}}});
    let now = json!({"apiVersion": "v1", "kind": "Pod", "metadata": {"name": "p"}});
    let error = comparer(&[]).compare(Some(&git), Some(&now)).unwrap_err();
    assert_eq!(
        error.to_string(),
        "failed to calculate diff: error calculating structured merge diff: error building typed value from config \
         resource: .spec.containers[name=\"m\"].colour: field not declared in schema"
    );
}

#[test]
fn annotation_tracking_adopts_labelled_objects() {
    let id = "argocd.argoproj.io/tracking-id";
    let mut git = config_map(json!({"a": "1"}));
    git["metadata"]["annotations"] = json!({id: "app:/ConfigMap:n/c"});
    let mut now = config_map(json!({"a": "1"}));
    now["metadata"]["labels"] = json!({"app.kubernetes.io/instance": "app"});
    assert!(!modified(&git, &now));
    now["metadata"]["annotations"] = json!({id: "other:/ConfigMap:n/c"});
    assert!(modified(&git, &now));
}

#[test]
fn aggregated_roles_are_left_out_on_request() {
    let role = |rules: Value| {
        json!({"apiVersion": "rbac.authorization.k8s.io/v1", "kind": "ClusterRole", "metadata": {"name": "r"},
            "aggregationRule": {"clusterRoleSelectors": []}, "rules": rules})
    };
    let (git, now) = (role(json!([])), role(json!([{"verbs": ["get"], "apiGroups": [""], "resources": ["pods"]}])));
    let check = |ignore_aggregated_roles| {
        let system = SystemRules { ignore_aggregated_roles, ..SystemRules::default() };
        comparer_with(&[], &system).compare(Some(&git), Some(&now)).unwrap().modified
    };
    assert!(check(false));
    assert!(!check(true));
}

#[test]
fn rollouts_are_read_as_pod_specs() {
    let rollout = |cpu: &str| {
        json!({"apiVersion": "argoproj.io/v1alpha1", "kind": "Rollout", "metadata": {"name": "r"}, "spec": {"template":
            {"spec": {"containers": [{"name": "m", "resources": {"limits": {"cpu": cpu}}}]}}}})
    };
    assert!(!modified(&rollout("1000m"), &rollout("1")));
}

fn any_json() -> impl Strategy<Value = Value> {
    let leaf = prop_oneof![
        Just(Value::Null),
        any::<bool>().prop_map(Value::from),
        any::<i32>().prop_map(Value::from),
        "[a-z]{0,4}".prop_map(Value::from),
    ];
    leaf.prop_recursive(3, 24, 4, |inner| {
        prop_oneof![
            prop::collection::vec(inner.clone(), 0..4).prop_map(Value::from),
            prop::collection::btree_map("[a-z]{1,4}", inner, 0..4)
                .prop_map(|map| Value::Object(map.into_iter().collect())),
        ]
    })
}

/// The same value with keys inserted in the opposite order.
fn reordered(value: &Value) -> Value {
    match value {
        Value::Object(map) => {
            Value::Object(map.iter().rev().map(|(key, value)| (key.clone(), reordered(value))).collect::<Map<_, _>>())
        }
        Value::Array(items) => items.iter().map(reordered).collect(),
        other => other.clone(),
    }
}

proptest! {
    #[test]
    fn an_object_equals_itself(spec in any_json(), registered in any::<bool>()) {
        let object = if registered { config_map(spec) } else { widget(spec) };
        // Objects of a built-in kind whose fields have impossible types may be refused, but never differ.
        if let Ok(found) = comparer(&[]).compare(Some(&reordered(&object)), Some(&object)) {
            prop_assert!(!found.modified, "{object}");
        }
        if let Ok(patch) = crate::diff::client_side_patch(Some(&object), &reordered(&object), &object) {
            prop_assert_eq!(patch, None);
        }
    }

    #[test]
    fn a_merge_patch_leads_from_one_to_the_other(old in any_json(), new in any_json()) {
        let patched = crate::diff::create_merge_patch(&old, &new)
            .map_or_else(|| old.clone(), |patch| crate::diff::merge_patch(&old, &patch));
        // A merge patch cannot say null, so nulls are compared as absence.
        let null = json!(null);
        let clean = |value: &Value| crate::diff::merge_patch(&null, value);
        prop_assert_eq!(clean(&patched), clean(&new));
    }
}

#[test]
fn an_object_carries_its_own_ignore_rules() {
    let key = "argocd.argoproj.io/ignore-differences-json-pointers";
    let object = |pointers: Option<&str>, data: Value| {
        let mut object = json!({"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "c"}, "data": data});
        pointers.into_iter().for_each(|pointers| object.set_annotation(key, pointers));
        object
    };
    let modified = |target: &Value, live: &Value| comparer(&[]).compare(Some(target), Some(live)).unwrap().modified;
    let (git, live) = (json!({"a": "1", "b": "1", "c": "1"}), json!({"a": "2", "b": "2", "c": "1"}));
    let both = Some("/data/a, ,/data/b");
    assert!(!modified(&object(both, git.clone()), &object(both, live.clone())));
    assert!(
        modified(&object(Some("/data/a"), git.clone()), &object(Some("/data/a"), live.clone())),
        "only what is named"
    );
    // Whoever may edit the live object must not be able to hide what was changed there.
    assert!(modified(&object(None, git.clone()), &object(both, live.clone())));
    let own = object(both, git.clone());
    let kept = crate::diff::respect_ignored(&own, &object(both, live), &comparer(&[])).unwrap();
    assert_eq!(kept["data"], json!({"a": "2", "b": "2", "c": "1"}));
}
