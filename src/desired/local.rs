//! Repositories that lie in folders of this machine, in place of their servers.
//!
//! In:  URLs and folders.
//! Out: where a source's files are looked for: a Git repository, whose revisions resolve as on a server, or a plain folder,
//! which is taken as it lies there.
//! Invariant: nothing is written to the folders.

use std::collections::HashMap;
use std::io;
use std::path::{Path, PathBuf};

use crate::settings::git_url;

/// A repository on this machine.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Local {
    /// A Git repository, bare or with a working tree; what is not committed is not seen.
    Git(PathBuf),
    /// Files as they are, of every revision that is asked for.
    Folder(PathBuf),
}

/// Repositories on this machine, by normalised URL.
#[derive(Debug, Clone, Default)]
pub struct Locals(HashMap<String, Local>);

impl Locals {
    /// Takes a repository from a folder: from its commits where it is a Git repository and `as_it_lies` is false.
    ///
    /// # Errors
    /// The folder is not there.
    pub fn add(&mut self, url: &str, folder: &Path, as_it_lies: bool) -> io::Result<()> {
        let folder = std::fs::canonicalize(folder)?;
        if !folder.is_dir() {
            return Err(io::ErrorKind::NotADirectory.into());
        }
        let is_git = folder.join(".git").exists() || folder.join("HEAD").is_file() && folder.join("objects").is_dir();
        let local = if is_git && !as_it_lies { Local::Git(folder) } else { Local::Folder(folder) };
        self.0.insert(key(url), local);
        Ok(())
    }

    /// Whether two URLs mean one repository.
    pub fn is_same(left: &str, right: &str) -> bool {
        key(left) == key(right)
    }

    /// Where a repository is, when it is on this machine.
    pub fn get(&self, url: &str) -> Option<&Local> {
        self.0.get(&key(url))
    }
}

/// As repositories are told apart everywhere; what is no URL stands for itself.
fn key(url: &str) -> String {
    let normal = git_url::normalize(url);
    if normal.is_empty() { url.to_owned() } else { normal }
}
