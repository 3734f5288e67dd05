//! Raw pages and watch streams, for the room that keeps live objects as bytes.
//!
//! In:  a discovered kind, a namespace or none, query parameters.
//! Out: bytes as the server sent them: one page of a list, or a stream of watch events, one JSON per line.
//! Invariant: reads only.
//! Source: `gitops-engine/pkg/cache/cluster.go` (what Argo CD lists and watches).

use std::borrow::Cow;

use futures::AsyncBufRead;
use http::Request;

use super::error::{Answer, Asked, from_answer, from_transport, timed_out};
use super::request::{Call, TIMEOUT};
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
        let url = format!("{}{uri}", self.inner.url);
        let (parts, _) = self.request(&call, &uri)?.into_parts();
        let opening = self.inner.client.request_stream(Request::from_parts(parts, Vec::new()));
        // The answer's head comes at once, only its body takes its time.
        let opened = tokio::time::timeout(TIMEOUT, opening).await.map_err(|_| timed_out("GET", &url))?;
        opened.map_err(|error| refusal(&call.about, &url, &error))
    }
}

/// kube has read the answer already and hands over either its `Status` or, marked as such, its text.
fn refusal(about: &str, url: &str, error: &kube::Error) -> Error {
    const NOT_A_STATUS: &str = "Failed to parse error data";
    let kube::Error::Api(status) = error else { return from_transport("GET", url, error) };
    let is_text = status.reason == NOT_A_STATUS;
    let body =
        if is_text { status.message.clone().into_bytes() } else { serde_json::to_vec(status).unwrap_or_default() };
    let asked = Asked { method: "GET", about };
    from_answer(&asked, &Answer { code: status.code, is_text, retry_after: None, body: &body })
}

fn collection_call<'a>(resource: &Resource, namespace: Option<&str>, query: &[(&'static str, &'a str)]) -> Call<'a> {
    let call = Call::get(resource.collection(namespace.unwrap_or_default())).about(resource.qualified());
    query.iter().fold(call, |call, (name, value)| call.query(name, Cow::Borrowed(*value)))
}
