//! Ends a command early when a signal asks for it.
//!
//! In:  the work of a command.
//! Out: its result, or the signal that came first.
//! Invariant: work that a signal ends is dropped and not abandoned, so that its children are killed and its temporary files,
//! credentials among them, are removed.

use std::future::Future;
use std::process::ExitCode;

use crate::telemetry::{self, Stop};

/// A signal ended the command.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("stopped by a signal")]
pub struct Interrupted(Stop);

impl Interrupted {
    /// What a shell reports of a program that the signal killed.
    pub fn exit_code(self) -> ExitCode {
        match self.0 {
            Stop::Interrupt => ExitCode::from(130),
            Stop::Terminate => ExitCode::from(143),
        }
    }
}

/// Works until the end or the first signal.
pub async fn unless_stopped<T>(work: impl Future<Output = T>) -> Result<T, Interrupted> {
    tokio::select! {
        // The signals are listened to before the first child is started.
        biased;
        stop = telemetry::stop_signal() => Err(Interrupted(stop)),
        done = work => Ok(done),
    }
}
