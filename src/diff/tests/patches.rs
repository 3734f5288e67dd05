//! Patches for apply and for status.

use serde_json::{Value, json};

use crate::api::names::LAST_APPLIED;
use crate::api::object::{GroupVersionKind, ObjectExt};
use crate::diff::{
    Error, PatchKind, apply_strategic, client_side_patch, create_merge_patch, merge_patch, with_last_applied,
};

fn deployment(containers: &Value) -> Value {
    json!({"apiVersion": "apps/v1", "kind": "Deployment", "metadata": {"name": "d"},
        "spec": {"template": {"spec": {"containers": containers}}}})
}

#[test]
fn last_applied_is_go_text_with_an_empty_annotation_map() {
    let object = json!({"kind": "ConfigMap", "apiVersion": "v1", "metadata": {"name": "c"}, "data": {"a": "<&>"}});
    let written = with_last_applied(&object);
    let text = "{\"apiVersion\":\"v1\",\"data\":{\"a\":\"\\u003c\\u0026\\u003e\"},\"kind\":\"ConfigMap\",\
                \"metadata\":{\"annotations\":{},\"name\":\"c\"}}\n";
    assert_eq!(written.annotation(LAST_APPLIED), Some(text));
    assert_eq!(with_last_applied(&written), written);
}

#[test]
fn a_dropped_list_item_is_deleted_by_directive() {
    let (a, b, side) = (json!({"name": "a", "image": "1"}), json!({"name": "b"}), json!({"name": "injected"}));
    let old = deployment(&json!([a, b]));
    let new = deployment(&json!([a]));
    let live = deployment(&json!([a, b, side]));
    let patch = client_side_patch(Some(&old), &new, &live).unwrap().unwrap();
    assert_eq!(patch.kind, PatchKind::Strategic);
    let expected = json!({"spec": {"template": {"spec": {
        "$setElementOrder/containers": [{"name": "a"}],
        "containers": [{"$patch": "delete", "name": "b"}]}}}});
    assert_eq!(patch.body, expected);
    let applied = apply_strategic(&live, &patch.body, &live.gvk()).unwrap();
    assert_eq!(applied, deployment(&json!([a, side])));
}

#[test]
fn a_changed_strategy_retains_its_keys_only() {
    let with = |strategy: Value| json!({"apiVersion": "apps/v1", "kind": "Deployment", "metadata": {"name": "d"}, "spec": {"strategy": strategy}});
    let live = with(json!({"type": "RollingUpdate", "rollingUpdate": {"maxSurge": 1}}));
    let new = with(json!({"type": "Recreate"}));
    let patch = client_side_patch(None, &new, &live).unwrap().unwrap();
    assert_eq!(patch.body, json!({"spec": {"strategy": {"$retainKeys": ["type"], "type": "Recreate"}}}));
    assert_eq!(apply_strategic(&live, &patch.body, &live.gvk()).unwrap(), new);
}

#[test]
fn nothing_to_change_is_no_patch() {
    let object = with_last_applied(&deployment(&json!([{"name": "a"}])));
    assert_eq!(client_side_patch(Some(&object), &object, &object).unwrap(), None);
}

#[test]
fn custom_resources_get_a_merge_patch() {
    let with = |spec: Value| json!({"apiVersion": "x.io/v1", "kind": "W", "metadata": {"name": "w"}, "spec": spec});
    let patch = client_side_patch(
        Some(&with(json!({"a": 1, "gone": 1}))),
        &with(json!({"a": 2, "list": [1]})),
        &with(json!({"a": 1, "gone": 1, "theirs": 1, "list": [1, 2]})),
    );
    let patch = patch.unwrap().unwrap();
    assert_eq!(patch.kind, PatchKind::Merge);
    assert_eq!(patch.body, json!({"spec": {"a": 2, "gone": null, "list": [1]}}));
}

#[test]
fn another_name_is_refused() {
    let named = |name: &str| json!({"apiVersion": "x.io/v1", "kind": "W", "metadata": {"name": name}});
    let error = client_side_patch(None, &named("a"), &named("b")).unwrap_err();
    assert!(matches!(error, Error::IdentityChanged));
}

#[test]
fn merge_patches_remove_by_null_and_replace_lists() {
    assert_eq!(merge_patch(&json!({"a": 1, "b": {"c": 1}}), &json!({"b": {"c": null}})), json!({"a": 1, "b": {}}));
    assert_eq!(merge_patch(&json!({"a": 1}), &json!([1])), json!([1]));
    assert_eq!(create_merge_patch(&json!({"a": [1]}), &json!({"a": [2]})), Some(json!({"a": [2]})));
    assert_eq!(create_merge_patch(&json!({"a": 1, "b": 2}), &json!({"a": 1})), Some(json!({"b": null})));
    assert_eq!(create_merge_patch(&json!({"a": {}}), &json!({"a": {}})), None);
}

#[test]
fn custom_resources_are_patched_without_directives() {
    let gvk = GroupVersionKind::from_api_version("x.io/v1", "W");
    let patched = apply_strategic(&json!({"spec": {"l": [1]}}), &json!({"spec": {"l": [2]}}), &gvk).unwrap();
    assert_eq!(patched, json!({"spec": {"l": [2]}}));
}
