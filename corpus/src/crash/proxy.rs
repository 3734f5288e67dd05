//! Stands between litecd and the API server, logs what litecd writes, and disturbs it at a chosen write.
//!
//! In:  plain HTTP.  Out: the same over TLS, watches streaming.  A connection that is to break is closed unanswered.
//! Invariant: what reached the API server is in the log, even when the one who asked was killed meanwhile.

use std::fmt;
use std::net::Ipv4Addr;
use std::path::Path;
use std::sync::{Arc, Mutex, MutexGuard};

use anyhow::{Context as _, Result};
use axum::Router;
use axum::body::{Body, to_bytes};
use axum::extract::{Request, State};
use axum::response::Response;
use http::header::{CONNECTION, HOST, TRANSFER_ENCODING};
use http::{HeaderMap, Method, StatusCode};
use kube::Client;
use kube::config::Kubeconfig;
use serde_json::Value;
use tokio::net::TcpListener;
use tokio::sync::Notify;
use tokio::task::JoinHandle;
use tokio::time::sleep;

use super::fault::{Blow, Fault, Part};
use crate::kernel;

/// A running proxy; ends when dropped.
#[derive(Debug)]
pub(super) struct Proxy {
    /// `http://HOST:PORT`.
    pub address: String,
    shared: Arc<Shared>,
    task: JoinHandle<()>,
}

/// When a process ends.
#[derive(Debug, Clone)]
pub(super) enum At {
    /// At this write, counted from 1 since the trap was armed, or when the operation's end is written before it.
    Write(usize),
    /// When an object is created whose name begins so.
    Creation(String),
    /// At the first write of the object of this kind and name that is no dry run.
    Object(&'static str, &'static str),
    /// At the first write of this part of the sync.
    Part(Part),
}

impl At {
    pub(super) fn is_reached(&self, count: usize, write: &Write) -> bool {
        match self {
            Self::Write(at) => count == *at || write.is_end(),
            Self::Creation(name) => write.method == Method::POST && write.name().starts_with(name),
            Self::Object(kind, name) => write.is_about(kind, name) && !write.path.contains("dryRun"),
            Self::Part(part) => part.holds(write),
        }
    }
}

/// How a process ends.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Ending {
    /// It is killed, and the API server does not get the write.
    Unsent,
    /// It is killed, and only the answer to the write is lost.
    Unanswered,
    /// It is asked to end, as the kubelet does, once the write is answered.
    Terminated,
}

/// What ends a process.
#[derive(Debug, Clone)]
pub(super) struct Trap {
    /// When.
    pub at: At,
    /// How.
    pub ending: Ending,
    /// The process to end: litecd, or the API server.
    pub pid: u32,
}

/// What the trap does, if anything, and when.
#[derive(Debug)]
pub(super) enum Snare {
    /// Ends a process once.
    Trap(Trap),
    /// Disturbs for a while.
    Fault(Fault),
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

    /// Whether it is about the object of that kind and name in the app's namespace.
    pub(super) fn is_about(&self, kind: &str, name: &str) -> bool {
        let path = self.path.split('?').next().unwrap_or_default();
        let mut parts = path.rsplit('/');
        let (last, before) = (parts.next().unwrap_or_default(), parts.next().unwrap_or_default());
        let plural = format!("{}s", kind.to_lowercase());
        (last == name && before == plural) || (last == plural && self.name() == name)
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
    fault: Option<Fault>,
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

    /// Begins the log anew, and disturbs when the write comes that the snare waits for.
    pub(super) fn arm(&self, snare: Option<Snare>) {
        let (trap, fault) = match snare {
            Some(Snare::Trap(trap)) => (Some(trap), None),
            Some(Snare::Fault(fault)) => (None, Some(fault)),
            None => (None, None),
        };
        let mut log = self.shared.log();
        let earlier = log.earlier + log.writes.len();
        *log = Log { writes: Vec::new(), earlier, trap, fault };
    }

    /// How many requests the fault has struck.
    pub(super) fn struck(&self) -> usize {
        self.shared.log().fault.as_ref().map_or(0, Fault::struck)
    }

    /// Waits until the trap has snapped.
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
            Method::GET | Method::HEAD | Method::OPTIONS => shared.read(request).await,
            _ => shared.write(request).await,
        }
    });
    match task.await {
        Ok(Ok(Some(answer))) => answer,
        // The connection ends with this task, without an answer and without a panic's message.
        _ => std::panic::resume_unwind(Box::new("the connection breaks")),
    }
}

impl Shared {
    fn log(&self) -> MutexGuard<'_, Log> {
        self.log.lock().expect("no request panics")
    }

    async fn read(&self, request: Request) -> Result<Option<Response>> {
        let pause = self.log().fault.as_mut().and_then(Fault::delays);
        sleep(pause.unwrap_or_default()).await;
        self.pass(request).await.map(Some)
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

    /// The answer; none when the connection is to break.
    async fn write(&self, request: Request) -> Result<Option<Response>> {
        let (parts, body) = request.into_parts();
        let body = to_bytes(body, usize::MAX).await?;
        let (place, trap, blow) = self.note(Write {
            method: parts.method.clone(),
            path: parts.uri.path_and_query().map(ToString::to_string).unwrap_or_default(),
            body: serde_json::from_slice(&body).unwrap_or_default(),
            code: None,
            answer: Value::Null,
        });
        if let Some(trap) = trap.as_ref().filter(|trap| trap.ending == Ending::Unsent) {
            self.end(trap);
            return Ok(None);
        }
        match blow {
            Some(Blow::Late(pause)) => sleep(pause).await,
            Some(Blow::Answer(answer)) => return Ok(Some(answer)),
            Some(Blow::Break { delivered: false }) => return Ok(None),
            Some(Blow::Break { delivered: true }) | None => {}
        }
        let answer = self.pass(Request::from_parts(parts, Body::from(body))).await?;
        let (parts, body) = answer.into_parts();
        let body = to_bytes(body, usize::MAX).await?;
        self.answered(place, parts.status, &body);
        if let Some(trap) = trap {
            self.end(&trap);
            return Ok((trap.ending == Ending::Terminated).then(|| Response::from_parts(parts, Body::from(body))));
        }
        Ok((!matches!(blow, Some(Blow::Break { .. }))).then(|| Response::from_parts(parts, Body::from(body))))
    }

    /// Adds a write to the log; its place there, and what is to happen at it.
    fn note(&self, write: Write) -> (usize, Option<Trap>, Option<Blow>) {
        let mut log = self.log();
        let count = log.writes.len() + 1;
        let trap = log.trap.take_if(|trap| trap.at.is_reached(count, &write));
        let blow = log.fault.as_mut().and_then(|fault| fault.blow(count, &write));
        log.writes.push(write);
        (log.earlier + count - 1, trap, blow)
    }

    fn answered(&self, place: usize, status: StatusCode, body: &[u8]) {
        let mut log = self.log();
        let earlier = log.earlier;
        if let Some(write) = place.checked_sub(earlier).and_then(|place| log.writes.get_mut(place)) {
            write.code = Some(status.as_u16());
            write.answer = serde_json::from_slice(body).unwrap_or_default();
        }
    }

    fn end(&self, trap: &Trap) {
        match trap.ending {
            Ending::Terminated => kernel::terminate(trap.pid),
            Ending::Unsent | Ending::Unanswered => kernel::kill(trap.pid),
        }
        self.fired.notify_one();
    }
}

/// Takes out the headers that belong to one connection only.
fn of_this_connection(headers: &mut HeaderMap) {
    for name in [CONNECTION, HOST, TRANSFER_ENCODING] {
        headers.remove(name);
    }
}
