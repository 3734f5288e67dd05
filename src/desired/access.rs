//! From the Secret of a repository to what a fetch needs.
//!
//! In:  repository Secrets, the application's project, a source.
//! Out: URL, credentials and limits of its repository.
//! Source: REND-051 to REND-058, REND-066 (`util/db/repository.go`, `pkg/apis/application/v1alpha1/repository_types.go`).

use super::error::Error;
use super::inputs::Inputs;
use crate::api::ApplicationSource;
use crate::repo::{RepoAccess, redacted};
use crate::settings::Repository;
use crate::settings::repositories::RepositoryError;

/// How a source's Git repository is reached.
pub fn of(inputs: &Inputs<'_>, source: &ApplicationSource) -> Result<RepoAccess, Error> {
    Ok(RepoAccess::new(&repository(inputs, source)?, inputs.repositories.trust()))
}

/// Fails when the Secret of a source's repository cannot be read.
pub fn check(inputs: &Inputs<'_>, source: &ApplicationSource) -> Result<(), Error> {
    repository(inputs, source).map(|_| ())
}

/// Fails when the Secret of a repository that sources refer to cannot be read.
pub fn check_reference(inputs: &Inputs<'_>, url: &str) -> Result<(), Error> {
    let found = inputs.repositories.get(url, &inputs.project.name);
    let wrong = |error| {
        let error = without_passwords(error);
        Error::Refs(format!("failed to get ref sources: failed to get repository {}: {error}", redacted(url)))
    };
    found.map(|_| ()).map_err(wrong)
}

/// The repository of a source, with credentials.
pub fn repository(inputs: &Inputs<'_>, source: &ApplicationSource) -> Result<Repository, Error> {
    let found = inputs.repositories.get(&source.repo_url, &inputs.project.name);
    found.map_err(|error| Error::Repository {
        url: redacted(&source.repo_url),
        source: Box::new(without_passwords(error)),
    })
}

fn without_passwords(error: RepositoryError) -> RepositoryError {
    match error {
        RepositoryError::Malformed { url, source } => RepositoryError::Malformed { url: redacted(&url), source },
        RepositoryError::MalformedCredentials { url, own, source } => {
            RepositoryError::MalformedCredentials { url: redacted(&url), own: redacted(&own), source }
        }
    }
}
