//! Clusters as objects: Cluster API, Gardener, Karmada.

use serde_json::Value;

use super::Kinds;
use super::rule::{Step, Step::*, Test::*, conditions, is_match, nothing, unjoined};
use crate::health::Code::{Degraded, Healthy, Progressing, Suspended, Unknown};
use crate::health::Health;
use crate::health::read::{at, flag, list, text};

const KARMADA: &[Step] = &[Fails(&[Has("status"), Lacks("spec")], nothing!(8, "clusters")), By(binding)];

pub(super) const KINDS: Kinds = &[
    (
        "cluster.x-k8s.io/Cluster",
        &[
            Fails(&[Lacks("spec")], nothing!(31, "paused")),
            When(&[Is("spec.paused", "true")], Suspended, "Cluster is paused"),
            Walk(&[("Ready=False", Degraded, "{message}")]),
            When(&[Is("status.phase", "Provisioned")], Healthy, "Cluster is running"),
            When(&[Is("status.phase", "Failed")], Degraded, ""),
            Else(Progressing, "Waiting for clusters"),
        ],
    ),
    (
        "cluster.x-k8s.io/Machine",
        &[
            When(&[Is("status.phase", "Running")], Healthy, "Machine is running"),
            When(&[Is("status.phase", "Failed"), Condition("Ready=False")], Degraded, "{Ready:message}"),
            When(&[Is("status.phase", "Failed")], Degraded, "Condition is unknown"),
            Walk(&[("Ready=False", Progressing, "{message}")]),
            Else(Progressing, "Condition is unknown"),
        ],
    ),
    (
        "cluster.x-k8s.io/MachineDeployment",
        &[
            Fails(&[Lacks("spec")], nothing!(5, "paused")),
            When(&[Is("spec.paused", "true")], Suspended, "MachineDeployment is paused"),
            Match(
                "status.phase",
                &[
                    ("Running", Healthy, "Machines are running under this deployment"),
                    ("ScalingUp", Progressing, "Cluster is spawning machines"),
                    ("ScalingDown", Progressing, "Cluster is stopping machines"),
                    ("Failed", Degraded, "MachineDeployment is failed"),
                ],
            ),
            Else(Progressing, "Waiting for machines"),
        ],
    ),
    ("cluster.x-k8s.io/MachineHealthCheck", &[By(machine_health_check)]),
    ("cluster.x-k8s.io/MachinePool", &[By(machine_pool)]),
    (
        "addons.cluster.x-k8s.io/ClusterResourceSet",
        &[
            Walk(&[
                ("ResourcesApplied=True", Healthy, "cluster resource set is applied"),
                ("ResourcesApplied=False", Degraded, "{message}"),
            ]),
            Else(Progressing, "Initializing cluster resource set"),
        ],
    ),
    (
        "controlplane.cluster.x-k8s.io/AWSManagedControlPlane",
        &[
            When(&[Lacks("status.conditions")], Progressing, "Provisioning..."),
            Walk(&[("Ready=True", Healthy, "Control plane is ready")]),
            Fails(&[That(has_unsaid_error)], unjoined!(26, "nil and string")),
            By(control_plane_errors),
            When(&[Is("status.ready", "false")], Progressing, "Control plane is not ready (.status.ready is false)"),
            Else(Progressing, "Control plane is not ready"),
        ],
    ),
    ("core.gardener.cloud/Shoot", &[By(shoot), Else(Progressing, "Update in progress")]),
    ("work.karmada.io/ResourceBinding", KARMADA),
    ("work.karmada.io/ClusterResourceBinding", KARMADA),
];

fn machine_health_check(object: &Value) -> Option<Health> {
    let healthy = at(object, "status.currentHealthy");
    Some(if healthy.is_null() {
        Health::new(Progressing, "")
    } else if at(object, "status.expectedMachines").as_i64() == healthy.as_i64() {
        Health::new(Healthy, "")
    } else {
        Health::new(Degraded, "")
    })
}

fn machine_pool(object: &Value) -> Option<Health> {
    let phase = at(object, "status.phase").as_str();
    let code = match phase {
        Some("Running" | "Scaling") => Healthy,
        Some("Failed" | "Unknown") => Degraded,
        _ => Progressing,
    };
    let failed: Vec<String> = conditions(object)
        .iter()
        .filter(|condition| is_match("*=False", condition) && at(condition, "type").is_string())
        .map(|condition| match at(condition, "reason").as_str() {
            Some(reason) => format!("Not {} ({reason})", text(condition, "type")),
            None => format!("Not {}", text(condition, "type")),
        })
        .collect();
    let mut message = phase.map(|phase| format!("MachinePool is {phase}")).unwrap_or_default();
    if !failed.is_empty() {
        message = format!("{message}: {}", failed.join(", "));
    }
    Some(Health::new(code, message))
}

/// Whether a failed condition that calls itself an error says nothing.
fn has_unsaid_error(object: &Value) -> bool {
    let is_unsaid = |condition: &Value| {
        is_match("*=False", condition) && text(condition, "severity") == "Error" && at(condition, "message").is_null()
    };
    conditions(object).iter().any(is_unsaid)
}

/// The messages of failed conditions that call themselves errors, each followed by a blank as Argo CD writes them.
fn control_plane_errors(object: &Value) -> Option<Health> {
    let is_error = |condition: &&Value| is_match("*=False", condition) && text(condition, "severity") == "Error";
    let errors: String =
        conditions(object).iter().filter(is_error).map(|error| format!("{} ", text(error, "message"))).collect();
    (!errors.is_empty()).then(|| Health::new(Degraded, errors))
}

fn shoot(object: &Value) -> Option<Health> {
    let label = object.pointer("/metadata/labels/shoot.gardener.cloud~1status")?.as_str()?;
    Some(match label {
        "healthy" => Health::new(Healthy, "Component state: Healthy"),
        "progressing" => Health::new(Progressing, "Component state: Update in progress"),
        "unhealthy" => Health::new(Degraded, "Component state: Unhealthy"),
        "unknown" => Health::new(Unknown, "Component state: Unknown"),
        _ => return None,
    })
}

fn binding(object: &Value) -> Option<Health> {
    let clusters = list(object, "spec.clusters");
    let reports = list(object, "status.aggregatedStatus");
    if clusters.is_empty() || clusters.len() != reports.len() {
        return Some(Health::new(Progressing, "Current resource status is insufficient"));
    }
    let is_bad = |report: &Value| match text(report, "health") {
        "Unhealthy" => true,
        "Unknown" => !flag(report, "applied"),
        _ => false,
    };
    Some(if reports.iter().any(is_bad) {
        Health::new(Degraded, "Current resource status is unhealthy")
    } else {
        Health::new(Healthy, "")
    })
}
