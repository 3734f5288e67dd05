//! Defaults of Services, network policies and their kin.
//!
//! In:  an object of such a kind.
//! Out: the object with the API server's defaults.
//! Source: DIFF-070 to DIFF-072 (Kubernetes 1.36.1 `pkg/apis/{core,networking,discovery}/*/defaults.go`).

use serde_json::{Value, json};

use super::access::Fill;

/// Service.
pub fn service(object: &mut Fill<'_>) {
    object.within("spec", |spec| {
        spec.set("sessionAffinity", "None");
        if spec.text("sessionAffinity") == "ClientIP"
            && let Some(mut config) = spec.make("sessionAffinityConfig")
            && let Some(mut client) = config.make("clientIP")
        {
            client.set("timeoutSeconds", 10_800);
        }
        if spec.text("sessionAffinity") == "None" {
            spec.remove("sessionAffinityConfig");
        }
        spec.set("type", "ClusterIP");
        spec.each("ports", |port| {
            port.set("protocol", "TCP");
            let unset = port.get("targetPort").is_none_or(|target| target.is_null() || *target == 0 || *target == "");
            if let (true, Some(number)) = (unset, port.int("port")) {
                port.replace("targetPort", number);
            }
        });
        let kind = spec.text("type").to_owned();
        let external = matches!(kind.as_str(), "NodePort" | "LoadBalancer");
        if external {
            spec.set("externalTrafficPolicy", "Cluster");
        }
        if external || kind == "ClusterIP" {
            spec.set("internalTrafficPolicy", "Cluster");
        }
        if kind == "LoadBalancer" {
            spec.set("allocateLoadBalancerNodePorts", true);
        }
    });
}

/// Endpoints.
pub fn endpoints(object: &mut Fill<'_>) {
    object.each("subsets", |subset| subset.each("ports", |port| port.set("protocol", "TCP")));
}

/// EndpointSlice.
pub fn endpoint_slice(object: &mut Fill<'_>) {
    object.each("ports", |port| {
        if port.get("name").is_none_or(Value::is_null) {
            port.set("name", "");
        }
        port.set("protocol", "TCP");
    });
}

/// NetworkPolicy.
pub fn policy(object: &mut Fill<'_>) {
    object.within("spec", |spec| {
        for direction in ["ingress", "egress"] {
            spec.each(direction, |rule| rule.each("ports", |port| port.set("protocol", "TCP")));
        }
        if !spec.has_items("policyTypes") {
            let types = if spec.has_items("egress") { json!(["Ingress", "Egress"]) } else { json!(["Ingress"]) };
            spec.replace("policyTypes", types);
        }
    });
}

/// IngressClass.
pub fn ingress_class(object: &mut Fill<'_>) {
    object.within("spec", |spec| spec.within("parameters", |parameters| parameters.set("scope", "Cluster")));
}
