//! Merges a desired object into a live one by schema, and finds the fields an object sets.
//!
//! In:  two values and their place.
//! Out: the merged value, a tree of set fields, or a tree of fields that differ.
//! Source: DIFF-044 (structured-merge-diff 6.4.0 `typed/merge.go`, `typed/tofieldset.go`, `typed/compare.go`).

use serde_json::Value;

use super::place::{Items, Place};
use crate::diff::fields::{Fields, field_step};

/// The live value with the desired one merged in.
pub fn merge(live: &Value, target: &Value, place: Place<'_>) -> Value {
    match (live, target) {
        (Value::Object(live), Value::Object(target)) if !place.is_atomic_map() => {
            let mut merged = live.clone();
            for (name, target) in target {
                let value = match (live.get(name), place.field(name)) {
                    (Some(live), Some(place)) => merge(live, target, place),
                    _ => target.clone(),
                };
                merged.insert(name.clone(), value);
            }
            merged.into()
        }
        (Value::Array(live), Value::Array(target)) => merge_lists(live, target, place),
        _ => target.clone(),
    }
}

/// Items only the live list has stay where they stand between shared items; the desired order wins otherwise.
fn merge_lists(live: &[Value], target: &[Value], place: Place<'_>) -> Value {
    let items = place.items();
    let steps = (place.steps(&items, live), place.steps(&items, target));
    let (Some(live_steps), Some(target_steps)) = steps else { return target.to_vec().into() };
    let mut shared = target_steps.iter().filter(|step| live_steps.contains(step)).peekable();
    let (mut left, mut right) = (0, 0);
    let mut merged = Vec::new();
    loop {
        match (live_steps.get(left), target_steps.get(right)) {
            (None, None) => return merged.into(),
            (Some(mine), Some(theirs)) if mine == theirs => {
                merged.extend(merged_item((live, &live_steps), (target, right), theirs, place));
                if shared.peek() == Some(&theirs) {
                    shared.next();
                }
                left += 1;
                right += 1;
            }
            (Some(mine), Some(_)) if target_steps.contains(mine) && shared.peek().is_some_and(|next| *next != mine) => {
                left += 1;
            }
            (Some(mine), _) if !target_steps.contains(mine) => {
                merged.extend(live.get(left).cloned());
                left += 1;
            }
            (_, Some(theirs)) => {
                merged.extend(merged_item((live, &live_steps), (target, right), theirs, place));
                if shared.peek() == Some(&theirs) {
                    shared.next();
                }
                right += 1;
            }
            (Some(_), None) => left += 1,
        }
    }
}

fn merged_item(
    (live, live_steps): (&[Value], &[String]),
    (target, right): (&[Value], usize),
    step: &String,
    place: Place<'_>,
) -> Option<Value> {
    let target = target.get(right)?;
    let found = live_steps.iter().position(|other| other == step).and_then(|at| live.get(at));
    Some(found.map_or_else(|| target.clone(), |live| merge(live, target, place.item(step))))
}

/// The fields that a value sets.
pub fn field_set(value: &Value, place: Place<'_>) -> Fields {
    let mut set = Fields::default();
    match value {
        Value::Object(map) if !place.is_atomic_map() && !map.is_empty() => {
            for (name, value) in map {
                let mut child = place.field(name).map(|place| field_set(value, place)).unwrap_or_default();
                child.owned |= place.is_open_map();
                set.children.insert(field_step(name), child);
            }
        }
        Value::Array(list) if !list.is_empty() => {
            let items = place.items();
            match place.steps(&items, list) {
                Some(steps) => {
                    for (step, item) in steps.into_iter().zip(list) {
                        let mut child = match items {
                            Items::Keyed(_) => field_set(item, place.item(&step)),
                            _ => Fields::default(),
                        };
                        child.owned = true;
                        set.children.insert(step, child);
                    }
                }
                None => set.owned = true,
            }
        }
        _ => set.owned = true,
    }
    set
}

/// The fields that both values have and that differ.
pub fn modified(left: &Value, right: &Value, place: Place<'_>) -> Fields {
    let mut found = Fields::default();
    match (left, right) {
        (Value::Object(left), Value::Object(right)) if !place.is_atomic_map() => {
            for (name, right) in right {
                let child = left.get(name).zip(place.field(name)).map(|(left, place)| modified(left, right, place));
                insert(&mut found, field_step(name), child);
            }
        }
        (Value::Array(left), Value::Array(right)) => {
            let items = place.items();
            match (place.steps(&items, left), place.steps(&items, right)) {
                (Some(left_steps), Some(right_steps)) => {
                    for (step, right) in right_steps.into_iter().zip(right) {
                        let left = left_steps.iter().position(|other| *other == step).and_then(|at| left.get(at));
                        let child = left.map(|left| modified(left, right, place.item(&step)));
                        insert(&mut found, step, child);
                    }
                }
                _ => found.owned = left != right,
            }
        }
        _ => found.owned = left != right,
    }
    found
}

fn insert(found: &mut Fields, step: String, child: Option<Fields>) {
    if let Some(child) = child.filter(|child| !child.is_empty()) {
        found.children.insert(step, child);
    }
}
