//! How sources are fetched and rendered: limits of time, size and number.
//!
//! In:  the parameters of the process.
//! Out: limits in the words of the rooms that hold to them.
//! Source: REND-259 to REND-263 (`cmd/argocd-repo-server/commands/argocd_repo_server.go`).

use std::path::PathBuf;
use std::time::Duration;

use jiff::SignedDuration;
use tokio::sync::Semaphore;

use super::failures::Pause;
use super::rendered::Bounds;
use crate::charts::{self, MediaTypes};
use crate::process::Limits;
use crate::render::jsonnet;
use crate::repo::{self, Timeouts};
use crate::settings::{Parameters, RepoServer};

/// Limits of fetching and rendering.
#[derive(Debug, Clone)]
pub struct Options {
    /// Git repositories.
    pub store: repo::Options,
    /// Chart repositories and registries.
    pub charts: charts::Options,
    /// What chart repositories are told that asks them; empty for litecd's own name.
    pub helm_user_agent: String,
    /// Each helm and kustomize run.
    pub limits: Limits,
    /// Program that evaluates Jsonnet: litecd itself.
    pub evaluator: PathBuf,
    /// Renderings at once.
    pub parallel: usize,
    /// Listings of references at once.
    pub listings: usize,
    /// What is remembered of renderings.
    pub rendered: Bounds,
    /// Largest sum of a directory's manifest files in bytes; zero is no limit.
    pub max_directory_bytes: u64,
    /// When a rendering that fails is no longer tried.
    pub pause: Pause,
}

impl Options {
    /// Renders everything anew: for a process that renders once and ends.
    pub fn without_memory(mut self) -> Self {
        self.rendered.age = Duration::ZERO;
        self
    }
}

impl From<&Parameters> for Options {
    fn from(parameters: &Parameters) -> Self {
        let of = &parameters.repo_server;
        // Who lets the controller wait longer for manifests wants the tools to run longer, too. In Argo CD that takes a
        // variable of another program besides, which nobody can read here.
        let timeout = of.exec_timeout.max(parameters.repo_server_timeout);
        let limits = Limits { timeout: duration(timeout), ..Limits::default() };
        Self {
            store: repo::Options {
                timeouts: Timeouts {
                    list: duration(of.git_request_timeout),
                    exec: duration(timeout),
                    grace: duration(of.exec_fatal_timeout),
                },
                submodules: of.git_submodules,
                allow_links_out: of.allow_links_out,
                ..repo::Options::default()
            },
            charts: charts_options(of, limits.timeout),
            helm_user_agent: of.helm_user_agent.clone(),
            limits,
            evaluator: jsonnet::own_program(),
            // Argo CD's default is no limit at all, on a machine of its own; litecd's share one with the cluster.
            parallel: if of.parallelism_limit > 0 { of.parallelism_limit } else { processors() },
            listings: if of.listings_limit > 0 { of.listings_limit } else { Semaphore::MAX_PERMITS },
            rendered: Bounds { age: duration(of.cache_expiration), ..Bounds::default() },
            max_directory_bytes: of.max_directory_bytes,
            pause: Pause { after: of.pause_after_failures, time: duration(of.pause_time), answers: of.pause_answers },
        }
    }
}

fn charts_options(of: &RepoServer, timeout: Duration) -> charts::Options {
    let types = of.oci_media_types.clone();
    charts::Options {
        timeout,
        max_chart_bytes: (!of.helm_unlimited).then_some(of.helm_max_bytes),
        max_oci_bytes: (!of.oci_unlimited).then_some(of.oci_max_bytes),
        media_types: if types.is_empty() { MediaTypes::default() } else { MediaTypes(types) },
        allow_links_out: of.allow_links_out,
        ..charts::Options::default()
    }
}

fn processors() -> usize {
    std::thread::available_parallelism().map_or(2, usize::from).max(2)
}

fn duration(of: SignedDuration) -> Duration {
    Duration::try_from(of).unwrap_or_default()
}
