//! Virtual machines and nodes: KubeVirt, Karpenter, nmstate.

use serde_json::Value;

use super::Kinds;
use super::rule::{Step::*, Test::*, conditions, is_match, unjoined};
use crate::health::Code::{Degraded, Healthy, Progressing, Suspended, Unknown};
use crate::health::Health;
use crate::health::read::{at, flag, text};

pub(super) const KINDS: Kinds = &[
    (
        "karpenter.sh/NodeClaim",
        &[
            When(
                &[Has("metadata.generation"), Stale("status.observedGeneration")],
                Progressing,
                "Waiting for NodeClaim spec to be reconciled",
            ),
            Walk(&[("Disrupting=True", Suspended, "{message}")]),
            Walk(&[("Ready=True", Healthy, "{message}"), ("Ready=False", Degraded, "{message}")]),
            Walk(&[("Initialized=True", Progressing, "Node initialized, waiting for Ready")]),
            Walk(&[("Registered=True", Progressing, "Node registered, waiting for initialization")]),
            Walk(&[("Launched=True", Progressing, "Node launched, waiting for registration")]),
            Else(Progressing, "Waiting for NodeClaim to be launched"),
        ],
    ),
    (
        "karpenter.sh/NodePool",
        &[
            Walk(&[("Ready=True", Healthy, "{message}"), ("Ready=False", Degraded, "{message}")]),
            Else(Progressing, "Waiting for NodePool to be ready"),
        ],
    ),
    (
        "karpenter.k8s.aws/EC2NodeClass",
        &[
            Walk(&[("Ready=True", Healthy, "EC2NodeClass is ready"), ("Ready=False", Degraded, "{message}")]),
            Else(Progressing, "Waiting for EC2NodeClass to be ready"),
        ],
    ),
    ("kubevirt.io/VirtualMachine", &[By(machine)]),
    ("kubevirt.io/VirtualMachineInstance", &[By(instance)]),
    (
        "nmstate.io/NodeNetworkConfigurationPolicy",
        &[
            Fails(&[That(is_told_without_reason)], unjoined!(30, "nil and string")),
            By(network),
            Else(Progressing, "Waiting for policy to be applied"),
        ],
    ),
];

/// Whether a condition that holds has a message but no reason.
fn is_told_without_reason(object: &Value) -> bool {
    let is_told = |condition: &Value| !text(condition, "message").is_empty() && at(condition, "reason").is_null();
    conditions(object).iter().any(|condition| is_match("*=True", condition) && is_told(condition))
}

fn machine(object: &Value) -> Option<Health> {
    let is_paused = |condition: &Value| is_match("Paused=True", condition);
    if conditions(object).iter().any(is_paused) {
        return Some(Health::new(Suspended, "Paused"));
    }
    let ready = conditions(object).iter().rfind(|condition| text(condition, "type") == "Ready");
    let (code, default) = match ready.map(|ready| text(ready, "status")) {
        Some("True") => (Healthy, "Running"),
        Some(_) if flag(object, "status.created") => (Progressing, "Starting"),
        Some(_) => (Suspended, "Stopped"),
        None => (Progressing, "No status available"),
    };
    Some(Health::new(code, at(object, "status.printableStatus").as_str().unwrap_or(default)))
}

fn instance(object: &Value) -> Option<Health> {
    let phase = at(object, "status.phase").as_str().unwrap_or("No status available");
    match phase {
        "Failed" => return Some(Health::new(Degraded, phase)),
        "Pending" | "Scheduling" | "Scheduled" => return Some(Health::new(Progressing, phase)),
        "Succeeded" => return Some(Health::new(Suspended, phase)),
        "Unknown" => return Some(Health::new(Unknown, phase)),
        _ => {}
    }
    if let Some(paused) = conditions(object).iter().find(|condition| is_match("Paused=True", condition)) {
        return Some(Health::new(Suspended, text(paused, "message")));
    }
    let ready = conditions(object).iter().rfind(|condition| text(condition, "type") == "Ready");
    Some(match ready {
        Some(ready) if text(ready, "status") == "True" => Health::new(Healthy, "Running"),
        Some(ready) => Health::new(Degraded, text(ready, "message")),
        None => Health::new(Progressing, phase),
    })
}

/// The first condition that holds, with reason and message.
fn network(object: &Value) -> Option<Health> {
    conditions(object).iter().filter(|condition| text(condition, "status") == "True").find_map(|condition| {
        let code = match text(condition, "type") {
            "Available" => Healthy,
            "Degraded" => Degraded,
            "Progressing" => Progressing,
            "Ignored" => Suspended,
            _ => return None,
        };
        let (reason, message) = (text(condition, "reason"), text(condition, "message"));
        let words = if message.is_empty() { reason.to_owned() } else { format!("{reason}: {message}") };
        Some(Health::new(code, words))
    })
}
