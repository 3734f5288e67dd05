//! Tests of pairing, and of when a comparison is due.

use std::collections::BTreeMap;
use std::time::Duration;

use jiff::Timestamp;
use serde_json::{Value, json};

use super::{Level, Periods, due, pair};
use crate::api::{Application, GroupKind, ObjectExt, ResourceKey};

fn object(kind: &str, namespace: &str, name: &str, uid: &str) -> Value {
    let mut object = json!({"apiVersion": "v1", "kind": kind, "metadata": {"name": name, "uid": uid}});
    if !namespace.is_empty() {
        object["metadata"]["namespace"] = namespace.into();
    }
    object
}

fn by_key(objects: Vec<Value>) -> BTreeMap<ResourceKey, Value> {
    objects.into_iter().map(|object| (object.key(), object)).collect()
}

fn scope(kind: &GroupKind) -> Option<bool> {
    match kind.kind.as_str() {
        "Namespace" => Some(false),
        "Strange" => None,
        _ => Some(true),
    }
}

#[test]
fn what_left_the_sources_is_paired_with_no_target() {
    let live = by_key(vec![object("ConfigMap", "ns", "kept", "1"), object("ConfigMap", "ns", "left", "2")]);
    let paired = pair(vec![object("ConfigMap", "ns", "kept", "")], live, "ns", &scope);
    let found: Vec<_> =
        paired.pairs.iter().map(|p| (p.target.is_some(), p.live.as_ref().map(|o| o.name().to_owned()))).collect();
    assert_eq!(found, [(true, Some("kept".to_owned())), (false, Some("left".to_owned()))]);
}

#[test]
fn a_kind_of_unknown_scope_is_looked_for_in_both() {
    let live = by_key(vec![object("Strange", "", "one", "1")]);
    let paired = pair(vec![object("Strange", "ns", "one", "")], live, "ns", &scope);
    assert_eq!(paired.pairs.len(), 1, "the live object must not look like one to prune");
    assert!(paired.pairs[0].live.is_some());
}

#[test]
fn hooks_are_no_targets_and_their_live_objects_stay() {
    let mut hook = object("Job", "ns", "seed", "");
    hook.set_annotation("argocd.argoproj.io/hook", "PreSync");
    let mut live_hook = hook.clone();
    live_hook["metadata"]["uid"] = "1".into();
    let mut unknown = object("Job", "ns", "odd", "");
    unknown.set_annotation("argocd.argoproj.io/hook", "Nonsense");
    let paired = pair(vec![hook, unknown], by_key(vec![live_hook]), "ns", &scope);
    assert_eq!(paired.hooks.len(), 1);
    assert_eq!(paired.pairs.len(), 1);
    assert!(paired.pairs[0].target.is_none());
}

#[test]
fn of_one_object_served_twice_the_copy_without_target_goes() {
    let mut copy = object("Deployment", "ns", "web", "1");
    copy["apiVersion"] = "extensions/v1beta1".into();
    let mut wanted = object("Deployment", "ns", "web", "1");
    wanted["apiVersion"] = "apps/v1".into();
    let paired = pair(vec![wanted.clone()], by_key(vec![copy, wanted]), "ns", &scope);
    assert_eq!(paired.pairs.len(), 1);
}

fn app(status: Value, annotations: Value) -> Application {
    let spec = json!({"project": "p", "destination": {"server": "s", "namespace": "n"}, "source": {"repoURL": "r", "path": "."}});
    let app = json!({"metadata": {"name": "a", "annotations": annotations}, "spec": spec, "status": status});
    serde_json::from_value(app).expect("an Application")
}

fn compared(reconciled_at: &str) -> Value {
    json!({"reconciledAt": reconciled_at, "sync": {"status": "Synced", "comparedTo": {
        "destination": {"server": "s", "namespace": "n"}, "source": {"repoURL": "r", "path": "."}}}})
}

#[track_caller]
fn check_due(app: &Application, requested: Option<Level>, expect: Option<(Level, bool)>) {
    let now: Timestamp = "2026-01-01T00:10:00Z".parse().expect("a time");
    let periods = Periods { soft: Some(Duration::from_secs(300)), hard: None };
    assert_eq!(due(app, periods, requested, now).map(|due| (due.level, due.hard)), expect);
}

#[test]
fn a_comparison_is_due_for_the_first_reason_that_holds() {
    let fresh = compared("2026-01-01T00:09:00Z");
    check_due(&app(fresh.clone(), json!({})), None, None);
    check_due(&app(fresh.clone(), json!({})), Some(Level::Recent), Some((Level::Recent, false)));
    check_due(&app(compared("2026-01-01T00:05:00Z"), json!({})), Some(Level::Recent), Some((Level::Latest, false)));
    check_due(&app(json!({}), json!({})), None, Some((Level::LatestForceResolve, false)));
    let refresh = json!({"argocd.argoproj.io/refresh": "hard"});
    check_due(&app(fresh.clone(), refresh), None, Some((Level::LatestForceResolve, true)));
    let refresh = json!({"argocd.argoproj.io/refresh": ""});
    check_due(&app(fresh, refresh), None, Some((Level::LatestForceResolve, false)));
}
