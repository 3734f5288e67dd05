//! What turns a source into objects: one trait, so that tools of other kinds fit in.
//!
//! In:  a [`Job`] of plain data.
//! Out: objects as the tool gave them; lists are taken apart and tracking is written afterwards, the same for every renderer.
//! Invariant: a renderer changes nothing in the checkout and keeps nothing of a job.
//! Source: REND-001, REND-161 to REND-172 (`reposerver/repository/repository.go` `GenerateManifests`).
//!
//! A config management plugin is a [`Renderer`] that is handed to [`super::render_with`]. A hydrator needs none: it renders with a
//! [`Request`] that names no Kubernetes version, no API versions and an empty label key, which leaves tracking out.

use std::path::PathBuf;

use futures::future::BoxFuture;
use serde_json::Value;

use super::build_env::BuildEnv;
use super::{Error, Request, directory, documents, helm, kustomize};

/// One source, ready to be rendered: its overrides are merged, its references are checked.
#[derive(Debug, Clone)]
pub struct Job {
    /// What is asked.
    pub request: Request,
    /// The application's directory, inside the root of the request.
    pub app: PathBuf,
    /// `ARGOCD_APP_…` names and values.
    pub env: BuildEnv,
}

/// Makes the objects of a source.
pub trait Renderer: Send + Sync {
    /// The objects, in the tool's order.
    fn objects<'a>(&'a self, job: &'a Job) -> BoxFuture<'a, Result<Vec<Value>, Error>>;
}

/// Plain manifests and Jsonnet.
pub struct Directory;

impl Renderer for Directory {
    fn objects<'a>(&'a self, job: &'a Job) -> BoxFuture<'a, Result<Vec<Value>, Error>> {
        Box::pin(directory::render(&job.request, &job.app))
    }
}

/// A chart.
pub struct Helm;

impl Renderer for Helm {
    fn objects<'a>(&'a self, job: &'a Job) -> BoxFuture<'a, Result<Vec<Value>, Error>> {
        Box::pin(async { tool_output(helm::template(&job.request, &job.app, &job.env).await?).await })
    }
}

/// A kustomization.
pub struct Kustomize;

impl Renderer for Kustomize {
    fn objects<'a>(&'a self, job: &'a Job) -> BoxFuture<'a, Result<Vec<Value>, Error>> {
        Box::pin(async { tool_output(kustomize::build(&job.request, &job.app, &job.env).await?).await })
    }
}

/// Stands where no config management plugin is there.
pub struct NoPlugin;

impl Renderer for NoPlugin {
    fn objects<'a>(&'a self, job: &'a Job) -> BoxFuture<'a, Result<Vec<Value>, Error>> {
        let name = &job.request.app_name;
        let text =
            format!("CMP processing failed for application {name:?}: litecd does not run config management plugins");
        Box::pin(std::future::ready(Err(Error::Failed(text))))
    }
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
