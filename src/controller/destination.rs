//! Where an application's objects live: a cluster, its client and its live store.
//!
//! In:  `spec.destination` and the cluster Secrets.
//! Out: a handle that comparisons and syncs use; kinds are watched when they are first needed.
//! Source: APP-219 to APP-228 (`util/argo/argo.go`, `controller/cache/cache.go`).

use std::collections::{HashMap, HashSet};

use serde_json::Value;

use super::config::Config;
use super::context::Context;
use crate::api::{self, GroupKind, ObjectExt, names};
use crate::cluster::Cluster;
use crate::settings::ResourceFilter;
use crate::watch::Live;

/// A destination cluster.
#[derive(Clone)]
pub struct Destination {
    /// API server URL as the settings name it.
    pub server: String,
    /// Cluster name as the settings name it.
    pub name: String,
    /// Client.
    pub cluster: Cluster,
    /// Live objects.
    pub live: Live,
}

/// What is said of clusters that this build does not reach; the application waits rather than being let go.
const UNSUPPORTED: &str = "remote clusters are not supported by this build";

/// Whether a destination error says that the cluster exists but is out of reach.
pub fn is_unsupported(text: &str) -> bool {
    text.ends_with(UNSUPPORTED)
}

impl Context {
    /// Resolves a destination; the error is Argo CD's text.
    pub async fn destination(&self, config: &Config, wanted: &api::Destination) -> Result<Destination, String> {
        let found = config.clusters.resolve(wanted).map_err(|error| error.to_string())?;
        if found.server != names::IN_CLUSTER_SERVER {
            return Err(format!(
                "failed to get cluster info for {:?}: error synchronizing cache state : {UNSUPPORTED}",
                found.server
            ));
        }
        Ok(Destination {
            server: found.server.clone(),
            name: found.name.clone(),
            cluster: self.cluster.clone(),
            live: self.live.clone(),
        })
    }
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
    /// Makes sure that these kinds are watched and listed; kinds that the cluster does not serve are left out.
    pub async fn watch(&self, kinds: &HashSet<GroupKind>, filter: &ResourceFilter) -> Result<(), String> {
        let mut wanted: Vec<GroupKind> = kinds.iter().cloned().collect();
        if kinds.iter().any(owns_pods) {
            wanted.extend(BELOW.iter().map(|(group, kind)| GroupKind::new(group, kind)));
        }
        wanted.retain(|kind| !filter.is_excluded(&kind.group, &kind.kind, &self.server));
        for kind in &wanted {
            if self.live.watches(kind) {
                continue;
            }
            if let Some(resource) = self.cluster.preferred(kind).await
                && resource.verbs.has("list")
                && resource.verbs.has("watch")
            {
                self.live.start(&resource.gvk(), &resource.plural);
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
            if !scopes.contains_key(&kind) {
                let namespaced = self.cluster.namespaced(&kind).await;
                scopes.insert(kind, namespaced);
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
            self.live.start(&resource.gvk(), &resource.plural);
        }
        self.live.written(object);
    }

    fn not_loaded(&self, kind: &GroupKind, text: &str) -> String {
        let server = &self.server;
        let resource = if kind.group.is_empty() { kind.kind.clone() } else { format!("{}.{}", kind.kind, kind.group) };
        format!(
            "failed to get cluster info for {server:?}: error synchronizing cache state : failed to sync cluster {server}: failed to load initial state of resource {resource}: {text}"
        )
    }
}
