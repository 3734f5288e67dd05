//! Health of Jobs.
//!
//! Source: HEALTH-036 to HEALTH-039 (`health_job.go`).

use serde_json::Value;

use super::{degraded, healthy, progressing};
use crate::health::read::{list, text};
use crate::health::{Code, Health};

pub(super) fn health(object: &Value) -> Health {
    let mut failure = None;
    let mut end = None;
    let mut is_suspended = false;
    for condition in list(object, "status.conditions") {
        let message = text(condition, "message");
        match text(condition, "type") {
            "Failed" => failure = Some(message),
            "Complete" => end = Some(message),
            "Suspended" => {
                // A resumed Job keeps the condition with status False and counts as Healthy (HEALTH-039).
                end = Some(message);
                is_suspended |= text(condition, "status") == "True";
            }
            _ => {}
        }
    }
    match (failure, end) {
        (Some(message), _) => degraded(message),
        (None, _) if is_suspended => Health::new(Code::Suspended, ""),
        (None, Some(message)) => healthy(message),
        (None, None) => progressing(""),
    }
}
