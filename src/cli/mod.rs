//! The command line: the only room that prints.
//!
//! In:  arguments.
//! Out: text on standard output, errors on standard error, exit codes that scripts can use: 0 good, 1 the answer is
//! no, 2 the question could not be answered, 130 and 143 a signal came first.

mod check;
mod controller;
mod crds;
mod diff;
mod explain;
mod files;
mod health;
mod interrupt;
mod render;
mod rendering;
mod sets;
mod verdicts;
mod why;
mod wrap;

use std::io::{Read, Write};
use std::process::ExitCode;

use anyhow::Context;

use clap::{CommandFactory, FromArgMatches, Parser, Subcommand};

/// Exit code for usage errors and unreadable input.
pub const UNANSWERED: u8 = 2;

/// What stands below the commands in the help.
const MORE: &str = "\
litecd compares, syncs, heals, prunes and deletes what Applications say, and writes the status that Argo CD writes.
`litecd check` says whether it supports all that your repository uses.
`litecd COMMAND --help` explains a command's flags, environment variables and exit codes.";

/// A small GitOps controller that reads Argo CD's Application and AppProject unchanged.
#[derive(Parser)]
#[command(name = "litecd", version, disable_help_subcommand = true, after_help = MORE)]
struct Args {
    #[command(subcommand)]
    command: Command,
}

#[derive(Subcommand)]
enum Command {
    /// Runs the controller.
    Controller(Box<controller::Args>),
    /// Says which Argo CD features a repository uses, and whether this build supports them.
    Check(check::Args),
    /// Shows what differs between the cluster and the sources of an Application.
    Diff(diff::Args),
    /// Says why an Application is what it is, and what comes next.
    Why(why::Args),
    /// Says how healthy objects are, without a cluster.
    Health(health::Args),
    /// Renders Applications as the controller would, without a cluster.
    Render(Box<render::Args>),
    /// Prints the CustomResourceDefinitions of Application, AppProject and ApplicationSet.
    Crds(crds::Args),
    /// Prints the version.
    Version,
    /// Evaluates Jsonnet for the controller: reads a task, prints the answer.
    #[command(name = crate::render::jsonnet::SUBCOMMAND, hide = true)]
    RenderJsonnet,
}

/// Runs the command line.
pub fn run() -> ExitCode {
    let matches = wrap::wrapped(Args::command()).try_get_matches();
    let args = match matches.and_then(|matches| Args::from_arg_matches(&matches)) {
        Ok(args) => args,
        Err(error) => {
            let _ = error.print();
            return ExitCode::from(if error.use_stderr() { UNANSWERED } else { 0 });
        }
    };
    let outcome = match args.command {
        Command::Controller(args) => controller::run(*args),
        Command::Check(args) => check::run(&args),
        Command::Diff(args) => diff::run(args),
        Command::Why(args) => why::run(args),
        Command::Health(args) => health::run(&args),
        Command::Render(args) => render::run(&args),
        Command::Crds(args) => crds::run(&args),
        Command::Version => version(),
        Command::RenderJsonnet => render_jsonnet(),
    };
    outcome.unwrap_or_else(|error| {
        if let Some(interrupted) = error.downcast_ref::<interrupt::Interrupted>() {
            return interrupted.exit_code();
        }
        eprintln!("litecd: {error:#}");
        ExitCode::from(UNANSWERED)
    })
}

/// Prints to standard output. A reader that has seen enough, such as `head`, is no error.
fn print(text: &str) -> anyhow::Result<()> {
    match std::io::stdout().write_all(text.as_bytes()) {
        Err(error) if error.kind() == std::io::ErrorKind::BrokenPipe => Ok(()),
        outcome => outcome.context("cannot write the output"),
    }
}

fn render_jsonnet() -> anyhow::Result<ExitCode> {
    let mut task = Vec::new();
    std::io::stdin().read_to_end(&mut task).context("cannot read the task")?;
    print(&crate::render::jsonnet::answer(&task).map_err(anyhow::Error::msg)?)?;
    Ok(ExitCode::SUCCESS)
}

fn version() -> anyhow::Result<ExitCode> {
    print(&format!(
        "litecd {} (status format of Argo CD {})\n",
        env!("CARGO_PKG_VERSION"),
        crate::api::names::ARGOCD_VERSION
    ))?;
    Ok(ExitCode::SUCCESS)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn help_fits_a_hundred_columns_and_tells_exit_codes_and_an_example() {
        let mut all = wrap::wrapped(Args::command());
        for command in all.get_subcommands_mut().filter(|command| !command.is_hide_set()) {
            let name = command.get_name().to_owned();
            let help = command.render_long_help().to_string();
            for line in help.lines() {
                assert!(line.chars().count() <= 100, "{name}: {line}");
            }
            if !matches!(name.as_str(), "version" | "controller") {
                assert!(help.contains("\nExit codes:\n") && help.contains("\nExample"), "{name}: {help}");
            }
        }
    }
}
