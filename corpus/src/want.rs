//! Checks the assertions of `want.yaml`, which stand in for the golden of a case where Argo CD is wrong.
//!
//! In:  `want.yaml` (shaped like a golden: snapshot, tier, subject, …), the goldens and the snapshots of a run.
//! Out: one line for each assertion that does not hold.
//! Invariant: what `want.yaml` does not mention is not looked at.
//!
//! A map asserts the keys it names.  A list asserts its length and each element.  Special words:
//!
//! | | |
//! |---|---|
//! | `<present>`, `<absent>` | that there is a value, or none |
//! | `<golden>` | that it is as in the golden at this place |
//! | `<others>: <golden>` | in a map: that the keys it does not name are as in the golden |
//! | `{<has>: [a, b]}`, `{<lacks>: [a]}` | that a list has elements like a and b, or none like a |
//! | `{<contains>: [a, b]}` | that a text contains the texts a and b |

use serde_json::{Map, Value};

use crate::compare::{differences, same, short};

/// The assertions that do not hold, of the variant and golden that come nearest; none when one variant holds.
pub fn unmet(variants: &[Value], goldens: &[Value], got: &Value) -> Vec<String> {
    // A case of our own may state its outcome with nothing recorded beside it.
    let none = [Value::Null];
    let goldens = if goldens.is_empty() { &none[..] } else { goldens };
    let pairs = variants.iter().flat_map(|want| goldens.iter().map(move |golden| (want, golden)));
    let each = pairs.map(|(want, golden)| {
        let mut lines = Vec::new();
        check(want, (Some(golden), Some(got)), "want", &mut lines);
        lines
    });
    each.min_by_key(Vec::len).unwrap_or_else(|| vec!["! there is no want.yaml, or no golden beside it".to_owned()])
}

/// Checks one place: what is wanted there, what the golden has and what was seen.
fn check(want: &Value, (golden, got): (Option<&Value>, Option<&Value>), path: &str, lines: &mut Vec<String>) {
    let there = got.filter(|got| !got.is_null());
    match (want, got) {
        (Value::String(word), _) if word == "<golden>" => as_golden(golden, got, path, lines),
        (Value::String(word), _) if word == "<absent>" => {
            lines.extend(there.map(|got| format!("+ {path}: {}", short(got))));
        }
        (Value::String(word), _) if word == "<present>" => {
            if there.is_none() {
                lines.push(format!("- {path}"));
            }
        }
        (_, None) => lines.push(format!("- {path}: {}", short(want))),
        (Value::Object(rules), Some(Value::Array(items))) => elements(rules, items, path, lines),
        (Value::Object(map), Some(Value::String(text))) if map.contains_key("<contains>") => {
            let parts = map.values().filter_map(Value::as_array).flatten().filter_map(Value::as_str);
            let missing = parts.filter(|part| !text.contains(part));
            lines.extend(missing.map(|part| format!("- {path}<contains>: {part:?} in {text:?}")));
        }
        (Value::Object(map), Some(Value::Object(got))) => {
            for (key, inner) in map {
                let golden = golden.and_then(|golden| golden.get(key));
                match key.as_str() {
                    "<others>" => {}
                    _ => check(inner, (golden, got.get(key)), &format!("{path}/{key}"), lines),
                }
            }
            if map.contains_key("<others>") {
                let others = |side: &Map<String, Value>| {
                    side.iter()
                        .filter(|(key, _)| !map.contains_key(*key))
                        .map(|(key, value)| (key.clone(), value.clone()))
                        .collect()
                };
                let golden: Value = golden.and_then(Value::as_object).map(others).unwrap_or_default();
                lines.extend(differences(&golden, &others(got), path));
            }
        }
        (Value::Array(want), Some(Value::Array(got))) if want.len() == got.len() => {
            for (i, (want, got)) in want.iter().zip(got).enumerate() {
                let golden = golden.and_then(|golden| golden.get(i));
                check(want, (golden, Some(got)), &format!("{path}[{i}]"), lines);
            }
        }
        (want, Some(got)) if same(want, got) => {}
        (want, Some(got)) => lines.push(format!("~ {path}: expected {}, got {}", short(want), short(got))),
    }
}

fn as_golden(golden: Option<&Value>, got: Option<&Value>, path: &str, lines: &mut Vec<String>) {
    match (golden, got) {
        (Some(golden), Some(got)) => lines.extend(differences(golden, got, path)),
        (Some(golden), None) => lines.push(format!("- {path}: {}", short(golden))),
        (None, Some(got)) => lines.push(format!("+ {path}: {}", short(got))),
        (None, None) => {}
    }
}

fn elements(rules: &Map<String, Value>, items: &[Value], path: &str, lines: &mut Vec<String>) {
    let like = |want: &Value| {
        items.iter().any(|item| {
            let mut unmet = Vec::new();
            check(want, (None, Some(item)), path, &mut unmet);
            unmet.is_empty()
        })
    };
    for (rule, wanted) in rules {
        let should_have = match rule.as_str() {
            "<has>" => true,
            "<lacks>" => false,
            _ => {
                lines.push(format!("~ {path}: expected a map with {rule}, got a list"));
                continue;
            }
        };
        for want in wanted.as_array().into_iter().flatten().filter(|want| like(want) != should_have) {
            let all = short(&Value::from(items));
            let sign = if should_have { '-' } else { '+' };
            lines.push(format!("{sign} {path}{rule}: {} in {all}", short(want)));
        }
    }
}
