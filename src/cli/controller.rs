//! `litecd controller`.

use std::net::SocketAddr;
use std::path::PathBuf;
use std::process::ExitCode;

use anyhow::Context;

use crate::{controller, telemetry};

/// Runs the controller.
#[derive(clap::Args)]
pub struct Args {
    /// Kubeconfig file; without it, in-cluster, else the current context.
    #[arg(long, env = "KUBECONFIG_PATH")]
    kubeconfig: Option<PathBuf>,
    /// Namespace of Argo CD's settings and projects.
    #[arg(long, env = "ARGOCD_NAMESPACE", default_value = "argocd")]
    namespace: String,
    /// Folder for repositories and rendered manifests.
    #[arg(long, env = "LITECD_CACHE_DIR", default_value = "/var/cache/litecd")]
    cache_dir: PathBuf,
    /// Address of metrics and health.
    #[arg(long, env = "LITECD_LISTEN", default_value = "0.0.0.0:8080")]
    listen: SocketAddr,
    /// Log format: json or text.
    #[arg(long, env = "ARGOCD_APPLICATION_CONTROLLER_LOGFORMAT", default_value = "text")]
    logformat: String,
    /// Log level: debug, info, warn or error.
    #[arg(long, env = "ARGOCD_APPLICATION_CONTROLLER_LOGLEVEL", default_value = "info")]
    loglevel: String,
    #[command(flatten)]
    parameters: Parameters,
}

/// Settings that Argo CD takes as flags; each overrides its key in `argocd-cmd-params-cm` or `argocd-cm`.
#[derive(clap::Args)]
struct Parameters {
    /// Namespaces besides the controller's whose Applications are managed, comma separated.
    #[arg(long, env = "ARGOCD_APPLICATION_NAMESPACES")]
    application_namespaces: Option<String>,
    /// Seconds between comparisons; 0 turns periodic comparison off.
    #[arg(long, env = "ARGOCD_RECONCILIATION_TIMEOUT")]
    app_resync: Option<String>,
    /// Seconds between hard comparisons; 0 turns them off.
    #[arg(long, env = "ARGOCD_HARD_RECONCILIATION_TIMEOUT")]
    app_hard_resync: Option<String>,
    /// Longest random delay added to a periodic comparison.
    #[arg(long, env = "ARGOCD_RECONCILIATION_JITTER")]
    app_resync_jitter: Option<String>,
    /// How long a rendering error is not shown when nobody asked.
    #[arg(long, env = "ARGOCD_REPO_ERROR_GRACE_PERIOD_SECONDS")]
    repo_error_grace_period_seconds: Option<String>,
    /// Applications worked on at once.
    #[arg(long, env = "ARGOCD_APPLICATION_CONTROLLER_STATUS_PROCESSORS")]
    status_processors: Option<String>,
    /// Operations advanced at once.
    #[arg(long, env = "ARGOCD_APPLICATION_CONTROLLER_OPERATION_PROCESSORS")]
    operation_processors: Option<String>,
    /// Writes at once per cluster.
    #[arg(long, env = "ARGOCD_APPLICATION_CONTROLLER_KUBECTL_PARALLELISM_LIMIT")]
    kubectl_parallelism_limit: Option<String>,
    /// Seconds between self-heal attempts when the backoff is off.
    #[arg(long, env = "ARGOCD_APPLICATION_CONTROLLER_SELF_HEAL_TIMEOUT_SECONDS")]
    self_heal_timeout_seconds: Option<String>,
    /// First self-heal delay in seconds.
    #[arg(long, env = "ARGOCD_APPLICATION_CONTROLLER_SELF_HEAL_BACKOFF_TIMEOUT_SECONDS")]
    self_heal_backoff_timeout_seconds: Option<String>,
    /// Growth of the self-heal delay.
    #[arg(long, env = "ARGOCD_APPLICATION_CONTROLLER_SELF_HEAL_BACKOFF_FACTOR")]
    self_heal_backoff_factor: Option<String>,
    /// Longest self-heal delay in seconds.
    #[arg(long, env = "ARGOCD_APPLICATION_CONTROLLER_SELF_HEAL_BACKOFF_CAP_SECONDS")]
    self_heal_backoff_cap_seconds: Option<String>,
    /// Seconds after which an operation is terminated; 0 is never.
    #[arg(long, env = "ARGOCD_APPLICATION_CONTROLLER_SYNC_TIMEOUT")]
    sync_timeout: Option<String>,
    /// Whether health is written for each object in `.status.resources`.
    #[arg(long, env = "ARGOCD_APPLICATION_CONTROLLER_PERSIST_RESOURCE_HEALTH")]
    persist_resource_health: Option<String>,
}

impl Parameters {
    /// Key and value of each flag that was given.
    fn overrides(self) -> Vec<(String, String)> {
        let seconds = |value: Option<String>| {
            value.map(|text| if text.chars().all(|c| c.is_ascii_digit()) && text != "0" { format!("{text}s") } else { text })
        };
        [
            ("application.namespaces", self.application_namespaces),
            ("timeout.reconciliation", seconds(self.app_resync)),
            ("timeout.hard.reconciliation", seconds(self.app_hard_resync)),
            ("timeout.reconciliation.jitter", seconds(self.app_resync_jitter)),
            ("controller.repo.error.grace.period.seconds", seconds(self.repo_error_grace_period_seconds)),
            ("controller.status.processors", self.status_processors),
            ("controller.operation.processors", self.operation_processors),
            ("controller.kubectl.parallelism.limit", self.kubectl_parallelism_limit),
            ("controller.self.heal.timeout.seconds", self.self_heal_timeout_seconds),
            ("controller.self.heal.backoff.timeout.seconds", self.self_heal_backoff_timeout_seconds),
            ("controller.self.heal.backoff.factor", self.self_heal_backoff_factor),
            ("controller.self.heal.backoff.cap.seconds", self.self_heal_backoff_cap_seconds),
            ("controller.sync.timeout.seconds", self.sync_timeout),
            ("controller.resource.health.persist", self.persist_resource_health),
        ]
        .into_iter()
        .filter_map(|(key, value)| Some((key.to_owned(), value?)))
        .collect()
    }
}

/// Runs `litecd controller`.
pub fn run(args: Args) -> anyhow::Result<ExitCode> {
    telemetry::log::start(&args.logformat, &args.loglevel)?;
    // One thread: two workers cost 0.2 MiB idle and 1.4 MiB with a hundred watches, and reconciles wait, not compute.
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .max_blocking_threads(4)
        .thread_keep_alive(std::time::Duration::from_secs(2))
        .build()
        .context("cannot start the runtime")?;
    let options = controller::Options {
        kubeconfig: args.kubeconfig,
        namespace: args.namespace,
        cache_dir: args.cache_dir,
        listen: args.listen,
        observe: false,
        overrides: args.parameters.overrides(),
    };
    let local = tokio::task::LocalSet::new();
    local.block_on(&runtime, controller::run(options))?;
    Ok(ExitCode::SUCCESS)
}
