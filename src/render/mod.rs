//! From a checked-out source to manifests: directory, Jsonnet, Helm and Kustomize, with overrides, references and tracking.
//!
//! In:  a [`Request`] of plain data; tools found on `PATH`.
//! Out: the manifests in the tool's order, or an [`Error`] in Argo CD's words.
//! Invariant: the checkout is only read; a tool that writes gets a private copy. No path leaves the repository it is written
//! for. Half a result is never returned: a manifest that cannot be read fails the source.
//! Source: REND-083 to REND-212 (`reposerver/repository/repository.go` `GenerateManifests`).
//!
//! ```text
//! refs::check → paths::app_path → source_type::detect → directory | helm | kustomize → documents → postprocess
//! ```

mod build_env;
mod directory;
mod documents;
mod error;
mod helm;
mod json_syntax;
pub mod jsonnet;
mod kube_version;
mod kustomize;
mod paths;
mod postprocess;
pub mod refs;
mod renderer;
mod request;
mod source_schema;
mod source_type;
mod walk;
mod workspace;

#[cfg(test)]
mod tests;

use serde_json::Value;

pub use build_env::BuildEnv;
pub use error::Error;
pub use renderer::{Job, Renderer};
pub use request::{Enabled, HelmRepositories, KustomizeSettings, RefSource, Request};
use source_type::SourceType;

/// What a source rendered to.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Rendered {
    /// The manifests, in order, with tracking metadata.
    pub manifests: Vec<Value>,
    /// `Directory`, `Helm`, `Kustomize`, or empty for a source that is only referred to.
    pub source_type: &'static str,
}

/// What errors show instead of the folder of a checkout.
const SHOWN_ROOT: &str = "<path to cached source>";

/// What errors show instead of folders whose names are other ones each time.
const SHOWN_FOLDER: &str = "<dir>";

/// Renders one source.
///
/// # Errors
/// The source cannot be rendered; the text is for the application's conditions.
pub async fn render(request: &Request) -> Result<Rendered, Error> {
    render_with(request, &renderer::NoPlugin).await
}

/// As [`render`], with a renderer for sources of config management plugins.
///
/// # Errors
/// As [`render`].
pub async fn render_with(request: &Request, plugin: &dyn Renderer) -> Result<Rendered, Error> {
    let source = &request.source;
    if request.has_multiple_sources && source.path.is_empty() && source.chart.is_empty() {
        return Ok(Rendered::default());
    }
    let request = with_real_roots(request);
    let outcome = render_source(&request, plugin).await;
    outcome.map_err(|error| {
        let roots = request.refs.values().map(|source| &source.root).chain([&request.root]);
        let error = roots.fold(error, |error, root| error.replacing(&root.to_string_lossy(), SHOWN_ROOT));
        // A path that leads out of a checkout shows the folder of the process.
        let run = request.scratch.parent().filter(|run| run.components().count() > 2);
        let folders = [Some(request.scratch.as_path()), run].into_iter().flatten();
        folders.fold(error, |error, folder| error.replacing(&folder.to_string_lossy(), SHOWN_FOLDER))
    })
}

/// The request with folders whose paths hold no link, so that a path inside one can be told by its start.
fn with_real_roots(request: &Request) -> Request {
    let mut request = request.clone();
    let roots = request.refs.values_mut().map(|source| &mut source.root);
    for root in roots.chain([&mut request.root, &mut request.scratch]) {
        // A folder that is missing is reported by whoever reads it.
        if let Ok(real) = std::fs::canonicalize(&*root) {
            *root = real;
        }
    }
    request
}

async fn render_source(request: &Request, plugin: &dyn Renderer) -> Result<Rendered, Error> {
    refs::check(request)?;
    // A chart from a Helm repository was unpacked for this render: its root is the application.
    let path = if request.source.is_helm() { "" } else { &request.source.path };
    let app = paths::app_path(&request.root, path)?;
    let env = BuildEnv::of(request);
    let (source, kind) = source_type::detect(&request.source, &app, &request.app_name, request.enabled)?;
    let job = Job { request: Request { source, ..request.clone() }, app, env };
    let renderer: &dyn Renderer = match kind {
        SourceType::Helm => &renderer::Helm,
        SourceType::Kustomize => &renderer::Kustomize,
        SourceType::Directory => &renderer::Directory,
        SourceType::Plugin => plugin,
    };
    let objects = renderer.objects(&job).await?;
    // Marking manifests is work for the processor, and must not hold up other applications.
    let finish = tokio::task::spawn_blocking(move || postprocess::manifests(&job.request, objects)).await;
    let manifests = finish.map_err(|error| Error::Failed(format!("rendering ended early: {error}")))??;
    Ok(Rendered { manifests, source_type: kind.name() })
}
