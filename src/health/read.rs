//! Reads fields of live objects by dotted path.
//!
//! In:  an object and a path such as `status.replicas`.
//! Out: the field; absent and mistyped fields read as null, empty or zero, as they do in Argo CD's checks.

use serde_json::Value;

/// The field at a dotted path, `Null` when absent.
pub(super) fn at<'a>(value: &'a Value, path: &str) -> &'a Value {
    path.split('.').try_fold(value, |value, field| value.get(field)).unwrap_or(&Value::Null)
}

/// Text at a path, empty when absent.
pub(super) fn text<'a>(value: &'a Value, path: &str) -> &'a str {
    at(value, path).as_str().unwrap_or_default()
}

/// Integer at a path, 0 when absent.
pub(super) fn int(value: &Value, path: &str) -> i64 {
    at(value, path).as_i64().unwrap_or_default()
}

/// Whether a path holds `true`.
pub(super) fn flag(value: &Value, path: &str) -> bool {
    at(value, path).as_bool().unwrap_or_default()
}

/// Items of the list at a path, none when absent.
pub(super) fn list<'a>(value: &'a Value, path: &str) -> &'a [Value] {
    at(value, path).as_array().map(Vec::as_slice).unwrap_or_default()
}

/// The first condition of a type.
pub(super) fn condition<'a>(object: &'a Value, r#type: &str) -> Option<&'a Value> {
    list(object, "status.conditions").iter().find(|condition| text(condition, "type") == r#type)
}

/// A value as Lua prints it: integral numbers without a fraction, nothing for null and tables.
pub(super) fn plain(value: &Value) -> String {
    match value {
        Value::String(text) => text.clone(),
        Value::Bool(flag) => flag.to_string(),
        Value::Number(number) => match number.as_f64() {
            Some(float) if number.is_f64() && float.fract() != 0.0 => float.to_string(),
            Some(float) if number.is_f64() => format!("{float:.0}"),
            _ => number.to_string(),
        },
        Value::Null | Value::Array(_) | Value::Object(_) => String::new(),
    }
}
