//! Argo CD's settings, typed: its ConfigMaps, cluster and repository Secrets.
//!
//! In:  the data of ConfigMaps and Secrets, already read.
//! Out: typed settings with Argo CD's defaults.
//! Invariant: no cluster calls; secret values do not show in `Debug` or in errors.
//! Source: sections 13, 14, 16 and 19 of the application controller's inventory (`util/settings/settings.go`).

pub mod application_sets;
pub mod cluster_config;
pub mod clusters;
pub mod compare_options;
pub mod git_url;
pub mod global_projects;
pub mod overrides;
pub mod parameters;
pub mod repo_server;
pub mod repositories;
pub mod repository;
pub mod resource_filter;
pub mod secret;
pub mod tools;
pub mod trust;
pub mod webhook;

mod keys;
#[cfg(test)]
mod tests;

use std::collections::{BTreeMap, BTreeSet};

use jiff::SignedDuration;

use crate::api::names;
use crate::gocompat::{duration, strconv, yaml};
use crate::track::{Method, Tracking};

pub use application_sets::ApplicationSets;
pub use cluster_config::ClusterConfig;
pub use clusters::{Cluster, Clusters, DestinationError};
pub use compare_options::{CompareOptions, IgnoreStatus};
pub use global_projects::GlobalProject;
pub use overrides::{IgnoreRules, KnownTypeField, Override, Overrides};
pub use parameters::Parameters;
pub use repo_server::RepoServer;
pub use repositories::Repositories;
pub use repository::{Credentials, Repository, RepositoryCredentials};
pub use resource_filter::ResourceFilter;
pub use secret::Secret;
pub use tools::{KustomizeOptions, Tools};
pub use trust::Trust;
pub use webhook::WebhookLimits;

/// Why settings cannot be used. While they cannot, Argo CD reports sync status `Unknown` and touches nothing (DIFF-002).
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum Error {
    /// A key's YAML cannot be read.
    #[error("{key}: {source}")]
    Yaml {
        /// Key of the ConfigMap.
        key: String,
        /// What is wrong.
        source: yaml::Error,
    },
    /// A key's YAML does not have the form that the setting has.
    #[error("{key}: error unmarshaling JSON: {problem}")]
    Shape {
        /// Key of the ConfigMap.
        key: String,
        /// What is wrong.
        problem: String,
    },
    /// A key's text is no boolean.
    #[error("{key}: {source}")]
    Flag {
        /// Key of the ConfigMap.
        key: String,
        /// What is wrong.
        source: strconv::Error,
    },
    /// `resource.customizations.<type>.…` with an unknown type.
    #[error("resource customization type {0} not supported")]
    CustomizationType(String),
    /// A customization key that names no kind.
    #[error(
        "group kind should be in format `resource.customizations.<type>.<group_kind>` or \
         resource.customizations.<type>.<kind>`, got group kind: '{0}'"
    )]
    GroupKind(String),
    /// `resource.respectRBAC` with an unknown value.
    #[error("invalid value for resource.respectRBAC: {0}")]
    RespectRbac(String),
    /// A Kustomize version that is given twice, or a key that names none.
    #[error("failed to add kustomize version from {}: {problem}", strconv::quote(.key))]
    KustomizeVersion {
        /// Key of the ConfigMap.
        key: String,
        /// What is wrong.
        problem: String,
    },
}

/// How managed objects are recognised (APP-235).
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub enum TrackingMethod {
    /// By annotation.
    #[default]
    Annotation,
    /// By label.
    Label,
    /// By annotation; the label is written too.
    AnnotationAndLabel,
    /// Anything else that was written: reads and writes as by annotation, but copied ids are not noticed.
    Other(String),
}

impl TrackingMethod {
    /// Reads the setting; empty is by annotation.
    pub fn parse(text: &str) -> Self {
        match text {
            "" | "annotation" => Self::Annotation,
            "label" => Self::Label,
            "annotation+label" => Self::AnnotationAndLabel,
            other => Self::Other(other.to_owned()),
        }
    }
}

/// How far discovery respects what the controller may read (APP-280).
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum RespectRbac {
    /// Kinds that cannot be listed are an error.
    #[default]
    Off,
    /// Kinds that cannot be listed are left out.
    Normal,
    /// As `Normal`, and an access review is asked for each kind.
    Strict,
}

/// When applications are refreshed without a change (APP-273). Argo CD reads these at start only.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Timeouts {
    /// Time between refreshes; zero is never.
    pub reconciliation: SignedDuration,
    /// Longest random delay added to it.
    pub jitter: SignedDuration,
    /// Time between refreshes that ignore caches; zero is never.
    pub hard_reconciliation: SignedDuration,
}

/// Whether sync operations act as a service account of the project (APP-288).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Impersonation {
    /// Whether a service account is used at all.
    pub enabled: bool,
    /// Whether a sync without a matching service account fails.
    pub enforced: bool,
}

/// What `argocd-cm` says.
#[derive(Debug, Clone, PartialEq)]
pub struct Settings {
    /// How managed objects are recognised.
    pub tracking_method: TrackingMethod,
    /// Label of label tracking.
    pub instance_label_key: String,
    /// Which installation writes tracking ids; absent when empty.
    pub installation_id: Option<String>,
    /// Which kinds are looked at.
    pub resource_filter: ResourceFilter,
    /// Rules per kind as used for comparisons: status rules of the compare options included.
    pub overrides: Overrides,
    /// Options of comparisons.
    pub compare_options: CompareOptions,
    /// Whether `ignoreResourceUpdates` rules are used.
    pub ignore_resource_updates_enabled: bool,
    /// How far discovery respects what the controller may read.
    pub respect_rbac: RespectRbac,
    /// Which tools render, and how.
    pub tools: Tools,
    /// Whether the cluster that Argo CD runs in is a destination.
    pub in_cluster_enabled: bool,
    /// Projects whose rules are added to others.
    pub global_projects: Vec<GlobalProject>,
    /// Label patterns that events carry.
    pub include_event_label_keys: Vec<String>,
    /// Label patterns that events do not carry.
    pub exclude_event_label_keys: Vec<String>,
    /// Service accounts of syncs.
    pub impersonation: Impersonation,
    /// Annotations masked in published diffs of Secrets.
    pub sensitive_mask_annotations: BTreeSet<String>,
    /// When applications are refreshed without a change.
    pub timeouts: Timeouts,
    /// How much one automated sync may prune where the Application says nothing, as written (key
    /// `litecd.prune.budget`); absent: as much as there is.
    pub prune_budget: Option<String>,
    /// Limits of webhooks.
    pub webhook: WebhookLimits,
}

impl Settings {
    /// How objects are tied to applications.
    pub fn tracking(&self) -> Tracking {
        Tracking {
            method: match &self.tracking_method {
                TrackingMethod::Annotation => Method::Annotation,
                TrackingMethod::Label => Method::Label,
                TrackingMethod::AnnotationAndLabel => Method::AnnotationAndLabel,
                TrackingMethod::Other(_) => Method::Other,
            },
            label_key: self.instance_label_key.clone(),
            installation_id: self.installation_id.clone(),
        }
    }

    /// Reads the data of `argocd-cm`.
    ///
    /// # Errors
    /// The first setting that cannot be read: acting on the others would be acting on half-known settings.
    pub fn from_config_map(data: &BTreeMap<String, String>) -> Result<Self, Error> {
        let text = |key: &str| data.get(key).map(String::as_str).unwrap_or_default();
        let compare_options = CompareOptions::read(data)?;
        Ok(Self {
            tracking_method: TrackingMethod::parse(text("application.resourceTrackingMethod")),
            instance_label_key: non_empty(text("application.instanceLabelKey"))
                .unwrap_or_else(|| names::INSTANCE_LABEL.to_owned()),
            installation_id: non_empty(text("installationID")),
            resource_filter: ResourceFilter::read(data)?,
            overrides: Overrides::read(data)?.with_status_rules(&compare_options),
            compare_options,
            ignore_resource_updates_enabled: keys::flag(data, "resource.ignoreResourceUpdatesEnabled", true)?,
            respect_rbac: match text("resource.respectRBAC") {
                "" => RespectRbac::Off,
                "normal" => RespectRbac::Normal,
                "strict" => RespectRbac::Strict,
                other => return Err(Error::RespectRbac(other.to_owned())),
            },
            tools: Tools::read(data)?,
            in_cluster_enabled: text("cluster.inClusterEnabled") != "false",
            global_projects: GlobalProject::read(data),
            include_event_label_keys: comma_list(text("resource.includeEventLabelKeys")),
            exclude_event_label_keys: comma_list(text("resource.excludeEventLabelKeys")),
            impersonation: Impersonation {
                enabled: text("application.sync.impersonation.enabled") == "true",
                enforced: text("application.sync.impersonation.enforced") != "false",
            },
            sensitive_mask_annotations: comma_list(text("resource.sensitive.mask.annotations")).into_iter().collect(),
            timeouts: Timeouts {
                reconciliation: timeout(text("timeout.reconciliation"), 120),
                jitter: timeout(text("timeout.reconciliation.jitter"), 60),
                hard_reconciliation: timeout(text("timeout.hard.reconciliation"), 0),
            },
            prune_budget: non_empty(text("litecd.prune.budget")),
            webhook: WebhookLimits::read(data),
        })
    }
}

fn non_empty(text: &str) -> Option<String> {
    (!text.is_empty()).then(|| text.to_owned())
}

/// Parts between commas with all spaces taken out, inner ones too.
fn comma_list(text: &str) -> Vec<String> {
    if text.is_empty() { Vec::new() } else { text.replace(' ', "").split(',').map(str::to_owned).collect() }
}

/// A timeout in whole seconds; what cannot be read or is negative gives the default.
fn timeout(text: &str, default_seconds: i64) -> SignedDuration {
    let read = duration::parse_setting(text).map(|read| read.as_secs()).filter(|seconds| *seconds >= 0);
    SignedDuration::from_secs(read.unwrap_or(default_seconds))
}
