//! Tests of schedules against the Go library's own answers.

use jiff::Timestamp;
use serde_json::Value;

use super::Schedule;
use crate::gocompat::tables::{check, text};

#[test]
fn schedules_fire_when_go_says() {
    let table = include_str!("../../../corpus/golib/cron.json");
    let rows = check(table, |row, _| {
        let schedule = Schedule::parse(text(row, "schedule")).map_err(|error| error.to_string())?;
        let after: Timestamp = text(row, "after").parse().unwrap();
        Ok(schedule.next(after).map_or(Value::Null, |at| at.to_string().into()))
    });
    assert!(rows > 150);
}

proptest::proptest! {
    #[test]
    fn any_schedule_reads_without_panic(text in "[-0-9*,/? a-z=]{0,24}", second in -2_000_000_000i64..4_000_000_000) {
        if let Ok(schedule) = Schedule::parse(&text) {
            let after = Timestamp::from_second(second).unwrap();
            if let Some(next) = schedule.next(after) {
                proptest::prop_assert!(next > after);
            }
        }
    }
}
