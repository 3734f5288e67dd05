//! Writes tracking metadata onto rendered objects.
//!
//! In:  a rendered object, the tracking settings, the application's instance name and destination namespace.
//! Out: the object with its tracking id, installation id or instance label.
//! Invariant: CustomResourceDefinitions are left as they are.
//! Source: APP-236, APP-237, APP-239 to APP-241 (`util/argo/resource_tracking.go` `SetAppInstance`, `util/kube/kube.go`).

use serde_json::{Map, Value};

use super::text::{go_type, go_value};
use super::{Method, Tracking, TrackingId};
use crate::api::names;
use crate::api::object::{ObjectExt, child_map, entry_map};

/// Longest label value that Kubernetes takes, in bytes.
const LABEL_LIMIT: usize = 63;

/// Label key of Argo CD before 0.11; with it, pods of a workload are labelled as well.
const LEGACY_LABEL: &str = "applications.argoproj.io/app-name";

/// Why an object cannot carry tracking metadata; the texts end up in the comparison's condition.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum Error {
    /// Annotations or labels are not a map of strings.
    #[error("failed to get {field} {relation} {object}: {reason}")]
    Malformed {
        /// `annotations` or `labels`.
        field: &'static str,
        /// `for` or `from target object`.
        relation: &'static str,
        /// `group/version, Kind=kind namespace/name`.
        object: String,
        /// What stands there instead.
        reason: String,
    },
    /// The instance label could not be written.
    #[error("failed to set app instance label: {0}")]
    Label(#[source] Box<Error>),
    /// The instance name has no letter or digit that a label could end with.
    #[error("unable to truncate label to not end with a special character")]
    Truncate,
}

/// Ties `object` to the application `instance` (APP-236 to APP-241).
///
/// `default_namespace` is the application's destination namespace.
///
/// # Errors
/// Fails on objects whose annotations or labels are not strings; rendering stops with that text.
pub fn set(object: &mut Value, tracking: &Tracking, instance: &str, default_namespace: &str) -> Result<(), Error> {
    if object.group() == "apiextensions.k8s.io" && object.kind() == "CustomResourceDefinition" {
        return Ok(());
    }
    match tracking.method {
        // Label tracking reads the whole label back as the instance name, so it is never cut.
        Method::Label => set_label(object, &tracking.label_key, instance).map_err(|err| Error::Label(Box::new(err))),
        Method::Annotation | Method::Other => set_annotation(object, tracking, instance, default_namespace),
        Method::AnnotationAndLabel => {
            set_annotation(object, tracking, instance, default_namespace)?;
            truncate_label(instance)
                .and_then(|label| set_label(object, &tracking.label_key, label))
                .map_err(|err| Error::Label(Box::new(err)))
        }
    }
}

fn set_annotation(
    object: &mut Value,
    tracking: &Tracking,
    instance: &str,
    default_namespace: &str,
) -> Result<(), Error> {
    let id = TrackingId::of(object, instance, default_namespace).to_string();
    match tracking.installation() {
        "" => {
            check_strings(object, "annotations", "for")?;
            object.remove_annotation(names::INSTALLATION_ID);
        }
        installation => {
            check_strings(object, "annotations", "from target object")?;
            object.set_annotation(names::INSTALLATION_ID, installation);
        }
    }
    object.set_annotation(names::TRACKING_ID, &id);
    Ok(())
}

fn set_label(object: &mut Value, key: &str, label: &str) -> Result<(), Error> {
    check_strings(object, "labels", "from target object")?;
    object.set_label(key, label);
    if key == LEGACY_LABEL {
        label_template(object, label);
    }
    Ok(())
}

/// Labels the pods of a workload, as the legacy label asks for.
fn label_template(object: &mut Value, label: &str) {
    let is_workload = match object.group() {
        "apps" | "extensions" => {
            matches!(object.kind(), "Deployment" | "ReplicaSet" | "StatefulSet" | "DaemonSet")
        }
        "batch" => object.kind() == "Job",
        _ => false,
    };
    if !is_workload {
        return;
    }
    // These versions default the selector to the template's labels; writing the selector first keeps ours out of it.
    let defaults_selector = matches!(object.api_version(), "apps/v1beta1" | "extensions/v1beta1");
    let spec = child_map(object, "spec");
    let has_selector = spec.get("selector").and_then(Value::as_object).is_some_and(|selector| !selector.is_empty());
    let metadata = entry_map(entry_map(spec, "template"), "metadata");
    let labels = entry_map(metadata, "labels");
    let mut own_labels = labels.clone();
    own_labels.remove(LEGACY_LABEL);
    labels.insert(LEGACY_LABEL.to_owned(), label.into());
    if defaults_selector && !has_selector {
        entry_map(spec, "selector").insert("matchLabels".to_owned(), Value::Object(own_labels));
    }
}

/// Cuts a label value to what Kubernetes takes, ending with a letter or digit (APP-240).
fn truncate_label(value: &str) -> Result<&str, Error> {
    if value.len() <= LABEL_LIMIT {
        return Ok(value);
    }
    let last = value.bytes().take(LABEL_LIMIT).rposition(|byte| byte.is_ascii_alphanumeric());
    last.and_then(|last| value.get(..=last)).ok_or(Error::Truncate)
}

/// Checks that a field of `metadata` is absent, null, or a map of strings.
fn check_strings(object: &Value, field: &'static str, relation: &'static str) -> Result<(), Error> {
    let reason = match object.get("metadata") {
        None => None,
        Some(Value::Object(metadata)) => malformed_strings(metadata, field),
        Some(other) => Some(not_a_map(".metadata", other)),
    };
    match reason {
        None => Ok(()),
        Some(reason) => Err(Error::Malformed {
            field,
            relation,
            object: format!("{} {}/{}", object.gvk(), object.namespace(), object.name()),
            reason,
        }),
    }
}

/// Why a field of `metadata` is no map of strings, in the words of Kubernetes' accessors.
fn malformed_strings(metadata: &Map<String, Value>, field: &str) -> Option<String> {
    match metadata.get(field) {
        None | Some(Value::Null) => None,
        Some(Value::Object(map)) => map.iter().find(|(_, value)| !value.is_string()).map(|(key, value)| {
            format!(
                ".metadata.{field} accessor error: contains non-string value in the map under key {key:?}: \
                 {} is of the type {}, expected string",
                go_value(value),
                go_type(value)
            )
        }),
        Some(other) => Some(not_a_map(&format!(".metadata.{field}"), other)),
    }
}

fn not_a_map(path: &str, value: &Value) -> String {
    format!(
        "{path} accessor error: {} is of the type {}, expected map[string]interface{{}}",
        go_value(value),
        go_type(value)
    )
}
