//! Conditions of an Application.
//!
//! In:  the conditions there are, those just found, and the types that were looked at.
//! Out: the conditions to store, sorted.
//! Invariant: a condition keeps its time as long as its type and message stay.
//! Source: APP-099, APP-100, APP-102 (`types.go` `SetConditions`). Argo CD keeps the time only of the first condition of
//! a type and so rewrites the others on every refresh (APP-101); keeping each one's time shows the same without that.

use crate::api::status::{Condition, Time};

/// Replaces the conditions of the `evaluated` types by `new`; all other types stay.
///
/// Types in `new` that were not evaluated are added, beside an equal one that is there already: a sync of an app whose
/// spec was found wrong before names the fault twice, as Argo CD's message does.
pub fn set_conditions(existing: &[Condition], new: Vec<Condition>, evaluated: &[&str], now: Time) -> Vec<Condition> {
    let kept = existing.iter().filter(|condition| !evaluated.contains(&condition.r#type.as_str())).cloned();
    let found = new.into_iter().map(|condition| {
        let same = existing.iter().find(|old| old.r#type == condition.r#type && old.message == condition.message);
        same.cloned().unwrap_or(condition)
    });
    let mut all: Vec<Condition> = kept.chain(found).collect();
    for condition in &mut all {
        condition.last_transition_time.get_or_insert(now);
    }
    all.sort_by_cached_key(|condition| {
        let time = condition.last_transition_time.map(|time| time.to_string()).unwrap_or_default();
        format!("{}/{}/{time}", condition.r#type, condition.message)
    });
    all
}
