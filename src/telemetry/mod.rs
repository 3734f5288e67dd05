//! Logs, memory housekeeping, and the signal to stop.
//!
//! In:  format and level.
//! Out: `tracing` lines with Argo CD's field names; memory returned to the system after bursts.

pub mod log;
pub mod memory;

/// How the process was asked to stop.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Stop {
    /// By SIGTERM.
    Terminate,
    /// By SIGINT.
    Interrupt,
}

/// Resolves when the process is asked to stop (SIGTERM or SIGINT).
pub async fn stop_signal() -> Stop {
    use tokio::signal::unix::{SignalKind, signal};
    let (Ok(mut term), Ok(mut int)) = (signal(SignalKind::terminate()), signal(SignalKind::interrupt())) else {
        return std::future::pending().await;
    };
    tokio::select! {
        _ = term.recv() => Stop::Terminate,
        _ = int.recv() => Stop::Interrupt,
    }
}
