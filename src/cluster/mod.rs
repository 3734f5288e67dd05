//! Talks to one Kubernetes API server: discovery, reads, and every write litecd makes.
//!
//! In:  a [`kube::Config`], objects as JSON trees, and for each write a [`Permit`](crate::guard::Permit).
//! Out: the object the server answered, or an error whose text is what Argo CD would show.
//! Invariant: no request that persists anything leaves without a permit; dry runs and reads need none.
//! Source: `gitops-engine/pkg/utils/kube/{resource_ops.go,kube.go,ctl.go}`, the kubectl library v0.36.1 under it.

mod apply;
mod client_side;
mod config;
mod delete;
mod discovery;
mod error;
mod get;
mod managed_fields;
mod manifest;
mod metadata;
mod patch;
mod rbac;
mod rbac_rules;
mod replace;
mod request;
mod resource;
mod server_side;
#[cfg(test)]
mod tests;
mod text;

use std::sync::Arc;

use http::HeaderValue;

pub use apply::{Applied, Apply, ApplyError, DryRun};
pub use config::{ConfigError, from_environment, from_kubeconfig};
pub use delete::Propagation;
pub use discovery::DiscoveryError;
pub use error::{Error, Status};
pub use get::List;
pub use resource::{Resource, Target, Verbs};

/// One destination cluster; cheap to clone, clones share the connection pool and the discovery cache.
#[derive(Clone)]
pub struct Cluster {
    inner: Arc<Inner>,
    /// Whom requests impersonate, ready to be sent.
    user: Option<HeaderValue>,
}

struct Inner {
    client: kube::Client,
    /// The destination's `server` as Applications spell it; not necessarily where the connection goes.
    server: String,
    /// Where the connection goes, for error texts.
    url: String,
    discovery: discovery::Cache,
}

impl Cluster {
    /// Prepares a connection; nothing is sent yet. Must be called inside a tokio runtime.
    ///
    /// `server` is the destination's URL as Applications name it.
    pub fn connect(mut config: kube::Config, server: String) -> Result<Self, Error> {
        // This room retries itself, by client-go's rules; kube's own policy would retry writes it cannot know about.
        config.default_retry = false;
        let agent = concat!("litecd/", env!("CARGO_PKG_VERSION"));
        config.headers.push((http::header::USER_AGENT, HeaderValue::from_static(agent)));
        let url = config.cluster_url.to_string().trim_end_matches('/').to_owned();
        let client = kube::Client::try_from(config).map_err(|cause| Error::Connect { cause: Box::new(cause) })?;
        let inner = Inner { client, server, url, discovery: discovery::Cache::default() };
        Ok(Self { inner: Arc::new(inner), user: None })
    }

    /// The same cluster, acting as `user` (`system:serviceaccount:<ns>:<name>`).
    ///
    /// A name that cannot be sent as a header is an error: silently acting as the controller would widen rights.
    pub fn as_user(&self, user: &str) -> Result<Self, Error> {
        let header = HeaderValue::from_str(user)
            .map_err(|_| Error::Refused { text: format!("user name {user:?} cannot be impersonated") })?;
        Ok(Self { inner: Arc::clone(&self.inner), user: Some(header) })
    }

    /// The client under this room, for watches.
    pub fn client(&self) -> kube::Client {
        self.inner.client.clone()
    }

    /// The destination's `server` as Applications name it.
    pub fn server(&self) -> &str {
        &self.inner.server
    }
}

impl std::fmt::Debug for Cluster {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Cluster").field("server", &self.inner.server).finish_non_exhaustive()
    }
}
