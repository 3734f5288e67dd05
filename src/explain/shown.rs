//! Makes both sides of a difference presentable.
//!
//! In:  a difference; names of annotations to hide.
//! Out: copies without server-made metadata, Secrets masked.
//! Invariant: of a Secret nothing but names, type and masks is left, whatever shape it has.
//! Source: DIFF-121 to DIFF-129.

use std::collections::BTreeSet;

use serde_json::Value;

use crate::api::{ObjectExt, names};
use crate::diff::{Difference, MaskError, mask_secret};

/// Metadata that the API server makes up, and what only repeats the object.
const SERVER_MADE: [&str; 5] = ["managedFields", "resourceVersion", "uid", "generation", "creationTimestamp"];

/// The parts of a Secret that say nothing secret, besides `metadata` and, once it is masked, `data`.
const OPEN: [&str; 4] = ["apiVersion", "kind", "type", "immutable"];

/// The parts of metadata that say nothing secret and have no parts of their own; what the server makes goes anyway.
const OPEN_METADATA: [&str; 5] =
    ["name", "generateName", "namespace", "deletionTimestamp", "deletionGracePeriodSeconds"];

/// The parts of an owner reference.
const OPEN_OWNER: [&str; 6] = ["apiVersion", "kind", "name", "uid", "controller", "blockOwnerDeletion"];

/// Stands for what is hidden whole.
const MASK: &str = "++++++++";

/// Both sides of one object as people may see them.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Shown {
    /// What the cluster has.
    pub live: Option<Value>,
    /// What it would have after a sync.
    pub desired: Option<Value>,
}

/// Both sides, presentable.
pub fn shown(difference: &Difference, hidden: &BTreeSet<String>) -> Result<Shown, MaskError> {
    let side = |object: &Value| Some(object.clone()).filter(|object| !object.is_null());
    let (live, desired) = (side(&difference.live), side(&difference.predicted));
    let (desired, live) = mask_secret(desired.as_ref(), live.as_ref(), hidden)?;
    Ok(Shown { live: live.map(presentable), desired: desired.map(presentable) })
}

fn presentable(mut object: Value) -> Value {
    if is_secret(&object) {
        hide_the_rest(&mut object);
    }
    let metadata = object.metadata_mut();
    for field in SERVER_MADE {
        metadata.remove(field);
    }
    object.remove_annotation(names::LAST_APPLIED);
    object
}

/// Whether an object is a Secret of the core group.
pub fn is_secret(object: &Value) -> bool {
    object.group().is_empty() && object.kind() == "Secret"
}

/// A misspelt `stringdata`, or a `data` that is indented one step too far, holds values as well.
fn hide_the_rest(secret: &mut Value) {
    for (field, value) in secret.as_object_mut().into_iter().flatten() {
        match field.as_str() {
            "data" => {}
            "metadata" => hide_in_metadata(value),
            known => hide_unless(OPEN.contains(&known), value),
        }
    }
}

fn hide_in_metadata(metadata: &mut Value) {
    let Value::Object(metadata) = metadata else { return *metadata = MASK.into() };
    for (field, value) in metadata.iter_mut() {
        match (field.as_str(), &mut *value) {
            ("labels" | "annotations", Value::Object(texts)) => {
                texts.values_mut().for_each(|text| hide_unless(true, text));
            }
            ("finalizers", Value::Array(names)) => names.iter_mut().for_each(|name| hide_unless(true, name)),
            ("ownerReferences", Value::Array(owners)) => owners.iter_mut().for_each(hide_in_owner),
            (known, value) => hide_unless(OPEN_METADATA.contains(&known), value),
        }
    }
}

fn hide_in_owner(owner: &mut Value) {
    let Value::Object(owner) = owner else { return *owner = MASK.into() };
    for (field, value) in owner.iter_mut() {
        hide_unless(OPEN_OWNER.contains(&field.as_str()), value);
    }
}

/// Hides a value that is not known to be open; a map or list in the place of a plain value is not known to be anything.
fn hide_unless(is_open: bool, value: &mut Value) {
    if !is_open || value.is_object() || value.is_array() {
        *value = MASK.into();
    }
}
