//! The warning about objects in an application's namespace that no application owns.
//!
//! In:  an application, its project, the objects that its comparison holds.
//! Out: its conditions, with the warning added, changed or taken away.
//! Invariant: what could not be listed leaves the condition as it is; nothing is watched for projects that do not ask.
//! Source: APP-130, APP-253 to APP-255 (`controller/appcontroller.go` `getResourceTree`).

use std::collections::{BTreeSet, HashSet};
use std::rc::Rc;

use serde_json::Value;

use super::config::{Config, InForce};
use super::context::Context;
use super::destination::Destination;
use super::feeds::key_of_instance;
use crate::api::status::{Condition, ResourceStatus, Time};
use crate::api::{Application, GroupVersionKind, ResourceKey};
use crate::project::Project;
use crate::status;
use crate::track;
use crate::watch::{Census, Wanted};

/// The condition's type.
const WARNING: &str = "OrphanedResourceWarning";

/// Whose namespace, by which rules, where.
pub struct Scene<'a> {
    /// Settings.
    pub config: &'a Config,
    /// The application.
    pub app: &'a Application,
    /// Its project.
    pub project: &'a Project,
    /// Where its objects are.
    pub destination: &'a Destination,
}

/// The conditions with the warning as it should be now.
pub async fn evaluate(
    ctx: &Context,
    scene: &Scene<'_>,
    held: &[ResourceStatus],
    conditions: &[Condition],
) -> Vec<Condition> {
    let found = match count(ctx, scene, held).await {
        Ok(found) => found,
        Err(reason) => {
            tracing::warn!(reason, "Orphaned resources cannot be counted");
            return conditions.to_vec();
        }
    };
    let warning = (found > 0 && scene.project.warns_of_orphans())
        .then(|| Condition::new(WARNING, format!("Application has {found} orphaned resources")));
    let now = Time::from_timestamp(ctx.now());
    status::set_conditions(conditions, warning.into_iter().collect(), &[WARNING], now)
}

/// Looks at the applications of all projects that monitor orphans, after projects changed.
pub fn look_again(ctx: &Context, config: &Config) {
    for key in ctx.apps.keys() {
        let Ok(Some(app)) = ctx.apps.get(&key) else { continue };
        let monitored = super::projects::find(ctx, config, &app.app).is_ok_and(|project| project.monitors_orphans());
        let warned = app.app.status.conditions.iter().any(|condition| condition.r#type == WARNING);
        if monitored || warned {
            ctx.queue.add(&key, Some(crate::compare::Level::Nothing));
        }
    }
}

async fn count(ctx: &Context, scene: &Scene<'_>, held: &[ResourceStatus]) -> Result<usize, String> {
    let namespace = scene.app.spec.destination.namespace.as_str();
    if !scene.project.monitors_orphans() || namespace.is_empty() {
        return Ok(0);
    }
    if !scene.destination.settings.namespaces.is_empty() {
        return Err("the cluster is managed by namespaces, in which orphaned resources are not watched".to_owned());
    }
    let settings = scene.config.settings.as_ref().map_err(Clone::clone)?;
    watch(ctx, scene, settings).await?;
    let held: HashSet<ResourceKey> = held.iter().map(ResourceStatus::key).collect();
    let (project, cluster) = (scene.project, &scene.destination.settings);
    let census = Census {
        namespace,
        holds: &|key| held.contains(key),
        excludes: &|key| project.excludes_orphan(key),
        permits: &|key| {
            project.kind_permitted(&key.group_kind(), &key.name, true)
                && project.destination_permitted(cluster, &key.namespace)
        },
        exists: &|instance| ctx.apps.contains(&key_of_instance(ctx, instance)),
    };
    Ok(scene.destination.orphans.count(&scene.app.instance_name(&ctx.namespace), &census))
}

/// Watches the metadata of all namespaced kinds; the namespaces of all applications at once, since each new one starts
/// the lists over.
async fn watch(ctx: &Context, scene: &Scene<'_>, settings: &InForce) -> Result<(), String> {
    let at = scene.destination;
    let resources = at.cluster.all_listable().await.map_err(|error| error.to_string())?;
    let kinds: Vec<(GroupVersionKind, String)> = resources
        .iter()
        .filter(|resource| resource.namespaced && resource.verbs.has("watch"))
        .filter(|resource| !settings.resource_filter.is_excluded(&resource.group, &resource.kind, &at.server))
        .map(|resource| (resource.gvk(), resource.plural.clone()))
        .collect();
    let namespace = &scene.app.spec.destination.namespace;
    let mut namespaces = BTreeSet::from([namespace.clone()]);
    if !at.orphans.monitors(namespace) {
        namespaces.extend(monitored(ctx, scene.config, &at.server));
    }
    let tracking = settings.tracking.clone();
    let whose = Rc::new(move |marks: &Value| track::owner(marks, &tracking));
    at.orphans.watch(Wanted { namespaces, kinds: &kinds, whose });
    at.orphans.ready().await
}

/// The namespaces of this cluster in which any application's project monitors orphans.
fn monitored(ctx: &Context, config: &Config, server: &str) -> BTreeSet<String> {
    let here = |app: &Application| {
        let found = config.clusters.resolve(&app.spec.destination);
        let monitors = || super::projects::find(ctx, config, app).is_ok_and(|project| project.monitors_orphans());
        found.is_ok_and(|cluster| cluster.server == server) && monitors()
    };
    let apps = ctx.apps.keys().into_iter().filter_map(|key| ctx.apps.get(&key).ok()?);
    apps.filter(|app| here(&app.app)).map(|app| app.app.spec.destination.namespace).collect()
}
