//! Orders and compares the lists that a strategic merge works on.
//!
//! In:  lists of scalars or of objects with a merge key.
//! Out: the same lists sorted, de-duplicated or interleaved as apimachinery does it.
//! Source: DIFF-037 (apimachinery 0.36.1 `strategicpatch/patch.go`).

use serde_json::Value;

use super::{DIRECTIVE, Error, Kind, Object, kind, kind_name, text};

/// The one kind of all items.
pub fn element_kind(lists: &[&[Value]]) -> Result<Kind, Error> {
    let mut found = None;
    for item in lists.iter().copied().flatten() {
        match found {
            None if kind(item) == Kind::List => return Err(Error::ListOfLists),
            None => found = Some(kind(item)),
            Some(first) if first != kind(item) => return Err(Error::MixedList),
            Some(_) => {}
        }
    }
    found.ok_or(Error::EmptyLists)
}

/// The item as an object, and the value of its merge key.
pub fn keyed<'a>(item: &'a Value, key: &str) -> Result<(&'a Object, &'a Value), Error> {
    let map = item.as_object().ok_or_else(|| Error::NotMap(kind_name(item)))?;
    let id = map.get(key).ok_or_else(|| {
        let names: Vec<&str> = map.keys().map(String::as_str).collect();
        let fields = if names.is_empty() { "no fields".to_owned() } else { format!("fields {}", names.join(", ")) };
        Error::NoMergeKey { fields, key: key.to_owned() }
    })?;
    Ok((map, id))
}

/// Items in order of their merge key's text. Among equal keys the later item comes first, as Go's sort leaves them.
pub fn by_key_text<'a>(items: &'a [Value], key: &str) -> Vec<&'a Value> {
    let mut sorted: Vec<&Value> = items.iter().rev().collect();
    sorted.sort_by_cached_key(|item| text(item.get(key)));
    sorted
}

/// Scalars in order of their text.
pub fn sorted_scalars(items: &[Value]) -> Vec<Value> {
    let mut sorted = items.to_vec();
    sorted.sort_by_cached_key(|item| text(Some(item)));
    sorted
}

/// Removes repeated scalars; each gap is filled with the last item, as Go does.
pub fn deduplicate(items: &mut Vec<Value>) {
    let mut first = 0;
    while first + 1 < items.len() {
        let mut other = first + 1;
        while other < items.len() {
            if items.get(first) == items.get(other) {
                items.swap_remove(other);
            } else {
                other += 1;
            }
        }
        first += 1;
    }
}

/// Whether the item is a delete directive.
fn is_deletion(item: &Value) -> bool {
    item.get(DIRECTIVE).and_then(Value::as_str) == Some("delete")
}

/// Splits delete directives from the rest.
pub fn without_deletions(items: Vec<Value>) -> (Vec<Value>, Vec<Value>) {
    items.into_iter().partition(|item| !is_deletion(item))
}

/// Sorts objects by the place of their key in `order`; delete directives go last.
pub fn sort_by_order(items: &mut Vec<Value>, order: &[Value], key: &str) -> Result<(), Error> {
    for item in items.iter().chain(order) {
        keyed(item, key)?;
    }
    let (mut kept, deleted) = without_deletions(std::mem::take(items));
    kept.sort_by_key(|item| place(order, item, Some(key)));
    kept.extend(deleted);
    *items = kept;
    Ok(())
}

/// Sorts scalars by their place in `order`.
pub fn sort_scalars_by_order(items: &mut [Value], order: &[Value]) {
    items.sort_by_key(|item| place(order, item, None));
}

/// Place of the item in `order`, comparing merge keys where one is given.
fn place(order: &[Value], item: &Value, key: Option<&str>) -> Option<usize> {
    let id = |value: &Value| match key {
        Some(key) => value.get(key).cloned(),
        None => Some(value.clone()),
    };
    let wanted = id(item);
    order.iter().position(|other| id(other) == wanted)
}

/// Interleaves items of the patch with items only the server has: the patch's order wins, and a server item stands
/// before the first patch item that followed it on the server.
pub fn interleave(
    (mut patch, mut server): (Vec<Value>, Vec<Value>),
    patch_order: &[Value],
    server_order: &[Value],
    key: Option<&str>,
) -> Result<Vec<Value>, Error> {
    match key {
        Some(key) => {
            sort_by_order(&mut patch, patch_order, key)?;
            sort_by_order(&mut server, server_order, key)?;
        }
        None => {
            sort_scalars_by_order(&mut patch, patch_order);
            sort_scalars_by_order(&mut server, server_order);
        }
    }
    let (mut left, mut right) = (server.into_iter().peekable(), patch.into_iter().peekable());
    let mut all = Vec::new();
    loop {
        let server_first = match (left.peek(), right.peek()) {
            (None, None) => return Ok(all),
            (Some(_), None) => true,
            (None, Some(_)) => false,
            (Some(l), Some(r)) => match (place(server_order, l, key), place(server_order, r, key)) {
                (Some(l), Some(r)) => l < r,
                _ => false,
            },
        };
        all.extend(if server_first { left.next() } else { right.next() });
    }
}

/// Splits items into those named in `by` and the others.
pub fn partition(items: Vec<Value>, by: &[Value], key: Option<&str>) -> Result<(Vec<Value>, Vec<Value>), Error> {
    if let Some(key) = key {
        for item in &items {
            keyed(item, key)?;
        }
    }
    Ok(items.into_iter().partition(|item| place(by, item, key).is_some()))
}

#[cfg(test)]
mod tests {
    use super::keyed;
    use serde_json::json;

    #[test]
    fn an_item_without_merge_key_is_told_by_its_fields_never_by_its_values() {
        let text = |item| keyed(&item, "name").expect_err("no key").to_string();
        assert_eq!(
            text(json!({"value": "hunter2", "extra": {"token": "s3cret"}})),
            "map with fields extra, value does not contain declared merge key: name"
        );
        assert_eq!(text(json!({})), "map with no fields does not contain declared merge key: name");
    }
}
