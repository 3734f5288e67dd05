//! Symbolic links that leave the repository.
//!
//! In:  a tree in the object database.
//! Out: the first link, in walking order, that is absolute or steps outside the root on its way.
//! Source: REND-009 (`util/app/path/path.go` `CheckOutOfBoundsSymlinks`).

use git2::{ObjectType, Repository, Tree, TreeWalkMode, TreeWalkResult};

/// Mode of a link in a Git tree.
const LINK: i32 = 0o120_000;

/// The first link that leaves the tree.
pub fn first_out_of_bounds(repo: &Repository, tree: &Tree<'_>) -> Result<Option<String>, git2::Error> {
    let mut bad: Vec<String> = Vec::new();
    let mut failure = None;
    tree.walk(TreeWalkMode::PreOrder, |folder, entry| {
        if entry.filemode() != LINK || entry.kind() != Some(ObjectType::Blob) {
            return TreeWalkResult::Ok;
        }
        match repo.find_blob(entry.id()) {
            Ok(blob) => {
                let (folder, name) = (folder, entry.name().unwrap_or_default());
                if leaves_root(folder, &String::from_utf8_lossy(blob.content())) {
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
    Ok(bad.into_iter().min_by(|a, b| a.split('/').cmp(b.split('/'))))
}

/// Whether a link in `folder` leaves the root at any step.
fn leaves_root(folder: &str, target: &str) -> bool {
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
