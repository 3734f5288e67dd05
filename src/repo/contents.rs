//! Folders and files of a commit, read from the object database: nothing is checked out.
//!
//! In:  a commit, its submodules, and which files are wanted.
//! Out: paths of folders in the order of a walk of the disk; contents of files by path.
//! Invariant: a link is followed inside the repository only; one that leaves it is an error, and so is a file that cannot
//! be read: no answer is half an answer.
//! Source: SET-032, SET-037 (`reposerver/repository/repository.go` `GetGitDirectories`, `GetGitFiles`).

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use git2::{ObjectType, Oid, Repository, Tree};

use super::checkout::Submodule;
use super::error::Error;
use super::links;

/// Mode of a link in a Git tree.
const LINK: i32 = 0o120_000;
/// As many links as the kernel follows.
const MAX_LINKS: usize = 40;

/// A commit, and the commits of its submodules.
pub struct Contents {
    /// Bare repository.
    pub bare: PathBuf,
    /// Full SHA.
    pub commit: String,
    /// Submodules, outer ones first; none when they are not looked into.
    pub submodules: Vec<Submodule>,
}

/// An entry of a tree while it is walked.
struct Entry {
    name: String,
    id: Oid,
    kind: Option<ObjectType>,
    mode: i32,
}

/// What a walk is told of each entry: its path, its kind and mode, and what it is in which repository. The answer says
/// whether a folder is entered.
type Visit<'a> = dyn FnMut(&str, &Entry, &Repository, &Tree<'_>) -> Result<bool, Error> + 'a;

impl Contents {
    /// Paths of all folders whose names and whose parents' names do not begin with a dot; submodules are folders. Blocking.
    pub fn folders(&self) -> Result<Vec<String>, Error> {
        let mut found = Vec::new();
        self.walk(&mut |path, entry, _, _| {
            let is_folder = matches!(entry.kind, Some(ObjectType::Tree | ObjectType::Commit));
            let is_seen = is_folder && !entry.name.starts_with('.');
            if is_seen {
                found.push(path.to_owned());
            }
            Ok(is_seen)
        })?;
        Ok(found)
    }

    /// Contents of the files that are wanted. Blocking.
    pub fn files(&self, wanted: &dyn Fn(&str) -> bool) -> Result<BTreeMap<String, Vec<u8>>, Error> {
        let mut found = BTreeMap::new();
        self.walk(&mut |path, entry, repo, root| {
            if entry.kind == Some(ObjectType::Blob) && wanted(path) {
                let content = match entry.mode {
                    LINK => linked(repo, root, path, entry.id)?,
                    _ => blob(repo, entry.id)?,
                };
                found.insert(path.to_owned(), content);
            }
            Ok(true)
        })?;
        Ok(found)
    }

    fn walk(&self, visit: &mut Visit<'_>) -> Result<(), Error> {
        self.walk_commit((&self.bare, &self.commit), "", visit)
    }

    fn walk_commit(&self, (bare, commit): (&Path, &str), place: &str, visit: &mut Visit<'_>) -> Result<(), Error> {
        let git = |error: git2::Error| Error::objects(&error);
        let repo = Repository::open_bare(bare).map_err(git)?;
        let oid = Oid::from_str(commit).map_err(git)?;
        let root = repo.find_commit(oid).and_then(|commit| commit.tree()).map_err(git)?;
        self.walk_tree(&repo, (&root, &root), place, visit)
    }

    fn walk_tree(
        &self,
        repo: &Repository,
        (root, tree): (&Tree<'_>, &Tree<'_>),
        place: &str,
        visit: &mut Visit<'_>,
    ) -> Result<(), Error> {
        for entry in entries(tree) {
            let path = if place.is_empty() { entry.name.clone() } else { format!("{place}/{}", entry.name) };
            if !visit(&path, &entry, repo, root)? {
                continue;
            }
            match entry.kind {
                Some(ObjectType::Tree) => {
                    let below = repo.find_tree(entry.id).map_err(|error| Error::objects(&error))?;
                    self.walk_tree(repo, (root, &below), &path, visit)?;
                }
                Some(ObjectType::Commit) => {
                    if let Some(module) = self.submodules.iter().find(|module| module.path == path) {
                        self.walk_commit((&module.bare, &module.commit), &path, visit)?;
                    }
                }
                _ => {}
            }
        }
        Ok(())
    }
}

/// Entries by name: Git sorts folders as if their names ended in a slash, a walk of the disk does not.
fn entries(tree: &Tree<'_>) -> Vec<Entry> {
    let mut all: Vec<Entry> = tree
        .iter()
        .map(|entry| Entry {
            name: String::from_utf8_lossy(entry.name_bytes()).into_owned(),
            id: entry.id(),
            kind: entry.kind(),
            mode: entry.filemode(),
        })
        .collect();
    all.sort_by(|a, b| a.name.cmp(&b.name));
    all
}

fn blob(repo: &Repository, id: Oid) -> Result<Vec<u8>, Error> {
    repo.find_blob(id).map(|blob| blob.content().to_vec()).map_err(|error| Error::objects(&error))
}

/// The content of the file that a link leads to.
fn linked(repo: &Repository, root: &Tree<'_>, path: &str, id: Oid) -> Result<Vec<u8>, Error> {
    let (mut at, mut id) = (path.to_owned(), id);
    for _ in 0..MAX_LINKS {
        let target = String::from_utf8_lossy(&blob(repo, id)?).into_owned();
        let folder = at.rsplit_once('/').map_or("", |(folder, _)| folder);
        if links::leaves_root(folder, &target) {
            return Err(Error::OutOfBoundsLink(path.to_owned()));
        }
        at = joined(folder, &target);
        let entry = root.get_path(Path::new(&at)).map_err(|_| dangling(path))?;
        id = entry.id();
        match (entry.kind(), entry.filemode()) {
            (Some(ObjectType::Blob), LINK) => {}
            (Some(ObjectType::Blob), _) => return blob(repo, id),
            _ => break,
        }
    }
    Err(dangling(path))
}

fn dangling(path: &str) -> Error {
    Error::Cache(format!("{path}: the link does not lead to a file of the repository"))
}

/// A relative path from a folder, without dots.
fn joined(folder: &str, target: &str) -> String {
    let mut parts: Vec<&str> = Vec::new();
    for part in folder.split('/').chain(target.split('/')) {
        match part {
            "" | "." => {}
            ".." => drop(parts.pop()),
            _ => parts.push(part),
        }
    }
    parts.join("/")
}

#[cfg(test)]
mod tests {
    use git2::{IndexEntry, IndexTime, Signature};

    use super::*;

    /// A commit in a bare repository: files by path, links by a target that begins with `->`.
    fn contents(dir: &Path, files: &[(&str, &str)]) -> Contents {
        let repo = Repository::init_bare(dir).unwrap();
        let mut index = git2::Index::new().unwrap();
        for (path, text) in files {
            let (mode, text) = text.strip_prefix("->").map_or((0o100_644, *text), |target| (0o120_000, target));
            let zero = IndexTime::new(0, 0);
            index
                .add(&IndexEntry {
                    ctime: zero,
                    mtime: zero,
                    dev: 0,
                    ino: 0,
                    mode,
                    uid: 0,
                    gid: 0,
                    file_size: 0,
                    id: repo.blob(text.as_bytes()).unwrap(),
                    flags: 0,
                    flags_extended: 0,
                    path: path.as_bytes().to_vec(),
                })
                .unwrap();
        }
        let tree = repo.find_tree(index.write_tree_to(&repo).unwrap()).unwrap();
        let by = Signature::now("a", "a@example.com").unwrap();
        let commit = repo.commit(None, &by, &by, "one", &tree, &[]).unwrap().to_string();
        Contents { bare: dir.to_owned(), commit, submodules: Vec::new() }
    }

    #[test]
    fn folders_come_as_a_walk_of_the_disk_finds_them() {
        let dir = tempfile::tempdir().unwrap();
        let made = contents(
            dir.path(),
            &[("a/x", ""), ("a/.hid/y", ""), ("a-b/x", ""), ("a/b/c/x", ""), (".git2/b/x", ""), ("file", "")],
        );
        assert_eq!(made.folders().unwrap(), ["a", "a/b", "a/b/c", "a-b"]);
    }

    #[test]
    fn files_are_read_and_links_followed_inside() {
        let dir = tempfile::tempdir().unwrap();
        let made = contents(dir.path(), &[("a/x", "one"), ("b/l", "->../a/m"), ("a/m", "->x"), ("c", "two")]);
        let found = made.files(&|path| path.contains('/')).unwrap();
        let texts: Vec<(&str, &[u8])> = found.iter().map(|(path, text)| (path.as_str(), text.as_slice())).collect();
        assert_eq!(texts, [("a/m", &b"one"[..]), ("a/x", b"one"), ("b/l", b"one")]);
    }

    #[test]
    fn a_link_that_leaves_the_repository_or_leads_nowhere_is_an_error() {
        for (target, text) in
            [("../../etc/passwd", "out-of-bounds"), ("/etc/passwd", "out-of-bounds"), ("no", "does not lead")]
        {
            let dir = tempfile::tempdir().unwrap();
            let made = contents(dir.path(), &[("a/l", &format!("->{target}"))]);
            let error = made.files(&|_| true).unwrap_err();
            assert!(error.to_string().contains(text), "{error}");
        }
    }
}
