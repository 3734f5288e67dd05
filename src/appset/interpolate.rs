//! Renders the texts of a generator with parameters of another one.
//!
//! In:  the second child of a matrix, one set of the first.
//! Out: the child with its texts rendered.
//! Invariant: entries of `values` that need the child's own parameters stay as they are; they are rendered later.
//! Source: SET-041, SET-042 (`applicationset/utils/utils.go` `RenderGeneratorParams`).

use std::collections::BTreeMap;

use serde_json::Value;

use super::params::Params;
use super::text::Engine;
use crate::api::appset::{Generator, NestedGenerator};

/// The generator with its texts rendered; without parameters it stays as it is.
///
/// # Errors
/// What the condition says.
pub fn generator(entry: &Generator, engine: &Engine, params: &Params) -> Result<Generator, String> {
    if params.is_empty() {
        return Ok(entry.clone());
    }
    let context = |error: String| format!("failed to replace parameters in generator: {error}");
    let mut bare = entry.clone();
    let kept: Vec<BTreeMap<String, String>> = values_of(&mut bare).into_iter().map(std::mem::take).collect();
    let raw = serde_json::to_value(&bare).map_err(|error| error.to_string())?;
    let rendered: Value = engine.replace_all(&raw, params).map_err(context)?;
    let mut rendered: Generator = serde_json::from_value(rendered).map_err(|error| context(error.to_string()))?;
    let strict = engine.strict();
    for (target, values) in values_of(&mut rendered).into_iter().zip(kept) {
        for (key, text) in values {
            let value = match strict.replace(&text, params) {
                Ok(value) => value,
                Err(error) if misses_key(&error) => text,
                Err(error) => return Err(context(format!("failed to pre-resolve Values key {key:?}: {error}"))),
            };
            target.insert(key, value);
        }
    }
    Ok(rendered)
}

fn misses_key(error: &str) -> bool {
    error.contains("map has no entry for key") || error.contains("can't evaluate field")
}

/// Every typed `values` of a generator and of its children.
fn values_of(entry: &mut Generator) -> Vec<&mut BTreeMap<String, String>> {
    let own = [
        entry.clusters.as_mut().map(|part| &mut part.values),
        entry.git.as_mut().map(|part| &mut part.values),
        entry.scm_provider.as_mut().map(|part| &mut part.values),
        entry.cluster_decision_resource.as_mut().map(|part| &mut part.values),
        entry.pull_request.as_mut().map(|part| &mut part.values),
        entry.plugin.as_mut().map(|part| &mut part.values),
    ];
    let children = entry.matrix.as_mut().map(|matrix| &mut matrix.generators);
    let others = entry.merge.as_mut().map(|merge| &mut merge.generators);
    let below = children.into_iter().chain(others).flatten().flat_map(values_of_child);
    own.into_iter().flatten().chain(below).collect()
}

fn values_of_child(child: &mut NestedGenerator) -> Vec<&mut BTreeMap<String, String>> {
    let own = [
        child.clusters.as_mut().map(|part| &mut part.values),
        child.git.as_mut().map(|part| &mut part.values),
        child.scm_provider.as_mut().map(|part| &mut part.values),
        child.cluster_decision_resource.as_mut().map(|part| &mut part.values),
        child.pull_request.as_mut().map(|part| &mut part.values),
        child.plugin.as_mut().map(|part| &mut part.values),
    ];
    own.into_iter().flatten().collect()
}
