//! Finds connection settings: a kubeconfig file, or what the environment offers.
//!
//! In:  a path, or nothing.
//! Out: a [`kube::Config`]; the caller may change it before [`Cluster::connect`](super::Cluster::connect).
//! Invariant: credentials stay inside the returned value; errors name files, never their content.
//! Source: client-go's loading rules; APP-222.

use std::path::Path;

use kube::Config;
use kube::config::{InClusterError, KubeConfigOptions, Kubeconfig, KubeconfigError};

/// Why no connection settings could be had. The causes' texts hold those of their own causes, so that they are said here
/// and not handed out as sources, which would say them twice.
#[derive(Debug, thiserror::Error)]
pub enum ConfigError {
    /// The file is missing, malformed or lacks the context.
    #[error("cannot use the kubeconfig {path}: {}", why(.cause))]
    Kubeconfig {
        /// The file as given.
        path: String,
        /// What is wrong with it.
        cause: Box<KubeconfigError>,
    },
    /// Neither a kubeconfig nor a service account was found.
    #[error(
        "found no cluster: --kubeconfig and KUBECONFIG are not set, there is no {home}, and the pod's service account \
         cannot be used: {cause}"
    )]
    Nothing {
        /// The kubeconfig in the home folder.
        home: String,
        /// What the service account lacks.
        cause: Box<InClusterError>,
    },
}

/// The file is named already where it cannot be read.
fn why(error: &KubeconfigError) -> String {
    match error {
        KubeconfigError::ReadConfig(cause, _) => cause.to_string(),
        other => other.to_string(),
    }
}

/// Reads a kubeconfig file; `context` overrides its current one.
pub async fn from_kubeconfig(path: &Path, context: Option<&str>) -> Result<Config, ConfigError> {
    let options = KubeConfigOptions { context: context.map(str::to_owned), ..KubeConfigOptions::default() };
    let path_text = path.display().to_string();
    settings(path_text, Kubeconfig::read_from(path), &options).await
}

/// The files of `KUBECONFIG` as for kubectl, else the service account of the pod, else the file in the home folder.
pub async fn from_environment() -> Result<Config, ConfigError> {
    let named = std::env::var("KUBECONFIG").unwrap_or_default();
    if let Some(file) = Kubeconfig::from_env().transpose() {
        return settings(named, file, &KubeConfigOptions::default()).await;
    }
    let cause = match Config::incluster() {
        Ok(config) => return Ok(config),
        Err(error) => Box::new(error),
    };
    let home = std::env::home_dir().unwrap_or_default().join(".kube/config");
    if home.exists() {
        return from_kubeconfig(&home, None).await;
    }
    Err(ConfigError::Nothing { home: home.display().to_string(), cause })
}

async fn settings(
    path: String,
    file: Result<Kubeconfig, KubeconfigError>,
    options: &KubeConfigOptions,
) -> Result<Config, ConfigError> {
    let config = match file {
        Ok(file) => Config::from_custom_kubeconfig(file, options).await,
        Err(error) => Err(error),
    };
    config.map_err(|cause| ConfigError::Kubeconfig { path, cause: Box::new(cause) })
}
