//! litecd's CRDs against Argo CD's, both ways.

use serde_json::{Map, Value};

use crate::{reference_crds, reference_folder};

/// Texts for people do not bind anybody. A property that is called `description` is a schema, so an object.
fn without_descriptions(value: &Value) -> Value {
    match value {
        Value::Object(map) => Value::Object(
            map.iter()
                .filter(|(name, value)| *name != "description" || !value.is_string())
                .map(|(name, value)| (name.clone(), without_descriptions(value)))
                .collect(),
        ),
        Value::Array(items) => items.iter().map(without_descriptions).collect(),
        other => other.clone(),
    }
}

/// Every difference, as a path and both sides.
fn differences(path: &str, theirs: &Value, ours: &Value, found: &mut Vec<String>) {
    match (theirs, ours) {
        (Value::Object(left), Value::Object(right)) => {
            let nothing = Value::String("<absent>".to_owned());
            let names: Map<String, Value> = left.iter().chain(right).map(|(k, _)| (k.clone(), Value::Null)).collect();
            for name in names.keys() {
                let (one, two) = (left.get(name).unwrap_or(&nothing), right.get(name).unwrap_or(&nothing));
                differences(&format!("{path}/{name}"), one, two, found);
            }
        }
        (Value::Array(left), Value::Array(right)) if left.len() == right.len() => {
            for (index, (one, two)) in left.iter().zip(right).enumerate() {
                differences(&format!("{path}/{index}"), one, two, found);
            }
        }
        _ if theirs != ours => found.push(format!("{path}: Argo CD has {theirs:.200}, litecd has {ours:.200}")),
        _ => {}
    }
}

#[test]
fn crds_equal_argo_cds_apart_from_descriptions() {
    let Some(folder) = reference_folder() else { return };
    let (theirs, ours) = (reference_crds(&folder), litecd::api::crds());
    assert_eq!(theirs.len(), ours.len());
    let mut found = Vec::new();
    for (their_crd, our_crd) in theirs.iter().zip(&ours) {
        let kind = their_crd["spec"]["names"]["kind"].as_str().expect("a kind");
        differences(kind, &without_descriptions(their_crd), &without_descriptions(our_crd), &mut found);
    }
    assert!(found.is_empty(), "{} differences:\n{}", found.len(), found[..found.len().min(40)].join("\n"));
}

#[test]
fn a_difference_on_either_side_is_found() {
    let left = serde_json::json!({"a": {"type": "string"}, "b": [1]});
    let right = serde_json::json!({"a": {"type": "string", "format": "x"}, "b": [2]});
    let mut found = Vec::new();
    differences("", &left, &right, &mut found);
    differences("", &right, &left, &mut found);
    assert_eq!(found.len(), 4, "{found:?}");
}
