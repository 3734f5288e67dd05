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

/// The parts of a Secret that say nothing secret, once `data` is masked.
const OPEN: [&str; 6] = ["apiVersion", "kind", "metadata", "type", "immutable", "data"];

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

/// A misspelt `stringdata` holds a value as well.
fn hide_the_rest(secret: &mut Value) {
    for (field, value) in secret.as_object_mut().into_iter().flatten() {
        if !OPEN.contains(&field.as_str()) {
            *value = MASK.into();
        }
    }
}
