//! The order in which objects are applied: waves, kinds, and dependencies inside one list.
//!
//! In:  objects. Out: wave numbers, kind weights, deletion groups.
//! Invariant: the kind table looks at the kind only, never at the group.
//! Source: SYNC-031 to SYNC-034, SYNC-187 (`gitops-engine/pkg/sync/sync_tasks.go`, `syncwaves/waves.go`,
//! `controller/sort_delete.go`).

use serde_json::Value;

use crate::api::names::{HELM_HOOK_WEIGHT, SYNC_WAVE};
use crate::api::{GroupKind, ObjectExt};

/// Kinds that come before all others, in this order (SYNC-034).
const KINDS: [&str; 35] = [
    "Namespace",
    "NetworkPolicy",
    "ResourceQuota",
    "LimitRange",
    "PodSecurityPolicy",
    "PodDisruptionBudget",
    "ServiceAccount",
    "Secret",
    "SecretList",
    "ConfigMap",
    "StorageClass",
    "PersistentVolume",
    "PersistentVolumeClaim",
    "CustomResourceDefinition",
    "ClusterRole",
    "ClusterRoleList",
    "ClusterRoleBinding",
    "ClusterRoleBindingList",
    "Role",
    "RoleList",
    "RoleBinding",
    "RoleBindingList",
    "Service",
    "DaemonSet",
    "Pod",
    "ReplicationController",
    "ReplicaSet",
    "Deployment",
    "HorizontalPodAutoscaler",
    "StatefulSet",
    "Job",
    "CronJob",
    "IngressClass",
    "Ingress",
    "APIService",
];

/// Place of a kind in the order; kinds outside the table share the last place (SYNC-033).
pub fn kind_weight(kind: &str) -> usize {
    KINDS.iter().position(|known| *known == kind).unwrap_or(KINDS.len())
}

/// Wave of an object: its sync wave, else Helm's hook weight, else 0 (SYNC-031).
pub fn wave(object: &Value) -> i64 {
    let number = |name| object.annotation(name).and_then(|text| text.parse::<i64>().ok());
    number(SYNC_WAVE).or_else(|| number(HELM_HOOK_WEIGHT)).unwrap_or(0)
}

/// Whether the object is a core Namespace.
pub(super) fn is_namespace(object: &Value) -> bool {
    object.kind() == "Namespace" && object.group().is_empty()
}

/// Whether the object defines a custom resource.
pub fn is_crd(object: &Value) -> bool {
    object.kind() == "CustomResourceDefinition" && object.group() == "apiextensions.k8s.io"
}

/// Whether a CRD's objects live in namespaces.
pub(super) fn defines_namespaced(crd: &Value) -> bool {
    crd.pointer("/spec/scope").and_then(Value::as_str) == Some("Namespaced")
}

/// Group and kind that a CRD defines.
pub(super) fn defined_kind(object: &Value) -> Option<GroupKind> {
    if !is_crd(object) {
        return None;
    }
    let spec = object.get("spec")?;
    Some(GroupKind::new(spec.get("group")?.as_str()?, spec.get("names")?.get("kind")?.as_str()?))
}
