//! Charts and other artefacts from HTTP chart repositories and OCI registries, unpacked on disk.
//!
//! In:  a [`ChartAccess`] of plain data, and a version or constraint as users write it.
//! Out: an exact version or digest, and a [`Folder`] that renderers read.
//! Invariant: credentials go to their own host only (unless the source passes them on), and never into arguments, logs, errors
//! or cached files. At most one download per index or archive runs at a time; whoever waited for it shares the outcome.
//! Source: REND-069 to REND-082 (`util/helm/client.go`, `util/oci/client.go`, oras-go 2.6.1, Helm 4.2.1 `pkg/downloader`).
//!
//! ```text
//! resolve: index.yaml | tags | HEAD manifest → gocompat::semver → version or digest
//! fetch:   index entry | manifest → archive on disk (shared by all applications) → folder for one render
//!
//! cache dir/charts/
//!   salt              makes the names below unguessable
//!   indexes/<hash>    index of a repository, with what its server needs to say "unchanged"
//!   archives/<hash>.* archives, complete as soon as they have this name; the ones longest unused go first
//! ```

mod access;
mod archive;
mod cache;
mod chart;
mod command;
mod error;
mod index;
pub mod links;
mod logins;
mod oci;
mod pull;
mod registry;
mod shared;
mod store;

#[cfg(test)]
mod tests;

pub use access::ChartAccess;
pub use error::Error;
pub use logins::{host_of_registry, log_in, repository_is_there};
pub use oci::MediaTypes;
pub use store::{Folder, Options, Store, Wanted};
