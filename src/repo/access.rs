//! What is needed to reach one repository.
//!
//! In:  a repository's settings, and which servers are trusted.
//! Out: a value that the store takes, and that two callers share when it is equal.
//! Invariant: a password leaves the URL before git sees it, because git names its URL in its children's arguments; `Debug`
//! shows no credential.
//! Source: REND-038, REND-056, REND-066 (`pkg/apis/application/v1alpha1/repository_types.go`).

use std::fmt;
use std::sync::Arc;

use super::authority::{Authority, redacted, without_password};
use super::login::Login;
use crate::http::{self, Route};
use crate::settings::{Repository, Trust};

/// A repository and how to reach it. Two values are equal when every caller may share what one of them saw.
#[derive(Clone, PartialEq, Eq, Hash, Default)]
pub struct RepoAccess {
    /// URL without a password.
    pub url: String,
    /// How git logs in.
    pub(super) login: Login,
    /// Certificate and key that the client shows, both PEM.
    pub(super) client_certificate: Option<(String, String)>,
    /// Accepts any server certificate and host key.
    pub(super) insecure: bool,
    /// Proxy, and what is reached without it; the process's own when empty.
    pub(super) proxy: (String, String),
    /// History to fetch; 0 for all of it.
    pub depth: u32,
    /// Whether large files are fetched.
    pub(super) large_files: bool,
    /// What servers are checked against.
    pub(super) trust: Arc<Trust>,
}

impl RepoAccess {
    /// Access as a repository's Secrets say.
    pub fn new(repository: &Repository, trust: &Arc<Trust>) -> Self {
        let credentials = &repository.credentials;
        let (certificate, key) = (&credentials.tls_client_cert_data, &credentials.tls_client_cert_key);
        let url = repository.url.trim();
        Self {
            login: Login::of(credentials, url),
            url: without_password(url),
            client_certificate: (!certificate.is_empty() && !key.is_empty())
                .then(|| (certificate.clone(), key.clone())),
            insecure: repository.is_insecure(),
            proxy: (credentials.proxy.clone(), credentials.no_proxy.clone()),
            depth: u32::try_from(repository.depth).unwrap_or(0),
            large_files: repository.enable_lfs,
            trust: trust.clone(),
        }
    }

    /// A repository that no Secret describes.
    pub fn anonymous(url: impl AsRef<str>) -> Self {
        Self::new(&Repository::anonymous(url.as_ref()), &Arc::default())
    }

    /// Whether only the newest commits are fetched, so that two revisions cannot be compared.
    pub fn is_shallow(&self) -> bool {
        self.depth > 0
    }

    /// Whether git needs to be told anything but the URL.
    pub fn has_settings(&self) -> bool {
        let has_certificates =
            self.authority().is_some_and(|authority| self.trust.certificates_of(&authority.host).is_some());
        self.login.is_some()
            || self.client_certificate.is_some()
            || self.insecure
            || !self.proxy.0.is_empty()
            || has_certificates
    }

    /// How a server besides git's own is reached for this repository.
    pub(super) fn route_to(&self, url: &str) -> Route {
        let host = Authority::of(url).map(|authority| authority.host).unwrap_or_default();
        let (certificate, key) = self.client_certificate.clone().unwrap_or_default();
        Route {
            trust: http::Trust {
                authorities: self.trust.certificates_of(&host).unwrap_or_default().to_owned(),
                certificate,
                key,
                insecure: self.insecure,
            },
            proxy: self.proxy.0.clone(),
            no_proxy: self.proxy.1.clone(),
            user_agent: String::new(),
        }
    }

    /// Scheme, host and port, where the URL has them.
    pub(super) fn authority(&self) -> Option<Authority> {
        Authority::of(&self.url)
    }

    /// Texts that must not be shown, each with what is shown instead.
    pub(super) fn hidden(&self, login: &Login) -> Vec<(String, String)> {
        let key = self.client_certificate.as_ref().map(|(_, key)| key.clone());
        let proxy = Authority::of(&self.proxy.0).and_then(|proxy| proxy.password);
        let mut secrets = login.secrets();
        secrets.extend(self.login.secrets());
        secrets.extend(key.into_iter().chain(proxy));
        // Hiding a very short text would show where it stood in every word that holds it.
        secrets.retain(|secret| secret.len() >= 4);
        secrets.sort_by_key(|secret| std::cmp::Reverse(secret.len()));
        secrets.into_iter().map(|secret| (secret, "******".to_owned())).collect()
    }

    /// Access to a submodule: the same credentials when it is on the same host, none otherwise. A key for SSH may be offered
    /// to any host: it does not leave this one.
    pub(super) fn of_submodule(&self, url: &str) -> Self {
        let url = submodule_url(&self.url, url);
        let (own, other) = (self.authority(), Authority::of(&url));
        let is_near = other.as_ref().map(Authority::origin) == own.as_ref().map(Authority::origin) && own.is_some();
        let login = match (&self.login, Login::of_url(&url), other) {
            (Login::Ssh { .. }, _, Some(other)) if other.is_ssh() => self.login.clone(),
            (_, own @ Login::Https(_), _) => own,
            _ if is_near => self.login.clone(),
            _ => Login::Anonymous,
        };
        let url = without_password(&url);
        if is_near {
            return Self { url, login, depth: 0, ..self.clone() };
        }
        Self { url, login, proxy: self.proxy.clone(), trust: self.trust.clone(), ..Self::default() }
    }
}

/// A submodule's URL; one that starts with dots is relative to the repository's own.
fn submodule_url(parent: &str, url: &str) -> String {
    if !url.starts_with("./") && !url.starts_with("../") {
        return url.to_owned();
    }
    let (mut base, mut rest) = (parent.trim_end_matches('/'), url);
    loop {
        if let Some(below) = rest.strip_prefix("./") {
            rest = below;
        } else if let Some(above) = rest.strip_prefix("../") {
            rest = above;
            base = base.rfind(['/', ':']).and_then(|at| base.get(..at)).unwrap_or_default();
        } else {
            return format!("{base}/{rest}");
        }
    }
}

impl fmt::Debug for RepoAccess {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("RepoAccess")
            .field("url", &redacted(&self.url))
            .field("login", &self.login)
            .finish_non_exhaustive()
    }
}
