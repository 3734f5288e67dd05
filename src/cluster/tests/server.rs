//! A server that plays a script: each request must be the next one expected, each gets the answer written beside it.
//! Only the question for its version, with which every reading of the kinds begins, may come at any time.

use std::collections::VecDeque;
use std::sync::{Arc, Mutex};

use axum::Router;
use axum::body::{Body, to_bytes};
use axum::extract::{Request, State};
use axum::response::Response;
use serde_json::Value;

use crate::cluster::Cluster;
use crate::guard::{self, Permit, Presence};

const VERSION: &str = "GET /version?timeout=32s";

/// One exchange.
pub struct Step {
    line: String,
    body: Option<Value>,
    status: u16,
    headers: Vec<(&'static str, String)>,
    answer: String,
}

/// Expects `METHOD /path?query` and answers with that status and JSON.
pub fn on(line: &str, status: u16, answer: &Value) -> Step {
    let json = vec![("content-type", "application/json".to_owned())];
    Step { line: line.to_owned(), body: None, status, headers: json, answer: answer.to_string() }
}

impl Step {
    /// Also expects this body.
    pub fn sent(mut self, body: Value) -> Self {
        self.body = Some(body);
        self
    }

    pub fn header(mut self, name: &'static str, value: &str) -> Self {
        self.headers.push((name, value.to_owned()));
        self
    }

    /// Answers with plain text instead of JSON.
    pub fn text(mut self, answer: &str) -> Self {
        answer.clone_into(&mut self.answer);
        self.headers = vec![("content-type", "text/plain; charset=utf-8".to_owned())];
        self
    }
}

#[derive(Default)]
struct Script {
    steps: VecDeque<Step>,
    surprises: Vec<String>,
    seen: Vec<http::HeaderMap>,
}

pub struct Server {
    pub cluster: Cluster,
    pub permit: Permit,
    script: Arc<Mutex<Script>>,
}

impl Server {
    pub async fn playing(steps: impl IntoIterator<Item = Step>) -> Self {
        let script = Arc::new(Mutex::new(Script { steps: steps.into_iter().collect(), ..Script::default() }));
        let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap();
        let url = format!("http://{}", listener.local_addr().unwrap());
        let app = Router::new().fallback(play).with_state(Arc::clone(&script));
        tokio::spawn(async move { axum::serve(listener, app).await });
        let cluster = Cluster::connect(kube::Config::new(url.parse().unwrap()), "https://test".to_owned()).unwrap();
        let permit = guard::decide(Some(&Presence::default()), false).permit().unwrap();
        Self { cluster, permit, script }
    }

    /// Fails if anything unexpected came or anything expected did not.
    pub fn finish(&self) -> Vec<http::HeaderMap> {
        let script = self.script.lock().unwrap();
        assert_eq!(script.surprises, Vec::<String>::new());
        assert_eq!(script.steps.iter().map(|step| step.line.as_str()).collect::<Vec<_>>(), Vec::<&str>::new());
        script.seen.clone()
    }
}

async fn play(State(script): State<Arc<Mutex<Script>>>, request: Request) -> Response {
    let (parts, body) = request.into_parts();
    let body = to_bytes(body, usize::MAX).await.unwrap();
    let line = format!("{} {}", parts.method, parts.uri);
    let mut script = script.lock().unwrap();
    script.seen.push(parts.headers);
    let step = match script.steps.iter().position(|step| step.line == VERSION) {
        Some(place) if line == VERSION => script.steps.remove(place),
        None if line == VERSION => Some(on(VERSION, 200, &serde_json::json!({"gitVersion": "v1.36.3"}))),
        _ => script.steps.pop_front().filter(|step| step.line == line),
    };
    let Some(step) = step else {
        script.surprises.push(line);
        return Response::builder().status(418).body(Body::empty()).unwrap();
    };
    if let Some(expected) = step.body {
        let sent: Value = serde_json::from_slice(&body).unwrap_or_default();
        if sent != expected {
            script.surprises.push(format!("{line} sent {sent}, not {expected}"));
        }
    }
    let answer = Response::builder().status(step.status);
    let answer = step.headers.iter().fold(answer, |answer, (name, value)| answer.header(*name, value));
    answer.body(Body::from(step.answer)).unwrap()
}
