//! Health of Deployments.
//!
//! Source: HEALTH-006 to HEALTH-012 (`health_deployment.go`).

use serde_json::Value;

use super::{degraded, healthy, progressing};
use crate::api::ObjectExt;
use crate::health::read::{at, condition, flag, int, text};
use crate::health::{Code, Health};

pub(super) fn health(object: &Value) -> Health {
    if flag(object, "spec.paused") {
        return Health::new(Code::Suspended, "Deployment is paused");
    }
    if int(object, "metadata.generation") > int(object, "status.observedGeneration") {
        return progressing(
            "Waiting for rollout to finish: observed deployment generation less than desired generation",
        );
    }
    // The condition's status is not looked at: the reason alone says that the deadline passed.
    if condition(object, "Progressing").is_some_and(|found| text(found, "reason") == "ProgressDeadlineExceeded") {
        return degraded(format!("Deployment {:?} exceeded its progress deadline", object.name()));
    }
    let updated = int(object, "status.updatedReplicas");
    let replicas = int(object, "status.replicas");
    let available = int(object, "status.availableReplicas");
    if let Some(desired) = at(object, "spec.replicas").as_i64()
        && updated < desired
    {
        return progressing(format!(
            "Waiting for rollout to finish: {updated} out of {desired} new replicas have been updated..."
        ));
    }
    if replicas > updated {
        return progressing(format!(
            "Waiting for rollout to finish: {} old replicas are pending termination...",
            replicas - updated
        ));
    }
    if available < updated {
        return progressing(format!(
            "Waiting for rollout to finish: {available} of {updated} updated replicas are available..."
        ));
    }
    healthy("")
}
