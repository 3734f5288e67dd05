//! Fills in what the API server would fill in, so that a field git dropped is compared with its default.
//!
//! In:  an object of a kind client-go registers.
//! Out: the object with scheme defaults.
//! Invariant: a field that has a value keeps it; an object that does not fit its type is returned as it is.
//! Source: DIFF-041, DIFF-068 to DIFF-072 (Kubernetes 1.36.1 `pkg/apis/*/*/defaults.go`).

mod access;
mod cluster;
mod network;
mod pod;
mod workload;

use serde_json::Value;

use super::normalize::fits;
use super::schema;
use crate::api::object::ObjectExt;
use access::Fill;

/// The object with the defaults of its kind.
pub fn with_defaults(mut object: Value) -> Value {
    let gvk = object.gvk();
    let Some(root) = schema::registered(&gvk) else { return object };
    if !fits(&object, root) {
        return object;
    }
    let Value::Object(map) = &mut object else { return object };
    let mut fill = Fill::new(map);
    match (gvk.group.as_str(), gvk.kind.as_str()) {
        ("", "Pod") => pod::pod(&mut fill),
        ("", "PodTemplate") => pod::template(&mut fill, "template"),
        ("", "ReplicationController") => workload::replication_controller(&mut fill),
        ("", "Service") => network::service(&mut fill),
        ("", "Endpoints") => network::endpoints(&mut fill),
        ("", "Secret") => fill.set("type", "Opaque"),
        ("", "Namespace") => cluster::namespace(&mut fill),
        ("", "PersistentVolume") => cluster::persistent_volume(&mut fill),
        ("", "PersistentVolumeClaim") => cluster::stored_claim(&mut fill),
        ("", "LimitRange") => cluster::limit_range(&mut fill),
        ("apps" | "extensions", "Deployment") => workload::deployment(&mut fill, &gvk.version),
        ("apps" | "extensions", "DaemonSet") => workload::daemon_set(&mut fill),
        ("apps", "StatefulSet") => workload::stateful_set(&mut fill),
        ("apps" | "extensions", "ReplicaSet") => workload::replica_set(&mut fill),
        ("batch", "Job") => workload::job(&mut fill),
        ("batch", "CronJob") => workload::cron_job(&mut fill),
        ("autoscaling", "HorizontalPodAutoscaler") => workload::autoscaler(&mut fill, &gvk.version),
        ("networking.k8s.io" | "extensions", "NetworkPolicy") => network::policy(&mut fill),
        ("networking.k8s.io", "IngressClass") => network::ingress_class(&mut fill),
        ("discovery.k8s.io", "EndpointSlice") => network::endpoint_slice(&mut fill),
        ("rbac.authorization.k8s.io", "RoleBinding" | "ClusterRoleBinding") => cluster::role_binding(&mut fill),
        ("storage.k8s.io", "StorageClass") => cluster::storage_class(&mut fill),
        ("storage.k8s.io", "CSIDriver") => cluster::csi_driver(&mut fill),
        ("scheduling.k8s.io", "PriorityClass") => fill.set("preemptionPolicy", "PreemptLowerPriority"),
        ("admissionregistration.k8s.io", "ValidatingWebhookConfiguration" | "MutatingWebhookConfiguration") => {
            cluster::webhooks(&mut fill, &gvk);
        }
        ("admissionregistration.k8s.io", kind) => cluster::admission_policy(&mut fill, kind),
        _ => {}
    }
    object
}
