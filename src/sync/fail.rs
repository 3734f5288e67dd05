//! The fail phase: SyncFail hooks, the reasons of a failure, and the deletion of hooks when an operation ends.
//!
//! In:  SyncFail tasks, failed tasks, the base of the message.
//! Out: the operation failed, or running while SyncFail hooks run.
//! Invariant: the operation fails only once every SyncFail hook is completed; all of them start together.
//! Source: SYNC-113 to SYNC-116, SYNC-169 (`gitops-engine/pkg/sync/sync_context.go` `executeSyncFailPhase`,
//! `deleteHooks`).

use super::engine::Engine;
use super::io::FailureKind;
use super::tasks::{Id, Task};
use super::text;
use super::words::OperationPhase;

impl Engine<'_> {
    /// Goes on with the fail phase; true when the operation has failed for good.
    pub(super) async fn run_sync_fail(&mut self, sync_fail: &[Id], failed: &[Id], base: &str) -> bool {
        let mut message = text::with_reasons(base, self.messages(failed));
        if sync_fail.iter().all(|id| self.tasks[*id].is_completed()) {
            let broken: Vec<Id> = sync_fail.iter().copied().filter(|id| self.tasks[*id].has_failed_to_sync()).collect();
            if !broken.is_empty() {
                let more = text::with_reasons("one or more SyncFail hooks failed", self.messages(&broken));
                message = format!("{message}\n{more}");
            }
            self.end(OperationPhase::Failed, message);
            return true;
        }
        let starts = |id: &Id| !self.tasks[*id].is_completed() && !self.tasks[*id].is_running();
        let pending: Vec<Id> = sync_fail.iter().copied().filter(starts).collect();
        self.run(&pending, false).await;
        self.wait_for(&pending, false);
        false
    }

    fn messages(&self, ids: &[Id]) -> impl Iterator<Item = &str> {
        ids.iter().map(|id| self.tasks[*id].message.as_str())
    }

    /// Deletes hooks whose delete policy asks for it; a failure is noted on the hook only (SYNC-169).
    pub(super) async fn delete_hooks(&mut self, ids: &[Id]) {
        for (&id, answer) in ids.iter().zip(self.delete(ids).await) {
            match answer.done() {
                Err(failure) if failure.kind != FailureKind::NotFound => {
                    let message = format!("failed to delete resource: failed to delete resource: {failure}");
                    self.set_state(id, OperationPhase::Error, &message);
                }
                Ok(()) | Err(_) => {}
            }
        }
    }

    /// Lets hooks go whose result is known (SYNC-096).
    pub(super) async fn release_completed_hooks(&mut self) {
        let completed = self.those(|task: &Task| task.hook && task.is_completed());
        for (id, error) in self.remove_finalizers(&completed).await {
            self.set_state(id, OperationPhase::Error, &format!("Failed to remove hook finalizer: {error}"));
        }
    }
}
