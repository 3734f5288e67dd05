//! Builds the sorted list of tasks of a pass.
//!
//! In:  compared objects, hook targets, the stored results; discovery; the live destination namespace.
//! Out: tasks with live twins, waves and earlier results; whether every kind exists and is permitted.
//! Invariant: an object that is not in the list is neither applied nor pruned in this pass.
//! Source: SYNC-028, SYNC-037, SYNC-038, SYNC-050 to SYNC-067 (`gitops-engine/pkg/sync/sync_context.go`
//! `getSyncTasks`, `autoCreateNamespace`; `controller/sync_namespace.go`).

use std::collections::HashMap;
use std::sync::Arc;

use serde_json::{Value, json};

use super::engine::{Engine, Pair};
use super::hooks;
use super::io::{Action, FailureKind, ObjectRef, Scope};
use super::options::has_option;
use super::order;
use super::tasks::{self, Id, Task};
use super::words::{OperationPhase, ResultCode, SyncPhase};
use crate::api::application::ManagedNamespaceMetadata;
use crate::api::names::SYNC_OPTIONS;
use crate::api::{GroupKind, GroupVersionKind, ObjectExt, ResourceKey};

/// Live objects by group, kind and name.
type LiveIndex = HashMap<(String, String, String), Vec<Arc<Value>>>;

/// Kinds that this very sync brings, with their scope.
type Defined = HashMap<GroupKind, Scope>;

impl Engine<'_> {
    /// Fills the task list; false when some task cannot be carried out at all (SYNC-057).
    pub(super) async fn build(&mut self) -> bool {
        let pairs = std::mem::take(&mut self.pairs);
        let hook_targets = std::mem::take(&mut self.hooks);
        let namespace_given = pairs.iter().any(|pair| self.is_destination_namespace(pair.target.as_deref()));
        let wanted = pairs.iter().filter_map(|pair| pair.target.as_deref()).chain(&hook_targets);
        let defined: Defined = wanted
            .filter_map(|target| {
                Some((order::defined_kind(target)?, Scope { namespaced: order::defines_namespaced(target) }))
            })
            .collect();
        let live = index(&pairs);

        let mut list = self.resource_tasks(pairs);
        list.extend(self.hook_tasks(hook_targets));
        self.tasks = list;
        if self.options.create_namespace && !self.namespace.is_empty() && !namespace_given {
            self.add_namespace_task().await;
        }
        for task in self.tasks.iter_mut().filter(|task| task.live.is_none()) {
            task.live = twin(&live, &task.key);
        }
        let valid = self.check_kinds(&defined).await;
        self.arrange();
        valid
    }

    fn is_destination_namespace(&self, object: Option<&Value>) -> bool {
        object.is_some_and(|object| order::is_namespace(object) && object.name() == self.namespace)
    }

    fn resource_tasks(&self, pairs: Vec<Pair>) -> Vec<Task> {
        let mut list = Vec::with_capacity(pairs.len());
        for pair in pairs.into_iter().filter(|pair| self.is_selected(pair)) {
            let Some(object) = pair.target.as_deref().or(pair.live.as_deref()) else { continue };
            if hooks::is_hook(object) || hooks::is_skipped(object) {
                continue;
            }
            let target = pair.target.map(|target| in_namespace(target, self.namespace));
            if let Some(mut task) = Task::new(SyncPhase::Sync, target, pair.live) {
                task.unmodified = !pair.modified;
                list.push(task);
            }
        }
        list
    }

    /// Whether the operation concerns the object, and the live object is the application's own (SYNC-028, SYNC-250).
    fn is_selected(&self, pair: &Pair) -> bool {
        let Some(identity) = pair.live.as_deref().or(pair.target.as_deref()) else { return false };
        let key = identity.key();
        let is_listed = self.selected.is_empty()
            || pair.target.as_deref().is_some_and(hooks::is_delete_hook)
            || self.selected.iter().any(|named| {
                named.kind == key.kind
                    && named.group == key.group
                    && named.name == key.name
                    && (named.namespace.is_empty() || named.namespace == key.namespace)
            });
        is_listed && pair.self_referenced
    }

    fn hook_tasks(&self, targets: Vec<Value>) -> Vec<Task> {
        if self.options.skip_hooks {
            return Vec::new();
        }
        let mut list = Vec::new();
        for target in targets {
            for phase in hooks::sync_phases(&target) {
                let mut hook = target.clone();
                if hook.name().is_empty() {
                    let prefix = hook.meta_str("generateName").to_owned();
                    let name = hooks::generated_name(&prefix, self.revision, phase, self.started_at);
                    hook.metadata_mut().insert("name".to_owned(), name.into());
                }
                hooks::add_finalizer(&mut hook);
                list.extend(Task::new(phase, Some(in_namespace(Arc::new(hook), self.namespace)), None));
            }
        }
        list
    }

    /// Adds the task that creates or updates the destination namespace (SYNC-062 to SYNC-066).
    async fn add_namespace_task(&mut self) {
        let target = namespace_object(self.namespace, self.namespace_metadata);
        let answers = self.ask(vec![Action::Get(ObjectRef::target(&target))]).await;
        let Some(found) = answers.into_iter().next() else { return };
        let (live, failure) = match found.got() {
            Ok(_) if self.namespace_metadata.is_none() => return,
            Ok(live) => (Some(Arc::new(live)), None),
            Err(failure) if failure.kind == FailureKind::NotFound => (None, None),
            Err(failure) => (None, Some(format!("namespace auto creation failed: {failure}"))),
        };
        self.tasks.extend(Task::new(SyncPhase::PreSync, Some(Arc::new(target)), live));
        if let (Some(message), Some(id)) = (failure, self.tasks.len().checked_sub(1)) {
            self.set(id, Some(ResultCode::SyncFailed), Some(OperationPhase::Error), &message);
        }
    }

    /// Asks discovery about every kind and the project about every object (SYNC-055, SYNC-056, SYNC-079, SYNC-215).
    async fn check_kinds(&mut self, defined: &Defined) -> bool {
        let mut kinds: Vec<GroupVersionKind> = self.tasks.iter().map(|task| task.gvk.clone()).collect();
        kinds.sort();
        kinds.dedup();
        let answers = self.ask(kinds.iter().cloned().map(Action::Discover).collect()).await;
        let scopes: HashMap<_, _> =
            kinds.into_iter().zip(answers.into_iter().map(super::io::Answer::discovered)).collect();
        let mut valid = true;
        for id in 0..self.tasks.len() {
            let problem = match scopes.get(&self.tasks[id].gvk) {
                Some(Ok(scope)) => self.forbids(id, *scope),
                Some(Err(failure)) if failure.kind == FailureKind::NotFound && self.may_miss_kind(id, defined) => {
                    self.tasks[id].skip_dry_run = true;
                    // Argo CD applies such an object unchecked when its CRD comes in the same wave (SYNC-080).
                    let scope = defined.get(&self.tasks[id].gvk.group_kind()).copied();
                    scope.and_then(|scope| self.forbids(id, scope))
                }
                Some(Err(failure)) => Some(failure.message.clone()),
                None => Some("discovery gave no answer".to_owned()),
            };
            if let Some(message) = problem {
                self.set(id, Some(ResultCode::SyncFailed), None, &message);
                valid = false;
            }
        }
        valid
    }

    fn forbids(&self, id: Id, scope: Scope) -> Option<String> {
        (self.permit)(self.tasks[id].object(), scope).err()
    }

    /// Whether the kind may be unknown for now, because this sync brings it or somebody said so (SYNC-079).
    fn may_miss_kind(&self, id: Id, defined: &Defined) -> bool {
        let task = &self.tasks[id];
        self.options.skip_dry_run_on_missing
            || task.target.as_deref().is_some_and(|target| has_option(target, "SkipDryRunOnMissingResource=true"))
            || defined.contains_key(&task.gvk.group_kind())
    }

    /// Settles waves and order, then brings earlier results back.
    fn arrange(&mut self) {
        tasks::mirror_prune_waves(&mut self.tasks);
        let all = self.options.prune_last;
        tasks::prune_last(&mut self.tasks, |task| {
            all || task.live.as_deref().is_some_and(|live| has_option(live, "PruneLast=true"))
        });
        tasks::sort(&mut self.tasks);
        for task in &mut self.tasks {
            self.results.recall(task);
        }
    }
}

/// Fills the destination namespace in, for cluster-scoped kinds too (SYNC-061).
fn in_namespace(mut target: Arc<Value>, namespace: &str) -> Arc<Value> {
    if target.namespace().is_empty() && !namespace.is_empty() {
        Arc::make_mut(&mut target).metadata_mut().insert("namespace".to_owned(), namespace.into());
    }
    target
}

fn index(pairs: &[Pair]) -> LiveIndex {
    let mut found = LiveIndex::new();
    for live in pairs.iter().filter_map(|pair| pair.live.as_ref()) {
        let key = live.key();
        found.entry((key.group, key.kind, key.name)).or_default().push(Arc::clone(live));
    }
    found
}

/// The live object of a target: cluster-scoped, or in the same namespace (SYNC-054).
fn twin(live: &LiveIndex, key: &ResourceKey) -> Option<Arc<Value>> {
    let candidates = live.get(&(key.group.clone(), key.kind.clone(), key.name.clone()))?;
    candidates.iter().find(|live| live.namespace().is_empty() || live.namespace() == key.namespace).cloned()
}

/// The destination namespace as the operation wants it. Managed metadata arrives by server-side apply, so that other
/// labels and annotations of the namespace stay (SYNC-065).
fn namespace_object(name: &str, metadata: Option<&ManagedNamespaceMetadata>) -> Value {
    let mut object =
        json!({"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": name}, "spec": {}, "status": {}});
    if let Some(metadata) = metadata {
        for (label, value) in &metadata.labels {
            object.set_label(label, value);
        }
        for (annotation, value) in &metadata.annotations {
            object.set_annotation(annotation, value);
        }
        object.set_annotation(SYNC_OPTIONS, "ServerSideApply=true");
    }
    object
}
