//! The corpus: cases that litecd is held to, and the harness that runs them.
//!
//! A case (`cases/AREA/NAME`) is a list of steps and what Argo CD v3.5.1 was recorded doing at them.  The harness starts
//! lanes (a real control plane, repositories, litecd), runs the steps and compares.
//!
//! | file | |
//! |---|---|
//! | `yaml` | the YAML of cases and goldens |
//! | `case`, `run`, `snapshot`, `cleanup` | a case, its steps, what is seen, and what is taken away after it |
//! | `normal`, `compare`, `want`, `verdict` | from what is seen to passed or failed |
//! | `api`, `web` | the API server, and plain HTTP |
//! | `servers`, `repositories` | git and chart servers |
//! | `loopback` | servers with credentials, from the Go module `servers` |
//! | `tools`, `child`, `kernel` | the binaries and processes |
//! | `control_plane`, `subject`, `lane`, `lanes` | a cluster, litecd on it, both in a namespace, and several of those |
//! | `crash` | litecd killed in the middle of a sync |
//! | `expected` | the cases that need not pass yet |

pub mod api;
pub mod case;
pub mod child;
mod cleanup;
pub mod compare;
pub mod control_plane;
pub mod crash;
pub mod expected;
mod kernel;
pub mod lane;
pub mod lanes;
pub mod loopback;
pub mod normal;
pub mod repositories;
pub mod run;
pub mod servers;
mod snapshot;
pub mod subject;
#[cfg(test)]
mod tests;
pub mod tools;
pub mod verdict;
pub mod want;
pub mod web;
pub mod yaml;

use std::path::{Path, PathBuf};
use std::sync::LazyLock;

/// The folder of this package in the workspace that is worked in: a build may be shared by several.
pub fn root() -> &'static Path {
    static ROOT: LazyLock<PathBuf> = LazyLock::new(|| {
        // cargo names the member that it runs, whose folder lies beside this one's.
        let from_cargo = std::env::var_os("CARGO_MANIFEST_DIR").map(PathBuf::from);
        let here = std::env::current_dir().unwrap_or_default();
        let folders = from_cargo.iter().flat_map(|dir| dir.ancestors()).chain(here.ancestors());
        let found = folders.map(|dir| dir.join("corpus")).find(|dir| dir.join("cluster/stages.yaml").is_file());
        found.unwrap_or_else(|| PathBuf::from(env!("CARGO_MANIFEST_DIR")))
    });
    &ROOT
}

/// The folder that cargo builds into.
pub fn target() -> PathBuf {
    match std::env::var_os("CARGO_TARGET_DIR") {
        Some(dir) => PathBuf::from(dir),
        None => root().parent().unwrap_or(root()).join("target"),
    }
}
