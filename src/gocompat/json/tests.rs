//! Tests of JSON as Go prints it.

use serde_json::{Value, json};

use super::{to_string, to_string_plain};

fn check(value: &Value, expect: &str) {
    assert_eq!(to_string(value), expect);
}

#[test]
fn keys_are_sorted_and_text_is_compact() {
    check(&json!({"b": [1, null, true], "a": {}, "B": []}), r#"{"B":[],"a":{},"b":[1,null,true]}"#);
}

#[test]
fn html_and_line_separators_are_escaped() {
    check(&json!("<a>&\u{2028}\u{2029}'"), "\"\\u003ca\\u003e\\u0026\\u2028\\u2029'\"");
    assert_eq!(to_string_plain(&json!("<a>&\u{2028}")), "\"<a>&\\u2028\"");
}

#[test]
fn control_characters_use_short_forms_where_go_does() {
    check(&json!("\n\r\t\u{8}\u{c}\u{1}\u{7f}\"\\/"), "\"\\n\\r\\t\\b\\f\\u0001\u{7f}\\\"\\\\/\"");
}

#[test]
fn floats_change_to_exponents_at_go_limits() {
    for (float, expect) in [
        (0.000_001, "0.000001"),
        (0.000_000_99, "9.9e-7"),
        (1e20, "100000000000000000000"),
        (1e21, "1e+21"),
        (1.5e300, "1.5e+300"),
        (-1e-10, "-1e-10"),
        (0.1, "0.1"),
        (-0.0, "-0"),
    ] {
        check(&json!(float), expect);
    }
}

#[test]
fn integers_print_as_they_are() {
    check(&json!(i64::MIN), "-9223372036854775808");
    check(&json!(u64::MAX), "18446744073709551615");
}
