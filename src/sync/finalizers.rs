//! Takes the hook finalizer off hooks whose result is known.
//!
//! In:  hooks with live objects.
//! Out: per hook, the text of what went wrong, if anything did.
//! Invariant: only `metadata.finalizers` is written, and only onto the resource version it was read from; a hook that
//! is gone already counts as done.
//! Source: SYNC-096, SYNC-175 (`gitops-engine/pkg/sync/sync_context.go` `removeHookFinalizer`).

use std::sync::Arc;

use serde_json::Value;

use super::engine::Engine;
use super::hooks;
use super::io::{Action, FailureKind, ObjectRef};
use super::tasks::Id;
use crate::api::ObjectExt;
use crate::api::names::HOOK_FINALIZER;

/// How often a change is tried when the object keeps changing.
const TRIES: usize = 5;

impl Engine<'_> {
    /// Removes the hook finalizer from all of these; gives back the failures.
    pub(super) async fn remove_finalizers(&mut self, ids: &[Id]) -> Vec<(Id, String)> {
        let mut failures = Vec::new();
        let mut left: Vec<Id> = ids.to_vec();
        for remaining_tries in (0..TRIES).rev() {
            left.retain(|id| self.tasks[*id].live.as_deref().is_some_and(hooks::has_finalizer));
            let conflicts = self.write_finalizers(&left, &mut failures).await;
            if conflicts.is_empty() {
                break;
            }
            if remaining_tries == 0 {
                failures.extend(conflicts);
                break;
            }
            left = conflicts.into_iter().map(|(id, _)| id).collect();
            self.read_again(&mut left, &mut failures).await;
        }
        failures.sort_by_key(|(id, _)| *id);
        failures
    }

    /// One round of writing; gives back the conflicts.
    async fn write_finalizers(&mut self, ids: &[Id], failures: &mut Vec<(Id, String)>) -> Vec<(Id, String)> {
        let actions = ids.iter().filter_map(|id| self.tasks[*id].live.as_deref()).map(without_hook_finalizer).collect();
        let mut conflicts = Vec::new();
        for (&id, answer) in ids.iter().zip(self.ask(actions).await) {
            let text = |error| format!("failed to update resource: failed to update resource: {error}");
            match answer.done() {
                Ok(()) => self.forget_finalizer(id),
                Err(failure) if failure.kind == FailureKind::NotFound => {}
                Err(failure) if failure.kind == FailureKind::Conflict => conflicts.push((id, text(failure))),
                Err(failure) => failures.push((id, text(failure))),
            }
        }
        conflicts
    }

    async fn read_again(&mut self, ids: &mut Vec<Id>, failures: &mut Vec<(Id, String)>) {
        let actions = ids.iter().map(|id| Action::Get(ObjectRef::target(self.tasks[*id].object()))).collect();
        let answers = self.ask(actions).await;
        let mut found = Vec::new();
        for (&id, answer) in ids.iter().zip(answers) {
            match answer.got() {
                Ok(live) => {
                    self.tasks[id].live = Some(Arc::new(live));
                    found.push(id);
                }
                Err(failure) if failure.kind == FailureKind::NotFound => {}
                Err(failure) => {
                    failures.push((id, format!("failed to get resource: failed to get resource: {failure}")));
                }
            }
        }
        *ids = found;
    }

    fn forget_finalizer(&mut self, id: Id) {
        let Some(live) = &mut self.tasks[id].live else { return };
        let meta = Arc::make_mut(live).metadata_mut();
        if let Some(Value::Array(list)) = meta.get_mut("finalizers") {
            list.retain(|finalizer| finalizer.as_str() != Some(HOOK_FINALIZER));
        }
    }
}

fn without_hook_finalizer(live: &Value) -> Action {
    Action::SetFinalizers {
        object: ObjectRef::live(live),
        finalizers: live
            .finalizers()
            .into_iter()
            .filter(|finalizer| *finalizer != HOOK_FINALIZER)
            .map(str::to_owned)
            .collect(),
        resource_version: live.resource_version().to_owned(),
    }
}
