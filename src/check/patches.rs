//! Finds the files that a kustomization takes as patches: they are parts of objects, not objects.
//!
//! In:  the documents of a kustomization file.
//! Out: the patches' paths as [`scan`](super::scan) is given them.
//! Source: `kustomization.yaml`'s `patches`, `patchesStrategicMerge` and `patchesJson6902`.

use super::document::Node;

/// The names that Kustomize looks for.
const NAMES: [&str; 3] = ["kustomization.yaml", "kustomization.yml", "Kustomization"];

/// The patches that a file names; none when it is no kustomization.
pub fn of(file: &str, documents: &[Node]) -> Vec<String> {
    let (folder, name) = file.rsplit_once('/').unwrap_or(("", file));
    if !NAMES.contains(&name) {
        return Vec::new();
    }
    let paths = |document: &'_ Node| -> Vec<String> {
        let items = |field: &str| document.get(field).map(Node::items).unwrap_or_default();
        let named = items("patches").iter().chain(items("patchesJson6902")).filter_map(|patch| patch.get("path"));
        named.chain(items("patchesStrategicMerge")).filter_map(Node::text).map(str::to_owned).collect()
    };
    documents.iter().flat_map(paths).map(|path| normal(&format!("{folder}/{path}"))).collect()
}

/// A path without `.` and `..`, so that two spellings of one file are equal.
pub fn normal(path: &str) -> String {
    let mut parts: Vec<&str> = Vec::new();
    for part in path.split('/') {
        match part {
            "" | "." => {}
            ".." if parts.last().is_some_and(|last| *last != "..") => drop(parts.pop()),
            _ => parts.push(part),
        }
    }
    parts.join("/")
}
