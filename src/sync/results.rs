//! The book of results, one entry per object and phase.
//!
//! In:  the entries stored so far; new results of tasks.
//! Out: the entries to store, in the order in which they were first recorded.
//! Invariant: an existing entry changes only in status, hook phase and message; an empty message keeps the old one.
//! Source: SYNC-125 to SYNC-130 (`gitops-engine/pkg/sync/sync_context.go` `setResourceResult`,
//! `gitops-engine/pkg/utils/kube/kube.go` `GetResourceImages`).

use std::collections::HashMap;

use serde_json::Value;

use super::tasks::Task;
use super::words::{OperationPhase, ResultCode, SyncPhase};
use crate::api::ResourceKey;
use crate::api::operation::ResourceResult;

#[derive(Debug, Default)]
pub(super) struct Results {
    entries: Vec<ResourceResult>,
    places: HashMap<(ResourceKey, String), usize>,
}

impl Results {
    pub(super) fn resume(entries: Vec<ResourceResult>) -> Self {
        let places = entries.iter().enumerate().map(|(place, entry)| (stored_identity(entry), place)).collect();
        Self { entries, places }
    }
    /// Whether this attempt has recorded anything, that is, whether its dry run is over (SYNC-075).
    pub(super) fn is_started(&self) -> bool {
        !self.entries.is_empty()
    }
    pub(super) fn entries(&self) -> &[ResourceResult] {
        &self.entries
    }
    pub(super) fn into_entries(self) -> Vec<ResourceResult> {
        self.entries
    }

    /// Brings the stored result of the task back into it.
    pub(super) fn recall(&self, task: &mut Task) {
        let Some(entry) = self.place(&task.key, task.phase).and_then(|place| self.entries.get(place)) else { return };
        task.status = ResultCode::parse(&entry.status);
        task.state = OperationPhase::parse(&entry.hook_phase);
        task.message.clone_from(&entry.message);
    }

    /// Writes the task's current result down.
    pub(super) fn record(&mut self, task: &Task) {
        let status = task.status.map_or("", ResultCode::as_str).to_owned();
        let hook_phase = task.state.map_or("", OperationPhase::as_str).to_owned();
        let known = self.place(&task.key, task.phase);
        if let Some(entry) = known.and_then(|place| self.entries.get_mut(place)) {
            entry.status = status;
            entry.hook_phase = hook_phase;
            entry.message.clone_from(&task.message);
            return;
        }
        let sync_phase = task.phase.as_str().to_owned();
        self.places.insert((task.key.clone(), sync_phase.clone()), self.entries.len());
        self.entries.push(ResourceResult {
            group: task.key.group.clone(),
            version: task.gvk.version.clone(),
            kind: task.key.kind.clone(),
            namespace: task.key.namespace.clone(),
            name: task.key.name.clone(),
            status,
            message: task.message.clone(),
            hook_type: if task.hook { sync_phase.clone() } else { String::new() },
            hook_phase,
            sync_phase,
            images: images(task.object()),
        });
    }

    fn place(&self, key: &ResourceKey, phase: SyncPhase) -> Option<usize> {
        self.places.get(&(key.clone(), phase.as_str().to_owned())).copied()
    }
}

fn stored_identity(entry: &ResourceResult) -> (ResourceKey, String) {
    let key = ResourceKey {
        group: entry.group.clone(),
        kind: entry.kind.clone(),
        namespace: entry.namespace.clone(),
        name: entry.name.clone(),
    };
    (key, entry.sync_phase.clone())
}

/// Images of the first container list the object has; init containers do not count (SYNC-129).
pub fn images(object: &Value) -> Vec<String> {
    const LISTS: [&str; 3] =
        ["/spec/containers", "/spec/template/spec/containers", "/spec/jobTemplate/spec/template/spec/containers"];
    let containers = LISTS.iter().find_map(|path| object.pointer(path).and_then(Value::as_array));
    let image = |container: &Value| container.get("image").and_then(Value::as_str).map(str::to_owned);
    containers.into_iter().flatten().filter_map(image).collect()
}
