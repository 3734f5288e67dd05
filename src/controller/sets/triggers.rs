//! Which changes make a set be looked at.
//!
//! In:  an object before and after.
//! Out: whether its set is due.
//! Source: SET-141 to SET-143 (`applicationset/controllers/applicationset_controller.go`
//! `shouldRequeueForApplicationSet`, `shouldRequeueForApplication`; `clustereventhandler.go`).

use serde_json::Value;

use crate::api::appset::ApplicationSet;
use crate::appset::{Live, Options, triggers};

/// Whether another state of a set calls for a look; one that cannot be read is looked at to say so.
pub fn set_changed(before: &Value, now: &Value, options: &Options) -> bool {
    let read = |object: &Value| serde_json::from_value::<ApplicationSet>(object.clone());
    let (Ok(before), Ok(now)) = (read(before), read(now)) else { return true };
    triggers::set_changed(&before, &now, options)
}

/// Whether another state of an Application calls for a look at its set.
pub fn application_changed(before: &Value, now: &Value, options: &Options) -> bool {
    let (Some(before), Some(now)) = (Live::read(before), Live::read(now)) else { return true };
    triggers::application_changed(&before, &now, options)
}

/// Whether a generator of a set lists clusters, also inside a matrix or merge.
pub fn asks_for_clusters(set: &Value) -> bool {
    fn asks(generators: Option<&Value>) -> bool {
        generators.and_then(Value::as_array).into_iter().flatten().any(|entry| {
            entry.get("clusters").is_some_and(|clusters| !clusters.is_null())
                || ["matrix", "merge"].iter().any(|kind| asks(entry.pointer(&format!("/{kind}/generators"))))
        })
    }
    asks(set.pointer("/spec/generators"))
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn clusters_are_found_at_every_depth() {
        let set = |generators: Value| json!({"spec": {"generators": generators}});
        assert!(asks_for_clusters(&set(json!([{"list": {}}, {"clusters": {}}]))));
        assert!(asks_for_clusters(&set(
            json!([{"matrix": {"generators": [{"merge": {"generators": [{"clusters": {}}]}}]}}])
        )));
        assert!(!asks_for_clusters(&set(json!([{"matrix": {"generators": [{"list": {}}, {"git": {}}]}}]))));
        assert!(!asks_for_clusters(&json!({})));
    }
}
