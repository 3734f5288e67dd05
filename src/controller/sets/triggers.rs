//! Which changes make a set be looked at.
//!
//! In:  an object before and after.
//! Out: whether its set is due.
//! Source: SET-141 to SET-143 (`applicationset/controllers/applicationset_controller.go`
//! `shouldRequeueForApplicationSet`, `shouldRequeueForApplication`; `clustereventhandler.go`).

use serde_json::Value;

use crate::api::{ObjectExt, names};

/// Whether another state of a set calls for a look; its status does so only where syncs are rolled out.
pub fn set_changed(before: &Value, now: &Value, progressive: bool) -> bool {
    let differs = |pointer: &str| differs(before, now, pointer);
    if progressive && differs("/status/applicationStatus") {
        return true;
    }
    let pointers = ["/spec", "/metadata/labels", "/metadata/finalizers", "/metadata/deletionTimestamp"];
    if pointers.into_iter().any(differs) {
        return true;
    }
    // Taking the request for a refresh away is what a look ends with.
    let is_answered = before.annotation(names::SET_REFRESH).is_some() && now.annotation(names::SET_REFRESH).is_none();
    differs("/metadata/annotations") && !is_answered
}

/// Whether another state of an Application calls for a look at its set.
pub fn application_changed(before: &Value, now: &Value, progressive: bool) -> bool {
    let differs = |pointer: &str| differs(before, now, pointer);
    let own = ["/spec", "/metadata/annotations", "/metadata/labels", "/metadata/finalizers"];
    if own.into_iter().any(differs) {
        return true;
    }
    let operation = |object: &Value| object.pointer("/status/operationState").is_some();
    progressive
        && (differs("/status/health/status")
            || differs("/status/sync/status")
            || operation(before)
                && operation(now)
                && (differs("/status/operationState/phase") || differs("/status/operationState/startedAt")))
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

/// Whether a part differs; one that is empty is as one that is not there.
fn differs(before: &Value, now: &Value, pointer: &str) -> bool {
    let part = |object: &Value| object.pointer(pointer).map(without_empty).filter(|part| !is_empty(part));
    part(before) != part(now)
}

fn is_empty(value: &Value) -> bool {
    match value {
        Value::Null => true,
        Value::Array(list) => list.is_empty(),
        Value::Object(fields) => fields.is_empty(),
        _ => false,
    }
}

/// The value less its empty fields.
fn without_empty(value: &Value) -> Value {
    match value {
        Value::Object(fields) => {
            let kept = fields.iter().map(|(name, value)| (name.clone(), without_empty(value)));
            Value::Object(kept.filter(|(_, value)| !is_empty(value)).collect())
        }
        Value::Array(list) => list.iter().map(without_empty).collect(),
        other => other.clone(),
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[track_caller]
    fn check(of: fn(&Value, &Value, bool) -> bool, before: &Value, now: &Value, expect: [bool; 2]) {
        assert_eq!([of(before, now, false), of(before, now, true)], expect, "{before} {now}");
    }

    #[test]
    fn a_set_is_looked_at_for_what_users_write() {
        let asked = json!({"metadata": {"annotations": {"argocd.argoproj.io/application-set-refresh": "true"}}});
        let labelled = json!({"metadata": {"labels": {"a": "b"}}});
        let empty = json!({"metadata": {"labels": {}}, "spec": {"syncPolicy": {}}});
        let rolled = json!({"status": {"applicationStatus": [{"application": "a", "status": "Pending"}]}});
        let none = json!({"metadata": {}});
        check(set_changed, &none, &asked, [true, true]);
        check(set_changed, &asked, &none, [false, false]);
        check(set_changed, &none, &labelled, [true, true]);
        check(set_changed, &none, &empty, [false, false]);
        check(set_changed, &none, &rolled, [false, true]);
        check(set_changed, &none, &json!({"status": {"resourcesCount": 1}}), [false, false]);
        check(set_changed, &none, &json!({"metadata": {"deletionTimestamp": "2026-01-01T00:00:00Z"}}), [true, true]);
    }

    #[test]
    fn an_application_calls_its_set_for_what_the_set_owns() {
        let none = json!({"metadata": {}});
        check(application_changed, &none, &json!({"spec": {"project": "a"}}), [true, true]);
        check(application_changed, &none, &json!({"metadata": {"finalizers": ["a"]}}), [true, true]);
        check(application_changed, &none, &json!({"status": {"sync": {"status": "Synced"}}}), [false, true]);
        check(application_changed, &none, &json!({"operation": {"sync": {}}}), [false, false]);
        let state = |phase: &str| json!({"status": {"operationState": {"phase": phase}}});
        check(application_changed, &none, &state("Running"), [false, false]);
        check(application_changed, &state("Running"), &state("Succeeded"), [false, true]);
    }

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
