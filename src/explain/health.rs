//! Says which objects make an application's health what it is.
//!
//! In:  the health of each live object, and of the application.
//! Out: the objects whose health is the application's.
//! Source: HEALTH-055 to HEALTH-058 (`controller/health.go`).

use serde::Serialize;
use serde_json::Value;

use super::{Facts, heading};
use crate::api::{ObjectExt, names};
use crate::compare::Pair;
use crate::health::{Code, Health};
use crate::sync::hooks;

/// An object that makes the application's health.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Cause {
    /// The object.
    pub object: String,
    /// Its health.
    pub status: String,
    /// What its check says.
    pub message: String,
}

/// The objects whose health is the application's; none when it is healthy.
pub fn causes(facts: &Facts) -> Vec<Cause> {
    if facts.health == Code::Healthy.as_str() {
        return Vec::new();
    }
    let pairs = facts.paired.pairs.iter().zip(&facts.healths);
    let causes = pairs.filter_map(|(pair, health)| {
        let (live, health) = (pair.live.as_ref()?, health.as_ref()?);
        (health.status.as_str() == facts.health && counts(pair, live, health)).then(|| Cause {
            object: heading(&live.key()),
            status: health.status.to_string(),
            message: health.message.clone(),
        })
    });
    causes.collect()
}

/// Whether the health of the live object counts for the application.
fn counts(pair: &Pair, live: &Value, health: &Health) -> bool {
    let is_skipped = pair.target.as_ref().is_some_and(hooks::is_skipped);
    let is_child = live.group() == names::GROUP && live.kind() == "Application";
    let unknown_child = is_child && matches!(health.status, Code::Missing | Code::Unknown);
    !(is_skipped || hooks::is_hook(live) || hooks::is_ignored(live) || unknown_child)
        && live.annotation(names::IGNORE_HEALTHCHECK) != Some("true")
}
