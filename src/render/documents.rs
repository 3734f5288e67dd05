//! From the text of a manifest stream to objects.
//!
//! In:  a YAML stream, or JSON objects one after another.
//! Out: the objects in order; with a failure also those that came before it.
//! Invariant: every object has a kind; empty documents and `null` are no objects.
//! Source: REND-101 to REND-105, REND-147 (`k8s.io/apimachinery/pkg/util/yaml/decoder.go`).

use serde_json::Value;

use super::json_syntax;
use crate::gocompat::{json, yaml};

/// How far into a stream its first brace may be for the stream to count as JSON.
const JSON_GUESS: usize = 4096;
/// What stands before the reason when a document was YAML, or came from a tool.
const WORDS: &str = "error unmarshaling JSON: while decoding JSON: ";

/// Which reader the objects go through; only the text about a missing kind differs.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Reader {
    /// Files of a directory.
    Files,
    /// Output of a tool.
    Tool,
}

/// Reads a stream; the second part is why it ended early, without `failed to unmarshal manifest: `.
pub fn read(text: &str, reader: Reader) -> (Vec<Value>, Option<String>) {
    let mut objects = Vec::new();
    let (mut rest, mut json_failure) = (text, None);
    let json_words = if reader == Reader::Tool { WORDS } else { "" };
    if looks_like_json(text) {
        loop {
            match next_json(rest) {
                Ok(None) => return (objects, None),
                Ok(Some((value, raw, after))) => {
                    if !value.is_null() {
                        match with_kind(value, |_| raw.to_owned(), json_words) {
                            Ok(object) => objects.push(object),
                            Err(text) => return (objects, Some(text)),
                        }
                    }
                    rest = after;
                }
                Err(failure) if objects.len() > 1 => return (objects, Some(failure)),
                Err(failure) => {
                    json_failure = Some(failure);
                    rest = after_first_newline(rest);
                    break;
                }
            }
        }
    }
    for document in yaml::documents(rest) {
        let read = document.and_then(yaml::parse_document).map_err(|error| error.to_string());
        let object = match read {
            Ok(Value::Null) => continue,
            Ok(value) => with_kind(value, json::to_string, WORDS),
            Err(text) => Err(text),
        };
        match object {
            Ok(object) => objects.push(object),
            Err(text) => return (objects, Some(json_failure.unwrap_or(text))),
        }
    }
    (objects, None)
}

/// Whether the first character that is no blank, near the start, is a brace.
fn looks_like_json(text: &str) -> bool {
    let start = text.trim_start();
    start.starts_with('{') && text.len() - start.len() < JSON_GUESS
}

type Json<'a> = (Value, &'a str, &'a str);

/// The next JSON value of a stream, its text, and what follows.
fn next_json(text: &str) -> Result<Option<Json<'_>>, String> {
    let start = text.trim_start();
    if start.is_empty() {
        return Ok(None);
    }
    let end = json_syntax::value_end(start)
        .map_err(|problem| format!("json: offset {}: {}", text.len() - start.len() + problem.offset, problem.text))?;
    let (raw, after) = start.split_at(end);
    let value = serde_json::from_str(raw).map_err(|error| error.to_string())?;
    Ok(Some((whole_numbers(value), raw, after)))
}

/// The decoder eats blanks up to the first newline before it tries YAML.
fn after_first_newline(text: &str) -> &str {
    let start = text.trim_start();
    let blanks = text.get(..text.len() - start.len()).unwrap_or_default();
    blanks.find('\n').map_or(start, |at| text.get(at + 1..).unwrap_or_default())
}

fn with_kind(value: Value, shown: impl FnOnce(&Value) -> String, prefix: &str) -> Result<Value, String> {
    let kind_is_given = value.get("kind").and_then(Value::as_str).is_some_and(|kind| !kind.is_empty());
    if !value.is_object() {
        return Err(format!("{prefix}{}", no_object(&value)));
    }
    if kind_is_given { Ok(value) } else { Err(format!("{prefix}Object 'Kind' is missing in '{}'", shown(&value))) }
}

/// Go's refusal of a value that is no object.
pub fn no_object(value: &Value) -> String {
    let kind = match value {
        Value::Null => "null",
        Value::Array(_) => "array",
        Value::String(_) => "string",
        Value::Bool(_) => "bool",
        Value::Number(_) => "number",
        Value::Object(_) => "object",
    };
    format!("json: cannot unmarshal {kind} into Go value of type map[string]interface {{}}")
}

/// Numbers as they are after Go wrote and read them once: a whole float is an integer (REND-267).
pub fn whole_numbers(value: Value) -> Value {
    match value {
        Value::Number(number) => match number.as_f64() {
            Some(float) if !number.is_i64() => whole(float).map_or_else(|| float.into(), Value::from),
            _ => Value::Number(number),
        },
        Value::Array(items) => items.into_iter().map(whole_numbers).collect(),
        Value::Object(map) => map.into_iter().map(|(key, value)| (key, whole_numbers(value))).collect(),
        other => other,
    }
}

/// The integer that a float stands for, where it is one that Go prints without an exponent and that fits.
fn whole(float: f64) -> Option<i64> {
    let text = format!("{float:.0}");
    (float.fract() == 0.0).then(|| text.parse().ok()).flatten()
}
