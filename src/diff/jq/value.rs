//! Carries values into jq and back.
//!
//! In:  JSON values, or jq's.
//! Out: the other kind.
//! Invariant: integers stay integers.
//! Source: DIFF-078.

use jaq_json::{Map, Num, Val};
use serde_json::{Number, Value};

/// The value as jq sees it.
pub fn to_jq(value: &Value) -> Val {
    match value {
        Value::Null => Val::Null,
        Value::Bool(flag) => Val::from(*flag),
        Value::Number(number) => number
            .as_i64()
            .and_then(|integer| isize::try_from(integer).ok())
            .map_or_else(|| Val::from(number.as_f64().unwrap_or_default()), Val::from),
        Value::String(text) => Val::from(text.clone()),
        Value::Array(items) => items.iter().map(to_jq).collect(),
        Value::Object(map) => {
            Val::obj(map.iter().map(|(key, value)| (Val::from(key.clone()), to_jq(value))).collect::<Map>())
        }
    }
}

/// The value as JSON has it.
pub fn from_jq(value: &Val) -> Value {
    match value {
        Val::Null => Value::Null,
        Val::Bool(flag) => Value::Bool(*flag),
        Val::Num(number) => number_of(number),
        Val::BStr(_) | Val::TStr(_) => Value::String(text(value)),
        Val::Arr(items) => items.iter().map(from_jq).collect(),
        Val::Obj(map) => Value::Object(map.iter().map(|(key, value)| (text(key), from_jq(value))).collect()),
    }
}

fn text(value: &Val) -> String {
    match value {
        Val::BStr(bytes) | Val::TStr(bytes) => String::from_utf8_lossy(bytes).into_owned(),
        other => other.to_string(),
    }
}

/// Numbers that JSON cannot hold become null, as Go's encoder would refuse them.
fn number_of(number: &Num) -> Value {
    match number {
        Num::Int(integer) => i64::try_from(*integer).map_or(Value::Null, Value::from),
        Num::Float(float) => Number::from_f64(*float).map_or(Value::Null, Value::Number),
        other => other.to_string().parse::<Number>().map_or(Value::Null, Value::Number),
    }
}
