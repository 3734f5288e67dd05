//! The submodules of a commit.
//!
//! In:  a commit in a bare repository.
//! Out: path, URL and commit of each submodule that `.gitmodules` names and the tree has.
//! Invariant: a commit without `.gitmodules` costs one lookup.
//! Source: REND-038 (`util/git/client.go` `Submodule`).

use std::collections::HashMap;
use std::path::Path;

use git2::{ObjectType, Oid, Repository, TreeWalkMode, TreeWalkResult};

use super::error::Error;

/// A submodule as its parent names it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Link {
    /// Where it belongs, from the root of its parent.
    pub path: String,
    /// URL as `.gitmodules` has it, perhaps relative.
    pub url: String,
    /// Commit that the parent wants.
    pub commit: String,
}

/// The submodules of a commit; those of submodules are not looked for. Blocking.
pub fn of(bare: &Path, commit: &str) -> Result<Vec<Link>, Error> {
    let read = || -> Result<Vec<Link>, git2::Error> {
        let repo = Repository::open_bare(bare)?;
        let tree = repo.find_commit(Oid::from_str(commit)?)?.tree()?;
        let Some(entry) = tree.get_name(".gitmodules") else { return Ok(Vec::new()) };
        let text = repo.find_blob(entry.id())?;
        let urls = parse(&String::from_utf8_lossy(text.content()));
        let mut links = Vec::new();
        tree.walk(TreeWalkMode::PreOrder, |folder, entry| {
            if entry.kind() == Some(ObjectType::Commit) {
                let path = format!("{folder}{}", entry.name().unwrap_or_default());
                let url = urls.get(&path).cloned();
                links.extend(url.map(|url| Link { path, url, commit: entry.id().to_string() }));
            }
            TreeWalkResult::Ok
        })?;
        Ok(links)
    };
    read().map_err(|error| Error::objects(&error))
}

/// URLs by path, from the text of `.gitmodules`.
fn parse(text: &str) -> HashMap<String, String> {
    let mut found = HashMap::new();
    let (mut path, mut url) = (None, None);
    for line in text.lines().map(str::trim).chain(["["]) {
        if line.starts_with('[') {
            if let (Some(path), Some(url)) = (path.take(), url.take()) {
                found.insert(path, url);
            }
            continue;
        }
        let Some((key, value)) = line.split_once('=') else { continue };
        let value = value.trim().trim_matches('"').to_owned();
        match key.trim() {
            "path" => path = Some(value),
            "url" => url = Some(value),
            _ => {}
        }
    }
    found
}
