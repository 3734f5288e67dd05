//! Holds an object against a structural schema, as the API server does before it stores one.
//!
//! In:  a schema (`openAPIV3Schema` of a CRD) and an object.
//! Out: one sentence per fault in the API server's words, empty when the object would be stored.
//! Invariant: unknown fields are no fault (the API server drops them), nor is `null` where a field may be absent.
//! Source: `k8s.io/apiextensions-apiserver/pkg/apiserver/{schema,validation}`.

use serde_json::{Map, Value};

/// All faults of `object`, in the order of its fields.
pub fn validate(schema: &Value, object: &Value) -> Vec<String> {
    let mut faults = Vec::new();
    check(schema, object, &mut Place { path: String::new(), faults: &mut faults });
    faults
}

/// Where the walk stands, and what it found so far.
struct Place<'a> {
    path: String,
    faults: &'a mut Vec<String>,
}

impl Place<'_> {
    fn invalid(&mut self, value: &Value, why: &str) {
        let shown = match value {
            Value::Object(_) => "\"object\"".to_owned(),
            Value::Array(_) => "\"array\"".to_owned(),
            other => other.to_string(),
        };
        let path = if self.path.is_empty() { "<root>" } else { &self.path };
        self.faults.push(format!("{path}: Invalid value: {shown}: {path} in body {why}"));
    }

    /// Goes one step down; `step` is `.name` or `[index]`.
    fn within(&mut self, step: &str, visit: impl FnOnce(&mut Place<'_>)) {
        let path = format!("{}{step}", self.path);
        visit(&mut Place { path: path.trim_start_matches('.').to_owned(), faults: self.faults });
    }
}

fn check(schema: &Value, value: &Value, place: &mut Place<'_>) {
    if schema.get("x-kubernetes-int-or-string") == Some(&Value::Bool(true)) {
        if !is_integer(value) && !value.is_string() {
            place.invalid(value, "must be of type integer,string");
        }
        return;
    }
    let wanted = schema.get("type").and_then(Value::as_str).unwrap_or_default();
    if !has_type(value, wanted) {
        return place.invalid(value, &format!("must be of type {wanted}"));
    }
    match value {
        Value::String(text) => check_text(schema, text, place),
        Value::Array(items) => check_items(schema, items, place),
        Value::Object(fields) => check_fields(schema, fields, place),
        _ => {}
    }
}

fn has_type(value: &Value, wanted: &str) -> bool {
    match wanted {
        "object" => value.is_object(),
        "array" => value.is_array(),
        "string" => value.is_string(),
        "boolean" => value.is_boolean(),
        "integer" => is_integer(value),
        "number" => value.is_number(),
        _ => true,
    }
}

/// JSON has one number type; `3.0` counts as an integer for the API server, too.
fn is_integer(value: &Value) -> bool {
    value.is_i64() || value.is_u64() || value.as_f64().is_some_and(|number| number.fract() == 0.0)
}

fn check_text(schema: &Value, text: &str, place: &mut Place<'_>) {
    let value = Value::String(text.to_owned());
    let length = u64::try_from(text.chars().count()).unwrap_or(u64::MAX);
    if let Some(least) = schema.get("minLength").and_then(Value::as_u64).filter(|least| length < *least) {
        place.invalid(&value, &format!("should be at least {least} chars long"));
    }
    if let Some(most) = schema.get("maxLength").and_then(Value::as_u64).filter(|most| length > *most) {
        place.invalid(&value, &format!("may not be more than {most} chars long"));
    }
    if let Some(words) = schema.get("enum").and_then(Value::as_array)
        && !words.contains(&value)
    {
        let words: Vec<String> = words.iter().map(Value::to_string).collect();
        place.faults.push(format!(
            "{}: Unsupported value: {value}: supported values: {}",
            place.path,
            words.join(", ")
        ));
    }
    if let Some(pattern) = schema.get("pattern").and_then(Value::as_str)
        && !matches_pattern(pattern, text)
    {
        place.invalid(&value, &format!("should match '{pattern}'"));
    }
    if schema.get("format").and_then(Value::as_str) == Some("date-time") && text.parse::<jiff::Timestamp>().is_err() {
        place.invalid(&value, &format!("must be of type date-time: {value}"));
    }
}

/// The CRDs hold one pattern. It is matched by hand, since a regular expression engine for one pattern would cost
/// every user more than it gives; an unknown pattern refuses nothing, as refusing valid objects is the worse error.
fn matches_pattern(pattern: &str, text: &str) -> bool {
    match pattern {
        "^.{2,}|[^./]$" => {
            let first_line = text.split('\n').next().unwrap_or_default();
            first_line.chars().count() >= 2 || text.chars().last().is_some_and(|last| last != '.' && last != '/')
        }
        _ => true,
    }
}

fn check_items(schema: &Value, items: &[Value], place: &mut Place<'_>) {
    let Some(item_schema) = schema.get("items") else { return };
    for (index, item) in items.iter().enumerate() {
        place.within(&format!("[{index}]"), |place| check(item_schema, item, place));
    }
}

fn check_fields(schema: &Value, fields: &Map<String, Value>, place: &mut Place<'_>) {
    let present = |name: &str| fields.get(name).is_some_and(|value| !value.is_null());
    for name in schema.get("required").and_then(Value::as_array).into_iter().flatten().filter_map(Value::as_str) {
        if !present(name) {
            place.within(&format!(".{name}"), |place| place.faults.push(format!("{}: Required value", place.path)));
        }
    }
    let properties = schema.get("properties").and_then(Value::as_object);
    let others = schema.get("additionalProperties");
    for (name, value) in fields.iter().filter(|(_, value)| !value.is_null()) {
        if let Some(known) = properties.and_then(|known| known.get(name)).or(others) {
            place.within(&format!(".{name}"), |place| check(known, value, place));
        }
    }
}
