//! The commits of one comparison: each repository and revision text is resolved once.
//!
//! In:  the sources of one application, and what others among them refer to.
//! Out: commits, and files of commits.
//! Invariant: equal repository and revision text give equal commits within one comparison, whatever is pushed meanwhile; all
//! revision texts of one repository are read from one listing.
//! Source: REND-173 to REND-183 (`reposerver/repository/repository.go` `resolveReferencedSources`).

use std::collections::{BTreeMap, HashMap};
use std::sync::Arc;
use std::time::{Duration, Instant};

use super::error::Error;
use super::inputs::{Anew, Inputs};
use super::origin::{Failure, Tree};
use super::{Desired, access};
use crate::api::ApplicationSource;
use crate::render::RefSource;
use crate::render::refs::{self, RefTarget};
use crate::repo::Environment;
use crate::settings::git_url;

/// How old a listing of references may be when nobody asked for a fresh one.
pub const LISTING_AGE: Duration = Duration::from_secs(10);

/// The commits of one comparison.
pub struct Commits<'a> {
    desired: &'a Desired,
    inputs: &'a Inputs<'a>,
    begun: Instant,
    targets: BTreeMap<String, RefTarget>,
    /// By normalised URL, chart, revision text and tag prefix.
    known: HashMap<[String; 4], String>,
}

impl<'a> Commits<'a> {
    /// Nothing is resolved yet.
    pub fn new(desired: &'a Desired, inputs: &'a Inputs<'a>) -> Result<Self, Error> {
        let targets = if inputs.multi { refs::targets(inputs.sources) } else { Ok(BTreeMap::new()) };
        let targets = targets.map_err(|error| Error::Refs(error.to_string()))?;
        for target in targets.values() {
            access::check_reference(inputs, &target.repo_url)?;
        }
        Ok(Self { desired, inputs, begun: Instant::now(), targets, known: HashMap::new() })
    }

    /// What the comparison is about.
    pub fn inputs(&self) -> &'a Inputs<'a> {
        self.inputs
    }

    /// The commit that a revision text names.
    pub async fn resolve(&mut self, source: &ApplicationSource, text: &str) -> Result<String, Failure> {
        let url = git_url::normalize(&source.repo_url);
        let key = [url, source.chart.clone(), text.to_owned(), source.tag_prefix.clone()];
        if let Some(commit) = self.known.get(&key) {
            return Ok(commit.clone());
        }
        // A listing made for an earlier source of this comparison is as fresh as anybody can ask for.
        let least = if self.inputs.anew == Anew::Nothing { LISTING_AGE } else { Duration::ZERO };
        let max_age = least.max(self.begun.elapsed());
        let commit = self.desired.resolve(self.inputs, source, (text, max_age)).await?;
        self.known.insert(key, commit.clone());
        Ok(commit)
    }

    /// What git children of kustomize log in with, where the source's repository has credentials.
    pub async fn git_environment(&self, source: &ApplicationSource) -> Result<Option<Arc<Environment>>, Failure> {
        let access = self.desired.access(self.inputs, source)?;
        if source.is_helm() || source.is_oci() || !access.has_settings() {
            return Ok(None);
        }
        Ok(Some(Arc::new(self.desired.store.environment(&access).await?)))
    }

    /// The files of a resolved revision.
    pub async fn tree(&self, source: &ApplicationSource, revision: &str) -> Result<Tree, Failure> {
        self.desired.tree(self.inputs, source, revision).await
    }

    /// The commits of all sources that a source refers to; their files are not there yet.
    pub async fn refs(&mut self, source: &ApplicationSource) -> Result<BTreeMap<String, RefSource>, Failure> {
        let mut found = self.no_refs();
        if !self.inputs.multi {
            return Ok(found);
        }
        let needed = refs::needed(source, &self.targets).map_err(|error| Failure::Reference(error.to_string()))?;
        for name in needed {
            let Some((index, referred)) = self.referred(&name) else { continue };
            let commit = self.resolve(referred, self.inputs.requested(index)).await.map_err(|error| {
                let repository = crate::repo::redacted(&referred.repo_url);
                tracing::warn!(reason = %error, repository, "Failed to resolve a referenced source");
                Failure::Reference(format!("failed to get git client for repo {repository}"))
            })?;
            if let Some(known) = found.get_mut(&name) {
                known.revision = commit;
            }
        }
        Ok(found)
    }

    /// Puts the files of resolved references in place. They stay as long as the returned trees live.
    pub async fn fill(&self, refs: &mut BTreeMap<String, RefSource>) -> Result<Vec<Tree>, Failure> {
        let mut trees = Vec::new();
        for (name, known) in refs.iter_mut().filter(|(_, known)| !known.revision.is_empty()) {
            let Some((_, referred)) = self.referred(name) else { continue };
            let tree = self.tree(referred, &known.revision).await?;
            known.root.clone_from(&tree.root);
            trees.push(tree);
        }
        Ok(trees)
    }

    /// Files that differ between two commits of a Git source.
    pub async fn changed_files(
        &self,
        source: &ApplicationSource,
        (then, now): (&str, &str),
    ) -> Result<Vec<String>, Failure> {
        let access = self.desired.access(self.inputs, source)?;
        Ok(self.desired.store.changed_files(&access, then, now).await?)
    }

    /// The revision of a source that the last comparison ended with; empty when there was none.
    pub fn synced(&self, index: usize) -> &'a str {
        let status = &self.inputs.app.status.sync;
        let synced = if self.inputs.multi { status.revisions.get(index) } else { Some(&status.revision) };
        synced.map_or("", String::as_str)
    }

    /// Whether any source can be referred to.
    pub fn has_references(&self) -> bool {
        !self.targets.is_empty()
    }

    /// All sources that can be referred to, none of them resolved.
    pub fn no_refs(&self) -> BTreeMap<String, RefSource> {
        let unresolved = |target: &RefTarget| RefSource {
            repo_url: target.repo_url.clone(),
            chart: target.chart.clone(),
            ..RefSource::default()
        };
        self.targets.iter().map(|(name, target)| (name.clone(), unresolved(target))).collect()
    }

    /// The source that a `$name` stands for.
    pub fn referred(&self, name: &str) -> Option<(usize, &'a ApplicationSource)> {
        let bare = name.strip_prefix('$')?;
        self.inputs.sources.iter().enumerate().find(|(_, source)| source.is_ref() && source.r#ref == bare)
    }
}
