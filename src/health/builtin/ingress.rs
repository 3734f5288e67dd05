//! Health of Ingresses.
//!
//! Source: HEALTH-043 (`health_ingress.go`).

use serde_json::Value;

use super::{healthy, progressing};
use crate::health::Health;
use crate::health::read::list;

pub(super) fn health(object: &Value) -> Health {
    if list(object, "status.loadBalancer.ingress").is_empty() { progressing("") } else { healthy("") }
}
