//! Health of APIServices.
//!
//! Source: HEALTH-044, HEALTH-045 (`health_apiservice.go`).

use serde_json::Value;

use super::{healthy, progressing};
use crate::health::Health;
use crate::health::read::{condition, text};

pub(super) fn health(object: &Value) -> Health {
    let Some(available) = condition(object, "Available") else {
        return progressing("Waiting to be processed");
    };
    let message = format!("{}: {}", text(available, "reason"), text(available, "message"));
    if text(available, "status") == "True" { healthy(message) } else { progressing(message) }
}
