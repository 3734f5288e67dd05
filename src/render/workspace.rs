//! Private copies of checkouts, for tools that write.
//!
//! In:  a checkout and the application's directory in it.
//! Out: a copy whose application directory may be written; removed when dropped.
//! Invariant: files outside the application's directory share their bytes with the checkout (hard links), so they must not be
//! changed in place. Kustomize and helm write in the application's directory only, and a link there that leads elsewhere gets
//! bytes of its own: a tool that writes through it must not change the checkout that other renders read.

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
            let relative = |path: &Path, base: &Path| path.strip_prefix(base).unwrap_or(Path::new("")).to_owned();
            // The directory itself may be a link to another one.
            let real = relative(&fs::canonicalize(app)?, &fs::canonicalize(checkout)?);
            let own = root.path().join(&real);
            copy_folder(checkout, root.path(), &own)?;
            own_what_links_lead_to(root.path(), &own)?;
            Ok(Self { app: root.path().join(relative(app, checkout)), root })
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

/// Replaces the shared files that links in the application's directory lead to by files of the copy.
fn own_what_links_lead_to(root: &Path, own: &Path) -> io::Result<()> {
    let root = fs::canonicalize(root)?;
    for entry in fs::read_dir(own)? {
        let entry = entry?;
        if !entry.file_type()?.is_symlink() {
            continue;
        }
        // A link that leads nowhere or out of the copy is nothing that a tool could write through to the checkout.
        let Ok(target) = fs::canonicalize(entry.path()) else { continue };
        if target.starts_with(&root) && !target.starts_with(own) && target.is_file() {
            let parent = target.parent().unwrap_or(&root);
            let copy = tempfile::NamedTempFile::new_in(parent)?;
            fs::copy(&target, copy.path())?;
            copy.persist(&target)?;
        }
    }
    Ok(())
}
