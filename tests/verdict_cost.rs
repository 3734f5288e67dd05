//! What a comparison of an application with 500 objects in sync costs.
//!
//! In:  500 Deployments, ConfigMaps, Services and others with their live forms.
//! Out: the processor time of normalising, diffing, assessing and judging health of all, printed; a comparison that
//! takes longer than its budget fails.

use std::sync::Arc;
use std::time::Duration;

use litecd::api::{ObjectExt, names};
use litecd::diff::{self, Comparer, StatusField, SystemRules, TrackingRule};
use litecd::{api, compare, health, track};
use serde_json::{Value, json};

const OBJECTS: usize = 500;

/// For an optimised build; without optimisation it is a tenth of the speed.
const BUDGET: Duration = Duration::from_millis(if cfg!(debug_assertions) { 1500 } else { 100 });

fn target(index: usize) -> Value {
    let name = format!("object-{index}");
    let mut object = match index % 4 {
        0 => json!({"apiVersion": "apps/v1", "kind": "Deployment", "spec": {
            "replicas": 2, "selector": {"matchLabels": {"app": name}},
            "template": {"metadata": {"labels": {"app": name}}, "spec": {"containers": [
                {"name": "main", "image": "example.com/main:1", "ports": [{"containerPort": 8080}],
                 "env": [{"name": "A", "value": "1"}, {"name": "B", "value": "2"}],
                 "resources": {"requests": {"cpu": "100m", "memory": "128Mi"}, "limits": {"memory": "1Gi"}}},
                {"name": "side", "image": "example.com/side:1"}]}}}}),
        1 => json!({"apiVersion": "v1", "kind": "ConfigMap", "data": {"a": "1", "b": "x".repeat(500)}}),
        2 => {
            json!({"apiVersion": "v1", "kind": "Service", "spec": {"selector": {"app": name}, "ports": [{"port": 80}]}})
        }
        _ => {
            json!({"apiVersion": "example.com/v1", "kind": "Widget", "spec": {"size": 3, "list": [{"a": 1}, {"b": 2}]}})
        }
    };
    let id = format!("app:{}/{}:ns/{name}", object.group(), object.kind());
    object["metadata"] =
        json!({"name": name, "namespace": "ns", "labels": {"app": name}, "annotations": {names::TRACKING_ID: id}});
    object
}

/// The object as the API server would hold it: defaults, status, bookkeeping, and what was applied last.
fn live(target: &Value) -> Value {
    let mut live = diff::with_last_applied(target);
    live["metadata"]["uid"] = target.name().into();
    live["metadata"]["resourceVersion"] = "12345".into();
    live["metadata"]["generation"] = 1.into();
    live["metadata"]["managedFields"] = json!([{"manager": "argocd-controller", "operation": "Update", "fieldsV1":
        {"f:metadata": {"f:annotations": {}, "f:labels": {"f:app": {}}}, "f:spec": {"f:replicas": {}, "f:template": {}}}}]);
    if target.kind() == "Deployment" {
        live["spec"]["progressDeadlineSeconds"] = 600.into();
        live["spec"]["template"]["spec"]["dnsPolicy"] = "ClusterFirst".into();
        live["spec"]["template"]["spec"]["containers"][0]["imagePullPolicy"] = "IfNotPresent".into();
        live["status"] = json!({"observedGeneration": 1, "replicas": 2, "updatedReplicas": 2, "availableReplicas": 2});
    }
    live
}

fn settings(system: &SystemRules) -> diff::Settings<'_> {
    diff::Settings {
        app_rules: &[],
        system,
        tracking: TrackingRule { by_annotation: true, label_key: names::INSTANCE_LABEL.to_owned() },
        server_side_apply: false,
        timer: Arc::new(|| Box::new(|| false)),
    }
}

/// What this thread has used; other work on the machine does not count.
fn processor_time() -> Duration {
    let stat = std::fs::read_to_string("/proc/thread-self/schedstat").unwrap();
    Duration::from_nanos(stat.split_whitespace().next().unwrap().parse().unwrap())
}

#[test]
fn five_hundred_objects_in_sync_are_compared_within_their_budget() {
    let pairs: Vec<compare::Pair> = (0..OBJECTS)
        .map(target)
        .map(|target| compare::Pair { live: Some(live(&target)), target: Some(target) })
        .collect();
    let mut system = SystemRules::default();
    system.ignore_status(StatusField::All);
    let app = api::Application::default();
    let paired = compare::Paired { pairs, hooks: Vec::new() };
    let overrides = health::Overrides::none();
    let mut best = Duration::MAX;
    for _ in 0..3 {
        let start = processor_time();
        let comparer = Comparer::new(settings(&system)).unwrap();
        let differs = |pair: &compare::Pair| comparer.compare(pair.target.as_ref(), pair.live.as_ref()).unwrap();
        let differences: Vec<diff::Difference> = paired.pairs.iter().map(differs).collect();
        let verdict = compare::assess(&compare::Inputs {
            app: &app,
            paired: &paired,
            differences: Some(&differences),
            failed: false,
            tracking: &track::Tracking::default(),
            namespaced: &|_| Some(true),
            permits: &|_, _, _| true,
            health: &|object| health::of(object, &overrides).map_err(|error| error.to_string()),
            persist_health: false,
        });
        best = best.min(processor_time() - start);
        assert_eq!((verdict.sync.as_str(), verdict.health), ("Synced", health::Code::Healthy));
        assert_eq!(verdict.resources.len(), OBJECTS);
    }
    println!("{OBJECTS} objects in sync: {} ms, budget {} ms", best.as_millis(), BUDGET.as_millis());
    assert!(best < BUDGET, "{best:?}");
}
