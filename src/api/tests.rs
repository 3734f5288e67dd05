//! Tests of schemas and of their check; the comparison with Argo CD's own CRDs is in `tests/manifests`.

use serde_json::{Value, json};

use super::crds::{crds, schema_of};
use super::schema::{self, Schema, validate};

fn application(spec: Value) -> Value {
    json!({"apiVersion": "argoproj.io/v1alpha1", "kind": "Application", "metadata": {"name": "a"}, "spec": spec})
}

fn faults(spec: Value) -> Vec<String> {
    validate(&schema_of("Application").unwrap(), &application(spec))
}

#[test]
fn a_missing_required_field_is_named_with_its_path() {
    assert_eq!(faults(json!({"destination": {}})), ["spec.project: Required value"]);
}

#[test]
fn null_counts_as_absent() {
    assert_eq!(faults(json!({"project": null, "destination": {}})), ["spec.project: Required value"]);
    assert!(faults(json!({"project": "", "destination": {"server": null}, "source": null})).is_empty());
}

#[test]
fn a_wrong_type_is_named_with_the_value() {
    assert_eq!(
        faults(json!({"project": 1, "destination": {}})),
        ["spec.project: Invalid value: 1: spec.project in body must be of type string"]
    );
    assert_eq!(
        faults(json!({"project": "", "destination": {}, "sources": {"repoURL": "x"}})),
        ["spec.sources: Invalid value: \"object\": spec.sources in body must be of type array"]
    );
}

#[test]
fn an_unknown_field_is_no_fault() {
    assert!(faults(json!({"project": "", "destination": {}, "surprise": 1})).is_empty());
}

#[test]
fn null_in_a_list_is_a_fault() {
    let found = faults(json!({"project": "", "destination": {}, "syncPolicy": {"syncOptions": [null]}}));
    assert_eq!(found.len(), 1, "{found:?}");
    assert!(found[0].starts_with("spec.syncPolicy.syncOptions[0]: "), "{found:?}");
}

#[test]
fn number_or_text_takes_both_and_nothing_else() {
    let schema = schema::int_or_string();
    assert!(validate(&schema, &json!(3)).is_empty());
    assert!(validate(&schema, &json!("30%")).is_empty());
    assert_eq!(validate(&schema, &json!(true)).len(), 1);
    assert_eq!(validate(&schema, &json!(1.5)).len(), 1);
}

#[test]
fn a_directory_must_lie_below_the_root() {
    let schema = schema::relative_path();
    let refused = |text: &str| !validate(&schema, &json!(text)).is_empty();
    assert!(refused("") && refused(".") && refused("/"));
    assert!(!refused("a") && !refused("apps") && !refused("./") && !refused(".."));
}

#[test]
fn a_time_must_be_rfc_3339() {
    let schema = super::status::Time::schema();
    assert!(validate(&schema, &json!("2024-01-01T00:00:00Z")).is_empty());
    assert_eq!(validate(&schema, &json!("yesterday")).len(), 1);
}

#[test]
fn definitions_are_named_as_argo_cd_names_them() {
    let names: Vec<Value> = crds().iter().map(|crd| crd["metadata"]["name"].clone()).collect();
    assert_eq!(names, ["applications.argoproj.io", "appprojects.argoproj.io", "applicationsets.argoproj.io"]);
    assert_eq!(schema_of("Deployment"), None);
}
