//! Ends an operation early: running hooks are stopped, applied resources stay as they are.
//!
//! In:  the task list with earlier results.
//! Out: the operation failed, or in error when some hook could not be stopped.
//! Invariant: a hook that turns out to have completed keeps its real result; SyncFail hooks do not run.
//! Source: SYNC-242, SYNC-243 (`gitops-engine/pkg/sync/sync_context.go` `Terminate`, `terminateHooksPreemptively`).

use std::sync::Arc;

use super::engine::Engine;
use super::io::{Action, FailureKind, ObjectRef};
use super::tasks::Id;
use super::words::OperationPhase;

/// What is known about a hook that is being stopped.
enum Standing {
    Known(OperationPhase, String),
    /// Its health could not be told.
    Unclear,
}

impl Engine<'_> {
    /// Runs one pass of a termination.
    pub(super) async fn terminate(&mut self) {
        self.build().await;
        self.release_completed_hooks().await;
        let hooks = self.those(|task| task.hook);
        if self.stop_hooks(&hooks).await {
            self.end(OperationPhase::Failed, "Operation terminated");
        } else {
            self.end(OperationPhase::Error, "Operation termination had errors");
        }
    }

    /// Stops the running hooks among these; true when all of them were stopped.
    pub(super) async fn stop_hooks(&mut self, ids: &[Id]) -> bool {
        let running: Vec<Id> =
            ids.iter().copied().filter(|id| self.tasks[*id].hook && self.tasks[*id].is_running()).collect();
        let mut stopped = true;
        let mut seen = Vec::new();
        for id in self.look_up(running, &mut stopped).await {
            let standing = self.standing(id);
            seen.push((id, standing));
        }
        let ids: Vec<Id> = seen.iter().map(|(id, _)| *id).collect();
        for (id, error) in self.remove_finalizers(&ids).await {
            self.set_state(id, OperationPhase::Error, &format!("Failed to remove hook finalizer: {error}"));
            stopped = false;
            seen.retain(|(kept, _)| *kept != id);
        }
        stopped &= self.delete_unfinished(&mut seen).await;
        for (id, standing) in seen {
            self.settle(id, standing);
        }
        stopped
    }

    /// Reads hooks whose live object is not known; those that are gone are done with.
    async fn look_up(&mut self, ids: Vec<Id>, stopped: &mut bool) -> Vec<Id> {
        let unseen: Vec<Id> = ids.iter().copied().filter(|id| self.tasks[*id].live.is_none()).collect();
        let gets = unseen.iter().map(|id| Action::Get(ObjectRef::target(self.tasks[*id].object()))).collect();
        for (id, answer) in unseen.into_iter().zip(self.ask(gets).await) {
            match answer.got() {
                Ok(live) => self.tasks[id].live = Some(Arc::new(live)),
                Err(failure) if failure.kind == FailureKind::NotFound => {
                    self.set_state(id, OperationPhase::Succeeded, "Terminated");
                }
                Err(failure) => {
                    let message = format!("Failed to get live resource: failed to get resource: {failure}");
                    self.set_state(id, OperationPhase::Error, &message);
                    *stopped = false;
                }
            }
        }
        ids.into_iter().filter(|id| self.tasks[*id].live.is_some()).collect()
    }

    fn standing(&mut self, id: Id) -> Standing {
        let Some(live) = self.tasks[id].live.clone() else { return Standing::Unclear };
        match self.hook_phase(&live) {
            Ok((phase, message)) => Standing::Known(phase, message),
            Err(error) => {
                self.set_state(id, OperationPhase::Error, &format!("Failed to get hook health: {error}"));
                Standing::Unclear
            }
        }
    }

    /// Deletes hooks that still run, that may still run, or that go when a sync fails.
    async fn delete_unfinished(&mut self, seen: &mut Vec<(Id, Standing)>) -> bool {
        let unfinished = |(id, standing): &(Id, Standing)| match standing {
            Standing::Unclear | Standing::Known(OperationPhase::Running, _) => true,
            Standing::Known(..) => self.tasks[*id].deletes_on_failure(),
        };
        let ids: Vec<Id> = seen.iter().filter(|entry| unfinished(entry)).map(|(id, _)| *id).collect();
        let mut deleted = true;
        for (&id, answer) in ids.iter().zip(self.delete(&ids).await) {
            match answer.done() {
                Err(failure) if failure.kind != FailureKind::NotFound => {
                    let message = format!("Failed to delete: failed to delete resource: {failure}");
                    self.set_state(id, OperationPhase::Failed, &message);
                    deleted = false;
                    seen.retain(|(kept, _)| *kept != id);
                }
                Ok(()) | Err(_) => {}
            }
        }
        deleted
    }

    fn settle(&mut self, id: Id, standing: Standing) {
        match standing {
            Standing::Known(phase, message) if phase.is_completed() => self.set_state(id, phase, &message),
            // An error text that is already there says more than that the hook was stopped.
            _ if self.tasks[id].state == Some(OperationPhase::Error) => {}
            _ => self.set_state(id, OperationPhase::Failed, "Terminated"),
        }
    }
}
