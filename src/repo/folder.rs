//! The folders of a cache directory, and which of them belong to a live process.
//!
//! In:  the cache directory.
//! Out: a run folder that only this process uses; folders of processes that are gone are removed.
//! Invariant: a checked-out tree never survives the process that wrote it, so a tree that a crash left half-written on disk is
//! never rendered; Git objects survive because git verifies them.

use std::fs::{self, File};
use std::io;
use std::path::{Path, PathBuf};

use rustix::fs::{FlockOperation, flock};

/// The cache directory with this process's own part.
#[derive(Debug)]
pub struct Folder {
    base: PathBuf,
    run: tempfile::TempDir,
    _lock: File,
}

impl Folder {
    /// Opens the cache directory, making it where it is missing.
    pub fn open(base: &Path) -> io::Result<Self> {
        fs::create_dir_all(base.join("git"))?;
        let base = fs::canonicalize(base)?;
        remove_abandoned(&base)?;
        let run = tempfile::Builder::new().prefix("run-").tempdir_in(&base)?;
        let lock = File::create(run.path().join("lock"))?;
        flock(&lock, FlockOperation::NonBlockingLockExclusive)?;
        fs::create_dir(run.path().join("trees"))?;
        fs::create_dir(run.path().join("scratch"))?;
        Ok(Self { base, run, _lock: lock })
    }
    /// Bare repository of a normalised URL's hash.
    pub fn bare(&self, hash: &str) -> PathBuf {
        self.base.join("git").join(format!("{hash}.git"))
    }
    /// Where trees are.
    pub fn trees(&self) -> PathBuf {
        self.run.path().join("trees")
    }
    /// Where renders make their private copies.
    pub fn scratch(&self) -> PathBuf {
        self.run.path().join("scratch")
    }
}

/// Removes run folders whose lock nobody holds.
fn remove_abandoned(base: &Path) -> io::Result<()> {
    for entry in fs::read_dir(base)? {
        let path = entry?.path();
        let is_run = path.file_name().is_some_and(|name| name.to_string_lossy().starts_with("run-"));
        if !is_run {
            continue;
        }
        // A folder without a lock belongs to a process that has just made it; it is left to the next start.
        let Ok(lock) = File::open(path.join("lock")) else { continue };
        if flock(&lock, FlockOperation::NonBlockingLockExclusive).is_ok() {
            fs::remove_dir_all(&path)?;
        }
    }
    Ok(())
}
