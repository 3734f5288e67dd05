//! The merge patch that stores an operation's state.
//!
//! In:  the state as it was read, the state as it is to be.
//! Out: the patch, or nothing when the two are equal.
//! Invariant: results, message and retry count of an earlier attempt never stay beside a new one; fields that Argo CD
//! leaves stale (those of `operation`) stay as it leaves them.
//! Source: SYNC-005, SYNC-006, APP-161 (`controller/appcontroller.go` `setOperationState`).

use jiff::Timestamp;
use serde_json::{Map, Value, json};

use crate::api::operation::OperationState;
use crate::api::status::Time;

/// Whether an attempt begins or goes on.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum PatchKind {
    /// The state of a new operation or attempt, before its first pass.
    Begin,
    /// The state after a pass.
    Continue,
}

/// The patch that stores `state` over `read`, the state the Application had when it was read.
///
/// A completed state gets its end time, and the operation is removed with it.
pub fn patch(
    kind: PatchKind,
    read: Option<&OperationState>,
    state: &mut OperationState,
    now: Timestamp,
) -> Option<Value> {
    if state.is_completed() {
        state.finished_at = Some(Time::from_timestamp(now));
    }
    if read == Some(state) {
        return None;
    }
    let mut stored = state.to_value();
    if let (Some(read), Value::Object(stored)) = (read, &mut stored) {
        clear_stale(kind, read, state, stored);
    }
    let mut patch = json!({"status": {"operationState": stored}});
    if state.is_completed() {
        patch["operation"] = Value::Null;
    }
    Some(patch)
}

/// Adds the nulls without which a merge would keep what was stored before.
fn clear_stale(kind: PatchKind, read: &OperationState, state: &OperationState, patch: &mut Map<String, Value>) {
    let mut clear = |field: &str, is_stale: bool| {
        if is_stale {
            patch.insert(field.to_owned(), Value::Null);
        }
    };
    clear("finishedAt", read.finished_at.is_some() && state.finished_at.is_none());
    if kind == PatchKind::Begin {
        clear("message", !read.message.is_empty() && state.message.is_empty());
        clear("retryCount", read.retry_count != 0 && state.retry_count == 0);
        clear("syncResult", read.sync_result.is_some() && state.sync_result.is_none());
    }
    let has_results = |state: &OperationState| state.sync_result.as_ref().is_some_and(|r| !r.resources.is_empty());
    if has_results(read)
        && !has_results(state)
        && let Some(Value::Object(result)) = patch.get_mut("syncResult")
    {
        result.insert("resources".to_owned(), Value::Null);
    }
}
