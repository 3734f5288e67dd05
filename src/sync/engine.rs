//! The state of one pass, and the small questions its steps share.
//!
//! In:  the pass's input. Out: the sorted tasks, the book of results, the operation's phase and message.
//! Invariant: every change of a task's result goes through [`Engine::set`], so book and task never disagree.
//! Source: SYNC-091, SYNC-110 to SYNC-112, SYNC-160 (`gitops-engine/pkg/sync/sync_context.go`).

use std::sync::Arc;
use std::time::Duration;

use jiff::Timestamp;
use serde_json::Value;

use super::budget::{Candidate, Prunes};
use super::io::{Action, Answer, Mailbox};
use super::options::Options;
use super::pass::{HealthOf, Input, OperationUpdate, PermitOf, Resource};
use super::results::Results;
use super::tasks::{Id, Task};
use super::text;
use super::words::{OperationPhase, ResultCode};
use crate::api::ObjectExt;
use crate::api::application::ManagedNamespaceMetadata;
use crate::api::operation::{ResourceResult, SyncOperationResource};

/// Manager of client-side applies whose fields are taken over unless the Application names another (SYNC-206).
const KUBECTL_MANAGER: &str = "kubectl-client-side-apply";

/// A compared object inside a pass.
pub(super) struct Pair {
    pub(super) target: Option<Arc<Value>>,
    pub(super) live: Option<Arc<Value>>,
    pub(super) modified: bool,
    pub(super) self_referenced: bool,
}

pub(super) struct Engine<'a> {
    pub(super) options: Options,
    pub(super) selected: &'a [SyncOperationResource],
    pub(super) pairs: Vec<Pair>,
    pub(super) hooks: Vec<Value>,
    pub(super) namespace: &'a str,
    pub(super) namespace_metadata: Option<&'a ManagedNamespaceMetadata>,
    pub(super) revision: &'a str,
    pub(super) started_at: i64,
    /// Whether the process before this one ended while it created the hooks of the step that is next.
    pub(super) hooks_announced: bool,
    /// Why the operation may not prune what it would prune, if so.
    pub(super) prune_objection: Option<String>,
    pub(super) prune_confirmed: bool,
    pub(super) migration_manager: &'a str,
    pub(super) now: Timestamp,
    pub(super) wave_delay: Duration,
    pub(super) health: HealthOf<'a>,
    pub(super) permit: PermitOf<'a>,
    pub(super) mailbox: Mailbox,
    pub(super) results: Results,
    pub(super) tasks: Vec<Task>,
    pub(super) phase: OperationPhase,
    pub(super) message: String,
}

impl<'a> Engine<'a> {
    pub(super) fn new(input: Input<'a>, mailbox: Mailbox) -> Self {
        let state = input.state;
        let stored = state.sync_result.as_ref().map(|result| result.resources.clone()).unwrap_or_default();
        let prune_objection = prune_objection(&input, &stored);
        Self {
            options: Options::of(input.operation),
            selected: &input.operation.resources,
            pairs: input.resources.into_iter().map(Pair::from).collect(),
            hooks: input.hooks,
            namespace: input.namespace,
            namespace_metadata: input.managed_namespace_metadata,
            revision: input.revision,
            started_at: state.started_at.unix(),
            hooks_announced: state.message == text::STEP_RUNS,
            prune_objection,
            prune_confirmed: input.deletion_approved.is_some_and(|approved| approved >= state.started_at),
            migration_manager: input.migration_manager.filter(|name| !name.is_empty()).unwrap_or(KUBECTL_MANAGER),
            now: input.now,
            wave_delay: input.wave_delay,
            health: input.health,
            permit: input.permit,
            mailbox,
            results: Results::resume(stored),
            tasks: Vec::new(),
            phase: OperationPhase::parse(&state.phase).unwrap_or(OperationPhase::Running),
            message: state.message.clone(),
        }
    }

    pub(super) fn into_update(self) -> OperationUpdate {
        OperationUpdate { phase: self.phase, message: self.message, resources: self.results.into_entries() }
    }

    pub(super) async fn ask(&self, actions: Vec<Action>) -> Vec<Answer> {
        self.mailbox.ask(actions).await
    }
    pub(super) fn end(&mut self, phase: OperationPhase, message: impl Into<String>) {
        self.phase = phase;
        self.message = message.into();
    }
    /// Keeps the operation running, with a message about what it waits for (SYNC-110 to SYNC-112).
    pub(super) fn wait_for(&mut self, ids: &[Id], for_deletion: bool) {
        let tasks: Vec<&Task> = ids.iter().map(|id| &self.tasks[*id]).collect();
        let message = text::waiting(&tasks, for_deletion, |task| self.awaits_approval(task));
        self.end(OperationPhase::Running, message);
    }
    /// Whether the task is a prune that somebody has to approve first (SYNC-194).
    pub(super) fn awaits_approval(&self, task: &Task) -> bool {
        let asks = |live: &Arc<Value>| self.options.asks_before_pruning(live);
        !self.prune_confirmed && task.is_prune() && task.live.as_ref().is_some_and(asks)
    }
    /// Places of the tasks that satisfy the question, in order.
    pub(super) fn those(&self, question: impl Fn(&Task) -> bool) -> Vec<Id> {
        self.tasks.iter().enumerate().filter(|(_, task)| question(task)).map(|(id, _)| id).collect()
    }
    /// Sets and records the result of a task; an empty message keeps the one it has (SYNC-091).
    pub(super) fn set(&mut self, id: Id, status: Option<ResultCode>, state: Option<OperationPhase>, message: &str) {
        let task = &mut self.tasks[id];
        task.status = status;
        task.state = state;
        if !message.is_empty() {
            message.clone_into(&mut task.message);
        }
        self.results.record(&self.tasks[id]);
    }
    /// Sets the phase of a task and leaves its status.
    pub(super) fn set_state(&mut self, id: Id, state: OperationPhase, message: &str) {
        self.set(id, self.tasks[id].status, Some(state), message);
    }
    /// Leaves out ordinary objects that the comparison found unchanged (SYNC-198).
    pub(super) fn out_of_sync_only(&self, ids: Vec<Id>) -> Vec<Id> {
        if !self.options.apply_out_of_sync_only {
            return ids;
        }
        let skips = |task: &Task| !task.hook && task.unmodified && task.target.is_some() && task.live.is_some();
        ids.into_iter().filter(|id| !skips(&self.tasks[*id])).collect()
    }
    /// Phase of a hook by the health of its live object (SYNC-160).
    pub(super) fn hook_phase(&self, live: &Value) -> Result<(OperationPhase, String), String> {
        let health = (self.health)(live).map_err(|error| format!("failed to get resource health: {error}"))?;
        let created = format!("{} created", live.name());
        Ok(match health {
            None => (OperationPhase::Succeeded, created),
            Some(health) => match health.status.as_str() {
                "Healthy" => (OperationPhase::Succeeded, health.message),
                "Unknown" | "Degraded" => (OperationPhase::Failed, health.message),
                "Progressing" | "Suspended" => (OperationPhase::Running, health.message),
                _ => (OperationPhase::Succeeded, created),
            },
        })
    }
}

/// What the guard says over all passes of the operation: what was pruned already counts towards the budget too.
fn prune_objection(input: &Input<'_>, stored: &[ResourceResult]) -> Option<String> {
    let mut prunes = Prunes::of(input.resources.iter().map(Candidate::from), input.operation);
    let pruned = stored.iter().filter(|entry| entry.status == ResultCode::Pruned.as_str());
    for entry in pruned {
        prunes.owned += 1;
        prunes.going.push(format!("{} {}/{}", entry.kind, entry.namespace, entry.name));
    }
    input.prune_guard.objection(&prunes)
}

impl<'a> From<&'a Resource> for Candidate<'a> {
    fn from(resource: &'a Resource) -> Self {
        Self { wanted: resource.target.is_some(), live: resource.live.as_ref(), own: resource.self_referenced }
    }
}

impl From<Resource> for Pair {
    fn from(resource: Resource) -> Self {
        Self {
            target: resource.target.map(Arc::new),
            live: resource.live.map(Arc::new),
            modified: resource.modified,
            self_referenced: resource.self_referenced,
        }
    }
}
