//! The name under which a rendering is remembered.
//!
//! In:  the request of a rendering, the tools it would run.
//! Out: a digest of everything the result depends on.
//! Invariant: two renderings that may differ have different keys. What a revision was called before it was resolved does not
//! count: a refresh asks for a branch and a sync for its commit, and both must get the same manifests.
//! Source: REND-213, REND-214 (`reposerver/cache/cache.go` `manifestKey`).

use serde_json::{Value, json};
use sha2::{Digest, Sha256};

use super::tools::Tools;
use crate::render::Request;

/// The key of a rendering.
pub fn of(request: &Request, tools: &Tools) -> String {
    let refs: Vec<Value> =
        request.refs.iter().map(|(name, known)| json!([name, known.repo_url, known.revision])).collect();
    let parts = json!([
        env!("CARGO_PKG_VERSION"),
        tools.fingerprint(&request.kustomize),
        [&request.app_name, &request.namespace, &request.project],
        request.source,
        [&request.revision, &request.kube_version, &request.repository_url],
        refs,
        request.has_multiple_sources,
        request.api_versions,
        request.max_directory_bytes,
        format!("{:?}{:?}{:?}{:?}", request.tracking, request.enabled, request.kustomize, request.value_file_schemes),
    ]);
    let digest = Sha256::digest(parts.to_string().as_bytes());
    digest.iter().map(|byte| format!("{byte:02x}")).collect()
}
