//! The one address: health, readiness, metrics, webhooks.
//!
//! In:  HTTP requests.
//! Out: `/healthz` while the process works, `/readyz` once everything needed was listed and who may write is known and
//! as long as Applications are heard of,
//! `/metrics` written from the stores at scrape, so that nothing is kept for it.

use std::fmt::Write;
use std::rc::Rc;
use std::sync::Arc;
use std::time::Instant;

use axum::Router;
use axum::http::StatusCode;
use axum::response::{IntoResponse, Response};
use axum::routing::get;
use tokio::net::TcpListener;
use tokio::sync::{mpsc, oneshot};

use super::context::Context;
use super::readiness::Readiness;

/// A request for the metrics text.
pub type Scrape = oneshot::Sender<String>;

/// Serves until the process ends.
pub fn start(listener: TcpListener, readiness: Arc<Readiness>, scrapes: mpsc::Sender<Scrape>, webhooks: Router) {
    let readyz = move || {
        let answer = readiness.answer(Instant::now());
        async move {
            match answer {
                Ok(()) => (StatusCode::OK, "ok".to_owned()),
                Err(why) => (StatusCode::SERVICE_UNAVAILABLE, why),
            }
        }
    };
    let router = Router::new()
        .route("/healthz", get(|| async { "ok" }))
        .route("/readyz", get(readyz))
        .route("/metrics", get(move || metrics(scrapes.clone())))
        .merge(webhooks);
    serve(listener, router);
}

/// Serves one address until the process ends.
pub fn serve(listener: TcpListener, router: Router) {
    tokio::spawn(async move {
        if let Err(error) = axum::serve(listener, router).await {
            tracing::error!(reason = %error, "The HTTP server stopped");
        }
    });
}

async fn metrics(scrapes: mpsc::Sender<Scrape>) -> Response {
    let (answer, text) = oneshot::channel();
    if scrapes.send(answer).await.is_err() {
        return StatusCode::SERVICE_UNAVAILABLE.into_response();
    }
    match text.await {
        Ok(text) => ([("content-type", "text/plain; version=0.0.4")], text).into_response(),
        Err(_) => StatusCode::SERVICE_UNAVAILABLE.into_response(),
    }
}

/// Writes the metrics for each scrape, on the thread that owns the stores.
pub async fn answer_scrapes(ctx: Rc<Context>, mut requests: mpsc::Receiver<Scrape>) {
    while let Some(answer) = requests.recv().await {
        let _ = answer.send(render(&ctx));
    }
}

fn render(ctx: &Context) -> String {
    let mut text =
        String::from("# HELP argocd_app_info Information about application.\n# TYPE argocd_app_info gauge\n");
    for key in ctx.apps.keys() {
        let Ok(Some(stored)) = ctx.apps.get(&key) else { continue };
        let app = &stored.app;
        let or_unknown = |status: &str| if status.is_empty() { "Unknown".to_owned() } else { status.to_owned() };
        let source = app.spec.effective_sources().into_iter().next().unwrap_or_default();
        let auto = app.spec.automated().is_some();
        let operation = match (&app.operation, app.metadata.deletion_timestamp.is_some()) {
            (_, true) => "delete",
            (Some(operation), _) if operation.sync.is_some() => "sync",
            _ => "",
        };
        let labels = [
            ("autosync_enabled", auto.to_string()),
            ("dest_namespace", app.spec.destination.namespace.clone()),
            ("dest_server", app.spec.destination.server.clone()),
            ("health_status", or_unknown(&app.status.health.status)),
            ("name", key.name.clone()),
            ("namespace", key.namespace.clone()),
            ("operation", operation.to_owned()),
            ("project", app.spec.project_name().to_owned()),
            ("repo", crate::repo::redacted(source.repo_url.trim_end_matches(".git"))),
            ("sync_status", or_unknown(&app.status.sync.status)),
        ];
        let labels: Vec<String> = labels.iter().map(|(name, value)| format!("{name}={value:?}")).collect();
        let _ = writeln!(text, "argocd_app_info{{{}}} 1", labels.join(","));
    }
    let (kinds, objects, bytes) = ctx.live.size();
    let _ = writeln!(
        text,
        "# TYPE litecd_watched_kinds gauge\nlitecd_watched_kinds {kinds}\n# TYPE litecd_kept_objects gauge\nlitecd_kept_objects {objects}\n# TYPE litecd_kept_bytes gauge\nlitecd_kept_bytes {bytes}"
    );
    text
}
