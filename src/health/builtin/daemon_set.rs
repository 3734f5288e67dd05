//! Health of DaemonSets.
//!
//! Source: HEALTH-020 to HEALTH-024 (`health_daemonset.go`).

use serde_json::Value;

use super::{healthy, progressing};
use crate::api::ObjectExt;
use crate::health::Health;
use crate::health::read::{int, text};

pub(super) fn health(object: &Value) -> Health {
    if int(object, "metadata.generation") > int(object, "status.observedGeneration") {
        return progressing(
            "Waiting for rollout to finish: observed daemon set generation less than desired generation",
        );
    }
    let desired = int(object, "status.desiredNumberScheduled");
    let updated = int(object, "status.updatedNumberScheduled");
    let available = int(object, "status.numberAvailable");
    let name = object.name();
    if text(object, "spec.updateStrategy.type") == "OnDelete" {
        return healthy(format!("daemon set {updated} out of {desired} new pods have been updated"));
    }
    if updated < desired {
        return progressing(format!(
            "Waiting for daemon set {name:?} rollout to finish: {updated} out of {desired} new pods have been updated..."
        ));
    }
    if available < desired {
        return progressing(format!(
            "Waiting for daemon set {name:?} rollout to finish: {available} of {desired} updated pods are available..."
        ));
    }
    healthy("")
}
