//! Git repositories on disk: resolves revisions, fetches each commit once, and hands out checked-out trees.
//!
//! In:  a [`RepoAccess`] and a revision as users write it.
//! Out: a commit SHA, and a [`Checkout`] that renderers read.
//! Invariant: one bare repository per normalised URL whatever the number of apps; at most one listing and one fetch per
//! repository run at a time, and a caller never gets a listing that began before it asked (unless it allows an age).
//! Source: REND-001 to REND-046 (`reposerver/repository/repository.go` `runRepoOperation`, `util/git/client.go`).
//!
//! ```text
//! cache dir/
//!   git/<hash>.git        bare repository, kept for ever
//!   run-<random>/         of this process; removed by the next one
//!     lock
//!     trees/<hash>-<sha>  a tree, complete as soon as it has this name
//!     scratch/            private copies of renders
//! ```

mod access;
mod attempt;
mod authority;
mod changes;
mod checkout;
mod contents;
mod environment;
mod error;
mod folder;
mod git;
pub mod github;
mod leftovers;
mod lfs;
mod links;
mod list_failure;
mod login;
mod refs;
mod silence;
mod store;
mod submodules;

#[cfg(test)]
mod tests;

pub use access::RepoAccess;
pub use authority::redacted;
pub use checkout::Checkout;
pub use environment::Environment;
pub use error::{Error, Failure};
pub use git::Timeouts;
pub use links::leaves_root;
pub use refs::is_sha;
pub use store::{Options, Revision, Store};
