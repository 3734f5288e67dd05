//! Checks that an object fits its type, as server-side apply does before it merges.
//!
//! In:  an object and its place.
//! Out: nothing, or the problems in the words of structured-merge-diff.
//! Source: DIFF-046 (structured-merge-diff 6.4.0 `typed/validate.go`).

use std::fmt;

use serde_json::Value;

use super::place::{Items, Place};
use crate::diff::schema::Shape;

/// What does not fit.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Problems(Vec<String>);

impl fmt::Display for Problems {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.0.as_slice() {
            [one] => f.write_str(one),
            many => write!(f, "errors:\n  {}", many.join("\n  ")),
        }
    }
}

/// Checks an object.
pub fn check(object: &Value, root: Place<'_>) -> Result<(), Problems> {
    let mut walk = Walk { path: String::new(), problems: Vec::new() };
    walk.value(object, root);
    if walk.problems.is_empty() { Ok(()) } else { Err(Problems(walk.problems)) }
}

struct Walk {
    path: String,
    problems: Vec<String>,
}

impl Walk {
    fn report(&mut self, text: &str) {
        let path = &self.path;
        self.problems.push(if path.is_empty() { text.to_owned() } else { format!("{path}: {text}") });
    }

    fn below(&mut self, step: &str, walk: impl FnOnce(&mut Self)) {
        let length = self.path.len();
        self.path.push_str(step);
        walk(self);
        self.path.truncate(length);
    }

    fn value(&mut self, value: &Value, place: Place<'_>) {
        match (place.shape, value) {
            (_, Value::Null) | (Shape::Any | Shape::Raw | Shape::Quantity | Shape::IntOrString, _) => {}
            (Shape::Struct(_) | Shape::Map(_), Value::Object(map)) => {
                for (key, value) in map {
                    let place = place.field(key);
                    self.below(&format!(".{key}"), |walk| match place {
                        Some(place) => walk.value(value, place),
                        None => walk.report("field not declared in schema"),
                    });
                    // The first unknown field ends the walk of its object.
                    if place.is_none() {
                        return;
                    }
                }
            }
            (Shape::List(_), Value::Array(items)) => self.list(items, place),
            (Shape::Struct(_) | Shape::Map(_), other) => self.report(&format!("expected map, got {}", go_value(other))),
            (Shape::List(_), other) => self.report(&format!("expected list, got {}", go_value(other))),
            (shape, value) => self.scalar(value, shape),
        }
    }

    fn list(&mut self, items: &[Value], place: Place<'_>) {
        let kind = place.items();
        let mut seen = Vec::new();
        for (index, item) in items.iter().enumerate() {
            let step = place.step(&kind, item);
            match (&kind, &step) {
                (Items::Keyed(keys), None) => {
                    let keys = keys.iter().map(|key| format!("{key:?}")).collect::<Vec<_>>().join(" ");
                    self.report(&format!(
                        "element {index}: associative list with keys has an element that omits all key fields [{keys}] \
                         (and doesn't have default values for any key fields)"
                    ));
                    return;
                }
                (_, Some(step)) if seen.contains(step) => {
                    self.report(&format!("duplicate entries for key {}", step_text(step, index)));
                }
                _ => {}
            }
            let text = step.as_deref().map_or_else(|| format!("[{index}]"), |step| step_text(step, index));
            self.below(&text, |walk| walk.value(item, place.item(step.as_deref().unwrap_or_default())));
            seen.extend(step);
        }
    }

    fn scalar(&mut self, value: &Value, shape: Shape) {
        let fits = match shape {
            Shape::Bool => value.is_boolean(),
            Shape::Int32 | Shape::Int64 | Shape::Float => value.is_number(),
            _ => value.is_string(),
        };
        if fits {
            return;
        }
        let expected = match shape {
            Shape::Bool => "boolean",
            Shape::Int32 | Shape::Int64 | Shape::Float => "numeric (int or float)",
            _ => "string",
        };
        let got = if expected.starts_with("numeric") { go_type(value).to_owned() } else { go_value(value) };
        self.report(&format!("expected {expected}, got {got}"));
    }
}

/// A step in the form of error texts: `[name="x"]`.
fn step_text(step: &str, index: usize) -> String {
    if let Some(Ok(Value::Object(key))) = step.strip_prefix("k:").map(serde_json::from_str) {
        let parts: Vec<String> = key.iter().map(|(name, value)| format!("{name}={value}")).collect();
        return format!("[{}]", parts.join(","));
    }
    step.strip_prefix("v:").map_or_else(|| format!("[{index}]"), |value| format!("[={value}]"))
}

fn go_type(value: &Value) -> &'static str {
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

/// Structured-merge-diff prints values behind an interface; only the kind is worth repeating.
fn go_value(value: &Value) -> String {
    format!("&value.valueUnstructured{{Value:{value}}}")
}
