//! Predicts what applying the desired object would leave in the cluster, from what was applied last.
//!
//! In:  the last applied, the desired and the live object, all normalised.
//! Out: the live object and the predicted one, with scheme defaults on both where the kind has them.
//! Invariant: inputs are never changed.
//! Source: DIFF-033 to DIFF-043 (`gitops-engine/pkg/diff/diff.go` ThreeWayDiff, TwoWayDiff).

use serde_json::{Map, Value};

use super::{Difference, defaults, jsonmerge, schema, strategic};
use crate::api::names::LAST_APPLIED;
use crate::api::object::ObjectExt;

/// Why neither the three-way nor the two-way difference could be computed.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum Error {
    /// A strategic merge failed.
    #[error("failed to construct thre way merge patch: {0}")]
    Strategic(#[from] strategic::Error),
    /// A JSON merge failed.
    #[error("failed to construct thre way merge patch: {0}")]
    Json(#[from] jsonmerge::Error),
}

/// What was applied last, where the live object tells and the text is an object with a kind.
pub fn last_applied(live: &Value) -> Option<Value> {
    let object: Value = serde_json::from_str(live.annotation(LAST_APPLIED)?).ok()?;
    (!object.kind().is_empty()).then_some(object)
}

/// Three-way difference, or the two-way one where nothing usable was applied before.
pub fn compare(original: Option<&Value>, target: &Value, live: &Value) -> Result<Difference, Error> {
    if let Some(original) = original {
        match difference(original, target, live) {
            Ok(found) => return Ok(found),
            Err(error) => tracing::debug!("three-way diff calculation failed: {error}. Falling back to two-way diff"),
        }
    }
    difference(target, target, live)
}

/// A predicted object without what was applied last and is no longer desired.
pub fn without_dropped(original: &Value, target: &Value, predicted: Value) -> Result<Value, Error> {
    let (original, target) = (stripped(original), stripped(target));
    match schema::registered(&Value::Object(original.clone()).gvk()) {
        Some(root) => {
            let patch = strategic::deletions(&original, &target, root)?;
            Ok(strategic::apply(object(&predicted), patch, root)?.into())
        }
        None => Ok(jsonmerge::merge_patch(&predicted, &jsonmerge::deletions(&original, &target).into())),
    }
}

fn difference(original: &Value, target: &Value, live: &Value) -> Result<Difference, Error> {
    let (original, target) = (stripped(original), stripped(target));
    let live = object(live);
    let Some(root) = schema::registered(&Value::Object(original.clone()).gvk()) else {
        let reduced = jsonmerge::reduce_map(&original, &live);
        let patch = jsonmerge::three_way(&original, &target, &reduced)?;
        let live = Value::Object(live);
        let predicted = jsonmerge::merge_patch(&live, &patch.into());
        return Ok(Difference::between(live, predicted));
    };
    let compared = without_template_defaults(&original, live.clone());
    let patch = strategic::three_way(&original, &target, &compared, root)?;
    let predicted = strategic::apply(live.clone(), patch, root)?;
    if predicted == live {
        let live = defaults::with_defaults(live.into());
        return Ok(Difference { modified: false, predicted: live.clone(), live });
    }
    Ok(Difference::between(defaults::with_defaults(live.into()), defaults::with_defaults(predicted.into())))
}

fn object(value: &Value) -> Map<String, Value> {
    value.as_object().cloned().unwrap_or_default()
}

/// The object without what git need not state: the namespace, and annotations that are empty.
fn stripped(value: &Value) -> Map<String, Value> {
    let mut map = object(value);
    if let Some(Value::Object(metadata)) = map.get_mut("metadata") {
        metadata.remove("namespace");
        let empty = match metadata.get("annotations") {
            Some(Value::Null) => true,
            Some(Value::Object(annotations)) => annotations.is_empty(),
            _ => false,
        };
        if empty {
            metadata.remove("annotations");
        }
    }
    map
}

/// The API server fills in claim templates of StatefulSets in ways a client cannot know, so live templates are
/// reduced to the fields that were applied.
fn without_template_defaults(original: &Map<String, Value>, mut live: Map<String, Value>) -> Map<String, Value> {
    let text = |name: &str| original.get(name).and_then(Value::as_str).unwrap_or_default();
    let group = text("apiVersion").split_once('/').map_or("", |(group, _)| group);
    if text("kind") != "StatefulSet" || !matches!(group, "apps" | "extensions") {
        return live;
    }
    let applied = original.get("spec").and_then(|spec| spec.get("volumeClaimTemplates"));
    let found = live.get_mut("spec").and_then(|spec| spec.get_mut("volumeClaimTemplates"));
    if let (Some(Value::Array(applied)), Some(Value::Array(found))) = (applied, found) {
        *found = jsonmerge::reduce_list(applied, found);
    }
    live
}
