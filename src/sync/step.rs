//! The algorithm of one sync pass: dry run once, then wait, fail, run the next phase and wave, or finish.
//!
//! In:  the built task list with earlier results.
//! Out: phase and message of the operation; changed results.
//! Invariant: never starts a phase or wave while a task of an earlier one is pending, running or failed.
//! Source: SYNC-039 to SYNC-041, SYNC-057, SYNC-068, SYNC-075 to SYNC-103 (`gitops-engine/pkg/sync/sync_context.go`
//! `Sync`).

use std::sync::Arc;

use super::engine::Engine;
use super::io::{Action, FailureKind, ObjectRef};
use super::order;
use super::run::RunState;
use super::tasks::{self, Id};
use super::text;
use super::words::{OperationPhase, ResultCode, SyncPhase};
use crate::api::ObjectExt;
use crate::api::status::Time;

/// How long a running hook that somebody deleted may stay in deletion before it counts as gone.
///
/// Argo CD waits for such a hook until the operation is terminated, because the hook's own finalizer keeps it in the
/// cluster. A controller that is not asked about it again would wait for ever.
const HOOK_DELETION_PATIENCE_SECONDS: i64 = 300;

/// What is left to do, and what a finished operation deletes.
struct Plan {
    pending: Vec<Id>,
    sync_fail: Vec<Id>,
    delete_on_success: Vec<Id>,
    delete_on_failure: Vec<Id>,
}

impl Engine<'_> {
    /// Runs one pass of a sync.
    pub(super) async fn sync(&mut self) {
        if !self.build().await {
            let message = text::invalid_tasks(self.results.entries());
            return self.end(OperationPhase::Failed, message);
        }
        if let Some(objection) = self.prune_objection.take() {
            return self.end(OperationPhase::Failed, objection);
        }
        if !self.results.is_started() && !self.dry_run().await {
            return;
        }
        self.refresh_running();
        if self.waits_for_running().await || self.waits_for_pruned() {
            return;
        }
        self.release_completed_hooks().await;
        let Some(plan) = self.plan_or_fail().await else { return };
        if plan.pending.is_empty() {
            self.delete_hooks(&plan.delete_on_success).await;
            return self.end(OperationPhase::Succeeded, "successfully synced (no more tasks)");
        }
        self.next_step(plan).await;
    }

    /// Creates a missing destination namespace, then tries everything (SYNC-068, SYNC-076). False ends the pass.
    async fn dry_run(&mut self) -> bool {
        let namespace = self.namespace;
        let created = self
            .those(|task| {
                let is_it = |target| order::is_namespace(target) && target.name() == namespace;
                task.live.is_none() && task.target.as_deref().is_some_and(is_it)
            })
            .first()
            .copied();
        if let Some(id) = created
            && self.run(&[id], false).await == RunState::Failed
        {
            self.run_sync_fail(&[], &[id], "the namespace failed to apply").await;
            return false;
        }
        let rest = self.those(|_| true).into_iter().filter(|id| Some(*id) != created).collect();
        let rest = self.out_of_sync_only(rest);
        if self.run(&rest, true).await == RunState::Failed {
            self.end(OperationPhase::Failed, "one or more objects failed to apply (dry run)");
            return false;
        }
        true
    }

    /// Brings running tasks up to date from their live objects (SYNC-090, SYNC-160).
    fn refresh_running(&mut self) {
        for id in self.those(|task| task.is_running() && task.live.is_some()) {
            if self.tasks[id].hook { self.refresh_hook(id) } else { self.refresh_resource(id) }
        }
    }

    fn refresh_hook(&mut self, id: Id) {
        let Some(live) = self.tasks[id].live.clone() else { return };
        match self.hook_phase(&live) {
            Ok((OperationPhase::Running, _)) if self.is_given_up(live.meta_str("deletionTimestamp")) => {
                self.set_missing(id);
            }
            Ok((phase, message)) => self.set_state(id, phase, &message),
            Err(error) => {
                let message = format!("failed to get resource health: {error}");
                self.set_state(id, OperationPhase::Error, &message);
            }
        }
    }

    fn is_given_up(&self, deletion_timestamp: &str) -> bool {
        let since = Time::parse(deletion_timestamp);
        since.is_some_and(|since| self.now.as_second().saturating_sub(since.unix()) > HOOK_DELETION_PATIENCE_SECONDS)
    }

    fn refresh_resource(&mut self, id: Id) {
        let Some(live) = self.tasks[id].live.clone() else { return };
        match (self.health)(&live) {
            Ok(None) => self.set_state(id, OperationPhase::Succeeded, ""),
            Ok(Some(health)) if health.status == "Healthy" => {
                self.set_state(id, OperationPhase::Succeeded, &health.message);
            }
            Ok(Some(health)) if health.status == "Degraded" => {
                self.set_state(id, OperationPhase::Failed, &health.message);
            }
            Ok(Some(_)) | Err(_) => {}
        }
    }

    /// Waits for running hooks, and between steps for everything that runs (SYNC-093, SYNC-094).
    ///
    /// What the comparison does not show is read from the API server. Argo CD then only makes sure that it exists; here
    /// the health of a hook counts too, so that one of a kind nobody watches does not hold the operation for ever.
    async fn waits_for_running(&mut self) -> bool {
        let multi_step = tasks::is_multi_step(&self.tasks);
        let running = self.those(|task| (multi_step || task.hook) && task.is_running());
        if running.is_empty() {
            return false;
        }
        let unseen: Vec<Id> = running.iter().copied().filter(|id| self.tasks[*id].live.is_none()).collect();
        let gets = unseen.iter().map(|id| Action::Get(ObjectRef::target(self.tasks[*id].object()))).collect();
        for (id, answer) in unseen.into_iter().zip(self.ask(gets).await) {
            match answer.got() {
                Ok(live) if self.tasks[id].hook => {
                    self.tasks[id].live = Some(Arc::new(live));
                    self.refresh_hook(id);
                }
                Ok(_) => {}
                Err(failure) if failure.kind == FailureKind::NotFound => self.set_missing(id),
                Err(failure) => {
                    let message = format!("Failed to get live resource failed to get resource: {failure}");
                    self.set_state(id, OperationPhase::Error, &message);
                }
            }
        }
        self.wait_for(&running, false);
        true
    }

    fn set_missing(&mut self, id: Id) {
        let message = format!("Resource {} is missing, it might have been deleted", self.tasks[id].title());
        self.set(id, Some(ResultCode::SyncFailed), Some(OperationPhase::Error), &message);
    }

    /// Waits for pruned objects that are still being deleted (SYNC-095).
    fn waits_for_pruned(&mut self) -> bool {
        let deleting = self.those(|task| {
            task.status == Some(ResultCode::Pruned) && task.live.as_deref().is_some_and(ObjectExt::is_deleting)
        });
        if deleting.is_empty() {
            return false;
        }
        self.wait_for(&deleting, true);
        true
    }

    /// Sorts out what is pending; when something has failed, goes over to the fail phase instead (SYNC-097).
    async fn plan_or_fail(&mut self) -> Option<Plan> {
        let delete_on_success = self.those(|task| task.deletes_on_success() && !task.is_running());
        let delete_on_failure = self.those(|task| task.deletes_on_failure() && !task.is_running());
        let sync_fail = self.those(|task| task.phase == SyncPhase::SyncFail);
        let ordinary = |task: &tasks::Task| task.phase != SyncPhase::SyncFail;
        if !self.those(|task| ordinary(task) && task.is_unsuccessful()).is_empty() {
            let failed = self.those(|task| ordinary(task) && task.has_failed_to_sync());
            self.delete_hooks(&delete_on_failure).await;
            self.run_sync_fail(&sync_fail, &failed, "one or more synchronization tasks completed unsuccessfully").await;
            return None;
        }
        let pending = self.out_of_sync_only(self.those(|task| ordinary(task) && task.is_pending()));
        Some(Plan { pending, sync_fail, delete_on_success, delete_on_failure })
    }

    /// Runs the first pending phase and wave (SYNC-039, SYNC-040).
    async fn next_step(&mut self, plan: Plan) {
        let place = |id: &Id| (self.tasks[*id].phase, self.tasks[*id].wave);
        let (Some(first), Some(last)) = (plan.pending.first().map(place), plan.pending.last().map(place)) else {
            return;
        };
        let (step, later): (Vec<Id>, Vec<Id>) = plan.pending.iter().copied().partition(|id| place(id) == first);
        self.end(OperationPhase::Running, text::STEP_RUNS);
        let state = self.run(&step, false).await;
        if state != RunState::Failed && first != last && !self.pause(&step).await {
            return;
        }
        match state {
            RunState::Failed => self.after_failure(&step, &plan).await,
            RunState::Successful => self.after_success(&step, later.is_empty(), &plan).await,
            RunState::Pending => {
                let waiting = |id: &Id| {
                    let task = &self.tasks[*id];
                    self.is_deleted_first(task) || (task.is_prune() && task.is_pending())
                };
                let held: Vec<Id> = step.iter().copied().filter(waiting).collect();
                self.wait_for(&held, true);
            }
        }
    }

    /// Gives other controllers a moment before the next wave looks at health (SYNC-040, SYNC-041).
    async fn pause(&mut self, step: &[Id]) -> bool {
        if self.wave_delay.is_zero() {
            return true;
        }
        let answer = self.ask(vec![Action::Sleep(self.wave_delay)]).await.into_iter().next();
        let Some(Err(failure)) = answer.map(super::io::Answer::done) else { return true };
        self.stop_hooks(step).await;
        self.end(OperationPhase::Error, format!("SyncWaveHook failed: {failure}"));
        false
    }

    /// The last wave is not waited for unless it has hooks (SYNC-099, SYNC-100).
    async fn after_success(&mut self, step: &[Id], is_last: bool, plan: &Plan) {
        if is_last && !step.iter().any(|id| self.tasks[*id].hook) {
            self.delete_hooks(&plan.delete_on_success).await;
            self.end(OperationPhase::Succeeded, "successfully synced (all tasks run)");
        } else {
            self.wait_for(step, false);
        }
    }

    /// What runs may finish; what was to run when the sync fails is started (SYNC-102, SYNC-103).
    async fn after_failure(&mut self, step: &[Id], plan: &Plan) {
        const BASE: &str = "one or more objects failed to apply";
        let failed: Vec<Id> = step.iter().copied().filter(|id| self.tasks[*id].has_failed_to_sync()).collect();
        let mut running: Vec<Id> = step.iter().copied().filter(|id| self.tasks[*id].is_running()).collect();
        if running.is_empty() {
            if self.run_sync_fail(&plan.sync_fail, &failed, BASE).await {
                self.delete_hooks(&plan.delete_on_failure).await;
            }
            return;
        }
        if !plan.sync_fail.is_empty() && !self.run_sync_fail(&plan.sync_fail, &failed, BASE).await {
            running.extend(&plan.sync_fail);
        }
        self.wait_for(&running, false);
    }
}
