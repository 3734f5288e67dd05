//! Reads a script's result: the table as JSON, and the JSON as health.
//!
//! In:  the returned table.
//! Out: its health; an empty one when the table's shape is not that of a health.
//! Invariant: what Argo CD's encoder refuses is refused with the same words.
//! Source: HEALTH-067 to HEALTH-069, HEALTH-099, HEALTH-107, HEALTH-108 (`util/lua/lua.go` `ExecuteHealthLua`,
//! `layeh.com/gopher-json`).

use std::collections::BTreeMap;
use std::ffi::c_void;

use mlua::{Table, Value as LuaValue};
use serde_json::{Map, Number, Value};

use super::{INVALID_STATUS, type_name};
use crate::health::{Code, Health};

/// Integers that a double holds exactly.
const EXACT: f64 = 9_007_199_254_740_992.0;

/// Why a table cannot be written as JSON.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// Keys are neither all text nor all numbers.
    #[error("cannot encode mixed or invalid key types")]
    Keys,
    /// A list has holes.
    #[error("cannot encode sparse array")]
    Sparse,
    /// A table occurs twice.
    #[error("cannot encode recursively nested tables to JSON")]
    Nested,
    /// A value has no JSON form.
    #[error("cannot encode {0} to JSON")]
    Type(&'static str),
    /// A number has no JSON form.
    #[error("json: unsupported value: {0}")]
    Number(f64),
    /// The table could not be read.
    #[error("cannot read the result: {0}")]
    Read(#[from] mlua::Error),
}

/// Health from the table that a script returned.
pub(super) fn health(table: &Table) -> Result<Health, Error> {
    let Value::Object(map) = encode(table, &mut Vec::new())? else {
        return Ok(Health::default());
    };
    let (Some(status), Some(message)) = (field(&map, "status"), field(&map, "message")) else {
        return Ok(Health::default());
    };
    Ok(match Code::parse(status) {
        Some(code) => Health::new(code, message),
        None => Health::new(Code::Unknown, INVALID_STATUS),
    })
}

/// A field's text as Go's decoder finds it: any letter case, the last one counts, null is no text, other types fail.
fn field<'a>(map: &'a Map<String, Value>, name: &str) -> Option<&'a str> {
    let mut found = "";
    for (_, value) in map.iter().filter(|(key, _)| key.eq_ignore_ascii_case(name)) {
        match value {
            Value::Null => {}
            Value::String(text) => found = text,
            _ => return None,
        }
    }
    Some(found)
}

fn encode(table: &Table, visited: &mut Vec<*const c_void>) -> Result<Value, Error> {
    if visited.contains(&table.to_pointer()) {
        return Err(Error::Nested);
    }
    visited.push(table.to_pointer());
    let mut fields = Map::new();
    let mut items = BTreeMap::new();
    for pair in table.pairs::<LuaValue, LuaValue>() {
        let (key, value) = pair?;
        match key {
            LuaValue::String(key) => {
                fields.insert(key.to_string_lossy(), encode_value(&value, visited)?);
            }
            LuaValue::Integer(_) | LuaValue::Number(_) => {
                let index = list_index(&key).ok_or(Error::Sparse)?;
                items.insert(index, encode_value(&value, visited)?);
            }
            _ => return Err(Error::Keys),
        }
    }
    match (fields.is_empty(), items.is_empty()) {
        (false, false) => Err(Error::Keys),
        (false, true) => Ok(Value::Object(fields)),
        // An empty table is an empty list.
        (true, _) => {
            let has_holes = items.keys().enumerate().any(|(position, index)| *index != position + 1);
            if has_holes { Err(Error::Sparse) } else { Ok(Value::Array(items.into_values().collect())) }
        }
    }
}

/// A key as a list index counted from 1.
fn list_index(key: &LuaValue) -> Option<usize> {
    match key {
        LuaValue::Integer(index) => usize::try_from(*index).ok().filter(|index| *index > 0),
        LuaValue::Number(index) if index.fract() == 0.0 => {
            format!("{index:.0}").parse().ok().filter(|index| *index > 0)
        }
        _ => None,
    }
}

fn encode_value(value: &LuaValue, visited: &mut Vec<*const c_void>) -> Result<Value, Error> {
    Ok(match value {
        LuaValue::Nil => Value::Null,
        LuaValue::Boolean(flag) => Value::Bool(*flag),
        LuaValue::Integer(number) => Value::Number((*number).into()),
        LuaValue::Number(number) => encode_number(*number)?,
        LuaValue::String(text) => Value::String(text.to_string_lossy()),
        LuaValue::Table(table) => encode(table, visited)?,
        other => return Err(Error::Type(type_name(other))),
    })
}

fn encode_number(number: f64) -> Result<Value, Error> {
    if number.fract() == 0.0
        && number.abs() < EXACT
        && let Ok(integer) = format!("{number:.0}").parse::<i64>()
    {
        return Ok(Value::Number(integer.into()));
    }
    Number::from_f64(number).map(Value::Number).ok_or(Error::Number(number))
}
