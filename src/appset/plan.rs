//! Which Applications of a set are created, changed and deleted.
//!
//! In:  the valid generated Applications, all that were generated, the stored ones, policy and rules.
//! Out: one change per Application, creations and updates by name first, then deletions by name.
//! Invariant: an Application is deleted only when every generator answered and none of them made it; the status and
//! what others wrote beside the generated fields is never part of a patch.
//! Source: SET-083 to SET-094 (`applicationset/controllers/applicationset_controller.go` `createOrUpdateInCluster`,
//! `deleteInCluster`; `applicationset/utils/createOrUpdate.go`).

use std::collections::{BTreeMap, BTreeSet};

use serde_json::{Map, Value, json};

use super::live::{KIND, Live};
use super::options::{Options, World};
use crate::api::application::ResourceIgnoreDifferences;
use crate::api::appset::ApplicationSet;
use crate::api::names::{GROUP, POST_DELETE_FINALIZER, PRE_DELETE_FINALIZER, REFRESH, RESOURCES_FINALIZER};
use crate::api::{Application, ApplicationSpec, Destination};
use crate::diff::{Ignore, StartTimer, create_merge_patch, merge_patch};
use crate::status::normalize_spec;

/// Annotations that other controllers write.
const KEPT_ANNOTATIONS: &[&str] = &["notified.notifications.argoproj.io", REFRESH, "argocd.argoproj.io/hydrate"];

/// One write.
#[derive(Debug, Clone, PartialEq)]
pub enum Change {
    /// Create this object.
    Create {
        /// Its name.
        name: String,
        /// The whole object.
        object: Value,
    },
    /// Patch the Application.
    Update {
        /// Its name.
        name: String,
        /// The patch.
        patch: Patch,
    },
    /// Delete the Application in the background; an absent one is no error.
    Delete {
        /// Its name.
        name: String,
        /// Only the object with this uid is meant.
        uid: String,
        /// Finalizers to leave it before it is deleted: its destination is no cluster that is known, so the cascade
        /// would never end.
        finalizers: Option<Vec<String>>,
    },
    /// Nothing is written: the Application belongs to somebody else.
    Refused {
        /// Its name.
        name: String,
        /// What the condition says.
        message: String,
    },
}

/// How an Application is changed.
#[derive(Debug, Clone, PartialEq)]
pub enum Patch {
    /// JSON merge patch.
    Merge(Value),
    /// JSON patch: a merge patch cannot say that a field shall be null, as Helm values may.
    Json(Value),
}

impl Change {
    /// Name of the Application.
    pub fn name(&self) -> &str {
        match self {
            Self::Create { name, .. } | Self::Update { name, .. } => name,
            Self::Delete { name, .. } | Self::Refused { name, .. } => name,
        }
    }
}

/// Rules of one set, ready to compare its Applications with.
pub struct Comparer<'a> {
    set: &'a ApplicationSet,
    options: &'a Options,
    ignore: Option<Ignore>,
}

impl<'a> Comparer<'a> {
    /// Compiles the rules of a set.
    ///
    /// # Errors
    /// A rule that does not compile; without it nothing may be compared.
    pub fn new(set: &'a ApplicationSet, options: &'a Options, timer: StartTimer) -> Result<Self, String> {
        let rules = set.spec.ignore_application_differences.iter().map(|rule| ResourceIgnoreDifferences {
            group: GROUP.to_owned(),
            kind: "Application".to_owned(),
            name: rule.name.clone(),
            json_pointers: rule.json_pointers.clone(),
            jq_path_expressions: rule.jq_path_expressions.clone(),
            ..ResourceIgnoreDifferences::default()
        });
        let rules: Vec<_> = rules.collect();
        let ignore = if rules.is_empty() {
            None
        } else {
            let compiled = Ignore::new(&rules, &BTreeMap::new(), timer);
            Some(compiled.map_err(|error| format!("failed to build ignore diff config: {error}"))?)
        };
        Ok(Self { set, options, ignore })
    }

    /// Whether the stored spec is another than the generated one.
    pub fn spec_differs(&self, live: &Live, app: &Application) -> bool {
        let with_spec = |spec: Value| self.without_ignored(object(live, live.metadata.clone(), spec, Value::Null));
        let wanted = normal(serde_json::to_value(&app.spec).unwrap_or_default());
        with_spec(normal(live.spec.clone())).get("spec") != with_spec(wanted).get("spec")
    }

    /// The change that makes a stored Application the generated one; nothing when it is.
    ///
    /// # Errors
    /// The Application belongs to somebody else.
    fn update(&self, live: &Live, app: &Application) -> Result<Option<Patch>, String> {
        let metadata = self.metadata(live, app)?;
        let wanted = normal(serde_json::to_value(&app.spec).unwrap_or_default());
        let operation = match &app.operation {
            Some(operation) => serde_json::to_value(operation).unwrap_or_default(),
            None => live.operation.clone(),
        };
        let old = object(live, live.metadata.clone(), normal(live.spec.clone()), live.operation.clone());
        let new = object(live, metadata, wanted, operation.clone());
        let (old, mut new) = (self.without_ignored(old), self.without_ignored(new));
        // Expressions may not touch who it is, nor what it is asked to do.
        for (place, value) in [("name", live.name.as_str()), ("namespace", live.namespace.as_str())] {
            new["metadata"][place] = value.into();
        }
        if !operation.is_null() {
            new["operation"] = operation;
        }
        let Some(patch) = create_merge_patch(&old, &new) else { return Ok(None) };
        if merge_patch(&old, &patch) == new {
            return Ok(Some(Patch::Merge(patch)));
        }
        Ok(Some(Patch::Json(steps(&old, &new))))
    }

    /// The object without what is ignored, in the form that typed objects have: what became empty is not there.
    fn without_ignored(&self, object: Value) -> Value {
        let Some(ignore) = &self.ignore else { return object };
        let mut object = ignore.apply(object);
        if let Some(spec) = object.get_mut("spec").map(Value::take) {
            object["spec"] = normal(spec);
        }
        if let Some(metadata) = object.get_mut("metadata").and_then(Value::as_object_mut) {
            metadata.retain(|_, part| *part != json!({}) && *part != json!([]));
        }
        object
    }

    /// The stored metadata with what a set owns of it.
    fn metadata(&self, live: &Live, app: &Application) -> Result<Map<String, Value>, String> {
        let preserved = self.set.spec.preserved_fields.clone().unwrap_or_default();
        let fixed = KEPT_ANNOTATIONS.iter().map(|key| (*key).to_owned());
        let annotations =
            preserved.annotations.into_iter().chain(self.options.preserved_annotations.clone()).chain(fixed);
        let labels = preserved.labels.into_iter().chain(self.options.preserved_labels.clone());
        let mut metadata = live.metadata.clone();
        put(&mut metadata, "annotations", kept(live, "annotations", &app.metadata.annotations, annotations));
        put(&mut metadata, "labels", kept(live, "labels", &app.metadata.labels, labels));
        let stored = live.finalizers();
        let mut finalizers = app.metadata.finalizers.clone();
        for prefix in [PRE_DELETE_FINALIZER, POST_DELETE_FINALIZER] {
            finalizers.extend(stored.iter().filter(|name| name.starts_with(prefix)).cloned());
        }
        put(&mut metadata, "finalizers", json!(finalizers));
        put(&mut metadata, "ownerReferences", self.owners(live)?);
        Ok(metadata)
    }

    /// The stored owners with the set among them.
    fn owners(&self, live: &Live) -> Result<Value, String> {
        let set = &self.set.metadata.name;
        if let Some((kind, name)) = live.owner()
            && (kind, name) != (KIND, set.as_str())
        {
            let what =
                format!("Object {}/{} is already owned by another {kind} controller {name}", live.namespace, live.name);
            return Err(format!("error while wrapping using MutateFn: {what}"));
        }
        let mut owners = live.metadata.get("ownerReferences").and_then(Value::as_array).cloned().unwrap_or_default();
        let own = owner(self.set);
        let is_same = |other: &&mut Value| other["kind"] == own["kind"] && other["name"] == own["name"];
        match owners.iter_mut().find(is_same) {
            Some(known) => *known = own,
            None => owners.push(own),
        }
        Ok(Value::Array(owners))
    }
}

fn owner(set: &ApplicationSet) -> Value {
    json!({
        "apiVersion": format!("{GROUP}/v1alpha1"),
        "kind": KIND,
        "name": set.metadata.name,
        "uid": set.metadata.uid,
        "controller": true,
        "blockOwnerDeletion": true,
    })
}

/// Sets a part of the metadata; an empty one is left out.
fn put(metadata: &mut Map<String, Value>, key: &str, value: Value) {
    let is_empty = value.as_object().is_some_and(Map::is_empty) || value.as_array().is_some_and(Vec::is_empty);
    if is_empty {
        metadata.remove(key);
    } else {
        metadata.insert(key.to_owned(), value);
    }
}

/// Generated texts, with stored ones where those stay.
fn kept(live: &Live, part: &str, own: &BTreeMap<String, String>, names: impl Iterator<Item = String>) -> Value {
    let mut texts: Map<String, Value> = own.iter().map(|(key, text)| (key.clone(), text.as_str().into())).collect();
    for name in names {
        if let Some(stored) = live.metadata.get(part).and_then(|part| part.get(&name)) {
            texts.insert(name, stored.clone());
        }
    }
    Value::Object(texts)
}

fn object(live: &Live, metadata: Map<String, Value>, spec: Value, operation: Value) -> Value {
    let mut object = json!({"apiVersion": format!("{GROUP}/v1alpha1"), "kind": "Application", "spec": spec});
    object["metadata"] = Value::Object(metadata);
    object["metadata"]["name"] = live.name.as_str().into();
    if !operation.is_null() {
        object["operation"] = operation;
    }
    object
}

/// A spec in the form that the application's controller gives it; one that cannot be read stays as it is.
fn normal(spec: Value) -> Value {
    let typed = serde_json::from_value::<ApplicationSpec>(spec.clone()).ok();
    let spec = typed.and_then(|typed| serde_json::to_value(typed).ok()).unwrap_or(spec);
    let object = json!({"spec": spec});
    let normal = match normalize_spec(&object) {
        Some(patch) => merge_patch(&object, &patch),
        None => object,
    };
    normal.get("spec").cloned().unwrap_or_default()
}

/// A JSON patch of the parts that differ, whole.
fn steps(old: &Value, new: &Value) -> Value {
    let parts = [
        "/metadata/annotations",
        "/metadata/labels",
        "/metadata/finalizers",
        "/metadata/ownerReferences",
        "/operation",
    ];
    let mut steps = Vec::new();
    for path in parts {
        match (old.pointer(path), new.pointer(path)) {
            (old, Some(new)) if old != Some(new) => steps.push(json!({"op": "add", "path": path, "value": new})),
            (Some(_), None) => steps.push(json!({"op": "remove", "path": path})),
            _ => {}
        }
    }
    let empty = Map::new();
    let fields =
        |value: &'_ Value| value.get("spec").and_then(Value::as_object).cloned().unwrap_or_else(|| empty.clone());
    let (old, new) = (fields(old), fields(new));
    for (key, value) in &new {
        if old.get(key) != Some(value) {
            steps.push(json!({"op": "add", "path": format!("/spec/{key}"), "value": value}));
        }
    }
    for key in old.keys().filter(|key| !new.contains_key(*key)) {
        steps.push(json!({"op": "remove", "path": format!("/spec/{key}")}));
    }
    Value::Array(steps)
}

/// The writes of a pass. `wanted` are the valid Applications, `generated` the names of all.
pub fn plan(
    comparer: &Comparer,
    wanted: &[Application],
    generated: &BTreeSet<&str>,
    live: &[Live],
    world: &World,
) -> Vec<Change> {
    let (set, policy) = (comparer.set, comparer.options.policy_of(comparer.set));
    let stored: BTreeMap<&str, &Live> = live.iter().map(|app| (app.name.as_str(), app)).collect();
    let mut sorted: Vec<&Application> = wanted.iter().collect();
    sorted.sort_by(|a, b| a.metadata.name.cmp(&b.metadata.name));
    let mut changes = Vec::new();
    for app in sorted {
        let name = app.metadata.name.clone();
        let Some(found) = stored.get(name.as_str()) else {
            changes.push(Change::Create { object: created(set, app), name });
            continue;
        };
        if found.is_owned_by(&set.metadata.name) && !policy.allows_update() {
            continue;
        }
        match comparer.update(found, app) {
            Ok(Some(patch)) => changes.push(Change::Update { name, patch }),
            Ok(None) => {}
            Err(message) => changes.push(Change::Refused { name, message }),
        }
    }
    if policy.allows_delete() {
        let owned = stored.values().filter(|app| app.is_owned_by(&set.metadata.name));
        let gone = owned.filter(|app| !generated.contains(app.name.as_str()) && app.deleted_at().is_none());
        changes.extend(gone.map(|app| Change::Delete {
            name: app.name.clone(),
            uid: app.uid().to_owned(),
            finalizers: finalizers_left(app, world),
        }));
    }
    changes
}

/// The object to create.
fn created(set: &ApplicationSet, app: &Application) -> Value {
    let mut metadata = Map::new();
    metadata.insert("name".to_owned(), app.metadata.name.as_str().into());
    metadata.insert("namespace".to_owned(), app.metadata.namespace.as_str().into());
    put(&mut metadata, "annotations", json!(app.metadata.annotations));
    put(&mut metadata, "labels", json!(app.metadata.labels));
    put(&mut metadata, "finalizers", json!(app.metadata.finalizers));
    metadata.insert("ownerReferences".to_owned(), json!([owner(set)]));
    let spec = normal(serde_json::to_value(&app.spec).unwrap_or_default());
    let mut object =
        json!({"apiVersion": format!("{GROUP}/v1alpha1"), "kind": "Application", "metadata": metadata, "spec": spec});
    if let Some(operation) = &app.operation {
        object["operation"] = json!(operation);
    }
    object
}

/// The finalizers without the cascade, when the destination is no cluster that is known.
fn finalizers_left(app: &Live, world: &World) -> Option<Vec<String>> {
    let destination: Destination = serde_json::from_value(app.spec.get("destination").cloned()?).ok()?;
    let mut finalizers = app.finalizers();
    if world.clusters.resolve(&destination).is_ok() || !finalizers.iter().any(|name| name == RESOURCES_FINALIZER) {
        return None;
    }
    finalizers.retain(|name| name != RESOURCES_FINALIZER);
    Some(finalizers)
}
