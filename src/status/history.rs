//! `status.history`: what was deployed, for rollbacks.
//!
//! In:  the history there is, and a sync that ended well.
//! Out: the history to store, oldest first, not longer than the limit.
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

/// The merge patch that stores a history; it is written on its own, before the operation's end (APP-191).
pub fn history_patch(history: &[RevisionHistory]) -> Value {
    json!({"status": {"history": history}})
}
