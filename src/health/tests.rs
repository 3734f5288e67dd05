//! Health of built-in kinds, the order of lookups, and health of whole applications.

use std::collections::BTreeMap;
use std::sync::Arc;

use serde_json::{Value, json};

use super::*;

fn check(object: Value, expected: Option<(Code, &str)>) {
    let found = of(&object, &Overrides::none()).expect("a check that works");
    assert_eq!(found, expected.map(|(code, message)| Health::new(code, message)), "{object}");
}

fn overrides(scripts: &[(&str, &str)]) -> Overrides {
    let scripts: BTreeMap<String, Script> = scripts
        .iter()
        .map(|(key, text)| ((*key).to_owned(), Script { script: (*text).to_owned(), open_libs: false }))
        .collect();
    let prefix = |pattern: &str, key: &str| pattern.strip_suffix('*').is_some_and(|prefix| key.starts_with(prefix));
    let start: StartRun = Arc::new(|| Run { now: jiff::Timestamp::UNIX_EPOCH, expired: Box::new(|| false) });
    Overrides::new(scripts, prefix, start)
}

fn deployment(spec: Value, status: Value) -> Value {
    json!({"apiVersion": "apps/v1", "kind": "Deployment", "metadata": {"name": "web", "namespace": "ns", "generation": 2},
           "spec": spec, "status": status})
}

#[test]
fn codes_are_ordered_from_healthy_to_unknown() {
    let order = [Code::Healthy, Code::Suspended, Code::Progressing, Code::Missing, Code::Degraded, Code::Unknown];
    for (index, code) in order.iter().enumerate() {
        for (other_index, other) in order.iter().enumerate() {
            assert_eq!(code.is_worse(*other), index > other_index, "{code} {other}");
        }
        assert_eq!(Code::parse(code.as_str()), Some(*code));
    }
    assert!(!Code::Unset.is_worse(Code::Healthy) && !Code::Healthy.is_worse(Code::Unset));
    assert_eq!(Code::parse("healthy"), None);
}

#[test]
fn deletion_precedes_scripts_unless_a_hook_is_being_finished() {
    let mut object = deployment(json!({}), json!({}));
    object["metadata"]["deletionTimestamp"] = json!("2026-01-01T00:00:00Z");
    let scripts = overrides(&[("apps/Deployment", "return {status = 'Suspended'}")]);
    assert_eq!(of(&object, &scripts).unwrap(), Some(Health::new(Code::Progressing, "Pending deletion")));
    object["metadata"]["finalizers"] = json!(["argocd.argoproj.io/hook-finalizer"]);
    assert_eq!(of(&object, &scripts).unwrap(), Some(Health::new(Code::Suspended, "")));
}

#[test]
fn exact_script_wins_over_wildcards_and_empty_ones_block_nothing() {
    let object = deployment(json!({"paused": true}), json!({}));
    let exact = ("apps/Deployment", "return {status = 'Healthy', message = 'exact'}");
    let wild = ("apps/*", "return {status = 'Healthy', message = 'wild'}");
    let message = |scripts: &[(&str, &str)]| of(&object, &overrides(scripts)).unwrap().unwrap().message;
    assert_eq!(message(&[exact, wild]), "exact");
    assert_eq!(message(&[wild]), "wild");
    assert_eq!(message(&[("apps/Deployment", ""), wild]), "wild");
    assert_eq!(message(&[("apps/Deployment", ""), ("*", "")]), "Deployment is paused");
}

#[test]
fn core_kinds_are_looked_up_without_a_slash() {
    let pod = json!({"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "x"}});
    let health = of(&pod, &overrides(&[("ConfigMap", "return {status = 'Degraded'}")])).unwrap();
    assert_eq!(health, Some(Health::new(Code::Degraded, "")));
    check(pod, None);
}

#[test]
fn failed_script_is_unknown_and_names_the_object_in_the_condition() {
    let object = json!({"apiVersion": "a.example/v1", "kind": "Text", "metadata": {"name": "t", "namespace": "ns"}});
    let error = of(&object, &overrides(&[("a.example/Text", "return 'x'")])).unwrap_err();
    let text = "expect table output from Lua script, not string";
    assert_eq!(error.health(), Health::new(Code::Unknown, text));
    assert_eq!(
        error.condition(&object),
        format!(
            "error setting app health: failed to get resource health for \"Text\" with name \"t\" in namespace \"ns\": \
             failed to get resource health for ns/t: {text}"
        )
    );
}

#[test]
fn old_versions_of_built_in_kinds_are_errors() {
    let object = json!({"apiVersion": "apps/v1beta1", "kind": "Deployment", "metadata": {"name": "x"}});
    let error = of(&object, &Overrides::none()).unwrap_err();
    assert_eq!(error.to_string(), "unsupported Deployment GVK: apps/v1beta1, Kind=Deployment");
}

#[test]
fn deployments() {
    let replicas = json!({"replicas": 3});
    let observed = |more: Value| {
        let mut status = json!({"observedGeneration": 2});
        status.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
        status
    };
    check(deployment(json!({"paused": true}), json!({})), Some((Code::Suspended, "Deployment is paused")));
    let text = "Waiting for rollout to finish: observed deployment generation less than desired generation";
    check(deployment(json!({}), json!({"observedGeneration": 1})), Some((Code::Progressing, text)));
    let late = json!({"conditions": [{"type": "Progressing", "status": "True", "reason": "ProgressDeadlineExceeded"}]});
    check(
        deployment(json!({}), observed(late)),
        Some((Code::Degraded, "Deployment \"web\" exceeded its progress deadline")),
    );
    let text = "Waiting for rollout to finish: 1 out of 3 new replicas have been updated...";
    check(deployment(replicas.clone(), observed(json!({"updatedReplicas": 1}))), Some((Code::Progressing, text)));
    let text = "Waiting for rollout to finish: 1 old replicas are pending termination...";
    let old = observed(json!({"updatedReplicas": 3, "replicas": 4}));
    check(deployment(replicas.clone(), old), Some((Code::Progressing, text)));
    let text = "Waiting for rollout to finish: 2 of 3 updated replicas are available...";
    let unavailable = observed(json!({"updatedReplicas": 3, "replicas": 3, "availableReplicas": 2}));
    check(deployment(replicas.clone(), unavailable), Some((Code::Progressing, text)));
    let done = observed(json!({"updatedReplicas": 3, "replicas": 3, "availableReplicas": 3}));
    check(deployment(replicas, done), Some((Code::Healthy, "")));
}

#[test]
fn stateful_sets() {
    let set = |strategy: Value, status: Value| {
        json!({"apiVersion": "apps/v1", "kind": "StatefulSet", "metadata": {"name": "db", "generation": 1},
               "spec": {"replicas": 3, "updateStrategy": strategy}, "status": status})
    };
    let rolling = json!({"type": "RollingUpdate", "rollingUpdate": {"partition": 1}});
    let text = "Waiting for statefulset spec update to be observed...";
    check(set(rolling.clone(), json!({})), Some((Code::Progressing, text)));
    let status = |ready: i64, updated: i64| {
        json!({"observedGeneration": 1, "readyReplicas": ready, "updatedReplicas": updated, "currentReplicas": 3,
               "updateRevision": "b", "currentRevision": "a"})
    };
    check(set(rolling.clone(), status(1, 3)), Some((Code::Progressing, "Waiting for 2 pods to be ready...")));
    let text = "Waiting for partitioned roll out to finish: 1 out of 2 new pods have been updated...";
    check(set(rolling.clone(), status(3, 1)), Some((Code::Progressing, text)));
    let text = "partitioned roll out complete: 2 new pods have been updated...";
    check(set(rolling, status(3, 2)), Some((Code::Healthy, text)));
    check(set(json!({"type": "OnDelete"}), status(3, 1)), Some((Code::Healthy, "statefulset has 3 ready pods")));
    let text = "waiting for statefulset rolling update to complete 1 pods at revision b...";
    check(set(json!({"type": "RollingUpdate"}), status(3, 1)), Some((Code::Progressing, text)));
}

#[test]
fn daemon_and_replica_sets() {
    let daemon = |strategy: &str, updated: i64, available: i64| {
        json!({"apiVersion": "apps/v1", "kind": "DaemonSet", "metadata": {"name": "d", "generation": 1},
               "spec": {"updateStrategy": {"type": strategy}},
               "status": {"observedGeneration": 1, "desiredNumberScheduled": 2, "updatedNumberScheduled": updated,
                          "numberAvailable": available}})
    };
    check(daemon("OnDelete", 1, 0), Some((Code::Healthy, "daemon set 1 out of 2 new pods have been updated")));
    let text = "Waiting for daemon set \"d\" rollout to finish: 1 out of 2 new pods have been updated...";
    check(daemon("RollingUpdate", 1, 2), Some((Code::Progressing, text)));
    let text = "Waiting for daemon set \"d\" rollout to finish: 1 of 2 updated pods are available...";
    check(daemon("RollingUpdate", 2, 1), Some((Code::Progressing, text)));
    check(daemon("RollingUpdate", 2, 2), Some((Code::Healthy, "")));
    let failed = json!({"apiVersion": "apps/v1", "kind": "ReplicaSet", "metadata": {}, "spec": {"replicas": 1},
        "status": {"conditions": [{"type": "ReplicaFailure", "status": "True", "message": "quota"}]}});
    check(failed, Some((Code::Degraded, "quota")));
    let short = json!({"apiVersion": "apps/v1", "kind": "ReplicaSet", "metadata": {}, "spec": {"replicas": 1}});
    let text = "Waiting for rollout to finish: 0 out of 1 new replicas are available...";
    check(short, Some((Code::Progressing, text)));
}

#[test]
fn pods() {
    let pod = |policy: &str, status: Value| {
        json!({"apiVersion": "v1", "kind": "Pod", "metadata": {"name": "p"}, "spec": {"restartPolicy": policy},
               "status": status})
    };
    let stuck = json!({"phase": "Pending", "containerStatuses": [
        {"state": {"waiting": {"reason": "ErrImagePull", "message": "a"}}},
        {"state": {"waiting": {"reason": "ImagePullBackOff", "message": "b"}}},
        {"state": {"waiting": {"reason": "ContainerCreating", "message": "c"}}}]});
    check(pod("Always", stuck.clone()), Some((Code::Degraded, "a, b")));
    check(pod("Never", stuck), Some((Code::Progressing, "")));
    let failed = json!({"phase": "Failed", "initContainerStatuses": [{"name": "i", "state": {"terminated": {"exitCode": 0}}}],
        "containerStatuses": [{"name": "c", "state": {"terminated": {"exitCode": 3}}}]});
    check(pod("Never", failed), Some((Code::Degraded, "container \"c\" failed with exit code 3")));
    let ready = json!({"phase": "Running", "conditions": [{"type": "Ready", "status": "True"}]});
    check(pod("Always", ready), Some((Code::Healthy, "")));
    let crashed = json!({"phase": "Running", "containerStatuses": [{"lastState": {"terminated": {"exitCode": 1}}}]});
    check(pod("Always", crashed.clone()), Some((Code::Degraded, "")));
    check(pod("OnFailure", crashed), Some((Code::Progressing, "")));
    check(pod("Always", json!({"phase": "Odd", "message": "m"})), Some((Code::Unknown, "m")));
}

#[test]
fn resumed_jobs_are_healthy_and_suspended_ones_have_no_text() {
    let job = |conditions: Value| json!({"apiVersion": "batch/v1", "kind": "Job", "metadata": {}, "status": {"conditions": conditions}});
    check(job(json!([])), Some((Code::Progressing, "")));
    let suspended = |status: &str| json!([{"type": "Suspended", "status": status, "message": "m"}]);
    check(job(suspended("True")), Some((Code::Suspended, "")));
    check(job(suspended("False")), Some((Code::Healthy, "m")));
    check(job(json!([{"type": "Failed", "status": "True", "message": "m"}])), Some((Code::Degraded, "m")));
}

#[test]
fn storage_network_and_scaling() {
    let pvc = |phase: &str| json!({"apiVersion": "v1", "kind": "PersistentVolumeClaim", "status": {"phase": phase}});
    check(pvc("Lost"), Some((Code::Degraded, "")));
    check(pvc("Bound"), Some((Code::Healthy, "")));
    check(pvc("Odd"), Some((Code::Unknown, "")));
    let service = json!({"apiVersion": "v1", "kind": "Service", "spec": {"type": "LoadBalancer"}});
    check(service, Some((Code::Progressing, "")));
    let ingress = json!({"apiVersion": "networking.k8s.io/v1", "kind": "Ingress",
        "status": {"loadBalancer": {"ingress": [{"ip": "1.2.3.4"}]}}});
    check(ingress, Some((Code::Healthy, "")));
    let hpa = |version: &str, metadata: Value, conditions: Value| {
        json!({"apiVersion": version, "kind": "HorizontalPodAutoscaler", "metadata": metadata,
               "status": {"conditions": conditions}})
    };
    let failed = json!([{"type": "AbleToScale", "status": "True", "message": "able"},
        {"type": "ScalingActive", "status": "True", "reason": "InvalidSelector", "message": "m"}]);
    check(hpa("autoscaling/v2", json!({}), failed.clone()), Some((Code::Degraded, "m")));
    check(hpa("autoscaling/v1", json!({}), failed), Some((Code::Progressing, "Waiting to Autoscale")));
    let old = json!({"annotations": {"autoscaling.alpha.kubernetes.io/conditions":
        r#"[{"type": "ScalingLimited", "status": "True", "message": "m"}]"#}});
    check(hpa("autoscaling/v1", old, json!([])), Some((Code::Healthy, "m")));
    let api = json!({"apiVersion": "apiregistration.k8s.io/v1", "kind": "APIService",
        "status": {"conditions": [{"type": "Available", "status": "False", "reason": "r", "message": "m"}]}});
    check(api, Some((Code::Progressing, "r: m")));
}

#[test]
fn library_rules_never_fail_on_objects_without_status() {
    let rollout = json!({"apiVersion": "argoproj.io/v1alpha1", "kind": "Rollout", "metadata": {"generation": 1}});
    check(rollout, Some((Code::Progressing, "Waiting for rollout spec update to be observed")));
    let bucket = json!({"apiVersion": "s3.aws.upbound.io/v1", "kind": "Bucket"});
    check(bucket, Some((Code::Healthy, "Resource is up-to-date.")));
    let application = json!({"apiVersion": "argoproj.io/v1alpha1", "kind": "Application"});
    check(application, None);
}

fn live(health: Option<Code>) -> Item {
    Item { live: Some(Live { health, ..Live::default() }), ..Item::default() }
}

#[test]
fn worst_resource_decides_and_suspended_is_better_than_progressing() {
    assert_eq!(aggregate(&[]), Code::Healthy);
    assert_eq!(aggregate(&[live(None)]), Code::Healthy);
    assert_eq!(aggregate(&[live(Some(Code::Suspended)), live(Some(Code::Progressing))]), Code::Progressing);
    assert_eq!(aggregate(&[live(Some(Code::Suspended)), live(Some(Code::Unset))]), Code::Suspended);
}

#[test]
fn absent_resources_count_only_when_nothing_is_live() {
    let absent = Item::default();
    assert_eq!(absent.own_health(), Some(Code::Missing));
    assert_eq!(aggregate(&[absent, live(Some(Code::Healthy))]), Code::Healthy);
    assert_eq!(aggregate(&[absent, absent]), Code::Missing);
    let skipped = Item { is_skipped: true, ..absent };
    assert_eq!(aggregate(&[skipped]), Code::Healthy);
    let hook = Item { is_hook: true, ..live(Some(Code::Degraded)) };
    assert_eq!(aggregate(&[hook]), Code::Healthy);
    assert_eq!(aggregate(&[hook, absent]), Code::Missing);
}

#[test]
fn ignored_checks_the_app_itself_and_unknown_children_do_not_count_but_are_live() {
    let with = |ignores_healthcheck, is_self, is_application, code| Item {
        live: Some(Live { ignores_healthcheck, is_self, is_application, health: Some(code) }),
        ..Item::default()
    };
    let absent = Item::default();
    let ignored = with(true, false, false, Code::Degraded);
    assert_eq!(aggregate(&[ignored, absent]), Code::Healthy);
    assert_eq!(ignored.own_health(), None);
    assert_eq!(aggregate(&[with(false, true, true, Code::Degraded)]), Code::Healthy);
    assert_eq!(aggregate(&[with(false, false, true, Code::Unknown)]), Code::Healthy);
    assert_eq!(aggregate(&[with(false, false, true, Code::Degraded)]), Code::Degraded);
}

#[test]
fn folder_of_scripts_is_asked_after_the_settings_and_before_the_library() {
    let script = |text: &str| format!("return {{status = 'Degraded', message = '{text}'}}");
    let folder = [
        ("example.com/Widget", "exact"),
        ("_.example.com/_", "wildcard"),
        ("batch/CronJob", "own"),
        ("Pod", "core"),
        ("example.com/Gadget", "folder"),
    ];
    let folder = ScriptFolder::new(folder.map(|(dir, text)| (dir.to_owned(), script(text))));
    let overrides = overrides(&[("example.com/Gadget", &script("settings"))]).with_folder(folder);
    for (api_version, kind, expect) in [
        ("example.com/v1", "Widget", "exact"),
        ("a.b.example.com/v1", "Widget", "wildcard"),
        ("batch/v1", "CronJob", "own"),
        ("v1", "Pod", "core"),
        ("example.com/v1", "Gadget", "settings"),
    ] {
        let object = json!({"apiVersion": api_version, "kind": kind});
        let found = of(&object, &overrides).unwrap().expect("a script for it");
        assert_eq!(found, Health::new(Code::Degraded, expect));
    }
    assert_eq!(of(&json!({"apiVersion": "example.com/v1", "kind": "Other"}), &overrides).unwrap(), None);
    let going = json!({"apiVersion": "v1", "kind": "Pod", "metadata": {"deletionTimestamp": "2026-01-01T00:00:00Z"}});
    assert_eq!(of(&going, &overrides).unwrap(), Some(Health::new(Code::Progressing, "Pending deletion")));
    assert_eq!(by_rule(&going, &overrides).unwrap(), Some(Health::new(Code::Degraded, "core")));
}

#[test]
fn a_rule_fails_where_argo_cd_s_script_does_and_in_its_words() {
    let check = |object: Value, text: &str| {
        let error = of(&object, &Overrides::none()).expect_err("fails");
        assert_eq!(error.health(), Health::new(Code::Unknown, text));
        assert_eq!(error.to_string(), format!("failed to get resource health for ns/a: {text}"));
    };
    let object = |api: &str, kind: &str, rest: Value| {
        let mut object = json!({"apiVersion": api, "kind": kind, "metadata": {"namespace": "ns", "name": "a"}});
        object.as_object_mut().unwrap().extend(rest.as_object().unwrap().clone());
        object
    };
    check(
        object("postgresql.cnpg.io/v1", "Cluster", json!({"spec": {}})),
        "<string>:68: attempt to index a non-table object(nil) with key 'phaseReason'",
    );
    check(
        object("source.toolkit.fluxcd.io/v1", "GitRepository", json!({})),
        "<string>:2: attempt to index a non-table object(nil) with key 'suspend'",
    );
    let conditions = |list: Value| json!({"status": {"conditions": list}});
    let installed = json!({"type": "Installed", "status": "True", "reason": "Active"});
    check(
        object("pkg.crossplane.io/v1", "Provider", conditions(json!([installed]))),
        "<string>:20: cannot perform concat operation between string and nil",
    );
    let healthy = json!({"type": "Healthy", "status": "True", "reason": "Healthy"});
    check(
        object("pkg.crossplane.io/v1", "Provider", conditions(json!([healthy]))),
        "<string>:20: cannot perform concat operation between nil and string",
    );
}
