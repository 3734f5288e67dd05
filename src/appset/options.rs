//! What the controller's own settings say about ApplicationSets, and what it knows of the cluster.
//!
//! In:  keys `applicationsetcontroller.*` of `argocd-cmd-params-cm`, read elsewhere.
//! Out: typed options with Argo CD's defaults.
//! Source: SET-085, SET-087, SET-108, SET-140, SET-146
//! (`cmd/argocd-applicationset-controller/commands/applicationset_controller.go`).

use std::collections::BTreeSet;

use jiff::SignedDuration;

use super::query::Globbing;
use crate::api::appset::ApplicationSet;
use crate::settings::{Clusters, Secret};

/// Which changes to Applications are allowed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Policy {
    /// Creation.
    CreateOnly,
    /// Creation and change.
    CreateUpdate,
    /// Creation and deletion.
    CreateDelete,
    /// Everything.
    #[default]
    Sync,
}

impl Policy {
    /// Reads a policy's name; an empty one is the default.
    pub fn parse(text: &str) -> Option<Self> {
        match text {
            "create-only" => Some(Self::CreateOnly),
            "create-update" => Some(Self::CreateUpdate),
            "create-delete" => Some(Self::CreateDelete),
            "sync" | "" => Some(Self::Sync),
            _ => None,
        }
    }

    /// Whether existing Applications may be changed.
    pub fn allows_update(self) -> bool {
        matches!(self, Self::CreateUpdate | Self::Sync)
    }

    /// Whether existing Applications may be deleted.
    pub fn allows_delete(self) -> bool {
        matches!(self, Self::CreateDelete | Self::Sync)
    }
}

/// The controller's settings for ApplicationSets.
#[derive(Debug, Clone, PartialEq)]
pub struct Options {
    /// Argo CD's namespace: projects and cluster Secrets are there.
    pub argocd_namespace: String,
    /// The controller's policy.
    pub policy: Policy,
    /// Whether a set may choose another; by default exactly when no policy was given to the controller.
    pub policy_override: bool,
    /// Annotations of Applications that stay as they are.
    pub preserved_annotations: Vec<String>,
    /// Labels of Applications that stay as they are.
    pub preserved_labels: Vec<String>,
    /// Whether rolling syncs are on.
    pub progressive_syncs: bool,
    /// The longest `status.resources`; zero is no limit.
    pub max_resources: usize,
    /// How file patterns are read.
    pub globbing: Globbing,
    /// Whether generators may ask source code hosts.
    pub scm_enabled: bool,
    /// API URLs that they may ask; empty means any.
    pub scm_allowed: Vec<String>,
    /// How often Git and cluster decisions are looked at by default.
    pub requeue_after: SignedDuration,
}

impl Default for Options {
    fn default() -> Self {
        Self {
            argocd_namespace: "argocd".to_owned(),
            policy: Policy::Sync,
            policy_override: true,
            preserved_annotations: Vec::new(),
            preserved_labels: Vec::new(),
            progressive_syncs: false,
            max_resources: 5000,
            globbing: Globbing::Pathspec,
            scm_enabled: true,
            scm_allowed: Vec::new(),
            requeue_after: SignedDuration::from_mins(3),
        }
    }
}

impl Options {
    /// The policy that counts for a set.
    ///
    /// A name that the set's CRD does not allow permits creation only: it cannot mean a deletion.
    pub fn policy_of(&self, set: &ApplicationSet) -> Policy {
        let own = set.spec.sync_policy.as_ref().and_then(|policy| policy.applications_sync.as_deref());
        match own.filter(|_| self.policy_override) {
            Some(text) => Policy::parse(text).filter(|_| !text.is_empty()).unwrap_or(Policy::CreateOnly),
            None => self.policy,
        }
    }
}

/// What is known of the cluster; all of it must have been loaded before a set is looked at.
#[derive(Debug, Clone, Copy)]
pub struct World<'a> {
    /// Secrets of Argo CD's namespace that are labelled as clusters.
    pub cluster_secrets: &'a [Secret],
    /// The same, as destinations.
    pub clusters: &'a Clusters,
    /// Names of the AppProjects in Argo CD's namespace.
    pub projects: &'a BTreeSet<String>,
}
