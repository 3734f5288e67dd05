//! Trees of commits as directories.
//!
//! In:  a bare repository that holds the commit.
//! Out: a directory with the whole tree, shared by every render of that commit and only read by them.
//! Invariant: a tree has its final name only when it is complete; a tree that is in use is never removed.
//! Source: REND-009, REND-034 (`util/git/client.go` `Checkout`).

use std::collections::HashMap;
use std::fs;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};

use git2::build::{CheckoutBuilder, TreeUpdateBuilder};
use git2::{Oid, Repository, Tree};

use super::error::Error;
use super::lfs::LargeFile;
use super::links;

/// A checked-out tree. It stays on disk at least as long as one clone of this value lives.
#[derive(Debug, Clone)]
pub struct Checkout {
    /// Root of the tree; read-only by agreement.
    pub root: PathBuf,
    /// Full SHA of the commit.
    pub commit: String,
    /// Counted by the store; nobody reads it.
    _lease: Arc<()>,
}

/// The trees of one process, oldest use first out.
#[derive(Debug, Default)]
pub struct Trees {
    slots: Mutex<HashMap<PathBuf, Arc<Slot>>>,
}

#[derive(Debug, Default)]
struct Slot {
    /// Held while the tree is written, so that it is written once.
    ready: tokio::sync::Mutex<bool>,
    use_: Mutex<Use>,
}

#[derive(Debug, Default)]
struct Use {
    lease: Arc<()>,
    last: u64,
}

/// What to check out, and how.
#[derive(Debug, Clone)]
pub struct Wanted {
    /// Bare repository.
    pub bare: PathBuf,
    /// Full SHA.
    pub commit: String,
    /// Where the tree goes.
    pub root: PathBuf,
    /// Submodules, outer ones first.
    pub submodules: Vec<Submodule>,
    /// Files whose content was fetched beside the repository.
    pub large_files: Vec<LargeFile>,
    /// Whether links out of the repository are accepted.
    pub allow_links_out: bool,
    /// Trees that are kept when nobody uses them.
    pub keep: usize,
}

/// A submodule whose commit is present.
#[derive(Debug, Clone)]
pub struct Submodule {
    /// Bare repository.
    pub bare: PathBuf,
    /// Full SHA.
    pub commit: String,
    /// Where it belongs in the tree.
    pub path: String,
}

impl Trees {
    /// The tree, written by the first caller that asks for it.
    pub async fn get(&self, wanted: Wanted) -> Result<Checkout, Error> {
        loop {
            let slot = lock(&self.slots).entry(wanted.root.clone()).or_default().clone();
            if let Some(outcome) = self.get_in(&slot, &wanted).await {
                return outcome;
            }
        }
    }

    /// The tree of a slot; `None` when the slot was given up while its turn was waited for.
    async fn get_in(&self, slot: &Arc<Slot>, wanted: &Wanted) -> Option<Result<Checkout, Error>> {
        let checkout = Checkout { root: wanted.root.clone(), commit: wanted.commit.clone(), _lease: self.lease(slot) };
        let mut ready = slot.ready.lock().await;
        if !*ready {
            // Two slots of one tree would be written at the same time.
            if !lock(&self.slots).get(&wanted.root).is_some_and(|current| Arc::ptr_eq(current, slot)) {
                return None;
            }
            let wanted = wanted.clone();
            let (keep, root) = (wanted.keep, wanted.root.clone());
            let write = tokio::task::spawn_blocking(move || write(&wanted));
            let written = write.await.map_err(|error| Error::Cache(error.to_string())).flatten();
            if let Err(error) = written {
                // A tree that cannot be written does not count among those that are kept.
                lock(&self.slots).retain(|path, other| *path != root || !Arc::ptr_eq(other, slot));
                return Some(Err(error));
            }
            *ready = true;
            drop(ready);
            self.evict(keep).await;
        }
        Some(Ok(checkout))
    }

    fn lease(&self, slot: &Slot) -> Arc<()> {
        let now = lock(&self.slots).values().map(|slot| lock(&slot.use_).last).max().unwrap_or(0) + 1;
        let mut use_ = lock(&slot.use_);
        use_.last = now;
        use_.lease.clone()
    }

    /// Removes the trees that were not used for longest, as many as are too many.
    async fn evict(&self, keep: usize) {
        let gone: Vec<PathBuf> = {
            let mut slots = lock(&self.slots);
            let mut idle: Vec<(u64, PathBuf)> = slots
                .iter()
                .filter(|(_, slot)| Arc::strong_count(slot) == 1 && Arc::strong_count(&lock(&slot.use_).lease) == 1)
                .map(|(root, slot)| (lock(&slot.use_).last, root.clone()))
                .collect();
            idle.sort_unstable();
            let too_many = slots.len().saturating_sub(keep).min(idle.len());
            idle.truncate(too_many);
            // The name is freed under the lock, so that a new caller of the same tree writes it afresh.
            let moved = idle.into_iter().filter_map(|(_, root)| {
                slots.remove(&root);
                let aside = root.with_extension("old");
                fs::rename(&root, &aside).is_ok().then_some(aside)
            });
            moved.collect()
        };
        if !gone.is_empty() {
            let removal =
                tokio::task::spawn_blocking(move || gone.iter().for_each(|root| drop(fs::remove_dir_all(root))));
            // A tree that cannot be removed now is removed with the run folder.
            let _ = removal.await;
        }
    }
}

fn lock<T>(mutex: &Mutex<T>) -> std::sync::MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Writes the tree beside its place and moves it there.
fn write(wanted: &Wanted) -> Result<(), Error> {
    if wanted.root.exists() {
        return Ok(());
    }
    let parent = wanted.root.parent().unwrap_or(Path::new("/"));
    let temporary =
        tempfile::tempdir_in(parent).map_err(|error| Error::disk("making a folder for the checkout", &error))?;
    fill(wanted, temporary.path())?;
    fs::rename(temporary.path(), &wanted.root).map_err(|error| Error::disk("naming the checkout", &error))?;
    // The folder has moved; there is nothing left to remove under the old name.
    let _ = temporary.keep();
    Ok(())
}

/// Fills the directory, unless a link leaves the tree.
fn fill(wanted: &Wanted, into: &Path) -> Result<(), Error> {
    let own = Submodule { bare: wanted.bare.clone(), commit: wanted.commit.clone(), path: String::new() };
    for part in [&own].into_iter().chain(&wanted.submodules) {
        let objects = |error: git2::Error| Error::objects(&error);
        let repo = Repository::open_bare(&part.bare).map_err(objects)?;
        let commit = Oid::from_str(&part.commit).and_then(|id| repo.find_commit(id)).map_err(objects)?;
        let tree = commit.tree().map_err(objects)?;
        let scan = links::scan(&repo, &tree, &part.path).map_err(objects)?;
        if let (Some(link), false) = (scan.out_of_bounds, wanted.allow_links_out) {
            return Err(Error::OutOfBoundsLink(link));
        }
        let target = into.join(&part.path);
        // A bare repository cannot check out submodules; they are filled in as trees of their own.
        let tree = without(&repo, tree, &scan.submodules).map_err(objects)?;
        let mut how = CheckoutBuilder::new();
        how.target_dir(&target).force().update_index(false).recreate_missing(true);
        repo.checkout_tree(tree.as_object(), Some(&mut how)).map_err(objects)?;
        for path in &scan.submodules {
            make_folder(into, &target.join(path))?;
        }
    }
    wanted.large_files.iter().try_for_each(|file| file.fill(&wanted.bare, into))
}

/// Makes the folder of a submodule; it must not lie behind a link that leads out of the checkout.
fn make_folder(root: &Path, folder: &Path) -> Result<(), Error> {
    let disk = |error: std::io::Error| Error::disk("making the folder of a submodule", &error);
    fs::create_dir_all(folder).map_err(disk)?;
    let (root, real) = (fs::canonicalize(root).map_err(disk)?, fs::canonicalize(folder).map_err(disk)?);
    if real.starts_with(&root) { Ok(()) } else { Err(Error::OutOfBoundsLink(folder.display().to_string())) }
}

/// The tree without the entries at the paths.
fn without<'a>(repo: &'a Repository, tree: Tree<'a>, paths: &[String]) -> Result<Tree<'a>, git2::Error> {
    if paths.is_empty() {
        return Ok(tree);
    }
    let mut update = TreeUpdateBuilder::new();
    for path in paths {
        update.remove(path);
    }
    repo.find_tree(update.create_updated(repo, &tree)?)
}
