//! Hides the values of Secrets in a difference that is published.
//!
//! In:  a desired and a live Secret, names of annotations to hide.
//! Out: copies with values replaced by `+` signs: equal values get equal signs, lengths do not show.
//! Invariant: no value, and no text derived from one, is left in data, stringData or last-applied annotations.
//! Source: DIFF-121 to DIFF-128 (`gitops-engine/pkg/diff/diff.go` HideSecretData).

use std::collections::BTreeSet;

use serde_json::{Map, Value};

use super::{normalize, threeway};
use crate::api::names::LAST_APPLIED;
use crate::api::object::ObjectExt;
use crate::gocompat::json;

/// Stands for the first value of a key; each further value gets four more signs.
const MASK: &str = "++++++++";

/// Why a Secret cannot be shown.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum MaskError {
    /// Its data or annotations are no map.
    #[error("unstructured.NestedMap error: {0} accessor error: not of the type map[string]interface{{}}")]
    NotAMap(&'static str),
}

/// Masks a pair of Secrets; objects of other kinds come out as they are.
pub fn mask_secret(
    target: Option<&Value>,
    live: Option<&Value>,
    hidden: &BTreeSet<String>,
) -> Result<(Option<Value>, Option<Value>), MaskError> {
    let is_secret = |object: &&Value| object.group().is_empty() && object.kind() == "Secret";
    if !target.iter().chain(&live).all(is_secret) {
        return Ok((target.cloned(), live.cloned()));
    }
    // The order in which values are met decides which gets the shortest mask.
    let mut objects = [
        target.cloned(),
        live.cloned(),
        target.and_then(threeway::last_applied),
        live.and_then(threeway::last_applied),
    ]
    .map(|object| object.map(normalize::secret));
    let keys: BTreeSet<String> = objects.iter().flatten().flat_map(data_keys).collect();
    hide(&mut objects, &keys, &["data"], ".data")?;
    hide(&mut objects, hidden, &["metadata", "annotations"], ".metadata.annotations")?;
    let [mut target, mut live, target_applied, live_applied] = objects;
    for (object, applied) in [(&mut target, target_applied), (&mut live, live_applied)] {
        if let Some(object) = object.as_mut().filter(|object| object.annotation(LAST_APPLIED).is_some()) {
            let text = applied.filter(|_| !hidden.contains(LAST_APPLIED)).map(|applied| json::to_string(&applied));
            object.set_annotation(LAST_APPLIED, text.as_deref().unwrap_or(MASK));
        }
    }
    Ok((target, live))
}

fn data_keys(object: &Value) -> Vec<String> {
    object.get("data").and_then(Value::as_object).map(|data| data.keys().cloned().collect()).unwrap_or_default()
}

fn hide(
    objects: &mut [Option<Value>; 4],
    keys: &BTreeSet<String>,
    path: &[&str],
    name: &'static str,
) -> Result<(), MaskError> {
    // A section that is no map has no keys to hide, yet may hold a secret.
    for object in objects.iter_mut().flatten() {
        map_at(object, path, name)?;
    }
    for key in keys {
        let mut seen: Vec<(String, String)> = Vec::new();
        for object in objects.iter_mut().flatten() {
            let Some(map) = map_at(object, path, name)? else { continue };
            let Some(slot) = map.get_mut(key) else { continue };
            let value = match slot {
                Value::Null => String::new(),
                Value::String(text) => text.clone(),
                ref other => other.to_string(),
            };
            let known = seen.iter().find(|(other, _)| *other == value).map(|(_, mask)| mask.clone());
            let mask = known.unwrap_or_else(|| {
                let mask = format!("{MASK}{}", "++++".repeat(seen.len()));
                seen.push((value, mask.clone()));
                mask
            });
            *slot = mask.into();
        }
    }
    Ok(())
}

/// The map at a path; nothing where it is absent or null.
fn map_at<'a>(
    object: &'a mut Value,
    path: &[&str],
    name: &'static str,
) -> Result<Option<&'a mut Map<String, Value>>, MaskError> {
    let mut current = object;
    for part in path {
        match current.get_mut(*part) {
            Some(next) => current = next,
            None => return Ok(None),
        }
    }
    match current {
        Value::Null => Ok(None),
        Value::Object(map) => Ok(Some(map)),
        _ => Err(MaskError::NotAMap(name)),
    }
}
