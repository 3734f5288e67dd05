//! When a failed operation is tried again.
//!
//! In:  the retry policy, how many retries there were, the time.
//! Out: the time of the next attempt, and how a message shows it.
//! Invariant: a value that cannot be read is an error with its own text, never a default.
//! Source: SYNC-118, SYNC-235 to SYNC-239, APP-166 to APP-168 (`pkg/apis/application/v1alpha1/types.go`
//! `NextRetryAt`, `parseStringToDuration`).

use jiff::tz::TimeZone;
use jiff::{SignedDuration, Timestamp};

use crate::api::operation::RetryStrategy;
use crate::gocompat::duration;

const DEFAULT_DURATION: SignedDuration = SignedDuration::from_secs(5);
const DEFAULT_MAX_DURATION: SignedDuration = SignedDuration::from_secs(180);
const DEFAULT_FACTOR: i64 = 2;

/// Why no time for a retry can be told.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum Error {
    /// A duration of the policy cannot be read; ends the operation (SYNC-236).
    #[error("unable to parse {text} as a duration")]
    BadDuration {
        /// What stands in the policy.
        text: String,
    },
}

/// Whether a failed attempt is followed by another (SYNC-235). A negative limit has no end.
pub fn is_due(policy: &RetryStrategy, retries: i64) -> bool {
    policy.limit < 0 || retries < policy.limit
}

/// Time of the attempt after `retries` retries, counted from the end of the last one.
pub fn next_at(policy: &RetryStrategy, last: Timestamp, retries: i64) -> Result<Timestamp, Error> {
    let wait = delay(policy, retries)?;
    Ok(last.checked_add(wait).unwrap_or(if wait.is_negative() { Timestamp::MIN } else { Timestamp::MAX }))
}

/// duration × factor^retries, capped when the cap is above zero. Overflow saturates.
fn delay(policy: &RetryStrategy, retries: i64) -> Result<SignedDuration, Error> {
    let backoff = policy.backoff.as_ref();
    let read = |text: Option<&String>, default| match text.map(String::as_str) {
        None | Some("") => Ok(default),
        Some(text) => duration::parse_or_seconds(text).map_err(|_| Error::BadDuration { text: text.to_owned() }),
    };
    let first = read(backoff.map(|backoff| &backoff.duration), DEFAULT_DURATION)?;
    let cap = read(backoff.map(|backoff| &backoff.max_duration), DEFAULT_MAX_DURATION)?;
    let factor = backoff.and_then(|backoff| backoff.factor).unwrap_or(DEFAULT_FACTOR);
    let exponent = i32::try_from(retries).unwrap_or(i32::MAX);
    let seconds = first.as_secs_f64() * to_float(factor).powi(exponent);
    let wait = SignedDuration::try_from_secs_f64(seconds).unwrap_or(if seconds < 0.0 {
        SignedDuration::MIN
    } else {
        SignedDuration::MAX
    });
    Ok(if cap.is_positive() { wait.min(cap) } else { wait })
}

/// Factors are small; one beyond 32 bits multiplies every delay past its cap anyway.
fn to_float(number: i64) -> f64 {
    let clamped = number.clamp(i64::from(i32::MIN), i64::from(i32::MAX));
    i32::try_from(clamped).map_or(0.0, f64::from)
}

/// The time as Go's `Kitchen` layout shows it in the controller's zone: `3:04PM` (SYNC-118).
pub fn kitchen(at: Timestamp, zone: &TimeZone) -> String {
    at.to_zoned(zone.clone()).strftime("%-I:%M%p").to_string()
}
