//! Manifests as users have them: against Argo CD's own CRDs, and in `check`.
//!
//! In:  `LITECD_REFERENCE`, a folder with `crds/` (Argo CD's CRDs) and `corpus/` (cases recorded from real Argo CD).
//! Out: tests that compare both ways.
//! Invariant: without the folder a test prints `not run`, so that its silence is never read as success.

mod accepted;
mod features;
mod reference;
mod refused;

use std::path::{Path, PathBuf};
use std::sync::OnceLock;

use serde_json::Value;

/// The reference folder, or a note that the test did not run.
fn reference_folder() -> Option<PathBuf> {
    let folder = std::env::var_os("LITECD_REFERENCE").map(PathBuf::from);
    if folder.is_none() {
        println!("not run: LITECD_REFERENCE names no reference folder");
    }
    folder
}

/// Argo CD's CRDs in litecd's order: Application, AppProject, ApplicationSet. Read once, since they are large.
fn reference_crds(folder: &Path) -> &'static [Value] {
    static CRDS: OnceLock<Vec<Value>> = OnceLock::new();
    CRDS.get_or_init(|| {
        let read = |name: &&str| {
            let path = folder.join(format!("crds/{name}-crd.yaml"));
            let text = std::fs::read_to_string(&path).unwrap_or_else(|error| panic!("{}: {error}", path.display()));
            serde_yaml::from_str(&text).expect("a CRD in YAML")
        };
        ["application", "appproject", "applicationset"].iter().map(read).collect()
    })
}

/// The schema of a kind in a list of CRDs.
fn schema_in<'a>(crds: &'a [Value], kind: &str) -> &'a Value {
    let crd = crds.iter().find(|crd| crd["spec"]["names"]["kind"] == kind).expect("a CRD of the kind");
    &crd["spec"]["versions"][0]["schema"]["openAPIV3Schema"]
}

/// Every file below `folder`, sorted.
fn files_below(folder: &Path) -> Vec<PathBuf> {
    let mut found = Vec::new();
    let mut folders = vec![folder.to_owned()];
    while let Some(next) = folders.pop() {
        for entry in std::fs::read_dir(&next).unwrap_or_else(|error| panic!("{}: {error}", next.display())) {
            let entry = entry.expect("a readable entry");
            let kind = entry.file_type().expect("a file type");
            if kind.is_dir() {
                folders.push(entry.path());
            } else if kind.is_file() {
                found.push(entry.path());
            }
        }
    }
    found.sort();
    found
}
