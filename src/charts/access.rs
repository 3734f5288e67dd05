//! What is needed to reach one chart repository or registry.
//!
//! In:  a repository of the settings, and which servers are trusted.
//! Out: plain data; two equal values may share what one of them saw.
//! Invariant: secrets never appear in `Debug`.
//! Source: REND-066, REND-072 (`pkg/apis/application/v1alpha1/repository_types.go` `GetHelmCreds`, `GetOCICreds`).

use crate::http::{self, Route};
use crate::settings::{Repository, Trust};

/// A chart repository or registry, and how to authenticate to it.
#[derive(Clone, PartialEq, Eq, Hash, Default)]
pub struct ChartAccess {
    /// URL as written.
    pub url: String,
    /// User; empty for none.
    pub username: String,
    /// Password; empty for none.
    pub password: String,
    /// Certificates and proxy.
    pub route: Route,
    /// `enableOCI`: the URL names a registry whatever it looks like.
    pub enable_oci: bool,
    /// `insecureOCIForceHttp`: the registry is reached without TLS.
    pub plain_http: bool,
}

impl ChartAccess {
    /// An anonymous repository.
    pub fn anonymous(url: impl Into<String>) -> Self {
        Self { url: url.into(), ..Self::default() }
    }

    /// The access that a repository's Secret describes, with the certificates known for its host.
    pub fn of(repository: &Repository, trust: &Trust) -> Self {
        let from = &repository.credentials;
        Self {
            url: repository.url.clone(),
            username: from.username.clone(),
            password: from.password.clone(),
            route: Route {
                trust: http::Trust {
                    authorities: trust.certificates_of(host(&repository.url)).unwrap_or_default().to_owned(),
                    certificate: from.tls_client_cert_data.clone(),
                    key: from.tls_client_cert_key.clone(),
                    insecure: repository.insecure,
                },
                proxy: from.proxy.clone(),
                no_proxy: from.no_proxy.clone(),
                user_agent: String::new(),
            },
            enable_oci: from.enable_oci,
            plain_http: from.insecure_oci_force_http,
        }
    }

    /// Whether charts come from a registry: told so, or because the URL has no host part (REND-072).
    pub fn is_registry(&self) -> bool {
        let has_host = self.url.split_once("://").is_some_and(|(_, rest)| !rest.is_empty() && !rest.starts_with('/'));
        self.enable_oci || (!self.url.is_empty() && !has_host && !self.url.starts_with("//"))
    }

    /// Whether there is a user or a password.
    pub fn has_credentials(&self) -> bool {
        !self.username.is_empty() || !self.password.is_empty()
    }

    /// The URL without the password it may carry.
    pub fn shown_url(&self) -> String {
        crate::repo::redacted(&self.url)
    }
}

/// The host of a repository's URL, by which certificates are looked up; a URL without scheme is read as one with.
pub(super) fn host(url: &str) -> &str {
    let rest = url.split_once("://").map_or(url, |(_, rest)| rest);
    let authority = rest.split(['/', '?', '#']).next().unwrap_or_default();
    let host = authority.rsplit_once('@').map_or(authority, |(_, host)| host);
    match host.strip_prefix('[') {
        Some(inner) => inner.split(']').next().unwrap_or_default(),
        None => host.split(':').next().unwrap_or_default(),
    }
}

impl std::fmt::Debug for ChartAccess {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let has_credentials = self.has_credentials() || !self.route.trust.key.is_empty();
        f.debug_struct("ChartAccess")
            .field("url", &self.shown_url())
            .field("has_credentials", &has_credentials)
            .finish_non_exhaustive()
    }
}
