//! The clocks that pure rooms are lent: how long a jq expression or a health script may run.
//!
//! Source: DIFF-081, HEALTH-074 (`util/argo/normalizers/diff_normalizer.go`, `util/lua/lua.go`).

use std::sync::Arc;
use std::time::{Duration, Instant};

use crate::diff::StartTimer;
use crate::health::{Run, StartRun};

/// How long one run may take.
const LIMIT: Duration = Duration::from_secs(1);

/// Starts the clock of one jq run.
pub fn jq_timer() -> StartTimer {
    Arc::new(|| {
        let start = Instant::now();
        Box::new(move || start.elapsed() > LIMIT)
    })
}

/// Starts the clock of one script run.
pub fn script_clock() -> StartRun {
    Arc::new(|| {
        let start = Instant::now();
        Run { now: jiff::Timestamp::now(), expired: Box::new(move || start.elapsed() > LIMIT) }
    })
}
