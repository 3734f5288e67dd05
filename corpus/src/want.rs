//! Checks the partial assertions of `want.yaml`, which stand in for the golden of a case where Argo CD is wrong.
//!
//! In:  `want.yaml` (shaped like a golden: snapshot, tier, subject, …) and the snapshots of a run.
//! Out: one line for each assertion that does not hold.
//! Invariant: what `want.yaml` does not mention is not looked at.
//!
//! A map asserts the keys it names.  A list asserts its length and each element.  `<present>` and `<absent>` assert only
//! that; `{<has>: [a, b]}` asserts that a list has elements like a and b, `{<lacks>: [a]}` that it has none like a.

use serde_json::Value;

use crate::compare::{same, short};

/// The assertions of the variant that comes nearest; empty when one variant holds.
pub fn unmet(variants: &[Value], got: &Value) -> Vec<String> {
    let each = variants.iter().map(|want| {
        let mut lines = Vec::new();
        check(want, Some(got), "want:", &mut lines);
        lines
    });
    each.min_by_key(Vec::len).unwrap_or_else(|| vec!["want.yaml is missing".to_owned()])
}

fn check(want: &Value, got: Option<&Value>, path: &str, lines: &mut Vec<String>) {
    match (want, got) {
        (Value::String(word), _) if word == "<absent>" => {
            if let Some(got) = got.filter(|got| !got.is_null()) {
                lines.push(format!("+ {path}: {}", short(got)));
            }
        }
        (_, None) => lines.push(format!("- {path}: {}", short(want))),
        (Value::String(word), Some(got)) if word == "<present>" => {
            if got.is_null() {
                lines.push(format!("- {path}"));
            }
        }
        (Value::Object(map), Some(Value::Array(items))) => elements(map, items, path, lines),
        (Value::Object(map), Some(got)) if got.is_object() => {
            for (key, inner) in map {
                check(inner, got.get(key), &format!("{path}/{key}"), lines);
            }
        }
        (Value::Array(want), Some(Value::Array(got))) if want.len() == got.len() => {
            for (i, (want, got)) in want.iter().zip(got).enumerate() {
                check(want, Some(got), &format!("{path}[{i}]"), lines);
            }
        }
        (want, Some(got)) if same(want, got) => {}
        (want, Some(got)) => lines.push(format!("~ {path}: expected {}, got {}", short(want), short(got))),
    }
}

fn elements(rules: &serde_json::Map<String, Value>, items: &[Value], path: &str, lines: &mut Vec<String>) {
    let like = |want: &Value| {
        items.iter().any(|item| {
            let mut unmet = Vec::new();
            check(want, Some(item), path, &mut unmet);
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
