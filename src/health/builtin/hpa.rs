//! Health of HorizontalPodAutoscalers.
//!
//! Source: HEALTH-046 to HEALTH-048, HEALTH-050 (`health_hpa.go`).

use serde_json::Value;

use super::{Error, degraded, healthy, progressing};
use crate::api::ObjectExt;
use crate::health::Health;
use crate::health::read::{list, text};

/// Where version 1 keeps what version 2 has as `status.conditions`.
const CONDITIONS: &str = "autoscaling.alpha.kubernetes.io/conditions";

pub(super) fn health(object: &Value) -> Health {
    from_conditions(list(object, "status.conditions"))
}

pub(super) fn health_v1(object: &Value) -> Result<Health, Error> {
    let Some(annotation) = object.annotation(CONDITIONS) else {
        return Ok(from_conditions(&[]));
    };
    let conditions: Option<Vec<Value>> = serde_json::from_str(annotation).map_err(Error::ScalingConditions)?;
    Ok(from_conditions(&conditions.unwrap_or_default()))
}

fn from_conditions(conditions: &[Value]) -> Health {
    if let Some(failed) = conditions.iter().find(|condition| is_failure(condition)) {
        return degraded(text(failed, "message"));
    }
    match conditions.iter().find(|condition| is_success(condition)) {
        Some(condition) => healthy(text(condition, "message")),
        None => progressing("Waiting to Autoscale"),
    }
}

/// Whether type and reason name a failure; the condition's status is not looked at.
fn is_failure(condition: &Value) -> bool {
    match text(condition, "type") {
        "AbleToScale" => matches!(text(condition, "reason"), "FailedGetScale" | "FailedUpdateScale"),
        "ScalingActive" => matches!(
            text(condition, "reason"),
            "FailedGetResourceMetric"
                | "FailedGetObjectMetric"
                | "FailedGetPodsMetric"
                | "FailedGetExternalMetric"
                | "FailedComputeMetricsReplicas"
                | "InvalidSelector"
        ),
        _ => false,
    }
}

fn is_success(condition: &Value) -> bool {
    matches!(text(condition, "type"), "AbleToScale" | "ScalingLimited") && text(condition, "status") == "True"
}
