//! Prints times as Go's `time.Kitchen` layout does.
//!
//! In:  a time.
//! Out: `3:04PM`.
//! Source: APP-165 (`controller/appcontroller.go`, the text about the next retry).

use jiff::{Timestamp, tz::TimeZone};

/// The time of day in UTC: containers run without a local zone, and so does Argo CD's.
pub fn format(at: Timestamp) -> String {
    let local = at.to_zoned(TimeZone::UTC);
    let (hour, half) = match local.hour() {
        0 => (12, "AM"),
        hour @ 1..=11 => (hour, "AM"),
        12 => (12, "PM"),
        hour => (hour - 12, "PM"),
    };
    format!("{hour}:{:02}{half}", local.minute())
}

#[cfg(test)]
mod tests {
    use super::format;

    #[test]
    fn kitchen_clock_has_twelve_hours() {
        for (at, expect) in [
            ("2026-01-02T00:05:59Z", "12:05AM"),
            ("2026-01-02T03:04:05Z", "3:04AM"),
            ("2026-01-02T12:00:00Z", "12:00PM"),
            ("2026-01-02T23:59:59Z", "11:59PM"),
        ] {
            assert_eq!(format(at.parse().unwrap()), expect);
        }
    }
}
