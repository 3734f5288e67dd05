//! Private copies of checkouts, for tools that write.
//!
//! In:  a checkout and the application's directory in it.
//! Out: a copy whose application directory may be written; removed when dropped.
//! Invariant: files outside the application's directory share their bytes with the checkout (hard links), so they must not be
//! changed in place; kustomize and helm write in the application's directory only.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use super::Error;

/// A private copy.
pub struct Workspace {
    root: tempfile::TempDir,
    app: PathBuf,
}

impl Workspace {
    /// Copies a checkout; blocking.
    pub fn copy(checkout: &Path, app: &Path, scratch: &Path) -> Result<Self, Error> {
        let make = || -> io::Result<Self> {
            let root = tempfile::Builder::new().prefix("render-").tempdir_in(scratch)?;
            let relative = app.strip_prefix(checkout).unwrap_or(Path::new(""));
            let target = root.path().join(relative);
            copy_folder(checkout, root.path(), &target)?;
            Ok(Self { app: target, root })
        };
        make().map_err(|error| Error::Failed(format!("failed to copy the checkout: {error}")))
    }
    /// Root of the copy.
    pub fn root(&self) -> &Path {
        self.root.path()
    }
    /// The application's directory in the copy.
    pub fn app(&self) -> &Path {
        &self.app
    }
}

fn copy_folder(from: &Path, to: &Path, own: &Path) -> io::Result<()> {
    for entry in fs::read_dir(from)? {
        let entry = entry?;
        let (source, target, kind) = (entry.path(), to.join(entry.file_name()), entry.file_type()?);
        if kind.is_dir() {
            fs::create_dir(&target)?;
            copy_folder(&source, &target, own)?;
        } else if kind.is_symlink() {
            std::os::unix::fs::symlink(fs::read_link(&source)?, &target)?;
        } else if to.starts_with(own) || fs::hard_link(&source, &target).is_err() {
            fs::copy(&source, &target)?;
        }
    }
    Ok(())
}
