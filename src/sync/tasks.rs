//! One unit of work of a sync, and the order of a list of them.
//!
//! In:  a target, a live object or both, and the phase.
//! Out: what kind of task it is, its wave, its identity, how far it has come; a sorted list.
//! Invariant: an object's Namespace and a resource's CRD come before it, even across phases.
//! Source: SYNC-030 to SYNC-036, SYNC-092 (`gitops-engine/pkg/sync/sync_task.go`, `sync_tasks.go`).

use std::collections::HashMap;
use std::sync::Arc;

use serde_json::Value;

use super::hooks::{self, DeletePolicies};
use super::order;
use super::words::{OperationPhase, ResultCode, SyncPhase};
use crate::api::{GroupKind, GroupVersionKind, ObjectExt, ResourceKey};

/// Place of a task in the sorted list of its pass.
pub(super) type Id = usize;

/// One object in one phase; without a target it is to be pruned, without a live object to be created.
#[derive(Debug, Clone)]
pub(super) struct Task {
    pub(super) phase: SyncPhase,
    pub(super) target: Option<Arc<Value>>,
    pub(super) live: Option<Arc<Value>>,
    /// Identity of the target, else of the live object.
    pub(super) key: ResourceKey,
    pub(super) gvk: GroupVersionKind,
    pub(super) hook: bool,
    policies: DeletePolicies,
    pub(super) wave: i64,
    /// Exempt from the dry run because its kind does not exist yet.
    pub(super) skip_dry_run: bool,
    /// The comparison found target and live object equal.
    pub(super) unmodified: bool,
    pub(super) status: Option<ResultCode>,
    /// `None` while nothing was done yet.
    pub(super) state: Option<OperationPhase>,
    pub(super) message: String,
}

impl Task {
    /// A task for a target and its live twin; `None` when there is neither.
    pub(super) fn new(phase: SyncPhase, target: Option<Arc<Value>>, live: Option<Arc<Value>>) -> Option<Self> {
        let object = target.as_ref().or(live.as_ref())?;
        Some(Self {
            phase,
            key: object.key(),
            gvk: object.gvk(),
            hook: hooks::is_hook(object),
            policies: hooks::delete_policies(object),
            wave: order::wave(object),
            skip_dry_run: false,
            unmodified: false,
            status: None,
            state: None,
            message: String::new(),
            target,
            live,
        })
    }
    /// The target, else the live object.
    pub(super) fn object(&self) -> &Value {
        static NOTHING: Value = Value::Null;
        self.target.as_deref().or(self.live.as_deref()).unwrap_or(&NOTHING)
    }
    pub(super) fn is_prune(&self) -> bool {
        self.target.is_none()
    }
    pub(super) fn is_pending(&self) -> bool {
        self.state.is_none()
    }
    pub(super) fn is_running(&self) -> bool {
        self.state == Some(OperationPhase::Running)
    }
    pub(super) fn is_completed(&self) -> bool {
        self.state.is_some_and(OperationPhase::is_completed)
    }
    pub(super) fn is_unsuccessful(&self) -> bool {
        self.is_completed() && self.state != Some(OperationPhase::Succeeded)
    }
    pub(super) fn has_failed_to_sync(&self) -> bool {
        self.status == Some(ResultCode::SyncFailed)
    }
    /// Whether an old hook has to go before this one is created (SYNC-168).
    pub(super) fn deletes_before_creation(&self) -> bool {
        self.hook && self.live.is_some() && self.is_pending() && self.policies.before_creation
    }
    pub(super) fn deletes_on_success(&self) -> bool {
        self.hook && self.live.is_some() && self.policies.on_success
    }
    pub(super) fn deletes_on_failure(&self) -> bool {
        self.hook && self.live.is_some() && self.policies.on_failure
    }
    /// `group/kind/name`, as messages name tasks.
    pub(super) fn title(&self) -> String {
        format!("{}/{}/{}", self.key.group, self.key.kind, self.key.name)
    }
}

/// Sorts by phase, wave, kind and name, then moves Namespaces and CRDs in front of what needs them (SYNC-032 to
/// SYNC-036). Group and namespace break ties, so that the same input always gives the same order.
pub(super) fn sort(tasks: &mut Vec<Task>) {
    tasks.sort_by(|a, b| {
        let place = |task: &Task| (task.phase, task.wave, order::kind_weight(&task.key.kind));
        place(a)
            .cmp(&place(b))
            .then_with(|| a.key.name.cmp(&b.key.name))
            .then_with(|| a.key.namespace.cmp(&b.key.namespace))
            .then_with(|| a.key.group.cmp(&b.key.group))
    });
    adjust_dependencies(
        tasks,
        |object| order::is_namespace(object).then(|| object.name().to_owned()),
        |object| Some(object.namespace().to_owned()).filter(|namespace| !namespace.is_empty()),
    );
    adjust_dependencies(tasks, order::defined_kind, |object| Some(GroupKind::new(object.group(), object.kind())));
}

/// Moves every dependency in front of the first earlier task that needs it; it takes over that task's phase and wave.
fn adjust_dependencies<K: Eq + std::hash::Hash>(
    tasks: &mut Vec<Task>,
    provides: impl Fn(&Value) -> Option<K>,
    needs: impl Fn(&Value) -> Option<K>,
) {
    let mut first_needing: HashMap<K, Id> = HashMap::new();
    for place in 0..tasks.len() {
        let Some(target) = tasks[place].target.clone() else { continue };
        if let Some(provided) = provides(&target) {
            let Some(&first) = first_needing.get(&provided) else { continue };
            let mut task = tasks.remove(place);
            task.wave = tasks[first].wave;
            task.phase = tasks[first].phase;
            tasks.insert(first, task);
            for known in first_needing.values_mut().filter(|known| **known >= first) {
                *known += 1;
            }
        } else if let Some(needed) = needs(&target) {
            first_needing.entry(needed).or_insert(place);
        }
    }
}

/// Whether the list has more than one step; finished tasks count too (SYNC-092).
pub(super) fn is_multi_step(tasks: &[Task]) -> bool {
    match (tasks.first(), tasks.last()) {
        (Some(first), Some(last)) => first.wave != last.wave || first.phase != last.phase,
        _ => false,
    }
}

/// Swaps the distinct waves of prune tasks end for end, so that what was created last is pruned first (SYNC-037).
pub(super) fn mirror_prune_waves(tasks: &mut [Task]) {
    let mut waves: Vec<i64> = tasks.iter().filter(|task| task.is_prune()).map(|task| task.wave).collect();
    waves.sort_unstable();
    waves.dedup();
    let mirrored: HashMap<i64, i64> = waves.iter().copied().zip(waves.iter().rev().copied()).collect();
    for task in tasks.iter_mut().filter(|task| task.is_prune()) {
        task.wave = mirrored.get(&task.wave).copied().unwrap_or(task.wave);
    }
}

/// Puts the chosen prunes one wave after everything else of the Sync phase (SYNC-038).
pub(super) fn prune_last(tasks: &mut [Task], chosen: impl Fn(&Task) -> bool) {
    let highest = tasks.iter().filter(|task| task.phase == SyncPhase::Sync).map(|task| task.wave).max();
    let last = highest.unwrap_or(0).max(0).saturating_add(1);
    for task in tasks.iter_mut().filter(|task| task.is_prune() && chosen(task)) {
        task.wave = last;
    }
}
