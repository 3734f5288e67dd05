//! Numaflow and Numaplane.

use serde_json::Value;

use super::Kinds;
use super::rule::{Step::*, conditions, is_match, is_observed};
use crate::health::Code::{Degraded, Healthy, Progressing, Unknown};
use crate::health::Health;
use crate::health::read::{at, text};

pub(super) const KINDS: Kinds = &[
    (
        "numaflow.numaproj.io/InterStepBufferService",
        &[By(buffer_service), Else(Progressing, "Waiting for InterStepBufferService status")],
    ),
    ("numaflow.numaproj.io/MonoVertex", &[By(mono_vertex), Else(Progressing, "Waiting for MonoVertex status")]),
    ("numaflow.numaproj.io/Pipeline", &[By(pipeline), Else(Progressing, "Waiting for Pipeline status")]),
    ("numaflow.numaproj.io/Vertex", &[By(vertex), Else(Progressing, "Waiting for Vertex status")]),
    (
        "numaplane.numaproj.io/ISBServiceRollout",
        &[By(rollout_progress), By(buffer_service_trouble), By(rollout_healthy), Else(Unknown, "Unknown status")],
    ),
    (
        "numaplane.numaproj.io/MonoVertexRollout",
        &[
            By(rollout_progress),
            By(mono_vertex_trouble),
            Walk(&[("MonoVertexPausingOrPaused=True", Healthy, "{message}")]),
            By(rollout_healthy),
            Else(Unknown, "Unknown MonoVertex status"),
        ],
    ),
    (
        "numaplane.numaproj.io/PipelineRollout",
        &[
            By(rollout_progress),
            By(pipeline_trouble),
            Walk(&[("PipelinePausingOrPaused=True", Healthy, "{message}")]),
            By(rollout_healthy),
            Else(Unknown, "Unknown Pipeline status"),
        ],
    ),
    (
        "numaplane.numaproj.io/NumaflowControllerRollout",
        &[By(rollout_progress), By(controller_trouble), By(rollout_healthy), Else(Unknown, "Unknown status")],
    ),
];

/// Health of a Numaflow object whose status is current: trouble first, then the phases that are fine.
/// `trouble` is the text for failed conditions, which otherwise is the last failed condition's message.
fn numaflow(object: &Value, fine: &[(&str, &str)], trouble: Option<&str>) -> Option<Health> {
    if at(object, "status").is_null() || !is_observed(object, at(object, "status.observedGeneration")) {
        return None;
    }
    let phase = text(object, "status.phase");
    if phase == "Failed" {
        return Some(Health::new(Degraded, text(object, "status.message")));
    }
    let label = object.pointer("/metadata/labels/numaplane.numaproj.io~1progressive-result-state");
    if text(object, "kind") != "Vertex" && label.and_then(Value::as_str) == Some("failed") {
        return Some(Health::new(Degraded, "Failed progressive upgrade"));
    }
    if let Some(failed) = conditions(object).iter().rfind(|condition| is_match("*=False", condition)) {
        return Some(Health::new(Degraded, trouble.unwrap_or(text(failed, "message"))));
    }
    fine.iter().find(|(fine, _)| *fine == phase).map(|(_, message)| Health::new(Healthy, *message))
}

fn buffer_service(object: &Value) -> Option<Health> {
    numaflow(object, &[("Running", "InterStepBufferService is healthy")], None)
}

fn mono_vertex(object: &Value) -> Option<Health> {
    let fine = [("Running", "MonoVertex is healthy"), ("Paused", "MonoVertex is paused")];
    numaflow(object, &fine, Some("Subresources are unhealthy"))
}

fn pipeline(object: &Value) -> Option<Health> {
    let fine =
        [("Running", "Pipeline is healthy"), ("Paused", "Pipeline is paused"), ("Pausing", "Pipeline is paused")];
    numaflow(object, &fine, Some("Subresources are unhealthy"))
}

fn vertex(object: &Value) -> Option<Health> {
    numaflow(object, &[("Running", "Vertex is healthy"), ("Paused", "Vertex is paused")], None)
}

fn has(object: &Value, pattern: &str) -> bool {
    conditions(object).iter().any(|condition| is_match(pattern, condition))
}

/// Numaplane's rollouts are in progress until their status is current and their children settled.
fn rollout_progress(object: &Value) -> Option<Health> {
    let waits = |text: &str| Some(Health::new(Progressing, text));
    if at(object, "status").is_null() || !is_observed(object, at(object, "status.observedGeneration")) {
        return waits("Not yet reconciled");
    }
    let is_updating = !text(object, "status.upgradeInProgress").is_empty() || text(object, "status.phase") == "Pending";
    // A failed progressive upgrade stays "in progress" for ever; it is trouble, not progress.
    let has_failed = has(object, "ProgressiveUpgradeSucceeded=False");
    if is_updating && !has_failed {
        return waits("Update in progress");
    }
    if has(object, "ChildResourcesHealthy=False/Progressing") { waits("Child Progressing") } else { None }
}

/// Trouble of a rollout: its own failure, a child's, or a failed progressive upgrade.
fn rollout_trouble(object: &Value, child_failed: &str) -> Option<Health> {
    if text(object, "status.phase") == "Failed" {
        return Some(Health::new(Degraded, text(object, "status.message")));
    }
    conditions(object).iter().find_map(|condition| {
        if is_match(child_failed, condition) {
            Some(Health::new(Degraded, text(condition, "message")))
        } else if is_match("ProgressiveUpgradeSucceeded=False", condition) {
            Some(Health::new(Degraded, "Progressive upgrade failed"))
        } else {
            None
        }
    })
}

fn buffer_service_trouble(object: &Value) -> Option<Health> {
    rollout_trouble(object, "ChildResourcesHealthy=False/ISBSvcFailed")
}

fn mono_vertex_trouble(object: &Value) -> Option<Health> {
    rollout_trouble(object, "ChildResourcesHealthy=False/MonoVertexFailed")
}

fn pipeline_trouble(object: &Value) -> Option<Health> {
    rollout_trouble(object, "ChildResourcesHealthy=False/PipelineFailed")
}

fn controller_trouble(object: &Value) -> Option<Health> {
    rollout_trouble(object, "ChildResourcesHealthy=False/!Progressing")
}

fn rollout_healthy(object: &Value) -> Option<Health> {
    has(object, "ChildResourcesHealthy=True").then(|| Health::new(Healthy, "Healthy"))
}
