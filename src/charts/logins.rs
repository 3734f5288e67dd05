//! What Argo CD does before it lets helm build dependencies: try each registry's login, add each chart repository.
//!
//! In:  access to a registry or repository.
//! Out: nothing where it works; else the failure of the helm command that Argo CD would have run.
//! Invariant: nothing is kept; helm gets credentials from files that are written for one build.
//! Source: REND-140 (`util/helm/helm.go` `DependencyBuild`).

use std::path::Path;
use std::time::Duration;

use super::access::ChartAccess;
use super::command;
use super::pull;
use super::registry::{Reference, Session};
use crate::http::Address;

/// Whether a registry accepts the credentials.
///
/// # Errors
/// It does not; the text is what follows `failed running helm: `.
pub async fn log_in(access: &ChartAccess, timeout: Duration) -> Result<(), String> {
    let at = Reference::registry(host_of_registry(&access.url));
    let session = Session::new(access, timeout);
    let mut session = session.map_err(|reason| command::login(access, &at.registry, &reason))?;
    pull::login(&mut session, access, &at).await
}

/// Whether a chart repository is there under a name.
///
/// # Errors
/// It is not; the text is what follows `failed running helm: `.
pub async fn repository_is_there(
    access: &ChartAccess,
    (name, pass_credentials): (&str, bool),
    (scratch, timeout): (&Path, Duration),
) -> Result<(), String> {
    let failed = |reason: &str| command::repo_add(access, name, pass_credentials, reason);
    if Address::parse(&access.url).is_none() {
        let scheme = access.url.split_once("://").map_or("", |(scheme, _)| scheme);
        return Err(failed(&format!("could not find protocol handler for: {scheme}")));
    }
    let checked = super::index::check(access, scratch, timeout).await;
    checked.map_err(|reason| failed(&pull::no_repository(access, &reason)))
}

/// Host and port of a registry's URL, with or without `oci://`.
pub fn host_of_registry(url: &str) -> &str {
    let rest = url.split_once("://").map_or(url, |(_, rest)| rest);
    rest.split('/').next().unwrap_or_default()
}
