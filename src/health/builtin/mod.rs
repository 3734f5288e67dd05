//! Health of the kinds that Argo CD checks in code.
//!
//! In:  a live object.
//! Out: its health, or nothing for other kinds.
//! Invariant: fields that are absent read as zero, as they do after Go's conversion.
//! Source: HEALTH-005 to HEALTH-051 (`gitops-engine/pkg/health/health_*.go`).

mod api_service;
mod daemon_set;
mod deployment;
mod hpa;
mod ingress;
mod job;
mod pod;
mod pvc;
mod replica_set;
mod service;
mod stateful_set;
mod workflow;

use serde_json::Value;

use super::{Code, Health};
use crate::api::{GroupVersionKind, ObjectExt};

/// Why a check could not be made.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// The object is of a version that the check does not read (HEALTH-005).
    #[error("unsupported {label} GVK: {gvk}")]
    UnsupportedVersion {
        /// How Argo CD calls the kind.
        label: &'static str,
        /// What the object is.
        gvk: GroupVersionKind,
    },
    /// The conditions annotation of an old autoscaler is no JSON (HEALTH-050).
    #[error("failed to convert conditions annotation to typed: {0}")]
    ScalingConditions(#[source] serde_json::Error),
}

/// Health of an object of a built-in kind; nothing for other kinds.
///
/// # Errors
/// Fails on versions that the check does not read.
pub fn health(object: &Value) -> Result<Option<Health>, Error> {
    let gvk = object.gvk();
    let only = |label: &'static str, version: &str, check: fn(&Value) -> Health| {
        if gvk.version == version {
            Ok(Some(check(object)))
        } else {
            Err(Error::UnsupportedVersion { label, gvk: gvk.clone() })
        }
    };
    match (gvk.group.as_str(), gvk.kind.as_str()) {
        ("apps", "Deployment") => only("Deployment", "v1", deployment::health),
        ("apps", "StatefulSet") => only("StatefulSet", "v1", stateful_set::health),
        ("apps", "ReplicaSet") => only("ReplicaSet", "v1", replica_set::health),
        ("apps", "DaemonSet") => only("DaemonSet", "v1", daemon_set::health),
        ("", "Pod") => only("Pod", "v1", pod::health),
        ("", "Service") => only("Service", "v1", service::health),
        ("", "PersistentVolumeClaim") => only("PersistentVolumeClaim", "v1", pvc::health),
        ("batch", "Job") => only("Job", "v1", job::health),
        ("extensions" | "networking.k8s.io", "Ingress") => Ok(Some(ingress::health(object))),
        ("argoproj.io", "Workflow") => Ok(Some(workflow::health(object))),
        ("apiregistration.k8s.io", "APIService") => match gvk.version.as_str() {
            "v1beta1" => Ok(Some(api_service::health(object))),
            _ => only("APIService", "v1", api_service::health),
        },
        ("autoscaling", "HorizontalPodAutoscaler") => match gvk.version.as_str() {
            "v1" => hpa::health_v1(object).map(Some),
            _ => only("HPA", "v2", hpa::health),
        },
        _ => Ok(None),
    }
}

/// Progressing with a text.
fn progressing(message: impl Into<String>) -> Health {
    Health::new(Code::Progressing, message)
}

/// Healthy with a text.
fn healthy(message: impl Into<String>) -> Health {
    Health::new(Code::Healthy, message)
}

/// Degraded with a text.
fn degraded(message: impl Into<String>) -> Health {
    Health::new(Code::Degraded, message)
}
