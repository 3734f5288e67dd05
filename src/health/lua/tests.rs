//! What scripts may do, what they return, and how their failures read.

mod patterns;

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use serde_json::{Value, json};

use super::*;
use crate::health::{Code, Run};

fn start() -> StartRun {
    Arc::new(|| Run { now: "2026-01-02T03:04:05Z".parse().expect("a time"), expired: Box::new(|| false) })
}

fn run(script: &str, open_libs: bool, object: &Value) -> Result<Health, Error> {
    health(object, &Script { script: script.to_owned(), open_libs }, &start())
}

fn closed(script: &str) -> Result<Health, Error> {
    run(script, false, &json!({"kind": "Widget", "status": {"phase": "Good"}}))
}

fn fails(script: &str) -> String {
    closed(script).expect_err("fails").to_string()
}

fn healthy(message: &str) -> Health {
    Health::new(Code::Healthy, message)
}

#[test]
fn table_with_status_and_message_is_the_health() {
    let health = closed("return {status = 'Healthy', message = obj.kind .. ' ' .. obj.status.phase}").unwrap();
    assert_eq!(health, healthy("Widget Good"));
    assert_eq!(closed("return {STATUS = 'Healthy', Message = 'x', other = {1}}").unwrap(), healthy("x"));
    assert_eq!(closed("return 'x', {status = 'Healthy'}").unwrap(), healthy(""));
}

#[test]
fn nothing_or_a_mistyped_table_is_an_empty_health() {
    for script in
        ["", "return", "return nil", "return {}", "return {'Healthy'}", "return {status='Healthy', message=1}"]
    {
        assert_eq!(closed(script).unwrap(), Health::default(), "{script}");
    }
}

#[test]
fn unheard_of_status_is_unknown() {
    for script in ["return {status = 'Great'}", "return {message = 'x'}"] {
        assert_eq!(closed(script).unwrap(), Health::new(Code::Unknown, INVALID_STATUS), "{script}");
    }
}

#[test]
fn results_that_are_no_health_fail_with_argo_cds_words() {
    assert_eq!(fails("return 'Healthy'"), "expect table output from Lua script, not string");
    assert_eq!(fails("return 1"), "expect table output from Lua script, not number");
    assert_eq!(fails("return true"), "expect table output from Lua script, not boolean");
    assert_eq!(fails("return {status = 'Healthy', [1] = 'x'}"), "cannot encode mixed or invalid key types");
    assert_eq!(fails("return {[2] = 'x'}"), "cannot encode sparse array");
    assert_eq!(fails("local t = {} return {a = t, b = t}"), "cannot encode recursively nested tables to JSON");
    assert_eq!(fails("return {status = pairs}"), "cannot encode function to JSON");
}

#[test]
fn failures_are_worded_like_argo_cds_interpreter() {
    assert_eq!(fails("return os.time()"), "<string>:1: attempt to index a non-table object(nil) with key 'time'");
    assert_eq!(
        fails("local x\nreturn obj.spec.a"),
        "<string>:2: attempt to index a non-table object(nil) with key 'a'"
    );
    assert_eq!(fails("missing()"), "<string>:1: attempt to call a non-function object");
    assert_eq!(fails("error('no', 0)"), "no");
    assert_eq!(fails("return {\n"), "<string> at EOF:   syntax error\n");
    assert!(fails("return }").starts_with("<string>:1:"), "{}", fails("return }"));
}

#[test]
fn closed_libraries_are_absent_and_open_ones_cannot_reach_out() {
    for name in ["string", "math", "io", "os", "debug", "coroutine", "package", "jit", "ffi", "dofile", "loadfile"] {
        let health = closed(&format!("return {{status = 'Healthy', message = tostring({name})}}")).unwrap();
        assert_eq!(health.message, "nil", "{name}");
    }
    for name in ["io", "debug", "package", "jit", "ffi", "dofile", "loadfile", "os.execute", "os.getenv", "string.dump"]
    {
        let script = format!("return {{status = 'Healthy', message = tostring({name})}}");
        assert_eq!(run(&script, true, &json!({})).unwrap().message, "nil", "{name}");
    }
    assert!(fails("return {status = ('x'):upper()}").contains("attempt to"));
    assert!(fails("require('io')").contains("module io not found"));
}

#[test]
fn byte_code_is_refused() {
    let script = "local f, why = loadstring('\\27LJ\\2') return {status = 'Healthy', message = tostring(f)}";
    assert_eq!(closed(script).unwrap(), healthy("nil"));
    assert_eq!(closed("return {status = loadstring('return \"Healthy\"')()}").unwrap(), healthy(""));
}

#[test]
fn clock_is_that_of_the_run() {
    let message = |words: &str| {
        closed(&format!("local os = require('os') return {{status = 'Healthy', message = {words}}}")).unwrap().message
    };
    assert_eq!(message("os.date('!%Y-%m-%dT%H:%M:%SZ', os.time())"), "2026-01-02T03:04:05Z");
    assert_eq!(message("os.date('%Q %a %x %%', 0)"), "%Q mon 00/00/00 %");
    assert_eq!(message("tostring(os.time({year = 1970, month = 1, day = 1, hour = 0}))"), "0");
    assert_eq!(message("tostring(os.time({year = 1969, month = 13, day = 2}))"), "129600");
    assert_eq!(message("tostring(os.date('*t', 0).wday)"), "5");
}

#[test]
fn null_is_absent_and_numbers_print_as_integers() {
    let object = json!({"list": [1, null, 3], "gone": null, "count": 3.0});
    let script = "return {status = 'Healthy', message = #obj.list .. '/' .. obj.list[2] .. '/' .. obj.count .. '/' \
                  .. tostring(obj.gone) .. '/' .. table.getn(obj.list)}";
    assert_eq!(run(script, false, &object).unwrap(), healthy("2/3/3/nil/2"));
}

#[test]
fn goto_and_old_names_work() {
    let script = "for _, x in ipairs({1, 2}) do if x == 1 then goto continue end m = x ::continue:: end \
                  local a = unpack({m}) for w in string.gfind('a b', '%a') do a = a .. w end \
                  return {status = 'Healthy', message = a}";
    assert_eq!(run(script, true, &json!({})).unwrap(), healthy("2ab"));
}

#[test]
fn endless_scripts_end_at_the_deadline_even_when_they_catch_errors() {
    let start: StartRun = Arc::new(|| {
        let looks = AtomicUsize::new(0);
        Run { now: jiff::Timestamp::UNIX_EPOCH, expired: Box::new(move || looks.fetch_add(1, Ordering::Relaxed) > 5) }
    });
    for source in [
        "while true do end",
        "while true do pcall(function() while true do end end) end",
        "local f = coroutine.wrap(function() while true do end end) f()",
    ] {
        let script = Script { script: source.to_owned(), open_libs: true };
        let error = health(&json!({}), &script, &start).expect_err("endless").to_string();
        assert_eq!(error, "<string>:1: context deadline exceeded", "{source}");
    }
}

#[test]
fn memory_is_limited() {
    let error = fails("local t = {} while true do t[#t + 1] = {1, 2, 3} end");
    assert_eq!(error, "not enough memory");
}
