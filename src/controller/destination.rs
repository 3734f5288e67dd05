//! Where an application's objects live: a cluster, its client and its live store.
//!
//! In:  `spec.destination` and the cluster Secrets.
//! Out: a handle that comparisons and syncs use; kinds are watched when they are first needed.
//! Source: APP-219 to APP-228 (`util/argo/argo.go`, `controller/cache/cache.go`).

use std::cell::Cell;
use std::collections::hash_map::Entry;
use std::collections::{HashMap, HashSet};
use std::rc::Rc;

use serde_json::Value;

use super::config::Config;
use super::context::Context;
use crate::api::{self, Application, GroupKind, ObjectExt, names};
use crate::cluster::{self, Cluster};
use crate::desired::ClusterFacts;
use crate::gocompat::strconv::quote;
use crate::settings::{ClusterConfig, ResourceFilter};
use crate::watch::{Live, Orphans};

/// A destination cluster.
#[derive(Clone)]
pub struct Destination {
    /// API server URL as the settings name it.
    pub server: String,
    /// The cluster's settings.
    pub settings: crate::settings::Cluster,
    /// Client.
    pub cluster: Cluster,
    /// Live objects.
    pub live: Live,
    /// Objects that no application owns, where a project asks for them.
    pub orphans: Orphans,
    /// Whether leftovers of unwatched kinds were looked for.
    pub swept: Rc<Cell<bool>>,
}

/// Kinds that an application is known to use: those of its status, and those of its last operation, whose status may
/// not have been stored.
pub fn kinds_of(app: &Application) -> HashSet<GroupKind> {
    let mut kinds: HashSet<GroupKind> =
        app.status.resources.iter().map(|entry| GroupKind::new(&entry.group, &entry.kind)).collect();
    let results = app.status.operation_state.iter().filter_map(|state| state.sync_result.as_ref());
    kinds.extend(results.flat_map(|result| &result.resources).map(|entry| GroupKind::new(&entry.group, &entry.kind)));
    kinds
}

impl Context {
    /// Resolves a destination; the error is Argo CD's text. Nothing is sent to the cluster yet.
    pub fn destination(&self, config: &Config, wanted: &api::Destination) -> Result<Destination, Unreachable> {
        let found = config.clusters.resolve(wanted).map_err(|error| Unreachable::Undefined(error.to_string()))?;
        let own = found.server == names::IN_CLUSTER_SERVER && found.config == ClusterConfig::default();
        if own && found.namespaces.is_empty() {
            return Ok(Destination {
                server: found.server.clone(),
                settings: found.clone(),
                cluster: self.cluster.clone(),
                live: self.live.clone(),
                orphans: self.orphans.clone(),
                swept: self.swept.clone(),
            });
        }
        let stores = |client: kube::Client| {
            let live = Live::new(client.clone(), self.classifier(), self.changes.clone());
            (live, Orphans::new(client, self.changes.clone()))
        };
        self.remotes.get(found, own.then_some(&self.cluster), stores).map_err(Unreachable::Unusable)
    }
}

/// Why there is no destination.
#[derive(Debug, thiserror::Error)]
pub enum Unreachable {
    /// No such cluster; the application cannot have objects there.
    #[error("{0}")]
    Undefined(String),
    /// The cluster exists, but its settings cannot be used; objects may well be there.
    #[error("{0}")]
    Unusable(String),
}

/// Kinds that stand between a workload and its Pods.
const BELOW: &[(&str, &str)] = &[("apps", "ReplicaSet"), ("batch", "Job"), ("", "Pod")];

/// Whether objects of a kind own Pods, directly or through one of [`BELOW`]; unknown kinds may.
fn owns_pods(kind: &GroupKind) -> bool {
    match kind.group.as_str() {
        "" => matches!(kind.kind.as_str(), "ReplicationController" | "Pod"),
        "apps" | "batch" => true,
        "argoproj.io" => matches!(kind.kind.as_str(), "Rollout" | "Workflow"),
        _ => false,
    }
}

impl Destination {
    /// What rendering needs to know of the cluster.
    pub async fn facts(&self) -> Result<ClusterFacts, String> {
        let unknown = |error: cluster::Error| {
            let why = self.not_known(&unread(&error));
            format!("failed to get cluster version for cluster {:?}: {why}", self.server)
        };
        let version = self.cluster.version().await.map_err(unknown)?;
        let api_versions = self.cluster.api_versions().await.map_err(unknown)?.into();
        Ok(ClusterFacts { version, api_versions })
    }

    /// Makes sure that these kinds are watched and listed; kinds that the cluster does not serve are left out.
    pub async fn watch(&self, kinds: &HashSet<GroupKind>, filter: &ResourceFilter) -> Result<(), String> {
        // Without discovery every kind would look absent, and what is absent may be concluded from.
        let unknown = self.cluster.unreadable_versions().await.map_err(|error| self.not_known(&unread(&error)))?;
        let mut wanted: Vec<GroupKind> = kinds.iter().cloned().collect();
        if kinds.iter().any(owns_pods) {
            wanted.extend(BELOW.iter().map(|(group, kind)| GroupKind::new(group, kind)));
        }
        wanted.retain(|kind| !filter.is_excluded(&kind.group, &kind.kind, &self.server));
        for kind in &wanted {
            if self.live.watches(kind) {
                continue;
            }
            match self.cluster.preferred(kind).await {
                Some(resource) if resource.verbs.has("list") && resource.verbs.has("watch") => self.follow(&resource),
                Some(_) => {}
                None => {
                    if let Some(version) = unknown.iter().find(|version| group_of(version) == kind.group) {
                        return Err(self.not_known(&format!("unable to retrieve the server APIs: {version}")));
                    }
                }
            }
        }
        for kind in &wanted {
            self.live.ready(kind).await.map_err(|text| self.not_loaded(kind, &text))?;
        }
        Ok(())
    }

    /// Scopes of kinds; `None` where the cluster does not know the kind.
    pub async fn scopes(&self, kinds: impl Iterator<Item = GroupKind>) -> HashMap<GroupKind, Option<bool>> {
        let mut scopes = HashMap::new();
        for kind in kinds {
            if let Entry::Vacant(slot) = scopes.entry(kind) {
                let namespaced = self.cluster.namespaced(slot.key()).await;
                slot.insert(namespaced);
            }
        }
        scopes
    }

    /// Takes in an object that litecd wrote; a kind that is written for the first time is watched from now on.
    pub async fn keep(&self, object: &Value) {
        let kind = object.group_kind();
        if !self.live.watches(&kind)
            && let Some(resource) = self.cluster.preferred(&kind).await
        {
            self.follow(&resource);
        }
        self.live.written(object);
    }

    /// Why the cluster cannot be compared with, in Argo CD's words; `None` when it answers.
    pub async fn unreachable(&self) -> Option<String> {
        self.cluster.version().await.err().map(|error| not_synchronized(&unread(&error)))
    }

    /// Where objects of a kind are looked for: the namespaces that are managed, or everywhere; `None` for kinds that are
    /// not managed at all (APP-228).
    pub fn places(&self, resource: &cluster::Resource) -> Option<&[String]> {
        match (self.settings.namespaces.as_slice(), resource.namespaced) {
            (namespaces, true) => Some(namespaces),
            ([], false) => Some(&[]),
            (_, false) => self.settings.cluster_resources.then_some(&[]),
        }
    }

    /// Watches a kind where its objects are managed.
    pub fn follow(&self, resource: &cluster::Resource) {
        if let Some(places) = self.places(resource) {
            self.live.start(&resource.gvk(), &resource.plural, places);
        }
    }

    /// Says which object lies outside the managed namespaces (APP-140).
    pub fn unmanaged(&self, targets: &[Value]) -> Option<String> {
        let managed = &self.settings.namespaces;
        if managed.is_empty() {
            return None;
        }
        targets.iter().find_map(|object| match object.namespace() {
            "" if self.settings.cluster_resources => None,
            "" => Some(format!(
                "cluster level {} {} can not be managed when in namespaced mode",
                object.kind(),
                quote(object.name())
            )),
            namespace if managed.iter().any(|known| known == namespace) => None,
            namespace => Some(format!(
                "namespace {} for {} {} is not managed",
                quote(namespace),
                object.kind(),
                quote(object.name())
            )),
        })
    }

    fn not_known(&self, cause: &str) -> String {
        format!("failed to get cluster info for {:?}: {}", self.server, not_synchronized(cause))
    }

    fn not_loaded(&self, kind: &GroupKind, text: &str) -> String {
        let server = &self.server;
        let resource = if kind.group.is_empty() { kind.kind.clone() } else { format!("{}.{}", kind.kind, kind.group) };
        self.not_known(&format!(
            "failed to sync cluster {server}: failed to load initial state of resource {resource}: {text}"
        ))
    }
}

/// The first thing that is asked of a cluster failed.
fn unread(error: &cluster::Error) -> String {
    format!("failed to get server version: failed to get server version: {error}")
}

fn not_synchronized(cause: &str) -> String {
    format!("error synchronizing cache state : {cause}")
}

fn group_of(version: &str) -> &str {
    version.split_once('/').map_or("", |(group, _)| group)
}
