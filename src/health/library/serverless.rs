//! Serverless and model serving: Knative, KServe, OpenFaaS, Camel K, SpinKube, KEDA.

use serde_json::Value;

use super::Kinds;
use super::rule::{READY, Step, Step::*, Test::*, conditions, is_match, nothing, unjoined};
use crate::health::Code::{Degraded, Healthy, Progressing, Suspended};
use crate::health::Health;
use crate::health::read::{at, int, text};

/// What the scripts of Knative's installations join of every condition.
const JOINED: [Step; 2] = [
    Fails(&[Unsaid("*", "type")], unjoined!(8, "nil and string")),
    Fails(&[Unsaid("*", "status")], unjoined!(8, "nil and string")),
];

pub(super) const KINDS: Kinds = &[
    (
        "serving.knative.dev/Service",
        &[
            Fails(&[Unsaid("*=False|Unknown", "type")], unjoined!(13, "nil and string")),
            By(knative_service),
            Else(Progressing, "Waiting for status update."),
        ],
    ),
    (
        "operator.knative.dev/KnativeServing",
        &[JOINED[0], JOINED[1], By(knative_serving), Else(Progressing, "Waiting for KnativeServing")],
    ),
    (
        "operator.knative.dev/KnativeEventing",
        &[JOINED[0], JOINED[1], By(knative_eventing), Else(Progressing, "Waiting for KnativeEventing")],
    ),
    (
        "serving.kserve.io/InferenceService",
        &[
            Walk(&[("Stopped=True", Suspended, "InferenceService is Stopped")]),
            Fails(
                &[Lacks("status.modelStatus.transitionStatus"), Has("status.modelStatus")],
                unjoined!(21, "string and nil"),
            ),
            Fails(&[Unsaid("!Stopped=!True", "status")], unjoined!(44, "string and nil")),
            Fails(&[Unsaid("!Stopped=!True", "type")], unjoined!(44, "nil and string")),
            By(inference),
            Else(Progressing, "Waiting for InferenceService to report status..."),
        ],
    ),
    ("openfaas.com/Function", &[By(function), Else(Progressing, "Waiting for Function")]),
    ("camel.apache.org/Integration", &[READY, Else(Progressing, "Waiting for Integration")]),
    (
        "core.spinkube.dev/SpinApp",
        &[Fails(&[That(spin_is_counted), Lacks("spec")], nothing!(46, "replicas")), By(spin_app)],
    ),
    ("keda.sh/ScaledObject", &[By(scaled_object), Else(Progressing, "Creating HorizontalPodAutoscaler Object")]),
    ("keda.sh/ScaledJob", &[By(scaled_job), Else(Progressing, "Waiting for ScaledJob")]),
];

/// `1: Type | Status`, one line per condition.
fn numbered(object: &Value) -> String {
    let line = |(index, condition): (usize, &Value)| {
        format!("{}: {} | {}\n", index + 1, text(condition, "type"), text(condition, "status"))
    };
    conditions(object).iter().enumerate().map(line).collect()
}

/// Health of a Knative installation, from the conditions that must be True and those whose False means waiting.
fn knative(object: &Value, needed: &[&str], waiting: &[&str]) -> Option<Health> {
    if at(object, "status.conditions").is_null() {
        return None;
    }
    let count = |patterns: &[&str]| {
        conditions(object).iter().filter(|found| patterns.iter().any(|pattern| is_match(pattern, found))).count()
    };
    Some(if count(waiting) > 0 {
        Health::new(Progressing, numbered(object))
    } else if count(needed) == needed.len() {
        let kind = text(object, "kind");
        Health::new(Healthy, format!("{kind} is healthy."))
    } else {
        Health::new(Degraded, numbered(object))
    })
}

fn knative_serving(object: &Value) -> Option<Health> {
    let needed = ["Ready=True", "InstallSucceeded=True", "DependenciesInstalled=True", "DeploymentsAvailable=True"];
    knative(object, &needed, &["Ready|DeploymentsAvailable=False", "*=Unknown"])
}

fn knative_eventing(object: &Value) -> Option<Health> {
    knative(object, &["Ready=True", "InstallSucceeded=True"], &["Ready=False", "*=Unknown"])
}

fn knative_service(object: &Value) -> Option<Health> {
    if at(object, "status.conditions").is_null() {
        return None;
    }
    let count = |pattern: &str| conditions(object).iter().filter(|condition| is_match(pattern, condition)).count();
    let message: String = conditions(object)
        .iter()
        .filter(|condition| is_match("*=False|Unknown", condition))
        .map(|condition| {
            let mut words = format!("{} is {}", text(condition, "type"), text(condition, "status"));
            for (field, before, after) in [("reason", ", since ", "."), ("message", " ", "")] {
                let value = text(condition, field);
                if !value.is_empty() {
                    words = format!("{words}{before}{value}{after}");
                }
            }
            words + "\n"
        })
        .collect();
    Some(if count("*=False") > 0 {
        Health::new(Degraded, message)
    } else if count("ConfigurationsReady|RoutesReady|Ready=True") == 3 && count("*=Unknown") == 0 {
        Health::new(Healthy, "Knative Service is healthy.")
    } else {
        Health::new(Progressing, message)
    })
}

fn inference(object: &Value) -> Option<Health> {
    if at(object, "status.conditions").is_null() {
        return None;
    }
    let transition = at(object, "status.modelStatus.transitionStatus").as_str().filter(|state| *state != "UpToDate");
    let mut message = transition.map(|state| format!("0: transitionStatus | {state}")).unwrap_or_default();
    let mut is_settled = transition.is_none();
    for (index, condition) in conditions(object).iter().enumerate() {
        is_settled &= !is_match("*=Unknown", condition);
        if !is_match("!Stopped=!True", condition) {
            continue;
        }
        is_settled &= !is_match("*=False", condition);
        let (r#type, status) = (text(condition, "type"), text(condition, "status"));
        message = format!("{message} | {}: {} | {status}", index + 1, r#type);
        for field in ["reason", "message"] {
            let value = text(condition, field);
            if !value.is_empty() {
                message = format!("{message} | {value}");
            }
        }
    }
    Some(match transition {
        None if is_settled => Health::new(Healthy, "InferenceService is healthy."),
        None | Some("InProgress") => Health::new(Progressing, message),
        Some(_) => Health::new(Degraded, message),
    })
}

fn function(object: &Value) -> Option<Health> {
    let deciding = conditions(object)
        .iter()
        .find(|found| is_match("Ready=True|False", found) || is_match("Stalled=True", found))?;
    let message = text(deciding, "message");
    Some(if !is_match("Ready=True", deciding) {
        Health::new(Degraded, message)
    } else if int(object, "status.replicas") > 0 {
        Health::new(Healthy, message)
    } else {
        Health::new(Suspended, "No replicas available")
    })
}

/// Health of a scaler: in trouble, or ready and perhaps paused. The last condition that counts gives the text.
fn keda(object: &Value, trouble: &[&str]) -> Option<Health> {
    let any = |patterns: &[&str], found: &Value| patterns.iter().any(|pattern| is_match(pattern, found));
    let holds = |patterns: &[&str]| conditions(object).iter().any(|found| any(patterns, found));
    let code = if holds(trouble) {
        Degraded
    } else if !holds(&["Ready=True"]) {
        return None;
    } else if holds(&["Paused=True"]) {
        Suspended
    } else {
        Healthy
    };
    let counts = |found: &&Value| any(trouble, found) || is_match("Ready|Paused=True", found);
    let message = conditions(object).iter().rfind(counts).map(|found| text(found, "message"));
    Some(Health::new(code, message.unwrap_or_default()))
}

fn scaled_object(object: &Value) -> Option<Health> {
    keda(object, &["Ready=False", "Fallback=True"])
}

fn scaled_job(object: &Value) -> Option<Health> {
    keda(object, &["Ready=False|Unknown"])
}

fn spin_app(object: &Value) -> Option<Health> {
    if at(object, "status").is_null() {
        return Some(Health::new(Progressing, "Waiting for status to be available"));
    }
    let words = |condition: &Value, default: &str| at(condition, "message").as_str().unwrap_or(default).to_owned();
    if let Some(failed) = conditions(object).iter().find(|condition| has_spin_failed(condition)) {
        return Some(Health::new(Degraded, words(failed, "Application deployment has failed")));
    }
    let available = conditions(object).iter().rfind(|condition| text(condition, "type") == "Available");
    match available {
        Some(condition) if text(condition, "status") != "True" => {
            return Some(Health::new(Degraded, words(condition, "Application is not available")));
        }
        Some(_) => {}
        None => return Some(Health::new(Degraded, "")),
    }
    let ready = int(object, "status.readyReplicas");
    let desired = at(object, "spec.replicas").as_i64().unwrap_or(1);
    if ready < desired {
        return Some(Health::new(Progressing, format!("Waiting for replicas to be ready ({ready}/{desired})")));
    }
    Some(match conditions(object).iter().rfind(|condition| is_match("Progressing=True", condition)) {
        Some(condition) => Health::new(Progressing, words(condition, "Application progress status")),
        None => Health::new(Healthy, format!("Application is healthy with {ready}/{desired} replicas ready")),
    })
}

/// Whether the replicas of a SpinApp are looked at, which they are once nothing has failed.
fn spin_is_counted(object: &Value) -> bool {
    !at(object, "status").is_null() && !conditions(object).iter().any(has_spin_failed)
}

fn has_spin_failed(condition: &Value) -> bool {
    let message = text(condition, "message").to_ascii_lowercase();
    is_match("Progressing=False", condition)
        && (text(condition, "reason") == "ProgressDeadlineExceeded"
            || message.contains("timeout")
            || message.contains("failed"))
}
