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

use git2::build::CheckoutBuilder;
use git2::{Oid, Repository};

use super::error::Error;
use super::links;

/// A checked-out tree. It stays on disk at least as long as one clone of this value lives.
#[derive(Debug, Clone)]
pub struct Checkout {
    /// Root of the tree; read-only by agreement.
    pub root: PathBuf,
    /// Full SHA of the commit.
    pub commit: String,
    lease: Arc<()>,
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
    /// Whether links out of the repository are accepted.
    pub allow_links_out: bool,
    /// Trees that are kept when nobody uses them.
    pub keep: usize,
}

impl Trees {
    /// The tree, written by the first caller that asks for it.
    pub async fn get(&self, wanted: Wanted) -> Result<Checkout, Error> {
        let slot = lock(&self.slots).entry(wanted.root.clone()).or_default().clone();
        let checkout = Checkout { root: wanted.root.clone(), commit: wanted.commit.clone(), lease: self.lease(&slot) };
        let mut ready = slot.ready.lock().await;
        if !*ready {
            let keep = wanted.keep;
            let write = tokio::task::spawn_blocking(move || write(&wanted));
            write.await.map_err(|error| Error::Cache(error.to_string()))??;
            *ready = true;
            drop(ready);
            self.evict(keep).await;
        }
        Ok(checkout)
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
            let removal = tokio::task::spawn_blocking(move || gone.iter().for_each(|root| drop(fs::remove_dir_all(root))));
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
    let filled = fill(wanted, temporary.path()).map_err(|error| Error::objects(&error))?;
    if let Some(link) = filled {
        return Err(Error::OutOfBoundsLink(link));
    }
    fs::rename(temporary.path(), &wanted.root).map_err(|error| Error::disk("naming the checkout", &error))?;
    // The folder has moved; there is nothing left to remove under the old name.
    let _ = temporary.keep();
    Ok(())
}

/// Fills the directory, unless a link leaves the tree; then that link is returned.
fn fill(wanted: &Wanted, into: &Path) -> Result<Option<String>, git2::Error> {
    let repo = Repository::open_bare(&wanted.bare)?;
    let commit = repo.find_commit(Oid::from_str(&wanted.commit)?)?;
    let tree = commit.tree()?;
    if !wanted.allow_links_out {
        if let Some(link) = links::first_out_of_bounds(&repo, &tree)? {
            return Ok(Some(link));
        }
    }
    let mut how = CheckoutBuilder::new();
    how.target_dir(into).force().update_index(false).recreate_missing(true);
    repo.checkout_tree(tree.as_object(), Some(&mut how))?;
    Ok(None)
}
