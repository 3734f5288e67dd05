//! Health of StatefulSets.
//!
//! Source: HEALTH-013 to HEALTH-019 (`health_statefulset.go`).

use serde_json::Value;

use super::{healthy, progressing};
use crate::health::Health;
use crate::health::read::{at, int, text};

pub(super) fn health(object: &Value) -> Health {
    let observed = int(object, "status.observedGeneration");
    if observed == 0 || int(object, "metadata.generation") > observed {
        return progressing("Waiting for statefulset spec update to be observed...");
    }
    let replicas = at(object, "spec.replicas").as_i64();
    let ready = int(object, "status.readyReplicas");
    if let Some(replicas) = replicas
        && ready < replicas
    {
        return progressing(format!("Waiting for {} pods to be ready...", replicas - ready));
    }
    let updated = int(object, "status.updatedReplicas");
    let strategy = text(object, "spec.updateStrategy.type");
    if strategy == "RollingUpdate" && at(object, "spec.updateStrategy.rollingUpdate").is_object() {
        let partition = at(object, "spec.updateStrategy.rollingUpdate.partition").as_i64();
        let desired = replicas.zip(partition).map(|(replicas, partition)| replicas - partition);
        return match desired {
            Some(desired) if updated < desired => progressing(format!(
                "Waiting for partitioned roll out to finish: {updated} out of {desired} new pods have been updated..."
            )),
            _ => healthy(format!("partitioned roll out complete: {updated} new pods have been updated...")),
        };
    }
    if strategy == "OnDelete" {
        return healthy(format!("statefulset has {ready} ready pods"));
    }
    let update = text(object, "status.updateRevision");
    let current = text(object, "status.currentRevision");
    if update != current {
        return progressing(format!(
            "waiting for statefulset rolling update to complete {updated} pods at revision {update}..."
        ));
    }
    healthy(format!(
        "statefulset rolling update complete {} pods at revision {current}...",
        int(object, "status.currentReplicas")
    ))
}
