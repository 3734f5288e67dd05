//! Writes objects as people write them.
//!
//! In:  JSON values.
//! Out: YAML of whole objects, and one line for a single value.

use serde_json::Value;

/// Longest text of a single value, in characters; more is cut, for whole values stand in the JSON output.
const LONGEST: usize = 160;

/// An object as YAML with sorted keys; nothing for an absent one.
pub fn yaml(object: Option<&Value>) -> String {
    let Some(object) = object else { return String::new() };
    // A tree of texts, numbers, lists and maps always has a YAML form; JSON is the same tree.
    serde_yaml::to_string(object).unwrap_or_else(|_| format!("{object:#}\n"))
}

/// A value on one line.
pub fn line(value: Option<&Value>) -> String {
    let text = match value {
        None => return "(absent)".to_owned(),
        Some(Value::String(text)) if is_plain(text) => text.clone(),
        Some(value) => value.to_string(),
    };
    let count = text.chars().count();
    if count <= LONGEST {
        return text;
    }
    let start: String = text.chars().take(LONGEST).collect();
    format!("{start}… ({} more characters)", count - LONGEST)
}

/// Whether a text reads the same without quotes.
fn is_plain(text: &str) -> bool {
    let is_word = |c: char| c.is_ascii_alphanumeric() || matches!(c, '.' | '/' | ':' | '-' | '_' | '@' | '+');
    let reads_as_other = text.parse::<f64>().is_ok() || matches!(text, "true" | "false" | "null");
    !text.is_empty() && text.chars().all(is_word) && !reads_as_other
}
