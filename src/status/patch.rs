//! Merge patches from differences.
//!
//! In:  two typed statuses, the one read at the start of a refresh and the new one.
//! Out: a merge patch of what differs, or nothing.
//! Invariant: fields that litecd does not know, and those other writers changed meanwhile, are never in a patch.
//! Source: APP-028, APP-042 to APP-047, APP-053 (`controller/appcontroller.go` `persistAppStatus`,
//! `persistReconciliationStatus`).

use serde_json::{Map, Value, json};

use super::conditions::set_conditions;
use crate::api::names;
use crate::api::status::{ApplicationStatus, Condition, Time};

/// What Argo CD writes when the API server refuses a status as too large (APP-126).
const OVERSIZE: &str = "Application status exceeds the Kubernetes resource size limit and could not be persisted. The \
                        displayed status may be stale. Reduce the number of managed resources, set \
                        ApplyOutOfSyncOnly=true, lower spec.revisionHistoryLimit, or split the Application.";

/// The JSON merge patch that turns `old` into `new`; nothing when they are equal. Lists are replaced whole.
pub fn merge_patch(old: &Value, new: &Value) -> Option<Value> {
    match (old, new) {
        (Value::Object(old), Value::Object(new)) => {
            let mut patch = Map::new();
            for key in old.keys().filter(|key| !new.contains_key(*key)) {
                patch.insert(key.clone(), Value::Null);
            }
            for (key, value) in new {
                let change = match old.get(key) {
                    Some(old) => merge_patch(old, value),
                    None => Some(value.clone()),
                };
                if let Some(change) = change {
                    patch.insert(key.clone(), change);
                }
            }
            (!patch.is_empty()).then_some(Value::Object(patch))
        }
        _ => (old != new).then(|| new.clone()),
    }
}

/// Gives the new health its time: now when its code changed, else the old one's (APP-028, HEALTH-062).
pub fn settle_health(old: &ApplicationStatus, new: &mut ApplicationStatus, now: Time) {
    new.health.last_transition_time =
        if old.health.status == new.health.status { old.health.last_transition_time } else { Some(now) };
}

/// The patch that stores a refresh's outcome; nothing when there is nothing to write (APP-043).
///
/// `consumes_refresh` tells whether the Application was read with a refresh annotation. Only that key is removed, where
/// Argo CD replaces the whole map when it was the only one (APP-053).
pub fn status_patch(old: &ApplicationStatus, new: &ApplicationStatus, consumes_refresh: bool) -> Option<Value> {
    let to_value = |status: &ApplicationStatus| serde_json::to_value(status).unwrap_or_default();
    let mut patch = Map::new();
    if let Some(status) = merge_patch(&to_value(old), &to_value(new)) {
        patch.insert("status".to_owned(), status);
    }
    if consumes_refresh {
        patch.insert("metadata".to_owned(), json!({"annotations": {names::REFRESH: null}}));
    }
    (!patch.is_empty()).then_some(Value::Object(patch))
}

/// The patch to send after a status was refused as too large: the old status with a condition that says so (APP-047).
pub fn oversize_patch(old: &ApplicationStatus, consumes_refresh: bool, now: Time) -> Option<Value> {
    let found = vec![Condition::new("UnknownError", OVERSIZE)];
    let conditions = set_conditions(&old.conditions, found, &["UnknownError"], now);
    status_patch(old, &ApplicationStatus { conditions, ..old.clone() }, consumes_refresh)
}
