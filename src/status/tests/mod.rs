mod conditions;
mod events;
mod finalizers;
mod links;
mod patches;

use crate::api::status::Time;

/// A time some seconds after the epoch.
fn at(second: i64) -> Time {
    Time::from_timestamp(jiff::Timestamp::from_second(second).expect("a small number"))
}

fn texts(items: &[&str]) -> Vec<String> {
    items.iter().map(|item| (*item).to_owned()).collect()
}
