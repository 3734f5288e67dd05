//! A scripted cluster that carries actions out, and operations driven against it pass by pass.
//!
//! In:  targets and hooks as JSON, the objects in the cluster, answers that are to fail.
//! Out: the operation's state after each pass, and a log of every action that changed the cluster.

mod auto;
mod deletion;
mod failures;
mod hooks;
mod lifecycle;
mod options;
mod order;
mod patience;
mod retry;
mod termination;
mod waves;
mod worked;

use std::collections::BTreeMap;
use std::time::Duration;

use jiff::Timestamp;
use serde_json::{Value, json};

use super::budget::PruneBudget;
use super::partial::PartialRender;
use super::prune_guard::PruneGuard;
use super::*;
use crate::api::application::ManagedNamespaceMetadata;
use crate::api::operation::{Operation, OperationState, ResourceResult, SyncOperation, SyncOperationResult};
use crate::api::status::Time;
use crate::api::{ApplicationSpec, ObjectExt};

/// Start of every operation in these tests.
const START: &str = "2024-04-05T19:35:45Z";

pub(super) fn at(text: &str) -> Timestamp {
    text.parse().unwrap()
}

/// An object of the test namespace.
pub(super) fn object(api_version: &str, kind: &str, name: &str) -> Value {
    json!({"apiVersion": api_version, "kind": kind, "metadata": {"name": name, "namespace": "demo"}})
}

pub(super) fn config_map(name: &str) -> Value {
    object("v1", "ConfigMap", name)
}

pub(super) fn deployment(name: &str) -> Value {
    let mut made = object("apps/v1", "Deployment", name);
    made["spec"] = json!({"template": {"spec": {"containers": [{"image": "app:1"}, {"image": "side:2"}]}}});
    made
}

/// The object with an annotation of Argo CD's.
pub(super) fn with(mut made: Value, annotation: &str, value: &str) -> Value {
    made.set_annotation(&format!("argocd.argoproj.io/{annotation}"), value);
    made
}

pub(super) fn wave(made: Value, number: i64) -> Value {
    with(made, "sync-wave", &number.to_string())
}

pub(super) fn hook(name: &str, phases: &str) -> Value {
    with(object("batch/v1", "Job", name), "hook", phases)
}

pub(super) fn custom_resource(name: &str) -> Value {
    object("example.com/v1", "Widget", name)
}

pub(super) fn crd() -> Value {
    json!({"apiVersion": "apiextensions.k8s.io/v1", "kind": "CustomResourceDefinition",
        "metadata": {"name": "widgets.example.com"},
        "spec": {"group": "example.com", "names": {"kind": "Widget"}}})
}

/// Health for tests: what `status.health` and `status.message` say; jobs and deployments progress until then.
fn health(object: &Value) -> Result<Option<Health>, String> {
    let text = |path: &str| object.pointer(path).and_then(Value::as_str).unwrap_or_default();
    let status = match text("/status/health") {
        "" if matches!(object.kind(), "Job" | "Deployment") => "Progressing",
        "" => return Ok(None),
        "broken" => return Err("script failed".to_owned()),
        given => given,
    };
    Ok(Some(Health { status: status.to_owned(), message: text("/status/message").to_owned() }))
}

/// A project that permits everything but ClusterRoles.
fn permit(object: &Value, _: Scope) -> Result<(), String> {
    if object.kind() == "ClusterRole" {
        return Err("resource rbac.authorization.k8s.io:ClusterRole is not permitted in project demo".to_owned());
    }
    if object.kind() == "Widget" && object.name() == "forbidden" {
        return Err("resource example.com:Widget is not permitted in project demo".to_owned());
    }
    Ok(())
}

/// An operation under way against a scripted cluster.
pub(super) struct World {
    /// Objects by `Kind/name`.
    pub(super) live: BTreeMap<String, Value>,
    pub(super) targets: Vec<Value>,
    pub(super) hooks: Vec<Value>,
    pub(super) operation: SyncOperation,
    pub(super) state: OperationState,
    /// Every action but reads and discovery.
    pub(super) log: Vec<String>,
    /// Applies and deletions that fail, by `Kind/name`.
    pub(super) failing: BTreeMap<String, Failure>,
    pub(super) namespace_metadata: Option<ManagedNamespaceMetadata>,
    pub(super) approved: Option<Time>,
    pub(super) guard: PruneGuard,
    pub(super) now: Timestamp,
    pub(super) foreign: Vec<String>,
    /// Objects that the comparison does not show.
    pub(super) unwatched: Vec<String>,
    /// Whether deleting an object only marks it.
    pub(super) slow_deletion: bool,
    /// Messages that were stored in the middle of a pass.
    pub(super) announced: Vec<String>,
}

impl World {
    pub(super) fn new(targets: Vec<Value>) -> Self {
        let started_at = Time::from_timestamp(at(START));
        let mut world = Self {
            live: BTreeMap::new(),
            targets,
            hooks: Vec::new(),
            operation: SyncOperation::default(),
            state: OperationState { phase: "Running".into(), started_at, ..OperationState::default() },
            log: Vec::new(),
            failing: BTreeMap::new(),
            namespace_metadata: None,
            approved: None,
            guard: PruneGuard::default(),
            now: at("2024-04-05T19:36:00Z"),
            foreign: Vec::new(),
            unwatched: Vec::new(),
            slow_deletion: false,
            announced: Vec::new(),
        };
        world.live.insert(
            "Namespace/demo".into(),
            json!({"apiVersion": "v1", "kind": "Namespace",
            "metadata": {"name": "demo", "uid": "untracked"}}),
        );
        world
    }
    pub(super) fn with_hooks(mut self, hooks: Vec<Value>) -> Self {
        self.hooks = hooks;
        self
    }
    pub(super) fn with_live(mut self, objects: Vec<Value>) -> Self {
        for object in objects {
            self.live.insert(title(&object), object);
        }
        self
    }
    pub(super) fn with_options(mut self, options: &[&str]) -> Self {
        self.operation.sync_options = options.iter().map(|option| (*option).to_owned()).collect();
        self
    }
    pub(super) fn pruning(mut self) -> Self {
        self.operation.prune = true;
        self
    }
    pub(super) fn failing(mut self, title: &str, message: &str) -> Self {
        self.failing.insert(title.to_owned(), Failure::other(message));
        self
    }

    /// Sets what the health of a live object is.
    pub(super) fn becomes(&mut self, title: &str, health: &str, message: &str) {
        self.live.get_mut(title).unwrap()["status"] = json!({"health": health, "message": message});
    }

    fn resources(&self) -> Vec<Resource> {
        let wanted: Vec<String> = self.targets.iter().map(title).collect();
        let mut list: Vec<Resource> = Vec::new();
        for target in &self.targets {
            let live = self.live.get(&title(target)).cloned();
            let modified = live.as_ref().is_none_or(|live| live["spec"] != target["spec"]);
            list.push(Resource { target: Some(target.clone()), live, modified, self_referenced: true });
        }
        for (name, live) in &self.live {
            if !wanted.contains(name) && live.uid() != "untracked" && !self.unwatched.contains(name) {
                let self_referenced = !self.foreign.contains(name);
                list.push(Resource { target: None, live: Some(live.clone()), modified: true, self_referenced });
            }
        }
        list
    }

    /// Runs one pass and stores its update, as the controller does.
    pub(super) fn pass(&mut self) -> &mut Self {
        let (operation, state, metadata) =
            (self.operation.clone(), self.state.clone(), self.namespace_metadata.clone());
        let mut pass = Pass::new(Input {
            operation: &operation,
            state: &state,
            resources: self.resources(),
            hooks: self.hooks.clone(),
            namespace: "demo",
            managed_namespace_metadata: metadata.as_ref(),
            revision: "0a1b2c3d4e5f",
            prune_guard: self.guard.clone(),
            deletion_approved: self.approved,
            migration_manager: None,
            now: self.now,
            wave_delay: Duration::from_secs(2),
            health: &health,
            permit: &permit,
        });
        let mut answers = Vec::new();
        for _ in 0..1000 {
            match pass.next(answers) {
                Next::Do(actions) => answers = actions.into_iter().map(|action| self.carry_out(action)).collect(),
                Next::Done(update) => {
                    update.store(&mut self.state, &ApplicationSpec::default());
                    return self;
                }
            }
        }
        panic!("the pass does not end");
    }

    fn carry_out(&mut self, action: Action) -> Answer {
        match action {
            Action::Discover(gvk) => Answer::Discovered(self.discover(&gvk)),
            Action::Get(named) => Answer::Got(self.find(&named)),
            Action::Apply(write) => Answer::Applied(self.apply(&write)),
            Action::Delete { object, propagation } => Answer::Done(self.delete(&object, propagation)),
            Action::SetFinalizers { object, finalizers, resource_version } => {
                Answer::Done(self.set_finalizers(&object, finalizers, &resource_version))
            }
            Action::MigrateManagedFields { object, manager } => {
                self.log.push(format!("migrate {}/{} from {manager}", object.gvk.kind, object.name));
                Answer::Done(Ok(()))
            }
            Action::WaitForCrd { name } => {
                self.log.push(format!("wait for crd {name}"));
                Answer::Done(Ok(()))
            }
            Action::Announce(message) => {
                self.announced.push(message);
                Answer::Done(Ok(()))
            }
            Action::Sleep(delay) => {
                self.log.push(format!("sleep {}s", delay.as_secs()));
                Answer::Done(Ok(()))
            }
        }
    }

    fn discover(&self, gvk: &crate::api::GroupVersionKind) -> Result<Scope, Failure> {
        if gvk.group == "example.com" && !self.live.contains_key("CustomResourceDefinition/widgets.example.com") {
            return Err(Failure::not_found(text::unknown_group_version(gvk)));
        }
        let cluster_scoped = ["Namespace", "ClusterRole", "CustomResourceDefinition"].contains(&gvk.kind.as_str());
        Ok(Scope { namespaced: !cluster_scoped })
    }

    fn find(&self, named: &ObjectRef) -> Result<Value, Failure> {
        let key = format!("{}/{}", named.gvk.kind, named.name);
        if let Some(failure) = self.failing.get(&format!("get {key}")) {
            return Err(failure.clone());
        }
        self.live.get(&key).cloned().ok_or_else(|| Failure::not_found(format!("{key} not found")))
    }

    fn apply(&mut self, write: &Apply) -> Result<String, Failure> {
        let key = title(&write.object);
        if let Some(failure) = self.failing.get(&key)
            && (!write.dry_run || failure.message.starts_with("dry"))
        {
            return Err(failure.clone());
        }
        let verb = match write.method {
            Method::ServerSide => "serverside-applied",
            Method::Replace => "replaced",
            Method::ClientSide | Method::Create if !self.live.contains_key(&key) => "created",
            Method::ClientSide | Method::Create => "configured",
            Method::Update { .. } => "unused",
        };
        let suffix = if write.dry_run { " (dry run)" } else { "" };
        if !write.dry_run {
            let force = if write.force { " by force" } else { "" };
            self.log.push(format!("{} {key}{force}", method_name(&write.method)));
            let mut stored = (*write.object).clone();
            if let Some(previous) = self.live.get(&key) {
                stored["status"] = previous["status"].clone();
            }
            stored.metadata_mut().insert("resourceVersion".into(), self.log.len().to_string().into());
            if ["Namespace", "ClusterRole", "CustomResourceDefinition"].contains(&stored.kind()) {
                stored.metadata_mut().remove("namespace");
            }
            self.live.insert(key, stored);
        }
        let kind = write.object.kind().to_lowercase();
        let group = write.object.group();
        let kind = if group.is_empty() { kind } else { format!("{kind}.{group}") };
        Ok(format!("{kind}/{} {verb}{suffix}", write.object.name()))
    }

    fn delete(&mut self, named: &ObjectRef, propagation: Propagation) -> Result<(), Failure> {
        let key = format!("{}/{}", named.gvk.kind, named.name);
        if let Some(failure) = self.failing.get(&format!("delete {key}")) {
            return Err(failure.clone());
        }
        self.log.push(format!("delete {key} {}", propagation.as_str()));
        let Some(found) = self.live.get_mut(&key) else {
            return Err(Failure::not_found(format!("{key} not found")));
        };
        if self.slow_deletion || !found.finalizers().is_empty() {
            let now = Time::from_timestamp(self.now).to_string();
            found.metadata_mut().insert("deletionTimestamp".into(), now.into());
        } else {
            self.live.remove(&key);
        }
        Ok(())
    }

    fn set_finalizers(&mut self, named: &ObjectRef, list: Vec<String>, version: &str) -> Result<(), Failure> {
        let key = format!("{}/{}", named.gvk.kind, named.name);
        if let Some(failure) = self.failing.get(&format!("finalizers {key}")) {
            return Err(failure.clone());
        }
        let Some(found) = self.live.get_mut(&key) else {
            return Err(Failure::not_found(format!("{key} not found")));
        };
        if found.resource_version() != version {
            return Err(Failure::conflict("the object has been modified"));
        }
        self.log.push(format!("finalizers {key} {list:?}"));
        if list.is_empty() && found.is_deleting() {
            self.live.remove(&key);
        } else {
            found.metadata_mut().insert("finalizers".into(), list.into());
        }
        Ok(())
    }

    pub(super) fn results(&self) -> &[ResourceResult] {
        self.state.sync_result.as_ref().map_or(&[], |result| &result.resources)
    }

    /// Results as `Kind/name status hookPhase syncPhase`.
    pub(super) fn table(&self) -> Vec<String> {
        let line = |entry: &ResourceResult| {
            format!("{}/{} {} {} {}", entry.kind, entry.name, entry.status, entry.hook_phase, entry.sync_phase)
        };
        self.results().iter().map(line).collect()
    }

    pub(super) fn message_of(&self, name: &str) -> &str {
        &self.results().iter().find(|entry| entry.name == name).unwrap().message
    }

    #[track_caller]
    pub(super) fn expect(&self, phase: &str, message: &str) -> &Self {
        assert_eq!((self.state.phase.as_str(), self.state.message.as_str()), (phase, message), "{:#?}", self.results());
        self
    }
    #[track_caller]
    pub(super) fn expect_results(&self, lines: &[&str]) -> &Self {
        assert_eq!(self.table(), lines);
        self
    }
    #[track_caller]
    pub(super) fn expect_log(&self, lines: &[&str]) -> &Self {
        assert_eq!(self.log, lines);
        self
    }
}

fn method_name(method: &Method) -> &'static str {
    match method {
        Method::ClientSide => "apply",
        Method::ServerSide => "server-side apply",
        Method::Create => "create",
        Method::Replace => "replace",
        Method::Update { .. } => "update",
    }
}

fn title(object: &Value) -> String {
    format!("{}/{}", object.kind(), object.name())
}

/// The state of an operation that ended.
pub(super) fn ended(phase: &str, revision: &str) -> OperationState {
    OperationState {
        operation: Operation { sync: Some(SyncOperation::default()), ..Operation::default() },
        phase: phase.to_owned(),
        started_at: Time::from_timestamp(at(START)),
        finished_at: Time::parse("2024-04-05T19:36:45Z"),
        sync_result: Some(SyncOperationResult { revision: revision.to_owned(), ..SyncOperationResult::default() }),
        ..OperationState::default()
    }
}
