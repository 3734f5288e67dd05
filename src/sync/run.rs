//! Carries out one step: finalizers of old hooks, prunes, deletions before creation, creations.
//!
//! In:  tasks of one phase and wave (or of all, in a dry run).
//! Out: their results, and whether the step succeeded, waits or failed.
//! Invariant: each part starts only when the part before it succeeded entirely, so nothing is created in a wave whose
//! prunes failed or wait for approval.
//! Source: SYNC-042 to SYNC-044, SYNC-076, SYNC-081, SYNC-135, SYNC-154, SYNC-168, SYNC-194
//! (`gitops-engine/pkg/sync/sync_context.go` `runTasks`, `pruneObject`).

use super::engine::Engine;
use super::io::{Action, Answer, FailureKind, ObjectRef};
use super::tasks::{Id, Task};
use super::text;
use super::words::{OperationPhase, ResultCode};
use crate::api::ObjectExt;

/// How a step ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum RunState {
    Successful,
    /// Something has to go, or to be approved, before the step can go on.
    Pending,
    Failed,
}

impl Engine<'_> {
    /// Runs the tasks; a dry run changes nothing in the cluster.
    pub(super) async fn run(&mut self, ids: &[Id], dry_run: bool) -> RunState {
        let dry_run = dry_run || self.options.dry_run;
        let (prunes, creates): (Vec<Id>, Vec<Id>) = ids.iter().copied().partition(|id| self.tasks[*id].is_prune());
        if !dry_run && !self.free_old_hooks(ids).await {
            return RunState::Failed;
        }
        if prunes.iter().any(|id| self.awaits_approval(&self.tasks[*id])) {
            return RunState::Pending;
        }
        if !self.prune(&prunes, dry_run).await {
            return RunState::Failed;
        }
        if !dry_run {
            let deleted = self.delete_old_hooks(&creates).await;
            if deleted != RunState::Successful {
                return deleted;
            }
        }
        if !dry_run && !self.announce_hooks(&creates).await {
            return RunState::Failed;
        }
        if self.create(&creates, dry_run).await { RunState::Successful } else { RunState::Failed }
    }

    /// Whether an old hook goes before this one is created. Once the creation was announced no old hook was left, so a
    /// live one is this operation's own: it was created by a process that ended before it could store that.
    pub(super) fn is_deleted_first(&self, task: &Task) -> bool {
        task.deletes_before_creation() && !self.hooks_announced
    }

    /// Stores that hooks are about to be created, so that whoever takes over does not run them again. Argo CD does not
    /// do this and runs a hook twice when its controller ends at this moment.
    async fn announce_hooks(&mut self, ids: &[Id]) -> bool {
        let hooks: Vec<Id> = ids.iter().copied().filter(|id| self.tasks[*id].hook).collect();
        if hooks.is_empty() || self.hooks_announced {
            return true;
        }
        let answer = self.ask(vec![Action::Announce(text::STEP_RUNS.to_owned())]).await.into_iter().next();
        let Some(Err(failure)) = answer.map(Answer::done) else { return true };
        for id in hooks {
            self.set_state(id, OperationPhase::Error, &format!("failed to store the operation state: {failure}"));
        }
        false
    }

    /// Removes finalizers that an earlier operation left on hooks that are to run again (SYNC-175).
    async fn free_old_hooks(&mut self, ids: &[Id]) -> bool {
        let is_old = |id: &Id| {
            let task = &self.tasks[*id];
            task.hook && task.is_pending() && task.live.is_some() && !self.hooks_announced
        };
        let old: Vec<Id> = ids.iter().copied().filter(is_old).collect();
        let failures = self.remove_finalizers(&old).await;
        for (id, error) in &failures {
            self.set_state(*id, OperationPhase::Error, &format!("failed to remove hook finalizer: {error}"));
        }
        failures.is_empty()
    }

    /// Deletes what left the sources; an object that is being deleted already is left alone (SYNC-154).
    async fn prune(&mut self, ids: &[Id], dry_run: bool) -> bool {
        let mut outcomes = Vec::with_capacity(ids.len());
        let mut actions = Vec::new();
        for &id in ids {
            let (outcome, action) = self.plan_prune(id, dry_run);
            outcomes.push((id, outcome, action.is_some()));
            actions.extend(action);
        }
        let mut answers = self.ask(actions).await.into_iter();
        let mut succeeded = true;
        for (id, (code, message), asked) in outcomes {
            let failure = if asked { answers.next().and_then(|answer| answer.done().err()) } else { None };
            match failure {
                Some(failure) => {
                    succeeded = false;
                    let code = ResultCode::SyncFailed;
                    self.set(id, Some(code), Some(code.phase()), &failure.message);
                }
                None if !dry_run || self.options.dry_run => self.set(id, Some(code), Some(code.phase()), message),
                None => {}
            }
        }
        succeeded
    }

    fn plan_prune(&self, id: Id, dry_run: bool) -> ((ResultCode, &'static str), Option<Action>) {
        let skipped = |text| ((ResultCode::PruneSkipped, text), None);
        let Some(live) = self.tasks[id].live.as_deref() else { return skipped("ignored (no prune)") };
        if !self.options.prune {
            return skipped("ignored (requires pruning)");
        }
        if self.options.keeps(live) {
            return skipped("ignored (no prune)");
        }
        if dry_run {
            return ((ResultCode::Pruned, "pruned (dry run)"), None);
        }
        let delete = Action::Delete { object: ObjectRef::live(live), propagation: self.options.propagation };
        ((ResultCode::Pruned, "pruned"), (!live.is_deleting()).then_some(delete))
    }

    /// Deletes hooks that are to be created anew; the wave waits until they are gone (SYNC-168).
    async fn delete_old_hooks(&mut self, ids: &[Id]) -> RunState {
        let old: Vec<Id> = ids.iter().copied().filter(|id| self.is_deleted_first(&self.tasks[*id])).collect();
        let answers = self.delete(&old).await;
        let mut state = RunState::Successful;
        for (id, answer) in old.into_iter().zip(answers) {
            match answer.done() {
                Ok(()) if state == RunState::Successful => state = RunState::Pending,
                Ok(()) => {}
                Err(failure) if failure.kind == FailureKind::NotFound => self.tasks[id].live = None,
                Err(failure) => {
                    state = RunState::Failed;
                    let text = format!("failed to delete resource: failed to delete resource: {failure}");
                    self.set_state(id, OperationPhase::Error, &text);
                }
            }
        }
        state
    }

    /// Deletes the live objects of hooks.
    pub(super) async fn delete(&self, ids: &[Id]) -> Vec<Answer> {
        let delete = |id: &Id| {
            let task = &self.tasks[*id];
            let mut object = ObjectRef::target(task.object());
            if let Some(live) = &task.live {
                live.uid().clone_into(&mut object.uid);
            }
            Action::Delete { object, propagation: self.options.propagation }
        };
        self.ask(ids.iter().map(delete).collect()).await
    }
}
