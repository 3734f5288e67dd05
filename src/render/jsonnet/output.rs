//! From the JSON that a Jsonnet program gave to objects.
//!
//! In:  JSON text.
//! Out: one object, or those of a flat array; or the refusal of Go's decoder.
//! Source: REND-112, REND-113 (`findManifests`).

use serde_json::Value;

use crate::render::documents::whole_numbers;

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
    let kind = match &value {
        Value::Object(_) if has_kind(&value) => return Ok(vec![whole_numbers(value)]),
        Value::Object(_) => return Err(format!("Object 'Kind' is missing in '{}'", text.trim_end())),
        Value::Array(_) => "array",
        Value::String(_) => "string",
        Value::Bool(_) => "bool",
        _ => "number",
    };
    Err(format!("json: cannot unmarshal {kind} into Go value of type map[string]interface {{}}"))
}
