//! Times of retries.

use jiff::tz::{Offset, TimeZone};

use super::super::retry::{Error, is_due, kitchen, next_at};
use super::*;
use crate::api::operation::{Backoff, RetryStrategy};

fn policy(duration: &str, factor: Option<i64>, max_duration: &str) -> RetryStrategy {
    let backoff = Backoff { duration: duration.into(), factor, max_duration: max_duration.into() };
    RetryStrategy { limit: 5, backoff: Some(backoff), refresh: false }
}

#[track_caller]
fn check(policy: &RetryStrategy, retries: i64, milliseconds: i64) {
    let wait = next_at(policy, at(START), retries).unwrap().duration_since(at(START));
    assert_eq!(wait.as_millis(), i128::from(milliseconds), "retry {retries} of {policy:?}");
}

#[test]
fn sync_236_defaults_are_five_seconds_doubling_to_three_minutes() {
    let waits = [5, 10, 20, 40, 80, 160, 180, 180];
    for (retries, seconds) in (0..).zip(waits) {
        check(&RetryStrategy::default(), retries, seconds * 1000);
    }
}

#[test]
fn sync_236_durations_are_seconds_or_go_durations() {
    check(&policy("7", Some(1), ""), 3, 7000);
    check(&policy("1m30s", None, "1h"), 1, 180_000);
    check(&policy("1.5s", Some(2), ""), 0, 1500);
    check(&policy("250ms", Some(2), ""), 1, 500);
    check(&policy("10s", Some(3), "0"), 3, 270_000);
    check(&policy("1h", Some(9), "5m"), 1_000_000, 300_000);
}

#[test]
fn sync_236_what_cannot_be_read_is_an_error() {
    for text in ["soon", "5", "5x", "1.s.2", "-", "ms", " 5s"] {
        let result = next_at(&policy(text, None, ""), at(START), 0);
        if text == "5" {
            assert!(result.is_ok());
        } else {
            assert_eq!(result, Err(Error::BadDuration { text: text.into() }));
        }
    }
    let error = next_at(&policy("", None, "later"), at(START), 0).unwrap_err();
    assert_eq!(error.to_string(), "unable to parse later as a duration");
}

#[test]
fn sync_236_without_a_cap_overflow_saturates() {
    let policy = policy("1h", Some(i64::MAX), "0");
    assert_eq!(next_at(&policy, at(START), 50), Ok(Timestamp::MAX));
}

#[test]
fn sync_235_a_negative_limit_has_no_end() {
    let limit = |limit| RetryStrategy { limit, ..RetryStrategy::default() };
    assert!(is_due(&limit(2), 1) && !is_due(&limit(2), 2) && !is_due(&limit(0), 0) && is_due(&limit(-1), 999));
}

#[test]
fn sync_118_times_are_shown_on_the_clock_of_the_kitchen() {
    let zone = TimeZone::fixed(Offset::constant(2));
    let show = |text: &str, zone: &TimeZone| kitchen(at(text), zone);
    assert_eq!(show("2024-04-05T15:04:59Z", &TimeZone::UTC), "3:04PM");
    assert_eq!(show("2024-04-05T00:07:00Z", &TimeZone::UTC), "12:07AM");
    assert_eq!(show("2024-04-05T10:30:00Z", &zone), "12:30PM");
}
