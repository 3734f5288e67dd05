//! Starts the controller, hands out turns, and stops.
//!
//! In:  [`Options`] from the command line.
//! Out: a process that works until it is told to stop; turns in progress are finished first.
//! Source: `cmd/argocd-application-controller/commands/argocd_application_controller.go`.

use std::cell::{Cell, RefCell};
use std::collections::BTreeMap;
use std::net::SocketAddr;
use std::panic::AssertUnwindSafe;
use std::path::PathBuf;
use std::rc::Rc;
use std::sync::Arc;
use std::time::Duration;

use futures::FutureExt;
use tokio::sync::{Notify, mpsc};

use super::config::Raw;
use super::context::Context;
use super::dry_runs::DryRuns;
use super::published::Published;
use super::queue::{AppKey, Queue};
use super::readiness::Readiness;
use super::remotes::Remotes;
use super::sets::Sets;
use super::stores::Apps;
use super::turns::Turns;
use super::webhooks::Reception;
use super::{feeds, leftovers, preflight, reconcile, serve, webhooks};
use crate::api::GroupVersionKind;
use crate::cluster::{self, Cluster, ConfigError, Resource};
use crate::compare::{Level, Periods};
use crate::desired::{self, Desired};
use crate::guard::{self};
use crate::settings::{Parameters, Settings, Timeouts};
use crate::telemetry;
use crate::watch::{Change, Live, Orphans};
use crate::webhook::Endpoint;

/// What holds while `argocd-cm` cannot be read (APP-273).
const DEFAULT_TIMEOUTS: Timeouts = Timeouts {
    reconciliation: jiff::SignedDuration::from_secs(120),
    jitter: jiff::SignedDuration::from_secs(60),
    hard_reconciliation: jiff::SignedDuration::ZERO,
};

/// What the command line says.
pub struct Options {
    /// Kubeconfig file; `KUBECONFIG`, the pod's account or the file in the home folder when absent.
    pub kubeconfig: Option<PathBuf>,
    /// Namespace of the control plane.
    pub namespace: String,
    /// Folder for repositories and rendered manifests.
    pub cache_dir: PathBuf,
    /// Address of webhook, metrics and health.
    pub listen: SocketAddr,
    /// Address of webhooks for ApplicationSets, where they do not arrive at `listen` too.
    pub applicationset_listen: Option<SocketAddr>,
    /// Whether nothing is written.
    pub observe: bool,
    /// Whether the diff of each application that is out of sync is kept in a Secret.
    pub publish_diffs: bool,
    /// Settings given as flags, by the flag's name.
    pub flags: Vec<(String, String)>,
}

/// Why the controller could not start.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// No usable cluster.
    #[error("cannot reach the cluster")]
    Cluster(#[from] cluster::Error),
    /// No usable configuration.
    #[error(transparent)]
    Config(#[from] ConfigError),
    /// The address is taken, or not ours.
    #[error("cannot listen on {address}")]
    Listen {
        /// The address.
        address: SocketAddr,
        /// The system's error.
        source: std::io::Error,
    },
    /// The cache folder cannot be used.
    #[error("cannot use the cache directory {}: {reason}", path.display())]
    Cache {
        /// The folder.
        path: PathBuf,
        /// Why.
        reason: String,
    },
    /// A setting given as a flag cannot be read.
    #[error("{0}")]
    Parameter(String),
}

/// Runs until SIGTERM or SIGINT. Must be called inside a `LocalSet`.
pub async fn run(options: Options) -> Result<(), Error> {
    tokio::select! {
        _ = telemetry::stop_signal() => Ok(()),
        started = start(options) => {
            hand_out_turns(started?).await;
            Ok(())
        }
    }
}

async fn start(options: Options) -> Result<Rc<Context>, Error> {
    let readiness = Arc::new(Readiness::default());
    let listener = bind(options.listen).await?;
    let (scrapes, scrape_requests) = mpsc::channel(4);
    let webhooks = Reception::default();
    let endpoint = if options.applicationset_listen.is_some() { Endpoint::Applications } else { Endpoint::Both };
    serve::start(listener, readiness.clone(), scrapes, webhooks::router(webhooks.clone(), endpoint));
    if let Some(address) = options.applicationset_listen {
        serve::serve(bind(address).await?, webhooks::router(webhooks.clone(), Endpoint::ApplicationSets));
    }
    let (changes, change_events) = mpsc::unbounded_channel();
    preflight::tools();
    let ctx = context(&options, changes, (readiness, webhooks)).await?;
    preflight::namespace(&ctx.cluster, &ctx.namespace).await;
    feeds::start_settings(&ctx).await;
    feeds::start_apps(&ctx).await;
    super::sets::start(&ctx);
    ctx.readiness.begin();
    tracing::info!(applications = ctx.apps.keys().len(), namespace = ctx.namespace, "Ready");
    tokio::task::spawn_local(follow_changes(ctx.clone(), change_events));
    tokio::task::spawn_local(sweep_again(ctx.clone()));
    tokio::task::spawn_local(webhooks::refresh_apps(ctx.clone()));
    tokio::task::spawn_local(webhooks::refresh_sets(ctx.clone()));
    tokio::task::spawn_local(serve::answer_scrapes(ctx.clone(), scrape_requests));
    tokio::task::spawn_local(leftovers::sweep_at_start(ctx.clone()));
    let (queue, sets) = (ctx.queue.clone(), ctx.sets.queue.clone());
    let work = move || Some(queue.quiet_after()? + sets.quiet_after()?);
    tokio::task::spawn_local(telemetry::memory::trim_when_quiet(work));
    Ok(ctx)
}

async fn bind(address: SocketAddr) -> Result<tokio::net::TcpListener, Error> {
    tokio::net::TcpListener::bind(address).await.map_err(|source| Error::Listen { address, source })
}

pub(super) async fn context(
    options: &Options,
    changes: mpsc::UnboundedSender<Change>,
    (readiness, webhooks): (Arc<Readiness>, Reception),
) -> Result<Rc<Context>, Error> {
    let config = kube_config(options).await?;
    let cluster = Cluster::connect(config, crate::api::names::IN_CLUSTER_SERVER.to_owned())?;
    let (parameters, timeouts) = parameters(&cluster, options).await?;
    let applications = wait_for_crds(&cluster).await;
    let live =
        Live::new(cluster.client(), Rc::new(|_: &serde_json::Value| crate::watch::Seen::Foreign), changes.clone());
    let cache = |reason: String| Error::Cache { path: options.cache_dir.clone(), reason };
    let limits = desired::Options::from(&parameters);
    let desired = Desired::new(&options.cache_dir, limits).map_err(|error| cache(error.to_string()))?;
    let turns = Turns::new(&parameters);
    let sets = Sets::new(&parameters.application_sets, &options.namespace);
    Ok(Rc::new(Context {
        namespace: options.namespace.clone(),
        parameters,
        orphans: Orphans::new(cluster.client(), changes.clone()),
        cluster,
        live,
        apps: Apps::default(),
        sets,
        config: RefCell::new(Rc::new(Raw::default().config())),
        last_good: RefCell::new(Rc::new(Raw::default().config())),
        swept: Rc::default(),
        desired,
        queue: Queue::default(),
        turns,
        doomed: Notify::new(),
        verdict: RefCell::new(guard::decide(None, options.observe)),
        observe: options.observe,
        published: Published::new(options.publish_diffs),
        sweep: Notify::new(),
        refresh_all: Cell::default(),
        remotes: Remotes::default(),
        changes,
        periods: timeouts.0,
        longest_jitter: timeouts.1,
        repo_errors: RefCell::default(),
        dry_runs: DryRuns::default(),
        applications,
        webhooks,
        readiness,
    }))
}

/// A kubeconfig that was named, else what the environment offers.
async fn kube_config(options: &Options) -> Result<kube::Config, ConfigError> {
    match &options.kubeconfig {
        Some(path) => cluster::from_kubeconfig(path, None).await,
        None => cluster::from_environment().await,
    }
}

/// `argocd-cmd-params-cm` and the `timeout.*` keys of `argocd-cm` are read once, as Argo CD does; flags win.
async fn parameters(cluster: &Cluster, options: &Options) -> Result<(Parameters, (Periods, Duration)), Error> {
    let params = config_map(cluster, &options.namespace, feeds::CMD_PARAMS).await?;
    let (mut parameters, problems) = Parameters::from_config_map(&params);
    for problem in problems {
        tracing::warn!(reason = %problem, "Ignoring a setting of {}", feeds::CMD_PARAMS);
    }
    for (flag, value) in &options.flags {
        parameters.set_flag(flag, value).map_err(|error| Error::Parameter(error.to_string()))?;
    }
    let settings = config_map(cluster, &options.namespace, "argocd-cm").await?;
    let timeouts = Settings::from_config_map(&settings).map_or(DEFAULT_TIMEOUTS, |settings| settings.timeouts);
    let positive = |of: jiff::SignedDuration| Duration::try_from(of).ok().filter(|period| !period.is_zero());
    let periods = Periods {
        soft: positive(parameters.app_resync.unwrap_or(timeouts.reconciliation)),
        hard: positive(parameters.app_hard_resync.unwrap_or(timeouts.hard_reconciliation)),
    };
    let jitter = positive(parameters.app_resync_jitter.unwrap_or(timeouts.jitter)).unwrap_or_default();
    Ok((parameters, (periods, jitter)))
}

async fn config_map(
    cluster: &Cluster,
    namespace: &str,
    name: &str,
) -> Result<BTreeMap<String, String>, cluster::Error> {
    let maps = Resource {
        version: "v1".to_owned(),
        kind: "ConfigMap".to_owned(),
        plural: "configmaps".to_owned(),
        namespaced: true,
        ..Resource::default()
    };
    let found = cluster.get(&maps, namespace, name).await?;
    Ok(found.and_then(|map| serde_json::from_value(map["data"].clone()).ok()).unwrap_or_default())
}

/// The CRDs may be applied after litecd starts.
async fn wait_for_crds(cluster: &Cluster) -> Arc<Resource> {
    let gvk = GroupVersionKind::from_api_version("argoproj.io/v1alpha1", "Application");
    let mut told = false;
    loop {
        match cluster.resource(&gvk).await {
            Ok(resource) => return resource,
            Err(error) => {
                if !told {
                    tracing::warn!(reason = error.text, "Waiting for the Application CRD");
                    told = true;
                }
                tokio::time::sleep(Duration::from_secs(1)).await;
                cluster.forget_discovery();
            }
        }
    }
}

async fn hand_out_turns(ctx: Rc<Context>) {
    let mut stop = std::pin::pin!(telemetry::stop_signal());
    loop {
        let admit = |key: &AppKey| ctx.turns.take(ctx.apps.is_pressing(key));
        let (key, level, turn) = tokio::select! {
            _ = &mut stop => break,
            next = ctx.queue.next(admit) => next,
        };
        let ctx = ctx.clone();
        tokio::task::spawn_local(async move {
            let work = AssertUnwindSafe(reconcile::run(ctx.clone(), key.clone(), level, turn)).catch_unwind();
            if let Err(panic) = work.await {
                tracing::error!(application = key.name, reason = panic_text(&*panic), "Recovered from panic");
                ctx.again(&key, Some(level.unwrap_or(Level::Recent)));
            }
            ctx.queue.done(&key);
        });
    }
    // Turns in progress end at their next write; a killed process continues from the status just as well.
    let _ = tokio::time::timeout(Duration::from_secs(10), ctx.turns.all_over()).await;
    let _ = tokio::time::timeout(Duration::from_secs(5), webhooks::leave_behind(&ctx)).await;
    tracing::info!("Stopped");
}

pub(super) fn panic_text(panic: &(dyn std::any::Any + Send)) -> String {
    let text = panic.downcast_ref::<&str>().map(|text| (*text).to_owned());
    text.or_else(|| panic.downcast_ref::<String>().cloned()).unwrap_or_else(|| "unknown panic".to_owned())
}

/// Looks for leftovers anew after settings changed, and at every application where tracking did.
async fn sweep_again(ctx: Rc<Context>) {
    loop {
        ctx.sweep.notified().await;
        ctx.swept.set(false);
        ctx.remotes.all().iter().for_each(|remote| remote.swept.set(false));
        leftovers::sweep_at_start(ctx.clone()).await;
        if !ctx.refresh_all.take() {
            continue;
        }
        for key in ctx.apps.keys() {
            ctx.queue.add(&key, Some(Level::Latest));
        }
    }
}

async fn follow_changes(ctx: Rc<Context>, mut events: mpsc::UnboundedReceiver<Change>) {
    while let Some(change) = events.recv().await {
        let (owner, level) = match &change {
            Change::Root { owner, .. } => (owner, Level::Recent),
            Change::Below { owner } => (owner, Level::Nothing),
        };
        let key = feeds::key_of_instance(&ctx, owner);
        let own = matches!(&change, Change::Root { key: object, .. } if feeds::is_own_object(object, &key));
        if !own && ctx.apps.contains(&key) {
            ctx.queue.add(&key, Some(level));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// An error with its causes, as the command line prints it.
    fn said(error: &dyn std::error::Error) -> String {
        std::iter::successors(Some(error), |error| error.source())
            .map(ToString::to_string)
            .collect::<Vec<_>>()
            .join(": ")
    }

    #[test]
    fn an_error_names_its_cause_once() {
        let source = || std::io::Error::other("in use");
        let address = SocketAddr::from(([127, 0, 0, 1], 80));
        assert_eq!(said(&Error::Listen { address, source: source() }), "cannot listen on 127.0.0.1:80: in use");
        let cause = serde_json::from_str::<bool>("").expect_err("no JSON");
        let text = format!("cannot reach the cluster: /version: {cause}");
        assert_eq!(said(&Error::Cluster(cluster::Error::Decode { text: "/version".to_owned(), cause })), text);
        let cause = Box::new(kube::config::KubeconfigError::ReadConfig(source(), PathBuf::from("/a")));
        let error = Error::Config(ConfigError::Kubeconfig { path: "/a".to_owned(), cause });
        assert_eq!(said(&error), "cannot use the kubeconfig /a: in use");
    }
}
