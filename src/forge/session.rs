//! Requests to one host, and its answers.
//!
//! In:  certificates, headers that every request has.
//! Out: whole answers of bounded size.
//! Invariant: headers with credentials go only to the host that the session is for.

use std::time::Duration;

use hyper::header::{HeaderMap, HeaderName};
use hyper::{Method, StatusCode};
use serde::de::DeserializeOwned;

use crate::http::{Address, Client, Request, Route, Trust};

/// The time that all requests of one question may take together.
pub const PATIENCE: Duration = Duration::from_secs(300);

/// The longest answer that is read. A hundred repositories of GitHub are half a megabyte.
const MAX_BODY: usize = 32 << 20;

/// A client for one host.
pub struct Session {
    client: Client,
    home: Option<Address>,
    headers: Vec<(HeaderName, String)>,
}

/// An answer.
pub struct Reply {
    /// Status code.
    pub status: StatusCode,
    /// `404 Not Found`.
    pub status_text: String,
    /// Headers.
    pub headers: HeaderMap,
    /// Body.
    pub body: Vec<u8>,
    /// URL that was asked, as errors show it.
    pub url: String,
}

impl Session {
    /// A session with the host of a URL.
    pub fn new(url: &str, trust: Trust, patience: Duration) -> Result<Self, String> {
        let route = Route { trust, ..Route::default() };
        Ok(Self { client: Client::new(&route, patience)?, home: Address::parse(url), headers: Vec::new() })
    }

    /// Adds a header that every request has.
    pub fn with(mut self, name: &'static str, value: impl Into<String>) -> Self {
        self.headers.push((HeaderName::from_static(name), value.into()));
        self
    }

    /// Reads a URL.
    pub async fn get(&self, url: &str) -> Result<Reply, String> {
        self.ask(Method::GET, url, &[]).await
    }

    /// Sends a body.
    pub async fn post(&self, url: &str, headers: &[(&'static str, &str)], body: &str) -> Result<Reply, String> {
        self.send(Request::posting(address(url)?, body.to_owned()), headers).await
    }

    /// Reads with further headers.
    pub async fn ask(&self, method: Method, url: &str, headers: &[(&'static str, &str)]) -> Result<Reply, String> {
        self.send(Request { method, ..Request::get(address(url)?) }, headers).await
    }

    async fn send(&self, mut request: Request, headers: &[(&'static str, &str)]) -> Result<Reply, String> {
        let (method, shown) = (request.method.clone(), request.address.shown());
        if !self.home.as_ref().is_some_and(|home| is_one_service(home, &request.address)) {
            return Err(format!("{shown}: the host sends litecd to another host, which does not get its token"));
        }
        request.headers = self.headers.clone();
        for (name, value) in headers {
            request = request.header(HeaderName::from_static(name), *value);
        }
        let failed = |fault: crate::http::Fault| fault.shown(method.as_str(), &shown);
        let answer = self.client.send(request).await.map_err(failed)?;
        let (status, status_text, headers) = (answer.status, answer.status_text(), answer.headers().clone());
        let body = answer.bytes(MAX_BODY).await.map_err(failed)?;
        Ok(Reply { status, status_text, headers, body, url: shown.clone() })
    }
}

/// Azure DevOps has its Git services under two names; everything else has one origin.
fn is_one_service(home: &Address, other: &Address) -> bool {
    let is_azure = |address: &Address| {
        address.is_tls() && (address.host == "dev.azure.com" || address.host.ends_with(".visualstudio.com"))
    };
    home.is_same_origin(other) || (is_azure(home) && is_azure(other))
}

fn address(url: &str) -> Result<Address, String> {
    Address::parse(url).ok_or_else(|| format!("parse {url:?}: no http or https address"))
}

impl Reply {
    /// A header's text; empty where there is none.
    pub fn header(&self, name: &str) -> &str {
        self.headers.get(name).and_then(|value| value.to_str().ok()).unwrap_or_default()
    }

    /// A header's number; zero where there is none.
    pub fn number(&self, name: &str) -> u64 {
        self.header(name).parse().unwrap_or_default()
    }

    /// The body as text.
    pub fn text(&self) -> String {
        String::from_utf8_lossy(&self.body).into_owned()
    }

    /// The body as JSON.
    pub fn json<T: DeserializeOwned>(&self) -> Result<T, String> {
        serde_json::from_slice(&self.body).map_err(|error| not_json(&self.body, &error))
    }
}

/// Why a body is no JSON, in Go's words as far as its first letter tells.
pub fn not_json(body: &[u8], error: &serde_json::Error) -> String {
    let text = String::from_utf8_lossy(body);
    match text.trim_start().chars().next() {
        None => "unexpected end of JSON input".to_owned(),
        Some(first) if !first.is_ascii_digit() && !"{[\"-tfn".contains(first) => {
            format!("invalid character {first:?} looking for beginning of value")
        }
        Some(_) => format!("json: {:?} error at line {} column {}", error.classify(), error.line(), error.column()),
    }
}
