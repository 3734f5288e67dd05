//! Which files of a directory are manifests.
//!
//! In:  the application's directory and the globs of its source.
//! Out: the files with their text, in Go's walking order.
//! Invariant: directories behind symbolic links are not entered; a linked file must lie inside the checkout; the sum of sizes is
//! bounded before anything is parsed.
//! Source: REND-090, REND-092 to REND-100 (`getPotentiallyValidManifests`).

use std::fs::{self, Metadata};
use std::io;
use std::path::{Path, PathBuf};

use super::paths::go_reason;
use crate::gocompat::{glob, utf8};

/// Files with this text anywhere are left out.
const SKIP_MARKER: &str = "+argocd:skip-file-rendering";

/// What is looked for.
pub struct Selection<'a> {
    /// The application's directory.
    pub app: &'a Path,
    /// Root of the checkout.
    pub root: &'a Path,
    /// Whether sub-directories count.
    pub recurse: bool,
    /// Glob of files taken, empty for all.
    pub include: &'a str,
    /// Glob of files left out, empty for none.
    pub exclude: &'a str,
    /// Largest sum of sizes in bytes, 0 for no limit.
    pub max_bytes: u64,
}

/// A manifest file.
pub struct File {
    /// Where it is, links not followed.
    pub path: PathBuf,
    /// What it holds.
    pub text: String,
}

/// The manifest files, or why the walk ended.
pub fn manifest_files(selection: &Selection<'_>) -> Result<Vec<File>, String> {
    let mut found = Found { selection, files: Vec::new(), bytes: 0 };
    // A walk does not follow a link at its root either: such an application is an empty directory.
    let root = fs::symlink_metadata(selection.app).map_err(|error| walk_failure("lstat", selection.app, &error))?;
    if root.is_dir() {
        found.enter(selection.app)?;
    }
    Ok(found.files)
}

struct Found<'a> {
    selection: &'a Selection<'a>,
    files: Vec<File>,
    bytes: u64,
}

impl Found<'_> {
    fn enter(&mut self, folder: &Path) -> Result<(), String> {
        for path in sorted_entries(folder).map_err(|error| walk_failure("open", folder, &error))? {
            let metadata = fs::symlink_metadata(&path).map_err(|error| walk_failure("lstat", &path, &error))?;
            if metadata.is_dir() {
                if self.selection.recurse {
                    self.enter(&path)?;
                }
                continue;
            }
            let taken = self.take(&path, &metadata);
            taken.map_err(|text| {
                let is_limit = text == EXCEEDED;
                if is_limit { text } else { format!("invalid manifest file {:?}: {text}", path.display().to_string()) }
            })?;
        }
        Ok(())
    }

    fn take(&mut self, path: &Path, metadata: &Metadata) -> Result<(), String> {
        let relative = path.strip_prefix(self.selection.app).unwrap_or(path).to_string_lossy().into_owned();
        if !is_manifest_name(&relative) {
            return Ok(());
        }
        let Some(size) = self.regular_size(path, metadata, &relative)? else { return Ok(()) };
        let (include, exclude) = (self.selection.include, self.selection.exclude);
        if !exclude.is_empty() && glob::matches(exclude, &relative, &[]) {
            return Ok(());
        }
        if !include.is_empty() && !glob::matches(include, &relative, &[]) {
            return Ok(());
        }
        let counts = !relative.ends_with(".jsonnet");
        let max = self.selection.max_bytes;
        let exceeds = counts && max != 0 && self.bytes.saturating_add(size) > max;
        if exceeds && size > max {
            // A file that is too large alone is not read at all, not even to look for the marker.
            return Err(EXCEEDED.to_owned());
        }
        let bytes = fs::read(path).map_err(|error| format!("failed to read {relative:?}: {}", go_reason(&error)))?;
        let text = decode(bytes);
        if text.contains(SKIP_MARKER) {
            return Ok(());
        }
        if exceeds {
            return Err(EXCEEDED.to_owned());
        }
        self.bytes += if counts { size } else { 0 };
        self.files.push(File { path: path.to_owned(), text });
        Ok(())
    }

    /// Size of a regular file, also behind a link; `None` for what is to be passed over.
    fn regular_size(&self, path: &Path, metadata: &Metadata, relative: &str) -> Result<Option<u64>, String> {
        if !metadata.is_symlink() {
            return Ok(metadata.is_file().then_some(metadata.len()));
        }
        let real = match fs::canonicalize(path) {
            Ok(real) => real,
            Err(error) if error.kind() == io::ErrorKind::NotFound => {
                tracing::warn!(file = relative, "link leads nowhere");
                return Ok(None);
            }
            Err(error) => return Err(format!("failed to evaluate symlink at {relative:?}: {}", go_reason(&error))),
        };
        if real == self.selection.root || !real.starts_with(self.selection.root) {
            return Err(format!("illegal filepath in symlink at {relative:?}"));
        }
        let target = fs::metadata(&real).map_err(|error| go_reason(&error))?;
        Ok(target.is_file().then_some(target.len()))
    }
}

const EXCEEDED: &str = "exceeded max combined manifest file size";

fn walk_failure(call: &str, path: &Path, error: &io::Error) -> String {
    format!("{call} {}: {}", path.display(), go_reason(error))
}

/// Entries of a directory by the bytes of their names, as Go's walk visits them.
pub fn sorted_entries(folder: &Path) -> io::Result<Vec<PathBuf>> {
    let mut paths: Vec<PathBuf> = fs::read_dir(folder)?.map(|entry| Ok(entry?.path())).collect::<io::Result<_>>()?;
    paths.sort_unstable_by(|a, b| a.file_name().cmp(&b.file_name()));
    Ok(paths)
}

fn is_manifest_name(path: &str) -> bool {
    [".yaml", ".yml", ".json", ".jsonnet"].iter().any(|ending| path.ends_with(ending))
}

/// Text of a file: UTF-8 unless a byte-order mark says UTF-16 (REND-100).
fn decode(bytes: Vec<u8>) -> String {
    let wide = |from: fn([u8; 2]) -> u16, bytes: &[u8]| {
        let (pairs, _) = bytes.as_chunks::<2>();
        String::from_utf16_lossy(&pairs.iter().map(|pair| from(*pair)).collect::<Vec<u16>>())
    };
    match bytes.as_slice() {
        [0xEF, 0xBB, 0xBF, rest @ ..] => utf8::lossy(rest),
        [0xFF, 0xFE, rest @ ..] => wide(u16::from_le_bytes, rest),
        [0xFE, 0xFF, rest @ ..] => wide(u16::from_be_bytes, rest),
        _ => String::from_utf8(bytes).unwrap_or_else(|error| utf8::lossy(error.as_bytes())),
    }
}
