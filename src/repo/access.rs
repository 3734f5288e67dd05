//! What is needed to reach one repository.
//!
//! In:  a URL and credentials as plain data.
//! Out: the child environment that carries them.
//! Invariant: secrets travel in the environment of git children only, never in arguments, and never appear in `Debug`.
//! Source: REND-040, REND-041, REND-057, REND-058 (`util/git/creds.go`).

use std::fmt;

use base64::Engine;

/// A repository and how to authenticate to it. Two values are equal when every caller may share what one of them saw.
#[derive(Clone, PartialEq, Eq, Hash, Default)]
pub struct RepoAccess {
    /// URL as written.
    pub url: String,
    /// User for basic authentication; `x-access-token` when empty.
    pub username: String,
    /// Password or token for basic authentication; none when empty.
    pub password: String,
    /// Bearer token; used when there is no password.
    pub bearer_token: String,
    /// Private key of an SSH repository; kept for callers, not used by git children yet.
    pub ssh_private_key: String,
    /// Skips TLS verification.
    pub insecure: bool,
    /// History to fetch; 0 for all of it.
    pub depth: u32,
}

impl RepoAccess {
    /// An anonymous repository.
    pub fn anonymous(url: impl Into<String>) -> Self {
        Self { url: url.into(), ..Self::default() }
    }

    /// The environment that gives git children of other tools (kustomize with remote bases) these credentials.
    pub fn git_environment(&self) -> Vec<(String, String)> {
        let prompt = ("GIT_TERMINAL_PROMPT".to_owned(), "false".to_owned());
        environment(self, &self.settings()).into_iter().chain([prompt]).collect()
    }

    /// Git settings of this repository: its credentials, for its own host only.
    pub(super) fn settings(&self) -> Vec<(String, String)> {
        let mut settings = vec![("http.followRedirects".to_owned(), "false".to_owned())];
        if let (Some(origin), Some(header)) = (origin(&self.url), self.authorization()) {
            settings.push((format!("http.{origin}/.extraHeader"), header));
        }
        settings
    }

    /// `Authorization` header, if there are credentials.
    fn authorization(&self) -> Option<String> {
        if !self.password.is_empty() {
            let user = if self.username.is_empty() { "x-access-token" } else { &self.username };
            let pair = base64::engine::general_purpose::STANDARD.encode(format!("{user}:{}", self.password));
            return Some(format!("Authorization: Basic {pair}"));
        }
        (!self.bearer_token.is_empty()).then(|| format!("Authorization: Bearer {}", self.bearer_token))
    }

    /// Access to a submodule: the same credentials when it is on the same host, none otherwise.
    pub(super) fn of_submodule(&self, url: &str) -> Self {
        let url = submodule_url(&self.url, url);
        if origin(&url).is_some() && origin(&url) == origin(&self.url) {
            return Self { url, depth: 0, ..self.clone() };
        }
        Self::anonymous(url)
    }
}

/// The environment that carries git settings.
pub(super) fn environment(repo: &RepoAccess, settings: &[(String, String)]) -> Vec<(String, String)> {
    let mut environment = vec![("GIT_CONFIG_COUNT".to_owned(), settings.len().to_string())];
    for (index, (key, value)) in settings.iter().enumerate() {
        environment.push((format!("GIT_CONFIG_KEY_{index}"), key.clone()));
        environment.push((format!("GIT_CONFIG_VALUE_{index}"), value.clone()));
    }
    if repo.insecure {
        environment.push(("GIT_SSL_NO_VERIFY".to_owned(), "true".to_owned()));
    }
    environment
}

/// Scheme and host of an HTTP URL.
fn origin(url: &str) -> Option<String> {
    let (scheme, rest) = url.split_once("://")?;
    let authority = rest.split('/').next().unwrap_or_default();
    let host = authority.rsplit_once('@').map_or(authority, |(_, host)| host);
    matches!(scheme, "http" | "https").then(|| format!("{scheme}://{}", host.to_lowercase()))
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
        let has_credentials =
            [&self.password, &self.bearer_token, &self.ssh_private_key].iter().any(|secret| !secret.is_empty());
        f.debug_struct("RepoAccess")
            .field("url", &redacted(&self.url))
            .field("has_credentials", &has_credentials)
            .finish()
    }
}

/// A URL without the password it may carry.
pub fn redacted(url: &str) -> String {
    let Some((scheme, rest)) = url.split_once("://") else { return url.to_owned() };
    let (authority, path) = rest.split_at(rest.find('/').unwrap_or(rest.len()));
    match authority.rsplit_once('@') {
        Some((user, host)) if user.contains(':') => {
            format!("{scheme}://{}:******@{host}{path}", user.split(':').next().unwrap_or_default())
        }
        _ => url.to_owned(),
    }
}
