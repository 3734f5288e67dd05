//! Serves git repositories and Helm charts to the controller under test.
//!
//! In:  a folder with `git/NAME.git` and `helm/`.  Out: `http://127.0.0.1:PORT/git/NAME.git` and `…/helm`.
//! Invariant: commits depend on nothing but a case's files and steps, so that their hashes are those of the goldens.

use std::net::Ipv4Addr;
use std::path::{Component, Path, PathBuf};
use std::process::Stdio;

use anyhow::{Context as _, Result};
use axum::Router;
use axum::body::{Body, to_bytes};
use axum::extract::{Request, State};
use axum::response::{IntoResponse as _, Response};
use http::StatusCode;
use tokio::io::AsyncWriteExt as _;
use tokio::net::TcpListener;
use tokio::process::Command;
use tokio::task::JoinHandle;

/// The port in the goldens' repository addresses.
pub const PORT: u16 = 30080;

/// What `${GIT}` and `${HELM}` stand for.
#[derive(Debug, Clone)]
pub struct Addresses {
    /// Where repositories are.
    pub git: String,
    /// Where the chart repository is.
    pub helm: String,
}

impl Addresses {
    /// The addresses of a server on `port`.
    pub fn on(port: u16) -> Self {
        Self { git: format!("http://127.0.0.1:{port}/git"), helm: format!("http://127.0.0.1:{port}/helm") }
    }

    /// `text` with the addresses filled in.
    pub fn substitute(&self, text: &str) -> String {
        text.replace("${GIT}", &self.git).replace("${HELM}", &self.helm)
    }
}

/// The running server; ends when dropped.
#[derive(Debug)]
pub struct Servers {
    /// The folder it serves.
    pub root: PathBuf,
    /// Where it is reached.
    pub addresses: Addresses,
    task: JoinHandle<()>,
}

impl Drop for Servers {
    fn drop(&mut self) {
        self.task.abort();
    }
}

impl Servers {
    /// Serves `root` on `port` of the loopback interface.
    pub async fn start(root: PathBuf, port: u16) -> Result<Self> {
        for folder in ["git", "helm", "work"] {
            tokio::fs::create_dir_all(root.join(folder)).await?;
        }
        let root = root.canonicalize()?;
        let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, port)).await;
        let listener = listener.with_context(|| format!("cannot serve repositories on port {port}"))?;
        let router = Router::new().fallback(answer).with_state(root.clone());
        let task = tokio::spawn(async move {
            // It ends only with the runtime; a failure shows as a refused connection in the case that runs.
            let _ = axum::serve(listener, router).await;
        });
        Ok(Self { root, addresses: Addresses::on(port), task })
    }

    /// Forgets every repository and chart.
    pub async fn reset(&self) -> Result<()> {
        for folder in ["git", "helm", "work"] {
            let path = self.root.join(folder);
            let _ = tokio::fs::remove_dir_all(&path).await;
            tokio::fs::create_dir_all(&path).await?;
        }
        Ok(())
    }
}

async fn answer(State(root): State<PathBuf>, request: Request) -> Response {
    let path = request.uri().path().to_owned();
    let answer = match path.strip_prefix("/git/") {
        Some(_) => git(&root, request).await,
        None => file(&root, path.trim_start_matches('/')).await,
    };
    answer.unwrap_or_else(|error| (StatusCode::INTERNAL_SERVER_ERROR, format!("{error:#}")).into_response())
}

async fn file(root: &Path, path: &str) -> Result<Response> {
    let is_inside = Path::new(path).components().all(|part| matches!(part, Component::Normal(_)));
    match tokio::fs::read(root.join(path)).await {
        Ok(bytes) if is_inside => Ok(bytes.into_response()),
        _ => Ok(StatusCode::NOT_FOUND.into_response()),
    }
}

/// Speaks git's smart HTTP protocol through `git http-backend`, a CGI program.
async fn git(root: &Path, request: Request) -> Result<Response> {
    let (parts, body) = request.into_parts();
    let body = to_bytes(body, usize::MAX).await?;
    let header = |name: &str| parts.headers.get(name).and_then(|value| value.to_str().ok()).unwrap_or_default();
    let mut command = Command::new("git");
    command
        .args(["-c", "safe.directory=*", "http-backend"])
        .env("GIT_PROJECT_ROOT", root.join("git"))
        .env("GIT_HTTP_EXPORT_ALL", "1")
        .env("PATH_INFO", parts.uri.path().strip_prefix("/git").unwrap_or_default())
        .env("QUERY_STRING", parts.uri.query().unwrap_or_default())
        .env("REQUEST_METHOD", parts.method.as_str())
        .env("CONTENT_TYPE", header("content-type"))
        .env("CONTENT_LENGTH", body.len().to_string())
        .env("HTTP_CONTENT_ENCODING", header("content-encoding"))
        .env("GIT_PROTOCOL", header("git-protocol"))
        .env("REMOTE_ADDR", "127.0.0.1");
    command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::null()).kill_on_drop(true);
    let mut child = command.spawn().context("cannot run git http-backend")?;
    let mut input = child.stdin.take().context("git http-backend has no input")?;
    // Written beside reading the answer: the backend may answer before it has read all.
    let write = async move {
        let _ = input.write_all(&body).await;
    };
    let ((), output) = tokio::join!(write, child.wait_with_output());
    cgi(&output?.stdout)
}

/// Turns the output of a CGI program into a response.
fn cgi(output: &[u8]) -> Result<Response> {
    let end = output.windows(4).position(|four| four == b"\r\n\r\n").context("git http-backend said nothing")?;
    let (head, rest) = output.split_at(end);
    let data = rest.get(4..).unwrap_or_default().to_vec();
    let mut response = Response::builder();
    for line in std::str::from_utf8(head)?.split("\r\n") {
        match line.split_once(": ") {
            Some(("Status", status)) => {
                response = response.status(status.split(' ').next().unwrap_or_default());
            }
            Some((name, value)) => response = response.header(name, value),
            None => {}
        }
    }
    Ok(response.body(Body::from(data))?)
}
