//! Gathers both sides of a comparison and assesses them.
//!
//! In:  an Application, its project, sources and revisions.
//! Out: a [`Comparison`] for the status and for a sync.
//! Invariant: a side that could not be loaded makes everything `Unknown`; nothing is pruned on it.
//! Source: APP-070 to APP-098 (`controller/state.go` `CompareAppState`).

use std::collections::{BTreeMap, HashMap, HashSet};
use std::time::Duration;

use serde_json::Value;
use tokio::time::Instant;

use super::config::{Config, InForce};
use super::context::Context;
use super::destination::{Destination, kinds_of};
use super::differences;
use super::queue::AppKey;
use super::stores::StoredApp;
use crate::api::application::ApplicationSource;
use crate::api::status::{ComparedTo, Condition, ResourceStatus, SyncStatus};
use crate::api::{Application, GroupKind, ObjectExt, ResourceKey};
use crate::compare::{self, Due, Level, Paired};
use crate::desired::{self, Anew, Manifests};
use crate::diff::{Comparer, Difference};
use crate::health::{self, Code};
use crate::project::Project;
use crate::track;
use crate::watch::Lookup;

/// Condition types that a comparison evaluates (APP-099).
pub const CONDITIONS: &[&str] =
    &["ComparisonError", "SharedResourceWarning", "RepeatedResourceWarning", "ExcludedResourceWarning"];

/// What to compare.
pub struct Request {
    /// Sources to render.
    pub sources: Vec<ApplicationSource>,
    /// Revision wanted per source; taken from the sources when the lengths differ.
    pub revisions: Vec<String>,
    /// Whether several sources are used.
    pub multi: bool,
    /// Whether rendered manifests are made anew.
    pub hard: bool,
    /// Whether revisions are resolved anew, and render errors reported at once.
    pub force_resolve: bool,
    /// Manifests that replace the rendered ones.
    pub local_manifests: Vec<String>,
}

impl Request {
    /// What a refresh compares (APP-070, APP-074).
    pub fn for_refresh(app: &Application, due: &Due) -> Self {
        let sources = app.spec.effective_sources();
        let multi = app.spec.has_multiple_sources();
        let recent = due.level == Level::Recent;
        let revisions = match (multi, recent) {
            (true, true) => app.status.sync.revisions.clone(),
            (false, true) => vec![app.status.sync.revision.clone()],
            _ => sources.iter().map(|source| source.target_revision.clone()).collect(),
        };
        let operation = app.status.operation_state.as_ref().and_then(|state| state.operation.sync.as_ref());
        Self {
            sources,
            revisions,
            multi,
            hard: due.hard,
            force_resolve: due.level == Level::LatestForceResolve,
            local_manifests: operation.map(|sync| sync.manifests.clone()).unwrap_or_default(),
        }
    }
}

/// Both sides and the verdict.
pub struct Comparison {
    /// Sync status for the Application.
    pub status: SyncStatus,
    /// Health of the Application.
    pub health: Code,
    /// One entry per pair, in pair order.
    pub resources: Vec<ResourceStatus>,
    /// Whether each pair's live object is this application's own.
    pub self_referenced: Vec<bool>,
    /// Pairs and hooks.
    pub paired: Paired,
    /// One difference per pair; empty when nothing was diffed.
    pub differences: Vec<Difference>,
    /// What was compared with, for `RespectIgnoreDifferences`.
    pub comparer: Option<Comparer>,
    /// What is to be said.
    pub conditions: Vec<Condition>,
    /// Type of the single source.
    pub source_type: String,
    /// Types of several sources.
    pub source_types: Vec<String>,
    /// Whether the sources hold PreDelete hooks.
    pub pre_delete: bool,
    /// Whether the sources hold PostDelete hooks.
    pub post_delete: bool,
    /// Whether the sources could be rendered; if not, nothing may be concluded from what is absent.
    pub loaded: bool,
    /// Objects that each source rendered to; `None` for one that is only referred to. Empty when nothing was rendered.
    pub rendered: Vec<Option<usize>>,
    /// Whether the sources may have changed since the last comparison (APP-148).
    pub may_have_changed: bool,
    /// Where the objects are.
    pub destination: Option<Destination>,
}

/// Why there is no comparison.
#[derive(Debug)]
pub enum Failure {
    /// The sources failed to render a short while ago; the status stays as it is (APP-082). The text is the failure's.
    Grace(String),
    /// The destination cannot be resolved.
    Destination(String),
}

/// Compares.
pub async fn run(
    ctx: &Context,
    config: &Config,
    app: &StoredApp,
    project: &Project,
    request: Request,
) -> Result<Comparison, Failure> {
    let app = &app.app;
    let status = compared_to(app, &request);
    let settings = match &config.settings {
        Ok(settings) => settings,
        Err(text) => {
            tracing::warn!(reason = text, "Basic comparison settings cannot be loaded, using unknown comparison");
            return Ok(unknown(status));
        }
    };
    let destination =
        ctx.destination(config, &app.spec.destination).map_err(|error| Failure::Destination(error.to_string()))?;
    let mut gathering = Gathering {
        ctx,
        app,
        project,
        settings,
        destination: &destination,
        failed: false,
        conditions: vec![],
        scopes: HashMap::new(),
    };
    let rendered = gathering.render(config, &request).await?;
    let (targets, pre_delete, post_delete, live) = gathering.both_sides(rendered.manifests).await;
    let loaded = rendered.loaded;
    // Argo CD asks for the schemas even when both sides are missing already.
    gathering.conditions.extend(destination.unreachable().await.map(|text| Condition::new("UnknownError", text)));
    let scopes = gathering.scopes;
    let scope = |kind: &GroupKind| scopes.get(kind).copied().flatten();
    let paired = compare::pair(targets, live, &app.spec.destination.namespace, &scope);
    let (mut failed, mut conditions) = (gathering.failed, gathering.conditions);
    let asking = differences::Asking { ctx, settings, app, destination: &destination };
    let (comparer, differences) = match differences::find(&asking, &paired).await {
        Ok((comparer, differences)) => (Some(comparer), Some(differences)),
        Err(error) => {
            failed = true;
            let text = format!("Failed to compare desired state to live state: {error}");
            conditions.push(Condition::new("ComparisonError", text));
            (None, None)
        }
    };
    let verdict = compare::assess(&compare::Inputs {
        app,
        paired: &paired,
        differences: differences.as_deref(),
        failed,
        tracking: &settings.tracking,
        namespaced: &scope,
        permits: &|kind, name, namespaced| project.kind_permitted(kind, name, namespaced),
        health: &|object| health::of(object, &settings.health).map_err(|error| error.to_string()),
        persist_health: ctx.parameters.persist_resource_health,
    });
    conditions.extend(verdict.conditions);
    Ok(Comparison {
        status: resolved(SyncStatus { status: verdict.sync, ..status }, &request, &rendered.revisions),
        health: verdict.health,
        resources: verdict.resources,
        self_referenced: verdict.self_referenced,
        paired,
        differences: differences.unwrap_or_default(),
        comparer,
        conditions,
        source_type: if request.multi { String::new() } else { rendered.types.first().cloned().unwrap_or_default() },
        source_types: if request.multi { rendered.types } else { Vec::new() },
        pre_delete,
        post_delete,
        loaded,
        rendered: rendered.counts,
        may_have_changed: rendered.may_have_changed,
        destination: Some(destination),
    })
}

/// Manifests of all sources.
#[derive(Default)]
struct Rendered {
    manifests: Vec<Value>,
    counts: Vec<Option<usize>>,
    revisions: Vec<String>,
    types: Vec<String>,
    loaded: bool,
    may_have_changed: bool,
}

/// The sides while they are gathered.
struct Gathering<'a> {
    ctx: &'a Context,
    app: &'a Application,
    project: &'a Project,
    settings: &'a InForce,
    destination: &'a Destination,
    failed: bool,
    conditions: Vec<Condition>,
    scopes: HashMap<GroupKind, Option<bool>>,
}

impl Gathering<'_> {
    fn fail(&mut self, text: String) {
        self.failed = true;
        self.conditions.push(Condition::new("ComparisonError", text));
    }

    async fn render(&mut self, config: &Config, request: &Request) -> Result<Rendered, Failure> {
        if !request.local_manifests.is_empty() {
            return Ok(self.local(&request.local_manifests));
        }
        let key = AppKey::of(self.app);
        match self.sources(config, request).await {
            Ok(found) => {
                self.ctx.repo_errors.borrow_mut().remove(&key);
                let may_have_changed = found.may_have_changed;
                let mut rendered = Rendered { loaded: true, may_have_changed, ..Rendered::default() };
                for source in found.sources {
                    rendered.counts.push((!source.is_only_referred_to()).then_some(source.manifests.len()));
                    rendered.manifests.extend(source.manifests);
                    rendered.revisions.push(source.revision);
                    rendered.types.push(source.source_type);
                }
                Ok(rendered)
            }
            Err(text) => {
                if !request.force_resolve && self.in_grace(&key) {
                    return Err(Failure::Grace(text));
                }
                self.fail(format!("Failed to load target state: {text}"));
                Ok(Rendered::default())
            }
        }
    }

    /// Manifests per source; the error is what follows `Failed to load target state: `.
    async fn sources(&self, config: &Config, request: &Request) -> Result<Manifests, String> {
        let inputs = desired::Inputs {
            app: self.app,
            instance: &self.app.instance_name(&self.ctx.namespace),
            sources: &request.sources,
            revisions: &revisions(request),
            multi: request.multi,
            anew: match (request.hard, request.force_resolve) {
                (true, _) => Anew::Manifests,
                (false, true) => Anew::Revisions,
                (false, false) => Anew::Nothing,
            },
            project: self.project,
            settings: &self.settings.settings,
            repositories: &config.repositories,
            cluster: &self.destination.facts().await?,
        };
        self.ctx.desired.manifests(&inputs).await.map_err(|error| error.to_string())
    }

    /// Whether the error is younger than the grace period; a first one is (APP-082).
    fn in_grace(&self, key: &AppKey) -> bool {
        let mut errors = self.ctx.repo_errors.borrow_mut();
        let first = *errors.entry(key.clone()).or_insert_with(Instant::now);
        let grace = Duration::try_from(self.ctx.parameters.repo_error_grace_period).unwrap_or_default();
        first.elapsed() <= grace
    }

    fn local(&mut self, manifests: &[String]) -> Rendered {
        let parsed: Result<Vec<Value>, _> = manifests.iter().map(|text| serde_json::from_str(text)).collect();
        match parsed {
            Ok(manifests) => Rendered { manifests, loaded: true, ..Rendered::default() },
            Err(error) => {
                self.fail(format!("Failed to load local manifests: {error}"));
                Rendered::default()
            }
        }
    }

    /// Targets in compared form and live objects by key, and whether the targets hold delete hooks.
    async fn both_sides(&mut self, manifests: Vec<Value>) -> (Vec<Value>, bool, bool, BTreeMap<ResourceKey, Value>) {
        self.scopes = self.destination.scopes(manifests.iter().map(ObjectExt::group_kind)).await;
        let instance = self.app.instance_name(&self.ctx.namespace);
        let scopes = &self.scopes;
        let scope = |kind: &GroupKind| scopes.get(kind).copied().flatten();
        let context = compare::Context {
            instance: &instance,
            namespace: &self.app.spec.destination.namespace,
            tracking: &self.settings.tracking,
            namespaced: &scope,
            filter: &self.settings.resource_filter,
            server: &self.destination.server,
        };
        let normalized = compare::normalize(manifests, &context);
        self.conditions.extend(normalized.conditions);
        let mut targets = normalized.targets;
        let live = match self.live(&targets, &instance).await {
            Ok(live) => live,
            Err(text) => {
                self.fail(format!("Failed to load live state: {text}"));
                BTreeMap::new()
            }
        };
        self.note_shared(&live, &instance);
        targets.extend(compare::managed_namespace(&self.app.spec, &targets, &live));
        let (targets, pre, post) = compare::split_delete_hooks(targets);
        (targets, pre, post, live)
    }

    /// Live objects: what the application tracks, and whatever stands under the targets' keys (APP-079, APP-080).
    async fn live(&mut self, targets: &[Value], instance: &str) -> Result<BTreeMap<ResourceKey, Value>, String> {
        let destination = self.destination;
        let mut kinds: HashSet<GroupKind> = targets.iter().map(ObjectExt::group_kind).collect();
        kinds.extend(kinds_of(self.app));
        destination.watch(&kinds, &self.settings.resource_filter).await?;
        if let Some(text) = destination.unmanaged(targets) {
            return Err(text);
        }
        let mut live = BTreeMap::new();
        for object in destination.live.owned_by(instance) {
            live.insert(object.key(), object);
        }
        let mut wanted = HashSet::new();
        for target in targets {
            wanted.extend(self.find_twin(target, &mut live, instance).await?);
        }
        destination.live.want_only(instance, &wanted);
        self.scopes.extend(destination.scopes(live.keys().map(ResourceKey::group_kind)).await);
        let filter = &self.settings.resource_filter;
        live.retain(|key, object| {
            // The setting may be newer than the watches.
            !filter.is_excluded(&key.group, &key.kind, &destination.server)
                && self.project.live_permitted(object, &destination.settings)
        });
        Ok(live)
    }

    /// Finds the live object of a target that is not tracked by the application, in the target's version. Returns the
    /// key when the object is not tracked or not there, so that its changes have to be asked for.
    async fn find_twin(
        &self,
        target: &Value,
        live: &mut BTreeMap<ResourceKey, Value>,
        instance: &str,
    ) -> Result<Option<ResourceKey>, String> {
        let mut key = target.key();
        if key.name.is_empty() {
            return Ok(None);
        }
        let gvk = target.gvk();
        if self.scopes.get(&gvk.group_kind()).copied().flatten() == Some(false) {
            key.namespace.clear();
        }
        let same_version = |object: &Value| object.api_version() == target.api_version();
        let mut wanted = None;
        let read = match live.get(&key) {
            Some(object) => !same_version(object),
            None => match self.destination.live.lookup(&key) {
                Lookup::Kept(object) if same_version(&object) => {
                    live.insert(key.clone(), object);
                    false
                }
                Lookup::Kept(_) => true,
                found => {
                    // Before it is read, so that no change falls in between.
                    self.destination.live.want(instance, &key, None);
                    wanted = Some(key.clone());
                    match found {
                        Lookup::Unwatched => self.scopes.get(&gvk.group_kind()).is_some_and(Option::is_some),
                        found => matches!(found, Lookup::Foreign),
                    }
                }
            },
        };
        if !read {
            return Ok(wanted);
        }
        let unexpected =
            |text: String| format!("failed to get managed objects: unexpected error getting managed object: {text}");
        let resource = match self.destination.cluster.resource(&gvk).await {
            Ok(resource) => resource,
            // A version that the cluster does not serve has no live object in that version.
            Err(error) if error.not_found => return Ok(wanted),
            Err(error) => return Err(unexpected(error.text)),
        };
        let found = self.destination.cluster.get(&resource, &key.namespace, &key.name).await;
        let found = found.map_err(|error| unexpected(error.to_string()))?;
        if wanted.is_some() {
            self.destination.live.want(instance, &key, found.as_ref());
        }
        match found {
            Some(object) => live.insert(key, object),
            None => live.remove(&key),
        };
        Ok(wanted)
    }

    fn note_shared(&mut self, live: &BTreeMap<ResourceKey, Value>, instance: &str) {
        for object in live.values() {
            let Some(owner) = track::owner(object, &self.settings.tracking) else { continue };
            if owner != instance {
                let text = format!(
                    "{}/{} is part of applications {} and {}",
                    object.kind(),
                    object.name(),
                    self.app.qualified_name(),
                    track::instance_to_key(&owner)
                );
                self.conditions.push(Condition::new("SharedResourceWarning", text));
            }
        }
    }
}

fn revisions(request: &Request) -> Vec<String> {
    if request.revisions.len() == request.sources.len() {
        request.revisions.clone()
    } else {
        request.sources.iter().map(|source| source.target_revision.clone()).collect()
    }
}

fn compared_to(app: &Application, request: &Request) -> SyncStatus {
    let mut compared_to = ComparedTo {
        destination: app.spec.destination.clone(),
        ignore_differences: app.spec.ignore_differences.clone(),
        ..ComparedTo::default()
    };
    let mut status = SyncStatus { status: "Unknown".to_owned(), ..SyncStatus::default() };
    if request.multi {
        compared_to.sources = request.sources.clone();
        status.revisions = request.revisions.clone();
    } else {
        compared_to.source = request.sources.first().cloned().unwrap_or_default();
        status.revision = request.revisions.first().cloned().unwrap_or_default();
    }
    status.compared_to = compared_to;
    status
}

/// Puts resolved revisions in; a failed rendering keeps the requested one, or none of several (APP-026).
fn resolved(mut status: SyncStatus, request: &Request, revisions: &[String]) -> SyncStatus {
    if request.multi {
        status.revisions = revisions.to_vec();
    } else if let Some(revision) = revisions.first() {
        status.revision = revision.clone();
    }
    status
}

fn unknown(status: SyncStatus) -> Comparison {
    Comparison {
        status,
        health: Code::Unknown,
        resources: Vec::new(),
        self_referenced: Vec::new(),
        paired: Paired::default(),
        differences: Vec::new(),
        comparer: None,
        conditions: Vec::new(),
        source_type: String::new(),
        source_types: Vec::new(),
        pre_delete: false,
        post_delete: false,
        loaded: false,
        rendered: Vec::new(),
        may_have_changed: false,
        destination: None,
    }
}
