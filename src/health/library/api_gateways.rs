//! Ingress controllers, API gateways and meshes: Gloo, Contour, OpenShift, Istio, DNS-SD.

use serde_json::Value;

use super::Kinds;
use super::rule::{Step, Step::*, Test::*, conditions, is_match, is_observed, nothing};
use crate::health::Code::{Degraded, Healthy, Progressing, Suspended, Unknown};
use crate::health::Health;
use crate::health::read::{at, list, plain, text};

const GLOO: &[Step] = &[By(gloo), Else(Progressing, "Update in progress")];

pub(super) const KINDS: Kinds = &[
    ("gateway.solo.io/Gateway", GLOO),
    ("gateway.solo.io/MatchableHttpGateway", GLOO),
    ("gateway.solo.io/RouteOption", GLOO),
    ("gateway.solo.io/RouteTable", GLOO),
    ("gateway.solo.io/VirtualHostOption", GLOO),
    ("gateway.solo.io/VirtualService", GLOO),
    ("gloo.solo.io/Proxy", GLOO),
    ("gloo.solo.io/Settings", GLOO),
    ("gloo.solo.io/Upstream", GLOO),
    ("gloo.solo.io/UpstreamGroup", GLOO),
    (
        "projectcontour.io/HTTPProxy",
        &[Fails(&[Lacks("spec"), That(has_other_report)], nothing!(18, "includes")), By(http_proxy)],
    ),
    ("projectcontour.io/ExtensionService", &[By(extension_service), Else(Progressing, "Waiting for status")]),
    (
        "route.openshift.io/Route",
        &[
            Fails(&[That(has_empty_ingress)], "<string>:10: bad argument #1 to pairs (table expected, got nil)"),
            By(route),
            Else(Progressing, "Route is still getting admitted"),
        ],
    ),
    (
        "operator.openshift.io/IngressController",
        &[
            Walk(&[
                ("Degraded=True", Degraded, "{message}"),
                ("DeploymentReplicasAllAvailable=False", Progressing, "{message}"),
                ("Progressing=True", Progressing, "{reason}"),
                ("Available=True", Healthy, "IngressController is available"),
            ]),
            Else(Progressing, "Status of IngressController is not known yet"),
        ],
    ),
    (
        "install.istio.io/IstioOperator",
        &[
            Match(
                "status.status",
                &[
                    ("0|NONE", Unknown, "Component is not present."),
                    ("1|UPDATING", Progressing, "Component is being updated to a different version."),
                    (
                        "2|RECONCILING",
                        Progressing,
                        "Controller has started but not yet completed reconciliation loop for the component.",
                    ),
                    ("3|HEALTHY", Healthy, "Component is healthy."),
                    ("4|ERROR", Degraded, "Component is in an error state."),
                ],
            ),
            Else(Progressing, "Waiting for Istio Control Plane"),
        ],
    ),
    ("proclaim.dogmatiq.io/DNSSDServiceInstance", &[By(dns_sd)]),
];

/// Reports per namespace come first, then the object's own; states are words or numbers.
fn gloo(object: &Value) -> Option<Health> {
    let reports = at(object, "status.statuses").as_object().into_iter().flat_map(|reports| reports.values());
    reports.chain([at(object, "status")]).find_map(|report| {
        let reason = text(report, "reason");
        match plain(at(report, "state")).as_str() {
            "Accepted" | "1" => Some(Health::new(Healthy, "The resource has been validated")),
            "Pending" | "0" => Some(Health::new(Suspended, "The resource has not yet been validated")),
            "Warning" | "3" | "Rejected" | "2" => Some(Health::new(Degraded, reason)),
            _ => None,
        }
    })
}

/// Conditions that were reported for the present generation.
fn current(object: &Value) -> impl Iterator<Item = &Value> {
    conditions(object).iter().filter(|condition| is_observed(object, at(condition, "observedGeneration")))
}

fn http_proxy(object: &Value) -> Option<Health> {
    let description = text(object, "status.description");
    if at(object, "status.conditions").is_null() {
        let is_reported = !at(object, "status.currentStatus").is_null();
        return Some(Health::new(Progressing, if is_reported { description } else { "Waiting for status" }));
    }
    // Parents and children depend on each other, so a parent's trouble must not block its children's sync.
    let is_parent = !at(object, "spec.includes").is_null();
    let mut health = Health::new(Progressing, "Waiting for status");
    for condition in current(object) {
        if is_match("Valid=True", condition) {
            return Some(Health::new(Healthy, description));
        }
        if is_parent && is_match("*=False", condition) {
            health = Health::new(Healthy, "HTTPProxy inclusions cannot be health checked");
        } else if is_match("Valid=False", condition) {
            return Some(Health::new(Degraded, description));
        }
    }
    Some(health)
}

/// Whether a condition of the present generation says something else than that the proxy is valid.
fn has_other_report(object: &Value) -> bool {
    let is_present = |condition: &&Value| is_observed(object, at(condition, "observedGeneration"));
    conditions(object).iter().find(is_present).is_some_and(|condition| !is_match("Valid=True", condition))
}

/// Whether a router has not reported any condition yet.
fn has_empty_ingress(object: &Value) -> bool {
    list(object, "status.ingress").iter().any(|ingress| at(ingress, "conditions").is_null())
}

fn extension_service(object: &Value) -> Option<Health> {
    let valid = current(object).find(|condition| is_match("Valid=True|False", condition))?;
    let code = if text(valid, "status") == "True" { Healthy } else { Degraded };
    Some(Health::new(code, text(valid, "message")))
}

fn route(object: &Value) -> Option<Health> {
    let routers = at(object, "status.ingress").as_array()?;
    let count = |pattern: &str| {
        let matches = |condition: &&Value| is_match(pattern, condition);
        routers.iter().map(|router| list(router, "conditions").iter().filter(matches).count()).sum::<usize>()
    };
    if count("Admitted=True") == routers.len() {
        return Some(Health::new(Healthy, "Route is healthy"));
    }
    (count("Admitted=False") > 0).then(|| Health::new(Degraded, "Route is degraded"))
}

fn dns_sd(object: &Value) -> Option<Health> {
    let last = |r#type: &str| {
        conditions(object).iter().rfind(|condition| text(condition, "type") == r#type).unwrap_or(&Value::Null)
    };
    let (adopted, advertised, discovered) = (last("Adopted"), last("Advertised"), last("Discoverable"));
    let (code, decisive) = if text(adopted, "status") == "False" {
        (Degraded, adopted)
    } else if matches!(text(advertised, "reason"), "AdvertiseError" | "UnadvertiseError") {
        (Degraded, advertised)
    } else if text(discovered, "reason") == "DiscoveryError" {
        (Unknown, discovered)
    } else if text(discovered, "status") == "True" {
        (Healthy, discovered)
    } else {
        (Progressing, discovered)
    };
    Some(Health::new(code, text(decisive, "message")))
}
