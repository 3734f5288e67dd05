//! Applies targets: which method, in which groups, and what their results say.
//!
//! In:  tasks with targets, in order.
//! Out: results `Synced` or `SyncFailed` with kubectl's texts.
//! Invariant: objects of one kind are written together, kinds one after the other; a failure does not keep the rest of
//! the wave from being applied.
//! Source: SYNC-043, SYNC-076, SYNC-082, SYNC-199 to SYNC-208 (`gitops-engine/pkg/sync/sync_context.go`
//! `processCreateTasks`, `applyObject`).

use std::sync::Arc;

use serde_json::Value;

use super::engine::Engine;
use super::io::{Action, Apply, Failure, Method, ObjectRef};
use super::options::has_option;
use super::order;
use super::tasks::{Id, Task};
use super::words::{OperationPhase, ResultCode};
use crate::api::ObjectExt;

impl Engine<'_> {
    /// Applies the tasks, kind by kind; true when all went well.
    pub(super) async fn create(&mut self, ids: &[Id], dry_run: bool) -> bool {
        let mut succeeded = true;
        for group in ids
            .chunk_by(|a, b| self.tasks[*a].key.kind == self.tasks[*b].key.kind)
            .map(<[Id]>::to_vec)
            .collect::<Vec<_>>()
        {
            succeeded &= self.create_group(group, dry_run).await;
        }
        succeeded
    }

    async fn create_group(&mut self, mut ids: Vec<Id>, dry_run: bool) -> bool {
        if dry_run {
            ids.retain(|id| !self.tasks[*id].skip_dry_run);
        }
        let mut failures = if dry_run { Vec::new() } else { self.migrate(&mut ids).await };
        let writes: Vec<Apply> = ids.iter().filter_map(|id| self.plan_apply(&self.tasks[*id], dry_run)).collect();
        let methods: Vec<Method> = writes.iter().map(|write| write.method.clone()).collect();
        let answers = self.ask(writes.into_iter().map(Action::Apply).collect()).await;
        let mut applied = Vec::new();
        for ((id, answer), method) in ids.into_iter().zip(answers).zip(methods) {
            match answer.applied() {
                Ok(text) => applied.push((id, self.applied_text(id, text, &method))),
                Err(failure) => failures.push((id, failure.message)),
            }
        }
        if !dry_run {
            self.wait_for_crds(&applied).await;
        }
        let succeeded = failures.is_empty();
        let mut outcomes: Vec<(Id, ResultCode, String)> =
            applied.into_iter().map(|(id, text)| (id, ResultCode::Synced, text)).collect();
        outcomes.extend(failures.into_iter().map(|(id, text)| (id, ResultCode::SyncFailed, text)));
        outcomes.sort_by_key(|(id, ..)| *id);
        for (id, code, text) in outcomes {
            self.record_apply(id, code, &text, dry_run);
        }
        succeeded
    }

    /// The dry run before a sync records failures only; a dry-run operation records everything, as done (SYNC-252).
    fn record_apply(&mut self, id: Id, code: ResultCode, text: &str, dry_run: bool) {
        if dry_run && !self.options.dry_run && code != ResultCode::SyncFailed {
            return;
        }
        let ends_at_once = self.options.dry_run && code == ResultCode::Synced;
        let phase = if ends_at_once { OperationPhase::Succeeded } else { code.phase() };
        self.set(id, Some(code), Some(phase), text);
    }

    /// Takes fields over from client-side apply where this is the first server-side apply (SYNC-206).
    async fn migrate(&mut self, ids: &mut Vec<Id>) -> Vec<(Id, String)> {
        let due: Vec<(Id, Arc<Value>)> =
            ids.iter().filter_map(|id| Some((*id, self.due_for_migration(&self.tasks[*id])?))).collect();
        let action = |live: &Arc<Value>| Action::MigrateManagedFields {
            object: ObjectRef::live(live),
            manager: self.migration_manager.to_owned(),
        };
        let answers = self.ask(due.iter().map(|(_, live)| action(live)).collect()).await;
        let mut failures = Vec::new();
        for ((id, live), answer) in due.into_iter().zip(answers) {
            if let Err(failure) = answer.done() {
                failures.push((id, migration_text(&live, &failure)));
                ids.retain(|kept| *kept != id);
            }
        }
        failures
    }

    fn due_for_migration(&self, task: &Task) -> Option<Arc<Value>> {
        let (target, live) = (task.target.as_deref()?, task.live.as_ref()?);
        let is_due = self.options.migrate_client_side
            && self.uses_server_side(target, false)
            && updates_as(live, self.migration_manager);
        is_due.then(|| Arc::clone(live))
    }

    /// Server-side apply is off in every dry run (SYNC-205).
    fn uses_server_side(&self, target: &Value, dry_run: bool) -> bool {
        !(dry_run || self.options.dry_run)
            && !has_option(target, "ServerSideApply=false")
            && (self.options.server_side || has_option(target, "ServerSideApply=true"))
    }

    fn plan_apply(&self, task: &Task, dry_run: bool) -> Option<Apply> {
        let target = task.target.as_ref()?;
        let live = task.live.as_deref();
        let asks = |option| has_option(target, option) || live.is_some_and(|live| has_option(live, option));
        let replaces = self.options.replace || asks("Replace=true");
        let method = match live {
            _ if !replaces && self.uses_server_side(target, dry_run) => Method::ServerSide,
            _ if !replaces => Method::ClientSide,
            None => Method::Create,
            // Replacing may delete and recreate, and with a CRD or a Namespace everything in it would go.
            Some(live) if order::is_crd(target) || target.kind() == "Namespace" => {
                Method::Update { resource_version: live.resource_version().to_owned() }
            }
            Some(_) => Method::Replace,
        };
        Some(Apply {
            object: Arc::clone(target),
            method,
            dry_run,
            force: self.options.force || asks("Force=true"),
            validate: self.options.validate && !has_option(target, "Validate=false"),
        })
    }

    fn applied_text(&self, id: Id, text: String, method: &Method) -> String {
        let task = &self.tasks[id];
        match method {
            Method::Update { .. } => format!("{}/{} updated", task.key.kind, task.key.name),
            _ => text,
        }
    }

    /// Gives new CRDs a moment to be served; a CRD that takes longer is only found out later (SYNC-082).
    async fn wait_for_crds(&self, applied: &[(Id, String)]) {
        let crds = applied.iter().map(|(id, _)| &self.tasks[*id]).filter(|task| order::is_crd(task.object()));
        self.ask(crds.map(|task| Action::WaitForCrd { name: task.key.name.clone() }).collect()).await;
    }
}

/// Whether the manager owns fields by `Update`, that is, by client-side apply.
fn updates_as(live: &Value, manager: &str) -> bool {
    let entries = live.metadata().and_then(|meta| meta.get("managedFields")).and_then(Value::as_array);
    entries.into_iter().flatten().any(|entry| {
        let field = |name: &str| entry.get(name).and_then(Value::as_str);
        field("manager") == Some(manager) && field("operation") == Some("Update")
    })
}

fn migration_text(live: &Value, failure: &Failure) -> String {
    let key = live.key();
    let name = format!("{{{} {} {} {}}}", key.group, key.kind, key.namespace, key.name);
    format!("Failed to perform client-side apply migration for {name}: {failure}")
}
