//! JSON merge patches (RFC 7396), two-way and three-way, for kinds that have no strategic merge.
//!
//! In:  JSON values.
//! Out: patches and patched values.
//! Invariant: inputs are never changed.
//! Source: DIFF-038, DIFF-039 (apimachinery 0.36.1 `jsonmergepatch`, evanphx/json-patch 5.9.11 `merge.go`).

use serde_json::{Map, Value};

/// Why a three-way patch could not be made.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum Error {
    /// What git changes overlaps with what git removes.
    #[error("patch contains conflicting additions and deletions")]
    Conflict,
}

/// Applies a merge patch. Null members remove; a patch that is no object replaces the target.
pub fn merge_patch(target: &Value, patch: &Value) -> Value {
    match (target, patch) {
        (Value::Object(target), Value::Object(patch)) => {
            let mut merged = target.clone();
            merge_into(&mut merged, patch);
            merged.into()
        }
        _ => without_nulls(patch),
    }
}

fn merge_into(target: &mut Map<String, Value>, patch: &Map<String, Value>) {
    for (key, new) in patch {
        match (target.get_mut(key), new) {
            (_, Value::Null) => {
                target.remove(key);
            }
            (Some(Value::Object(old)), Value::Object(new)) => merge_into(old, new),
            _ => {
                target.insert(key.clone(), without_nulls(new));
            }
        }
    }
}

fn without_nulls(value: &Value) -> Value {
    match value {
        Value::Object(map) => Value::Object(
            map.iter()
                .filter(|(_, value)| !value.is_null())
                .map(|(key, value)| (key.clone(), without_nulls(value)))
                .collect(),
        ),
        Value::Array(items) => Value::Array(items.iter().map(without_nulls).collect()),
        other => other.clone(),
    }
}

/// The merge patch that turns `old` into `new`; nothing when they are equal. Lists are replaced as a whole.
pub fn create_merge_patch(old: &Value, new: &Value) -> Option<Value> {
    match (old, new) {
        (Value::Object(old), Value::Object(new)) => {
            let patch = difference(old, new);
            (!patch.is_empty()).then(|| patch.into())
        }
        _ => (old != new).then(|| new.clone()),
    }
}

fn difference(old: &Map<String, Value>, new: &Map<String, Value>) -> Map<String, Value> {
    let mut patch = Map::new();
    for (key, new) in new {
        match (old.get(key), new) {
            (Some(Value::Object(old)), Value::Object(new)) => {
                let inner = difference(old, new);
                if !inner.is_empty() {
                    patch.insert(key.clone(), inner.into());
                }
            }
            (Some(old), new) if same(old, new) => {}
            _ => {
                patch.insert(key.clone(), new.clone());
            }
        }
    }
    for key in old.keys().filter(|key| !new.contains_key(*key)) {
        patch.insert(key.clone(), Value::Null);
    }
    patch
}

/// Equality with numbers as Go's decoder reads them here: as 64-bit floats, so large integers may coincide.
fn same(left: &Value, right: &Value) -> bool {
    match (left, right) {
        (Value::Number(left), Value::Number(right)) => left.as_f64() == right.as_f64(),
        (Value::Array(left), Value::Array(right)) => {
            left.len() == right.len() && left.iter().zip(right).all(|(left, right)| same(left, right))
        }
        (Value::Object(left), Value::Object(right)) => {
            left.len() == right.len()
                && left.iter().all(|(key, left)| right.get(key).is_some_and(|right| same(left, right)))
        }
        _ => left == right,
    }
}

/// The three-way patch: what `current` lacks of `modified`, and null for what `original` had and `modified` dropped.
pub fn three_way(
    original: &Map<String, Value>,
    modified: &Map<String, Value>,
    current: &Map<String, Value>,
) -> Result<Map<String, Value>, Error> {
    let additions = keep(&difference(current, modified), false);
    let mut patch = keep(&difference(original, modified), true);
    if conflicts(&Value::Object(additions.clone()), &Value::Object(patch.clone())) {
        return Err(Error::Conflict);
    }
    add(&mut patch, &additions);
    Ok(patch)
}

/// The patch that removes what `original` had and `modified` dropped.
pub fn deletions(original: &Map<String, Value>, modified: &Map<String, Value>) -> Map<String, Value> {
    keep(&difference(original, modified), true)
}

/// Only the nulls of a patch, or only the rest. Empty objects belong to the rest.
fn keep(patch: &Map<String, Value>, nulls: bool) -> Map<String, Value> {
    let mut kept = Map::new();
    for (key, value) in patch {
        match value {
            Value::Null if nulls => {
                kept.insert(key.clone(), Value::Null);
            }
            Value::Null => {}
            Value::Object(map) if !map.is_empty() => {
                let inner = keep(map, nulls);
                if !inner.is_empty() {
                    kept.insert(key.clone(), inner.into());
                }
            }
            other if !nulls => {
                kept.insert(key.clone(), other.clone());
            }
            _ => {}
        }
    }
    kept
}

/// Adds values to a patch of nulls without taking its nulls for removals.
fn add(patch: &mut Map<String, Value>, additions: &Map<String, Value>) {
    for (key, new) in additions {
        match (patch.get_mut(key), new) {
            (Some(Value::Object(old)), Value::Object(new)) => add(old, new),
            _ => {
                patch.insert(key.clone(), without_nulls(new));
            }
        }
    }
}

fn conflicts(left: &Value, right: &Value) -> bool {
    match (left, right) {
        (Value::Object(left), Value::Object(right)) => {
            left.iter().any(|(key, left)| right.get(key).is_some_and(|right| conflicts(left, right)))
        }
        (Value::Array(left), Value::Array(right)) => {
            left.len() != right.len() || left.iter().zip(right).any(|(left, right)| conflicts(left, right))
        }
        _ => left != right,
    }
}

/// Reduces `live` to what `config` names: objects by key, lists by index, further list items kept.
pub fn reduce(config: &Value, live: &Value) -> Value {
    match (config, live) {
        (Value::Object(config), Value::Object(live)) => reduce_map(config, live).into(),
        (Value::Array(config), Value::Array(live)) => reduce_list(config, live).into(),
        _ => live.clone(),
    }
}

/// [`reduce`] for objects.
pub fn reduce_map(config: &Map<String, Value>, live: &Map<String, Value>) -> Map<String, Value> {
    config.iter().filter_map(|(key, config)| live.get(key).map(|live| (key.clone(), reduce(config, live)))).collect()
}

/// [`reduce`] for lists.
pub fn reduce_list(config: &[Value], live: &[Value]) -> Vec<Value> {
    live.iter()
        .enumerate()
        .map(|(index, live)| config.get(index).map_or_else(|| live.clone(), |config| reduce(config, live)))
        .collect()
}
