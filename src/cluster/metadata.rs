//! Reads a manifest's metadata into its Go type, as kubectl does before it acts on a manifest.
//!
//! In:  a manifest.
//! Out: the first field that has another type, worded as Go's decoder does.
//! Source: cli-runtime v0.36.1 `pkg/resource/metadata_decoder.go`.

use serde_json::Value;

use crate::gocompat::json::kind;

/// Fields in the order in which Go meets them: manifests are written with sorted keys.
const FIELDS: &[(&str, Shape)] = &[
    ("annotations", Shape::Map),
    ("finalizers", Shape::List),
    ("generateName", Shape::Text),
    ("labels", Shape::Map),
    ("name", Shape::Text),
    ("namespace", Shape::Text),
];

/// What a field holds.
#[derive(Clone, Copy)]
enum Shape {
    Text,
    List,
    Map,
}

/// Says what is wrong with the first field that cannot be decoded.
pub(super) fn problem(object: &Value) -> Option<String> {
    let metadata = object.get("metadata")?;
    FIELDS.iter().find_map(|(name, shape)| {
        let value = metadata.get(name)?;
        let (wrong, wanted) = misfit(value, *shape)?;
        Some(format!("json: cannot unmarshal {wrong} into Go struct field ObjectMeta.metadata.{name} of type {wanted}"))
    })
}

/// What was found where another type was wanted; null fits every type.
fn misfit(value: &Value, shape: Shape) -> Option<(&'static str, &'static str)> {
    let text = |value| misfit(value, Shape::Text);
    match (shape, value) {
        (_, Value::Null) | (Shape::Text, Value::String(_)) => None,
        (Shape::List, Value::Array(items)) => items.iter().find_map(text),
        (Shape::Map, Value::Object(map)) => map.values().find_map(text),
        (Shape::Text, other) => Some((kind(other), "string")),
        (Shape::List, other) => Some((kind(other), "[]string")),
        (Shape::Map, other) => Some((kind(other), "map[string]string")),
    }
}
