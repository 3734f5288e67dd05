//! `toYaml`: a value in the very words of go-yaml, since a template may cut them, count them or compare them.
//!
//! Source: `go.yaml.in/yaml/v2` `encode.go`, `resolve.go`, `emitterc.go`, by way of `sigs.k8s.io/yaml`.

use std::sync::LazyLock;

use libyaml_safer::{Emitter, Encoding, Event, MappingStyle, ScalarStyle, SequenceStyle};
use regex::Regex;
use serde_json::Value;

use super::super::number::general;
use crate::gocompat::yaml;

/// The value as one document.
pub(super) fn to_yaml(value: &Value) -> Result<String, String> {
    let mut events = vec![Event::stream_start(Encoding::Utf8), Event::document_start(None, &[], true)];
    push(&mut events, value);
    events.extend([Event::document_end(true), Event::stream_end()]);
    let mut out = Vec::new();
    let mut emitter = Emitter::new();
    emitter.set_output_string(&mut out);
    emitter.set_unicode(true);
    events.into_iter().try_for_each(|event| emitter.emit(event)).map_err(|error| error.to_string())?;
    emitter.flush().map_err(|error| error.to_string())?;
    drop(emitter);
    String::from_utf8(out).map_err(|error| error.to_string())
}

fn push(events: &mut Vec<Event>, value: &Value) {
    match value {
        Value::Object(map) => {
            let style = if map.is_empty() { MappingStyle::Flow } else { MappingStyle::Block };
            events.push(Event::mapping_start(None, None, true, style));
            for (key, value) in map {
                events.push(text(key));
                push(events, value);
            }
            events.push(Event::mapping_end());
        }
        Value::Array(items) => {
            let style = if items.is_empty() { SequenceStyle::Flow } else { SequenceStyle::Block };
            events.push(Event::sequence_start(None, None, true, style));
            items.iter().for_each(|item| push(events, item));
            events.push(Event::sequence_end());
        }
        Value::String(content) => events.push(text(content)),
        Value::Number(number) if number.is_f64() => {
            events.push(scalar(&general(number.as_f64().unwrap_or_default()), ScalarStyle::Plain));
        }
        other => events.push(scalar(&other.to_string(), ScalarStyle::Plain)),
    }
}

fn scalar(text: &str, style: ScalarStyle) -> Event {
    Event::scalar(None, None, text, true, true, style)
}

fn text(text: &str) -> Event {
    let style = match text {
        _ if text.contains('\n') => ScalarStyle::Literal,
        _ if reads_as_other(text) => ScalarStyle::DoubleQuoted,
        _ => ScalarStyle::Plain,
    };
    scalar(text, style)
}

/// Whether a text, written without quotes, would be a number, a date or the like.
fn reads_as_other(text: &str) -> bool {
    static TIME: LazyLock<Option<Regex>> = LazyLock::new(|| {
        Regex::new(concat!(
            r"^[0-9]{4}-[0-9]{1,2}-[0-9]{1,2}",
            r"([Tt][0-9]{1,2}:[0-9]{1,2}:[0-9]{1,2}(\.[0-9]+)?(Z|[+-][0-9]{2}:[0-9]{2})",
            r"| [0-9]{1,2}:[0-9]{1,2}:[0-9]{1,2}(\.[0-9]+)?)?$",
        ))
        .ok()
    });
    static SEXAGESIMAL: LazyLock<Option<Regex>> =
        LazyLock::new(|| Regex::new(r"^[-+]?[0-9][0-9_]*(:[0-5]?[0-9])+(\.[0-9_]*)?$").ok());
    let special = text.strip_prefix(['+', '-']).unwrap_or(text);
    let is_special = matches!(special, ".inf" | ".Inf" | ".INF") || matches!(text, ".nan" | ".NaN" | ".NAN");
    let matches = |pattern: &Option<Regex>| pattern.as_ref().is_some_and(|pattern| pattern.is_match(text));
    if is_special || matches(&TIME) || matches(&SEXAGESIMAL) {
        return true;
    }
    // Signs by which the reader would take a part of the text for something else.
    let is_bare = text.trim() == text && !text.contains(['#', '!', '&', '*', '|', '>', '\'', '"', '%', '@']);
    is_bare && matches!(yaml::parse(text), Ok(Value::Null | Value::Bool(_) | Value::Number(_)))
}
