//! Whether litecd is ready: it began, and it still hears of Applications.
//!
//! In:  the begin, and what the watch of Applications tells.
//! Out: the answer to `/readyz`.
//! Invariant: a watch that failed now and then is no reason; one that fails all the time for a minute is.

use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant};

/// How long the watch may fail without a break, as with a token that was revoked.
const LONGEST: Duration = Duration::from_secs(60);

/// Attempts come at least this often, with their pauses of half a minute; when none failed for longer, one succeeded.
const ATTEMPTS: Duration = Duration::from_secs(90);

/// Shared by the watch and the server of `/readyz`.
#[derive(Debug, Default)]
pub struct Readiness(Mutex<State>);

#[derive(Debug, Default)]
struct State {
    has_begun: bool,
    failing: Option<Failing>,
}

/// Failures of the watch without a success between them.
#[derive(Debug)]
struct Failing {
    first: Instant,
    last: Instant,
    reason: String,
}

impl Readiness {
    /// Everything was listed.
    pub fn begin(&self) {
        self.with(|state| state.has_begun = true);
    }

    /// The watch told something.
    pub fn heard(&self) {
        self.with(|state| state.failing = None);
    }

    /// The watch failed.
    pub fn failed(&self, reason: &str, now: Instant) {
        self.with(|state| {
            let known = state.failing.take().filter(|known| now.duration_since(known.last) < ATTEMPTS);
            let first = known.map_or(now, |known| known.first);
            state.failing = Some(Failing { first, last: now, reason: reason.to_owned() });
        });
    }

    /// Why litecd is not ready, if it is not.
    pub fn answer(&self, now: Instant) -> Result<(), String> {
        self.with(|state| {
            if !state.has_begun {
                return Err("starting".to_owned());
            }
            match &state.failing {
                Some(failing) if failing.last_for(now) => Err(format!(
                    "no watch of Applications succeeded for {} s: {}",
                    now.duration_since(failing.first).as_secs(),
                    failing.reason
                )),
                _ => Ok(()),
            }
        })
    }

    fn with<T>(&self, work: impl FnOnce(&mut State) -> T) -> T {
        // A panic elsewhere leaves the state whole: it is replaced field by field.
        work(&mut self.0.lock().unwrap_or_else(PoisonError::into_inner))
    }
}

impl Failing {
    /// Whether the failures last too long already, and go on.
    fn last_for(&self, now: Instant) -> bool {
        self.last.duration_since(self.first) >= LONGEST && now.duration_since(self.last) < ATTEMPTS
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Whether litecd is ready at a second, after failures and signs of life at others.
    fn check(failures: &[u64], heard: &[u64], at: u64, expect: bool) {
        let start = Instant::now();
        let second = |count: u64| start + Duration::from_secs(count);
        let readiness = Readiness::default();
        readiness.begin();
        for now in 0..=at {
            if failures.contains(&now) {
                readiness.failed("Unauthorized", second(now));
            }
            if heard.contains(&now) {
                readiness.heard();
            }
        }
        assert_eq!(readiness.answer(second(at)).is_ok(), expect, "{failures:?} {heard:?} {at}");
    }

    #[test]
    fn it_is_not_ready_before_it_began() {
        assert_eq!(Readiness::default().answer(Instant::now()), Err("starting".to_owned()));
    }

    #[test]
    fn a_watch_that_fails_for_a_minute_is_noticed() {
        check(&[0, 1, 3, 10, 30], &[], 45, true);
        check(&[0, 1, 3, 10, 30, 60], &[], 61, false);
        check(&[0, 1, 3, 10, 30, 60, 90, 120], &[], 149, false);
    }

    #[test]
    fn a_success_in_between_counts() {
        check(&[0, 30, 60], &[31], 61, true);
        check(&[0, 30, 60], &[61], 61, true);
    }

    #[test]
    fn silence_after_failures_is_a_watch_that_stands() {
        check(&[0, 30, 60], &[], 150, true);
        check(&[0, 100, 200], &[], 201, true);
    }
}
