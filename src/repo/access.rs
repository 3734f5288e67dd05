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

    /// `Authorization` header of an HTTP repository, if there are credentials.
    pub(super) fn authorization(&self) -> Option<String> {
        if !self.url.starts_with("http://") && !self.url.starts_with("https://") {
            return None;
        }
        if !self.password.is_empty() {
            let user = if self.username.is_empty() { "x-access-token" } else { &self.username };
            let pair = base64::engine::general_purpose::STANDARD.encode(format!("{user}:{}", self.password));
            return Some(format!("Authorization: Basic {pair}"));
        }
        (!self.bearer_token.is_empty()).then(|| format!("Authorization: Bearer {}", self.bearer_token))
    }
}

impl fmt::Debug for RepoAccess {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let has_credentials =
            [&self.password, &self.bearer_token, &self.ssh_private_key].iter().any(|secret| !secret.is_empty());
        f.debug_struct("RepoAccess").field("url", &redacted(&self.url)).field("has_credentials", &has_credentials).finish()
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
