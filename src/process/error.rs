//! Why a command gave no result, in Argo CD's words.
//!
//! In:  how the child ended and what it wrote to stderr.
//! Out: the text users see in conditions.
//! Source: REND-042, REND-043 (`util/exec/exec.go` `CmdError`).

use std::ffi::OsStr;
use std::io;
use std::os::unix::process::ExitStatusExt;
use std::process::ExitStatus;
use std::time::Duration;

/// Why a command gave no result.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum Error {
    /// The program is not on `PATH`; worded as Go's `os/exec`.
    #[error("exec: \"{program}\": executable file not found in $PATH")]
    NotFound {
        /// Name that was looked for.
        program: String,
    },
    /// The program is there but did not start.
    #[error("fork/exec {program}: {reason}")]
    NotStarted {
        /// Name that was looked for.
        program: String,
        /// The system's reason.
        reason: String,
    },
    /// The command ended with a failure.
    #[error("`{command}` failed {cause}{}{stderr}", if stderr.is_empty() { "" } else { ": " })]
    Failed {
        /// Program and arguments.
        command: String,
        /// `exit status 1`, `signal: killed`.
        cause: String,
        /// Trimmed stderr.
        stderr: String,
    },
    /// The command ran too long and was ended.
    #[error("`{command}` failed {}timeout after {}", if *fatal { "fatal " } else { "" }, go_duration(*after))]
    Timeout {
        /// Program and arguments.
        command: String,
        /// Whether it had to be killed.
        fatal: bool,
        /// How long it ran.
        after: Duration,
    },
    /// The command wrote more than was allowed and was killed.
    #[error("`{command}` failed: wrote more than {limit} bytes")]
    TooMuchOutput {
        /// Program and arguments.
        command: String,
        /// Allowed bytes.
        limit: usize,
    },
}

impl Error {
    pub(super) fn start(program: &OsStr, source: &io::Error) -> Self {
        let program = program.to_string_lossy().into_owned();
        if source.kind() == io::ErrorKind::NotFound {
            return Self::NotFound { program };
        }
        Self::NotStarted { program, reason: source.to_string() }
    }

    pub(super) fn failed(command: String, status: ExitStatus, stderr: &str) -> Self {
        let cause = match (status.code(), status.signal()) {
            (Some(code), _) => format!("exit status {code}"),
            (None, Some(signal)) => format!("signal: {}", signal_name(signal)),
            (None, None) => "exit status unknown".to_owned(),
        };
        Self::Failed { command, cause, stderr: stderr.trim().to_owned() }
    }

    /// What the command wrote to stderr, trimmed; empty where it did not get that far.
    pub fn stderr(&self) -> &str {
        match self {
            Self::Failed { stderr, .. } => stderr,
            _ => "",
        }
    }
}

/// Go's names of the signals that end a process in practice.
fn signal_name(signal: i32) -> String {
    match signal {
        libc::SIGKILL => "killed".to_owned(),
        libc::SIGTERM => "terminated".to_owned(),
        libc::SIGINT => "interrupt".to_owned(),
        libc::SIGSEGV => "segmentation fault".to_owned(),
        libc::SIGABRT => "aborted".to_owned(),
        libc::SIGPIPE => "broken pipe".to_owned(),
        other => format!("signal {other}"),
    }
}

/// A duration as Go prints it (`1m30s`), to the millisecond: timeouts are never finer.
pub fn go_duration(duration: Duration) -> String {
    let (total, millis) = (duration.as_secs(), duration.subsec_millis());
    if total == 0 {
        return if millis == 0 { "0s".to_owned() } else { format!("{millis}ms") };
    }
    let (hours, minutes, seconds) = (total / 3600, total / 60 % 60, total % 60);
    let fraction = match millis {
        0 => String::new(),
        _ => format!(".{}", format!("{millis:03}").trim_end_matches('0')),
    };
    match (hours, minutes) {
        (0, 0) => format!("{seconds}{fraction}s"),
        (0, _) => format!("{minutes}m{seconds}{fraction}s"),
        _ => format!("{hours}h{minutes}m{seconds}{fraction}s"),
    }
}
