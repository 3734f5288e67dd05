//! Requests to GitHub's API.
//!
//! In:  where the API is, and what the repository says about trust.
//! Out: the answer of one request, or why there was none.
//! Invariant: the client is the one that kube brings, so that there is one TLS stack; nothing here talks to a cluster.
//! Source: `util/git/client.go` `GetRepoHTTPClient`.

use std::io::ErrorKind;
use std::time::Duration;

use base64::Engine;
use http::header::{ACCEPT, AUTHORIZATION, HeaderValue, USER_AGENT};
use http_body_util::{BodyExt, Limited};
use kube::client::Body;
use serde_json::json;

use super::super::access::RepoAccess;
use super::super::authority::Authority;

/// A page of installations is a tenth of this.
const MAX_BODY: usize = 4 << 20;

/// The part of HTTP that is used.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Method {
    /// Reads.
    Get,
    /// Asks for a token.
    Post,
}

/// GitHub's API as one repository reaches it.
pub struct Api<'a> {
    /// The repository; its trust and client certificate are used.
    pub repo: &'a RepoAccess,
    /// URL without slashes at its end.
    pub url: &'a str,
    /// Time that one request may take.
    pub limit: Duration,
}

/// An answer.
pub struct Answer {
    /// Whether the status is one of success.
    pub is_success: bool,
    /// `404 Not Found`.
    pub status: String,
    /// Body.
    pub body: Vec<u8>,
}

impl Api<'_> {
    /// Sends a request that a statement of the app signs.
    ///
    /// # Errors
    /// There was no answer.
    pub async fn send(&self, method: Method, place: &str, signed: &str) -> Result<Answer, String> {
        let (client, request) = (self.client()?, request(method, place, signed)?);
        let work = async {
            let answer = client.send(request).await.map_err(|error| self.plain(&error))?;
            let status = answer.status();
            let body = Limited::new(answer.into_body(), MAX_BODY).collect().await;
            let body = body.map_err(|error| format!("reading the answer: {error}"))?.to_bytes();
            let words = format!("{} {}", status.as_u16(), status.canonical_reason().unwrap_or_default());
            Ok(Answer { is_success: status.is_success(), status: words, body: body.to_vec() })
        };
        tokio::time::timeout(self.limit, work).await.map_err(|_| "context deadline exceeded".to_owned())?
    }

    fn client(&self) -> Result<kube::Client, String> {
        if !self.repo.proxy.0.is_empty() {
            return Err("tokens of GitHub Apps are not fetched through a proxy by this build".to_owned());
        }
        let url: http::Uri = self.url.parse().map_err(|error| format!("parse {:?}: {error}", self.url))?;
        let mut config = kube::Config::new(url);
        config.accept_invalid_certs = self.repo.insecure;
        let host = Authority::of(self.url).map(|authority| authority.host).unwrap_or_default();
        if let Some(pem) = self.repo.trust.certificates_of(&host).filter(|_| !self.repo.insecure) {
            config.root_cert = Some(certificates(pem));
        }
        if let Some((certificate, key)) = &self.repo.client_certificate {
            let encode = |text: &str| base64::engine::general_purpose::STANDARD.encode(text);
            let identity = json!({"client-certificate-data": encode(certificate), "client-key-data": encode(key)});
            config.auth_info =
                serde_json::from_value(identity).map_err(|_| "the client certificate cannot be read".to_owned())?;
        }
        kube::Client::try_from(config).map_err(|error| self.plain(&error))
    }

    /// The innermost cause, which says what happened; a refused connection in Go's words.
    fn plain(&self, error: &kube::Error) -> String {
        let mut cause: &dyn std::error::Error = error;
        while let Some(inner) = cause.source() {
            cause = inner;
        }
        match cause.downcast_ref::<std::io::Error>().map(std::io::Error::kind) {
            Some(ErrorKind::ConnectionRefused) => {
                let place = Authority::of(self.url).map(|authority| authority.place()).unwrap_or_default();
                format!("dial tcp {place}: connect: connection refused")
            }
            _ => cause.to_string(),
        }
    }
}

fn request(method: Method, place: &str, signed: &str) -> Result<http::Request<Body>, String> {
    let mut bearer = HeaderValue::from_str(&format!("Bearer {signed}")).map_err(|error| error.to_string())?;
    bearer.set_sensitive(true);
    let method = if method == Method::Get { "GET" } else { "POST" };
    let request = http::Request::builder().method(method).uri(place);
    let request = request.header(AUTHORIZATION, bearer).header(ACCEPT, "application/vnd.github.v3+json");
    // GitHub refuses requests without a name.
    request.header(USER_AGENT, "litecd").body(Body::empty()).map_err(|error| error.to_string())
}

/// PEM certificates as DER.
fn certificates(pem: &str) -> Vec<Vec<u8>> {
    let blocks = pem.split("-----BEGIN CERTIFICATE-----").skip(1);
    let bodies = blocks.filter_map(|block| block.split("-----END CERTIFICATE-----").next());
    let packed = bodies.map(|body| body.split_whitespace().collect::<String>());
    packed.filter_map(|body| base64::engine::general_purpose::STANDARD.decode(body).ok()).collect()
}
