//! Where imported files are found.
//!
//! In:  the importing file and the path that it names.
//! Out: the file's path and content, or go-jsonnet's refusal.
//! Invariant: no file outside the checkout is read, whatever the path or a link says; such a file counts as missing. Argo CD
//! itself would read it.
//! Source: REND-110, REND-111 (`go-jsonnet` `imports.go` `FileImporter`).

use std::io;
use std::path::{Path, PathBuf};

use crate::gocompat::strconv::quote;
use crate::render::paths::{clean, go_reason};

/// Where imports are looked for.
pub struct Search {
    /// Root of the checkout.
    pub root: PathBuf,
    /// Folders, the last one first.
    pub folders: Vec<PathBuf>,
}

impl Search {
    /// Reads an import: beside the importing file, else in the folders.
    pub fn read(&self, importer: &Path, path: &str) -> Result<(PathBuf, Vec<u8>), String> {
        let beside = importer.parent().unwrap_or(Path::new(""));
        let folders = std::iter::once(beside).chain(self.folders.iter().rev().map(PathBuf::as_path));
        for folder in folders {
            let candidate = clean(&folder.join(path));
            if let Some(bytes) = self.inside(&candidate)? {
                return Ok((candidate, bytes));
            }
        }
        Err(format!("couldn't open import {}: no match locally or in the Jsonnet library paths", quote(path)))
    }

    /// Content of a file that exists inside the checkout.
    fn inside(&self, candidate: &Path) -> Result<Option<Vec<u8>>, String> {
        let fail = |call: &str, error: &io::Error| Err(format!("{call} {}: {}", candidate.display(), go_reason(error)));
        if !candidate.starts_with(&self.root) {
            return Ok(None);
        }
        let real = match std::fs::canonicalize(candidate) {
            Ok(real) => real,
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(None),
            Err(error) => return fail("open", &error),
        };
        if !real.starts_with(&self.root) {
            return Ok(None);
        }
        match std::fs::read(&real) {
            Ok(bytes) => Ok(Some(bytes)),
            Err(error) if error.kind() == io::ErrorKind::IsADirectory => fail("read", &error),
            Err(error) => fail("open", &error),
        }
    }
}
