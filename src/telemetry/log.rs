//! Log format and level.
//!
//! In:  `json` or `text`; `debug`, `info`, `warn`, `error`.
//! Out: lines on standard error.
//! Source: APP-297 (`cmd/argocd-application-controller/commands/argocd_application_controller.go`).

use tracing::level_filters::LevelFilter;
use tracing_subscriber::filter::Targets;
use tracing_subscriber::layer::SubscriberExt;
use tracing_subscriber::util::SubscriberInitExt;
use tracing_subscriber::{Layer, fmt, registry};

/// Why logging could not be set up.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// Not a level.
    #[error("invalid log level {0:?}: use debug, info, warn or error")]
    Level(String),
    /// Not a format.
    #[error("invalid log format {0:?}: use json or text")]
    Format(String),
}

/// Sets logging up for the process.
pub fn start(format: &str, level: &str) -> Result<(), Error> {
    let level: LevelFilter = match level.to_ascii_lowercase().as_str() {
        "trace" => LevelFilter::TRACE,
        "debug" => LevelFilter::DEBUG,
        "info" => LevelFilter::INFO,
        "warn" | "warning" => LevelFilter::WARN,
        "error" | "fatal" | "panic" => LevelFilter::ERROR,
        _ => return Err(Error::Level(level.to_owned())),
    };
    // Libraries speak at their own level of detail; only what they warn of concerns an operator.
    let targets = Targets::new().with_default(LevelFilter::WARN.min(level)).with_target("litecd", level);
    // It repeats at each connection what the kubeconfig says by itself.
    let targets = targets.with_target("kube_client", LevelFilter::ERROR);
    let layer = fmt::layer().with_writer(std::io::stderr).with_target(false);
    let layer = match format {
        "json" => layer.json().flatten_event(true).with_current_span(true).with_span_list(false).boxed(),
        "text" => layer.with_ansi(false).boxed(),
        _ => return Err(Error::Format(format.to_owned())),
    };
    // A second start, in tests, keeps the first one's settings.
    let _ = registry().with(layer.with_filter(targets)).try_init();
    Ok(())
}
