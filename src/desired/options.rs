//! How sources are fetched and rendered: limits of time, size and number.
//!
//! In:  the parameters of the process.
//! Out: limits in the words of the rooms that hold to them.
//! Source: REND-259 to REND-263 (`cmd/argocd-repo-server/commands/argocd_repo_server.go`).

use std::time::Duration;

use jiff::SignedDuration;

use super::failures::Pause;
use crate::process::Limits;
use crate::repo::{self, Timeouts};
use crate::settings::Parameters;

/// Limits of fetching and rendering.
#[derive(Debug, Clone, Copy)]
pub struct Options {
    /// Git repositories.
    pub store: repo::Options,
    /// Each helm and kustomize run.
    pub limits: Limits,
    /// Renderings at once.
    pub parallel: usize,
    /// Largest sum of a directory's manifest files in bytes; zero is no limit.
    pub max_directory_bytes: u64,
    /// When a rendering that fails is no longer tried.
    pub pause: Pause,
}

impl From<&Parameters> for Options {
    fn from(parameters: &Parameters) -> Self {
        let of = &parameters.repo_server;
        let limits = Limits { timeout: duration(of.exec_timeout), ..Limits::default() };
        Self {
            store: repo::Options {
                timeouts: Timeouts {
                    list: duration(of.git_request_timeout),
                    exec: limits.timeout,
                    grace: duration(of.exec_fatal_timeout),
                },
                submodules: of.git_submodules,
                allow_links_out: of.allow_links_out,
                ..repo::Options::default()
            },
            limits,
            // Argo CD's default is no limit at all, on a machine of its own; litecd's share one with the cluster.
            parallel: if of.parallelism_limit > 0 { of.parallelism_limit } else { processors() },
            max_directory_bytes: of.max_directory_bytes,
            pause: Pause { after: of.pause_after_failures, time: duration(of.pause_time), answers: of.pause_answers },
        }
    }
}

fn processors() -> usize {
    std::thread::available_parallelism().map_or(2, usize::from).max(2)
}

fn duration(of: SignedDuration) -> Duration {
    Duration::try_from(of).unwrap_or_default()
}
