//! Source code hosts and plugins, as the generators of ApplicationSets ask them.
//!
//! In:  a generator, and the token, certificates and app that it refers to.
//! Out: repositories with branches, pull requests, or parameters; or why there are none, in Argo CD's words.
//! Invariant: the requests are those that Argo CD's clients send; no token shows in an error, and none goes to another host.
//! Source: SET-038 to SET-058 (`applicationset/services/{scm_provider,pull_request,plugin}`).

mod azure_devops;
mod bitbucket_cloud;
mod bitbucket_server;
mod filter;
mod gitea;
mod github;
mod gitlab;
mod plugin;
mod session;
#[cfg(test)]
mod tests;

use crate::api::appset::{PullRequestGenerator, ScmProviderGenerator};
use crate::repo::github::{App, Tokens};

pub use crate::appset::{PullRequest, Repository};
pub use filter::{PullFilters, keep_pull_requests};
pub use plugin::{Plugin, plugin};

/// What a host is asked with.
#[derive(Clone, Copy)]
pub struct Access<'a> {
    /// Token or password that the generator refers to; empty for none.
    pub secret: &'a str,
    /// GitHub App of the Secret that `appSecretName` names.
    pub app: Option<&'a App>,
    /// Tokens of such apps, kept between questions.
    pub tokens: &'a Tokens,
    /// PEM certificates that `caRef` names; empty for the system's.
    pub authorities: &'a str,
}

/// Why there is no answer.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum Error {
    /// Nothing was listed: the client could not be made.
    #[error("{0}")]
    Setup(String),
    /// The question was refused or the answer cannot be used.
    #[error("{0}")]
    Asked(String),
    /// The host knows no such repository. Pull requests only.
    #[error("{0}")]
    NotFound(String),
}

impl Error {
    /// With a secret taken out, should the host have repeated it.
    fn without(self, secret: &str) -> Self {
        let hide = |text: String| if secret.len() < 4 { text } else { text.replace(secret, "******") };
        match self {
            Self::Setup(text) => Self::Setup(hide(text)),
            Self::Asked(text) => Self::Asked(hide(text)),
            Self::NotFound(text) => Self::NotFound(hide(text)),
        }
    }
}

/// Repositories of a source code host and their branches, filters applied.
///
/// # Errors
/// The host refuses, or cannot be reached.
pub async fn repositories(wanted: &ScmProviderGenerator, access: &Access<'_>) -> Result<Vec<Repository>, Error> {
    let protocol = wanted.clone_protocol.as_str();
    let filters = &wanted.filters;
    let found = if let Some(from) = &wanted.github {
        filter::keep(&github::Organization::new(from, access).await?, filters, protocol).await
    } else if let Some(from) = &wanted.gitlab {
        filter::keep(&gitlab::Group::new(from, access)?, filters, protocol).await
    } else if let Some(from) = &wanted.gitea {
        filter::keep(&gitea::Owner::new(from, access).await?, filters, protocol).await
    } else if let Some(from) = &wanted.bitbucket_server {
        filter::keep(&bitbucket_server::Project::new(from, access)?, filters, protocol).await
    } else if let Some(from) = &wanted.azure_devops {
        filter::keep(&azure_devops::TeamProject::new(from, access)?, filters, protocol).await
    } else if let Some(from) = &wanted.bitbucket {
        filter::keep(&bitbucket_cloud::Workspace::new(from, access)?, filters, protocol).await
    } else if wanted.aws_code_commit.is_some() {
        return Err(Error::Setup("AWS CodeCommit is not supported by this build".to_owned()));
    } else {
        return Err(Error::Setup("no SCM provider implementation configured".to_owned()));
    };
    found.map_err(|text| Error::Asked(text).without(access.secret))
}

/// Pull requests of a repository that have the wanted labels and state; [`PullFilters`] are applied beside.
///
/// # Errors
/// The host refuses, does not know the repository, or cannot be reached.
pub async fn pull_requests(wanted: &PullRequestGenerator, access: &Access<'_>) -> Result<Vec<PullRequest>, Error> {
    let found = if let Some(from) = &wanted.github {
        github::pull_requests(from, access).await
    } else if let Some(from) = &wanted.gitlab {
        gitlab::merge_requests(from, access).await
    } else if let Some(from) = &wanted.gitea {
        gitea::pull_requests(from, access).await
    } else if let Some(from) = &wanted.bitbucket_server {
        bitbucket_server::pull_requests(from, access).await
    } else if let Some(from) = &wanted.bitbucket {
        bitbucket_cloud::pull_requests(from, access).await
    } else if let Some(from) = &wanted.azure_devops {
        azure_devops::pull_requests(from, access).await
    } else {
        Err(Error::Setup("no Pull Request provider implementation configured".to_owned()))
    };
    found.map_err(|error| error.without(access.secret))
}
