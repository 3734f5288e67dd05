//! Processes that the harness starts, and ends again whatever happens.
//!
//! In:  a program, its arguments and where its output goes.  Out: a handle.
//! Invariant: a process never outlives its handle by more than the two seconds it gets to end by itself.

use std::ffi::OsStr;
use std::fs::{self, OpenOptions};
use std::path::{Path, PathBuf};
use std::process::Stdio;
use std::time::Duration;

use anyhow::{Context as _, Result};
use tokio::process::{Child, Command};
use tokio::time::timeout;

use crate::kernel;

/// How long a process gets to end by itself: an API server with open watches takes a minute.
const GRACE: Duration = Duration::from_secs(2);

/// A running process with its log.
#[derive(Debug)]
pub struct Process {
    /// What it is called in messages.
    pub name: String,
    /// Where its output goes.
    pub log: PathBuf,
    child: Child,
}

/// What to start.
#[derive(Debug)]
pub struct Start<'a> {
    /// What it is called; its log is `NAME.log`.
    pub name: &'a str,
    /// The folder it runs and logs in.
    pub dir: &'a Path,
    /// The program.
    pub program: &'a Path,
    /// Its arguments.
    pub args: Vec<String>,
    /// Variables added to its environment.
    pub env: Vec<(&'static str, String)>,
}

impl Process {
    /// Starts a process in a process group of its own, so that the terminal's Ctrl-C does not reach it before us.
    ///
    /// Its log continues the one that is there: what a killed process wrote explains what the next one does.
    pub fn start(start: Start<'_>) -> Result<Self> {
        let log = start.dir.join(format!("{}.log", start.name));
        let output = OpenOptions::new().create(true).append(true).open(&log);
        let output = output.with_context(|| format!("cannot write {}", log.display()))?;
        let mut command = kernel::dying_with_parent(start.program);
        command.args(&start.args).envs(start.env).current_dir(start.dir).process_group(0).kill_on_drop(true);
        command.stdin(Stdio::null()).stdout(output.try_clone()?).stderr(output);
        let child = command.spawn().with_context(|| format!("cannot start {}", start.program.display()))?;
        Ok(Self { name: start.name.to_owned(), log, child })
    }

    /// How it ended, if it did.
    pub fn ended(&mut self) -> Option<String> {
        let status = self.child.try_wait().ok().flatten()?;
        Some(format!("{} ended ({status}); its log ends with:\n{}", self.name, self.log_tail()))
    }

    /// The process's id while it runs.
    pub fn id(&self) -> Option<u32> {
        self.child.id()
    }

    /// The last lines of its log.
    pub fn log_tail(&self) -> String {
        let text = fs::read(&self.log).map(|bytes| String::from_utf8_lossy(&bytes).into_owned()).unwrap_or_default();
        let lines: Vec<&str> = text.lines().collect();
        lines.get(lines.len().saturating_sub(15)..).unwrap_or_default().join("\n")
    }
}

/// Asks all to end and kills those that have not after two seconds.
pub async fn stop(processes: &mut Vec<Process>) {
    let leaders: Vec<u32> = processes.iter().filter_map(Process::id).collect();
    for pid in &leaders {
        kernel::terminate(*pid);
    }
    let all = processes.iter_mut().map(|process| process.child.wait());
    let _ = timeout(GRACE, futures::future::join_all(all)).await;
    // A process group keeps its number while a member lives, so what these kill is ours: a process, or its children.
    leaders.into_iter().for_each(kernel::kill_group);
    for process in processes.iter_mut() {
        // Killing what has ended already fails, which is what we want.
        let _ = process.child.kill().await;
    }
    processes.clear();
}

/// Runs a short command to its end; its error is what it wrote.
pub async fn run<S: AsRef<OsStr>>(program: impl AsRef<OsStr>, args: &[S], dir: &Path) -> Result<Vec<u8>> {
    run_command(Command::new(program).args(args).current_dir(dir)).await
}

/// Runs a prepared command to its end; its error is what it wrote.
pub async fn run_command(command: &mut Command) -> Result<Vec<u8>> {
    let name = command.as_std().get_program().to_string_lossy().into_owned();
    let args: Vec<_> = command.as_std().get_args().map(|arg| arg.to_string_lossy().into_owned()).collect();
    command.stdin(Stdio::null()).kill_on_drop(true);
    let output = command.output().await.with_context(|| format!("cannot run {name}"))?;
    anyhow::ensure!(
        output.status.success(),
        "{name} {} failed ({}): {}",
        args.join(" "),
        output.status,
        String::from_utf8_lossy(&output.stderr).trim()
    );
    Ok(output.stdout)
}
