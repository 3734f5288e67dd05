//! Computes a strategic merge patch between two objects.
//!
//! In:  the original and the modified object, their type, what to leave out.
//! Out: the patch with `$patch`, `$setElementOrder`, `$deleteFromPrimitiveList` and `$retainKeys` directives.
//! Source: DIFF-037 (apimachinery 0.36.1 `strategicpatch/patch.go` diffMaps, diffLists).

use serde_json::Value;

use super::lists::{self, by_key_text};
use super::{DELETE_LIST, DIRECTIVE, Error, Kind, Object, RETAIN_KEYS, Rule, SET_ORDER};
use super::{list_rule, map_rule, text};
use crate::diff::schema::Shape;

/// What a patch leaves out and adds.
#[derive(Debug, Clone, Copy, Default)]
pub struct Options {
    /// Adds `$setElementOrder` lists.
    pub set_order: bool,
    /// Leaves changed and added values out.
    pub ignore_additions: bool,
    /// Leaves deletions out.
    pub ignore_deletions: bool,
    /// Adds `$retainKeys` to this level.
    pub retain_keys: bool,
}

/// The three lists that a merging list's difference becomes.
#[derive(Default)]
struct ListPatch {
    items: Vec<Value>,
    deleted: Vec<Value>,
    order: Vec<Value>,
}

/// The patch from `original` to `modified`.
pub fn maps(original: &Object, modified: &Object, ty: Shape, options: Options) -> Result<Object, Error> {
    let mut patch = Object::new();
    for (key, new) in modified {
        let Some(old) = original.get(key) else {
            if !options.ignore_additions {
                patch.insert(key.clone(), new.clone());
            }
            continue;
        };
        if key == DIRECTIVE {
            directive(old, new, &mut patch)?;
            continue;
        }
        match (old, new) {
            (Value::Object(old), Value::Object(new)) => field_map(key, (old, new), &mut patch, (ty, options))?,
            (Value::Array(old), Value::Array(new)) => field_list(key, (old, new), &mut patch, (ty, options))?,
            _ if !options.ignore_additions && old != new => {
                patch.insert(key.clone(), new.clone());
            }
            _ => {}
        }
    }
    if !options.ignore_deletions {
        for key in original.keys().filter(|key| !modified.contains_key(*key)) {
            patch.insert(key.clone(), Value::Null);
        }
    }
    if options.retain_keys {
        retain_keys(original, modified, &mut patch);
    }
    Ok(patch)
}

fn directive(old: &Value, new: &Value, patch: &mut Object) -> Result<(), Error> {
    match (old, new) {
        (Value::String(old), Value::String(new)) => {
            if old != new {
                patch.insert(DIRECTIVE.to_owned(), new.clone().into());
            }
            Ok(())
        }
        _ => Err(Error::BadDirective(new.to_string())),
    }
}

fn retain_keys(original: &Object, modified: &Object, patch: &mut Object) {
    let mut keys: Vec<Value> =
        modified.iter().filter(|(_, value)| !value.is_null()).map(|(key, _)| key.clone().into()).collect();
    let dropped = original.iter().any(|(key, value)| !value.is_null() && !modified.contains_key(key));
    if !keys.is_empty() && (!patch.is_empty() || dropped) {
        keys.sort_by_key(|key| text(Some(key)));
        patch.insert(RETAIN_KEYS.to_owned(), keys.into());
    }
}

fn field_map(
    key: &str,
    (old, new): (&Object, &Object),
    patch: &mut Object,
    (ty, options): (Shape, Options),
) -> Result<(), Error> {
    let rule = match map_rule(ty, key) {
        Ok(rule) => rule,
        Err(_) if old == new => return Ok(()),
        Err(error) => return Err(error),
    };
    if rule.replace {
        if !options.ignore_additions {
            patch.insert(key.to_owned(), new.clone().into());
        }
        return Ok(());
    }
    let inner = maps(old, new, rule.ty, Options { retain_keys: rule.retain_keys, ..options })?;
    if !inner.is_empty() {
        patch.insert(key.to_owned(), inner.into());
    }
    Ok(())
}

fn field_list(
    key: &str,
    (old, new): (&[Value], &[Value]),
    patch: &mut Object,
    (ty, options): (Shape, Options),
) -> Result<(), Error> {
    let rule = match list_rule(ty, key) {
        Ok(rule) => rule,
        Err(_) if old == new => return Ok(()),
        Err(error) => return Err(error),
    };
    let Some(merge_key) = rule.merge_key else {
        if !options.ignore_additions && old != new {
            patch.insert(key.to_owned(), new.to_vec().into());
        }
        return Ok(());
    };
    let options = Options { retain_keys: rule.retain_keys, ..options };
    let lists = merging_lists((old, new), &rule, merge_key, options)?;
    let mut put = |name: String, list: Vec<Value>| {
        if !list.is_empty() {
            patch.insert(name, list.into());
        }
    };
    put(key.to_owned(), lists.items);
    put(format!("{DELETE_LIST}/{key}"), lists.deleted);
    put(format!("{SET_ORDER}/{key}"), lists.order);
    Ok(())
}

fn merging_lists(
    (old, new): (&[Value], &[Value]),
    rule: &Rule,
    merge_key: &str,
    options: Options,
) -> Result<ListPatch, Error> {
    if old.is_empty() {
        let items = if options.ignore_additions { Vec::new() } else { new.to_vec() };
        return Ok(ListPatch { items, ..ListPatch::default() });
    }
    match lists::element_kind(&[old, new])? {
        Kind::Map => lists_of_maps((old, new), rule, merge_key, options),
        Kind::List => Err(Error::ListOfLists),
        _ => Ok(lists_of_scalars(old, new, options)),
    }
}

fn lists_of_maps(
    (old, new): (&[Value], &[Value]),
    rule: &Rule,
    merge_key: &str,
    options: Options,
) -> Result<ListPatch, Error> {
    let (mut items, deleted) = map_items((old, new), rule.ty, merge_key, options)?;
    lists::sort_by_order(&mut items, new, merge_key)?;
    let mut same_order = old.len() == new.len();
    for (old, new) in old.iter().zip(new) {
        same_order = same_order && lists::keyed(old, merge_key)?.1 == lists::keyed(new, merge_key)?.1;
    }
    items.extend(deleted);
    let changed = !options.ignore_additions && (!items.is_empty() || !same_order);
    let dropped = !options.ignore_deletions && !items.is_empty();
    let mut order = Vec::new();
    if options.set_order && (changed || dropped) {
        for item in new {
            order.push(single(merge_key, lists::keyed(item, merge_key)?.1.clone()).into());
        }
    }
    Ok(ListPatch { items, deleted: Vec::new(), order })
}

fn single(key: &str, value: Value) -> Object {
    Object::from_iter([(key.to_owned(), value)])
}

/// Walks both lists in order of their keys and collects changed items and delete directives.
fn map_items(
    (old, new): (&[Value], &[Value]),
    ty: Shape,
    merge_key: &str,
    options: Options,
) -> Result<(Vec<Value>, Vec<Value>), Error> {
    let (old, new) = (by_key_text(old, merge_key), by_key_text(new, merge_key));
    let (mut old, mut new) = (old.into_iter().peekable(), new.into_iter().peekable());
    let (mut items, mut deleted) = (Vec::new(), Vec::new());
    loop {
        let left = old.peek().map(|item| lists::keyed(item, merge_key)).transpose()?;
        let right = new.peek().map(|item| lists::keyed(item, merge_key)).transpose()?;
        let order = match (left, right) {
            (None, None) => return Ok((items, deleted)),
            (Some(_), None) => std::cmp::Ordering::Less,
            (None, Some(_)) => std::cmp::Ordering::Greater,
            (Some((_, left)), Some((_, right))) => text(Some(left)).cmp(&text(Some(right))),
        };
        if let (std::cmp::Ordering::Equal, Some((left, _)), Some((right, id))) = (order, left, right) {
            let mut inner = maps(left, right, ty, options)?;
            if !inner.is_empty() {
                inner.insert(merge_key.to_owned(), id.clone());
                items.push(inner.into());
            }
            old.next();
            new.next();
        } else if let (std::cmp::Ordering::Greater, Some((right, _))) = (order, right) {
            if !options.ignore_additions {
                items.push(right.clone().into());
            }
            new.next();
        } else if let Some((_, id)) = left {
            if !options.ignore_deletions {
                let mut gone = single(merge_key, id.clone());
                gone.insert(DIRECTIVE.to_owned(), "delete".into());
                deleted.push(gone.into());
            }
            old.next();
        }
    }
}

fn lists_of_scalars(old: &[Value], new: &[Value], options: Options) -> ListPatch {
    let (sorted_old, sorted_new) = (lists::sorted_scalars(old), lists::sorted_scalars(new));
    let (mut left, mut right) = (sorted_old.iter().peekable(), sorted_new.iter().peekable());
    let (mut items, mut deleted) = (Vec::new(), Vec::new());
    loop {
        let order = match (left.peek(), right.peek()) {
            (None, None) => break,
            (Some(_), None) => std::cmp::Ordering::Less,
            (None, Some(_)) => std::cmp::Ordering::Greater,
            (Some(left), Some(right)) => text(Some(left)).cmp(&text(Some(right))),
        };
        let (gone, added) = match order {
            std::cmp::Ordering::Equal => {
                left.next();
                right.next();
                (None, None)
            }
            std::cmp::Ordering::Less => (left.next(), None),
            std::cmp::Ordering::Greater => (None, right.next()),
        };
        deleted.extend(gone.filter(|_| !options.ignore_deletions).cloned());
        items.extend(added.filter(|_| !options.ignore_additions).cloned());
    }
    lists::deduplicate(&mut deleted);
    lists::sort_scalars_by_order(&mut items, new);
    // Go's diff sorts the original list in place before comparing it with the modified one, so an unsorted original
    // counts as reordered; kept, because the directive travels in the patch.
    let reordered = !options.ignore_additions && sorted_old != new;
    let dropped = !options.ignore_deletions && !deleted.is_empty();
    let order = if options.set_order && (dropped || reordered) { new.to_vec() } else { Vec::new() };
    ListPatch { items, deleted, order }
}
