//! Defaults of the kinds that run pods, and of autoscalers.
//!
//! In:  an object of such a kind.
//! Out: the object with the API server's defaults.
//! Source: DIFF-068, DIFF-071 (Kubernetes 1.36.1 `pkg/apis/{apps,batch,autoscaling}/*/defaults.go`).

use serde_json::json;

use super::access::Fill;
use super::pod;

/// Deployment. The beta versions differ in how much they default, but no cluster serves them any more.
pub fn deployment(object: &mut Fill<'_>, version: &str) {
    object.within("spec", |spec| {
        spec.set("replicas", 1);
        if let Some(mut strategy) = spec.make("strategy") {
            rolling(&mut strategy, |rolling| {
                rolling.set("maxUnavailable", "25%");
                rolling.set("maxSurge", "25%");
            });
        }
        if version == "v1" {
            spec.set("revisionHistoryLimit", 10);
            spec.set("progressDeadlineSeconds", 600);
        }
        pod::template(spec, "template");
    });
}

/// The type of a strategy, and its rolling update block where that is the type.
fn rolling(strategy: &mut Fill<'_>, fill: impl FnOnce(&mut Fill<'_>)) {
    strategy.set("type", "RollingUpdate");
    if strategy.text("type") == "RollingUpdate"
        && let Some(mut block) = strategy.make("rollingUpdate")
    {
        fill(&mut block);
    }
}

/// DaemonSet.
pub fn daemon_set(object: &mut Fill<'_>) {
    object.within("spec", |spec| {
        if let Some(mut strategy) = spec.make("updateStrategy") {
            rolling(&mut strategy, |rolling| {
                rolling.set("maxUnavailable", 1);
                rolling.set("maxSurge", 0);
            });
        }
        spec.set("revisionHistoryLimit", 10);
        pod::template(spec, "template");
    });
}

/// StatefulSet.
pub fn stateful_set(object: &mut Fill<'_>) {
    object.within("spec", |spec| {
        spec.set("podManagementPolicy", "OrderedReady");
        if let Some(mut strategy) = spec.make("updateStrategy") {
            let untyped = !strategy.has("type");
            strategy.set("type", "RollingUpdate");
            let block = if untyped { strategy.make("rollingUpdate") } else { strategy.child("rollingUpdate") };
            if let Some(mut block) = block {
                block.set("partition", 0);
            }
        }
        if let Some(mut retention) = spec.make("persistentVolumeClaimRetentionPolicy") {
            retention.set_all(&[("whenDeleted", "Retain"), ("whenScaled", "Retain")]);
        }
        spec.set("replicas", 1);
        spec.set("revisionHistoryLimit", 10);
        spec.each("volumeClaimTemplates", super::cluster::stored_claim);
        pod::template(spec, "template");
    });
}

/// ReplicaSet.
pub fn replica_set(object: &mut Fill<'_>) {
    object.within("spec", |spec| {
        spec.set("replicas", 1);
        pod::template(spec, "template");
    });
}

/// ReplicationController: labels and selector come from the template.
pub fn replication_controller(object: &mut Fill<'_>) {
    let labels = object.get("spec").and_then(|spec| spec.pointer("/template/metadata/labels")).cloned();
    if let Some(labels) = &labels
        && let Some(mut metadata) = object.make("metadata")
    {
        metadata.set("labels", labels.clone());
    }
    object.within("spec", |spec| {
        if let Some(labels) = labels {
            spec.set("selector", labels);
        }
        spec.set("replicas", 1);
        pod::template(spec, "template");
    });
}

fn job_spec(spec: &mut Fill<'_>) {
    if !spec.has("completions") && !spec.has("parallelism") {
        spec.set("completions", 1);
        spec.set("parallelism", 1);
    }
    spec.set("parallelism", 1);
    spec.set("completionMode", "NonIndexed");
    spec.set("suspend", false);
    let per_index = spec.has("backoffLimitPerIndex");
    spec.set("backoffLimit", if per_index { i64::from(i32::MAX) } else { 6 });
    let replacement = if spec.has("podFailurePolicy") { "Failed" } else { "TerminatingOrFailed" };
    spec.set("podReplacementPolicy", replacement);
    spec.set("manualSelector", false);
    spec.within("podFailurePolicy", |policy| {
        policy.each("rules", |rule| rule.each("onPodConditions", |condition| condition.set("status", "True")));
    });
    pod::template(spec, "template");
}

/// Job.
pub fn job(object: &mut Fill<'_>) {
    let labels = object.get("spec").and_then(|spec| spec.pointer("/template/metadata/labels")).cloned();
    if let Some(labels) = labels.filter(|labels| labels.as_object().is_some_and(|map| !map.is_empty()))
        && let Some(mut metadata) = object.make("metadata")
    {
        metadata.set("labels", labels);
    }
    object.within("spec", job_spec);
}

/// CronJob.
pub fn cron_job(object: &mut Fill<'_>) {
    object.within("spec", |spec| {
        spec.set("concurrencyPolicy", "Allow");
        spec.set("suspend", false);
        spec.set("successfulJobsHistoryLimit", 3);
        spec.set("failedJobsHistoryLimit", 1);
        // A template's spec gets only the pod defaults, since the job defaults belong to the kind Job.
        spec.within("jobTemplate", |template| template.within("spec", |spec| pod::template(spec, "template")));
    });
}

/// HorizontalPodAutoscaler.
pub fn autoscaler(object: &mut Fill<'_>, version: &str) {
    object.within("spec", |spec| {
        spec.set("minReplicas", 1);
        if version != "v2" {
            return;
        }
        if !spec.has_items("metrics") {
            let target = json!({"type": "Utilization", "averageUtilization": 80});
            spec.replace("metrics", json!([{"type": "Resource", "resource": {"name": "cpu", "target": target}}]));
        }
        spec.within("behavior", behavior);
    });
}

fn behavior(behavior: &mut Fill<'_>) {
    let percent = |value: i64| json!({"type": "Percent", "value": value, "periodSeconds": 15});
    let pods = json!({"type": "Pods", "value": 4, "periodSeconds": 15});
    let rules = [("scaleUp", vec![pods, percent(100)], Some(0)), ("scaleDown", vec![percent(100)], None)];
    for (name, policies, window) in rules {
        let Some(mut rule) = behavior.make(name) else { continue };
        rule.set("selectPolicy", "Max");
        if let Some(window) = window {
            rule.set("stabilizationWindowSeconds", window);
        }
        rule.set("policies", policies);
    }
}
