//! Health of Pods.
//!
//! Source: HEALTH-029 to HEALTH-035 (`health_pod.go`).

use serde_json::Value;

use super::{degraded, healthy, progressing};
use crate::health::read::{at, condition, int, list, text};
use crate::health::{Code, Health};

pub(super) fn health(object: &Value) -> Health {
    let restarts_always = text(object, "spec.restartPolicy") == "Always";
    // Pods that end by themselves are often hooks; a pull error that heals must not fail the operation.
    if restarts_always && let Some(health) = stuck_containers(object) {
        return health;
    }
    let message = text(object, "status.message");
    match text(object, "status.phase") {
        "Pending" => progressing(message),
        "Succeeded" => healthy(message),
        "Failed" if message.is_empty() => degraded(failure(object)),
        "Failed" => degraded(message),
        "Running" => running(object, message),
        _ => Health::new(Code::Unknown, message),
    }
}

/// Degraded when regular containers wait for a reason that names an error.
fn stuck_containers(object: &Value) -> Option<Health> {
    let messages: Vec<&str> = list(object, "status.containerStatuses")
        .iter()
        .map(|container| at(container, "state.waiting"))
        .filter(|waiting| {
            let reason = text(waiting, "reason");
            reason.starts_with("Err") || reason.ends_with("Error") || reason.ends_with("BackOff")
        })
        .map(|waiting| text(waiting, "message"))
        .collect();
    (!messages.is_empty()).then(|| degraded(messages.join(", ")))
}

/// What the first container with something to say says about its end.
fn failure(object: &Value) -> String {
    let init = list(object, "status.initContainerStatuses");
    let regular = list(object, "status.containerStatuses");
    init.iter().chain(regular).map(container_failure).find(|text| !text.is_empty()).unwrap_or_default()
}

fn container_failure(container: &Value) -> String {
    let terminated = at(container, "state.terminated");
    let exit_code = int(terminated, "exitCode");
    match (text(terminated, "message"), text(terminated, "reason")) {
        ("", "OOMKilled") => "OOMKilled".to_owned(),
        ("", _) if exit_code != 0 => {
            format!("container {:?} failed with exit code {exit_code}", text(container, "name"))
        }
        (message, _) => message.to_owned(),
    }
}

fn running(object: &Value, message: &str) -> Health {
    match text(object, "spec.restartPolicy") {
        "Always" => {
            let is_ready = condition(object, "Ready").is_some_and(|ready| text(ready, "status") == "True");
            let has_crashed = || {
                list(object, "status.containerStatuses")
                    .iter()
                    .any(|container| at(container, "lastState.terminated").is_object())
            };
            if is_ready {
                healthy(message)
            } else if has_crashed() {
                degraded(message)
            } else {
                progressing(message)
            }
        }
        "OnFailure" | "Never" => progressing(message),
        _ => Health::new(Code::Unknown, message),
    }
}
