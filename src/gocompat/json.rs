//! Prints JSON as Go's `encoding/json` does.
//!
//! In:  a value.
//! Out: compact JSON with sorted keys, Go's number forms and Go's escapes.
//! Source: REND-269 (`encoding/json/encode.go`).

use std::fmt::Write as _;

use serde_json::{Number, Value};

#[cfg(test)]
mod tests;

/// Compact JSON as `json.Marshal` prints it: `<`, `>` and `&` are escaped.
pub fn to_string(value: &Value) -> String {
    let mut out = String::new();
    write_value(&mut out, value, Html::Escaped);
    out
}

/// Compact JSON as an encoder with `SetEscapeHTML(false)` prints it, without its final newline.
pub fn to_string_plain(value: &Value) -> String {
    let mut out = String::new();
    write_value(&mut out, value, Html::Kept);
    out
}

/// What Go calls a JSON value that has the wrong type.
pub fn kind(value: &Value) -> &'static str {
    match value {
        Value::Null => "null",
        Value::Bool(_) => "bool",
        Value::Number(_) => "number",
        Value::String(_) => "string",
        Value::Array(_) => "array",
        Value::Object(_) => "object",
    }
}

/// A float as Go prints it in JSON: shortest digits, an exponent below 1e-6 and from 1e21 on.
pub fn float_text(float: f64) -> String {
    let magnitude = float.abs();
    if magnitude == 0.0 || (1e-6..1e21).contains(&magnitude) {
        return float.to_string();
    }
    let text = format!("{float:e}");
    match text.split_once('e') {
        Some((mantissa, exponent)) if !exponent.starts_with('-') => format!("{mantissa}e+{exponent}"),
        _ => text,
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Html {
    Escaped,
    Kept,
}

fn write_value(out: &mut String, value: &Value, html: Html) {
    match value {
        Value::Null => out.push_str("null"),
        Value::Bool(flag) => out.push_str(if *flag { "true" } else { "false" }),
        Value::Number(number) => out.push_str(&number_text(number)),
        Value::String(text) => write_text(out, text, html),
        Value::Array(items) => {
            out.push('[');
            for (at, item) in items.iter().enumerate() {
                if at > 0 {
                    out.push(',');
                }
                write_value(out, item, html);
            }
            out.push(']');
        }
        Value::Object(map) => {
            out.push('{');
            for (at, (key, item)) in map.iter().enumerate() {
                if at > 0 {
                    out.push(',');
                }
                write_text(out, key, html);
                out.push(':');
                write_value(out, item, html);
            }
            out.push('}');
        }
    }
}

fn number_text(number: &Number) -> String {
    match number.as_f64() {
        Some(float) if number.is_f64() => float_text(float),
        _ => number.to_string(),
    }
}

fn write_text(out: &mut String, text: &str, html: Html) {
    out.push('"');
    for letter in text.chars() {
        match letter {
            '"' => out.push_str("\\\""),
            '\\' => out.push_str("\\\\"),
            '\n' => out.push_str("\\n"),
            '\r' => out.push_str("\\r"),
            '\t' => out.push_str("\\t"),
            '\u{8}' => out.push_str("\\b"),
            '\u{c}' => out.push_str("\\f"),
            '<' | '>' | '&' if html == Html::Escaped => write_escape(out, letter),
            '\0'..='\u{1f}' | '\u{2028}' | '\u{2029}' => write_escape(out, letter),
            _ => out.push(letter),
        }
    }
    out.push('"');
}

fn write_escape(out: &mut String, letter: char) {
    // Writing to a String cannot fail.
    let _ = write!(out, "\\u{:04x}", u32::from(letter));
}
