//! Health of PersistentVolumeClaims.
//!
//! Source: HEALTH-040 (`health_pvc.go`).

use serde_json::Value;

use crate::health::read::text;
use crate::health::{Code, Health};

pub(super) fn health(object: &Value) -> Health {
    let code = match text(object, "status.phase") {
        "Lost" => Code::Degraded,
        "Pending" => Code::Progressing,
        "Bound" => Code::Healthy,
        _ => Code::Unknown,
    };
    Health::new(code, "")
}
