//! From a checked-out source to manifests: directory, Helm and Kustomize, with overrides, references and tracking.
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
mod request;
mod source_schema;
mod source_type;
mod walk;
mod workspace;

#[cfg(test)]
mod tests;

use serde_json::Value;

use build_env::BuildEnv;
pub use error::Error;
pub use request::{Enabled, HelmRepository, KustomizeSettings, RefSource, Request};
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

/// Renders one source.
///
/// # Errors
/// The source cannot be rendered; the text is for the application's conditions.
pub async fn render(request: &Request) -> Result<Rendered, Error> {
    let source = &request.source;
    if request.has_multiple_sources && source.path.is_empty() && source.chart.is_empty() {
        return Ok(Rendered::default());
    }
    let outcome = render_source(request).await;
    outcome.map_err(|error| {
        let roots = request.refs.values().map(|source| &source.root).chain([&request.root]);
        roots.fold(error, |error, root| error.replacing(&root.to_string_lossy(), SHOWN_ROOT))
    })
}

async fn render_source(request: &Request) -> Result<Rendered, Error> {
    let mut request = request.clone();
    refs::check(&request)?;
    // A chart from a Helm repository was unpacked for this render: its root is the application.
    let path = if request.source.is_helm() { "" } else { &request.source.path };
    let app = paths::app_path(&request.root, path)?;
    let env = BuildEnv::of(&request);
    let (source, kind) = source_type::detect(&request.source, &app, &request.app_name, request.enabled)?;
    request.source = source;
    let objects = match kind {
        SourceType::Helm => tool_output(helm::template(&request, &app, &env).await?).await?,
        SourceType::Kustomize => tool_output(kustomize::build(&request, &app, &env).await?).await?,
        SourceType::Directory => directory::render(&request, &app).await?,
        SourceType::Plugin => {
            return Err(Error::Failed(format!(
                "CMP processing failed for application {:?}: litecd does not run config management plugins",
                request.app_name
            )));
        }
    };
    let manifests = postprocess::manifests(&request, objects)?;
    Ok(Rendered { manifests, source_type: kind.name() })
}

/// The objects that a tool printed.
async fn tool_output(text: String) -> Result<Vec<Value>, Error> {
    // Reading manifests is work for the processor, and must not hold up other applications.
    let read = tokio::task::spawn_blocking(move || documents::read(&text, documents::Reader::Tool)).await;
    match read.map_err(|error| Error::Failed(format!("rendering ended early: {error}")))? {
        (objects, None) => Ok(objects),
        (_, Some(failure)) => Err(Error::Failed(format!("failed to unmarshal manifest: {failure}"))),
    }
}
