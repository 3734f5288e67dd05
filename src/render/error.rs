//! Why a source gave no manifests, in the words users see.
//!
//! In:  what failed.
//! Out: the inner text (`Display`), and the same text in the envelope of Argo CD's repo server.
//! Source: REND-246, REND-247, REND-252 (`util/grpc/sanitizer.go`).

/// Why a source gave no manifests. All are the user's to repair, except that tools may fail for reasons of their own.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum Error {
    /// Anything without a status code of its own.
    #[error("{0}")]
    Failed(String),
    /// A manifest file that cannot be read (REND-104, REND-106, REND-113).
    #[error("{0}")]
    BrokenManifest(String),
    /// A glob of value files that matches nothing (REND-131).
    #[error("{0}")]
    NoValueFile(String),
    /// A chart dependency that the project does not permit (REND-143).
    #[error("{0}")]
    NotPermitted(String),
}

impl Error {
    /// Puts words and a colon in front; the code is lost where Go would wrap a status in another error.
    pub(super) fn within(self, words: &str) -> Self {
        match self {
            Self::NoValueFile(text) => Self::NoValueFile(format!("{words}: {text}")),
            other => Self::Failed(format!("{words}: {}", other.plain())),
        }
    }

    /// Replaces a part of the text, such as a path.
    pub(super) fn replacing(self, from: &str, to: &str) -> Self {
        let replace = |text: String| if from.is_empty() { text } else { text.replace(from, to) };
        match self {
            Self::Failed(text) => Self::Failed(replace(text)),
            Self::BrokenManifest(text) => Self::BrokenManifest(replace(text)),
            Self::NoValueFile(text) => Self::NoValueFile(replace(text)),
            Self::NotPermitted(text) => Self::NotPermitted(replace(text)),
        }
    }

    /// Status code of the answer.
    pub fn code(&self) -> &'static str {
        match self {
            Self::Failed(_) => "Unknown",
            Self::BrokenManifest(_) => "FailedPrecondition",
            Self::NoValueFile(_) => "NotFound",
            Self::NotPermitted(_) => "PermissionDenied",
        }
    }

    /// As Go prints the error inside another one: a status shows its code, a typed error does not.
    fn plain(&self) -> String {
        match self {
            Self::Failed(text) | Self::NoValueFile(text) => text.clone(),
            Self::BrokenManifest(_) | Self::NotPermitted(_) => self.envelope(),
        }
    }

    /// The text as users see it.
    pub fn envelope(&self) -> String {
        format!("rpc error: code = {} desc = {self}", self.code())
    }

    /// The text from the fourth attempt on, when the stored failure is the answer.
    pub fn cached_envelope(&self) -> String {
        format!("rpc error: code = Unknown desc = Manifest generation error (cached): {}", self.plain())
    }
}

impl From<crate::process::Error> for Error {
    fn from(error: crate::process::Error) -> Self {
        Self::Failed(error.to_string())
    }
}
