//! Reads tracking ids and instance labels.
//!
//! In:  live or desired objects and the tracking settings.
//! Out: the instance name an object carries; whether the id it carries is its own.
//! Invariant: an id that cannot be read ties the object to nobody.
//! Source: APP-234, APP-236 to APP-239, APP-242, APP-243, DIFF-031 (`util/argo/resource_tracking.go`,
//! `controller/state.go` `isSelfReferencedObj`).

use std::fmt;

use serde_json::Value;

use super::{Method, Tracking};
use crate::api::ObjectExt;
use crate::api::names;

/// A tracking id taken apart.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TrackingId {
    /// Instance name of the application.
    pub instance: String,
    /// API group, empty for core.
    pub group: String,
    /// Kind.
    pub kind: String,
    /// Namespace; the destination's for objects that name none, cluster-scoped ones included (APP-237).
    pub namespace: String,
    /// Name.
    pub name: String,
}

impl TrackingId {
    /// The id of `object` in the application `instance`.
    pub fn of(object: &Value, instance: &str, default_namespace: &str) -> Self {
        let namespace = object.namespace();
        Self {
            instance: instance.to_owned(),
            group: object.group().to_owned(),
            kind: object.kind().to_owned(),
            namespace: if namespace.is_empty() { default_namespace } else { namespace }.to_owned(),
            name: object.name().to_owned(),
        }
    }

    /// Whether `object` is the one the id names.
    /// A cluster-scoped object matches any namespace because its id carries the destination's.
    fn names(&self, object: &Value) -> bool {
        (object.namespace() == self.namespace || object.namespace().is_empty())
            && object.name() == self.name
            && object.group() == self.group
            && object.kind() == self.kind
    }
}

/// `<instance>:<group>/<kind>:<namespace>/<name>` (APP-236).
impl fmt::Display for TrackingId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { instance, group, kind, namespace, name } = self;
        write!(f, "{instance}:{group}/{kind}:{namespace}/{name}")
    }
}

/// Takes a tracking id apart; `None` when it does not have the form (APP-238). Names may contain `:`.
pub fn parse_id(text: &str) -> Option<TrackingId> {
    let mut parts = text.splitn(3, ':');
    let instance = parts.next()?;
    let (group, kind) = split_pair(parts.next()?)?;
    let (namespace, name) = split_pair(parts.next()?)?;
    Some(TrackingId {
        instance: instance.to_owned(),
        group: group.to_owned(),
        kind: kind.to_owned(),
        namespace: namespace.to_owned(),
        name: name.to_owned(),
    })
}

/// Splits at the only `/`.
fn split_pair(text: &str) -> Option<(&str, &str)> {
    text.split_once('/').filter(|(_, rest)| !rest.contains('/'))
}

/// The id an object carries, if it was written by this installation.
fn id_of(object: &Value, tracking: &Tracking) -> Option<TrackingId> {
    let installation = object.annotation(names::INSTALLATION_ID).unwrap_or_default();
    if installation != tracking.installation() {
        return None;
    }
    parse_id(object.annotation(names::TRACKING_ID)?)
}

/// Instance name of the application that an object is tied to (APP-239, APP-242).
///
/// Callers that look for managed live objects must still leave out objects with owners.
pub fn owner(object: &Value, tracking: &Tracking) -> Option<String> {
    let instance = match tracking.method {
        Method::Label => object.label(&tracking.label_key).map(str::to_owned),
        Method::Annotation | Method::AnnotationAndLabel | Method::Other => {
            id_of(object, tracking).map(|id| id.instance)
        }
    };
    instance.filter(|name| !name.is_empty())
}

/// Whether the tracking metadata on `live` is its own and was not copied from another object (APP-243, DIFF-031).
///
/// A target decides before the annotation does, since after an upgrade of its API group the annotation on the
/// live object is out of date.
pub fn is_self_referenced(live: &Value, target: Option<&Value>, tracking: &Tracking) -> bool {
    if tracking.method == Method::Label {
        return true;
    }
    if let Some(target) = target {
        return TrackingId::of(target, "", "").names(live);
    }
    match tracking.method {
        Method::Other | Method::Label => true,
        Method::Annotation | Method::AnnotationAndLabel => id_of(live, tracking).is_none_or(|id| id.names(live)),
    }
}

/// `namespace/name` of an instance name such as `namespace_name`; bare names stay (APP-234).
pub fn instance_to_key(instance: &str) -> String {
    instance.replace('_', "/")
}
