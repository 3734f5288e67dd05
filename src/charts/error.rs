//! Why there is no chart or artefact, in the words users see.
//!
//! In:  failures of servers, of archives and of the disk.
//! Out: Argo CD's texts, those of helm and oras inside them.
//! Source: REND-070, REND-071, REND-078 to REND-080, REND-146, REND-247.

use super::index::Failure;
use crate::gocompat::semver::NoMatch;
use crate::gocompat::strconv::quote;

/// Why there is no chart or artefact. Cloned to every caller that waited for the same attempt.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum Error {
    /// The index did not come; try again later.
    #[error("error loading repo index: {0}")]
    LoadIndex(Failure),
    /// The index came and cannot be read.
    #[error("error decoding index: {0}")]
    DecodeIndex(String),
    /// The index knows no such chart.
    #[error("chart '{0}' not found in index")]
    NotInIndex(String),
    /// The registry gave no tags; try again later.
    #[error("unable to get tags: {0}")]
    Tags(String),
    /// No version is admitted.
    #[error("invalid revision: {0}")]
    Revision(NoMatch),
    /// The registry refused the credentials.
    #[error("error logging into OCI registry: failed to login to registry: failed running helm: {0}")]
    Login(String),
    /// The archive did not come from the chart repository.
    #[error("error fetching chart: failed to fetch chart: failed running helm: {0}")]
    Fetch(String),
    /// The archive did not come from the registry.
    #[error("error pulling OCI chart: failed to pull OCI chart: failed running helm: {0}")]
    Pull(String),
    /// The archive cannot be unpacked.
    #[error("error untarring chart: {0}")]
    Unpack(String),
    /// A link in the chart leads out of it.
    #[error("chart contains out-of-bounds symlinks. file: {0}")]
    ChartLink(String),
    /// The repository's URL cannot be used.
    #[error("failed to initialize oci client: {0}")]
    OciClient(String),
    /// An artefact's revision names nothing.
    #[error("failed to resolve revision {}: {reason}", quote(revision))]
    OciRevision {
        /// What was asked for.
        revision: String,
        /// Why.
        reason: String,
    },
    /// An artefact did not come, or is not one that manifests can come from.
    #[error("{0}")]
    OciImage(String),
    /// An artefact's layer cannot be unpacked.
    #[error("cannot extract contents of oci image with revision {digest}: {reason}")]
    OciUnpack {
        /// The artefact.
        digest: String,
        /// Why.
        reason: String,
    },
    /// A link in the artefact leads out of it.
    #[error("oci image contains out-of-bounds symlinks. file: {0}")]
    OciLink(String),
    /// The cache directory cannot be used.
    #[error("{0}")]
    Cache(String),
}

impl Error {
    pub(super) fn disk(doing: &str, error: &std::io::Error) -> Self {
        // What makes temporary folders tells their names, which are other ones each time.
        match error.raw_os_error() {
            Some(_) => Self::Cache(format!("{doing}: {error}")),
            None => Self::Cache(format!("{doing}: {}", error.kind())),
        }
    }

    /// The text as users see it: with the envelope that Argo CD's repo server puts around it (REND-247).
    pub fn envelope(&self) -> String {
        format!("rpc error: code = Unknown desc = {self}")
    }
}
