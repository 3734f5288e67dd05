//! Workload kinds beside those of Kubernetes: OpenKruise, OpenShift, Spark, Flink, Flagger, Ansible, Spot.

use serde_json::Value;

use super::Kinds;
use super::rule::{Step, Step::*, Test::*, conditions, is_match, is_observed, nothing, unjoined};
use crate::health::Code::{Degraded, Healthy, Missing, Progressing, Suspended, Unknown, Unset};
use crate::health::Health;
use crate::health::read::{at, flag, int, list, plain, text};

/// Where the scripts of OpenKruise's workloads read a rolling update that is not there.
const ROLLS: [Step; 3] = [
    Fails(&[That(has_current_status), Lacks("spec")], nothing!(7, "updateStrategy")),
    Fails(&[That(has_current_status), Lacks("spec.updateStrategy")], nothing!(7, "rollingUpdate")),
    Fails(&[That(has_current_status), Lacks("spec.updateStrategy.rollingUpdate")], nothing!(7, "paused")),
];

pub(super) const KINDS: Kinds = &[
    (
        "apps.kruise.io/CloneSet",
        &[
            Fails(&[That(has_current_status), Lacks("spec")], nothing!(7, "updateStrategy")),
            Fails(&[That(has_current_status), Lacks("spec.updateStrategy")], nothing!(7, "paused")),
            Fails(&[That(clone_set_uncounted)], "<string>:12: attempt to compare nil with nil"),
            By(clone_set),
            Else(Progressing, "Waiting for initialization"),
        ],
    ),
    (
        "apps.kruise.io/StatefulSet",
        &[ROLLS[0], ROLLS[1], ROLLS[2], By(kruise_stateful_set), Else(Progressing, "Waiting for initialization")],
    ),
    (
        "apps.kruise.io/DaemonSet",
        &[
            ROLLS[0],
            ROLLS[1],
            ROLLS[2],
            Fails(&[That(daemon_set_uncounted)], "<string>:12: cannot perform sub operation between nil and number"),
            By(kruise_daemon_set),
            Else(Progressing, "Waiting for initialization"),
        ],
    ),
    (
        "apps.kruise.io/BroadcastJob",
        &[
            Fails(&[Is("status.phase", "paused"), Lacks("spec")], nothing!(24, "paused")),
            By(broadcast_job),
            Else(Progressing, "BroadcastJob is still running"),
        ],
    ),
    (
        "apps.kruise.io/AdvancedCronJob",
        &[
            Fails(&[Lacks("status")], nothing!(5, "lastScheduleTime")),
            Fails(&[Lacks("status.lastScheduleTime"), Lacks("spec")], nothing!(11, "paused")),
            When(
                &[Lacks("status.lastScheduleTime"), Is("spec.paused", "true")],
                Suspended,
                "AdvancedCronJob is Paused",
            ),
            When(&[NotEmpty("status.active")], Progressing, "AdvancedCronJobs has active jobs"),
            When(&[Has("status.lastScheduleTime")], Healthy, "AdvancedCronJobs has run successfully"),
            Else(Degraded, "AdvancedCronJobs has not run successfully"),
        ],
    ),
    (
        "rollouts.kruise.io/Rollout",
        &[
            Fails(&[Lacks("status")], nothing!(3, "observedGeneration")),
            Fails(&[Fresh("status.observedGeneration"), Lacks("status.canaryStatus")], nothing!(5, "currentStepState")),
            When(
                &[
                    Fresh("status.observedGeneration"),
                    Is("status.canaryStatus.currentStepState", "StepPaused"),
                    Is("status.phase", "Progressing"),
                ],
                Suspended,
                "Rollout is Paused need manual intervention",
            ),
            When(
                &[
                    Fresh("status.observedGeneration"),
                    Is("status.canaryStatus.currentStepState", "Completed"),
                    Is("status.phase", "Healthy"),
                ],
                Healthy,
                "Rollout is Completed",
            ),
            When(
                &[
                    Fresh("status.observedGeneration"),
                    Is("status.canaryStatus.currentStepState", "StepPaused"),
                    Is("status.phase", "Terminating|Disabled"),
                ],
                Degraded,
                "Rollout is Disabled or Terminating",
            ),
            Else(Progressing, "Rollout is still progressing"),
        ],
    ),
    ("game.kruise.io/GameServer", &[By(game_server), Else(Unknown, "Waiting for GameServer to be ready")]),
    (
        "game.kruise.io/GameServerSet",
        &[
            Fails(&[That(has_current_status), Lacks("spec")], nothing!(4, "updateStrategy")),
            By(game_server_set),
            Else(Progressing, "Waiting for GameServerSet initialization"),
        ],
    ),
    (
        "apps.openshift.io/DeploymentConfig",
        &[By(deployment_config), Else(Progressing, "replication controller is waiting for pods to run")],
    ),
    (
        "flagger.app/Canary",
        &[
            Fails(&[Has("status"), Lacks("status.canaryWeight")], "<string>:5: attempt to compare number with nil"),
            Fails(
                &[Has("status"), Lacks("status.conditions")],
                "<string>:8: bad argument #1 to ipairs (table expected, got nil)",
            ),
            Fails(&[Unsaid("*", "message")], unjoined!(12, "string and nil")),
            Fails(&[Has("status"), Lacks("status.phase")], unjoined!(26, "nil and string")),
            By(canary),
            Else(Unknown, "No status"),
        ],
    ),
    (
        "flink.apache.org/FlinkDeployment",
        &[
            When(&[Is("status.reconciliationStatus.success", "true")], Healthy, ""),
            When(&[Is("status.reconciliationStatus.state", "DEPLOYED")], Healthy, ""),
            When(
                &[
                    Has("status.reconciliationStatus"),
                    Is("status.jobManagerDeploymentStatus", "DEPLOYED_NOT_READY|DEPLOYING"),
                ],
                Progressing,
                "Waiting for deploying",
            ),
            When(
                &[Has("status.reconciliationStatus"), Is("status.jobManagerDeploymentStatus", "ERROR")],
                Degraded,
                "{.status.reconciliationStatus.error}",
            ),
            Else(Progressing, "Waiting for Flink operator"),
        ],
    ),
    (
        "sparkoperator.k8s.io/SparkApplication",
        &[
            Fails(&[Has("status"), Lacks("status.applicationState")], nothing!(62, "state")),
            Fails(&[That(spark_counts), Lacks("spec")], nothing!(76, "executor")),
            Fails(&[That(spark_counts), Lacks("spec.executor")], nothing!(76, "instances")),
            By(spark_running),
            Match(
                "status.applicationState.state",
                &[
                    ("", Progressing, "SparkApplication was added, enqueuing it for submission"),
                    ("SUBMITTED", Progressing, "SparkApplication was submitted successfully"),
                    ("COMPLETED", Healthy, "SparkApplication was Completed"),
                    ("FAILED|SUBMISSION_FAILED|FAILING", Degraded, "{.status.applicationState.errorMessage}"),
                    ("PENDING_RERUN", Progressing, "SparkApplication is Pending Rerun"),
                    ("INVALIDATING", Missing, "SparkApplication is in InvalidatingState"),
                    (
                        "SUCCEEDING",
                        Progressing,
                        "The driver pod has been completed successfully. The executor pods terminate and are cleaned \
                         up.\nUnder this circumstances, we assume the executor pod are completed.",
                    ),
                    (
                        "UNKNOWN",
                        Progressing,
                        "SparkApplication is in UnknownState because either driver pod or one or all executor pods in \
                         unknown state  ",
                    ),
                ],
            ),
            Else(Progressing, "Waiting for Executor pods"),
        ],
    ),
    (
        "tower.ansible.com/AnsibleJob",
        &[
            Match(
                "status.ansibleJobResult.status",
                &[
                    ("successful", Healthy, "{.status.ansibleJobResult.status} job - {.status.ansibleJobResult.url!7}"),
                    (
                        "failed|error|canceled",
                        Degraded,
                        "{.status.ansibleJobResult.status} job - {.status.ansibleJobResult.url!12}",
                    ),
                    (
                        "new|pending|waiting|running",
                        Progressing,
                        "{.status.ansibleJobResult.status} job - {.status.ansibleJobResult.url!17}",
                    ),
                ],
            ),
            Else(Progressing, "Waiting for AnsibleJob"),
        ],
    ),
    (
        "spot.io/SpotDeployment",
        &[
            When(&[Lacks("status.conditions")], Unset, ""),
            Walk(&[
                ("InvalidSpec", Degraded, "{message}"),
                ("Progressing=*/RolloutAborted|ProgressDeadlineExceeded", Degraded, "{message}"),
                ("Paused=True", Suspended, "Rollout is paused"),
            ]),
            When(&[Is("status.phase", "Progressing")], Progressing, "Waiting for rollout to finish steps"),
            Else(Healthy, ""),
        ],
    ),
];

/// Whether a status exists and belongs to the present generation.
fn has_current_status(object: &Value) -> bool {
    !at(object, "status").is_null() && is_observed(object, at(object, "status.observedGeneration"))
}

/// Whether a partition holds an update back; a new object has nothing to hold back.
fn is_partitioned(object: &Value, partition: &Value) -> bool {
    partition.as_i64() != Some(0) && int(object, "metadata.generation") > 1
}

/// Whether a partitioned CloneSet lacks one of the counts that its script compares.
fn clone_set_uncounted(object: &Value) -> bool {
    has_current_status(object)
        && !flag(object, "spec.updateStrategy.paused")
        && !at(object, "status.updatedAvailableReplicas").is_null()
        && is_partitioned(object, at(object, "spec.updateStrategy.partition"))
        && at(object, "status.updatedReplicas").is_null()
        && at(object, "status.expectedUpdatedReplicas").is_null()
}

fn clone_set(object: &Value) -> Option<Health> {
    if !has_current_status(object) {
        return None;
    }
    let available = at(object, "status.updatedAvailableReplicas");
    if flag(object, "spec.updateStrategy.paused") || available.is_null() {
        return Some(Health::new(Suspended, "Cloneset is paused"));
    }
    if is_partitioned(object, at(object, "spec.updateStrategy.partition")) {
        let is_held = int(object, "status.updatedReplicas") >= int(object, "status.expectedUpdatedReplicas");
        return is_held.then(|| Health::new(Suspended, "Cloneset needs manual intervention"));
    }
    Some(if available.as_i64() == at(object, "status.replicas").as_i64() {
        Health::new(Healthy, "All Cloneset workloads are ready and updated")
    } else {
        Health::new(Degraded, "Some replicas are not ready or available")
    })
}

fn kruise_stateful_set(object: &Value) -> Option<Health> {
    if !has_current_status(object) {
        return None;
    }
    let available = at(object, "status.updatedAvailableReplicas");
    if flag(object, "spec.updateStrategy.rollingUpdate.paused") || available.is_null() {
        return Some(Health::new(Suspended, "Statefulset is paused"));
    }
    let partition = at(object, "spec.updateStrategy.rollingUpdate.partition");
    let replicas = at(object, "status.replicas");
    if is_partitioned(object, partition) {
        let kept = partition.as_i64().unwrap_or_default();
        let is_held = int(object, "status.updatedReplicas") > replicas.as_i64().unwrap_or_default() - kept;
        return is_held.then(|| Health::new(Suspended, "Statefulset needs manual intervention"));
    }
    Some(if available.as_i64() == replicas.as_i64() {
        Health::new(Healthy, "All Statefulset workloads are ready and updated")
    } else {
        Health::new(Degraded, "Some replicas are not ready or available")
    })
}

/// Whether a partitioned DaemonSet lacks the count from which its script takes the partition.
fn daemon_set_uncounted(object: &Value) -> bool {
    let partition = at(object, "spec.updateStrategy.rollingUpdate.partition");
    has_current_status(object)
        && !flag(object, "spec.updateStrategy.rollingUpdate.paused")
        && !at(object, "status.updatedNumberScheduled").is_null()
        && !partition.is_null()
        && is_partitioned(object, partition)
        && at(object, "status.desiredNumberScheduled").is_null()
}

fn kruise_daemon_set(object: &Value) -> Option<Health> {
    if !has_current_status(object) {
        return None;
    }
    let updated = at(object, "status.updatedNumberScheduled").as_i64();
    let desired = at(object, "status.desiredNumberScheduled").as_i64();
    if flag(object, "spec.updateStrategy.rollingUpdate.paused") || updated.is_none() {
        return Some(Health::new(Suspended, "Daemonset is paused"));
    }
    let partition = at(object, "spec.updateStrategy.rollingUpdate.partition");
    if !partition.is_null() && is_partitioned(object, partition) {
        let kept = partition.as_i64().unwrap_or_default();
        let is_held = updated > desired.map(|desired| desired - kept);
        return is_held.then(|| Health::new(Suspended, "Daemonset needs manual intervention"));
    }
    if updated == desired && at(object, "status.numberAvailable").as_i64() == desired {
        return Some(Health::new(Healthy, "All Daemonset workloads are ready and updated"));
    }
    let is_down = updated == desired && at(object, "status.numberUnavailable").as_i64() == desired;
    is_down.then(|| Health::new(Degraded, "Some pods are not ready or available"))
}

fn broadcast_job(object: &Value) -> Option<Health> {
    let phase = text(object, "status.phase");
    let is_zero = |path: &str| at(object, path).as_i64() == Some(0);
    if phase == "completed" && at(object, "status.desired").as_i64() == at(object, "status.succeeded").as_i64() {
        return Some(Health::new(Healthy, "BroadcastJob is completed successfully"));
    }
    if phase == "failed" && !is_zero("status.failed") {
        return Some(Health::new(Degraded, "BroadcastJob failed"));
    }
    (phase == "paused" && flag(object, "spec.paused")).then(|| Health::new(Suspended, "BroadcastJob is Paused"))
}

fn game_server(object: &Value) -> Option<Health> {
    at(object, "status").as_object()?;
    let current = at(object, "status.currentState").as_str();
    let desired = at(object, "status.desiredState").as_str();
    if current != desired {
        let (from, to) = (current.unwrap_or("Unknown"), desired.unwrap_or("Unknown"));
        return Some(Health::new(Progressing, format!("State change: {from} → {to}")));
    }
    let is_not_ready = |condition: &Value| is_match("KruisePodReady=!True", condition);
    if list(object, "status.podStatus.conditions").iter().any(is_not_ready) {
        return Some(Health::new(Degraded, "Pod is not ready: KruisePodReady"));
    }
    (current == Some("Ready")).then(|| Health::new(Healthy, "GameServer is Ready"))
}

fn game_server_set(object: &Value) -> Option<Health> {
    if !has_current_status(object) {
        return None;
    }
    if flag(object, "spec.updateStrategy.rollingUpdate.paused") {
        return Some(Health::new(Suspended, "GameServerSet is paused"));
    }
    let partition = int(object, "spec.updateStrategy.rollingUpdate.partition");
    let replicas = int(object, "status.replicas");
    let ready = int(object, "status.readyReplicas");
    if partition != 0 && int(object, "status.updatedReplicas") >= replicas - partition {
        let text = format!("Partition={partition}, waiting for manual intervention");
        return Some(Health::new(Suspended, text));
    }
    if int(object, "status.updatedReadyReplicas") == replicas {
        return Some(Health::new(Healthy, "All GameServerSet replicas are updated and ready"));
    }
    (ready < replicas).then(|| Health::new(Progressing, format!("ReadyReplicas {ready}/{replicas}, still progressing")))
}

fn deployment_config(object: &Value) -> Option<Health> {
    let replicas = at(object, "status.replicas").as_i64()?;
    if at(object, "status.conditions").is_null() {
        return None;
    }
    let is_good = |condition: &&Value| {
        is_match("Available=True", condition)
            || is_match("Progressing=True/NewReplicationControllerAvailable", condition)
    };
    Some(match conditions(object).iter().filter(is_good).count() {
        _ if replicas == 0 => Health::new(Healthy, "replication controller successfully rolled out"),
        2 => Health::new(Healthy, "replication controller successfully rolled out"),
        1 => Health::new(Progressing, "replication controller is waiting for pods to run"),
        _ => Health::new(Degraded, "Deployment config is degraded"),
    })
}

fn canary(object: &Value) -> Option<Health> {
    at(object, "status").as_object()?;
    let phase = text(object, "status.phase");
    let code = match phase {
        "Failed" => Degraded,
        "Progressing" | "Finalising" | "Promoting" => Progressing,
        "Succeeded" | "Initialized" => Healthy,
        _ => Unknown,
    };
    let weight = plain(at(object, "status.canaryWeight"));
    let has_weight = weight.parse::<f64>().is_ok_and(|weight| weight > 0.0);
    let weight = has_weight.then(|| format!("Canary Weight: {weight} %"));
    let messages = conditions(object).iter().map(|condition| text(condition, "message").to_owned());
    let parts: Vec<String> = weight.into_iter().chain(messages).collect();
    Some(Health::new(code, format!("{phase} --- {}", parts.join(" --- "))))
}

/// Whether the running executors of a SparkApplication are counted.
fn spark_counts(object: &Value) -> bool {
    text(object, "status.applicationState.state") == "RUNNING" && at(object, "status.executorState").is_object()
}

/// Healthy while enough executors run; with too few of them the application still waits for executor pods.
fn spark_running(object: &Value) -> Option<Health> {
    if text(object, "status.applicationState.state") != "RUNNING" {
        return None;
    }
    let executors = at(object, "status.executorState").as_object()?;
    let running = executors.values().filter(|state| state.as_str() == Some("RUNNING")).count();
    let running = i64::try_from(running).unwrap_or(i64::MAX);
    let instances = at(object, "spec.executor.instances").as_i64();
    let is_enough = instances == Some(running)
        || match spark_range(object) {
            Some((least, most)) => (least..=most).contains(&running),
            None => at(object, "spec.dynamicAllocation").is_null() && instances.is_none() && running >= 1,
        };
    is_enough.then(|| Health::new(Healthy, "SparkApplication is Running"))
}

/// Least and most executors of an application that scales them, from its spec or its Spark settings.
fn spark_range(object: &Value) -> Option<(i64, i64)> {
    if flag(object, "spec.dynamicAllocation.enabled") {
        let bound = |path: &str, default| at(object, path).as_i64().unwrap_or(default);
        return Some((
            bound("spec.dynamicAllocation.minExecutors", 0),
            bound("spec.dynamicAllocation.maxExecutors", i64::MAX),
        ));
    }
    let settings = at(object, "spec.sparkConf").as_object()?;
    let setting = |prefix: &str, name: &str| settings.get(&format!("{prefix}.dynamicAllocation.{name}"));
    let prefix = ["spark.streaming", "spark"]
        .into_iter()
        .find(|prefix| setting(prefix, "enabled").and_then(Value::as_str) == Some("true"))?;
    let bound = |name: &str, default| {
        setting(prefix, name).and_then(|value| plain(value).parse::<i64>().ok()).unwrap_or(default)
    };
    Some((bound("minExecutors", 0), bound("maxExecutors", i64::MAX)))
}
