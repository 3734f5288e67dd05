//! Questions to Git repositories.
//!
//! In:  repository, revision, project.
//! Out: folders and files of one commit, read from the shared bare repository.
//! Invariant: all questions of one look at a set about one repository and revision are answered from one commit.
//! Source: SET-031, SET-032, SET-037, SET-039 (`applicationset/services/repo_service.go`,
//! `reposerver/repository/repository.go` `GetGitDirectories`, `GetGitFiles`).

use std::collections::{BTreeMap, HashMap};

use crate::appset::{QueryError, Stage};
use crate::controller::config::Config;
use crate::controller::context::Context;
use crate::desired::Anew;
use crate::repo::{RepoAccess, redacted};

/// The commits that one look at a set found.
pub struct Commits<'a> {
    ctx: &'a Context,
    config: &'a Config,
    anew: Anew,
    /// By repository, revision and project.
    known: HashMap<[String; 3], Result<At, QueryError>>,
}

/// A repository at a commit.
#[derive(Clone)]
struct At {
    access: RepoAccess,
    commit: String,
}

/// Where a question looks.
#[derive(Clone, Copy)]
pub struct Place<'a> {
    /// Repository URL.
    pub repo_url: &'a str,
    /// Branch, tag or commit.
    pub revision: &'a str,
    /// Project whose credentials count; empty for none.
    pub project: &'a str,
}

impl<'a> Commits<'a> {
    /// Nothing is known yet.
    pub fn new(ctx: &'a Context, config: &'a Config, anew: Anew) -> Self {
        Self { ctx, config, anew, known: HashMap::new() }
    }

    /// Paths of all folders.
    pub async fn folders(&mut self, place: Place<'_>) -> Result<Vec<String>, QueryError> {
        let at = self.at(place, "").await?;
        let store = self.ctx.desired.store();
        let found = store.folders(&at.access, &at.commit, self.submodules()).await;
        found.map_err(|error| asked(format!("unable to checkout git repo {}", checkout(place, &at, "", &error))))
    }

    /// Contents of the files that are wanted, by path.
    pub async fn files(
        &mut self,
        place: Place<'_>,
        (pattern, wanted): (&str, impl Fn(&str) -> bool + Send + 'static),
        submodules: bool,
    ) -> Result<BTreeMap<String, Vec<u8>>, QueryError> {
        let at = self.at(place, pattern).await?;
        let store = self.ctx.desired.store();
        let found = store.files(&at.access, (&at.commit, submodules && self.submodules()), wanted).await;
        found.map_err(|error| asked(format!("unable to read files. repo {}", checkout(place, &at, pattern, &error))))
    }

    fn submodules(&self) -> bool {
        self.ctx.parameters.application_sets.submodules
    }

    /// Whether a project trusts signed commits only.
    fn wants_verified_commits(&self, project: &str) -> bool {
        let found = self.config.projects.iter().find(|known| known.metadata.name == project);
        found.is_some_and(|project| {
            !project.spec.signature_keys.is_empty()
                || project.spec.source_integrity.as_ref().is_some_and(|of| !of.is_null())
        })
    }

    async fn at(&mut self, place: Place<'_>, pattern: &str) -> Result<At, QueryError> {
        let key = [place.repo_url, place.revision, place.project].map(str::to_owned);
        if let Some(known) = self.known.get(&key) {
            return known.clone();
        }
        let found = self.find(place, pattern).await;
        self.known.insert(key, found.clone());
        found
    }

    async fn find(&self, place: Place<'_>, pattern: &str) -> Result<At, QueryError> {
        let repository = self.config.repositories.get(place.repo_url, place.project);
        let repository = repository.map_err(|error| QueryError { stage: Stage::Setup, text: error.to_string() })?;
        let access = RepoAccess::new(&repository, self.config.repositories.trust());
        if self.wants_verified_commits(place.project) {
            return Err(asked(format!(
                "the project {} wants verified commits, which this build cannot verify",
                place.project
            )));
        }
        let desired = &self.ctx.desired;
        let commit = desired.commit(&access, place.revision, self.anew).await;
        let commit = commit.map_err(|error| asked(format!("unable to resolve git revision : {error}")))?;
        let fetched = desired.store().fetch(&access, &commit).await;
        let at = At { access, commit };
        let commit = fetched
            .map_err(|error| asked(format!("unable to checkout git repo {}", checkout(place, &at, pattern, &error))))?;
        Ok(At { commit, ..at })
    }
}

/// `<repo> with revision <commit> pattern <pattern>: <why>`.
fn checkout(place: Place<'_>, at: &At, pattern: &str, error: &crate::repo::Error) -> String {
    let pattern = if pattern.is_empty() { String::new() } else { format!(" pattern {pattern}") };
    format!("{} with revision {}{pattern}: {error}", redacted(place.repo_url), at.commit)
}

fn asked(text: String) -> QueryError {
    QueryError { stage: Stage::Asked, text: format!("rpc error: code = Internal desc = {text}") }
}
