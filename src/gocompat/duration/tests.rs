//! Tests of durations against Go's own answers.

use jiff::SignedDuration;
use serde_json::json;

use super::{format, parse, parse_or_seconds, parse_setting, parse_with_days};
use crate::gocompat::tables::{check, text};

#[test]
fn durations_read_and_print_as_in_go() {
    let table = include_str!("../../../corpus/golib/duration.json");
    let rows = check(table, |row, _| {
        let duration = parse(text(row, "text")).map_err(|error| error.to_string())?;
        Ok(json!({"nanoseconds": i64::try_from(duration.as_nanos()).unwrap(), "printed": format(duration)}))
    });
    assert!(rows > 60);
}

#[test]
fn settings_take_days_but_no_bare_numbers() {
    let seconds = |seconds| Some(SignedDuration::from_secs(seconds));
    assert_eq!(parse_setting("1d"), seconds(86_400));
    assert_eq!(parse_setting("90s"), seconds(90));
    assert_eq!(parse_setting("1h30m"), seconds(5_400));
    assert_eq!(parse_setting("0"), seconds(0));
    assert_eq!(parse_setting("60"), None);
    assert_eq!(parse_setting("1d12h"), None);
    assert_eq!(parse_with_days("1.5d"), None);
}

#[test]
fn backoff_numbers_are_seconds() {
    assert_eq!(parse_or_seconds("5"), Ok(SignedDuration::from_secs(5)));
    assert_eq!(parse_or_seconds("5m"), Ok(SignedDuration::from_mins(5)));
    assert!(parse_or_seconds("5x").is_err());
}

proptest::proptest! {
    #[test]
    fn printed_durations_read_back(nanos: i64) {
        let duration = SignedDuration::from_nanos(nanos);
        proptest::prop_assert_eq!(parse(&format(duration)), Ok(duration));
    }
}
