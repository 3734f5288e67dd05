//! `litecd controller`.

use std::net::SocketAddr;
use std::path::PathBuf;
use std::process::ExitCode;

use anyhow::Context;

use crate::gocompat::duration;
use crate::{controller, telemetry};

/// What stands below the flags in the help.
const MORE: &str = "\
A flag wins over its environment variable, which wins over argocd-cmd-params-cm and argocd-cm. Names are Argo CD's.
A variable of a flag in seconds may also hold a duration such as 2m30s, as Argo CD's does.

git, helm and kustomize are looked for in PATH. Never run two litecds on one namespace: nothing keeps them apart.

Exit codes:
  0  ended by SIGTERM or SIGINT
  2  could not start";

/// Runs the controller until SIGTERM or SIGINT.
#[derive(clap::Args)]
#[command(after_help = MORE)]
pub struct Args {
    /// Kubeconfig file [default: $KUBECONFIG, else the pod's service account, else ~/.kube/config].
    #[arg(long, value_name = "FILE")]
    kubeconfig: Option<PathBuf>,
    /// Namespace of Argo CD's settings, projects and Applications.
    #[arg(long, env = "ARGOCD_NAMESPACE", default_value = "argocd")]
    namespace: String,
    /// Folder for repositories, checkouts and rendered manifests; made when missing, and safe to delete while stopped.
    #[arg(long, env = "LITECD_CACHE_DIR", default_value = "/var/cache/litecd", value_name = "FOLDER")]
    cache_dir: PathBuf,
    /// Address that serves /healthz, /readyz, /metrics and webhooks at /api/webhook.
    #[arg(long, env = "LITECD_LISTEN", default_value = "0.0.0.0:8080", value_name = "IP:PORT")]
    listen: SocketAddr,
    /// Address of webhooks for ApplicationSets, as Argo CD's own controller of them has [default: that of --listen].
    #[arg(long, env = "LITECD_APPLICATIONSET_LISTEN", value_name = "IP:PORT")]
    applicationset_listen: Option<SocketAddr>,
    /// Format of the log on standard error: json or text.
    #[arg(long, env = "ARGOCD_APPLICATION_CONTROLLER_LOGFORMAT", default_value = "text", value_name = "FORMAT")]
    logformat: String,
    /// Least level that is logged: debug, info, warn or error.
    #[arg(long, env = "ARGOCD_APPLICATION_CONTROLLER_LOGLEVEL", default_value = "info", value_name = "LEVEL")]
    loglevel: String,
    /// Whether the diff of each Application that is out of sync is kept in a Secret beside it, `<application>.diff`.
    #[arg(long, env = "LITECD_PUBLISH_DIFFS", default_value_t = true, action = clap::ArgAction::Set)]
    publish_diffs: bool,
    #[command(flatten)]
    parameters: Parameters,
}

/// Settings that Argo CD takes as flags; each overrides its key in `argocd-cmd-params-cm` or `argocd-cm`, and those
/// decide where the default is given in words.
#[derive(clap::Args)]
#[command(next_help_heading = "Argo CD's flags (unless given, argocd-cmd-params-cm and argocd-cm decide)")]
struct Parameters {
    /// Namespaces besides --namespace whose Applications are managed: globs or /expressions/, comma separated [default: none].
    #[arg(long, env = "ARGOCD_APPLICATION_NAMESPACES", value_name = "PATTERNS")]
    application_namespaces: Option<String>,
    /// Seconds between comparisons of an Application, 0 for never [default: 120].
    #[arg(long, env = "ARGOCD_RECONCILIATION_TIMEOUT", value_name = "SECONDS")]
    app_resync: Option<String>,
    /// Seconds between comparisons that render everything anew, 0 for never [default: 0].
    #[arg(long, env = "ARGOCD_HARD_RECONCILIATION_TIMEOUT", value_name = "SECONDS")]
    app_hard_resync: Option<String>,
    /// Longest random delay in seconds that is added to --app-resync [default: 60].
    #[arg(long, env = "ARGOCD_RECONCILIATION_JITTER", value_name = "SECONDS")]
    app_resync_jitter: Option<String>,
    /// Seconds that sources may fail to render before the status says so, unless somebody asked [default: 180].
    #[arg(long, env = "ARGOCD_REPO_ERROR_GRACE_PERIOD_SECONDS", value_name = "SECONDS")]
    repo_error_grace_period_seconds: Option<String>,
    /// Seconds that a run of git, helm or kustomize may take, where --exec-timeout is shorter [default: 60].
    #[arg(long, env = "ARGOCD_APPLICATION_CONTROLLER_REPO_SERVER_TIMEOUT_SECONDS", value_name = "SECONDS")]
    repo_server_timeout_seconds: Option<String>,
    /// Applications compared at once [default: 20].
    #[arg(long, env = "ARGOCD_APPLICATION_CONTROLLER_STATUS_PROCESSORS", value_name = "COUNT")]
    status_processors: Option<String>,
    /// Operations and deletions worked on at once, besides those [default: 10].
    #[arg(long, env = "ARGOCD_APPLICATION_CONTROLLER_OPERATION_PROCESSORS", value_name = "COUNT")]
    operation_processors: Option<String>,
    /// Writes at once per sync step, 0 for no limit [default: 20].
    #[arg(long, env = "ARGOCD_APPLICATION_CONTROLLER_KUBECTL_PARALLELISM_LIMIT", value_name = "COUNT")]
    kubectl_parallelism_limit: Option<String>,
    /// Fixed seconds between self-heals; 0 leaves it to the three flags below [default: 0].
    #[arg(long, env = "ARGOCD_APPLICATION_CONTROLLER_SELF_HEAL_TIMEOUT_SECONDS", value_name = "SECONDS")]
    self_heal_timeout_seconds: Option<String>,
    /// Seconds before the second self-heal [default: 2].
    #[arg(long, env = "ARGOCD_APPLICATION_CONTROLLER_SELF_HEAL_BACKOFF_TIMEOUT_SECONDS", value_name = "SECONDS")]
    self_heal_backoff_timeout_seconds: Option<String>,
    /// How many times longer each further delay is [default: 3].
    #[arg(long, env = "ARGOCD_APPLICATION_CONTROLLER_SELF_HEAL_BACKOFF_FACTOR", value_name = "FACTOR")]
    self_heal_backoff_factor: Option<String>,
    /// Longest such delay in seconds [default: 300].
    #[arg(long, env = "ARGOCD_APPLICATION_CONTROLLER_SELF_HEAL_BACKOFF_CAP_SECONDS", value_name = "SECONDS")]
    self_heal_backoff_cap_seconds: Option<String>,
    /// Seconds after which an operation is terminated, 0 for never [default: 0].
    #[arg(long, env = "ARGOCD_APPLICATION_CONTROLLER_SYNC_TIMEOUT", value_name = "SECONDS")]
    sync_timeout: Option<String>,
    /// true stores the health of each object in .status.resources, false leaves it out [default: false].
    #[arg(long, env = "ARGOCD_APPLICATION_CONTROLLER_PERSIST_RESOURCE_HEALTH", value_name = "BOOL")]
    persist_resource_health: Option<String>,
    /// Reasons of the Kubernetes events that are written, comma separated, or all or none [default: all].
    #[arg(long, env = "ARGOCD_ENABLE_K8S_EVENT", value_name = "REASONS")]
    enable_k8s_event: Option<String>,
    #[command(flatten)]
    verdicts: super::verdicts::Flags,
    #[command(flatten)]
    rendering: super::rendering::Flags,
    #[command(flatten)]
    sets: super::sets::SetFlags,
}

impl Parameters {
    /// Name and value of each flag that was given.
    fn given(self) -> Vec<(String, String)> {
        [
            ("application-namespaces", self.application_namespaces),
            ("app-resync", self.app_resync.map(in_seconds)),
            ("app-hard-resync", self.app_hard_resync.map(in_seconds)),
            ("app-resync-jitter", self.app_resync_jitter.map(in_seconds)),
            ("repo-error-grace-period-seconds", self.repo_error_grace_period_seconds.map(in_seconds)),
            ("repo-server-timeout-seconds", self.repo_server_timeout_seconds),
            ("status-processors", self.status_processors),
            ("operation-processors", self.operation_processors),
            ("kubectl-parallelism-limit", self.kubectl_parallelism_limit),
            ("self-heal-timeout-seconds", self.self_heal_timeout_seconds),
            ("self-heal-backoff-timeout-seconds", self.self_heal_backoff_timeout_seconds),
            ("self-heal-backoff-factor", self.self_heal_backoff_factor),
            ("self-heal-backoff-cap-seconds", self.self_heal_backoff_cap_seconds),
            ("sync-timeout", self.sync_timeout),
            ("persist-resource-health", self.persist_resource_health),
            ("enable-k8s-event", self.enable_k8s_event),
        ]
        .into_iter()
        .chain(self.verdicts.all())
        .chain(self.rendering.all())
        .chain(self.sets.all())
        // An empty variable is no value, as everywhere in Argo CD.
        .filter_map(|(flag, value)| Some((flag.to_owned(), value.filter(|text| !text.is_empty())?)))
        .collect()
    }
}

/// Argo CD's variables hold durations where its flags of the same setting hold seconds.
fn in_seconds(text: String) -> String {
    duration::parse_setting(&text).map_or(text, |parsed| parsed.as_secs().to_string())
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
        applicationset_listen: args.applicationset_listen,
        observe: false,
        publish_diffs: args.publish_diffs,
        flags: args.parameters.given(),
    };
    let local = tokio::task::LocalSet::new();
    local.block_on(&runtime, controller::run(options))?;
    Ok(ExitCode::SUCCESS)
}

#[cfg(test)]
mod tests {
    use clap::{CommandFactory, Parser};

    use super::*;
    use crate::settings;

    #[derive(Parser)]
    struct Line {
        #[command(flatten)]
        args: Args,
    }

    #[test]
    fn every_flag_of_argo_cd_is_a_parameter() {
        let command = Line::command();
        let flags = command.get_arguments().filter(|flag| flag.get_help_heading().is_some());
        let flags: Vec<&str> = flags.filter_map(|flag| flag.get_long()).collect();
        assert!(flags.contains(&"sync-timeout"), "{flags:?}");
        for flag in flags {
            assert!(settings::Parameters::flags().any(|known| known == flag), "{flag}");
        }
    }

    #[test]
    fn a_duration_may_stand_for_seconds() {
        let given = |value: &str| {
            let line = Line::parse_from(["controller", "--app-resync", value]);
            line.args.parameters.given().into_iter().find(|(name, _)| name == "app-resync").map(|(_, value)| value)
        };
        assert_eq!(given("90").as_deref(), Some("90"));
        assert_eq!(given("2m30s").as_deref(), Some("150"));
        assert_eq!(given("soon").as_deref(), Some("soon"));
    }
}
