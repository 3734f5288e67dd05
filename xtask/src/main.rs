//! `cargo xtask`: the demo, the tests and the measurements.

mod bench;
mod demo;
mod test;

use std::ffi::OsStr;
use std::path::{Path, PathBuf};
use std::process::{Command, ExitCode};

use anyhow::{Context as _, Result, bail};
use clap::{Parser, Subcommand};

#[derive(Parser)]
#[command(name = "cargo xtask", about = "The demo, the tests and the measurements of litecd")]
struct Cli {
    #[command(subcommand)]
    command: Task,
}

#[derive(Subcommand)]
enum Task {
    /// Checks formatting and lints, and runs unit tests and the corpus.
    Test(test::Options),
    /// Starts a cluster on this machine, litecd on it, and the examples it deploys.
    Demo(demo::Options),
    /// How much litecd adds to what helm and kustomize take by themselves, on a monorepo of 200 applications.
    Bench(bench::Options),
}

fn main() -> ExitCode {
    let outcome = match Cli::parse().command {
        Task::Test(options) => test::run(&options),
        Task::Demo(options) => demo::run(&options),
        Task::Bench(options) => bench::run(&options),
    };
    match outcome {
        Ok(true) => ExitCode::SUCCESS,
        Ok(false) => ExitCode::FAILURE,
        Err(error) => {
            eprintln!("error: {error:#}");
            ExitCode::FAILURE
        }
    }
}

/// The workspace's folder.
fn workspace() -> &'static Path {
    corpus::root().parent().unwrap_or(corpus::root())
}

/// Runs cargo in the workspace, its output on the terminal; an error when it fails.
fn cargo<S: AsRef<OsStr>>(args: &[S], env: &[(&str, PathBuf)]) -> Result<()> {
    let cargo = std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into());
    let mut command = Command::new(cargo);
    command.args(args).envs(env.iter().map(|(name, value)| (name, value))).current_dir(workspace());
    let status = command.status().context("cannot run cargo")?;
    if !status.success() {
        let args: Vec<_> = args.iter().map(|arg| arg.as_ref().to_string_lossy()).collect();
        bail!("cargo {} failed", args.join(" "));
    }
    Ok(())
}
