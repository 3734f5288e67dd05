//! What one render is asked to do.
//!
//! In:  plain data: nothing here reaches for a cluster, a repository or settings.
//! Source: REND-001 to REND-003, REND-196, REND-213 (`reposerver/repository/repository.proto` `ManifestRequest`).

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::sync::Arc;

use crate::api::ApplicationSource;
use crate::process::Limits;
use crate::repo::Environment;
use crate::settings::{Repository, RepositoryCredentials, Trust};
use crate::track::Tracking;

/// One source of one application, with everything that decides what it renders to.
#[derive(Debug, Clone)]
pub struct Request {
    /// Instance name: `name`, or `namespace_name` outside the controller's namespace.
    pub app_name: String,
    /// Destination namespace.
    pub namespace: String,
    /// Project name.
    pub project: String,
    /// The source as the spec has it.
    pub source: ApplicationSource,
    /// URL of the repository as its Secret spells it; empty where none is registered.
    pub repository_url: String,
    /// What the revision was called before it was resolved; the source's `targetRevision` unless a sync names another.
    pub requested_revision: String,
    /// Commit that is checked out.
    pub revision: String,
    /// Root of the checkout; only read.
    pub root: PathBuf,
    /// Other sources that have a `ref`, by `$name`.
    pub refs: BTreeMap<String, RefSource>,
    /// Whether the application has `sources`.
    pub has_multiple_sources: bool,
    /// Version of the destination cluster; empty when it is not known.
    pub kube_version: String,
    /// `group/version` and `group/version/Kind` of the destination cluster.
    pub api_versions: Vec<String>,
    /// How objects are tied to the application.
    pub tracking: Tracking,
    /// Which tools are on.
    pub enabled: Enabled,
    /// Kustomize settings.
    pub kustomize: KustomizeSettings,
    /// URL schemes that value files may have.
    pub value_file_schemes: Vec<String>,
    /// Where chart dependencies may come from.
    pub helm_repositories: HelmRepositories,
    /// Repositories that the project permits; empty permits none.
    pub permitted_repositories: Vec<String>,
    /// What gives git children of kustomize their credentials.
    pub git_environment: Option<Arc<Environment>>,
    /// Folder for private copies, on the file system of the checkout.
    pub scratch: PathBuf,
    /// Limits of each child: helm, kustomize and Jsonnet.
    pub limits: Limits,
    /// Program that evaluates Jsonnet when run with [`super::jsonnet::SUBCOMMAND`]: litecd itself.
    pub evaluator: PathBuf,
    /// Largest sum of a directory's manifest files in bytes; 0 for no limit.
    pub max_directory_bytes: u64,
}

/// A source that others refer to.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct RefSource {
    /// Repository URL as written.
    pub repo_url: String,
    /// Chart, where the source is one; such a source cannot be referred to.
    pub chart: String,
    /// Commit.
    pub revision: String,
    /// Root of the checkout.
    pub root: PathBuf,
}

/// Which tools the settings turn on.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Enabled {
    /// `helm.enable`.
    pub helm: bool,
    /// `kustomize.enable`.
    pub kustomize: bool,
    /// `jsonnet.enable`.
    pub jsonnet: bool,
}

impl Default for Enabled {
    fn default() -> Self {
        Self { helm: true, kustomize: true, jsonnet: true }
    }
}

/// Kustomize settings of the installation.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct KustomizeSettings {
    /// `kustomize.buildOptions`.
    pub build_options: String,
    /// Binaries by version, from `kustomize.path.<version>`.
    pub binaries: BTreeMap<String, String>,
}

/// Where chart dependencies may come from, and how those places are reached.
#[derive(Clone, Default)]
pub struct HelmRepositories {
    /// Repositories with a name that the project permits, in the order of the settings; for `oci://` sources registries too.
    pub repositories: Vec<Repository>,
    /// Credentials for URL prefixes that the project permits.
    pub credentials: Vec<RepositoryCredentials>,
    /// Which servers are trusted.
    pub trust: Arc<Trust>,
    /// `insecure` of the source's own repository.
    pub insecure: bool,
    /// Proxy of the source's own repository, and what is reached without it.
    pub proxy: (String, String),
    /// Folder for credentials while helm needs them; the scratch folder when empty.
    pub private: PathBuf,
}

impl std::fmt::Debug for HelmRepositories {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        // A proxy's address may hold a password.
        f.debug_struct("HelmRepositories").field("repositories", &self.repositories).finish_non_exhaustive()
    }
}
