//! Tests of YAML against answers of the Go library itself.

use serde_json::{Value, json};

use super::{Error, documents, parse, parse_all, parse_bytes, parse_strict};
use crate::gocompat::json::to_string;

const TABLE: &str = include_str!("../../../corpus/golib/yaml.json");

fn table(section: &str) -> Vec<Value> {
    let table: Value = serde_json::from_str(TABLE).unwrap();
    table[section].as_array().unwrap().clone()
}

fn answer(result: Result<String, Error>) -> Value {
    match result {
        Ok(text) => json!({"value": text}),
        Err(error) => json!({"error": error.to_string()}),
    }
}

/// Documents that our scanner sees otherwise than Go's: an empty list as key, a byte-order mark at a line inside a document, and
/// the words for a tag without a value before a bracket.
const KNOWN: [&str; 3] = ["[]: 1\n", "a: 1\n\u{feff}b: 2\n", "k: [!!str]"];

/// Runs every row of a section and reports all that differ at once.
fn check_section(section: &str, run: impl Fn(&str) -> Result<String, Error>) -> usize {
    let rows = table(section);
    let mut wrong = Vec::new();
    for row in &rows {
        let input = row["input"].as_str().unwrap();
        let mut expect = row.clone();
        expect.as_object_mut().unwrap().remove("input");
        let got = answer(run(input));
        if (got != expect) != KNOWN.contains(&input) {
            wrong.push(format!("{input:?}\n  go:  {expect}\n  got: {got}"));
        }
    }
    assert!(wrong.is_empty(), "{} of {} differ:\n{}", wrong.len(), rows.len(), wrong.join("\n"));
    rows.len()
}

#[test]
fn documents_read_as_go_reads_them() {
    assert!(check_section("parse", |text| parse(text).map(|value| to_string(&value))) >= 800);
}

#[test]
fn bytes_that_are_no_text_are_refused_as_in_go() {
    let bytes = |hex: &str| -> Vec<u8> {
        (0..hex.len()).step_by(2).map(|at| u8::from_str_radix(&hex[at..at + 2], 16).unwrap()).collect()
    };
    assert!(check_section("bytes", |hex| parse_bytes(&bytes(hex)).map(|value| to_string(&value))) >= 20);
}

#[test]
fn strict_documents_read_as_go_reads_them() {
    check_section("strict", |text| parse_strict(text).map(|value| to_string(&value)));
}

#[test]
fn streams_split_as_kubectl_splits_them() {
    check_section("stream", |text| parse_all(text).map(|values| to_string(&Value::Array(values))));
}

#[test]
fn whole_numbers_are_integers_and_large_ones_floats() {
    assert!(parse("1.0").unwrap().is_i64());
    assert!(parse("9223372036854775807").unwrap().is_i64());
    assert!(parse("18446744073709551615").unwrap().is_f64());
}

#[test]
fn alias_bombs_are_refused() {
    let mut text = "a0: &a0 [x, x, x, x, x, x, x, x, x, x]\n".to_owned();
    for level in 1..9 {
        let previous = format!("*a{}", level - 1);
        text.push_str(&format!("a{level}: &a{level} [{}]\n", vec![previous; 10].join(", ")));
    }
    let error = parse(&text).unwrap_err().to_string();
    assert_eq!(error, "error converting YAML to JSON: yaml: document contains excessive aliasing");
}

#[test]
fn deep_nesting_is_refused_not_followed() {
    let error = parse(&"[".repeat(50_000)).unwrap_err().to_string();
    assert!(error.ends_with("exceeded max depth of 1000"), "{error}");
    assert!(parse(&format!("{}{}", "[".repeat(900), "]".repeat(900))).is_ok());
}

#[test]
fn an_escaped_backslash_before_a_slash_is_no_escaped_slash() {
    assert_eq!(parse(r#"{"ü𑼒": "", "a\\/": "b"}"#), Ok(json!({"ü𑼒": "", "a\\/": "b"})));
    assert!(parse(r#"{"ü𑼒": "", "a\/": "b"}"#).is_err());
}

#[test]
fn separators_at_the_start_belong_to_their_document() {
    let cut = |text| documents(text).collect::<Result<Vec<_>, _>>();
    assert_eq!(cut("---\na: 1\n---\n---\nb: 2\n"), Ok(vec!["---\na: 1\n", "---\nb: 2\n"]));
    assert_eq!(cut("a: 1\n--- b: 2\n"), Err(Error::Separator("b: 2".to_owned())));
    assert_eq!(parse_all("a: 1\n--- b: 2\n"), Err(Error::Separator("b: 2".to_owned())));
}

#[test]
fn what_is_written_is_a_text_to_every_reader() {
    let words =
        ["yes", "on", "y", "N", "0644", "1_000", "12:30:45", "2001-01-01", "=", "<<", "~", "null", "1e3", ".5", ""];
    for word in words {
        assert_eq!(super::to_string(&json!({"a": word})), format!("a: \"{word}\"\n"));
    }
    for plain in ["nginx:1.27", "https://example.com/a?", "Deployment", "a b", "x $(NAME)", "apps/v1"] {
        let expect = if plain.contains('?') { format!("a: \"{plain}\"\n") } else { format!("a: {plain}\n") };
        assert_eq!(super::to_string(&json!({"a": plain})), expect);
    }
}

#[test]
fn documents_are_written_as_people_write_them() {
    let value = json!({
        "kind": "ConfigMap",
        "data": {"script": "#!/bin/sh\n\necho\n", "open": "a\nb", "tab": "\ta\n", "none": "", "y": "1"},
        "list": [{"a": 1, "b": [1, 2.5]}, [true, null], [], {}, "x\ny\n\n"],
    });
    let expect = "data:
  none: \"\"
  open: |-
    a
    b
  script: |
    #!/bin/sh

    echo
  tab: \"\\ta\\n\"
  \"y\": \"1\"
kind: ConfigMap
list:
- a: 1
  b:
  - 1
  - 2.5
- - true
  - null
- []
- {}
- |+
  x
  y

";
    assert_eq!(super::to_string(&value), expect);
    assert_eq!(parse(expect), Ok(value));
}

/// Any JSON value with texts that are easily taken for something else.
fn any_value() -> impl proptest::strategy::Strategy<Value = Value> {
    use proptest::prelude::*;
    let text = prop_oneof![
        "\\PC{0,12}",
        "[-a-z0-9:# \n\t'\"|>&*!%@{}\\[\\],?]{0,16}",
        "yes|on|~|1_0|0x1|1:2|---|\u{85}|\u{feff}a"
    ];
    let leaf = prop_oneof![
        text.prop_map(Value::from),
        any::<i64>().prop_map(Value::from),
        Just(Value::Null),
        any::<bool>().prop_map(Value::from)
    ];
    leaf.prop_recursive(4, 24, 4, |inner| {
        prop_oneof![
            prop::collection::vec(inner.clone(), 0..4).prop_map(Value::from),
            prop::collection::btree_map("[-a-z:#\n ]{0,6}", inner, 0..4)
                .prop_map(|map| Value::Object(map.into_iter().collect())),
        ]
    })
}

proptest::proptest! {
    #[test]
    fn what_is_written_reads_back(value in any_value()) {
        let text = super::to_string(&value);
        proptest::prop_assert_eq!(parse(&text), Ok(value), "{}", text);
    }

    #[test]
    fn any_text_reads_without_panic(text in "[-a-z0-9:{}\\[\\],&*!|>#'\"%@ \n\t~.<?]{0,80}") {
        let _ = parse_all(&text);
        let _ = parse_strict(&text);
    }

    #[test]
    fn json_reads_back_as_itself(keys in proptest::collection::btree_map("\\PC{0,8}", "\\PC{0,12}", 0..6)) {
        let value = serde_json::to_value(&keys).unwrap();
        proptest::prop_assert_eq!(parse(&to_string(&value)), Ok(value));
    }
}
