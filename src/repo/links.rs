//! What a tree holds besides files: symbolic links that leave the repository, and submodules.
//!
//! In:  a tree in the object database, and where it belongs in the checkout (submodules do not stand at the root).
//! Out: the first link, in walking order, that is absolute or steps outside the root on its way; the submodules' paths.
//! Source: REND-009 (`util/app/path/path.go` `CheckOutOfBoundsSymlinks`).

use git2::{ObjectType, Repository, Tree, TreeWalkMode, TreeWalkResult};

/// Mode of a link in a Git tree.
const LINK: i32 = 0o120_000;

/// What a tree holds besides files and folders.
#[derive(Debug, Default, PartialEq, Eq)]
pub struct Scan {
    /// The first link that leaves the checkout, by its path from the root.
    pub out_of_bounds: Option<String>,
    /// Where other repositories belong, from the root of this tree.
    pub submodules: Vec<String>,
}

/// Looks through a tree.
pub fn scan(repo: &Repository, tree: &Tree<'_>, place: &str) -> Result<Scan, git2::Error> {
    let place = if place.is_empty() { String::new() } else { format!("{place}/") };
    let (mut bad, mut submodules): (Vec<String>, Vec<String>) = (Vec::new(), Vec::new());
    let mut failure = None;
    tree.walk(TreeWalkMode::PreOrder, |folder, entry| {
        let name = entry.name().unwrap_or_default();
        if entry.kind() == Some(ObjectType::Commit) {
            submodules.push(format!("{folder}{name}"));
        }
        if entry.filemode() != LINK || entry.kind() != Some(ObjectType::Blob) {
            return TreeWalkResult::Ok;
        }
        match repo.find_blob(entry.id()) {
            Ok(blob) => {
                let folder = format!("{place}{folder}");
                if leaves_root(&folder, &String::from_utf8_lossy(blob.content())) {
                    bad.push(format!("{folder}{name}"));
                }
                TreeWalkResult::Ok
            }
            Err(error) => {
                failure = Some(error);
                TreeWalkResult::Abort
            }
        }
    })?;
    if let Some(error) = failure {
        return Err(error);
    }
    // Git sorts folders as if their names ended in a slash; a walk of the disk does not.
    let out_of_bounds = bad.into_iter().min_by(|a, b| a.split('/').cmp(b.split('/')));
    Ok(Scan { out_of_bounds, submodules })
}

/// Whether a link in `folder`, a path from the root, leaves the root at any step.
pub fn leaves_root(folder: &str, target: &str) -> bool {
    if target.starts_with('/') {
        return true;
    }
    let mut depth = folder.split('/').filter(|part| !part.is_empty()).count();
    for part in target.split('/') {
        match part {
            "" | "." => {}
            ".." if depth == 0 => return true,
            ".." => depth -= 1,
            _ => depth += 1,
        }
    }
    false
}
