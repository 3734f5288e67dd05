//! Expressions: what they delete, how they fail, and that they end.

use serde_json::{Value, json};

use super::{CompileError, Program, RunError};

fn check(expression: &str, input: Value, expect: Value) {
    let program = Program::deleting(expression).unwrap();
    assert_eq!(program.run(&input, &|| false), Ok(expect), "{expression}");
}

fn fails(expression: &str, input: &Value) -> RunError {
    Program::deleting(expression).unwrap().run(input, &|| false).unwrap_err()
}

#[test]
fn selects_list_items() {
    let input = json!({"c": [{"name": "a", "image": "1"}, {"name": "b", "image": "2"}]});
    let expect = json!({"c": [{"name": "a", "image": "1"}, {"name": "b"}]});
    check(r#".c[] | select(.name == "b") | .image"#, input, expect);
}

#[test]
fn two_indices_refer_to_the_original_list() {
    check(".a[0], .a[1]", json!({"a": [1, 2, 3]}), json!({"a": [3]}));
    check(".a[-2], .a[1]", json!({"a": [1, 2, 3]}), json!({"a": [1, 3]}));
    check(".a[1,3]", json!({"a": [1, 2, 3, 4]}), json!({"a": [1, 3]}));
}

#[test]
fn slices_are_deleted() {
    check(".a[1:3]", json!({"a": [1, 2, 3, 4]}), json!({"a": [1, 4]}));
    check(".a[1:][0]", json!({"a": [1, 2, 3]}), json!({"a": [1, 3]}));
}

#[test]
fn missing_parents_are_no_error() {
    let input = json!({"spec": {"replicas": 1}});
    check(".spec.nothing.deep.down, .spec.replicas", input.clone(), json!({"spec": {}}));
    check(".spec.fake.foo[]?", input.clone(), input.clone());
    check(r#".missing["a"].b?"#, input.clone(), input.clone());
    check(".metadata.annotations.b.c", input.clone(), input);
    check(".list[9]", json!({"list": [1]}), json!({"list": [1]}));
}

#[test]
fn select_on_absent_list_leaves_no_null() {
    check(r#".env[]? | select(.name == "x")"#, json!({"a": 1}), json!({"a": 1}));
}

#[test]
fn recursion_reaches_all_depths() {
    let input = json!({"t": {"p": {"periodSeconds": 1, "x": [{"periodSeconds": 2}]}}});
    check(".t | .. | objects | .periodSeconds", input, json!({"t": {"p": {"x": [{}]}}}));
}

#[test]
fn keys_can_be_computed() {
    let input = json!({"data": {"gen-a": "1", "gen-b": "2", "c": "3"}});
    check(r#".data[.data | keys[] | select(startswith("gen-"))]"#, input, json!({"data": {"c": "3"}}));
}

#[test]
fn the_parenthesis_may_be_closed_early() {
    let input = json!({"data": {"app.json": r#"{"build":1,"name":"x"}"#}});
    let expect = json!({"data": {"app.json": r#"{"name":"x"}"#}});
    check(r#".data.none) | .data["app.json"] |= (fromjson | del(.build) | tojson"#, input, expect);
}

#[test]
fn run_time_errors_leave_the_object_to_the_caller() {
    let input = json!({"data": {"a": "1"}});
    assert!(matches!(fails(r#".data.a | error("no")"#, &input), RunError::Failed(_)));
    assert!(matches!(fails(".data | keys", &input), RunError::Failed(_)));
    assert!(matches!(fails(".data[0]", &input), RunError::Failed(_)));
    assert_eq!(fails(".a) | empty, (empty", &input), RunError::NoData);
    assert_eq!(fails(".a) , del(.b", &input), RunError::Multiple);
    assert_eq!(fails(".", &input), RunError::NotAnObject);
}

#[test]
fn text_that_does_not_compile_is_told_as_gojq_does() {
    let compile = |text: &str| Program::deleting(text).err();
    assert_eq!(compile(".a | nope"), Some(CompileError::UnknownFunction("nope/0".to_owned())));
    assert_eq!(compile(".a | $x"), Some(CompileError::UnknownVariable("$x".to_owned())));
    assert!(compile(".a[").is_some());
    assert!(compile("").is_some());
    assert!(compile(&"(".repeat(5000)).is_some());
    assert_eq!(compile(&format!("{}.a{}", "(".repeat(500), ")".repeat(500))), Some(CompileError::TooDeep));
}

#[test]
fn endless_programs_stop_when_the_time_is_up() {
    let programs = [
        ".a[until(false; .)]",
        ".a | [repeat(1)]",
        "[range(0; infinite)] | .a",
        "def f: f; f",
        "def f: try f catch f; f",
        "def f: ., f; .a | f",
        "[limit(1e12; repeat(.))] | .a",
        "[.,. | .,. | .,. | .,. | .,. | .,. | .,. | .,. | .,. | .,. | .,. | .,. | .,. | .,. | .,. | .,. | .,. | .,. | .,. | .,. | .,. | .,. | .,. | .,. | .,. | .,. | .,. | .,. | .,. | .,. | .,.] | .a",
    ];
    for text in programs {
        let calls = std::cell::Cell::new(0_u32);
        let expired = || {
            calls.set(calls.get() + 1);
            calls.get() > 20_000
        };
        let program = Program::deleting(text).unwrap();
        let error = program.run(&json!({"a": {}}), &expired).unwrap_err();
        assert!(matches!(error, RunError::TimedOut | RunError::Failed(_)), "{text}: {error}");
    }
}

#[test]
fn deep_recursion_is_an_error_and_no_crash() {
    let error = fails("def f: 1 + f; .a | f", &json!({"a": 1}));
    assert!(matches!(error, RunError::Failed(_)), "{error}");
}

#[test]
fn the_environment_is_empty() {
    check("if (env == {} and $ENV == {}) then .a else .b end", json!({"a": 1, "b": 2}), json!({"b": 2}));
    assert!(matches!(fails(".a) | halt | (.", &json!({})), RunError::Failed(_)));
}

#[test]
fn definitions_keep_their_meaning_when_metered() {
    check("def f(x): .a[x]; f(0), f(1)", json!({"a": [1, 2, 3]}), json!({"a": [3]}));
    check(r#".a[] | select(def g: . > 1; g)"#, json!({"a": [1, 2, 3]}), json!({"a": [1]}));
    check(r#".["x\(1 | . + 1)"]"#, json!({"x2": 1}), json!({}));
}

#[test]
fn integers_stay_exact() {
    check(".b", json!({"a": 9_007_199_254_740_993_i64, "b": 1}), json!({"a": 9_007_199_254_740_993_i64}));
}
