//! What kubectl refuses in a manifest's metadata.

use serde_json::{Value, json};

use crate::cluster::metadata::problem;

fn check(metadata: Value, field: &str, expect: &str) {
    let expect = (!expect.is_empty()).then(|| {
        let (found, wanted) = expect.split_once(" as ").unwrap();
        format!("json: cannot unmarshal {found} into Go struct field ObjectMeta.metadata.{field} of type {wanted}")
    });
    assert_eq!(problem(&json!({"kind": "ConfigMap", "metadata": metadata})), expect, "{metadata}");
}

#[test]
fn metadata_must_have_its_types() {
    check(json!({"name": "a", "labels": {"a": "1", "b": null}, "annotations": null, "finalizers": ["x"]}), "", "");
    check(json!({"name": false}), "name", "bool as string");
    check(json!({"name": "a", "labels": {"a": "x", "b": 1.1}}), "labels", "number as string");
    check(json!({"name": "a", "labels": ["b"]}), "labels", "array as map[string]string");
    check(json!({"name": "a", "finalizers": "x"}), "finalizers", "string as []string");
    check(json!({"name": "a", "finalizers": [{}]}), "finalizers", "object as string");
}

#[test]
fn the_first_field_by_name_is_told() {
    check(json!({"name": 1, "annotations": {"a": true}}), "annotations", "bool as string");
    assert_eq!(problem(&json!({"kind": "ConfigMap"})), None);
}
