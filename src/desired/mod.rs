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
mod commits;
mod error;
mod failures;
mod inputs;
mod key;
mod options;
mod origin;
mod rendered;
mod request;
mod tools;

use std::cell::RefCell;
use std::path::Path;

use serde::{Deserialize, Serialize};
use serde_json::Value;
use tokio::sync::Semaphore;

use crate::api::ApplicationSource;
use crate::render;
use crate::repo::Store;
use commits::Commits;
pub use error::Error;
use error::Place;
use failures::Failures;
pub use inputs::{Anew, ClusterFacts, Inputs};
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

/// Renders sources and remembers the results on disk.
pub struct Desired {
    store: Store,
    rendered: Rendered,
    /// Renderings at once: helm and kustomize are processes of 50 MiB each.
    turns: Semaphore,
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
        Ok(Self {
            rendered: Rendered::new(dir.join("rendered"), rendered::BOUNDS)?,
            store: Store::with_options(dir, options.store)?,
            turns: Semaphore::new(options.parallel),
            failures: RefCell::new(Failures::new(options.pause)),
            tools: Tools::measure(),
            options,
        })
    }

    /// Manifests of all sources, in the order of the sources.
    ///
    /// # Errors
    /// One source could not be rendered; half a desired state is never returned.
    pub async fn manifests(&self, inputs: &Inputs<'_>) -> Result<Vec<SourceManifests>, Error> {
        let mut commits = Commits::new(self, inputs)?;
        let mut all = Vec::with_capacity(inputs.sources.len());
        for (index, source) in inputs.sources.iter().enumerate() {
            let place = Place { number: index + 1, count: inputs.sources.len() };
            all.push(self.source(&mut commits, (source, inputs.requested(index)), place).await?);
        }
        Ok(all)
    }

    async fn source(
        &self,
        commits: &mut Commits<'_>,
        (source, requested): (&ApplicationSource, &str),
        place: Place,
    ) -> Result<SourceManifests, Error> {
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
        let _turn = self.turns.acquire().await.map_err(|error| error.to_string())?;
        let rendered = match render::render(&request).await {
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

    fn recall(&self, key: &str) -> Option<SourceManifests> {
        serde_json::from_slice(&self.rendered.recall(key)?).ok()
    }

    fn remember(&self, key: &str, result: &SourceManifests) {
        if let Ok(bytes) = serde_json::to_vec(result) {
            self.rendered.remember(key, &bytes);
        }
    }
}
