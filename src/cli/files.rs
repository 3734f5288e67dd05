//! Walks folders for manifests.
//!
//! In:  a folder.
//! Out: the files that can be manifests, in the order of their names, and how many others there are.
//! Invariant: links are not followed: one may lead out of the repository or around in a circle.

use std::path::{Path, PathBuf};

use anyhow::Context;

/// Files larger than this are no manifests.
const LARGEST: u64 = 32 << 20;

/// What lies below a folder.
#[derive(Debug, Default)]
pub struct Walk {
    /// Files that can be manifests.
    pub files: Vec<PathBuf>,
    /// How many files cannot.
    pub skipped: usize,
}

impl Walk {
    /// Walks a folder; folders that hold no manifests by convention are left out.
    pub fn below(dir: &Path) -> anyhow::Result<Self> {
        let mut walk = Self::default();
        walk.folder(dir)?;
        Ok(walk)
    }

    fn folder(&mut self, dir: &Path) -> anyhow::Result<()> {
        let entries = std::fs::read_dir(dir).with_context(|| format!("cannot read {}", dir.display()))?;
        let mut paths: Vec<PathBuf> =
            entries.collect::<Result<Vec<_>, _>>()?.into_iter().map(|entry| entry.path()).collect();
        paths.sort();
        for path in paths {
            let name = path.file_name().unwrap_or_default().to_string_lossy().into_owned();
            let kind = std::fs::symlink_metadata(&path).with_context(|| format!("cannot read {}", path.display()))?;
            if kind.is_dir() {
                if name != ".git" && name != "node_modules" {
                    self.folder(&path)?;
                }
            } else if kind.is_file() && kind.len() <= LARGEST && is_manifest(&path) {
                self.files.push(path);
            } else {
                self.skipped += 1;
            }
        }
        Ok(())
    }
}

fn is_manifest(path: &Path) -> bool {
    path.extension()
        .and_then(|extension| extension.to_str())
        .is_some_and(|text| matches!(text, "yaml" | "yml" | "json"))
}
