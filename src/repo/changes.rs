//! Which files differ between two commits.
//!
//! In:  two commits of one bare repository.
//! Out: paths of added, changed, removed and moved files; a move counts at both ends.
//! Source: REND-189 (`util/git/client.go` `ChangedFiles`).

use std::collections::BTreeSet;
use std::path::Path;

use git2::{Oid, Repository};

use super::error::Error;

/// Paths that differ.
pub fn between(bare: &Path, from: &str, to: &str) -> Result<Vec<String>, Error> {
    let diff = || -> Result<Vec<String>, git2::Error> {
        let repo = Repository::open_bare(bare)?;
        let tree = |sha: &str| repo.find_object(Oid::from_str(sha)?, None)?.peel_to_tree();
        let diff = repo.diff_tree_to_tree(Some(&tree(from)?), Some(&tree(to)?), None)?;
        let files = diff.deltas().flat_map(|delta| {
            [delta.old_file(), delta.new_file()].map(|file| file.path().map(|path| path.to_string_lossy().into_owned()))
        });
        Ok(files.flatten().collect::<BTreeSet<String>>().into_iter().collect())
    };
    diff().map_err(|error| Error::objects(&error))
}
