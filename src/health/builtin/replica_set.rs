//! Health of ReplicaSets.
//!
//! Source: HEALTH-025 to HEALTH-028 (`health_replicaset.go`).

use serde_json::Value;

use super::{degraded, healthy, progressing};
use crate::health::Health;
use crate::health::read::{at, condition, int, text};

pub(super) fn health(object: &Value) -> Health {
    if int(object, "metadata.generation") > int(object, "status.observedGeneration") {
        return progressing(
            "Waiting for rollout to finish: observed replica set generation less than desired generation",
        );
    }
    if let Some(failure) = condition(object, "ReplicaFailure")
        && text(failure, "status") == "True"
    {
        return degraded(text(failure, "message"));
    }
    let available = int(object, "status.availableReplicas");
    match at(object, "spec.replicas").as_i64() {
        Some(desired) if available < desired => progressing(format!(
            "Waiting for rollout to finish: {available} out of {desired} new replicas are available..."
        )),
        _ => healthy(""),
    }
}
