//! How Go prints JSON values in error texts (`%v` and `%T`).
//!
//! In:  a JSON value.
//! Out: the text that Kubernetes' accessor errors contain.
//! Source: `k8s.io/apimachinery` `unstructured/helpers.go`, Go's `fmt`.

use serde_json::Value;

/// A value as `%v` prints it: maps in key order, without quotes.
pub(super) fn go_value(value: &Value) -> String {
    match value {
        Value::Null => "<nil>".to_owned(),
        Value::Bool(flag) => flag.to_string(),
        Value::Number(number) => number.to_string(),
        Value::String(text) => text.clone(),
        Value::Array(items) => {
            let items: Vec<String> = items.iter().map(go_value).collect();
            format!("[{}]", items.join(" "))
        }
        Value::Object(map) => {
            let items: Vec<String> = map.iter().map(|(key, value)| format!("{key}:{}", go_value(value))).collect();
            format!("map[{}]", items.join(" "))
        }
    }
}

/// A value's type as `%T` prints it.
pub(super) fn go_type(value: &Value) -> &'static str {
    match value {
        Value::Null => "<nil>",
        Value::Bool(_) => "bool",
        Value::Number(number) if number.is_f64() => "float64",
        Value::Number(_) => "int64",
        Value::String(_) => "string",
        Value::Array(_) => "[]interface {}",
        Value::Object(_) => "map[string]interface {}",
    }
}
