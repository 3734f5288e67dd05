//! Sets of parameters: how they are flattened, printed and joined.
//!
//! In:  parameters that generators made.
//! Out: the same as flat texts, or two sets as one.
//! Invariant: sets are values; joining two changes neither, so that nothing leaks from one element into another.
//! Source: SET-009, SET-038, SET-043, SET-046 (`github.com/jeremywohl/flatten`, `dario.cat/mergo`,
//! `applicationset/utils/map.go`).

use std::collections::BTreeMap;

use serde_json::{Map, Number, Value};

use crate::gocompat::json::float_text;

/// One set of parameters.
pub type Params = Map<String, Value>;

/// Numbers as Go reads them from JSON: all of them are floats.
pub fn with_floats(value: Value) -> Value {
    match value {
        Value::Number(number) => Value::Number(number.as_f64().and_then(Number::from_f64).unwrap_or(number)),
        Value::Array(items) => items.into_iter().map(with_floats).collect(),
        Value::Object(fields) => fields.into_iter().map(|(key, value)| (key, with_floats(value))).collect(),
        other => other,
    }
}

/// A value as Go's `%v` prints it.
pub fn text_of(value: &Value) -> String {
    match value {
        Value::Null => "<nil>".to_owned(),
        Value::Bool(flag) => flag.to_string(),
        Value::Number(number) => number_text(number),
        Value::String(text) => text.clone(),
        Value::Array(items) => format!("[{}]", items.iter().map(text_of).collect::<Vec<_>>().join(" ")),
        Value::Object(fields) => {
            let fields: Vec<_> = fields.iter().map(|(key, value)| format!("{key}:{}", text_of(value))).collect();
            format!("map[{}]", fields.join(" "))
        }
    }
}

/// A number as `%v` prints it; only floats have exponents.
fn number_text(number: &Number) -> String {
    match number.as_f64() {
        Some(float) if number.is_f64() => float_v(float),
        _ => number.to_string(),
    }
}

fn float_v(float: f64) -> String {
    let scientific = format!("{float:e}");
    let Some((mantissa, exponent)) = scientific.split_once('e') else { return float_text(float) };
    let exponent: i32 = exponent.parse().unwrap_or_default();
    // The bounds of `%v`; JSON has others.
    if float == 0.0 || (-4..6).contains(&exponent) {
        return float.to_string();
    }
    let sign = if exponent < 0 { '-' } else { '+' };
    format!("{mantissa}e{sign}{:02}", exponent.abs())
}

/// Parameters with dotted keys; empty lists and maps leave nothing behind.
pub fn flatten(params: &Params) -> BTreeMap<String, String> {
    let mut flat = BTreeMap::new();
    for (key, value) in params {
        flatten_into(&mut flat, key.clone(), value);
    }
    flat
}

fn flatten_into(flat: &mut BTreeMap<String, String>, key: String, value: &Value) {
    match value {
        Value::Object(fields) => {
            fields.iter().for_each(|(name, value)| flatten_into(flat, format!("{key}.{name}"), value));
        }
        Value::Array(items) => {
            items.iter().enumerate().for_each(|(at, value)| flatten_into(flat, format!("{key}.{at}"), value));
        }
        leaf => {
            flat.insert(key, text_of(leaf));
        }
    }
}

/// Flat parameters as texts.
pub fn flattened(params: &Params) -> Params {
    flatten(params).into_iter().map(|(key, text)| (key, Value::String(text))).collect()
}

/// Two flat sets as one; a key with two meanings is an error.
///
/// # Errors
/// The text that Argo CD gives the duplicate key.
pub fn combined(left: &Params, right: &Params) -> Result<Params, String> {
    let texts = |params: &Params| -> BTreeMap<String, String> {
        params.iter().map(|(key, value)| (key.clone(), text_of(value))).collect()
    };
    let mut all = texts(left);
    for (key, value) in texts(right) {
        match all.get(&key) {
            Some(other) if *other != value => {
                return Err(format!("found duplicate key {key} with different value, a: {other} ,b: {value}"));
            }
            _ => all.insert(key, value),
        };
    }
    Ok(all.into_iter().map(|(key, text)| (key, Value::String(text))).collect())
}

/// Lays one set over another: maps are merged, everything else is replaced, by empty values too.
pub fn overlay(base: &mut Params, over: Params) {
    for (key, value) in over {
        match (base.get_mut(&key), value) {
            (Some(Value::Object(below)), Value::Object(above)) => overlay(below, above),
            (_, value) => {
                base.insert(key, value);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn params(value: Value) -> Params {
        value.as_object().cloned().expect("an object")
    }

    #[test]
    fn values_print_as_go_prints_them() {
        let given = json!([3, 0.5, 12_345_678, 1e7, 100_000, 1e-5, 2.0, 123_456, 1_234_567, null, true, "a"]);
        let printed: Vec<_> = with_floats(given).as_array().expect("a list").iter().map(text_of).collect();
        let expect = [
            "3",
            "0.5",
            "1.2345678e+07",
            "1e+07",
            "100000",
            "1e-05",
            "2",
            "123456",
            "1.234567e+06",
            "<nil>",
            "true",
            "a",
        ];
        assert_eq!(printed, expect);
        assert_eq!(text_of(&json!({"b": [1, {"c": null}], "a": "x y"})), "map[a:x y b:[1 map[c:<nil>]]]");
        assert_eq!(text_of(&json!(123_456_789)), "123456789", "an id is no float");
    }

    #[test]
    fn flat_keys_have_dots_and_places() {
        let flat = flatten(&params(json!({"a": {"b": [1, {"c": "x"}], "e": {}, "l": []}, "n": null})));
        let expect = [("a.b.0", "1"), ("a.b.1.c", "x"), ("n", "<nil>")];
        assert_eq!(flat, expect.map(|(key, value)| (key.to_owned(), value.to_owned())).into());
    }

    #[test]
    fn a_key_with_two_meanings_is_an_error() {
        let error = combined(&params(json!({"env": "dev"})), &params(json!({"env": "prod"}))).expect_err("a conflict");
        assert_eq!(error, "found duplicate key env with different value, a: dev ,b: prod");
        let both = combined(&params(json!({"a": 1})), &params(json!({"a": "1", "b": null})));
        assert_eq!(both, Ok(params(json!({"a": "1", "b": "<nil>"}))));
    }

    #[test]
    fn an_overlay_goes_deep_and_replaces_lists_and_empty_values() {
        let mut base = params(json!({"cfg": {"a": "base", "b": "base", "list": [1, 2]}, "other": 1}));
        overlay(&mut base, params(json!({"cfg": {"a": "", "b": null, "list": [3]}, "new": {}})));
        assert_eq!(base, params(json!({"cfg": {"a": "", "b": null, "list": [3]}, "other": 1, "new": {}})));
    }
}
