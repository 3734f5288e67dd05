//! From the JSON that a Jsonnet program gave to objects.
//!
//! In:  JSON text.
//! Out: one object, or those of a flat array; or the refusal of Go's decoder.
//! Source: REND-112, REND-113 (`findManifests`).

use serde_json::Value;

use crate::render::documents::{no_object, whole_numbers};

/// The objects; `null` in an array is none.
pub fn objects(text: &str) -> Result<Vec<Value>, String> {
    let value: Value = serde_json::from_str(text).map_err(|error| error.to_string())?;
    let has_kind = |value: &Value| value.get("kind").and_then(Value::as_str).is_some_and(|kind| !kind.is_empty());
    let value = match value {
        Value::Array(items) if items.iter().all(|item| item.is_null() || has_kind(item)) => {
            return Ok(items.into_iter().filter(|item| !item.is_null()).map(whole_numbers).collect());
        }
        Value::Null => return Ok(Vec::new()),
        other => other,
    };
    // Where the text is no array of objects it is read again as one object, and that attempt's refusal is shown.
    match &value {
        Value::Object(_) if has_kind(&value) => Ok(vec![whole_numbers(value)]),
        Value::Object(_) => Err(format!("Object 'Kind' is missing in '{}'", text.trim_end())),
        other => Err(no_object(other)),
    }
}
