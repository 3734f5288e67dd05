//! Puts each target beside its live object.
//!
//! In:  targets and live objects by key.
//! Out: pairs, live objects that left the sources (no target), and the hooks of the sources.
//! Source: DIFF-020 to DIFF-029 (`gitops-engine/pkg/sync/reconcile.go`).

use std::collections::BTreeMap;

use serde_json::{Value, json};

use super::Namespaced;
use crate::api::application::{ApplicationSpec, ManagedNamespaceMetadata};
use crate::api::{ObjectExt, ResourceKey, names};
use crate::sync::hooks;

/// A target and its live object; one of them may be missing.
#[derive(Debug, Clone, Default)]
pub struct Pair {
    /// What the sources want.
    pub target: Option<Value>,
    /// What the cluster has.
    pub live: Option<Value>,
}

impl Pair {
    /// The live object, or the target where there is none.
    pub fn object(&self) -> Option<&Value> {
        self.live.as_ref().or(self.target.as_ref())
    }
}

/// Pairs and hooks.
#[derive(Debug, Clone, Default)]
pub struct Paired {
    /// All that is not a hook of the sources.
    pub pairs: Vec<Pair>,
    /// Hooks of the sources; their live objects are among the pairs without a target.
    pub hooks: Vec<Value>,
}

/// Pairs targets with live objects.
pub fn pair(
    targets: Vec<Value>,
    mut live: BTreeMap<ResourceKey, Value>,
    namespace: &str,
    namespaced: Namespaced<'_>,
) -> Paired {
    let mut paired = Paired::default();
    let mut wanted = Vec::with_capacity(targets.len());
    for target in targets {
        if hooks::is_ignored(&target) {
            continue;
        }
        if hooks::is_hook(&target) { paired.hooks.push(target) } else { wanted.push(target) }
    }
    drop_duplicates(&wanted, &mut live);
    for target in wanted {
        let found = keys(&target, namespace, namespaced).into_iter().find_map(|key| live.remove(&key));
        paired.pairs.push(Pair { target: Some(target), live: found });
    }
    paired.pairs.extend(live.into_values().map(|object| Pair { target: None, live: Some(object) }));
    paired
}

/// Keys under which a target's live object may stand; both scopes when the scope is unknown, lest it be pruned.
fn keys(target: &Value, namespace: &str, namespaced: Namespaced<'_>) -> Vec<ResourceKey> {
    let scope = namespaced(&target.group_kind());
    let mut keys = Vec::with_capacity(2);
    let key = target.key();
    if scope != Some(false) {
        let namespace = if key.namespace.is_empty() { namespace.to_owned() } else { key.namespace.clone() };
        keys.push(ResourceKey { namespace, ..key.clone() });
    }
    if scope != Some(true) {
        keys.push(ResourceKey { namespace: String::new(), ..key });
    }
    keys
}

/// One object can be served under two groups; the copies that no target names go, one always stays (DIFF-028).
fn drop_duplicates(targets: &[Value], live: &mut BTreeMap<ResourceKey, Value>) {
    let mut by_uid: BTreeMap<&str, Vec<&ResourceKey>> = BTreeMap::new();
    for (key, object) in live.iter() {
        if !object.uid().is_empty() {
            by_uid.entry(object.uid()).or_default().push(key);
        }
    }
    let mut doomed = Vec::new();
    for copies in by_uid.into_values().filter(|copies| copies.len() > 1) {
        let mut left = copies.len();
        for key in copies {
            if left > 1 && !targets.iter().any(|target| target.key() == *key) {
                doomed.push(key.clone());
                left -= 1;
            }
        }
    }
    for key in doomed {
        live.remove(&key);
    }
}

/// The target that stands for a managed destination namespace (DIFF-029), when one is needed.
pub fn managed_namespace(
    spec: &ApplicationSpec,
    targets: &[Value],
    live: &BTreeMap<ResourceKey, Value>,
) -> Option<Value> {
    let metadata = spec.managed_namespace_metadata()?;
    let is_it = |object: &Value| object.kind() == "Namespace" && object.name() == spec.destination.namespace;
    if targets.iter().any(is_it) || !live.values().any(is_it) {
        return None;
    }
    Some(namespace_manifest(&spec.destination.namespace, metadata))
}

/// The manifest of a managed namespace (SYNC-065): server-side applied so that foreign labels stay.
pub fn namespace_manifest(name: &str, metadata: &ManagedNamespaceMetadata) -> Value {
    let mut annotations = metadata.annotations.clone();
    annotations.insert(names::SYNC_OPTIONS.to_owned(), "ServerSideApply=true".to_owned());
    let mut manifest =
        json!({"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": name, "annotations": annotations}});
    if !metadata.labels.is_empty() {
        manifest.metadata_mut().insert("labels".to_owned(), json!(metadata.labels));
    }
    manifest
}
