//! Reads lists of objects from YAML, as Go decodes them.
//!
//! In:  YAML or JSON text.
//! Out: objects.
//! Source: SET-022, SET-036 (`sigs.k8s.io/yaml`).

use serde_json::Value;

use super::params::Params;
use crate::gocompat::json::kind;
use crate::gocompat::yaml;

const OBJECT: &str = "map[string]interface {}";

/// A list of objects.
///
/// # Errors
/// Go's text.
pub fn objects(text: &str) -> Result<Vec<Params>, String> {
    list(yaml::parse(text).map_err(|error| error.to_string())?)
}

/// One object, or a list of objects; an empty file is an empty object.
///
/// # Errors
/// Go's text for a list.
pub fn object_or_objects(bytes: &[u8]) -> Result<Vec<Params>, String> {
    match yaml::parse_bytes(bytes).map_err(|error| error.to_string())? {
        Value::Object(fields) => Ok(vec![fields]),
        Value::Null => Ok(vec![Params::new()]),
        other => list(other),
    }
}

fn list(value: Value) -> Result<Vec<Params>, String> {
    match value {
        Value::Null => Ok(Vec::new()),
        Value::Array(items) => items
            .into_iter()
            .map(|item| match item {
                Value::Object(fields) => Ok(fields),
                Value::Null => Ok(Params::new()),
                other => Err(misfit(&other, OBJECT)),
            })
            .collect(),
        other => Err(misfit(&other, &format!("[]{OBJECT}"))),
    }
}

fn misfit(value: &Value, wanted: &str) -> String {
    let problem = format!("json: cannot unmarshal {} into Go value of type {wanted}", kind(value));
    format!("error unmarshaling JSON: while decoding JSON: {problem}")
}
