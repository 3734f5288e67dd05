//! Runs the administrator's health scripts.
//!
//! In:  a live object, a script, the clock of the run.
//! Out: the health that the script returns.
//! Invariant: a script reads no file, starts no process, prints nothing, and ends at its deadline and memory limit.
//! Source: HEALTH-066 to HEALTH-074, HEALTH-094 to HEALTH-108 (`util/lua/lua.go`); the interpreter is LuaJIT without its
//! compiler, whose hash tables do not keep insertion order and whose numbers print with 14 digits.

mod budget;
mod convert;
mod date;
mod decode;
mod fault;
mod pattern;
mod sandbox;
mod strings;

#[cfg(test)]
mod tests;

use mlua::{MultiValue, Value as LuaValue};
use serde_json::Value;

use super::{Health, Script, StartRun};

/// The text for a status that is no health code (HEALTH-067).
pub(super) const INVALID_STATUS: &str = "Lua returned an invalid health status";

/// Why a script gave no health.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// The script failed; the text starts with `<string>:LINE:` as Argo CD's does (HEALTH-074).
    #[error("{0}")]
    Script(String),
    /// The script returned something else than a table (HEALTH-069).
    #[error("expect table output from Lua script, not {0}")]
    NoTable(&'static str),
    /// The returned table cannot be written as JSON (HEALTH-069, HEALTH-108).
    #[error(transparent)]
    Encode(#[from] decode::Error),
    /// The interpreter could not be set up.
    #[error("cannot start Lua: {0}")]
    Start(#[source] mlua::Error),
}

/// Health of `object` as a script sees it (HEALTH-066 to HEALTH-069).
///
/// # Errors
/// Fails when the script does, or when it returns what is no health at all.
pub fn health(object: &Value, script: &Script, start: &StartRun) -> Result<Health, Error> {
    let lua = sandbox::open(script.open_libs, start()).map_err(Error::Start)?;
    let globals = lua.globals();
    let input = convert::to_lua(&lua, object).map_err(Error::Start)?;
    globals.set("obj", input).map_err(Error::Start)?;
    globals.set("actionParams", lua.create_table().map_err(Error::Start)?).map_err(Error::Start)?;
    let chunk = lua.load(script.script.as_str()).set_name(sandbox::CHUNK).set_mode(mlua::chunk::ChunkMode::Text);
    let results: MultiValue = chunk.call(()).map_err(|error| Error::Script(fault::text(&error, &script.script)))?;
    // Argo CD looks at the top of the stack, which is the last of several results.
    match results.into_iter().next_back() {
        None | Some(LuaValue::Nil) => Ok(Health::default()),
        Some(LuaValue::Table(table)) => Ok(decode::health(&table)?),
        Some(other) => Err(Error::NoTable(type_name(&other))),
    }
}

/// A type as Lua names it.
fn type_name(value: &LuaValue) -> &'static str {
    match value {
        LuaValue::Integer(_) | LuaValue::Number(_) => "number",
        LuaValue::LightUserData(_) => "userdata",
        other => other.type_name(),
    }
}
