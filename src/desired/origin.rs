//! Where a source's files come from: a Git repository, a Helm repository or an OCI registry.
//!
//! In:  a source and a revision.
//! Out: the revision resolved to a commit, chart version or digest; the files of that revision on disk.
//! Invariant: the files stay on disk as long as their [`Tree`] lives, and nobody writes to them.
//! Source: REND-002, REND-014 to REND-039, REND-069 to REND-082 (`reposerver/repository/repository.go` `runRepoOperation`).

use std::path::{Path, PathBuf};
use std::time::Duration;

use super::error::Error;
use super::inputs::Inputs;
use super::local::Local;
use super::{Desired, access};
use crate::api::ApplicationSource;
use crate::charts::{self, Folder};
use crate::repo::{self, Checkout, RepoAccess, Revision};

/// The files of a source at one revision.
pub struct Tree {
    /// Folder that holds them; read only.
    pub root: PathBuf,
    /// Full SHA, chart version or digest.
    pub revision: String,
    /// Keeps the files on disk.
    _held: (Option<Checkout>, Option<Folder>),
}

/// Why a source has no revision or no files.
#[derive(Debug, Clone, thiserror::Error)]
pub enum Failure {
    /// The Git repository failed.
    #[error(transparent)]
    Git(#[from] repo::Error),
    /// The repository's Secret cannot be read.
    #[error("{0}")]
    Access(Box<Error>),
    /// The chart repository or registry failed.
    #[error(transparent)]
    Chart(#[from] charts::Error),
    /// A source refers to another that cannot be used.
    #[error("{0}")]
    Reference(String),
}

impl From<Error> for Failure {
    fn from(error: Error) -> Self {
        Self::Access(Box::new(error))
    }
}

impl Failure {
    /// The text with the envelope of Argo CD's repo server.
    pub fn envelope(&self) -> String {
        match self {
            Self::Git(error) => error.envelope(),
            Self::Access(error) => error.to_string(),
            Self::Chart(error) => error.envelope(),
            Self::Reference(text) => format!("rpc error: code = Unknown desc = {text}"),
        }
    }
}

/// What kind of repository a source names; a scheme counts before a chart (REND-002).
enum Kind {
    Git,
    Helm,
    Oci,
}

fn kind(source: &ApplicationSource) -> Kind {
    if source.is_oci() {
        Kind::Oci
    } else if source.is_helm() {
        Kind::Helm
    } else {
        Kind::Git
    }
}

impl Desired {
    /// How a source's Git repository is reached: on this machine, or on its server.
    pub(super) fn access(&self, inputs: &Inputs<'_>, source: &ApplicationSource) -> Result<RepoAccess, Error> {
        match self.locals.get(&source.repo_url) {
            Some(Local::Git(folder)) => Ok(RepoAccess::anonymous(folder.to_string_lossy())),
            _ => access::of(inputs, source),
        }
    }

    /// The commit, chart version or digest that a revision text names now, or named at most `max_age` ago.
    pub(super) async fn resolve(
        &self,
        inputs: &Inputs<'_>,
        source: &ApplicationSource,
        (text, max_age): (&str, Duration),
    ) -> Result<String, Failure> {
        if let Some(Local::Folder(_)) = self.locals.get(&source.repo_url) {
            return Ok(if text.is_empty() { "HEAD".to_owned() } else { text.to_owned() });
        }
        match kind(source) {
            Kind::Git => {
                let _turn = self.listings.acquire().await.map_err(|error| Failure::Reference(error.to_string()))?;
                let revision = Revision { text, tag_prefix: &source.tag_prefix, max_age };
                Ok(self.store.resolve(&self.access(inputs, source)?, revision).await?)
            }
            Kind::Helm | Kind::Oci => self.resolve_chart(inputs, source, (text, max_age)).await,
        }
    }

    /// The files of a resolved revision.
    pub(super) async fn tree(
        &self,
        inputs: &Inputs<'_>,
        source: &ApplicationSource,
        revision: &str,
    ) -> Result<Tree, Failure> {
        if let Some(Local::Folder(root)) = self.locals.get(&source.repo_url) {
            if !self.options.store.allow_links_out {
                check_links(root)?;
            }
            return Ok(Tree { root: root.clone(), revision: revision.to_owned(), _held: (None, None) });
        }
        match kind(source) {
            Kind::Git => {
                let access = self.access(inputs, source)?;
                let commit = self.store.fetch(&access, revision).await?;
                let checkout = self.store.checkout(&access, &commit).await?;
                Ok(Tree { root: checkout.root.clone(), revision: commit, _held: (Some(checkout), None) })
            }
            Kind::Helm | Kind::Oci => {
                let folder = self.chart(inputs, source, revision).await?;
                let (root, revision) = (folder.root.clone(), revision.to_owned());
                Ok(Tree { root, revision, _held: (None, Some(folder)) })
            }
        }
    }
}

/// Refuses a folder with a link that leads out of it, as a commit with such a link is refused.
fn check_links(root: &Path) -> Result<(), Failure> {
    match charts::links::first_out_of_bounds(root) {
        Ok(None) => Ok(()),
        Ok(Some(link)) => Err(repo::Error::OutOfBoundsLink(link).into()),
        Err(error) => Err(Failure::Reference(format!("cannot read {}: {error}", root.display()))),
    }
}
