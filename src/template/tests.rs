//! Rendering, held against Go's own answers.

use serde_json::{Value, json};

use super::*;

fn data() -> Value {
    json!({"name": "web", "n": 3, "big": 1e6, "nil": null, "list": ["a", "b"], "map": {"k": "v", "a": {"b": "c"}}, "yes": true})
}

#[test]
fn a_missing_key_is_treated_as_the_options_say() {
    let with = |option: &str| render("{{.x}}", &data(), &Options::parse(&[option.to_owned()]).expect("known"));
    assert_eq!(with("missingkey=default").as_deref(), Ok("<no value>"));
    let error = with("missingkey=error").expect_err("missing").to_string();
    assert_eq!(
        error,
        "failed to execute go template {{.x}}: template: base:1:2: executing \"base\" at <.x>: map has no entry for key \"x\""
    );
}

#[test]
fn names_are_replaced_where_they_are_known() {
    let params = [("a.b".to_owned(), "1".to_owned())].into();
    assert_eq!(replace("{{ a.b }}-{{c}}-{{}}", &params).as_deref(), Ok("1-{{c}}-{{}}"));
    assert_eq!(replace("{{ a.b", &params).as_deref(), Ok("{{ a.b"));
}
