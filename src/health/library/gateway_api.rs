//! Kinds of the Kubernetes Gateway API.
//!
//! Routes and policies report once per parent or ancestor; the first one in trouble decides.

use serde_json::Value;

use super::Kinds;
use super::rule::{Step::*, is_observed};
use crate::api::ObjectExt;
use crate::health::Code::{Degraded, Healthy, Progressing};
use crate::health::Health;
use crate::health::read::{at, list, text};

pub(super) const KINDS: Kinds = &[
    ("gateway.networking.k8s.io/Gateway", &[By(gateway), Else(Progressing, "Waiting for Gateway status")]),
    ("gateway.networking.k8s.io/GatewayClass", &[By(class), Else(Progressing, "Waiting for GatewayClass status")]),
    ("gateway.networking.k8s.io/HTTPRoute", &[By(http_route), Else(Progressing, "Waiting for HTTPRoute status")]),
    ("gateway.networking.k8s.io/GRPCRoute", &[By(grpc_route), Else(Progressing, "Waiting for GRPCRoute status")]),
    (
        "gateway.networking.k8s.io/BackendTLSPolicy",
        &[By(tls_policy), Else(Progressing, "Waiting for BackendTLSPolicy status")],
    ),
];

/// A condition's message, or other words when it has none.
fn message(condition: &Value, default: &str) -> String {
    at(condition, "message").as_str().unwrap_or(default).to_owned()
}

/// Trouble in one list of conditions: refused, unresolved, or not yet programmed.
fn trouble(conditions: &[Value], what: &str) -> Option<Health> {
    let of = |r#type: &'static str| conditions.iter().filter(move |condition| text(condition, "type") == r#type);
    for r#type in ["ResolvedRefs", "Accepted"] {
        if let Some(failed) = of(r#type).find(|condition| text(condition, "status") == "False") {
            return Some(Health::new(Degraded, message(failed, &format!("Failed condition: {}", r#type))));
        }
    }
    let pending = of("Programmed").find(|condition| text(condition, "status") != "True")?;
    Some(Health::new(Progressing, message(pending, &format!("{what} is still being programmed"))))
}

fn prefixed(prefix: &str, health: Health) -> Health {
    Health::new(health.status, format!("{prefix}{}", health.message))
}

fn gateway(object: &Value) -> Option<Health> {
    let listeners = list(object, "status.listeners");
    trouble(list(object, "status.conditions"), "Gateway")
        .or_else(|| {
            listeners
                .iter()
                .find_map(|listener| trouble(list(listener, "conditions"), "Listener"))
                .map(|health| prefixed("Listener: ", health))
        })
        .or_else(|| {
            let has_status = at(object, "status.conditions").is_array() || !listeners.is_empty();
            has_status.then(|| Health::new(Healthy, "Gateway is healthy"))
        })
}

fn class(object: &Value) -> Option<Health> {
    let accepted = list(object, "status.conditions").iter().find(|condition| {
        let observed = at(condition, "observedGeneration");
        let is_stale =
            !observed.is_null() && !at(object, "metadata.generation").is_null() && !is_observed(object, observed);
        text(condition, "type") == "Accepted" && !is_stale
    })?;
    Some(match text(accepted, "status") {
        "True" => Health::new(Healthy, message(accepted, "GatewayClass is accepted")),
        "False" => Health::new(Degraded, message(accepted, "GatewayClass is not accepted")),
        _ => Health::new(Progressing, message(accepted, "Waiting for GatewayClass status")),
    })
}

fn http_route(object: &Value) -> Option<Health> {
    let is_current = |parent: &&Value| {
        let conditions = list(parent, "conditions");
        at(object, "metadata.generation").is_null() || (!conditions.is_empty() && are_observed(object, conditions))
    };
    route(object, &list(object, "status.parents").iter().filter(is_current).collect::<Vec<_>>())
}

fn grpc_route(object: &Value) -> Option<Health> {
    route(object, &list(object, "status.parents").iter().collect::<Vec<_>>())
}

/// Health of a route from the parents whose report counts.
fn route(object: &Value, parents: &[&Value]) -> Option<Health> {
    let troubled = parents.iter().find_map(|parent| {
        let health = trouble(list(parent, "conditions"), "Route")?;
        Some(prefixed(&format!("Parent {}: ", text(parent, "parentRef.name")), health))
    });
    troubled.or_else(|| {
        let has_report = parents.iter().any(|parent| !list(parent, "conditions").is_empty());
        has_report.then(|| Health::new(Healthy, format!("{} is healthy", object.kind())))
    })
}

/// Whether no condition was reported for another generation.
fn are_observed(object: &Value, conditions: &[Value]) -> bool {
    conditions.iter().all(|condition| {
        let observed = at(condition, "observedGeneration");
        observed.is_null() || is_observed(object, observed)
    })
}

fn tls_policy(object: &Value) -> Option<Health> {
    let ancestors = list(object, "status.ancestors");
    let name = |ancestor: &Value| text(ancestor, "ancestorRef.name").to_owned();
    let is_stale = |ancestor: &&Value| {
        !at(object, "metadata.generation").is_null() && !are_observed(object, list(ancestor, "conditions"))
    };
    if let Some(stale) = ancestors.iter().find(is_stale) {
        let text = format!("Waiting for Ancestor {} to update BackendTLSPolicy status", name(stale));
        return Some(Health::new(Progressing, text));
    }
    let mut is_accepted = false;
    for ancestor in ancestors {
        for condition in list(ancestor, "conditions") {
            let r#type = text(condition, "type");
            if !matches!(r#type, "Accepted" | "ResolvedRefs") {
                continue;
            }
            if text(condition, "status") != "True" {
                let text = format!("Ancestor {}: {}", name(ancestor), text(condition, "message"));
                return Some(Health::new(Degraded, text));
            }
            is_accepted |= r#type == "Accepted";
        }
    }
    is_accepted.then(|| Health::new(Healthy, "BackendTLSPolicy is healthy"))
}
