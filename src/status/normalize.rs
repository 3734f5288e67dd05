//! The only change litecd makes to a spec: blocks that say nothing are dropped, as Argo CD drops them.
//!
//! In:  a stored Application.
//! Out: a merge patch, or nothing when the spec is normal.
//! Invariant: entries of `spec.sources` are never touched.
//! Source: APP-002, APP-003, APP-007 (`util/argo/argo.go` `NormalizeApplicationSpec`, `NormalizeSource`).

use serde_json::{Map, Value, json};

use crate::api::application::{ApplicationSource, ApplicationSpec, Directory, Kustomize};
use crate::api::wire::Zero;

/// The merge patch that normalises a stored Application's spec; nothing for specs that cannot be read.
pub fn normalize_spec(app: &Value) -> Option<Value> {
    let spec: ApplicationSpec = serde_json::from_value(app.get("spec")?.clone()).ok()?;
    let mut patch = Map::new();
    if spec.project.is_empty() {
        patch.insert("project".to_owned(), "default".into());
    }
    if spec.sync_policy.as_ref().is_some_and(Zero::is_zero) {
        patch.insert("syncPolicy".to_owned(), Value::Null);
    }
    if let Some(source) = spec.source.as_ref().filter(|_| spec.sources.is_empty()) {
        let source = empty_blocks(source);
        if !source.is_empty() {
            patch.insert("source".to_owned(), Value::Object(source));
        }
    }
    (!patch.is_empty()).then(|| json!({"spec": patch}))
}

/// Nulls for the blocks of a source that say nothing.
fn empty_blocks(source: &ApplicationSource) -> Map<String, Value> {
    let blocks = [
        ("kustomize", source.kustomize.as_ref().is_some_and(is_empty_kustomize)),
        ("helm", source.helm.as_ref().is_some_and(Zero::is_zero)),
        ("directory", source.directory.as_ref().is_some_and(Directory::is_zero)),
    ];
    blocks.into_iter().filter(|(_, is_empty)| *is_empty).map(|(name, _)| (name.to_owned(), Value::Null)).collect()
}

/// Argo CD does not look at these flags, so a block that holds only them goes as well (APP-007).
fn is_empty_kustomize(kustomize: &Kustomize) -> bool {
    let without_flags = Kustomize {
        force_common_labels: false,
        force_common_annotations: false,
        common_annotations_envsubst: false,
        label_without_selector: false,
        label_include_templates: false,
        ..kustomize.clone()
    };
    without_flags.is_zero()
}
