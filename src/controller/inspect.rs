//! Looks at one application once, with the eyes of the controller.
//!
//! In:  options as for the controller, the name of an Application.
//! Out: what its comparison finds, for commands that explain it.
//! Invariant: nothing is written; both sides come from the same code as the controller's.

use std::collections::{BTreeSet, HashMap};
use std::time::Duration;

use serde_json::Value;
use tokio::sync::mpsc;
use tokio::time::timeout;

use super::comparison::{self, Comparison, Failure};
use super::config::Config;
use super::context::Context;
use super::queue::AppKey;
use super::stores::{Malformed, StoredApp};
use super::{Options, autosync, feeds, projects, run};
use crate::api::status::{Condition, SyncStatus};
use crate::api::{GroupKind, ObjectExt};
use crate::cluster::{self, Resource};
use crate::compare::{Due, Level, Paired};
use crate::diff::SystemRules;
use crate::explain::Facts;
use crate::guard::{self, Presence, Verdict};
use crate::health;
use crate::project::Project;
use crate::sync::prune_guard::PruneGuard;

/// How long the lists of settings may take.
const PATIENCE: Duration = Duration::from_secs(30);

/// Condition types that the check of the spec evaluates.
const SPEC_CONDITIONS: [&str; 2] = ["InvalidSpecError", "UnknownError"];

/// Why an application could not be looked at.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// The cluster, the cache folder or a setting cannot be used.
    #[error(transparent)]
    Start(#[from] run::Error),
    /// The API server does not answer with what is needed.
    #[error(
        "{0} could not be listed within {limit} s; may this user list ConfigMaps, Secrets, AppProjects, Pods, Deployments and StatefulSets there?",
        limit = PATIENCE.as_secs()
    )]
    Slow(String),
    /// There is no such Application.
    #[error("there is no Application {0}")]
    NoSuchApplication(AppKey),
    /// The Application cannot be read.
    #[error("cannot read the Application")]
    Application(#[source] cluster::Error),
    /// The Application is malformed.
    #[error(transparent)]
    Malformed(#[from] Malformed),
}

/// Compares one Application, named `NAME` or `NAMESPACE/NAME`. Must be called inside a `LocalSet`.
///
/// # Errors
/// There is no such Application, or what is needed could not be read. A comparison that fails is no error: it is part
/// of what is found.
pub async fn inspect(options: Options, app: &str) -> Result<Facts, Error> {
    // Nobody follows the changes; the receiver lives on so that stores can tell of them.
    let (changes, _events) = mpsc::unbounded_channel();
    let options = Options { observe: true, ..options };
    let slow = |what: String| move |_| Error::Slow(what);
    let ctx = timeout(PATIENCE, run::context(&options, changes, Default::default()))
        .await
        .map_err(slow("the API's kinds".to_owned()))??;
    let settings = format!("the settings in namespace {}", ctx.namespace);
    timeout(PATIENCE, feeds::start_settings(&ctx)).await.map_err(slow(settings))?;
    let (namespace, name) = app.split_once('/').unwrap_or((&ctx.namespace, app));
    let key = AppKey { namespace: namespace.to_owned(), name: name.to_owned() };
    let app = ctx.read_app(&key).await.map_err(Error::Application)?.ok_or(Error::NoSuchApplication(key))?;
    let config = ctx.config();
    let facts = Facts { verdict: verdict(&ctx).await, ..facts(&ctx, &config, &app) };
    let (project, conditions) = match projects::check(&ctx, &config, &app.app) {
        Ok((project, conditions)) => (Some(project), conditions),
        Err(condition) => (None, vec![condition]),
    };
    let facts = Facts { windows: project.iter().flat_map(|p| p.spec.sync_windows.clone()).collect(), ..facts };
    let facts = with_conditions(facts, conditions);
    match project.filter(|_| !facts.conditions.iter().any(|found| SPEC_CONDITIONS.contains(&found.r#type.as_str()))) {
        Some(project) => Ok(compared(&ctx, &config, (&app, &project), facts).await),
        None => Ok(facts),
    }
}

/// What is known before the comparison.
fn facts(ctx: &Context, config: &Config, app: &StoredApp) -> Facts {
    let evaluated = [comparison::CONDITIONS, &SPEC_CONDITIONS].concat();
    let stored = app.app.status.conditions.iter().filter(|stored| !evaluated.contains(&stored.r#type.as_str()));
    let settings = config.settings.as_ref().ok();
    Facts {
        app: app.app.clone(),
        status: SyncStatus { status: "Unknown".to_owned(), ..SyncStatus::default() },
        health: "Unknown".to_owned(),
        conditions: stored.cloned().collect(),
        resources: Vec::new(),
        paired: Paired::default(),
        differences: Vec::new(),
        healths: Vec::new(),
        unknown_kinds: BTreeSet::new(),
        system: settings.map_or_else(SystemRules::default, |settings| settings.diff.clone()),
        hidden: settings.map(|settings| settings.sensitive_mask_annotations.clone()).unwrap_or_default(),
        windows: Vec::new(),
        verdict: guard::decide(None, false),
        prunes: Default::default(),
        prune_guard: PruneGuard::default(),
        backoff: ctx.self_heal_backoff(),
        now: ctx.now(),
    }
}

fn with_conditions(mut facts: Facts, conditions: Vec<Condition>) -> Facts {
    facts.conditions.extend(conditions);
    facts
}

async fn compared(ctx: &Context, config: &Config, (app, project): (&StoredApp, &Project), facts: Facts) -> Facts {
    let due = Due { level: Level::LatestForceResolve, hard: false, reason: "a person asks".to_owned() };
    let request = comparison::Request::for_refresh(&app.app, &due);
    let found = match comparison::run(ctx, config, app, project, request).await {
        Ok(found) => found,
        Err(failure) => {
            let text = match failure {
                Failure::Destination(text) | Failure::Grace(text) => text,
            };
            return with_conditions(facts, vec![Condition::new("ComparisonError", text)]);
        }
    };
    if let Err(text) = &config.settings {
        let text = format!("the settings cannot be used: {text}");
        return with_conditions(facts, vec![Condition::new("ComparisonError", text)]);
    }
    let healths = healths(config, &found);
    let unknown_kinds = unknown_kinds(&found).await;
    let (prunes, prune_guard) = (autosync::prunes(app, &found), autosync::prune_guard(app, &found, config));
    let facts = with_conditions(facts, found.conditions);
    Facts {
        status: found.status,
        health: found.health.to_string(),
        resources: found.resources,
        paired: found.paired,
        differences: found.differences,
        healths,
        unknown_kinds,
        prunes,
        prune_guard,
        now: ctx.now(),
        ..facts
    }
}

fn healths(config: &Config, found: &Comparison) -> Vec<Option<health::Health>> {
    let Ok(settings) = &config.settings else { return Vec::new() };
    let of = |object: &Value| health::of(object, &settings.health).unwrap_or_else(|error| Some(error.health()));
    found.paired.pairs.iter().map(|pair| pair.live.as_ref().and_then(of)).collect()
}

async fn unknown_kinds(found: &Comparison) -> BTreeSet<GroupKind> {
    let Some(destination) = &found.destination else { return BTreeSet::new() };
    let kinds = found.paired.pairs.iter().filter_map(|pair| Some(pair.target.as_ref()?.group_kind()));
    let scopes: HashMap<GroupKind, Option<bool>> = destination.scopes(kinds).await;
    scopes.into_iter().filter(|(_, scope)| scope.is_none()).map(|(kind, _)| kind).collect()
}

/// Who may write, as a controller would judge it now.
async fn verdict(ctx: &Context) -> Verdict {
    let kinds = [("apps", "StatefulSet", "statefulsets"), ("apps", "Deployment", "deployments"), ("", "Pod", "pods")];
    let mut seen = Vec::new();
    for (group, kind, plural) in kinds {
        let resource = Resource {
            group: group.to_owned(),
            version: "v1".to_owned(),
            kind: kind.to_owned(),
            plural: plural.to_owned(),
            namespaced: true,
            ..Resource::default()
        };
        match ctx.cluster.list(&resource, Some(&ctx.namespace), "").await {
            Ok(list) => seen.extend(list.items),
            Err(_) => return guard::decide(None, false),
        }
    }
    guard::decide(Some(&Presence::from_objects(guard::Controller::Applications, &seen)), false)
}
