//! Sources to manifests: resolve, fetch, check out, render, remember.
//!
//! In:  [`Inputs`]: an application's sources, the revisions wanted, and every setting that rendering depends on.
//! Out: manifests per source, or an [`Error`] in Argo CD's words.
//! Invariant: all sources of one repository and revision text come from one commit; a rendering is looked up by everything
//! it depends on, so that a restart or a live change renders nothing again, and a hard refresh renders anew.
//! Source: APP-070 to APP-073, APP-135 to APP-138, REND-001 to REND-013, REND-213 to REND-221
//! (`controller/state.go` `GetRepoObjs`, `reposerver/repository/repository.go` `GenerateManifest`).
//!
//! ```text
//! sources → commits (revision text → commit, once) → key → rendered (known?) → origin (files) → request → render → rendered
//! ```

mod access;
mod changes;
mod charts;
mod commits;
mod error;
mod failures;
mod inputs;
mod key;
mod local;
mod options;
mod origin;
mod rendered;
mod request;
#[cfg(test)]
mod tests;
mod tools;

use std::cell::RefCell;
use std::path::Path;
use std::time::Duration;

use serde::{Deserialize, Serialize};
use serde_json::Value;
use tokio::sync::Semaphore;

use crate::gocompat::json;
use crate::render;
use crate::repo::{self, RepoAccess, Revision, Store};
use changes::At;
use commits::Commits;
pub use error::Error;
use error::Place;
use failures::Failures;
pub use inputs::{Anew, ClusterFacts, Inputs};
pub use local::Locals;
pub use options::Options;
use rendered::Rendered;
use tools::Tools;

/// Manifests of one source.
#[derive(Debug, Serialize, Deserialize)]
pub struct SourceManifests {
    /// Rendered objects.
    pub manifests: Vec<Value>,
    /// Commit, chart version or digest.
    pub revision: String,
    /// `Directory`, `Helm`, `Kustomize`, or empty for a reference.
    pub source_type: String,
}

impl SourceManifests {
    /// Whether other sources take files from it, and it has no manifests of its own.
    pub fn is_only_referred_to(&self) -> bool {
        self.source_type.is_empty()
    }
}

/// Manifests of all sources.
#[derive(Debug)]
pub struct Manifests {
    /// In the order of the sources.
    pub sources: Vec<SourceManifests>,
    /// Whether a source may render to something else than at the last comparison; false when only commits came that do
    /// not concern it.
    pub may_have_changed: bool,
}

/// How long a rendering may hold a place that others wait for. Helm and kustomize need seconds, unless they wait for a
/// server.
const LONGEST_TURN: Duration = Duration::from_secs(10);
/// Renderings at once that may have outlasted their turn.
const SLOW: usize = 16;

/// Renders sources and remembers the results on disk.
pub struct Desired {
    store: Store,
    charts: crate::charts::Store,
    rendered: Rendered,
    /// Renderings at once: helm and kustomize are processes of 50 MiB each.
    turns: Semaphore,
    /// Renderings that go on without a place.
    slow: Semaphore,
    listings: Semaphore,
    locals: Locals,
    failures: RefCell<Failures>,
    options: Options,
    tools: Tools,
}

impl Desired {
    /// Uses a folder for repositories and rendered manifests.
    ///
    /// # Errors
    /// The folder cannot be made or written.
    pub fn new(dir: &Path, options: Options) -> std::io::Result<Self> {
        let store = Store::with_options(dir, options.store)?;
        Ok(Self {
            rendered: Rendered::new(dir.join("rendered"), options.rendered)?,
            charts: crate::charts::Store::new(dir, &store.scratch(), options.charts.clone())?,
            store,
            turns: Semaphore::new(options.parallel),
            slow: Semaphore::new(SLOW),
            listings: Semaphore::new(options.listings),
            locals: Locals::default(),
            failures: RefCell::new(Failures::new(options.pause)),
            tools: Tools::measure(),
            options,
        })
    }

    /// Takes some repositories from folders of this machine.
    pub fn with_locals(self, locals: Locals) -> Self {
        Self { locals, ..self }
    }

    /// The commit that a revision text of a Git repository names now; unless it is asked for anew, a listing of
    /// references may be a few seconds old.
    ///
    /// # Errors
    /// The server gave no listing, or nothing has that name.
    pub async fn commit(&self, repo: &RepoAccess, text: &str, anew: Anew) -> Result<String, repo::Error> {
        let turn = self.listings.acquire().await;
        let _turn = turn.map_err(|error| repo::Error::Cache(error.to_string()))?;
        let max_age = if anew == Anew::Nothing { commits::LISTING_AGE } else { Duration::ZERO };
        self.store.resolve(repo, Revision { text, max_age, ..Revision::default() }).await
    }

    /// The Git repositories, for who reads files without rendering them.
    pub fn store(&self) -> &Store {
        &self.store
    }

    /// Manifests of all sources, in the order of the sources.
    ///
    /// # Errors
    /// One source could not be rendered; half a desired state is never returned.
    pub async fn manifests(&self, inputs: &Inputs<'_>) -> Result<Manifests, Error> {
        let mut commits = Commits::new(self, inputs)?;
        let count = inputs.sources.len();
        let mut all = Manifests { sources: Vec::with_capacity(count), may_have_changed: false };
        for (index, source) in inputs.sources.iter().enumerate() {
            let place = Place { number: index + 1, count };
            let at = At { source, index, requested: inputs.requested(index), place };
            let evaluated = self.evaluate(&mut commits, at).await?;
            all.may_have_changed |= evaluated.may_have_changed;
            let found = self.source(&mut commits, At { requested: &evaluated.revision, ..at }).await?;
            if let Some(text) = found.manifests.iter().find_map(unreadable) {
                return Err(Error::Unmarshal { place, text });
            }
            all.sources.push(found);
        }
        Ok(all)
    }

    async fn source(&self, commits: &mut Commits<'_>, at: At<'_>) -> Result<SourceManifests, Error> {
        let At { source, requested, place, .. } = at;
        let inputs = commits.inputs();
        access::check(inputs, source)?;
        let revision = commits.resolve(source, requested).await.map_err(|error| place.generate(error.envelope()))?;
        if inputs.is_only_referred_to(source) {
            return Ok(SourceManifests { manifests: Vec::new(), revision, source_type: String::new() });
        }
        let refs = commits.refs(source).await.map_err(|error| place.generate(error.envelope()))?;
        let request = request::of(self, inputs, (source, requested, &revision));
        let request = render::Request { refs, ..request };
        let key = key::of(&request, &self.tools);
        if inputs.anew != Anew::Manifests {
            if let Some(known) = self.recall(&key) {
                return Ok(SourceManifests { revision, ..known });
            }
            if let Some(text) = self.failures.borrow_mut().recall(&key) {
                return Err(place.generate(text));
            }
        }
        self.render(commits, request, &key).await.map_err(|text| place.generate(text))
    }

    /// Renders a source whose revisions are resolved.
    async fn render(
        &self,
        commits: &Commits<'_>,
        mut request: render::Request,
        key: &str,
    ) -> Result<SourceManifests, String> {
        let tree = commits.tree(&request.source, &request.revision).await.map_err(|error| error.envelope())?;
        request.root.clone_from(&tree.root);
        if !request.has_multiple_sources {
            request.revision.clone_from(&tree.revision);
        }
        // The files of the references must stay until the renderer has read them.
        let _referred = commits.fill(&mut request.refs).await.map_err(|error| error.envelope())?;
        request.git_environment = commits.git_environment(&request.source).await.map_err(|error| error.envelope())?;
        let rendered = match self.in_turn(render::render(&request)).await {
            Ok(rendered) => rendered,
            Err(error) => {
                self.failures.borrow_mut().note(key, error.cached_envelope());
                return Err(error.envelope());
            }
        };
        self.failures.borrow_mut().forget(key);
        let result = SourceManifests {
            manifests: rendered.manifests,
            revision: request.revision,
            source_type: rendered.source_type.to_owned(),
        };
        self.remember(key, &result);
        Ok(result)
    }

    /// Waits for a place, and gives it back when the work takes so long that it must be waiting itself, for a chart
    /// server that hangs or the like: others render meanwhile.
    async fn in_turn<T>(&self, work: impl Future<Output = T>) -> T {
        // The semaphores are never closed.
        let place = self.turns.acquire().await.ok();
        let mut work = std::pin::pin!(work);
        if let Ok(done) = tokio::time::timeout(LONGEST_TURN, work.as_mut()).await {
            return done;
        }
        let Ok(_slow) = self.slow.try_acquire() else { return work.await };
        drop(place);
        work.await
    }

    fn recall(&self, key: &str) -> Option<SourceManifests> {
        serde_json::from_slice(&self.rendered.recall(key)?).ok()
    }

    fn remember(&self, key: &str, result: &SourceManifests) {
        if let Ok(bytes) = serde_json::to_vec(result) {
            self.rendered.remember(key, &bytes);
        }
    }
}

/// What Argo CD's controller says of an object that it cannot read back.
fn unreadable(object: &Value) -> Option<String> {
    let has_kind = object.get("kind").and_then(Value::as_str).is_some_and(|kind| !kind.is_empty());
    (!has_kind).then(|| format!("Object 'Kind' is missing in '{}'", json::to_string(object)))
}
