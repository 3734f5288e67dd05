//! The functions of the string library that take patterns, and others that could run long without looking at the clock.
//!
//! In:  a Lua state, the clock of the run.
//! Out: `find`, `match`, `gmatch`, `gsub` and `sort` that end with the run.
//! Invariant: none of them works on for more than a moment after the time is up, or needs more memory than a script may have.
//! Source: Lua 5.1 reference manual, sections 5.4 and 5.5.

use mlua::{Error, Function, IntoLuaMulti, Lua, LuaString, MultiValue, Result, Table, Value};

use super::budget::{Budget, Expired, Spent};
use super::pattern::{self, Capture, Match, Pattern};
use super::sandbox::{CHUNK, MEMORY, out_of_time};

/// Sorts long lists with a comparison in Lua, because the library's own does not look at the clock.
const SORT: &str = "local sort, type = table.sort, type
return function(list, less)
  if less == nil and type(list) == 'table' and #list > 1000 then less = function(a, b) return a < b end end
  return sort(list, less)
end";

/// Replaces the string functions that take patterns.
pub(super) fn replace(lua: &Lua, string: &Table, expired: &Expired) -> Result<()> {
    let open = |name: &'static str, run: fn(&Call) -> Result<MultiValue>| {
        let expired = expired.clone();
        let function = lua.create_function(move |lua, args: MultiValue| {
            run(&Call { lua, name, args: args.into_iter().collect(), expired: &expired })
        })?;
        string.set(name, function)
    };
    open("find", |call| search(call, true))?;
    open("match", |call| search(call, false))?;
    open("gmatch", each)?;
    open("gsub", substitute)
}

/// Replaces `table.sort`.
pub(super) fn replace_sort(lua: &Lua, table: &Table) -> Result<()> {
    table.set("sort", lua.load(SORT).set_name(CHUNK).eval::<Function>()?)
}

/// One call of a function.
struct Call<'a> {
    lua: &'a Lua,
    name: &'static str,
    args: Vec<Value>,
    expired: &'a Expired,
}

impl Call<'_> {
    fn arg(&self, index: usize) -> &Value {
        self.args.get(index).unwrap_or(&Value::Nil)
    }

    fn text(&self, index: usize) -> Result<LuaString> {
        let value = self.arg(index);
        let text = if is_text(value) { self.lua.coerce_string(value.clone())? } else { None };
        text.ok_or_else(|| self.bad(index, "string"))
    }

    fn integer(&self, index: usize) -> Result<Option<i64>> {
        match self.arg(index) {
            Value::Nil => Ok(None),
            value => Ok(Some(self.lua.coerce_integer(value.clone())?.ok_or_else(|| self.bad(index, "number"))?)),
        }
    }

    fn bad(&self, index: usize, wanted: &str) -> Error {
        let got = self.args.get(index).map_or("no value", super::type_name);
        let name = self.name;
        fail(self.lua, &format!("bad argument #{} to '{name}' ({wanted} expected, got {got})", index + 1))
    }

    fn pattern(&self, text: &LuaString, may_anchor: bool) -> Result<Pattern> {
        Pattern::read(&text.as_bytes(), may_anchor).map_err(|error| fail(self.lua, &error.to_string()))
    }
}

fn is_text(value: &Value) -> bool {
    matches!(value, Value::String(_) | Value::Integer(_) | Value::Number(_))
}

/// An error with the script's line, as the interpreter's own functions raise it.
fn fail(lua: &Lua, text: &str) -> Error {
    let line = lua.inspect_stack(1, |debug| debug.current_line()).flatten();
    Error::runtime(line.map_or_else(|| text.to_owned(), |line| format!("<string>:{line}: {text}")))
}

fn over(lua: &Lua) -> impl Fn(Spent) -> Error {
    |Spent| lua.inspect_stack(1, out_of_time).unwrap_or_else(|| Error::runtime("context deadline exceeded"))
}

/// `find` and `match`.
fn search(call: &Call, is_find: bool) -> Result<MultiValue> {
    let (subject, wanted) = (call.text(0)?, call.text(1)?);
    let from = beginning(call.integer(2)?.unwrap_or(1), subject.as_bytes().len());
    let budget = Budget::new(call.expired);
    let is_plain = pattern::is_plain(&wanted.as_bytes()) || !matches!(call.arg(3), Value::Nil | Value::Boolean(false));
    if is_find && is_plain {
        let (text, wanted) = (subject.as_bytes(), wanted.as_bytes());
        return match pattern::find_plain(&text, &wanted, from, &budget).map_err(over(call.lua))? {
            Some(start) => (start + 1, start + wanted.len()).into_lua_multi(call.lua),
            None => Value::Nil.into_lua_multi(call.lua),
        };
    }
    let pattern = call.pattern(&wanted, true)?;
    let Some(found) = pattern.find(&subject.as_bytes(), from, &budget).map_err(over(call.lua))? else {
        return Value::Nil.into_lua_multi(call.lua);
    };
    let mut results = MultiValue::new();
    if is_find {
        results.extend((found.start + 1, found.end).into_lua_multi(call.lua)?);
    }
    if !is_find || !found.captures.is_empty() {
        results.extend(captures(call.lua, &subject.as_bytes(), &found)?);
    }
    Ok(results)
}

/// Where a search begins: Lua counts from 1, and from the end below 0.
fn beginning(place: i64, length: usize) -> usize {
    let length = i64::try_from(length).unwrap_or(i64::MAX);
    let from = if place < 0 { length.saturating_add(place) } else { place.saturating_sub(1) };
    usize::try_from(from.clamp(0, length)).unwrap_or_default()
}

/// `gmatch`.
fn each(call: &Call) -> Result<MultiValue> {
    let (subject, expired) = (call.text(0)?, call.expired.clone());
    // An anchor would end the iteration before it begins, so there is none.
    let pattern = call.pattern(&call.text(1)?, false)?;
    let mut from = 0;
    let next = call.lua.create_function_mut(move |lua, _: MultiValue| {
        let text = subject.as_bytes();
        let found = if from <= text.len() {
            pattern.find(&text, from, &Budget::new(&expired)).map_err(over(lua))?
        } else {
            None
        };
        let Some(found) = found else {
            from = text.len() + 1;
            return Value::Nil.into_lua_multi(lua);
        };
        from = if found.end == found.start { found.end + 1 } else { found.end };
        captures(lua, &text, &found)
    })?;
    next.into_lua_multi(call.lua)
}

/// `gsub`.
fn substitute(call: &Call) -> Result<MultiValue> {
    let (subject, pattern) = (call.text(0)?, call.pattern(&call.text(1)?, true)?);
    let text = subject.as_bytes();
    let most = call.integer(3)?.unwrap_or(i64::MAX);
    let template = if is_text(call.arg(2)) { Some(call.text(2)?) } else { None };
    if template.is_none() && !matches!(call.arg(2), Value::Table(_) | Value::Function(_)) {
        return Err(call.bad(2, "string/function/table"));
    }
    let budget = Budget::new(call.expired);
    let (mut out, mut count, mut at) = (Vec::new(), 0_i64, 0);
    while count < most {
        let found = pattern.at(&text, at, &budget).map_err(over(call.lua))?;
        if let Some(found) = &found {
            count += 1;
            match &template {
                Some(template) => fill(call.lua, (&template.as_bytes(), &text), found, &mut out)?,
                None => out.extend_from_slice(&replacement(call, &text, found)?),
            }
        }
        match found {
            Some(found) if found.end > at => at = found.end,
            _ => {
                let Some(byte) = text.get(at) else { break };
                out.push(*byte);
                at += 1;
            }
        }
        if out.len() > MEMORY {
            return Err(Error::MemoryError("not enough memory".to_owned()));
        }
        if pattern.anchored {
            break;
        }
    }
    out.extend_from_slice(text.get(at..).unwrap_or_default());
    (call.lua.create_string(&out)?, count).into_lua_multi(call.lua)
}

/// What a function or table puts in the place of a match.
fn replacement(call: &Call, text: &[u8], found: &Match) -> Result<Vec<u8>> {
    let values = captures(call.lua, text, found)?;
    let value = match call.arg(2) {
        Value::Function(function) => function.call::<Value>(values)?,
        Value::Table(table) => table.get::<Value>(values.front().cloned().unwrap_or(Value::Nil))?,
        _ => Value::Nil,
    };
    match value {
        Value::Nil | Value::Boolean(false) => Ok(text.get(found.start..found.end).unwrap_or_default().to_vec()),
        value if is_text(&value) => {
            Ok(call.lua.coerce_string(value)?.map(|text| text.as_bytes().to_vec()).unwrap_or_default())
        }
        other => Err(fail(call.lua, &format!("invalid replacement value (a {})", super::type_name(&other)))),
    }
}

/// Writes a replacement text, in which `%1` stands for a capture.
fn fill(lua: &Lua, (template, text): (&[u8], &[u8]), found: &Match, out: &mut Vec<u8>) -> Result<()> {
    let mut rest = template.iter();
    while let Some(byte) = rest.next() {
        if *byte != b'%' {
            out.push(*byte);
            continue;
        }
        // Behind the end of a text Lua sees a zero byte.
        let after = rest.next().copied().unwrap_or(0);
        let whole = Capture::Part(found.start, found.end);
        let capture = match after {
            b'0' => whole,
            b'1' if found.captures.is_empty() => whole,
            b'1'..=b'9' => match found.captures.get(usize::from(after - b'1')) {
                Some(capture) => *capture,
                None => return Err(fail(lua, "invalid capture index")),
            },
            other => {
                out.push(other);
                continue;
            }
        };
        match capture {
            Capture::Part(start, end) => out.extend_from_slice(text.get(start..end).unwrap_or_default()),
            Capture::Place(at) => out.extend_from_slice((at + 1).to_string().as_bytes()),
        }
        if out.len() > MEMORY {
            return Err(Error::MemoryError("not enough memory".to_owned()));
        }
    }
    Ok(())
}

/// The captures of a match, or the whole match when the pattern has none.
fn captures(lua: &Lua, text: &[u8], found: &Match) -> Result<MultiValue> {
    let whole = [Capture::Part(found.start, found.end)];
    let all = if found.captures.is_empty() { &whole } else { found.captures.as_slice() };
    let value = |capture: &Capture| match *capture {
        Capture::Part(start, end) => lua.create_string(text.get(start..end).unwrap_or_default()).map(Value::String),
        Capture::Place(at) => Ok(Value::Number(f64::from(u32::try_from(at + 1).unwrap_or(u32::MAX)))),
    };
    all.iter().map(value).collect()
}
