//! Builds the interpreter that one script runs in.
//!
//! In:  whether the string, math and coroutine libraries are open; the clock of the run.
//! Out: a Lua state with limits.
//! Invariant: nothing that the script can reach opens files, starts processes, prints, or loads byte code (LuaJIT trusts
//! byte code, so a crafted chunk could leave the interpreter).
//! Source: HEALTH-070 to HEALTH-074, HEALTH-095 (`util/lua/lua.go` `runLuaWithResourceActionParameters`).

use jiff::Timestamp;
use mlua::chunk::ChunkMode;
use mlua::debug::Debug;
use mlua::{Error, Function, HookTriggers, Lua, LuaOptions, Result, StdLib, Table, Value, VmState};

use super::budget::Expired;
use super::{date, strings};
use crate::health::Run;

/// How the script calls itself in error texts.
pub(super) const CHUNK: &str = "=<string>";

/// Memory of one run in bytes: room for the largest object an API server stores, some ten times over.
pub(super) const MEMORY: usize = 64 * 1024 * 1024;

/// Instructions between two looks at the clock: few, because one can join or copy texts of many megabytes.
const INSTRUCTIONS: u32 = 100;

/// Longest text that a script may compile: no ConfigMap holds a longer script.
const LONGEST_CHUNK: usize = 1024 * 1024;

/// Globals that reach out of the interpreter or into its insides.
const CLOSED: &[&str] = &["dofile", "loadfile", "newproxy", "collectgarbage", "module", "package", "gcinfo"];

/// Opens a state for one run.
pub(super) fn open(open_libs: bool, run: Run) -> Result<Lua> {
    let libs = if open_libs { StdLib::TABLE | StdLib::STRING | StdLib::MATH } else { StdLib::TABLE };
    // The compiler stays off because its library is not loaded; compiled code would not look at the clock.
    let lua = Lua::new_with(libs, LuaOptions::new())?;
    lua.set_memory_limit(MEMORY)?;
    let expired: Expired = run.expired.into();
    restrict(&lua, open_libs, (run.now, &expired))?;
    lua.set_global_hook(HookTriggers::new().every_nth_instruction(INSTRUCTIONS), move |lua, debug| {
        if !expired() {
            return Ok(VmState::Continue);
        }
        // From now on every instruction fails, so that a script cannot catch the error and go on.
        lua.set_global_hook(HookTriggers::new().every_nth_instruction(1), |_, debug| Err(out_of_time(debug)))?;
        Err(out_of_time(debug))
    })?;
    Ok(lua)
}

pub(super) fn out_of_time(debug: &Debug) -> Error {
    Error::runtime(match debug.current_line() {
        Some(line) => format!("<string>:{line}: context deadline exceeded"),
        None => "context deadline exceeded".to_owned(),
    })
}

fn restrict(lua: &Lua, open_libs: bool, (now, expired): (Timestamp, &Expired)) -> Result<()> {
    let globals = lua.globals();
    for name in CLOSED {
        globals.set(*name, Value::Nil)?;
    }
    globals.set("print", lua.create_function(|_, _: mlua::MultiValue| Ok(()))?)?;
    globals.set("load", lua.create_function(load)?)?;
    globals.set("loadstring", lua.create_function(load)?)?;
    let os = date::module(lua, now)?;
    let required = lua.create_table()?;
    required.set("os", &os)?;
    let table: Table = globals.get("table")?;
    strings::replace_sort(lua, &table)?;
    required.set("table", table)?;
    if open_libs {
        let string: Table = globals.get("string")?;
        string.set("dump", Value::Nil)?;
        strings::replace(lua, &string, expired)?;
        string.set("gfind", string.get::<Value>("gmatch")?)?;
        required.set("string", string)?;
        required.set("math", globals.get::<Value>("math")?)?;
        globals.set("os", os)?;
    } else {
        globals.set("coroutine", Value::Nil)?;
    }
    globals.set("require", lua.create_function(move |_, name: String| require(&required, &name))?)
}

/// `require` for the modules that are there; nothing is searched for.
fn require(modules: &Table, name: &str) -> Result<Value> {
    match modules.get(name)? {
        Value::Nil => Err(Error::runtime(format!("module {name} not found"))),
        module => Ok(module),
    }
}

/// `load` and `loadstring`: text only. On failure returns nothing and the reason, as Lua does.
fn load(lua: &Lua, source: Value) -> Result<(Option<Function>, Option<String>)> {
    let text = match source {
        Value::String(text) => text.as_bytes().to_vec(),
        Value::Function(next) => {
            let mut text = Vec::new();
            while let Value::String(piece) = next.call(())? {
                if piece.as_bytes().is_empty() {
                    break;
                }
                text.extend_from_slice(&piece.as_bytes());
                if text.len() > LONGEST_CHUNK {
                    break;
                }
            }
            text
        }
        _ => return Ok((None, Some("text expected".to_owned()))),
    };
    if text.len() > LONGEST_CHUNK {
        return Ok((None, Some("text too long".to_owned())));
    }
    match lua.load(text).set_name(CHUNK).set_mode(ChunkMode::Text).into_function() {
        Ok(function) => Ok((Some(function), None)),
        Err(error) => Ok((None, Some(error.to_string()))),
    }
}
