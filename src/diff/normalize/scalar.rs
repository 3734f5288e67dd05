//! Reads one scalar into its Go type and writes it again.
//!
//! In:  a JSON value that is not null, and the type it should have.
//! Out: the canonical value, or nothing when the type refuses the value.
//! Source: DIFF-057 (apimachinery 0.36.1 `pkg/apis/meta/v1/{time,micro_time,duration}.go`, `pkg/util/intstr`).

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use jiff::Timestamp;
use serde_json::Value;

use super::quantity;
use crate::diff::schema::Shape;

/// The value as the type writes it.
pub fn canonical(value: &Value, shape: Shape) -> Option<Value> {
    match shape {
        Shape::String => value.is_string().then(|| value.clone()),
        Shape::Bool => value.is_boolean().then(|| value.clone()),
        Shape::Int32 => value.as_i64().filter(|number| i32::try_from(*number).is_ok()).map(Value::from),
        Shape::Int64 => value.as_i64().map(Value::from),
        Shape::Float => value.is_number().then(|| value.clone()),
        Shape::Bytes => bytes(value.as_str()?).map(Value::from),
        Shape::Quantity => quantity_of(value),
        Shape::IntOrString => int_or_string(value),
        Shape::Time => value.as_str().and_then(|text| time(text, 0)),
        Shape::MicroTime => value.as_str().and_then(|text| time(text, 6)),
        Shape::Duration => value.as_str().and_then(duration).map(Value::from),
        Shape::Raw | Shape::Any => Some(value.clone()),
        Shape::List(_) | Shape::Map(_) | Shape::Struct(_) => None,
    }
}

/// Go ignores line breaks inside base64 and writes none.
fn bytes(text: &str) -> Option<String> {
    let joined: String = text.chars().filter(|c| !matches!(c, '\r' | '\n')).collect();
    STANDARD.decode(&joined).ok().map(|bytes| STANDARD.encode(bytes))
}

fn quantity_of(value: &Value) -> Option<Value> {
    let text = match value {
        Value::String(text) => text.clone(),
        Value::Number(number) => number.to_string(),
        _ => return None,
    };
    quantity::canonical(&text).map(Value::from)
}

fn int_or_string(value: &Value) -> Option<Value> {
    match value {
        Value::String(_) => Some(value.clone()),
        Value::Number(_) => canonical(value, Shape::Int32),
        _ => None,
    }
}

/// Go reads any fraction of a second where it writes none, and exactly six digits where it writes six.
fn time(text: &str, digits: usize) -> Option<Value> {
    let fraction = text.split_once('.').map_or("", |(_, rest)| rest);
    let given = fraction.find(|c: char| !c.is_ascii_digit()).unwrap_or(fraction.len());
    if digits > 0 && given != digits {
        return None;
    }
    let time: Timestamp = text.parse().ok()?;
    let zoned = time.to_zoned(jiff::tz::TimeZone::UTC);
    let format = if digits == 0 { "%Y-%m-%dT%H:%M:%SZ" } else { "%Y-%m-%dT%H:%M:%S.%6fZ" };
    Some(zoned.strftime(format).to_string().into())
}

/// A Go duration in its canonical form, such as `1h0m0s` for `60m`.
fn duration(text: &str) -> Option<String> {
    let (negative, mut rest) = match text.strip_prefix('-') {
        Some(rest) => (true, rest),
        None => (false, text.strip_prefix('+').unwrap_or(text)),
    };
    if rest == "0" {
        return Some("0s".to_owned());
    }
    let mut nanos: f64 = 0.0;
    while !rest.is_empty() {
        let number = rest.find(|c: char| !c.is_ascii_digit() && c != '.')?;
        let (value, tail) = rest.split_at_checked(number)?;
        let unit_end = tail.find(|c: char| c.is_ascii_digit() || c == '.').unwrap_or(tail.len());
        let (unit, tail) = tail.split_at_checked(unit_end)?;
        let factor = match unit {
            "ns" => 1.0,
            "us" | "µs" | "μs" => 1e3,
            "ms" => 1e6,
            "s" => 1e9,
            "m" => 6e10,
            "h" => 3.6e12,
            _ => return None,
        };
        nanos += value.parse::<f64>().ok()? * factor;
        rest = tail;
    }
    let nanos: u64 = format!("{nanos:.0}").parse().ok()?;
    Some(format!("{}{}", if negative { "-" } else { "" }, duration_text(nanos)))
}

fn duration_text(nanos: u64) -> String {
    let decimal = |value: u64, unit: u64| {
        let fraction = format!("{:0width$}", value % unit, width = unit.to_string().len() - 1);
        let fraction = fraction.trim_end_matches('0');
        if fraction.is_empty() || unit == 1 {
            (value / unit).to_string()
        } else {
            format!("{}.{fraction}", value / unit)
        }
    };
    match nanos {
        0 => "0s".to_owned(),
        1..1_000 => format!("{nanos}ns"),
        1_000..1_000_000 => format!("{}µs", decimal(nanos, 1_000)),
        1_000_000..1_000_000_000 => format!("{}ms", decimal(nanos, 1_000_000)),
        _ => {
            let minutes = nanos / 60_000_000_000;
            let seconds = decimal(nanos % 60_000_000_000, 1_000_000_000);
            match (minutes / 60, minutes % 60) {
                (0, 0) => format!("{seconds}s"),
                (0, minutes) => format!("{minutes}m{seconds}s"),
                (hours, minutes) => format!("{hours}h{minutes}m{seconds}s"),
            }
        }
    }
}
