//! Merges a strategic merge patch into an object, or into another patch.
//!
//! In:  the object or earlier patch, the patch, their type.
//! Out: the patched object with all directives obeyed, or the union of both patches with directives kept.
//! Source: DIFF-037 (apimachinery 0.36.1 `strategicpatch/patch.go` mergeMap, mergeSlice).

use serde_json::Value;

use super::lists::{self, keyed};
use super::{DELETE_LIST, DIRECTIVE, Error, Kind, Object, RETAIN_KEYS, Rule, SET_ORDER};
use super::{kind, list_rule, map_rule};
use crate::diff::schema::Shape;

/// What is merged.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Mode {
    /// A patch into an object: directives are obeyed, unmatched nulls dropped.
    Apply,
    /// A patch into a patch: directives are kept.
    Patches,
}

/// Merges `patch` into `original`.
pub fn maps(mut original: Object, mut patch: Object, ty: Shape, mode: Mode) -> Result<Object, Error> {
    if let Some(directive) = patch.remove(DIRECTIVE) {
        return match directive.as_str() {
            Some("replace") => Ok(patch),
            Some("delete") => Ok(Object::new()),
            _ => Err(Error::BadDirective(directive.to_string())),
        };
    }
    retain_keys(&mut original, &mut patch, mode)?;
    ordered_lists(&mut original, &mut patch, ty, mode)?;
    for (key, value) in patch {
        let deletes = key.starts_with(DELETE_LIST);
        if deletes && mode == Mode::Patches {
            original.insert(key, value);
            continue;
        }
        let name = if deletes {
            key.strip_prefix(DELETE_LIST).and_then(|rest| rest.strip_prefix('/')).ok_or(Error::BadDeleteList)?
        } else {
            key.as_str()
        };
        field(&mut original, (name, value, deletes), ty, mode)?;
    }
    Ok(original)
}

fn field(
    original: &mut Object,
    (name, value, deletes): (&str, Value, bool),
    ty: Shape,
    mode: Mode,
) -> Result<(), Error> {
    if value.is_null() {
        original.remove(name);
        if mode == Mode::Patches && !deletes {
            original.insert(name.to_owned(), Value::Null);
        }
        return Ok(());
    }
    let same_kind = original.get(name).map(|old| kind(old) == kind(&value));
    if same_kind != Some(true) {
        if !deletes {
            let value = if mode == Mode::Apply { without_nulls(value) } else { value };
            put_or_remove(original, name, without_directives(value));
        }
        return Ok(());
    }
    let merged = match (original.remove(name), value) {
        (Some(Value::Object(old)), Value::Object(new)) => {
            let rule = map_rule(ty, name)?;
            let merged = if rule.replace { new } else { maps(old, new, rule.ty, mode)? };
            Some(merged.into())
        }
        (Some(Value::Array(old)), Value::Array(new)) => {
            let rule = list_rule(ty, name)?;
            Some(list(old, new, &rule, (deletes, mode))?.into())
        }
        (_, new) => without_directives(new),
    };
    put_or_remove(original, name, merged);
    Ok(())
}

fn put_or_remove(map: &mut Object, name: &str, value: Option<Value>) {
    match value {
        Some(value) => map.insert(name.to_owned(), value),
        None => map.remove(name),
    };
}

fn retain_keys(original: &mut Object, patch: &mut Object, mode: Mode) -> Result<(), Error> {
    let Some(keys) = patch.remove(RETAIN_KEYS) else { return Ok(()) };
    if mode == Mode::Patches {
        return match original.get(RETAIN_KEYS) {
            Some(old) if *old != keys => Err(Error::BadRetainKeys),
            Some(_) => Ok(()),
            None => {
                original.insert(RETAIN_KEYS.to_owned(), keys);
                Ok(())
            }
        };
    }
    let keys = keys.as_array().ok_or(Error::BadRetainKeys)?;
    let kept = |name: &str| keys.iter().any(|key| key.as_str() == Some(name));
    let stray = patch.iter().any(|(name, value)| {
        !value.is_null() && !name.starts_with(DELETE_LIST) && !name.starts_with(SET_ORDER) && !kept(name)
    });
    if stray {
        return Err(Error::BadRetainKeys);
    }
    original.retain(|name, _| kept(name));
    Ok(())
}

/// Merges the lists that a `$setElementOrder` directive orders.
fn ordered_lists(original: &mut Object, patch: &mut Object, ty: Shape, mode: Mode) -> Result<(), Error> {
    let directives: Vec<String> = patch.keys().filter(|key| key.starts_with(SET_ORDER)).cloned().collect();
    for directive in directives {
        let Some(order) = patch.remove(&directive) else { continue };
        if mode == Mode::Patches {
            let known = original.entry(directive.clone()).or_insert_with(|| order.clone());
            if *known != order {
                return Err(Error::BadSetOrder);
            }
        }
        let Value::Array(order) = order else { return Err(Error::NotMap(super::kind_name(&order))) };
        let name = directive.strip_prefix(SET_ORDER).and_then(|rest| rest.strip_prefix('/'));
        ordered_list(original, patch, (name.ok_or(Error::BadSetOrder)?, &order), (ty, mode))?;
    }
    Ok(())
}

fn ordered_list(
    original: &mut Object,
    patch: &mut Object,
    (name, order): (&str, &[Value]),
    (ty, mode): (Shape, Mode),
) -> Result<(), Error> {
    let old = original.get(name).map(as_list).transpose()?;
    let new = patch.get(name).map(as_list).transpose()?;
    let rule = list_rule(ty, name)?;
    let key = rule.merge_key.filter(|key| !key.is_empty());
    check_order(new.as_deref().unwrap_or_default(), order, key)?;
    let merged = match (old.clone(), new.clone()) {
        (None, None) => return Ok(()),
        (Some(old), None) => old,
        (None, Some(new)) => match without_directives(new.into()) {
            Some(Value::Array(kept)) => kept,
            _ => return Ok(()),
        },
        (Some(old), Some(new)) => list(old, new, &rule, (false, mode))?,
    };
    let (mine, servers) = lists::partition(merged, order, key)?;
    let old = old.unwrap_or_default();
    lists::element_kind(&[&old, &new.unwrap_or_default()])?;
    original.insert(name.to_owned(), lists::interleave((mine, servers), order, &old, key)?.into());
    patch.remove(name);
    Ok(())
}

fn as_list(value: &Value) -> Result<Vec<Value>, Error> {
    value.as_array().cloned().ok_or_else(|| Error::NotMap(super::kind_name(value)))
}

/// Refuses a patch whose items stand in another order than its `$setElementOrder` list says.
fn check_order(items: &[Value], order: &[Value], key: Option<&str>) -> Result<(), Error> {
    if items.is_empty() || order.is_empty() {
        return Ok(());
    }
    let mut places = order.iter();
    for item in items.iter().filter(|item| item.get(DIRECTIVE).is_none()) {
        let found = match key {
            Some(key) => {
                let id = keyed(item, key)?.1;
                places.any(|place| place.get(key) == Some(id))
            }
            None => places.any(|place| place == item),
        };
        if !found {
            return Err(Error::BadSetOrder);
        }
    }
    Ok(())
}

fn list(old: Vec<Value>, new: Vec<Value>, rule: &Rule, (deletes, mode): (bool, Mode)) -> Result<Vec<Value>, Error> {
    if rule.merge_key.is_none() && !deletes {
        return Ok(new);
    }
    if old.is_empty() && new.is_empty() {
        return Ok(old);
    }
    let key = rule.merge_key.filter(|key| !key.is_empty());
    if lists::element_kind(&[&old, &new])? != Kind::Map {
        if mode == Mode::Apply && deletes {
            return Ok(old.into_iter().filter(|item| !new.contains(item)).collect());
        }
        let mut merged = old.clone();
        merged.extend(new.iter().cloned());
        lists::deduplicate(&mut merged);
        let parts = lists::partition(merged, &new, key)?;
        return lists::interleave(parts, &new, &old, key);
    }
    let key = key.ok_or(Error::NoKey)?;
    let (old, new) = obey_directives(old, new, key)?;
    let mut merged = old.clone();
    for item in &new {
        let (patch, id) = keyed(item, key)?;
        match merged.iter_mut().find(|other| other.get(key) == Some(id)) {
            Some(slot) => {
                let Value::Object(target) = slot.take() else { return Err(Error::NotMap("string")) };
                *slot = maps(target, patch.clone(), rule.ty, mode)?.into();
            }
            None => merged.push(item.clone()),
        }
    }
    let parts = lists::partition(merged, &new, Some(key))?;
    lists::interleave(parts, &new, &old, Some(key))
}

/// Takes `$patch` items out of the patch and does what they say to the original.
fn obey_directives(mut old: Vec<Value>, new: Vec<Value>, key: &str) -> Result<(Vec<Value>, Vec<Value>), Error> {
    let (mut rest, mut replace) = (Vec::new(), false);
    for item in new {
        match item.get(DIRECTIVE).map(|directive| directive.as_str().unwrap_or_default()) {
            None => rest.push(item),
            Some("delete") => {
                let id = keyed(&item, key)?.1;
                old.retain(|other| other.get(key) != Some(id));
            }
            Some("replace") => replace = true,
            Some(other) => return Err(Error::BadDirective(other.to_owned())),
        }
    }
    if replace { Ok((rest, Vec::new())) } else { Ok((old, rest)) }
}

/// The value without directives; nothing when the value itself is one.
fn without_directives(value: Value) -> Option<Value> {
    match value {
        Value::Object(map) if map.contains_key(DIRECTIVE) => None,
        Value::Object(map) => Some(Value::Object(
            map.into_iter().filter_map(|(key, value)| without_directives(value).map(|value| (key, value))).collect(),
        )),
        Value::Array(items) => Some(items.into_iter().filter_map(without_directives).collect::<Vec<_>>().into()),
        other => Some(other),
    }
}

/// The value without null members of its objects; nulls in lists stay.
fn without_nulls(value: Value) -> Value {
    match value {
        Value::Object(map) => Value::Object(
            map.into_iter()
                .filter(|(_, value)| !value.is_null())
                .map(|(key, value)| (key, without_nulls(value)))
                .collect(),
        ),
        Value::Array(items) => Value::Array(items.into_iter().map(without_nulls).collect()),
        other => other,
    }
}
