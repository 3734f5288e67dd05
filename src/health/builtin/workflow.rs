//! Health of Argo Workflows.
//!
//! Source: HEALTH-049 (`health_argo.go`).

use serde_json::Value;

use crate::health::read::text;
use crate::health::{Code, Health};

pub(super) fn health(object: &Value) -> Health {
    let code = match text(object, "status.phase") {
        "" | "Pending" | "Running" => Code::Progressing,
        "Succeeded" => Code::Healthy,
        "Failed" | "Error" => Code::Degraded,
        _ => Code::Unknown,
    };
    Health::new(code, text(object, "status.message"))
}
