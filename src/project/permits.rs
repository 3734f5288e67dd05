//! Answers single questions about what a project permits.
//!
//! In:  an effective project; a repository, destination, object or namespace.
//! Out: yes or no, or the text that a denied sync task gets.
//! Source: APP-213 to APP-216, APP-233, SYNC-215 (`pkg/apis/application/v1alpha1/app_project_types.go`,
//! `controller/sync.go` `validateSyncPermissions`).

use serde_json::Value;

use super::Project;
use crate::api::project::GroupKindPattern;
use crate::api::{GroupKind, ObjectExt};
use crate::gocompat::patterns::{PatternMatch, matches_any};
use crate::gocompat::{filepath, glob};
use crate::settings::{Cluster, git_url};

/// Why a project forbids a sync task. `Display` is the message of the task's result.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum SyncDenied {
    /// The cluster does not know the kind, so its scope is unknown.
    #[error("failed to get API resource info for {group}/{kind}: unable to verify permissions")]
    KindUnknown {
        /// API group.
        group: String,
        /// Kind.
        kind: String,
    },
    /// The kind, or the object's name, is not on the project's lists.
    #[error("resource {group}:{kind} is not permitted in project {project}")]
    Kind {
        /// API group.
        group: String,
        /// Kind.
        kind: String,
        /// Project name.
        project: String,
    },
    /// The object's namespace is no destination of the project.
    #[error("namespace {namespace} is not permitted in project '{project}'")]
    Namespace {
        /// The object's namespace.
        namespace: String,
        /// Project name.
        project: String,
    },
}

impl Project {
    /// Whether applications may use a repository. `!pattern` refuses its match, and is an allow for everything else.
    pub fn source_permitted(&self, repo_url: &str) -> bool {
        let source = git_url::normalize(repo_url);
        let mut permitted = false;
        for entry in &self.spec.source_repos {
            // Both sides are normalised; the negation is not part of the URL.
            if let Some(denied) = entry.strip_prefix('!') {
                if glob::matches(&git_url::normalize(denied), &source, &['/']) {
                    return false;
                }
                permitted = true;
                continue;
            }
            let pattern = git_url::normalize(entry);
            permitted |= pattern == "*" || glob::matches(&pattern, &source, &['/']);
        }
        permitted
    }

    /// Whether applications may go to a namespace of a cluster.
    pub fn destination_permitted(&self, cluster: &Cluster, namespace: &str) -> bool {
        let own_cluster =
            || self.clusters.iter().any(|(name, server)| *name == cluster.name || *server == cluster.server);
        self.destination_matched(cluster, namespace)
            && (!self.spec.permit_only_project_scoped_clusters || own_cluster())
    }

    fn destination_matched(&self, cluster: &Cluster, namespace: &str) -> bool {
        let mut permitted = false;
        for entry in &self.spec.destinations {
            let name = !cluster.name.is_empty() && matches_or_negates(&entry.name, &cluster.name);
            let server = !cluster.server.is_empty() && matches_or_negates(&entry.server, &cluster.server);
            let in_namespace = matches_or_negates(&entry.namespace, namespace);
            if (server || name) && in_namespace {
                permitted = true;
                continue;
            }
            // A denied name refuses in all namespaces, a denied server only in those that the entry names.
            if (!name && is_negated(&entry.name)) || (!server && is_negated(&entry.server) && in_namespace) {
                return false;
            }
            if !in_namespace && is_negated(&entry.namespace) && server {
                return false;
            }
        }
        permitted
    }

    /// Whether applications may hold objects of a kind; the name counts for cluster-scoped kinds only.
    pub fn kind_permitted(&self, kind: &GroupKind, name: &str, namespaced: bool) -> bool {
        if namespaced {
            let listed =
                |list: &[GroupKindPattern]| list.iter().any(|entry| kind_matches(&entry.group, &entry.kind, kind));
            let allowed = self.spec.namespace_resource_whitelist.as_ref().is_none_or(|list| listed(list));
            return allowed && !listed(&self.spec.namespace_resource_blacklist);
        }
        let listed = |list: &[crate::api::project::ClusterResource]| {
            list.iter().any(|entry| {
                kind_matches(&entry.group, &entry.kind, kind)
                    && (entry.name.is_empty() || file_pattern_matches(&entry.name, name))
            })
        };
        listed(&self.spec.cluster_resource_whitelist) && !listed(&self.spec.cluster_resource_blacklist)
    }

    /// Whether a live object counts as one of the project's; without a namespace it counts as cluster-scoped.
    pub fn live_permitted(&self, object: &Value, cluster: &Cluster) -> bool {
        let namespace = object.namespace();
        self.kind_permitted(&object.group_kind(), object.name(), !namespace.is_empty())
            && (namespace.is_empty() || self.destination_permitted(cluster, namespace))
    }

    /// Whether a sync may write an object. `namespaced` is what the cluster says about its kind, `None` when the
    /// cluster does not know it.
    ///
    /// # Errors
    /// The text of the denied task.
    pub fn sync_permitted(
        &self,
        object: &Value,
        namespaced: Option<bool>,
        cluster: &Cluster,
    ) -> Result<(), SyncDenied> {
        let kind = object.group_kind();
        let Some(namespaced) = namespaced else {
            return Err(SyncDenied::KindUnknown { group: kind.group, kind: kind.kind });
        };
        if !self.kind_permitted(&kind, object.name(), namespaced) {
            return Err(SyncDenied::Kind { group: kind.group, kind: kind.kind, project: self.name.clone() });
        }
        if namespaced && !self.destination_permitted(cluster, object.namespace()) {
            return Err(SyncDenied::Namespace { namespace: object.namespace().to_owned(), project: self.name.clone() });
        }
        Ok(())
    }

    /// Whether Applications of a namespace may use the project.
    pub fn app_namespace_permitted(&self, namespace: &str, controller_namespace: &str) -> bool {
        let patterns = self.spec.source_namespaces.iter().map(String::as_str);
        namespace.is_empty()
            || namespace == controller_namespace
            || matches_any(patterns, namespace, PatternMatch::Regexp)
    }
}

fn is_negated(pattern: &str) -> bool {
    pattern.starts_with('!')
}

fn matches_or_negates(pattern: &str, text: &str) -> bool {
    match pattern.strip_prefix('!') {
        Some(denied) => !glob::matches(denied, text, &[]),
        None => pattern == "*" || glob::matches(pattern, text, &[]),
    }
}

fn kind_matches(group: &str, kind: &str, wanted: &GroupKind) -> bool {
    file_pattern_matches(kind, &wanted.kind) && file_pattern_matches(group, &wanted.group)
}

/// A malformed pattern matches nothing.
fn file_pattern_matches(pattern: &str, text: &str) -> bool {
    filepath::matches(pattern, text).unwrap_or(false)
}
