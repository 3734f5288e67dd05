//! Handing field ownership over.

use serde_json::{Value, json};

use crate::cluster::managed_fields::{client_side_managers, upgrade};

fn entry(manager: &str, operation: &str, fields: Value) -> Value {
    json!({"manager": manager, "operation": operation, "apiVersion": "v1", "fieldsType": "FieldsV1", "fieldsV1": fields})
}

fn object(entries: &[Value]) -> Value {
    json!({"metadata": {"resourceVersion": "7", "managedFields": entries}})
}

fn annotated() -> Value {
    json!({"f:metadata": {"f:annotations": {".": {}, "f:kubectl.kubernetes.io/last-applied-configuration": {}}}})
}

#[test]
fn client_side_managers_are_updaters_that_own_the_annotation() {
    let live = object(&[
        entry("b", "Update", annotated()),
        entry("a", "Update", annotated()),
        entry("c", "Apply", annotated()),
        entry("d", "Update", json!({"f:data": {}})),
    ]);
    assert_eq!(client_side_managers(&live), ["a", "b"]);
}

#[test]
fn without_an_applier_the_former_entry_is_renamed() {
    let live = object(&[entry("old", "Update", json!({"f:data": {"f:a": {}}})), entry("other", "Update", json!({}))]);
    let patch = upgrade(&live, &["old".to_owned()], "new").unwrap();
    let expect = [entry("new", "Apply", json!({"f:data": {"f:a": {}}})), entry("other", "Update", json!({}))];
    assert_eq!(
        patch,
        json!([
            {"op": "replace", "path": "/metadata/managedFields", "value": expect},
            {"op": "replace", "path": "/metadata/resourceVersion", "value": "7"},
        ])
    );
}

#[test]
fn fields_are_united_with_those_of_the_applier() {
    let live = object(&[
        entry("new", "Apply", json!({"f:data": {"f:a": {}}, "f:spec": {}, "f:meta": {"f:x": {}}})),
        entry("old", "Update", json!({"f:data": {"f:b": {}}, "f:spec": {"f:y": {}}, "f:meta": {}})),
    ]);
    let patch = upgrade(&live, &["old".to_owned()], "new").unwrap();
    let united = json!({
        "f:data": {"f:a": {}, "f:b": {}},
        "f:spec": {".": {}, "f:y": {}},
        "f:meta": {".": {}, "f:x": {}},
    });
    assert_eq!(patch[0]["value"], json!([entry("new", "Apply", united)]));
}

#[test]
fn subresource_entries_and_strangers_are_left_alone() {
    let mut status = entry("old", "Update", json!({"f:status": {}}));
    status["subresource"] = json!("status");
    assert_eq!(upgrade(&object(&[status, entry("x", "Update", json!({}))]), &["old".to_owned()], "new"), None);
    assert_eq!(upgrade(&object(&[]), &["old".to_owned()], "new"), None);
}
