//! Why a repository gave no revision or tree, in the words users see.
//!
//! In:  failures of git, of the object database and of the disk.
//! Out: Argo CD's texts; [`Error::code`] is the status code its repo server would give them.
//! Source: REND-009, REND-025, REND-026, REND-036, REND-247.

use crate::process;

/// Why git could not do its work.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum Failure {
    /// Git itself failed.
    #[error(transparent)]
    Git(#[from] process::Error),
    /// The host lately let several repositories wait in vain.
    #[error("{0} did not answer; it will be asked again")]
    Silent(String),
    /// There was nothing to log in with: no token, no file, or an identity that litecd does not know.
    #[error("{0}")]
    Credentials(String),
}

impl Failure {
    /// Whether the server did not answer in time.
    pub fn is_silence(&self) -> bool {
        matches!(self, Self::Git(process::Error::Timeout { .. }))
    }
}

/// Why a repository gave no revision or tree. Cloned to every caller that waited for the same attempt.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum Error {
    /// The references could not be listed; try again later.
    #[error("failed to list refs: {0}")]
    ListRefs(String),
    /// The revision names nothing.
    #[error("unable to resolve '{0}' to a commit SHA")]
    Unresolved(String),
    /// The first fetch failed; try again later.
    #[error(
        "failed to initialize repository resources: rpc error: code = Internal desc = Failed to fetch default: {0}"
    )]
    Fetch(Failure),
    /// A fetch of exactly this revision failed.
    #[error(
        "failed to initialize repository resources: rpc error: code = Internal desc = Failed to checkout revision {revision}: {source}"
    )]
    FetchRevision {
        /// What was asked for.
        revision: String,
        /// What git said.
        source: Failure,
    },
    /// The revision was fetched and still is not a commit.
    #[error(
        "failed to initialize repository resources: rpc error: code = Internal desc = Failed to checkout FETCH_HEAD: {0}"
    )]
    NotACommit(String),
    /// A submodule is missing; without it the tree would be incomplete.
    #[error("failed to initialize repository resources: failed to update submodules: {0}")]
    Submodule(String),
    /// The tree holds a link that leaves the repository.
    #[error("repository contains out-of-bounds symlinks. file: {0}")]
    OutOfBoundsLink(String),
    /// A comparison needs two full SHAs.
    #[error("invalid revision provided, must be SHA")]
    NotASha,
    /// The cached repository could not be read or the checkout not be written.
    #[error("failed to initialize repository resources: {0}")]
    Cache(String),
}

impl Error {
    /// Why git could not do its work, where that is the reason.
    pub(super) fn failure(&self) -> Option<&Failure> {
        match self {
            Self::Fetch(failure) | Self::FetchRevision { source: failure, .. } => Some(failure),
            _ => None,
        }
    }

    pub(super) fn objects(error: &git2::Error) -> Self {
        Self::Cache(error.message().to_owned())
    }
    pub(super) fn disk(doing: &str, error: &std::io::Error) -> Self {
        Self::Cache(format!("{doing}: {error}"))
    }

    /// The text as users see it: with the envelope that Argo CD's repo server puts around it (REND-247).
    pub fn envelope(&self) -> String {
        format!("rpc error: code = Unknown desc = {self}")
    }
}
