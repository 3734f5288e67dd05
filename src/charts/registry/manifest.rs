//! Manifests of images and artefacts.
//!
//! In:  JSON.
//! Out: the parts that decide what is unpacked.
//! Source: OCI image specification 1.1.

use serde::Deserialize;

/// A manifest; an index of several images has no layers.
#[derive(Debug, Clone, Default, PartialEq, Eq, Deserialize)]
pub struct Manifest {
    /// Configuration; its media type says what the whole is.
    #[serde(default)]
    pub config: Descriptor,
    /// Contents.
    #[serde(default)]
    pub layers: Vec<Descriptor>,
}

/// Names a blob.
#[derive(Debug, Clone, Default, PartialEq, Eq, Deserialize)]
pub struct Descriptor {
    /// What it is.
    #[serde(default, rename = "mediaType")]
    pub media_type: String,
    /// `sha256:…`.
    #[serde(default)]
    pub digest: String,
    /// Bytes.
    #[serde(default)]
    pub size: u64,
}
