//! The folders of a cache directory, and which of them belong to a live process.
//!
//! In:  the cache directory.
//! Out: a run folder that only this process uses, and one in memory for credentials; those of processes that are gone are removed.
//! Invariant: a checked-out tree never survives the process that wrote it, so a tree that a crash left half-written on disk is
//! never rendered; Git objects survive because git verifies them.

use std::fs::{self, File, Permissions};
use std::io;
use std::os::unix::fs::{DirBuilderExt, PermissionsExt};
use std::path::{Path, PathBuf};

use rustix::fs::{FlockOperation, flock};

/// The cache directory with this process's own part.
#[derive(Debug)]
pub struct Folder {
    base: PathBuf,
    run: Run,
    private: Option<Run>,
}

/// A folder of this process.
#[derive(Debug)]
struct Run {
    dir: tempfile::TempDir,
    _lock: File,
}

/// Files here never reach a disk.
const MEMORY: &str = "/dev/shm";

impl Folder {
    /// Opens the cache directory, making it where it is missing.
    pub fn open(base: &Path) -> io::Result<Self> {
        fs::create_dir_all(base)?;
        // What repositories hold is nobody else's business.
        fs::DirBuilder::new().mode(0o700).recursive(true).create(base.join("git"))?;
        let base = fs::canonicalize(base)?;
        let run = Run::new(&base, "run-")?;
        for name in ["trees", "scratch", "private"] {
            fs::create_dir(run.dir.path().join(name))?;
        }
        // Where there is no such place, credentials stand in the run folder while a child needs them.
        Ok(Self { base, run, private: Run::new(Path::new(MEMORY), "litecd-").ok() })
    }
    /// Bare repository of a normalised URL's hash.
    pub fn bare(&self, hash: &str) -> PathBuf {
        self.base.join("git").join(format!("{hash}.git"))
    }
    /// Where trees are.
    pub fn trees(&self) -> PathBuf {
        self.run.dir.path().join("trees")
    }
    /// Where renders make their private copies.
    pub fn scratch(&self) -> PathBuf {
        self.run.dir.path().join("scratch")
    }
    /// Where credentials stand while a child needs them; nobody else can read it.
    pub fn private(&self) -> PathBuf {
        match &self.private {
            Some(run) => run.dir.path().to_owned(),
            None => self.run.dir.path().join("private"),
        }
    }
}

impl Run {
    fn new(base: &Path, prefix: &str) -> io::Result<Self> {
        remove_abandoned(base, prefix)?;
        let dir =
            tempfile::Builder::new().prefix(prefix).permissions(Permissions::from_mode(0o700)).tempdir_in(base)?;
        let lock = File::create(dir.path().join("lock"))?;
        flock(&lock, FlockOperation::NonBlockingLockExclusive)?;
        Ok(Self { dir, _lock: lock })
    }
}

/// Removes run folders whose lock nobody holds.
fn remove_abandoned(base: &Path, prefix: &str) -> io::Result<()> {
    for entry in fs::read_dir(base)? {
        let path = entry?.path();
        let is_run = path.file_name().is_some_and(|name| name.to_string_lossy().starts_with(prefix));
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
