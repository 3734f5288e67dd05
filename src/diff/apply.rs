//! The patch that client-side apply sends, and the annotation in which it remembers what it sent.
//!
//! In:  what was applied last, the manifest, the live object.
//! Out: the patch kubectl would send; nothing when it would send nothing.
//! Invariant: a field that neither manifest names is never in the patch.
//! Source: SYNC-142, SYNC-143 (kubectl 0.36.1 `pkg/cmd/apply/patcher.go`, `pkg/util/apply.go`).

use serde_json::{Map, Value};

use super::{Error, jsonmerge, object, schema, strategic};
use crate::api::names::LAST_APPLIED;
use crate::api::object::{ObjectExt, entry_map};
use crate::gocompat::json;

/// A patch's media type.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum PatchKind {
    /// Strategic merge patch.
    Strategic,
    /// JSON merge patch.
    Merge,
}

/// A patch to send.
#[derive(Debug, Clone, PartialEq)]
pub struct Patch {
    /// Media type.
    pub kind: PatchKind,
    /// Body.
    pub body: Value,
}

/// The three-way patch from the live object to the manifest. `modified` carries its own last-applied annotation.
/// Nothing means that the live object already is as the manifest wants it.
pub fn client_side_patch(last_applied: Option<&Value>, modified: &Value, live: &Value) -> Result<Option<Patch>, Error> {
    let original = last_applied.map(object).transpose()?.unwrap_or_default();
    let (target, current) = (object(modified)?, object(live)?);
    let (kind, body) = match schema::builtin(&modified.gvk()) {
        Some(entry) => (PatchKind::Strategic, strategic::three_way(&original, &target, &current, entry.root)?),
        None => {
            let patch = jsonmerge::three_way(&original, &target, &current)?;
            if changes_identity(&patch) {
                return Err(Error::IdentityChanged);
            }
            (PatchKind::Merge, patch)
        }
    };
    Ok((!body.is_empty()).then(|| Patch { kind, body: body.into() }))
}

fn changes_identity(patch: &Map<String, Value>) -> bool {
    let name = patch.get("metadata").and_then(|metadata| metadata.get("name"));
    patch.contains_key("apiVersion") || patch.contains_key("kind") || name.is_some()
}

/// The object with its own text in the last-applied annotation: what stood in that annotation before is left out
/// first, and an object without annotations gets an empty map in the text, as kubectl writes it.
pub fn with_last_applied(object: &Value) -> Value {
    let mut copy = object.clone();
    entry_map(copy.metadata_mut(), "annotations").remove(LAST_APPLIED);
    let text = format!("{}\n", json::to_string(&copy));
    copy.set_annotation(LAST_APPLIED, &text);
    copy
}
