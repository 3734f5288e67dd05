//! Sends one request and repeats it where client-go would.
//!
//! In:  a [`Call`]: method, path, query, body.
//! Out: the body of a successful answer, or an [`Error`].
//! Invariant: a request is repeated only when the server asked for it (`Retry-After`), or when it is a read whose
//! connection broke; a write whose outcome is unknown is never sent twice.
//! Source: client-go v0.36.1 `rest/with_retry.go`, `rest/request.go`.

use std::borrow::Cow;
use std::time::Duration;

use http::header::{ACCEPT, CONTENT_TYPE, ETAG, IF_NONE_MATCH, RETRY_AFTER, WARNING};
use http::{HeaderMap, HeaderName, Method, Request, StatusCode};
use kube::client::Body;
use serde_json::Value;

use super::Cluster;
use super::error::{Answer, Asked, Error, from_answer, from_transport, timed_out, unread};
use super::resource::escape;

/// The API server ends ordinary requests after 60 s by itself, so a longer silence means that nobody is there.
pub(super) const TIMEOUT: Duration = Duration::from_secs(90);
/// Repetitions the server may ask for before its refusal is reported, as in client-go.
const REPEATS: u32 = 10;
/// A reconcile must not sleep for however long a header says.
const LONGEST_PAUSE: Duration = Duration::from_secs(30);
/// Go's client repeats reads on broken connections up to ten times; a server that is shutting down needs only a few.
const BROKEN_REPEATS: u32 = 3;

const JSON: &str = "application/json";
const IMPERSONATE_USER: HeaderName = HeaderName::from_static("impersonate-user");

/// One request.
pub(super) struct Call<'a> {
    pub method: Method,
    pub path: String,
    pub query: Vec<(&'static str, Cow<'a, str>)>,
    pub accept: &'static str,
    /// Content type and bytes.
    pub body: Option<(&'static str, Vec<u8>)>,
    /// See [`Asked::about`].
    pub about: String,
    /// Whether a refusal is told by its status code alone, as Go does where it takes the answer's bytes.
    pub raw: bool,
    /// Tag of the answer that is known already; the server then says so instead of sending it again.
    pub known_tag: Option<String>,
}

/// An answer that may be asked for again by its tag.
pub(super) struct Tagged {
    pub bytes: Vec<u8>,
    pub tag: Option<String>,
}

impl<'a> Call<'a> {
    pub fn new(method: Method, path: String) -> Self {
        Self {
            method,
            path,
            query: Vec::new(),
            accept: JSON,
            body: None,
            about: String::new(),
            raw: false,
            known_tag: None,
        }
    }

    pub fn get(path: String) -> Self {
        Self::new(Method::GET, path)
    }

    pub fn about(mut self, about: String) -> Self {
        self.about = about;
        self
    }

    /// Adds a parameter; an empty value means that it is not sent.
    pub fn query(mut self, name: &'static str, value: impl Into<Cow<'a, str>>) -> Self {
        let value = value.into();
        if !value.is_empty() {
            self.query.push((name, value));
        }
        self
    }

    pub fn body(mut self, content_type: &'static str, body: &Value) -> Self {
        self.body = Some((content_type, body.to_string().into_bytes()));
        self
    }

    pub fn json(self, body: &Value) -> Self {
        self.body(JSON, body)
    }

    pub fn uri(&self) -> String {
        let mut uri = self.path.clone();
        for (place, (name, value)) in self.query.iter().enumerate() {
            uri.push(if place == 0 { '?' } else { '&' });
            uri.push_str(name);
            uri.push('=');
            uri.push_str(&escape(value));
        }
        uri
    }
}

/// Status, whether the body is text, the wait the server asks for, and the body.
struct Raw {
    status: StatusCode,
    is_text: bool,
    retry_after: Option<Duration>,
    tag: Option<String>,
    body: Vec<u8>,
}

impl Cluster {
    /// Sends, and parses the answer.
    pub(super) async fn send(&self, call: Call<'_>) -> Result<Value, Error> {
        let bytes = self.send_raw(&call).await?;
        serde_json::from_slice(&bytes).map_err(|cause| Error::Decode { text: call.path, cause })
    }

    /// Sends, and hands the answer's bytes over.
    pub(super) async fn send_raw(&self, call: &Call<'_>) -> Result<Vec<u8>, Error> {
        Ok(self.send_tagged(call).await?.map(|answer| answer.bytes).unwrap_or_default())
    }

    /// Sends, and hands the answer over; `None` when it is still the one that [`Call::known_tag`] names.
    pub(super) async fn send_tagged(&self, call: &Call<'_>) -> Result<Option<Tagged>, Error> {
        let (mut repeats, mut broken) = (0, 0);
        loop {
            let raw = match self.send_once(call).await {
                Ok(raw) => raw,
                Err(Error::Transport { broken: true, .. }) if call.method == Method::GET && broken < BROKEN_REPEATS => {
                    broken += 1;
                    tokio::time::sleep(Duration::from_millis(100)).await;
                    continue;
                }
                Err(error) => return Err(error),
            };
            if raw.status.is_success() {
                return Ok(Some(Tagged { bytes: raw.body, tag: raw.tag }));
            }
            if raw.status == StatusCode::NOT_MODIFIED && call.known_tag.is_some() {
                return Ok(None);
            }
            let code = raw.status.as_u16();
            if let Some(pause) = raw.retry_after
                && (code == 429 || code >= 500)
                && repeats < REPEATS
            {
                repeats += 1;
                tokio::time::sleep(pause.min(LONGEST_PAUSE)).await;
                continue;
            }
            let asked = Asked { method: call.method.as_str(), about: &call.about };
            let answer = Answer { code, is_text: raw.is_text, retry_after: raw.retry_after, body: &raw.body };
            return Err(if call.raw { unread(&asked, &answer) } else { from_answer(&asked, &answer) });
        }
    }

    async fn send_once(&self, call: &Call<'_>) -> Result<Raw, Error> {
        let uri = call.uri();
        let url = format!("{}{uri}", self.inner.url);
        let method = call.method.as_str();
        let request = self.request(call, &uri)?;
        let exchange = async {
            let response = self.inner.client.send(request).await?;
            let (parts, body) = response.into_parts();
            Ok::<_, kube::Error>((parts, body.collect_bytes().await?))
        };
        let (parts, body) = tokio::time::timeout(TIMEOUT, exchange)
            .await
            .map_err(|_| timed_out(method, &url))?
            .map_err(|error| from_transport(method, &url, &error))?;
        for warning in parts.headers.get_all(WARNING) {
            tracing::debug!(server = %self.inner.server, path = %call.path, warning = ?warning, "API server warning");
        }
        Ok(Raw {
            status: parts.status,
            is_text: is_text(&parts.headers),
            retry_after: retry_after(&parts.headers),
            tag: parts.headers.get(ETAG).and_then(|tag| tag.to_str().ok()).map(str::to_owned),
            body: body.into(),
        })
    }

    /// Builds the request with accept, content type and impersonation headers.
    pub(super) fn request(&self, call: &Call<'_>, uri: &str) -> Result<Request<Body>, Error> {
        let mut request = Request::builder().method(call.method.clone()).uri(uri).header(ACCEPT, call.accept);
        if let Some(tag) = &call.known_tag {
            request = request.header(IF_NONE_MATCH, tag);
        }
        if let Some(user) = &self.user {
            request = request.header(IMPERSONATE_USER, user.clone());
        }
        let body = match &call.body {
            Some((content_type, bytes)) => {
                request = request.header(CONTENT_TYPE, *content_type);
                bytes.clone()
            }
            None => Vec::new(),
        };
        request.body(Body::from(body)).map_err(|error| Error::Refused { text: error.to_string() })
    }
}

fn is_text(headers: &HeaderMap) -> bool {
    headers.get(CONTENT_TYPE).is_none_or(|kind| kind.as_bytes().starts_with(b"text/"))
}

/// Whole seconds only, as client-go reads it.
fn retry_after(headers: &HeaderMap) -> Option<Duration> {
    headers.get(RETRY_AFTER)?.to_str().ok()?.parse().ok().map(Duration::from_secs)
}
