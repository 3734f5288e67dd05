//! Tests of what people read. Facts come from the real comparison, so that texts are about what can happen.

mod diff;
mod fields;
mod next;
mod rules;
mod secrets;
mod text;

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use serde_json::{Value, json};

use super::{Facts, Report, why};
use crate::api::application::ResourceIgnoreDifferences;
use crate::api::status::{ResourceStatus, SyncStatus};
use crate::api::{Application, GroupKind, ObjectExt};
use crate::compare::{self, Pair, Paired};
use crate::diff::{Comparer, Difference, Settings, StartTimer, StatusField, SystemRules, TrackingRule};
use crate::guard::{self, Presence};
use crate::health::{self, Overrides};
use crate::sync::prune_guard::PruneGuard;
use crate::track::{Method, Tracking};

pub fn timer() -> StartTimer {
    Arc::new(|| Box::new(|| false))
}

pub fn app(extra: Value) -> Application {
    let mut app = json!({
        "metadata": {"name": "shop", "namespace": "argocd", "uid": "u1"},
        "spec": {"project": "default", "destination": {"server": "https://kubernetes.default.svc", "namespace": "shop"},
                 "source": {"repoURL": "https://git.example.com/shop.git", "path": "."}},
        "status": {},
    });
    json_patch::merge(&mut app, &extra);
    serde_json::from_value(app).expect("an Application")
}

pub fn deployment(name: &str, spec: Value) -> Value {
    json!({"apiVersion": "apps/v1", "kind": "Deployment", "metadata": {"name": name, "namespace": "shop"}, "spec": spec})
}

pub fn pair(target: Option<Value>, live: Option<Value>) -> Pair {
    Pair { target, live }
}

fn system() -> SystemRules {
    let mut system = SystemRules::default();
    system.ignore_status(StatusField::All);
    system
}

/// Facts as a controller would find them.
pub fn facts(app: Application, pairs: Vec<Pair>) -> Facts {
    facts_with(app, pairs, system())
}

pub fn facts_with(app: Application, pairs: Vec<Pair>, system: SystemRules) -> Facts {
    let rules: &[ResourceIgnoreDifferences] = &app.spec.ignore_differences;
    let comparer = Comparer::new(Settings {
        app_rules: rules,
        system: &system,
        tracking: TrackingRule { by_annotation: true, label_key: "app.kubernetes.io/instance".to_owned() },
        server_side_apply: app.spec.sync_options().iter().any(|option| option == "ServerSideApply=true"),
        timer: timer(),
    });
    let comparer = comparer.expect("rules that compile");
    let compare = |pair: &Pair| comparer.compare(pair.target.as_ref(), pair.live.as_ref()).expect("comparable");
    let differences: Vec<Difference> = pairs.iter().map(compare).collect();
    let paired = Paired { pairs, hooks: Vec::new() };
    let found = assess(&app, &paired, &differences);
    let overrides = Overrides::none();
    let healths = paired.pairs.iter().map(|pair| pair.live.as_ref().and_then(|o| health::of(o, &overrides).unwrap()));
    Facts {
        status: SyncStatus { status: found.0, revision: "4f2a1c9".to_owned(), ..SyncStatus::default() },
        health: found.1,
        conditions: Vec::new(),
        resources: found.2,
        healths: healths.collect(),
        differences,
        unknown_kinds: BTreeSet::new(),
        hidden: BTreeSet::new(),
        windows: Vec::new(),
        verdict: guard::decide(Some(&Presence::default()), false),
        prunes: Default::default(),
        prune_guard: PruneGuard::default(),
        backoff: Default::default(),
        now: "2026-01-02T03:04:05Z".parse().expect("a time"),
        paired,
        system,
        app,
    }
}

fn assess(app: &Application, paired: &Paired, differences: &[Difference]) -> (String, String, Vec<ResourceStatus>) {
    let tracking =
        Tracking { method: Method::Label, label_key: "app.kubernetes.io/instance".to_owned(), installation_id: None };
    let overrides = Overrides::none();
    let verdict = compare::assess(&compare::Inputs {
        app,
        paired,
        differences: Some(differences),
        failed: false,
        tracking: &tracking,
        namespaced: &|kind: &GroupKind| Some(kind.kind != "Namespace"),
        permits: &|_, _, _| true,
        health: &|object| health::of(object, &overrides).map_err(|error| error.to_string()),
        persist_health: false,
    });
    (verdict.sync, verdict.health.to_string(), verdict.resources)
}

/// The live twin of an object, with managers and what else the server adds.
pub fn live(mut object: Value, managers: Value) -> Value {
    let metadata = object.metadata_mut();
    metadata.insert("uid".to_owned(), "live".into());
    metadata.insert("resourceVersion".to_owned(), "7".into());
    metadata.insert("managedFields".to_owned(), managers);
    object
}

pub fn report(facts: &Facts) -> Report {
    why(facts, None, &timer())
}

#[test]
fn an_object_is_found_by_each_of_its_names() {
    let target = deployment("web", json!({"replicas": 1}));
    let facts = facts(app(json!({})), vec![pair(Some(target.clone()), Some(live(target, json!([]))))]);
    assert!(report(&facts).objects.is_empty(), "what is in sync is not told unasked");
    for (wanted, found) in [
        ("web", 1),
        ("Deployment/web", 1),
        ("deployment/web", 1),
        ("shop/web", 1),
        ("apps/Deployment/shop/web", 1),
        ("api", 0),
        ("StatefulSet/web", 0),
        ("apps/Deployment/prod/web", 0),
    ] {
        assert_eq!(why(&facts, Some(wanted), &timer()).objects.len(), found, "{wanted}");
    }
    let _: BTreeMap<String, Value> = serde_json::from_value(serde_json::to_value(report(&facts)).unwrap()).unwrap();
}
