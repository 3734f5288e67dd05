//! Stands between litecd and the API server, logs what litecd writes, and kills it at a chosen write.
//!
//! In:  plain HTTP.  Out: the same over TLS, watches streaming.
//! Invariant: what reached the API server is in the log, even when the one who asked was killed meanwhile.

use std::fmt;
use std::net::Ipv4Addr;
use std::path::Path;
use std::sync::{Arc, Mutex, MutexGuard};

use anyhow::{Context as _, Result};
use axum::Router;
use axum::body::{Body, to_bytes};
use axum::extract::{Request, State};
use axum::response::{IntoResponse as _, Response};
use http::header::{CONNECTION, HOST, TRANSFER_ENCODING};
use http::{HeaderMap, Method, StatusCode};
use kube::Client;
use kube::config::Kubeconfig;
use serde_json::Value;
use tokio::net::TcpListener;
use tokio::sync::Notify;
use tokio::task::JoinHandle;

use crate::kernel;

/// A running proxy; ends when dropped.
#[derive(Debug)]
pub(super) struct Proxy {
    /// `http://HOST:PORT`.
    pub address: String,
    shared: Arc<Shared>,
    task: JoinHandle<()>,
}

/// When to kill.
#[derive(Debug, Clone)]
pub(super) enum At {
    /// At this write, counted from 1 since the trap was armed, or when the operation's end is written before it.
    Write(usize),
    /// When an object is created whose name begins so.
    Creation(String),
}

impl At {
    fn is_reached(&self, count: usize, write: &Write) -> bool {
        match self {
            Self::Write(at) => count == *at || write.is_end(),
            Self::Creation(name) => write.method == Method::POST && write.name().starts_with(name),
        }
    }
}

/// How to kill.
#[derive(Debug, Clone)]
pub(super) struct Trap {
    /// When.
    pub at: At,
    /// Whether the API server gets the write, and only its answer is lost.
    pub answered: bool,
    /// The process to kill.
    pub pid: u32,
}

/// A request that may have changed something.
#[derive(Debug, Clone)]
pub(super) struct Write {
    /// The HTTP method.
    pub method: Method,
    /// The path with its query.
    pub path: String,
    /// What was sent; null when it is no JSON.
    pub body: Value,
    /// The HTTP code of the answer; none when the API server never got the request, or never answered.
    pub code: Option<u16>,
    /// The answer; null when it is no JSON.
    pub answer: Value,
}

impl Write {
    /// Whether it is the one that ends an operation well.
    pub(super) fn is_end(&self) -> bool {
        self.phase() == "Succeeded"
    }

    fn phase(&self) -> &str {
        self.body.pointer("/status/operationState/phase").and_then(Value::as_str).unwrap_or_default()
    }

    fn name(&self) -> &str {
        self.body.pointer("/metadata/name").and_then(Value::as_str).unwrap_or_default()
    }
}

impl fmt::Display for Write {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let code = self.code.map_or("not answered".to_owned(), |code| code.to_string());
        write!(f, "{code} {} {} {} {}", self.method, self.path, self.name(), self.phase())
    }
}

#[derive(Debug, Default)]
struct Log {
    writes: Vec<Write>,
    /// How many writes earlier logs held, so that an answer that comes late finds its own request or none.
    earlier: usize,
    trap: Option<Trap>,
}

struct Shared {
    client: Client,
    log: Mutex<Log>,
    fired: Notify,
}

impl fmt::Debug for Shared {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.log.fmt(f)
    }
}

impl Drop for Proxy {
    fn drop(&mut self) {
        self.task.abort();
    }
}

impl Proxy {
    /// A proxy before the cluster that a kubeconfig names.
    pub(super) async fn start(kubeconfig: &Path) -> Result<Self> {
        let file = Kubeconfig::read_from(kubeconfig)?;
        let server = file.clusters.first().and_then(|cluster| cluster.cluster.as_ref()?.server.clone());
        let mut config = kube::Config::new(server.context("a kubeconfig without a server")?.parse()?);
        config.accept_invalid_certs = true;
        config.default_retry = false;
        let client = Client::try_from(config)?;
        let shared = Arc::new(Shared { client, log: Mutex::default(), fired: Notify::new() });
        let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).await?;
        let address = format!("http://{}", listener.local_addr()?);
        let router = Router::new().fallback(forward).with_state(shared.clone());
        let task = tokio::spawn(async move {
            // It ends only when aborted; a failure shows as a refused connection in litecd.
            let _ = axum::serve(listener, router).await;
        });
        Ok(Self { address, shared, task })
    }

    /// Begins the log anew, and kills when the trap's write comes.
    pub(super) fn arm(&self, trap: Option<Trap>) {
        let mut log = self.shared.log();
        let earlier = log.earlier + log.writes.len();
        *log = Log { writes: Vec::new(), earlier, trap };
    }

    /// Waits until the trap has killed.
    pub(super) async fn fired(&self) {
        self.shared.fired.notified().await;
    }

    /// What was written since the trap was armed, in the order of the requests.
    pub(super) fn writes(&self) -> Vec<Write> {
        self.shared.log().writes.clone()
    }
}

async fn forward(State(shared): State<Arc<Shared>>, request: Request) -> Response {
    // In a task of its own, which goes on when the one who asked is gone.
    let task = tokio::spawn(async move {
        match *request.method() {
            Method::GET | Method::HEAD | Method::OPTIONS => shared.pass(request).await,
            _ => shared.write(request).await,
        }
    });
    let answer = task.await.map_err(anyhow::Error::from).flatten();
    answer.unwrap_or_else(|error| (StatusCode::BAD_GATEWAY, format!("{error:#}")).into_response())
}

impl Shared {
    fn log(&self) -> MutexGuard<'_, Log> {
        self.log.lock().expect("no request panics")
    }

    async fn pass(&self, request: Request) -> Result<Response> {
        let (mut parts, body) = request.into_parts();
        of_this_connection(&mut parts.headers);
        let body = kube::client::Body::from(to_bytes(body, usize::MAX).await?);
        let answer = self.client.send(Request::from_parts(parts, body)).await?;
        let (mut parts, body) = answer.into_parts();
        of_this_connection(&mut parts.headers);
        Ok(Response::from_parts(parts, Body::new(body)))
    }

    async fn write(&self, request: Request) -> Result<Response> {
        let (parts, body) = request.into_parts();
        let body = to_bytes(body, usize::MAX).await?;
        let (place, trap) = self.note(Write {
            method: parts.method.clone(),
            path: parts.uri.path_and_query().map(ToString::to_string).unwrap_or_default(),
            body: serde_json::from_slice(&body).unwrap_or_default(),
            code: None,
            answer: Value::Null,
        });
        if let Some(trap) = trap.as_ref().filter(|trap| !trap.answered) {
            return Ok(self.kill(trap));
        }
        let answer = self.pass(Request::from_parts(parts, Body::from(body))).await?;
        let (parts, body) = answer.into_parts();
        let body = to_bytes(body, usize::MAX).await?;
        self.answered(place, parts.status, &body);
        Ok(match trap {
            Some(trap) => self.kill(&trap),
            None => Response::from_parts(parts, Body::from(body)),
        })
    }

    /// Adds a write to the log; its place there, and the trap when this is the write to kill at.
    fn note(&self, write: Write) -> (usize, Option<Trap>) {
        let mut log = self.log();
        let count = log.writes.len() + 1;
        let trap = log.trap.take_if(|trap| trap.at.is_reached(count, &write));
        log.writes.push(write);
        (log.earlier + count - 1, trap)
    }

    fn answered(&self, place: usize, status: StatusCode, body: &[u8]) {
        let mut log = self.log();
        let earlier = log.earlier;
        if let Some(write) = place.checked_sub(earlier).and_then(|place| log.writes.get_mut(place)) {
            write.code = Some(status.as_u16());
            write.answer = serde_json::from_slice(body).unwrap_or_default();
        }
    }

    fn kill(&self, trap: &Trap) -> Response {
        kernel::signal(trap.pid, libc::SIGKILL);
        self.fired.notify_one();
        StatusCode::SERVICE_UNAVAILABLE.into_response()
    }
}

/// Takes out the headers that belong to one connection only.
fn of_this_connection(headers: &mut HeaderMap) {
    for name in [CONNECTION, HOST, TRANSFER_ENCODING] {
        headers.remove(name);
    }
}
