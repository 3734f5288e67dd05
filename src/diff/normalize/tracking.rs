//! Hides the difference that remains after an installation moved from label to annotation tracking.
//!
//! In:  the desired object, its live object, how objects are tracked.
//! Out: the live object as it would look had it been synced with annotations.
//! Invariant: a tracking id on the live object is never changed, so a moved object stays a visible difference.
//! Source: DIFF-062 (`util/argo/resource_tracking.go` Normalize).

use serde_json::Value;

use crate::api::names::TRACKING_ID;
use crate::api::object::ObjectExt;

/// How objects are tracked, as far as comparing needs it.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct TrackingRule {
    /// Whether the tracking id annotation ties objects to applications; false for label tracking.
    pub by_annotation: bool,
    /// The instance label's key.
    pub label_key: String,
}

/// Adjusts the live object.
pub fn adopt_tracking(target: &Value, mut live: Value, rule: &TrackingRule) -> Value {
    let labelled = live.label(&rule.label_key).is_some_and(|label| !label.is_empty());
    let is_crd = live.group() == "apiextensions.k8s.io" && live.kind() == "CustomResourceDefinition";
    if !rule.by_annotation || !labelled || is_crd {
        return live;
    }
    if live.annotation(TRACKING_ID).unwrap_or_default().is_empty() {
        live.set_annotation(TRACKING_ID, target.annotation(TRACKING_ID).unwrap_or_default());
    }
    if target.label(&rule.label_key).unwrap_or_default().is_empty() {
        remove_label(&mut live, &rule.label_key);
    }
    live
}

fn remove_label(object: &mut Value, key: &str) {
    let metadata = object.metadata_mut();
    if let Some(Value::Object(labels)) = metadata.get_mut("labels") {
        labels.remove(key);
        if labels.is_empty() {
            metadata.remove("labels");
        }
    }
}
