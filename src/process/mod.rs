//! Runs one child process to its end: git, helm or kustomize.
//!
//! In:  a [`Command`]: program found on `PATH`, arguments, directory, environment, stdin, limits.
//! Out: what it wrote to stdout, or an [`Error`] worded as Argo CD words a failed command.
//! Invariant: each child leads a process group of its own, and the whole group is killed when it runs too long, writes too much
//! or its caller is dropped half-way. Output is bounded; no `GIT_*` and `HELM_*` of litecd's own environment reaches a child.
//! Source: REND-042, REND-043 (`util/exec/exec.go` `RunCommandExt`).

mod error;
mod group;
mod output;

#[cfg(test)]
mod tests;

use std::ffi::{OsStr, OsString};
use std::path::PathBuf;
use std::process::Stdio;
use std::time::Duration;

use tokio::io::AsyncWriteExt;

pub use error::{Error, go_duration};
use group::Group;

/// How long a command may run, and what happens then.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Limits {
    /// Wall-clock time after which the command is stopped.
    pub timeout: Duration,
    /// Time between the polite signal and the kill; `None` kills at once.
    pub grace: Option<Duration>,
    /// Largest stdout in bytes; a command that writes more is killed.
    pub max_output: usize,
}

impl Default for Limits {
    /// Argo CD's 90 seconds, killed at once, and 256 MiB of output.
    fn default() -> Self {
        Self { timeout: Duration::from_secs(90), grace: None, max_output: 256 << 20 }
    }
}

/// A command that has not been started.
#[derive(Clone)]
pub struct Command {
    program: OsString,
    args: Vec<OsString>,
    dir: Option<PathBuf>,
    env: Vec<(String, OsString)>,
    stdin: Option<Vec<u8>>,
    limits: Limits,
    shown: Option<String>,
    hidden: Vec<(String, String)>,
}

impl Command {
    /// A command without arguments.
    pub fn new(program: impl AsRef<OsStr>) -> Self {
        Self {
            program: program.as_ref().to_owned(),
            args: Vec::new(),
            dir: None,
            env: Vec::new(),
            stdin: None,
            limits: Limits::default(),
            shown: None,
            hidden: Vec::new(),
        }
    }
    /// Adds one argument.
    pub fn arg(mut self, arg: impl AsRef<OsStr>) -> Self {
        self.args.push(arg.as_ref().to_owned());
        self
    }
    /// Adds arguments.
    pub fn args<I: IntoIterator<Item = S>, S: AsRef<OsStr>>(mut self, args: I) -> Self {
        self.args.extend(args.into_iter().map(|arg| arg.as_ref().to_owned()));
        self
    }
    /// Sets the working directory.
    pub fn dir(mut self, dir: impl Into<PathBuf>) -> Self {
        self.dir = Some(dir.into());
        self
    }
    /// Adds an environment variable; values are never logged.
    pub fn env(mut self, name: impl Into<String>, value: impl AsRef<OsStr>) -> Self {
        self.env.push((name.into(), value.as_ref().to_owned()));
        self
    }
    /// Sets what the child reads; nothing by default.
    pub fn stdin(mut self, bytes: Vec<u8>) -> Self {
        self.stdin = Some(bytes);
        self
    }
    /// Sets time and output limits.
    pub fn limits(mut self, limits: Limits) -> Self {
        self.limits = limits;
        self
    }
    /// Sets the text that errors show instead of the real arguments, where those hold a secret.
    pub fn shown_as(mut self, text: impl Into<String>) -> Self {
        self.shown = Some(text.into());
        self
    }

    /// Sets texts that neither errors nor logs show, each with what they show instead: servers may repeat what they were sent.
    pub fn hiding(mut self, hidden: Vec<(String, String)>) -> Self {
        self.hidden = hidden;
        self
    }

    /// The command as errors and logs show it: program and arguments joined by blanks.
    pub fn display(&self) -> String {
        if let Some(text) = &self.shown {
            return text.clone();
        }
        let mut words = vec![self.program.to_string_lossy().into_owned()];
        words.extend(self.args.iter().map(|arg| arg.to_string_lossy().into_owned()));
        self.hide(words.join(" "))
    }

    fn hide(&self, text: String) -> String {
        self.hidden.iter().fold(text, |text, (secret, instead)| text.replace(secret, instead))
    }

    /// Runs to the end and returns stdout without its last newline, as Argo CD reads it.
    ///
    /// # Errors
    /// The command could not start, ended with a failure, ran too long or wrote too much.
    pub async fn run(&self) -> Result<Vec<u8>, Error> {
        let started = std::time::Instant::now();
        let outcome = self.run_to_end().await;
        let took_ms = u64::try_from(started.elapsed().as_millis()).unwrap_or(u64::MAX);
        match &outcome {
            Ok(_) => tracing::debug!(command = self.display(), took_ms, "command ended"),
            Err(error) => tracing::debug!(command = self.display(), took_ms, %error, "command failed"),
        }
        outcome
    }

    async fn run_to_end(&self) -> Result<Vec<u8>, Error> {
        let mut child = self.prepare().spawn().map_err(|source| Error::start(&self.program, &source))?;
        let group = Group::of(&child);
        let stdin = child.stdin.take();
        let (stdout, stderr) = (child.stdout.take(), child.stderr.take());
        let feed = async {
            if let (Some(mut pipe), Some(bytes)) = (stdin, &self.stdin) {
                // A child that stops reading early is judged by its exit status, not by the broken pipe.
                let _ = pipe.write_all(bytes).await;
            }
            Ok(())
        };
        let err = output::read_start(stderr, output::ENDLESS_STDERR);
        // The join ends at the first error, so a child that writes without end is noticed while it still runs.
        let work = async { tokio::try_join!(feed, output::read(stdout, self.limits.max_output), err) };
        let deadline = tokio::time::Instant::now() + self.limits.timeout;
        let done = match tokio::time::timeout_at(deadline, work).await {
            Ok(done) => done,
            Err(_) => return Err(self.stop(&mut child, &group).await),
        };
        let ((), out, err) = match done {
            Ok(done) => done,
            Err(output::TooMuch(limit)) => {
                group.kill();
                let _ = child.wait().await;
                return Err(Error::TooMuchOutput { command: self.display(), limit });
            }
        };
        let status = match tokio::time::timeout_at(deadline, child.wait()).await {
            Ok(Ok(status)) => status,
            Ok(Err(source)) => return Err(Error::start(&self.program, &source)),
            Err(_) => return Err(self.stop(&mut child, &group).await),
        };
        group.finished();
        if status.success() {
            return Ok(output::without_newline(out));
        }
        Err(Error::failed(self.display(), status, &self.hide(err)))
    }

    /// Ends a command that ran too long and waits until it is gone.
    async fn stop(&self, child: &mut tokio::process::Child, group: &Group) -> Error {
        let after = |duration| Error::Timeout { command: self.display(), fatal: false, after: duration };
        if let Some(grace) = self.limits.grace {
            group.terminate();
            if tokio::time::timeout(grace, child.wait()).await.is_ok() {
                group.kill();
                return after(self.limits.timeout);
            }
            group.kill();
            let _ = child.wait().await;
            return Error::Timeout { command: self.display(), fatal: true, after: self.limits.timeout + grace };
        }
        group.kill();
        let _ = child.wait().await;
        after(self.limits.timeout)
    }

    fn prepare(&self) -> tokio::process::Command {
        let mut command = tokio::process::Command::new(&self.program);
        command.args(&self.args).process_group(0).kill_on_drop(true);
        command.stdin(if self.stdin.is_some() { Stdio::piped() } else { Stdio::null() });
        command.stdout(Stdio::piped()).stderr(Stdio::piped());
        if let Some(dir) = &self.dir {
            command.current_dir(dir);
        }
        // A hook or a session that starts litecd may point git or helm at folders of its own.
        for (name, _) in std::env::vars_os() {
            let name = name.to_string_lossy().into_owned();
            if name.starts_with("GIT_") || name.starts_with("HELM_") {
                command.env_remove(name);
            }
        }
        command.envs(self.env.iter().map(|(name, value)| (name, value)));
        command
    }
}
