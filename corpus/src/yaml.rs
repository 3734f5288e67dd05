//! Reads and writes the YAML of cases and goldens.
//!
//! In:  YAML text.  Out: JSON values, and text again.
//! Invariant: a plain scalar means what it means in YAML 1.1, which the goldens were written in (so that a short commit
//! hash such as `1234e56` stays a string), except that timestamps stay strings.

use std::collections::HashMap;
use std::fmt::Write as _;
use std::sync::LazyLock;

use anyhow::{Context as _, Result, bail};
use libyaml_safer::{EventData, Parser, ScalarStyle};
use regex::Regex;
use serde_json::{Map, Number, Value};

/// The first document of `text`; null when there is none.
pub fn load(text: &str) -> Result<Value> {
    Ok(documents(text)?.into_iter().next().unwrap_or(Value::Null))
}

/// Every document of `text` that holds something.
pub fn load_all(text: &str) -> Result<Vec<Value>> {
    let mut all = documents(text)?;
    all.retain(|document| match document {
        Value::Null => false,
        Value::Object(map) => !map.is_empty(),
        Value::Array(items) => !items.is_empty(),
        _ => true,
    });
    Ok(all)
}

fn documents(text: &str) -> Result<Vec<Value>> {
    let mut bytes = text.as_bytes();
    let mut parser = Parser::new();
    parser.set_input_string(&mut bytes);
    let mut reader = Reader { events: parser, anchors: HashMap::new() };
    let mut all = Vec::new();
    loop {
        match reader.next()? {
            EventData::StreamEnd => return Ok(all),
            EventData::DocumentStart { .. } => {
                reader.anchors.clear();
                let first = reader.next()?;
                all.push(reader.value(first)?);
            }
            _ => {}
        }
    }
}

struct Reader<'r, 'b> {
    events: Parser<&'r mut &'b [u8]>,
    anchors: HashMap<String, Value>,
}

impl Reader<'_, '_> {
    fn next(&mut self) -> Result<EventData> {
        Ok(self.events.parse().context("YAML")?.data)
    }

    fn value(&mut self, event: EventData) -> Result<Value> {
        let (anchor, value) = match event {
            EventData::Alias { anchor } => {
                return self.anchors.get(&anchor).cloned().with_context(|| format!("unknown alias *{anchor}"));
            }
            EventData::Scalar { anchor, tag, value, style, .. } => (anchor, scalar(value, tag.as_deref(), style)),
            EventData::SequenceStart { anchor, .. } => (anchor, self.sequence()?),
            EventData::MappingStart { anchor, .. } => (anchor, self.mapping()?),
            other => bail!("unexpected YAML event {other:?}"),
        };
        if let Some(anchor) = anchor {
            self.anchors.insert(anchor, value.clone());
        }
        Ok(value)
    }

    fn sequence(&mut self) -> Result<Value> {
        let mut items = Vec::new();
        loop {
            match self.next()? {
                EventData::SequenceEnd => return Ok(Value::Array(items)),
                event => items.push(self.value(event)?),
            }
        }
    }

    fn mapping(&mut self) -> Result<Value> {
        let (mut merged, mut own) = (Map::new(), Map::new());
        loop {
            let event = self.next()?;
            if matches!(event, EventData::MappingEnd) {
                break;
            }
            let is_merge =
                matches!(&event, EventData::Scalar { value, style: ScalarStyle::Plain, .. } if value == "<<");
            let key = self.value(event)?;
            let event = self.next()?;
            let value = self.value(event)?;
            match (is_merge, value) {
                (true, Value::Object(map)) => merged.extend(map),
                (true, Value::Array(maps)) => {
                    // The first of several merged maps wins, so they are laid down last to first.
                    for map in maps.into_iter().rev() {
                        let Value::Object(map) = map else { bail!("only maps can be merged") };
                        merged.extend(map);
                    }
                }
                (_, value) => {
                    own.insert(key_text(key), value);
                }
            }
        }
        merged.extend(own);
        Ok(Value::Object(merged))
    }
}

fn key_text(key: Value) -> String {
    match key {
        Value::String(text) => text,
        other => other.to_string(),
    }
}

fn scalar(text: String, tag: Option<&str>, style: ScalarStyle) -> Value {
    if tag == Some(libyaml_safer::STR_TAG) || style != ScalarStyle::Plain { Value::String(text) } else { resolve(text) }
}

static FLOAT: LazyLock<Regex> =
    LazyLock::new(|| pattern(r"^(?:[-+]?[0-9][0-9_]*\.[0-9_]*(?:[eE][-+][0-9]+)?|\.[0-9][0-9_]*(?:[eE][-+][0-9]+)?)$"));
static INT: LazyLock<Regex> =
    LazyLock::new(|| pattern(r"^[-+]?(?:0b[0-1_]+|0x[0-9a-fA-F_]+|0[0-7_]*|[1-9][0-9_]*(?::[0-5]?[0-9])*)$"));

fn pattern(source: &str) -> Regex {
    Regex::new(source).expect("a constant pattern is valid")
}

/// What a plain scalar means under YAML 1.1.
fn resolve(text: String) -> Value {
    match text.as_str() {
        "" | "~" | "null" | "Null" | "NULL" => Value::Null,
        "yes" | "Yes" | "YES" | "true" | "True" | "TRUE" | "on" | "On" | "ON" => Value::Bool(true),
        "no" | "No" | "NO" | "false" | "False" | "FALSE" | "off" | "Off" | "OFF" => Value::Bool(false),
        plain if INT.is_match(plain) => integer(plain).unwrap_or(Value::String(text)),
        plain if FLOAT.is_match(plain) => {
            let number = plain.replace('_', "").parse().ok().and_then(Number::from_f64);
            number.map_or(Value::String(text), Value::Number)
        }
        _ => Value::String(text),
    }
}

fn integer(plain: &str) -> Option<Value> {
    let text = plain.replace('_', "");
    let (negative, digits) = match text.strip_prefix('-') {
        Some(rest) => (true, rest),
        None => (false, text.strip_prefix('+').unwrap_or(&text)),
    };
    let magnitude = if let Some(binary) = digits.strip_prefix("0b") {
        i128::from_str_radix(binary, 2).ok()?
    } else if let Some(hex) = digits.strip_prefix("0x") {
        i128::from_str_radix(hex, 16).ok()?
    } else if digits.len() > 1 && digits.starts_with('0') {
        i128::from_str_radix(digits, 8).ok()?
    } else {
        // `1:30` counts in sixties, as YAML 1.1 has it.
        let mut total = 0_i128;
        for part in digits.split(':') {
            total = total.checked_mul(60)?.checked_add(part.parse().ok()?)?;
        }
        total
    };
    let number = if negative { -magnitude } else { magnitude };
    Number::from_i128(number).or_else(|| Number::from_f64(text.parse().ok()?)).map(Value::Number)
}

/// Writes `value` in block style with sorted keys, so that goldens differ by lines.
pub fn dump(value: &Value) -> String {
    let mut out = String::new();
    match value {
        Value::Object(map) if !map.is_empty() => dump_map(&mut out, map, 0),
        Value::Array(items) if !items.is_empty() => dump_list(&mut out, items, 0),
        other => {
            out.push_str(&dump_scalar(other));
            out.push('\n');
        }
    }
    out
}

fn dump_map(out: &mut String, map: &Map<String, Value>, indent: usize) {
    let mut keys: Vec<_> = map.iter().collect();
    keys.sort_by_key(|(key, _)| key.as_str());
    for (key, value) in keys {
        let _ = write!(out, "{:indent$}{}:", "", dump_text(key));
        match value {
            Value::Object(inner) if !inner.is_empty() => {
                out.push('\n');
                dump_map(out, inner, indent + 2);
            }
            Value::Array(items) if !items.is_empty() => {
                out.push('\n');
                dump_list(out, items, indent);
            }
            other => {
                let _ = writeln!(out, " {}", dump_scalar(other));
            }
        }
    }
}

fn dump_list(out: &mut String, items: &[Value], indent: usize) {
    for item in items {
        let mut inner = String::new();
        match item {
            Value::Object(map) if !map.is_empty() => dump_map(&mut inner, map, indent + 2),
            Value::Array(items) if !items.is_empty() => dump_list(&mut inner, items, indent + 2),
            other => {
                inner.push_str(&dump_scalar(other));
                inner.push('\n');
            }
        }
        // The first line of a nested block stands on the line of its dash.
        let _ = write!(out, "{:indent$}- {}", "", inner.trim_start_matches(' '));
    }
}

fn dump_scalar(value: &Value) -> String {
    match value {
        Value::String(text) => dump_text(text),
        Value::Object(_) => "{}".to_owned(),
        Value::Array(_) => "[]".to_owned(),
        Value::Number(number) => {
            let text = number.to_string();
            match text.split_once('e') {
                // YAML 1.1 takes a number for a float only with a point and a signed exponent.
                Some((digits, exponent)) => {
                    let point = if digits.contains('.') { "" } else { ".0" };
                    let sign = if exponent.starts_with(['-', '+']) { "" } else { "+" };
                    format!("{digits}{point}e{sign}{exponent}")
                }
                None => text,
            }
        }
        other => other.to_string(),
    }
}

static PLAIN: LazyLock<Regex> =
    LazyLock::new(|| pattern(r"^[A-Za-z0-9/_.][A-Za-z0-9/_.@+()=,-]*( [A-Za-z0-9/_.@+()=,-]+|:[A-Za-z0-9/_.]+)*$"));

fn dump_text(text: &str) -> String {
    let is_plain = PLAIN.is_match(text) && !text.contains(" - ") && resolve(text.to_owned()).is_string();
    // A date is a string to this reader but not to every other one.
    if is_plain && !text.starts_with(|first: char| first.is_ascii_digit()) {
        return text.to_owned();
    }
    // A JSON string is a double-quoted YAML scalar but for the line breaks that only YAML knows.
    Value::from(text)
        .to_string()
        .replace('\u{85}', "\\u0085")
        .replace('\u{2028}', "\\u2028")
        .replace('\u{2029}', "\\u2029")
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn check(text: &str, expect: Value) {
        assert_eq!(load(text).unwrap(), expect, "{text}");
    }

    #[test]
    fn plain_scalars_mean_what_yaml_1_1_says() {
        check("[yes, off, ~, 0777, 0x1F, 1_000, 1:30, 1.5, 1e3, 1234e56]", {
            json!([true, false, null, 511, 31, 1000, 90, 1.5, "1e3", "1234e56"])
        });
        check("[08, 2026-01-01T00:00:00Z, 2026-01-01, '1', !!str 1, <time>]", {
            json!(["08", "2026-01-01T00:00:00Z", "2026-01-01", "1", "1", "<time>"])
        });
        check("{on: 1, 2: x}", json!({"true": 1, "2": "x"}));
    }

    #[test]
    fn own_keys_win_over_merged_ones_and_the_first_merged_map_over_later_ones() {
        check("a: &a {x: 1, y: 1}\nb: &b {x: 2, z: 2}\nc: {x: 3, <<: *a}\nd: {<<: [*a, *b]}", {
            json!({"a": {"x": 1, "y": 1}, "b": {"x": 2, "z": 2}, "c": {"x": 3, "y": 1}, "d": {"x": 1, "y": 1, "z": 2}})
        });
    }

    #[test]
    fn empty_documents_are_left_out() {
        assert_eq!(load_all("---\n---\na: 1\n---\n# nothing\n---\n[]\n").unwrap(), vec![json!({"a": 1})]);
    }

    #[test]
    fn what_is_written_reads_back_the_same() {
        let value = json!({
            "list": [1, [2, [3]], {"a": [], "b": {}}, "x: y", "yes", "1e3", "0o7", "- a", "", " pad ", "a\nb\n", "\u{85}é", "a #b", "<<"],
            "2026-01-01": "2026-01-01", "": null, "nested": {"key with: colon": {"deep": [[]]}}, "n": 1e20, "f": 1.0, "t": true, "#": "a:b", "c:": "~",
        });
        assert_eq!(load(&dump(&value)).unwrap(), value, "{}", dump(&value));
    }
}
