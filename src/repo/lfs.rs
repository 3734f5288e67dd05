//! Large files that stand beside the repository (Git LFS).
//!
//! In:  a commit whose files may be pointers; the objects that `git lfs fetch` brought.
//! Out: which files are pointers; their content in the checkout.
//! Invariant: a checkout holds the content of every pointer or is not made at all.
//! Source: REND-037 (`util/git/client.go` `LsLargeFiles`, `Checkout`).

use std::fs::{self, File};
use std::io;
use std::path::{Path, PathBuf};

use git2::{ObjectType, Oid, Repository, TreeWalkMode, TreeWalkResult};

use super::error::Error;

/// A pointer is smaller than this.
const MAX_POINTER: usize = 1024;
const FIRST_LINE: &str = "version https://git-lfs.github.com/spec/v1";

/// A file whose content stands elsewhere.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LargeFile {
    /// From the root of the tree.
    pub path: String,
    /// SHA-256 of the content.
    digest: String,
}

impl LargeFile {
    fn object(&self, bare: &Path) -> Option<PathBuf> {
        let (first, second) = (self.digest.get(..2)?, self.digest.get(2..4)?);
        Some(bare.join("lfs/objects").join(first).join(second).join(&self.digest))
    }

    /// Whether its content was fetched.
    pub fn is_present(&self, bare: &Path) -> bool {
        self.object(bare).is_some_and(|object| object.is_file())
    }

    /// Its content.
    pub fn read(&self, bare: &Path) -> Result<Vec<u8>, Error> {
        let content = self.object(bare).ok_or_else(|| io::ErrorKind::NotFound.into()).and_then(fs::read);
        content.map_err(|error| Error::disk(&format!("reading the large file {}", self.path), &error))
    }

    /// Puts its content in place of the pointer, whose mode stays.
    pub fn fill(&self, bare: &Path, root: &Path) -> Result<(), Error> {
        let disk = |error: io::Error| Error::disk(&format!("checking out the large file {}", self.path), &error);
        let target = root.join(&self.path);
        // A link in the place of a file would lead the content somewhere else.
        if !fs::symlink_metadata(&target).map_err(disk)?.is_file() {
            return Ok(());
        }
        let object = self.object(bare).ok_or_else(|| disk(io::ErrorKind::NotFound.into()))?;
        let mut content = File::open(object).map_err(disk)?;
        let mut file = File::options().write(true).truncate(true).open(target).map_err(disk)?;
        io::copy(&mut content, &mut file).map_err(disk)?;
        Ok(())
    }
}

/// The pointers among the files of a commit; blocking.
pub fn of(bare: &Path, commit: &str) -> Result<Vec<LargeFile>, Error> {
    let read = || -> Result<Vec<LargeFile>, git2::Error> {
        let repo = Repository::open_bare(bare)?;
        let tree = repo.find_commit(Oid::from_str(commit)?)?.tree()?;
        let objects = repo.odb()?;
        let is_small = |id| objects.read_header(id).is_ok_and(|(size, _)| size < MAX_POINTER);
        let mut found = Vec::new();
        tree.walk(TreeWalkMode::PreOrder, |folder, entry| {
            if entry.kind() == Some(ObjectType::Blob)
                && is_small(entry.id())
                && let Ok(blob) = repo.find_blob(entry.id())
                && let Some(digest) = digest(blob.content())
            {
                found.push(LargeFile { path: format!("{folder}{}", entry.name().unwrap_or_default()), digest });
            }
            TreeWalkResult::Ok
        })?;
        Ok(found)
    };
    read().map_err(|error| Error::objects(&error))
}

/// The digest that a pointer names.
fn digest(content: &[u8]) -> Option<String> {
    let text = std::str::from_utf8(content).ok()?;
    let mut lines = text.lines();
    lines.next().filter(|line| *line == FIRST_LINE)?;
    let digest = lines.find_map(|line| line.strip_prefix("oid sha256:"))?;
    (digest.len() == 64 && digest.bytes().all(|b| b.is_ascii_hexdigit())).then(|| digest.to_owned())
}

#[cfg(test)]
mod tests {
    use super::{FIRST_LINE, digest};

    #[test]
    fn only_pointers_name_a_digest() {
        let oid = "4d7a214614ab2935c943f9e0ff69d22eadbb8f32b1258daaa5e2ca24d17e2393";
        let check = |text: &str, expect: Option<&str>| assert_eq!(digest(text.as_bytes()).as_deref(), expect, "{text}");
        check(&format!("{FIRST_LINE}\noid sha256:{oid}\nsize 12345\n"), Some(oid));
        check(&format!("{FIRST_LINE}\next-0-foo sha256:{oid}\noid sha256:{oid}\nsize 1\n"), Some(oid));
        check(&format!("oid sha256:{oid}\n"), None);
        check(&format!("{FIRST_LINE}\noid sha256:../../etc\n"), None);
        check("kind: ConfigMap\n", None);
    }
}
