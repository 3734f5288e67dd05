//! Why there is no desired state, in the words users see.
//!
//! In:  what failed, and at which source.
//! Out: the text that follows `Failed to load target state: `.
//! Source: REND-055, REND-246 to REND-255 (`controller/state.go` `GetRepoObjs`).

use crate::gocompat::strconv::quote;
use crate::settings::repositories::RepositoryError;

/// Why there is no desired state.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum Error {
    /// The sources that others refer to are wrong.
    #[error("{0}")]
    Refs(String),
    /// The Secret of a repository cannot be read.
    #[error("failed to get repo {}: {source}", quote(.url))]
    Repository {
        /// URL of the source.
        url: String,
        /// What is wrong with the Secret.
        source: Box<RepositoryError>,
    },
    /// It could not be found out whether a new revision concerns a source.
    #[error("failed to evaluate revision changes for source {place}: {text}")]
    Evaluate {
        /// Which source.
        place: Place,
        /// Why.
        text: String,
    },
    /// A rendered object is no Kubernetes object.
    #[error("failed to unmarshal manifests for source {place}: {text}")]
    Unmarshal {
        /// Which source.
        place: Place,
        /// What is wrong with it.
        text: String,
    },
    /// A source could not be resolved, fetched or rendered.
    #[error("failed to generate manifest for source {place}: {text}")]
    Generate {
        /// Which source.
        place: Place,
        /// Why, with the envelope of Argo CD's repo server.
        text: String,
    },
}

/// A source among the others.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Place {
    /// Counted from one.
    pub number: usize,
    /// How many there are.
    pub count: usize,
}

impl std::fmt::Display for Place {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{} of {}", self.number, self.count)
    }
}

impl Place {
    pub(super) fn generate(self, text: String) -> Error {
        Error::Generate { place: self, text }
    }
    pub(super) fn evaluate(self, text: &str) -> Error {
        Error::Evaluate { place: self, text: text.to_owned() }
    }
}
