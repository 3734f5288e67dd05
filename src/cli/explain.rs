//! What `litecd diff` and `litecd why` have in common: the way to one application.

use std::net::{Ipv4Addr, SocketAddr};
use std::path::PathBuf;

use anyhow::Context;

use super::interrupt::unless_stopped;
use crate::explain::Facts;
use crate::{controller, telemetry};

/// Where the Application is.
#[derive(clap::Args)]
pub struct Place {
    /// Name of the Application, or NAMESPACE/NAME.
    app: String,
    /// Kubeconfig file [default: $KUBECONFIG, else the pod's service account, else ~/.kube/config].
    #[arg(long, value_name = "FILE")]
    kubeconfig: Option<PathBuf>,
    /// Namespace of Argo CD's settings and projects, and of the Application when it names none.
    #[arg(long, env = "ARGOCD_NAMESPACE", default_value = "argocd")]
    namespace: String,
    /// Folder for repositories; a temporary one when absent, so that everything is fetched anew.
    #[arg(long, value_name = "FOLDER")]
    cache_dir: Option<PathBuf>,
    #[command(flatten)]
    verdicts: super::verdicts::Flags,
}

/// Compares the Application as the controller would, reading the cluster and the sources and writing nothing.
pub fn look(place: Place) -> anyhow::Result<Facts> {
    // What cannot be listed would otherwise only be waited for.
    telemetry::log::start("text", "warn")?;
    let scratch = tempfile::tempdir().context("cannot make a temporary folder")?;
    let options = controller::Options {
        kubeconfig: place.kubeconfig,
        namespace: place.namespace,
        cache_dir: place.cache_dir.unwrap_or_else(|| scratch.path().to_owned()),
        // Nothing listens, and nothing is written.
        listen: SocketAddr::from((Ipv4Addr::LOCALHOST, 0)),
        applicationset_listen: None,
        observe: true,
        publish_diffs: false,
        flags: place.verdicts.given(),
    };
    let runtime =
        tokio::runtime::Builder::new_current_thread().enable_all().build().context("cannot start the runtime")?;
    let local = tokio::task::LocalSet::new();
    let work = unless_stopped(controller::inspect(options, &place.app));
    Ok(local.block_on(&runtime, work)??)
}
