//! Turns JSON into Lua values.
//!
//! In:  a JSON value.
//! Out: the Lua value that a script sees.
//! Invariant: null is absent; in lists it is skipped, which shifts later items, as in Argo CD.
//! Source: HEALTH-098, HEALTH-107 (`util/lua/lua.go` `decodeValue`).

use mlua::{Lua, Result, Value as LuaValue};
use serde_json::Value;

pub(super) fn to_lua(lua: &Lua, value: &Value) -> Result<LuaValue> {
    Ok(match value {
        Value::Null => LuaValue::Nil,
        Value::Bool(flag) => LuaValue::Boolean(*flag),
        Value::Number(number) => LuaValue::Number(number.as_f64().unwrap_or(f64::NAN)),
        Value::String(text) => LuaValue::String(lua.create_string(text)?),
        Value::Array(items) => {
            let table = lua.create_table_with_capacity(items.len(), 0)?;
            for item in items.iter().filter(|item| !item.is_null()) {
                table.raw_push(to_lua(lua, item)?)?;
            }
            LuaValue::Table(table)
        }
        Value::Object(map) => {
            let table = lua.create_table_with_capacity(0, map.len())?;
            for (key, item) in map {
                table.raw_set(key.as_str(), to_lua(lua, item)?)?;
            }
            LuaValue::Table(table)
        }
    })
}
