//! Rewrites `metadata.managedFields` so that a client-side applier's fields become a server-side applier's.
//!
//! In:  an object with its field ownership.
//! Out: the managers to take over from; a JSON patch that does it.
//! Invariant: the patch pins the object's resourceVersion, so ownership that changed in between is never overwritten.
//! Source: client-go v0.36.1 `util/csaupgrade/upgrade.go`.

use std::collections::BTreeSet;

use serde_json::{Map, Value, json};

use crate::api::{ObjectExt, names};

/// Names of the managers that wrote the last-applied annotation by plain updates.
pub(super) fn client_side_managers(object: &Value) -> Vec<String> {
    let owns_annotation = |entry: &&Value| {
        let annotations = entry.pointer("/fieldsV1/f:metadata/f:annotations").and_then(Value::as_object);
        annotations.is_some_and(|fields| fields.contains_key(&format!("f:{}", names::LAST_APPLIED)))
    };
    let entries = managed_fields(object).iter().filter(|entry| text(entry, "operation") == "Update");
    let managers: BTreeSet<_> =
        entries.filter(owns_annotation).map(|entry| text(entry, "manager").to_owned()).collect();
    managers.into_iter().collect()
}

/// The patch that hands the fields of `former` managers over to `manager`, or `None` when there is nothing to do.
pub(super) fn upgrade(object: &Value, former: &[String], manager: &str) -> Option<Value> {
    let before = managed_fields(object);
    let mut after = before.to_vec();
    for name in former {
        take_over(&mut after, name, manager);
    }
    if after == before {
        return None;
    }
    // "replace" rather than "test": a changed version then fails as a conflict, which is retried.
    Some(json!([
        {"op": "replace", "path": "/metadata/managedFields", "value": after},
        {"op": "replace", "path": "/metadata/resourceVersion", "value": object.resource_version()},
    ]))
}

fn take_over(entries: &mut Vec<Value>, former: &str, manager: &str) {
    let is = |entry: &Value, name: &str, operation: &str| {
        text(entry, "manager") == name && text(entry, "operation") == operation && text(entry, "subresource").is_empty()
    };
    let heir = entries.iter().position(|entry| is(entry, manager, "Apply")).or_else(|| {
        // Nobody has applied yet: the most recent former entry, which stands first, becomes the applier's.
        let first = entries.iter().position(|entry| is(entry, former, "Update"))?;
        if let Some(Value::Object(entry)) = entries.get_mut(first) {
            entry.insert("operation".to_owned(), "Apply".into());
            entry.insert("manager".to_owned(), manager.into());
        }
        Some(first)
    });
    let Some(heir) = heir else { return };
    let version = entries.get(heir).map(|entry| text(entry, "apiVersion").to_owned()).unwrap_or_default();
    let former_fields = entries
        .iter()
        .find(|entry| is(entry, former, "Update") && text(entry, "apiVersion") == version)
        .and_then(|entry| entry.get("fieldsV1")?.as_object().cloned());
    if let (Some(fields), Some(entry)) = (former_fields, entries.get_mut(heir)) {
        union(crate::api::object::child_map(entry, "fieldsV1"), fields);
    }
    entries.retain(|entry| !is(entry, former, "Update"));
}

/// Adds the fields of one set to another. A field that is owned itself and has owned children carries a `.`; one that
/// is owned and has none is empty, so merging the two forms must not lose the `.`.
fn union(into: &mut Map<String, Value>, from: Map<String, Value>) {
    for (field, theirs) in from {
        let Value::Object(mut theirs) = theirs else { continue };
        match into.get_mut(&field) {
            Some(Value::Object(ours)) => {
                if ours.is_empty() != theirs.is_empty() {
                    theirs.insert(".".to_owned(), json!({}));
                }
                union(ours, theirs);
            }
            _ => {
                into.insert(field, Value::Object(theirs));
            }
        }
    }
}

fn managed_fields(object: &Value) -> &[Value] {
    let entries = object.metadata().and_then(|metadata| metadata.get("managedFields")).and_then(Value::as_array);
    entries.map(Vec::as_slice).unwrap_or_default()
}

fn text<'a>(entry: &'a Value, field: &str) -> &'a str {
    entry.get(field).and_then(Value::as_str).unwrap_or_default()
}
