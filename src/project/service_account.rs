//! Which service account a sync acts as.
//!
//! In:  an effective project, an Application, its cluster.
//! Out: the user to impersonate, if the project names one for the destination.
//! Source: APP-176 (`util/settings/impersonation.go`, `controller/sync.go`).

use super::Project;
use crate::api::Application;
use crate::gocompat::glob;
use crate::settings::{Cluster, Impersonation};

/// Why no service account can be used. `Display` is the message of the operation, which ends with phase `Error`.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum ImpersonationError {
    /// A server pattern is malformed.
    #[error("failed to derive service account to impersonate: invalid glob pattern for destination server: {0}")]
    ServerPattern(glob::Error),
    /// A namespace pattern is malformed.
    #[error("failed to derive service account to impersonate: invalid glob pattern for destination namespace: {0}")]
    NamespacePattern(glob::Error),
    /// The account's name cannot be one.
    #[error("failed to derive service account to impersonate: default service account contains invalid chars '{0}'")]
    Account(String),
    /// No entry matches although one must.
    #[error("no matching service account found for destination server {server} and namespace {namespace}")]
    NoMatch {
        /// Server of the destination's cluster.
        server: String,
        /// Namespace of the destination.
        namespace: String,
    },
}

/// The user that a sync acts as; `None` when it acts as the controller.
///
/// # Errors
/// The entry that is met is malformed, or none matches although one must.
pub fn service_account(
    project: &Project,
    app: &Application,
    cluster: &Cluster,
    impersonation: Impersonation,
) -> Result<Option<String>, ImpersonationError> {
    if !impersonation.enabled {
        return Ok(None);
    }
    let namespace = &app.spec.destination.namespace;
    match matching(project, app, cluster)? {
        Some(user) => Ok(Some(user)),
        None if impersonation.enforced => {
            Err(ImpersonationError::NoMatch { server: cluster.server.clone(), namespace: namespace.clone() })
        }
        None => Ok(None),
    }
}

fn matching(project: &Project, app: &Application, cluster: &Cluster) -> Result<Option<String>, ImpersonationError> {
    let destination = &app.spec.destination.namespace;
    for entry in &project.spec.destination_service_accounts {
        let server = glob::Glob::new(&entry.server, &[]).map_err(ImpersonationError::ServerPattern)?;
        let namespace = glob::Glob::new(&entry.namespace, &[]).map_err(ImpersonationError::NamespacePattern)?;
        if !server.matches(&cluster.server) || !namespace.matches(destination) {
            continue;
        }
        let account = &entry.default_service_account;
        if account.trim_matches(' ').is_empty() || account.contains(['!', '*', '[', ']', '{', '}', '\\', '/']) {
            return Err(ImpersonationError::Account(account.clone()));
        }
        let own_namespace = if destination.is_empty() { &app.metadata.namespace } else { destination };
        return Ok(Some(if account.contains(':') {
            format!("system:serviceaccount:{account}")
        } else {
            format!("system:serviceaccount:{own_namespace}:{account}")
        }));
    }
    Ok(None)
}
