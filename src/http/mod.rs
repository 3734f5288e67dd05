//! A small HTTP/1.1 client: one connection per request, redirects, proxies, bounded answers.
//!
//! In:  a request, and how its server is reached: certificates, proxies.
//! Out: the answer's head at once, its body as far as the caller reads it; or a [`Fault`] in Go's words.
//! Invariant: an `Authorization` header follows a redirect to its own host or one below it only, and never from `https` to
//! `http`; every exchange ends at its deadline.
//! Source: Go `net/http` as Argo CD uses it (`util/helm/client.go` `loadRepoIndex`, `applicationset/services`).

mod address;
mod answer;
mod connect;
mod fault;
mod proxy;
#[cfg(test)]
mod tests;
mod tls;

use std::sync::{Arc, OnceLock};
use std::time::Duration;

use http_body_util::Full;
use hyper::body::Bytes;
use hyper::client::conn::http1;
use hyper::header::{self, HeaderName, HeaderValue};
use hyper::{Method, StatusCode};
use hyper_util::rt::TokioIo;
use tokio::time::Instant;

pub use address::Address;
pub use answer::{Answer, Saved};
pub use fault::Fault;
pub use tls::Trust;

/// As many redirects as Go follows.
const MAX_REDIRECTS: usize = 10;

/// What the client calls itself.
const USER_AGENT: &str = concat!("litecd/", env!("CARGO_PKG_VERSION"));

/// How a server is reached.
#[derive(Clone, PartialEq, Eq, Hash, Default)]
pub struct Route {
    /// Certificates.
    pub trust: Trust,
    /// Proxy; the process's own when empty.
    pub proxy: String,
    /// Hosts that are reached without it.
    pub no_proxy: String,
    /// What the client calls itself; litecd when empty.
    pub user_agent: String,
}

/// A request.
#[derive(Clone)]
pub struct Request {
    /// What is asked for.
    pub method: Method,
    /// Where it goes.
    pub address: Address,
    /// Headers besides the usual ones.
    pub headers: Vec<(HeaderName, String)>,
    /// Body; empty for none.
    pub body: Bytes,
}

impl Request {
    /// A `GET`.
    pub fn get(address: Address) -> Self {
        Self { method: Method::GET, address, headers: Vec::new(), body: Bytes::new() }
    }

    /// A `POST`.
    pub fn posting(address: Address, body: impl Into<Bytes>) -> Self {
        Self { method: Method::POST, body: body.into(), ..Self::get(address) }
    }

    /// A `PUT`.
    pub fn putting(address: Address, body: impl Into<Bytes>) -> Self {
        Self { method: Method::PUT, body: body.into(), ..Self::get(address) }
    }

    /// Adds a header.
    pub fn header(mut self, name: HeaderName, value: impl Into<String>) -> Self {
        self.headers.push((name, value.into()));
        self
    }

    /// Adds basic authentication; an address's own user is used where none is given.
    pub fn basic_auth(self, user: &str, password: &str) -> Self {
        let value = basic(user, password);
        self.header(header::AUTHORIZATION, value)
    }

    fn with_own_login(self) -> Self {
        match self.address.user.clone() {
            Some((user, password)) if !self.carries(&header::AUTHORIZATION) => self.basic_auth(&user, &password),
            _ => self,
        }
    }

    /// The request that a redirect asks for: one that sends something is read from there, except where it says to repeat it.
    fn redirected(mut self, status: StatusCode, to: Address) -> Self {
        let repeats = matches!(status, StatusCode::TEMPORARY_REDIRECT | StatusCode::PERMANENT_REDIRECT);
        if !repeats && self.method != Method::GET && self.method != Method::HEAD {
            self.method = Method::GET;
            self.body = Bytes::new();
            self.headers.retain(|(name, _)| *name != header::CONTENT_TYPE);
        }
        self.address = to;
        self
    }

    fn carries(&self, name: &HeaderName) -> bool {
        self.headers.iter().any(|(known, _)| known == name)
    }
}

/// Value of a header for basic authentication.
pub fn basic(user: &str, password: &str) -> String {
    use base64::Engine;
    format!("Basic {}", base64::engine::general_purpose::STANDARD.encode(format!("{user}:{password}")))
}

/// Sends requests; made anew for each piece of work, because its deadline is that of the work.
pub struct Client {
    route: Route,
    tls: OnceLock<Arc<rustls::ClientConfig>>,
    deadline: Instant,
}

impl Client {
    /// A client whose requests together take at most `limit`.
    ///
    /// # Errors
    /// The client certificate cannot be used; the text is Go's.
    pub fn new(route: &Route, limit: Duration) -> Result<Self, String> {
        let client = Self { route: route.clone(), tls: OnceLock::new(), deadline: Instant::now() + limit };
        if !route.trust.certificate.is_empty() {
            client.tls()?;
        }
        Ok(client)
    }

    /// The TLS configuration; its roots are read from disk, so it is made when the first address asks for it.
    fn tls(&self) -> Result<Arc<rustls::ClientConfig>, String> {
        if let Some(known) = self.tls.get() {
            return Ok(known.clone());
        }
        let made = tls::config(&self.route.trust)?;
        Ok(self.tls.get_or_init(|| made).clone())
    }

    /// Sends a request; a redirect is an answer like others.
    ///
    /// # Errors
    /// There is no answer.
    pub async fn send_once(&self, request: Request) -> Result<Answer, Fault> {
        self.exchange(&request.with_own_login()).await
    }

    /// Sends a request and follows redirects.
    ///
    /// # Errors
    /// There is no answer.
    pub async fn send(&self, request: Request) -> Result<Answer, Fault> {
        let first = request.address.clone();
        let mut request = request.with_own_login();
        for _ in 0..MAX_REDIRECTS {
            let answer = self.exchange(&request).await?;
            let is_redirect = matches!(
                answer.status,
                StatusCode::MOVED_PERMANENTLY
                    | StatusCode::FOUND
                    | StatusCode::SEE_OTHER
                    | StatusCode::TEMPORARY_REDIRECT
                    | StatusCode::PERMANENT_REDIRECT
            );
            let Some(location) = answer.header(&header::LOCATION).filter(|_| is_redirect) else {
                return Ok(answer);
            };
            let next = request.address.join(location);
            let next = next.ok_or_else(|| Fault::Address(format!("unsupported redirect to {location:?}")))?;
            if !may_keep_credentials(&first, &next) {
                request.headers.retain(|(name, _)| *name != header::AUTHORIZATION);
            }
            request = request.redirected(answer.status, next);
        }
        Err(Fault::Redirects)
    }

    async fn exchange(&self, request: &Request) -> Result<Answer, Fault> {
        let address = &request.address;
        let work = async {
            let proxy = proxy::of(address, &self.route.proxy, &self.route.no_proxy)?;
            let own_name = if self.route.user_agent.is_empty() { USER_AGENT } else { &self.route.user_agent };
            let needs_tls = address.is_tls() || proxy.as_ref().is_some_and(Address::is_tls);
            let tls = if needs_tls { Some(self.tls().map_err(Fault::Tls)?) } else { None };
            let connection = connect::open(address, proxy.as_ref(), &tls).await?;
            let target = if connection.is_to_proxy {
                format!("http://{}{}", address.authority(), address.target())
            } else {
                address.target()
            };
            let mut built = hyper::Request::builder()
                .method(request.method.clone())
                .uri(target)
                .header(header::HOST, address.authority())
                .header(header::USER_AGENT, value(own_name)?)
                .header(header::CONNECTION, "close");
            if let Some((name, value)) =
                proxy.as_ref().filter(|_| connection.is_to_proxy).and_then(connect::authorization)
            {
                built = built.header(name, secret(&value)?);
            }
            for (name, value) in &request.headers {
                built = built.header(name, secret(value)?);
            }
            let built =
                built.body(Full::new(request.body.clone())).map_err(|error| Fault::Address(error.to_string()))?;
            let handshake = http1::handshake(TokioIo::new(connection.stream)).await;
            let (mut sender, connection) = handshake.map_err(|error| Fault::exchange(&error))?;
            Answer::receive(request, connection, sender.send_request(built)).await
        };
        let answer = tokio::time::timeout_at(self.deadline, work).await.map_err(|_| Fault::Timeout)??;
        Ok(answer.until(self.deadline))
    }
}

fn value(text: &str) -> Result<HeaderValue, Fault> {
    HeaderValue::from_str(text).map_err(|_| Fault::Address("invalid header field value".to_owned()))
}

/// A header value that the library does not print.
fn secret(text: &str) -> Result<HeaderValue, Fault> {
    let mut value = value(text)?;
    value.set_sensitive(true);
    Ok(value)
}

/// Whether a redirect stays with the host that the credentials are for, or goes below it.
fn may_keep_credentials(first: &Address, next: &Address) -> bool {
    let is_below = next.host.strip_suffix(&first.host).is_some_and(|rest| rest.ends_with('.'));
    (next.host == first.host || is_below) && (next.is_tls() || !first.is_tls())
}
