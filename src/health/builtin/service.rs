//! Health of Services.
//!
//! Source: HEALTH-041, HEALTH-042 (`health_service.go`).

use serde_json::Value;

use super::{healthy, progressing};
use crate::health::Health;
use crate::health::read::{list, text};

pub(super) fn health(object: &Value) -> Health {
    if text(object, "spec.type") == "LoadBalancer" && list(object, "status.loadBalancer.ingress").is_empty() {
        return progressing("");
    }
    healthy("")
}
