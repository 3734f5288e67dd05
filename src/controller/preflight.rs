//! Says at start what will not work, rather than letting every Application find out.
//!
//! In:  `PATH`, the control plane's namespace.
//! Out: one line of warning each; litecd goes on, since only some Applications may be hit and the namespace may come.

use std::path::Path;

use crate::cluster::{Cluster, Error, Resource};

/// Programs that litecd starts, and the Applications that fail without them.
const TOOLS: [(&str, &str); 3] = [
    ("git", "every Application will fail to load its sources"),
    ("helm", "Applications whose source is a Helm chart will fail"),
    ("kustomize", "Applications whose source has a kustomization will fail"),
];

/// Warns of programs that are not in `PATH`.
pub fn tools() {
    let path = std::env::var_os("PATH").unwrap_or_default();
    for (tool, consequence) in TOOLS {
        if !std::env::split_paths(&path).any(|folder| is_program(&folder.join(tool))) {
            tracing::warn!("{tool} is not in PATH: {consequence}");
        }
    }
}

fn is_program(path: &Path) -> bool {
    use std::os::unix::fs::PermissionsExt as _;
    std::fs::metadata(path).is_ok_and(|found| found.is_file() && found.permissions().mode() & 0o111 != 0)
}

/// Warns when the namespace does not exist; who may not look does not know, and says nothing.
pub async fn namespace(cluster: &Cluster, name: &str) {
    let namespaces = Resource {
        version: "v1".to_owned(),
        kind: "Namespace".to_owned(),
        plural: "namespaces".to_owned(),
        ..Resource::default()
    };
    if let Ok(None) | Err(Error::NotFound(_)) = cluster.get(&namespaces, "", name).await {
        tracing::warn!(namespace = name, "The namespace does not exist: nothing is managed until it does");
    }
}
