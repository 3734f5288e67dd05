//! Kubernetes objects as litecd passes them around: JSON trees that live no longer than one reconcile.
//!
//! In:  a `serde_json::Value` (sorted keys) with `apiVersion`, `kind`, `metadata`.
//! Out: identities and views of metadata; a missing or mistyped field reads as absent, never as an error.

use std::fmt;

use serde_json::{Map, Value};

/// Group and kind, `""` being the core group.
#[derive(Debug, Clone, PartialEq, Eq, Hash, PartialOrd, Ord, Default)]
pub struct GroupKind {
    /// API group, empty for core.
    pub group: String,
    /// Kind in singular CamelCase.
    pub kind: String,
}

impl GroupKind {
    /// Builds from borrowed parts.
    pub fn new(group: &str, kind: &str) -> Self {
        Self { group: group.to_owned(), kind: kind.to_owned() }
    }
}

/// Group, version and kind.
#[derive(Debug, Clone, PartialEq, Eq, Hash, PartialOrd, Ord, Default)]
pub struct GroupVersionKind {
    /// API group, empty for core.
    pub group: String,
    /// Version, such as `v1`.
    pub version: String,
    /// Kind in singular CamelCase.
    pub kind: String,
}

impl GroupVersionKind {
    /// Builds from `apiVersion` (`v1`, `apps/v1`) and kind.
    pub fn from_api_version(api_version: &str, kind: &str) -> Self {
        let (group, version) = api_version.split_once('/').unwrap_or(("", api_version));
        Self { group: group.to_owned(), version: version.to_owned(), kind: kind.to_owned() }
    }

    /// `v1` or `apps/v1`.
    pub fn api_version(&self) -> String {
        if self.group.is_empty() { self.version.clone() } else { format!("{}/{}", self.group, self.version) }
    }

    /// The kind without its version.
    pub fn group_kind(&self) -> GroupKind {
        GroupKind { group: self.group.clone(), kind: self.kind.clone() }
    }
}

/// As Go prints a GroupVersionKind: `apps/v1, Kind=Deployment`, core `/v1, Kind=Pod`.
impl fmt::Display for GroupVersionKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}/{}, Kind={}", self.group, self.version, self.kind)
    }
}

/// What identifies an object in a cluster; the version is not part of it.
#[derive(Debug, Clone, PartialEq, Eq, Hash, PartialOrd, Ord, Default)]
pub struct ResourceKey {
    /// API group, empty for core.
    pub group: String,
    /// Kind.
    pub kind: String,
    /// Namespace, empty for cluster-scoped objects.
    pub namespace: String,
    /// Name.
    pub name: String,
}

impl ResourceKey {
    /// Group and kind of the key.
    pub fn group_kind(&self) -> GroupKind {
        GroupKind { group: self.group.clone(), kind: self.kind.clone() }
    }
}

/// `group/kind/namespace/name`, as Argo CD prints keys; also the order of `status.resources` (APP-096).
impl fmt::Display for ResourceKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}/{}/{}/{}", self.group, self.kind, self.namespace, self.name)
    }
}

/// Views of an object's identity and metadata.
pub trait ObjectExt {
    /// `apiVersion`, empty when absent.
    fn api_version(&self) -> &str;
    /// `kind`, empty when absent.
    fn kind(&self) -> &str;
    /// API group, empty for core.
    fn group(&self) -> &str;
    /// Group, version and kind.
    fn gvk(&self) -> GroupVersionKind;
    /// Group and kind.
    fn group_kind(&self) -> GroupKind;
    /// Identity as written in the object (no namespace defaulting).
    fn key(&self) -> ResourceKey;
    /// `metadata`, where it is an object.
    fn metadata(&self) -> Option<&Map<String, Value>>;
    /// `metadata`, made an object where it is not.
    fn metadata_mut(&mut self) -> &mut Map<String, Value>;
    /// A string field of `metadata`, empty when absent.
    fn meta_str(&self, field: &str) -> &str;
    /// `metadata.name`, empty when absent.
    fn name(&self) -> &str {
        self.meta_str("name")
    }
    /// `metadata.namespace`, empty when absent.
    fn namespace(&self) -> &str {
        self.meta_str("namespace")
    }
    /// `metadata.uid`, empty when absent.
    fn uid(&self) -> &str {
        self.meta_str("uid")
    }
    /// `metadata.resourceVersion`, empty when absent.
    fn resource_version(&self) -> &str {
        self.meta_str("resourceVersion")
    }
    /// An annotation's text.
    fn annotation(&self, name: &str) -> Option<&str>;
    /// A label's text.
    fn label(&self, name: &str) -> Option<&str>;
    /// Sets an annotation.
    fn set_annotation(&mut self, name: &str, value: &str);
    /// Removes an annotation, and the annotations map when it becomes empty.
    fn remove_annotation(&mut self, name: &str);
    /// Sets a label.
    fn set_label(&mut self, name: &str, value: &str);
    /// Whether a deletion timestamp is set.
    fn is_deleting(&self) -> bool {
        !self.meta_str("deletionTimestamp").is_empty()
    }
    /// `metadata.finalizers`.
    fn finalizers(&self) -> Vec<&str>;
    /// Whether a comma-separated annotation contains exactly this option (trimmed parts).
    fn has_annotation_option(&self, annotation: &str, option: &str) -> bool {
        self.annotation(annotation).is_some_and(|text| text.split(',').any(|part| part.trim() == option))
    }
    /// Whether the object names at least one owner.
    fn has_owner(&self) -> bool;
}

impl ObjectExt for Value {
    fn api_version(&self) -> &str {
        self.get("apiVersion").and_then(Value::as_str).unwrap_or_default()
    }
    fn kind(&self) -> &str {
        self.get("kind").and_then(Value::as_str).unwrap_or_default()
    }
    fn group(&self) -> &str {
        self.api_version().split_once('/').map_or("", |(group, _)| group)
    }
    fn gvk(&self) -> GroupVersionKind {
        GroupVersionKind::from_api_version(self.api_version(), self.kind())
    }
    fn group_kind(&self) -> GroupKind {
        GroupKind::new(self.group(), self.kind())
    }
    fn key(&self) -> ResourceKey {
        ResourceKey {
            group: self.group().to_owned(),
            kind: self.kind().to_owned(),
            namespace: self.namespace().to_owned(),
            name: self.name().to_owned(),
        }
    }
    fn metadata(&self) -> Option<&Map<String, Value>> {
        self.get("metadata").and_then(Value::as_object)
    }
    fn metadata_mut(&mut self) -> &mut Map<String, Value> {
        child_map(self, "metadata")
    }
    fn meta_str(&self, field: &str) -> &str {
        self.metadata().and_then(|meta| meta.get(field)).and_then(Value::as_str).unwrap_or_default()
    }
    fn annotation(&self, name: &str) -> Option<&str> {
        self.metadata()?.get("annotations")?.get(name)?.as_str()
    }
    fn label(&self, name: &str) -> Option<&str> {
        self.metadata()?.get("labels")?.get(name)?.as_str()
    }
    fn set_annotation(&mut self, name: &str, value: &str) {
        entry_map(self.metadata_mut(), "annotations").insert(name.to_owned(), value.into());
    }
    fn remove_annotation(&mut self, name: &str) {
        let meta = self.metadata_mut();
        if let Some(Value::Object(annotations)) = meta.get_mut("annotations") {
            annotations.remove(name);
            if annotations.is_empty() {
                meta.remove("annotations");
            }
        }
    }
    fn set_label(&mut self, name: &str, value: &str) {
        entry_map(self.metadata_mut(), "labels").insert(name.to_owned(), value.into());
    }
    fn finalizers(&self) -> Vec<&str> {
        self.metadata()
            .and_then(|meta| meta.get("finalizers"))
            .and_then(Value::as_array)
            .map(|list| list.iter().filter_map(Value::as_str).collect())
            .unwrap_or_default()
    }
    fn has_owner(&self) -> bool {
        self.metadata()
            .and_then(|meta| meta.get("ownerReferences"))
            .and_then(Value::as_array)
            .is_some_and(|owners| !owners.is_empty())
    }
}

/// The object under `field` of `value`; whatever else stood there is replaced by an empty object.
pub fn child_map<'a>(value: &'a mut Value, field: &str) -> &'a mut Map<String, Value> {
    if !value.is_object() {
        *value = Value::Object(Map::new());
    }
    match value {
        Value::Object(map) => entry_map(map, field),
        _ => unreachable!("made an object above"),
    }
}

/// The object under `field` of `map`; whatever else stood there is replaced by an empty object.
pub fn entry_map<'a>(map: &'a mut Map<String, Value>, field: &str) -> &'a mut Map<String, Value> {
    let slot = map.entry(field).or_insert_with(|| Value::Object(Map::new()));
    if !slot.is_object() {
        *slot = Value::Object(Map::new());
    }
    match slot {
        Value::Object(inner) => inner,
        _ => unreachable!("made an object above"),
    }
}
