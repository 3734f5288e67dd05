//! Records Kubernetes events about Applications.
//!
//! In:  the object, reason, type, message, labels, annotations, and the time.
//! Out: a created Event.
//! Invariant: events are never aggregated; each has its own name.
//! Source: APP-259 (`util/argo/audit_logger.go` `logEvent`).

use jiff::Timestamp;
use serde_json::{Map, Value, json};

use super::{Cluster, Error, Resource};
use crate::api::{ObjectExt, names};
use crate::guard::Permit;

/// What happened to an object.
#[derive(Debug, Clone)]
pub struct Event<'a> {
    /// The Application or ApplicationSet.
    pub object: &'a Value,
    /// `OperationStarted` and the like.
    pub reason: &'a str,
    /// Whether the type is `Warning` rather than `Normal`.
    pub is_warning: bool,
    /// One sentence.
    pub message: &'a str,
    /// Labels of the event (APP-260).
    pub labels: Map<String, Value>,
    /// `dest-server`, `dest-namespace`.
    pub annotations: Map<String, Value>,
    /// When it happened.
    pub at: Timestamp,
}

impl Event<'_> {
    /// The Event object.
    pub fn to_object(&self) -> Value {
        let at = self.at.strftime("%Y-%m-%dT%H:%M:%SZ").to_string();
        let object = self.object;
        let mut metadata = json!({
            "name": format!("{}.{:x}", object.name(), self.at.as_nanosecond()),
            "namespace": object.namespace(),
        });
        for (field, map) in [("labels", &self.labels), ("annotations", &self.annotations)] {
            if let (false, Some(metadata)) = (map.is_empty(), metadata.as_object_mut()) {
                metadata.insert(field.to_owned(), Value::Object(map.clone()));
            }
        }
        json!({
            "apiVersion": "v1",
            "kind": "Event",
            "metadata": metadata,
            "involvedObject": {
                "apiVersion": object.api_version(),
                "kind": object.kind(),
                "namespace": object.namespace(),
                "name": object.name(),
                "uid": object.uid(),
                "resourceVersion": object.resource_version(),
            },
            "reason": self.reason,
            "type": if self.is_warning { "Warning" } else { "Normal" },
            "message": self.message,
            "source": {"component": names::BINARY_MANAGER},
            "firstTimestamp": at,
            "lastTimestamp": at,
            "count": 1,
            "reportingComponent": "",
            "reportingInstance": "",
        })
    }
}

impl Cluster {
    /// Creates the event in its object's namespace.
    pub async fn create_event(&self, permit: Permit, event: &Event<'_>) -> Result<Value, Error> {
        let events = Resource {
            version: "v1".to_owned(),
            kind: "Event".to_owned(),
            plural: "events".to_owned(),
            namespaced: true,
            ..Resource::default()
        };
        self.create(permit, &events, &event.to_object(), names::BINARY_MANAGER).await
    }
}
