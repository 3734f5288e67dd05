//! Defaults of namespaces, storage, roles and webhooks.
//!
//! In:  an object of such a kind.
//! Out: the object with the API server's defaults.
//! Source: DIFF-070, DIFF-072 (Kubernetes 1.36.1 `pkg/apis/{core,rbac,storage,admissionregistration}/*/defaults.go`).

use serde_json::{Map, Value, json};

use super::access::Fill;
use crate::api::object::GroupVersionKind;

const RBAC: &str = "rbac.authorization.k8s.io";

/// Namespace: its name as a label.
pub fn namespace(object: &mut Fill<'_>) {
    object.within("metadata", |metadata| {
        let name = metadata.text("name").to_owned();
        if let (false, Some(mut labels)) = (name.is_empty(), metadata.make("labels")) {
            labels.replace("kubernetes.io/metadata.name", name);
        }
    });
    phase(object, "Active");
}

fn phase(object: &mut Fill<'_>, phase: &str) {
    if let Some(mut status) = object.make("status") {
        status.set("phase", phase);
    }
}

/// PersistentVolume.
pub fn persistent_volume(object: &mut Fill<'_>) {
    object.within("spec", |spec| {
        spec.set_all(&[("persistentVolumeReclaimPolicy", "Retain"), ("volumeMode", "Filesystem")]);
        spec.within("hostPath", |path| {
            if path.get("type").is_none() {
                path.set("type", "");
            }
        });
    });
    phase(object, "Pending");
}

/// PersistentVolumeClaim, and the claim templates of a StatefulSet.
pub fn stored_claim(object: &mut Fill<'_>) {
    object.within("spec", |spec| spec.set("volumeMode", "Filesystem"));
    phase(object, "Pending");
}

/// LimitRange: limits of containers default to the maximum, requests to the limit or the minimum.
pub fn limit_range(object: &mut Fill<'_>) {
    object.within("spec", |spec| {
        spec.each("limits", |item| {
            if item.text("type") == "Container" {
                for (to, from) in [("default", "max"), ("defaultRequest", "default"), ("defaultRequest", "min")] {
                    copy_missing(item, to, from);
                }
            }
        });
    });
}

fn copy_missing(item: &mut Fill<'_>, to: &str, from: &str) {
    let Some(Value::Object(values)) = item.get(from).cloned() else { return };
    if values.is_empty() {
        return;
    }
    if let Some(mut target) = item.make(to) {
        let missing: Map<String, Value> = values;
        missing.into_iter().for_each(|(name, value)| target.set(&name, value));
    }
}

/// RoleBinding and ClusterRoleBinding.
pub fn role_binding(object: &mut Fill<'_>) {
    object.within("roleRef", |role| role.set("apiGroup", RBAC));
    object.each("subjects", |subject| {
        if matches!(subject.text("kind"), "User" | "Group") {
            subject.set("apiGroup", RBAC);
        }
    });
}

/// StorageClass.
pub fn storage_class(object: &mut Fill<'_>) {
    object.set_all(&[("reclaimPolicy", "Delete"), ("volumeBindingMode", "Immediate")]);
}

/// CSIDriver.
pub fn csi_driver(object: &mut Fill<'_>) {
    object.within("spec", |spec| {
        spec.set("attachRequired", true);
        spec.set("podInfoOnMount", false);
        spec.set("storageCapacity", false);
        spec.set("fsGroupPolicy", "ReadWriteOnceWithFSType");
        spec.set("volumeLifecycleModes", json!(["Persistent"]));
        spec.set("requiresRepublish", false);
        spec.set("seLinuxMount", false);
    });
}

/// Webhook configurations.
pub fn webhooks(object: &mut Fill<'_>, gvk: &GroupVersionKind) {
    let mutating = gvk.kind == "MutatingWebhookConfiguration";
    let old = gvk.version == "v1beta1";
    object.each("webhooks", |webhook| {
        let (failure, matching, timeout) = if old { ("Ignore", "Exact", 30) } else { ("Fail", "Equivalent", 10) };
        webhook.set_all(&[("failurePolicy", failure), ("matchPolicy", matching)]);
        webhook.set("namespaceSelector", json!({}));
        webhook.set("objectSelector", json!({}));
        webhook.set("timeoutSeconds", timeout);
        if mutating {
            webhook.set("reinvocationPolicy", "Never");
        }
        webhook.each("rules", |rule| rule.set("scope", "*"));
        webhook.within("clientConfig", |config| config.within("service", |service| service.set("port", 443)));
    });
}

/// Admission policies and their bindings.
pub fn admission_policy(object: &mut Fill<'_>, kind: &str) {
    let resources = |matching: &mut Fill<'_>| {
        matching.set("matchPolicy", "Equivalent");
        matching.set("namespaceSelector", json!({}));
        matching.set("objectSelector", json!({}));
        for list in ["resourceRules", "excludeResourceRules"] {
            matching.each(list, |rule| rule.set("scope", "*"));
        }
    };
    let is_policy = matches!(kind, "ValidatingAdmissionPolicy" | "MutatingAdmissionPolicy");
    object.within("spec", |spec| {
        if is_policy {
            spec.set("failurePolicy", "Fail");
            spec.within("matchConstraints", resources);
        } else {
            spec.within("matchResources", resources);
        }
    });
}
