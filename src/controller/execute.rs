//! Carries out what a sync pass asks for.
//!
//! In:  groups of actions.
//! Out: answers in the same order; every object that a write was answered with goes into the live store at once.
//! Invariant: the permit is asked for anew before each group, so that a take-over by Argo CD stops a sync between
//! two groups.
//! Source: SYNC-042 to SYNC-044, SYNC-082, SYNC-131 to SYNC-133, SYNC-155.

use std::rc::Rc;
use std::time::Duration;

use futures::stream::{self, StreamExt};
use serde_json::{Value, json};

use super::autosync;
use super::comparison::Comparison;
use super::context::Context;
use super::destination::Destination;
use super::operation::Scene;
use super::stores::StoredApp;
use crate::api::operation::{OperationState, SyncOperation};
use crate::api::status::Time;
use crate::api::{GroupKind, GroupVersionKind, ObjectExt, ResourceKey, names};
use crate::cluster::{self, Apply, DryRun, Resource, Target};
use crate::guard::Permit;
use crate::project::service_account;
use crate::sync::prune_guard::PruneGuard;
use crate::sync::{self, Action, Answer, Failure, FailureKind, Input, Method, Next, ObjectRef, Pass, Scope, patience};
use crate::{diff, health};

/// How long a new CRD is waited for (SYNC-082).
const CRD_PATIENCE: Duration = Duration::from_secs(3);

/// Runs one pass; the outcome is in `state`.
pub async fn pass(
    ctx: &Rc<Context>,
    (config, app, project): Scene<'_>,
    (found, operation): (&Comparison, &SyncOperation),
    state: &mut OperationState,
) -> Result<(), String> {
    let Some(destination) = &found.destination else {
        return Err("Failed to get destination cluster: settings cannot be loaded".to_owned());
    };
    let settings = config.settings.as_ref().map_err(|text| format!("Failed to load resource overrides: {text}"))?;
    let account = service_account(project, &app.app, &destination.settings, settings.impersonation);
    let user = account.map_err(|error| error.to_string())?;
    // The comparison is the controller's; everything that the sync does is the account's.
    let destination = &match user {
        Some(user) => Destination {
            cluster: destination.cluster.as_user(&user).map_err(|error| error.to_string())?,
            ..destination.clone()
        },
        None => destination.clone(),
    };
    let before = state.clone();
    let respect = operation.sync_options.iter().any(|option| option == "RespectIgnoreDifferences=true");
    let resources = resources(found, respect)?;
    let overrides = &settings.health;
    let health_of = |object: &Value| match health::of(object, overrides) {
        Ok(found) => Ok(found.map(|h| sync::Health { status: h.status.to_string(), message: h.message })),
        Err(error) => Err(error.to_string()),
    };
    let permitted = |object: &Value, scope: Scope| {
        project
            .sync_permitted(object, Some(scope.namespaced), &destination.settings)
            .map_err(|denied| denied.to_string())
    };
    let approved = app.app.metadata.annotations.get(names::DELETION_APPROVED).and_then(|text| Time::parse(text));
    // The stored state keeps fields of the operation before, this one among them.
    let is_automated = app.app.operation.as_ref().is_some_and(|operation| operation.initiated_by.automated);
    let prune_guard = if is_automated { autosync::prune_guard(app, found, config) } else { PruneGuard::default() };
    let input = Input {
        operation,
        state: &before,
        resources,
        hooks: found.paired.hooks.clone(),
        namespace: &app.app.spec.destination.namespace,
        managed_namespace_metadata: app.app.spec.managed_namespace_metadata(),
        revision: &found.status.revision,
        prune_guard,
        deletion_approved: approved,
        migration_manager: app.app.metadata.annotations.get(names::CSA_MIGRATION_MANAGER).map(String::as_str),
        now: ctx.now(),
        wave_delay: Duration::try_from(ctx.parameters.sync_wave_delay).unwrap_or_default(),
        health: &health_of,
        permit: &permitted,
    };
    let executor = Executor { ctx, destination, app: Some(app) };
    let mut pass = Pass::new(input);
    let mut answers = Vec::new();
    let update = loop {
        match pass.next(answers) {
            Next::Done(update) => break update,
            Next::Do(actions) => {
                if ctx.permit().is_none() {
                    // Whoever took over reads the state that was stored last and goes on from there.
                    return Ok(());
                }
                answers = executor.all(actions).await;
            }
        }
    };
    update.store(state, &app.app.spec);
    augment(destination, state).await;
    Ok(())
}

/// Pairs as a pass takes them, with ignored fields put back where asked for.
fn resources(found: &Comparison, respect: bool) -> Result<Vec<sync::Resource>, String> {
    let one = |(index, pair): (usize, &crate::compare::Pair)| {
        let mut target = pair.target.clone();
        if respect && let (Some(wanted), Some(live), Some(comparer)) = (&pair.target, &pair.live, &found.comparer) {
            let kept = diff::respect_ignored(wanted, live, comparer)
                .map_err(|error| format!("Failed to normalize target resources: {error}"))?;
            target = Some(kept);
        }
        Ok(sync::Resource {
            target,
            live: pair.live.clone(),
            modified: found.differences.get(index).is_none_or(|difference| difference.modified),
            self_referenced: found.self_referenced.get(index).copied().unwrap_or(false),
        })
    };
    found.paired.pairs.iter().enumerate().map(one).collect()
}

/// Carries actions out on a destination.
pub struct Executor<'a> {
    /// Shared state.
    pub ctx: &'a Rc<Context>,
    /// Where.
    pub destination: &'a Destination,
    /// Whose operation it is; none for a deletion.
    pub app: Option<&'a StoredApp>,
}

impl Executor<'_> {
    /// Carries out a group, bounded in parallel, and answers in order.
    pub async fn all(&self, actions: Vec<Action>) -> Vec<Answer> {
        let limit = self.ctx.parameters.kubectl_parallelism_limit;
        let limit = if limit == 0 { actions.len().max(1) } else { limit };
        stream::iter(actions).map(|action| self.patiently(action)).buffered(limit).collect().await
    }

    /// Carries an action out, again where that is safe and the API server was the reason that it failed.
    async fn patiently(&self, action: Action) -> Answer {
        let mut asked = 0;
        loop {
            let answer = self.one(action.clone()).await;
            let Some(pause) = patience::pause(&action, &answer, asked) else {
                return patience::settled(&action, answer, asked);
            };
            asked += 1;
            tracing::warn!(asked, "An action of the operation failed and is tried again");
            tokio::time::sleep(pause).await;
        }
    }

    async fn one(&self, action: Action) -> Answer {
        match action {
            Action::Discover(gvk) => Answer::Discovered(self.discover(&gvk).await),
            Action::Get(object) => Answer::Got(self.get(&object).await),
            Action::Apply(ask) => Answer::Applied(self.apply(&ask).await),
            Action::Delete { object, propagation } => Answer::Done(self.delete(&object, propagation).await),
            Action::SetFinalizers { object, finalizers, resource_version } => {
                Answer::Done(self.set_finalizers(&object, finalizers, &resource_version).await)
            }
            Action::MigrateManagedFields { object, manager } => Answer::Done(self.migrate(&object, &manager).await),
            Action::WaitForCrd { name } => {
                self.wait_for_crd(&name).await;
                Answer::Done(Ok(()))
            }
            Action::Announce(message) => Answer::Done(self.announce(&message).await),
            Action::Sleep(pause) => {
                tokio::time::sleep(pause).await;
                Answer::Done(Ok(()))
            }
        }
    }

    /// The permit, asked for right before each write.
    fn leave(&self) -> Result<Permit, Failure> {
        self.ctx.leave().map_err(failure)
    }

    async fn discover(&self, gvk: &GroupVersionKind) -> Result<Scope, Failure> {
        match self.destination.cluster.resource_with_verb(gvk, "get").await {
            Ok(resource) => Ok(Scope { namespaced: resource.namespaced }),
            Err(error) => Err(undiscovered(error)),
        }
    }

    async fn resource(&self, gvk: &GroupVersionKind) -> Result<std::sync::Arc<Resource>, Failure> {
        self.destination.cluster.resource(gvk).await.map_err(undiscovered)
    }

    async fn get(&self, object: &ObjectRef) -> Result<Value, Failure> {
        let resource = self.resource(&object.gvk).await?;
        let target = Target::new(&resource, &object.namespace, &object.name);
        let found = self.destination.cluster.fetch(&target).await.map_err(failure)?;
        self.destination.live.written(&found);
        Ok(found)
    }

    async fn apply(&self, ask: &sync::Apply) -> Result<String, Failure> {
        let dry_run = if ask.dry_run { DryRun::Client } else { DryRun::None };
        match &ask.method {
            Method::Update { resource_version } => self.update(ask, resource_version).await,
            Method::Create | Method::ClientSide | Method::ServerSide | Method::Replace => {
                let live = self.to_be_replaced(ask).await?;
                let call = Apply {
                    object: &ask.object,
                    live: live.as_ref(),
                    dry_run,
                    server_side: ask.method == Method::ServerSide,
                    force: ask.force,
                    replace: matches!(ask.method, Method::Replace | Method::Create),
                    manager: names::FIELD_MANAGER,
                };
                let applied = self.destination.cluster.apply(self.leave()?, &call).await;
                let applied =
                    applied.map_err(|error| Failure { kind: kind_of(error.cause.as_deref()), message: error.text })?;
                if let Some(object) = &applied.object {
                    self.destination.keep(object).await;
                }
                Ok(applied.message)
            }
        }
    }

    /// The object that a replacement puts the manifest in place of.
    async fn to_be_replaced(&self, ask: &sync::Apply) -> Result<Option<Value>, Failure> {
        if ask.method != Method::Replace {
            return Ok(None);
        }
        let resource = self.resource(&ask.object.gvk()).await?;
        self.destination.cluster.get(&resource, ask.object.namespace(), ask.object.name()).await.map_err(failure)
    }

    async fn update(&self, ask: &sync::Apply, version: &str) -> Result<String, Failure> {
        let mut object = Value::clone(&ask.object);
        object.metadata_mut().insert("resourceVersion".to_owned(), version.into());
        let resource = self.resource(&object.gvk()).await?;
        let target = Target::new(&resource, object.namespace(), object.name());
        let updated = self
            .destination
            .cluster
            .update(self.leave()?, &target, &object, names::BINARY_MANAGER)
            .await
            .map_err(failure)?;
        self.destination.keep(&updated).await;
        Ok(String::new())
    }

    async fn delete(&self, object: &ObjectRef, how: sync::Propagation) -> Result<(), Failure> {
        let resource = self.resource(&object.gvk).await?;
        let target = Target::new(&resource, &object.namespace, &object.name);
        let how = match how {
            sync::Propagation::Foreground => cluster::Propagation::Foreground,
            sync::Propagation::Background => cluster::Propagation::Background,
            sync::Propagation::Orphan => cluster::Propagation::Orphan,
        };
        let uid = Some(object.uid.as_str()).filter(|uid| !uid.is_empty());
        let left = self.destination.cluster.delete(self.leave()?, &target, how, uid).await.map_err(failure)?;
        match left {
            // Pods in their grace period and Namespaces stay for a while without a finalizer of their own.
            Some(left) if left.is_deleting() => self.destination.live.written(&left),
            _ => self.destination.live.deleted(&key(&resource, object), &object.uid),
        }
        Ok(())
    }

    async fn set_finalizers(&self, object: &ObjectRef, finalizers: Vec<String>, version: &str) -> Result<(), Failure> {
        let resource = self.resource(&object.gvk).await?;
        let target = Target::new(&resource, &object.namespace, &object.name);
        let list = if finalizers.is_empty() { Value::Null } else { json!(finalizers) };
        let patch = json!({"metadata": {"resourceVersion": version, "finalizers": list}});
        let answer = self.destination.cluster.merge_patch(self.leave()?, &target, &patch, names::BINARY_MANAGER).await;
        let changed = answer.map_err(failure)?;
        if changed.is_deleting() && changed.finalizers().is_empty() {
            self.destination.live.deleted(&key(&resource, object), changed.uid());
        } else {
            self.destination.live.written(&changed);
        }
        Ok(())
    }

    async fn migrate(&self, object: &ObjectRef, manager: &str) -> Result<(), Failure> {
        let resource = self.resource(&object.gvk).await?;
        let target = Target::new(&resource, &object.namespace, &object.name);
        self.destination
            .cluster
            .migrate_ownership(self.leave()?, &target, manager, names::FIELD_MANAGER)
            .await
            .map_err(failure)?;
        Ok(())
    }

    /// Stores the operation's message; only an operation has one.
    async fn announce(&self, message: &str) -> Result<(), Failure> {
        let Some(app) = self.app else { return Ok(()) };
        let patch = json!({"status": {"operationState": {"message": message}}});
        self.ctx.patch_app(app, &patch).await.map_err(failure)
    }

    async fn wait_for_crd(&self, name: &str) {
        let gvk = GroupVersionKind::from_api_version("apiextensions.k8s.io/v1", "CustomResourceDefinition");
        let Ok(resource) = self.resource(&gvk).await else { return };
        let established = async {
            loop {
                let found = self.destination.cluster.get(&resource, "", name).await;
                if found.ok().flatten().is_some_and(|crd| is_established(&crd)) {
                    return;
                }
                tokio::time::sleep(Duration::from_millis(100)).await;
            }
        };
        if tokio::time::timeout(CRD_PATIENCE, established).await.is_err() {
            tracing::warn!(name, "The CRD is not established yet");
        }
        self.destination.cluster.forget_discovery();
    }
}

fn key(resource: &Resource, object: &ObjectRef) -> ResourceKey {
    ResourceKey {
        group: resource.group.clone(),
        kind: resource.kind.clone(),
        namespace: if resource.namespaced { object.namespace.clone() } else { String::new() },
        name: object.name.clone(),
    }
}

fn is_established(crd: &Value) -> bool {
    let conditions = crd.pointer("/status/conditions").and_then(Value::as_array);
    conditions
        .into_iter()
        .flatten()
        .any(|condition| condition["type"] == "Established" && condition["status"] == "True")
}

fn undiscovered(error: cluster::DiscoveryError) -> Failure {
    let kind = match (error.not_found, error.transient) {
        (true, _) => FailureKind::NotFound,
        (false, true) => FailureKind::Unreachable,
        (false, false) => FailureKind::Other,
    };
    Failure { kind, message: error.text }
}

fn failure(error: cluster::Error) -> Failure {
    Failure { kind: kind_of(Some(&error)), message: error.to_string() }
}

fn kind_of(error: Option<&cluster::Error>) -> FailureKind {
    match error {
        Some(error) if error.is_not_found() => FailureKind::NotFound,
        Some(error) if error.is_conflict() => FailureKind::Conflict,
        Some(error) if error.is_unreachable() => FailureKind::Unreachable,
        Some(error) if error.is_transient() => FailureKind::Internal,
        _ => FailureKind::Other,
    }
}

/// Rewrites messages about kinds that the cluster does not serve (SYNC-131, SYNC-132).
async fn augment(destination: &Destination, state: &mut OperationState) {
    let Some(result) = &mut state.sync_result else { return };
    let failed = result.resources.iter().any(|entry| entry.status == "SyncFailed");
    let listed = if failed { destination.cluster.all_listable().await } else { Ok(Vec::new()) };
    let installed = |wanted: &GroupKind| {
        let listed = listed.as_ref().map_err(ToString::to_string)?;
        let same_kind = || listed.iter().filter(|resource| resource.kind == wanted.kind);
        let found = same_kind().find(|resource| resource.group == wanted.group).or_else(|| same_kind().next());
        Ok(found.map(|resource| resource.gvk()))
    };
    sync::text::augment(&mut result.resources, installed);
}
