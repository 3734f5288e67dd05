//! Raw pages and watch streams, for the room that keeps live objects as bytes.
//!
//! In:  a discovered kind, a namespace or none, query parameters.
//! Out: bytes as the server sent them: one page of a list, or a stream of watch events, one JSON per line.
//! Invariant: reads only.
//! Source: `gitops-engine/pkg/cache/cluster.go` (what Argo CD lists and watches).

use std::borrow::Cow;

use futures::AsyncBufRead;
use http::Request;

use super::error::{Answer, Asked, from_answer, from_transport};
use super::request::Call;
use super::{Cluster, Error, Resource};

impl Cluster {
    /// One page of a list, unparsed; the caller follows `metadata.continue` itself.
    pub async fn list_page(
        &self,
        resource: &Resource,
        namespace: Option<&str>,
        query: &[(&'static str, &str)],
    ) -> Result<Vec<u8>, Error> {
        self.send_raw(&collection_call(resource, namespace, query)).await
    }

    /// Opens a watch; `query` must hold what the caller wants besides `watch=true` (resourceVersion, bookmarks).
    ///
    /// The stream has no time limit here: quiet kinds are quiet for hours. The caller watches for silence.
    pub async fn open_watch(
        &self,
        resource: &Resource,
        namespace: Option<&str>,
        query: &[(&'static str, &str)],
    ) -> Result<impl AsyncBufRead + use<>, Error> {
        let call = collection_call(resource, namespace, query).query("watch", "true");
        let uri = call.uri();
        let (parts, _) = self.request(&call, &uri)?.into_parts();
        let asked = Asked { method: "GET", about: &call.about };
        self.inner.client.request_stream(Request::from_parts(parts, Vec::new())).await.map_err(|error| match error {
            kube::Error::Api(status) => {
                // kube has parsed the body already; what is left of it still tells a Status from made-up text.
                let body = serde_json::to_vec(&status).unwrap_or_default();
                from_answer(&asked, &Answer { code: status.code, is_text: false, retry_after: None, body: &body })
            }
            other => from_transport("GET", &format!("{}{uri}", self.inner.url), &other),
        })
    }
}

fn collection_call<'a>(resource: &Resource, namespace: Option<&str>, query: &[(&'static str, &'a str)]) -> Call<'a> {
    let call = Call::get(resource.collection(namespace.unwrap_or_default())).about(resource.qualified());
    query.iter().fold(call, |call, (name, value)| call.query(name, Cow::Borrowed(*value)))
}
