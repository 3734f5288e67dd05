//! Finds connection settings: a kubeconfig file, the pod's service account, or whatever the environment offers.
//!
//! In:  a path, or nothing.
//! Out: a [`kube::Config`]; the caller may change it before [`Cluster::connect`](super::Cluster::connect).
//! Invariant: credentials stay inside the returned value; errors name files, never their content.
//! Source: client-go's loading rules; APP-222.

use std::path::Path;

use kube::Config;
use kube::config::{InClusterError, InferConfigError, KubeConfigOptions, Kubeconfig, KubeconfigError};

/// Why no connection settings could be had. The causes' texts hold those of their own causes, so that they are said here
/// and not handed out as sources, which would say them twice.
#[derive(Debug, thiserror::Error)]
pub enum ConfigError {
    /// The file is missing, malformed or lacks the context.
    #[error("cannot use the kubeconfig {path}: {cause}")]
    Kubeconfig {
        /// The file as given.
        path: String,
        /// What is wrong with it.
        cause: Box<KubeconfigError>,
    },
    /// The process does not run in a pod with a service account.
    #[error("cannot use the pod's service account: {cause}")]
    InCluster {
        /// What is missing.
        cause: Box<InClusterError>,
    },
    /// Neither a kubeconfig nor a service account was found.
    #[error("found neither a kubeconfig nor a service account: {cause}")]
    Nothing {
        /// What was tried.
        cause: Box<InferConfigError>,
    },
}

/// Reads a kubeconfig file; `context` overrides its current one.
pub async fn from_kubeconfig(path: &Path, context: Option<&str>) -> Result<Config, ConfigError> {
    let failed = |cause| ConfigError::Kubeconfig { path: path.display().to_string(), cause: Box::new(cause) };
    let file = Kubeconfig::read_from(path).map_err(failed)?;
    let options = KubeConfigOptions { context: context.map(str::to_owned), ..KubeConfigOptions::default() };
    Config::from_custom_kubeconfig(file, &options).await.map_err(failed)
}

/// The service account of the pod this process runs in.
pub fn in_cluster() -> Result<Config, ConfigError> {
    Config::incluster().map_err(|cause| ConfigError::InCluster { cause: Box::new(cause) })
}

/// The current context of `$KUBECONFIG` or `~/.kube/config`, else the pod's service account.
pub async fn current_context() -> Result<Config, ConfigError> {
    Config::infer().await.map_err(|cause| ConfigError::Nothing { cause: Box::new(cause) })
}
