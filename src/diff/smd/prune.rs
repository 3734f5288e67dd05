//! Removes fields from a value by a tree of paths.
//!
//! In:  a value, its place, what to remove and what must stay.
//! Out: the value without those fields; lists and maps that become empty go with their last member.
//! Source: DIFF-044, DIFF-083 (structured-merge-diff 6.4.0 `merge/update.go` prune, `typed/remove.go`).

use serde_json::{Map, Value};

use super::place::Place;
use crate::diff::fields::{Fields, field_step};

/// Removes what `last` names and `kept` does not. A place of which anything is kept stays itself.
pub fn prune(value: Value, place: Place<'_>, last: &Fields, kept: Option<&Fields>) -> Value {
    each_child(value, place, &|step, child, place| {
        let Some(last) = last.children.get(step) else { return Some(child) };
        let kept = kept.and_then(|kept| kept.children.get(step))?;
        Some(prune(child, place, last, Some(kept)))
    })
}

/// Removes the owned places of `fields`.
pub fn remove(value: Value, place: Place<'_>, fields: &Fields) -> Value {
    each_child(value, place, &|step, child, place| match fields.children.get(step) {
        None => Some(child),
        Some(fields) if fields.owned => None,
        Some(fields) => {
            let had = is_full(&child);
            let rest = remove(child, place, fields);
            (!had || is_full(&rest)).then_some(rest)
        }
    })
}

fn is_full(value: &Value) -> bool {
    match value {
        Value::Object(map) => !map.is_empty(),
        Value::Array(items) => !items.is_empty(),
        _ => true,
    }
}

/// Rebuilds a value from what `keep` returns for each of its children.
fn each_child(value: Value, place: Place<'_>, keep: &dyn Fn(&str, Value, Place<'_>) -> Option<Value>) -> Value {
    match value {
        Value::Object(map) if !place.is_atomic_map() => {
            let mut rest = Map::new();
            for (name, child) in map {
                let child = match place.field(&name) {
                    Some(place) => keep(&field_step(&name), child, place),
                    None => Some(child),
                };
                rest.extend(child.map(|child| (name, child)));
            }
            rest.into()
        }
        Value::Array(list) => {
            let Some(steps) = place.steps(&place.items(), &list) else { return list.into() };
            let children = steps.iter().zip(list).filter_map(|(step, item)| keep(step, item, place.item(step)));
            children.collect::<Vec<_>>().into()
        }
        other => other,
    }
}

/// The places that both trees own.
pub fn intersection(left: &Fields, right: &Fields) -> Fields {
    let mut both = Fields { owned: left.owned && right.owned, ..Fields::default() };
    for (step, left) in &left.children {
        let Some(right) = right.children.get(step) else { continue };
        let child = intersection(left, right);
        if !child.is_empty() {
            both.children.insert(step.clone(), child);
        }
    }
    both
}
