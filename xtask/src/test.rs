//! `cargo xtask test`: everything that must hold before a change is taken.
//!
//! Out: the output of each check, then the corpus; the last line is the corpus's `N passed, M failed`.  A long run kills
//! litecd in the middle of syncs before that.
//! Invariant: a check that fails does not hide the ones after it.

use std::io::{BufRead as _, BufReader};
use std::path::PathBuf;
use std::process::{Command, Stdio};

use anyhow::{Context as _, Result, anyhow};
use clap::Args;

use crate::cargo;

/// What is tested.
#[derive(Args)]
pub struct Options {
    /// Run also the cases listed in corpus/expected-failures.txt.
    #[arg(long)]
    all: bool,
    /// Let property tests try many more inputs, kill litecd in the middle of syncs, and let the API server fail
    /// (`corpus crash`, alone, with --every-call and with --faults).
    #[arg(long)]
    long: bool,
    /// Clusters at once [default: what the machine carries].
    #[arg(long, value_name = "COUNT")]
    lanes: Option<usize>,
}

/// Runs every check; true when all hold.
pub fn run(options: &Options) -> Result<bool> {
    let mut env = Vec::new();
    if options.long {
        env.push(("PROPTEST_CASES", PathBuf::from("20000")));
    }
    let checks: [&[&str]; 3] = [
        &["fmt", "--all", "--check"],
        &["clippy", "--workspace", "--all-targets", "--", "-D", "warnings"],
        &["test", "--workspace", "--no-fail-fast"],
    ];
    let mut failures = Vec::new();
    for check in checks {
        println!("== cargo {}", check.join(" "));
        failures.extend(cargo(check, &env).err());
    }
    // The whole workspace, so that dependencies are built with the features that the tests had them with.
    cargo(&["build", "--workspace"], &[])?;
    if options.long {
        for task in [&["crash"][..], &["crash", "--every-call"], &["crash", "--faults"]] {
            let name = task.join(" ");
            println!("== corpus {name}");
            let (passed, last) = corpus(task, options)?;
            println!("{last}");
            failures.extend((!passed).then(|| anyhow!("corpus {name}: {last}")));
        }
    }
    println!("== corpus");
    let (passed, last) = corpus(&["run"], options)?;
    for failure in &failures {
        println!("{failure:#}");
    }
    println!("{last}");
    Ok(passed && failures.is_empty())
}

/// Runs a command of the corpus; whether it passed, and its last line, which is held back.
fn corpus(task: &[&str], options: &Options) -> Result<(bool, String)> {
    let mut command = Command::new(corpus::target().join("debug/corpus"));
    command.args(task).stdout(Stdio::piped());
    if options.all && task == ["run"] {
        command.arg("--all");
    }
    if let Some(lanes) = options.lanes {
        command.arg("--lanes").arg(lanes.to_string());
    }
    let mut child = command.spawn().context("cannot run the corpus")?;
    let mut last = String::new();
    for line in BufReader::new(child.stdout.take().context("no output")?).lines() {
        if !last.is_empty() {
            println!("{last}");
        }
        last = line?;
    }
    Ok((child.wait()?.success(), last))
}
