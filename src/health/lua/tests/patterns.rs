//! The functions that take patterns answer as the interpreter's own do, and end with the run.

use std::time::{Duration, Instant};

use mlua::{Lua, LuaOptions, StdLib};

use super::*;
use crate::health::lua::sandbox;

/// Results of every function as one text, or the error.
const PROBE: &str = "
local subject, pattern, replacement, init = ...
local function show(...)
  local shown = {}
  for i = 1, select('#', ...) do shown[i] = tostring((select(i, ...))) end
  return table.concat(shown, ',')
end
local function try(name, f, ...)
  local function results(ok, ...) return ok and name .. '=' .. show(...) or name .. ' fails' end
  return results(pcall(f, ...))
end
local function each()
  local all = {}
  for a, b, c in subject:gmatch(pattern) do all[#all + 1] = show(a, b, c) end
  return table.concat(all, ';')
end
return table.concat({
  try('find', string.find, subject, pattern), try('from', string.find, subject, pattern, init),
  try('plain', string.find, subject, pattern, init, true), try('match', string.match, subject, pattern, init),
  try('gmatch', each), try('gsub', string.gsub, subject, pattern, replacement),
  try('twice', string.gsub, subject, pattern, replacement, 2),
  try('table', string.gsub, subject, pattern, {a = 'A', ['1'] = 7, b = false}),
  try('call', string.gsub, subject, pattern, function(a, b) if a ~= 'b' then return show(a, b) end end),
}, ' ')";

fn probe(lua: &Lua, args: (&[u8], &str, &str, i64)) -> String {
    let args = (lua.create_string(args.0).unwrap(), args.1, args.2, args.3);
    lua.load(PROBE).call::<mlua::LuaString>(args).unwrap().as_bytes().escape_ascii().to_string()
}

#[test]
fn patterns_mean_what_they_mean_to_the_interpreter() {
    let own = Lua::new_with(StdLib::TABLE | StdLib::STRING, LuaOptions::new()).unwrap();
    let ours = sandbox::open(true, start()()).unwrap();
    let subjects: [&[u8]; 14] = [
        b"",
        b"a",
        b"3/5",
        b"2026-01-02T03:04:05Z",
        b"ERROR, ERROR, disk full",
        b"Waiting for rollout",
        b"key = value; b=2",
        b"((a)(b(c)))x)",
        b"aaab aab ab b",
        b"THE (quick) fox",
        b"a\0b\0c",
        b"x-y_z%1 ]^[ $5.00",
        b"\xc3\xa9t\xc3\xa9\t\x0b\n",
        b"path/to/some.file.yaml",
    ];
    let patterns = [
        "",
        "^",
        "$",
        "^$",
        "a",
        "(%d+)/(%d+)",
        "(%d+)-(%d+)-(%d+)T(%d+):(%d+):(%d+)Z",
        "^ERROR",
        "ERROR, ",
        "^Waiting",
        "^Updating",
        "timeout",
        "%s+",
        "(%w+)%s*=%s*(%w+)",
        "%b()",
        "%bxx",
        "a*",
        "a-b",
        "a-",
        "a?b",
        "a+",
        "(a*)(b?)",
        "()",
        "()a()",
        "((a)(b))",
        "%f[%w]%w+",
        "%f[%W]",
        "%f[%z]",
        "[%a_][%w_]*",
        "[^%s]+",
        "[]]",
        "[^]]",
        "[a-]",
        "[%a-z]+",
        "[a-c]+",
        "[+-]",
        "%%%d",
        "%.",
        ".-%.",
        "(.-)%.([^.]*)$",
        "%z",
        "[%z]",
        "(.)%1",
        "(a)%1",
        "%u+",
        "%l+",
        "%p",
        "%c",
        "%x+",
        "%g+",
        "[%G]",
        "%U",
        "[^%d%s]",
        "^(.-)%s*$",
        ".",
        "..",
        "x*$",
        "$5",
        "a$b",
        "a^b",
        "[[]",
        "%]",
        "é",
        "[^a]*",
        "^a",
        "^()a*",
        "(a*)%1b",
    ];
    for subject in subjects {
        for pattern in patterns {
            for (replacement, init) in [("<%0>", 1), ("%1%%", 3), ("", -2), ("x%ay", -99), ("%2", 99), ("7", 0)] {
                let args = (subject, pattern, replacement, init);
                assert_eq!(probe(&ours, args), probe(&own, args), "{args:?}");
            }
        }
    }
}

#[test]
fn malformed_patterns_and_wrong_arguments_are_worded_like_the_interpreters() {
    for (call, expect) in [
        ("find('a', '[a')", "malformed pattern (missing ']')"),
        ("find('a', '%')", "malformed pattern (ends with '%')"),
        ("find('a', '(a')", "unfinished capture"),
        ("match('a', 'a)')", "invalid pattern capture"),
        ("find('a', '%1')", "invalid capture index"),
        ("find('a', '%b(')", "unbalanced pattern"),
        ("find('a', '%fa')", "missing '[' after '%f' in pattern"),
        ("match('a', ('()'):rep(33))", "too many captures"),
        ("match('a', ('a?'):rep(201))", "pattern too complex"),
        ("gsub('a', 'a', '%2')", "invalid capture index"),
        ("gsub('a', 'a', function() return {} end)", "invalid replacement value (a table)"),
        ("gsub('a', 'a')", "bad argument #3 to gsub (string/function/table expected, got no value)"),
        ("find(nil, 'a')", "bad argument #1 to find (string expected, got nil)"),
        ("find('a', 'a', {})", "bad argument #3 to find (number expected, got table)"),
    ] {
        let error = run(&format!("\nlocal x = string.{call} return x"), true, &json!({})).expect_err(call).to_string();
        assert_eq!(error, format!("<string>:2: {expect}"), "{call}");
    }
}

#[test]
fn numbers_are_texts_and_texts_are_numbers() {
    let script =
        "return {status = 'Healthy', message = table.concat({string.find(1234, 3), string.match(12, '%d', '2')}, ',')}";
    assert_eq!(run(script, true, &json!({})).unwrap(), healthy("3,2"));
}

/// Ends at the deadline, with its error.
#[track_caller]
fn ends(source: &str) {
    let clock: StartRun = Arc::new(|| {
        let begun = Instant::now();
        let expired = Box::new(move || begun.elapsed() > Duration::from_millis(100));
        Run { now: jiff::Timestamp::UNIX_EPOCH, expired }
    });
    let begun = Instant::now();
    let script = Script { script: source.to_owned(), open_libs: true };
    let error = health(&json!({}), &script, &clock).expect_err(source).to_string();
    assert!(error.ends_with("context deadline exceeded") || error == "not enough memory", "{source}: {error}");
    assert!(begun.elapsed() < Duration::from_secs(5), "{source} took {:?}", begun.elapsed());
}

#[test]
fn no_library_function_outlives_the_run() {
    let many = "local s = ('a'):rep(300000) ";
    for call in [
        "s:find(('a-'):rep(20) .. 'b')",
        "s:match(('a*'):rep(20) .. 'b')",
        "s:gsub(('.-'):rep(20) .. 'b', '')",
        "for _ in s:gmatch(('a?'):rep(100) .. '.-.-.-b') do end",
        "s:find('(.-)%1%1b')",
        "s:gsub('%ba(', '')",
        "s:find(('a'):rep(100000) .. 'b', 1, true)",
        "while true do pcall(string.find, s, '.-.-.-b') end",
        "while true do s:rep(40):upper() end",
    ] {
        ends(&format!("{many}{call}"));
    }
    // The killer of quick sorts that take the median of three.
    let killer = "local n, t = 400000, {} for i = 1, n / 2 do t[i] = i % 2 == 1 and i or n / 2 + i - 1 t[n / 2 + i] = 2 * i end ";
    ends(&format!("{killer} while true do table.sort(t) end"));
}

#[test]
fn texts_are_limited_like_all_memory() {
    for words in ["('x'):rep(1e9)", "('x'):rep(1e6):gsub('x', ('y'):rep(1e6))", "('%1'):rep(10):rep(1e8)"] {
        let error = run(&format!("return {words}"), true, &json!({})).expect_err(words).to_string();
        assert_eq!(error, "not enough memory", "{words}");
    }
    let long = "local f, why = loadstring((' '):rep(2e6)) return {status = 'Healthy', message = why}";
    assert_eq!(run(long, true, &json!({})).unwrap(), healthy("text too long"));
}

#[test]
fn long_lists_are_sorted() {
    let script = "local t = {} for i = 1, 2000 do t[i] = (i * 7919) % 2003 end table.sort(t) \
                  for i = 2, #t do if t[i - 1] > t[i] then return {status = 'Degraded'} end end return {status = 'Healthy'}";
    assert_eq!(closed(script).unwrap(), healthy(""));
}
