//! Reads which fields of a live object each field manager owns.
//!
//! In:  `metadata.managedFields`.
//! Out: per entry a tree of owned paths.
//! Invariant: an entry that cannot be read owns nothing.
//! Source: DIFF-044, DIFF-083 (structured-merge-diff 6.4.0 `fieldpath/serialize.go`).

use std::collections::BTreeMap;

use serde_json::{Map, Value};

use crate::api::object::ObjectExt;

/// A step of a path, as FieldsV1 writes it: `f:NAME`, `k:{"KEY":VALUE}`, `v:VALUE` or `i:INDEX`.
pub type Step = String;

/// The paths below one place.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Fields {
    /// Whether this place itself is owned.
    pub owned: bool,
    /// Places below.
    pub children: BTreeMap<Step, Fields>,
}

/// One entry of managedFields.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Owner {
    /// Name of the manager.
    pub manager: String,
    /// `Apply` or `Update`.
    pub operation: String,
    /// API version in which the paths are meant.
    pub api_version: String,
    /// Subresource, empty for the object itself.
    pub subresource: String,
    /// When the manager last changed what it owns, as written; empty when it is not told.
    pub time: String,
    /// What is owned.
    pub fields: Fields,
}

/// The entries of an object's managedFields.
pub fn owners(object: &Value) -> Vec<Owner> {
    let entries = object.metadata().and_then(|metadata| metadata.get("managedFields")).and_then(Value::as_array);
    let text = |entry: &Value, name: &str| entry.get(name).and_then(Value::as_str).unwrap_or_default().to_owned();
    entries
        .into_iter()
        .flatten()
        .map(|entry| Owner {
            manager: text(entry, "manager"),
            operation: text(entry, "operation"),
            api_version: text(entry, "apiVersion"),
            subresource: text(entry, "subresource"),
            time: text(entry, "time"),
            fields: entry.get("fieldsV1").map(Fields::read).unwrap_or_default(),
        })
        .collect()
}

impl Fields {
    /// Reads FieldsV1.
    pub fn read(value: &Value) -> Self {
        let mut fields = Self::default();
        let Some(map) = value.as_object() else { return fields };
        for (key, below) in map {
            if key == "." {
                fields.owned = true;
                continue;
            }
            let mut child = Self::read(below);
            child.owned |= below.as_object().is_none_or(Map::is_empty);
            fields.children.insert(canonical(key), child);
        }
        fields
    }

    /// Writes FieldsV1.
    pub fn write(&self) -> Value {
        let mut map = Map::new();
        if self.owned && !self.children.is_empty() {
            map.insert(".".to_owned(), Value::Object(Map::new()));
        }
        for (step, child) in &self.children {
            map.insert(step.clone(), child.write());
        }
        map.into()
    }

    /// Adds the paths of `other`.
    pub fn extend(&mut self, other: &Fields) {
        self.owned |= other.owned;
        for (step, child) in &other.children {
            self.children.entry(step.clone()).or_default().extend(child);
        }
    }

    /// The owned paths, each as its steps.
    pub fn paths(&self) -> Vec<Vec<Step>> {
        let mut paths = Vec::new();
        self.collect(&mut Vec::new(), &mut paths);
        paths
    }

    fn collect(&self, prefix: &mut Vec<Step>, paths: &mut Vec<Vec<Step>>) {
        if self.owned {
            paths.push(prefix.clone());
        }
        for (step, child) in &self.children {
            prefix.push(step.clone());
            child.collect(prefix, paths);
            prefix.pop();
        }
    }

    /// Whether nothing is owned here and below.
    pub fn is_empty(&self) -> bool {
        !self.owned && self.children.values().all(Fields::is_empty)
    }
}

/// The step in the form that [`key_step`] and [`value_step`] write.
fn canonical(step: &str) -> Step {
    let parsed = |prefix: &str| step.strip_prefix(prefix).and_then(|text| serde_json::from_str::<Value>(text).ok());
    match (parsed("k:"), parsed("v:")) {
        (Some(Value::Object(key)), _) => key_step(&key),
        (_, Some(value)) => value_step(&value),
        _ => step.to_owned(),
    }
}

/// Step to a field.
pub fn field_step(name: &str) -> Step {
    format!("f:{name}")
}

/// Step to the list item that has these key fields.
pub fn key_step(key: &Map<String, Value>) -> Step {
    format!("k:{}", Value::Object(key.clone()))
}

/// Step to a member of a set.
pub fn value_step(value: &Value) -> Step {
    format!("v:{value}")
}

/// Names of the key fields in a `k:` step.
pub fn key_names(step: &str) -> Option<Vec<String>> {
    let key: Map<String, Value> = serde_json::from_str(step.strip_prefix("k:")?).ok()?;
    Some(key.keys().cloned().collect())
}
