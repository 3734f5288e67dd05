//! Keeps the live values of ignored fields in what a sync applies (`RespectIgnoreDifferences=true`).
//!
//! In:  a desired and a live object, the comparer whose rules say what is ignored.
//! Out: the desired object with ignored fields as they are live, or without them where they are not live.
//! Invariant: a field that no rule ignores comes from git, in list items too; `status` is never taken from live.
//! Source: DIFF-086, SYNC-210 (`controller/sync.go` normalizeTargetResources). Argo CD takes whole live lists where a
//! rule reaches into a list without merge keys, so that changes in git get lost; here only the ignored fields are taken.

use std::collections::BTreeSet;

use serde_json::{Map, Value};

use super::ignore::OwnRules;
use super::{Comparer, Error, smd};

type Object = Map<String, Value>;

/// A value and what the rules leave of it.
struct Side<'a, T: ?Sized> {
    full: &'a T,
    rest: &'a T,
}

/// The object to apply.
pub fn respect_ignored(target: &Value, live: &Value, comparer: &Comparer) -> Result<Value, Error> {
    let ignore = &comparer.normalizer.ignore;
    let managers = ignore.managers(target);
    let (target_rest, live_rest) = smd::without_managed(target, live, &managers);
    let own = OwnRules::of(target);
    let (target_rest, live_rest) = (ignore.apply_with(target_rest, &own), ignore.apply_with(live_rest, &own));
    let without_status = |value: &Value| {
        let mut map = super::object(value)?;
        map.remove("status");
        Ok::<_, Error>(map)
    };
    let (live, live_rest) = (without_status(live)?, without_status(&live_rest)?);
    let target_rest = super::object(&target_rest)?;
    let git = Side { full: &super::object(target)?, rest: &target_rest };
    Ok(maps(git, Side { full: &live, rest: &live_rest }).into())
}

fn maps(git: Side<'_, Object>, live: Side<'_, Object>) -> Object {
    let keys: BTreeSet<&String> = git.full.keys().chain(live.full.keys()).collect();
    let mut merged = Object::new();
    for key in keys {
        let value = match (live.full.get(key), live.rest.get(key)) {
            (Some(full), None) => Some(full.clone()),
            (Some(full), Some(rest)) if full != rest => {
                partly_ignored((git.full.get(key), git.rest.get(key)), Side { full, rest })
            }
            _ => git.rest.get(key).cloned(),
        };
        merged.extend(value.map(|value| (key.clone(), value)));
    }
    merged
}

/// A value of which the rules ignore a part. Where git has nothing, only the ignored part is kept.
fn partly_ignored((full, rest): (Option<&Value>, Option<&Value>), live: Side<'_, Value>) -> Option<Value> {
    let empty = match live.full {
        Value::Object(_) => Value::Object(Object::new()),
        Value::Array(_) => Value::Array(Vec::new()),
        _ => return Some(live.full.clone()),
    };
    let git = Side { full: full.unwrap_or(&empty), rest: rest.unwrap_or(&empty) };
    let merged = values(git, live);
    let is_empty = merged == empty;
    (full.is_some() || !is_empty).then_some(merged)
}

fn values(git: Side<'_, Value>, live: Side<'_, Value>) -> Value {
    if live.full == live.rest {
        return git.rest.clone();
    }
    match (git.full, git.rest, live.full, live.rest) {
        (Value::Object(full), Value::Object(rest), Value::Object(live_full), Value::Object(live_rest)) => {
            maps(Side { full, rest }, Side { full: live_full, rest: live_rest }).into()
        }
        (Value::Array(full), Value::Array(rest), Value::Array(live_full), Value::Array(live_rest)) => {
            let live = Side { full: live_full.as_slice(), rest: live_rest.as_slice() };
            lists(Side { full: full.as_slice(), rest: rest.as_slice() }, live).into()
        }
        _ => live.full.clone(),
    }
}

fn lists(git: Side<'_, [Value]>, live: Side<'_, [Value]>) -> Vec<Value> {
    // A list whose remains cannot be told from its items is taken as a whole, like a value that a rule edits.
    let (Some(git_items), Some(live_items)) = (align(&git), align(&live)) else { return live.full.to_vec() };
    let key = identity(git.full, live.full);
    let id = |item: &Value| key.and_then(|key| item.get(key)).cloned();
    let mut merged = Vec::new();
    for (index, (full, rest)) in git_items.iter().enumerate() {
        let Some(rest) = rest else { continue };
        let found = match key {
            Some(_) => live_items.iter().find(|(other, _)| id(other) == id(full)),
            None => live_items.get(index),
        };
        merged.push(match found {
            Some((live_full, Some(live_rest))) => {
                values(Side { full, rest }, Side { full: live_full, rest: live_rest })
            }
            _ => (*rest).clone(),
        });
    }
    for (index, (full, rest)) in live_items.iter().enumerate() {
        if rest.is_none() {
            merged.insert(index.min(merged.len()), (*full).clone());
        }
    }
    merged
}

/// Pairs each item with what is left of it; nothing when an item is gone.
fn align<'a>(side: &Side<'a, [Value]>) -> Option<Vec<(&'a Value, Option<&'a Value>)>> {
    if side.full.len() == side.rest.len() {
        return Some(side.full.iter().zip(side.rest.iter().map(Some)).collect());
    }
    let mut rest = side.rest.iter().peekable();
    let pairs = side.full.iter().map(|full| (full, rest.next_if(|rest| is_left_of(rest, full)))).collect();
    rest.next().is_none().then_some(pairs)
}

/// Whether `rest` is `full` with some fields removed.
fn is_left_of(rest: &Value, full: &Value) -> bool {
    match (rest, full) {
        (Value::Object(rest), Value::Object(full)) => {
            rest.iter().all(|(key, rest)| full.get(key).is_some_and(|full| is_left_of(rest, full)))
        }
        (Value::Array(rest), Value::Array(full)) if rest.len() == full.len() => {
            rest.iter().zip(full).all(|(rest, full)| is_left_of(rest, full))
        }
        (Value::Array(rest), Value::Array(full)) => rest.len() < full.len(),
        _ => rest == full,
    }
}

/// Fields by which Kubernetes lists usually tell their items apart.
const IDENTITIES: [&str; 9] =
    ["name", "key", "id", "containerPort", "port", "mountPath", "devicePath", "ip", "topologyKey"];

/// The field that tells the items of both lists apart, where one does.
fn identity(git: &[Value], live: &[Value]) -> Option<&'static str> {
    let unique = |list: &[Value], key: &str| {
        let ids: Vec<&Value> = list.iter().filter_map(|item| item.get(key)).collect();
        let repeated = ids.iter().enumerate().any(|(index, id)| ids.iter().skip(index + 1).any(|other| other == id));
        ids.len() == list.len() && !repeated
    };
    IDENTITIES.into_iter().find(|key| unique(git, key) && unique(live, key))
}
