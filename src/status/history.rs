//! `status.history`: what was deployed, for rollbacks.
//!
//! In:  the history there is, and a sync that ended well.
//! Out: the history to store, oldest first, not longer than the limit.
//! Invariant: a sync is entered once, however often its end is tried.
//! Source: APP-189 to APP-191 (`controller/state.go` `persistRevisionHistory`, `types.go` `Trunc`).

use serde_json::{Value, json};

use crate::api::status::RevisionHistory;

/// Adds an entry, giving it the next number, and drops the oldest beyond `limit`.
pub fn append(history: &[RevisionHistory], entry: RevisionHistory, limit: usize) -> Vec<RevisionHistory> {
    let id = history.last().map_or(0, |last| last.id.saturating_add(1));
    let mut all = history.to_vec();
    all.push(RevisionHistory { id, ..entry });
    let surplus = all.len().saturating_sub(limit);
    all.drain(..surplus);
    all
}

/// Whether the newest entry is of the same sync: whoever stored it may have ended before it could store the operation's end.
pub fn is_recorded(history: &[RevisionHistory], entry: &RevisionHistory) -> bool {
    history.last().is_some_and(|last| {
        let same = RevisionHistory { id: last.id, deployed_at: last.deployed_at, ..entry.clone() };
        same.deploy_started_at.is_some() && same == *last
    })
}

/// The merge patch that stores a history; it is written on its own, before the operation's end (APP-191).
pub fn history_patch(history: &[RevisionHistory]) -> Value {
    json!({"status": {"history": history}})
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::api::status::Time;

    fn entry(started: &str, deployed: &str, revision: &str) -> RevisionHistory {
        RevisionHistory {
            deploy_started_at: Time::parse(started),
            deployed_at: Time::parse(deployed).unwrap(),
            revision: revision.to_owned(),
            ..RevisionHistory::default()
        }
    }

    #[test]
    fn a_sync_whose_end_is_tried_again_is_known() {
        let first = entry("2024-01-01T10:00:00Z", "2024-01-01T10:00:07Z", "abc");
        let history = append(&append(&[], entry("2024-01-01T09:00:00Z", "2024-01-01T09:00:07Z", "abc"), 10), first, 10);
        let again = |started, revision| is_recorded(&history, &entry(started, "2024-01-01T10:00:09Z", revision));
        assert!(again("2024-01-01T10:00:00Z", "abc"));
        assert!(!again("2024-01-01T10:00:01Z", "abc"), "another sync to the same revision");
        assert!(!again("2024-01-01T10:00:00Z", "def"));
        assert!(!again("2024-01-01T09:00:00Z", "abc"), "only the newest entry counts");
        assert!(!is_recorded(&[], &entry("2024-01-01T10:00:00Z", "2024-01-01T10:00:09Z", "abc")));
    }
}
