//! One refresh of an Application: compare, decide on automated sync, store the status.
//!
//! In:  an Application and a comparison that is due.
//! Out: patches of the Application, in Argo CD's order (APP-048); perhaps a new operation.
//! Source: APP-024 to APP-048, APP-142 to APP-157 (`controller/appcontroller.go` `processAppRefreshQueueItem`).

use std::rc::Rc;

use serde_json::Value;

use super::autosync;
use super::comparison::{self, Comparison, Failure};
use super::config::Config;
use super::context::Context;
use super::destination::kinds_of;
use super::orphans;
use super::persist;
use super::published;
use super::stores::StoredApp;
use crate::api::GroupKind;
use crate::api::status::{ApplicationStatus, ResourceStatus, Time};
use crate::compare::{Due, Level};
use crate::project::Project;
use crate::status::{self, finalizers::DeleteHooks};

/// Condition types that the spec check evaluates (APP-099).
const SPEC_CONDITIONS: &[&str] = &["InvalidSpecError", "UnknownError"];

/// Runs one refresh.
pub async fn run(ctx: &Rc<Context>, app: &StoredApp, due: &Due) {
    let started = ctx.now();
    tracing::info!(level = ?due.level, reason = due.reason, "Refreshing app status");
    let config = ctx.config();
    if due.level == Level::Nothing && !app.app.status.resources.is_empty() {
        return summary_only(ctx, app).await;
    }
    let mut new = app.app.status.clone();
    let project = match spec_check(ctx, &config, app, &mut new) {
        Ok(project) => project,
        Err(()) => {
            new.sync.status = "Unknown".to_owned();
            new.health.status = "Unknown".to_owned();
            return persist::status(ctx, app, new).await;
        }
    };
    let request = comparison::Request::for_refresh(&app.app, due);
    let key = app.key();
    let compared = tokio::select! {
        compared = comparison::run(ctx, &config, app, &project, request) => compared,
        // A deletion does not wait for a Git server that does not answer.
        () = ctx.deletion_begins(&key), if app.app.metadata.deletion_timestamp.is_none() => {
            tracing::info!("Refresh ends early: the application is being deleted");
            return ctx.queue.add(&key, Some(due.level));
        }
    };
    let found = match compared {
        Ok(found) => found,
        Err(Failure::Grace(text)) => {
            tracing::warn!(reason = text, "Ignoring temporary failed attempt to compare app state against repo");
            return ctx.again_after_grace(&app.key());
        }
        Err(Failure::Destination(text)) => {
            tracing::error!(reason = text, "Failed to get destination cluster");
            return;
        }
    };
    let app = &normalize_spec(ctx, app).await;
    if let Some(destination) = &found.destination {
        let scene = orphans::Scene { config: &config, app: &app.app, project: &project, destination };
        new.conditions = orphans::evaluate(ctx, &scene, &found.resources, &new.conditions).await;
    }
    store(ctx, app, (due, started), (found, new, &project)).await;
}

/// Checks project and destination; conditions say what is wrong (APP-098 to APP-115).
fn spec_check(ctx: &Context, config: &Config, app: &StoredApp, new: &mut ApplicationStatus) -> Result<Project, ()> {
    let checked = super::projects::check(ctx, config, &app.app);
    let (project, conditions) = match checked {
        Ok((project, conditions)) => (Some(project), conditions),
        Err(condition) => (None, vec![condition]),
    };
    let failed = !conditions.is_empty();
    new.conditions =
        status::set_conditions(&new.conditions, conditions, SPEC_CONDITIONS, Time::from_timestamp(ctx.now()));
    project.filter(|_| !failed).ok_or(())
}

/// Level 0: only what the objects below the managed ones can change (APP-062).
async fn summary_only(ctx: &Context, app: &StoredApp) {
    let mut new = app.app.status.clone();
    let config = ctx.config();
    let Ok(settings) = &config.settings else { return };
    let Ok(destination) = ctx.destination(&config, &app.app.spec.destination) else { return };
    if destination.watch(&kinds_of(&app.app), &settings.resource_filter).await.is_err() {
        return;
    }
    let roots = destination.live.owned_by(&app.app.instance_name(&ctx.namespace));
    let of_apps = is_app_of_apps(&app.app.status.resources);
    new.summary =
        status::summary(&app.app, destination.live.images(&roots), roots.iter().flat_map(status::urls), of_apps);
    drop(roots);
    if let Ok(project) = super::projects::find(ctx, &config, &app.app) {
        let scene = orphans::Scene { config: &config, app: &app.app, project: &project, destination: &destination };
        new.conditions = orphans::evaluate(ctx, &scene, &new.resources, &new.conditions).await;
    }
    persist::status(ctx, app, new).await;
}

/// Whether an application manages Applications.
fn is_app_of_apps(resources: &[ResourceStatus]) -> bool {
    resources.iter().any(|entry| status::is_application(&GroupKind::new(&entry.group, &entry.kind)))
}

/// Stores what a comparison found.
async fn store(
    ctx: &Rc<Context>,
    app: &StoredApp,
    (due, started): (&Due, jiff::Timestamp),
    (found, mut new, project): (Comparison, ApplicationStatus, &Project),
) {
    let now = Time::from_timestamp(ctx.now());
    new.conditions = status::set_conditions(&new.conditions, found.conditions.clone(), comparison::CONDITIONS, now);
    let lives: Vec<Value> = found.paired.pairs.iter().filter_map(|pair| pair.live.clone()).collect();
    let of_apps = is_app_of_apps(&found.resources);
    let images = found.destination.as_ref().map_or_else(Vec::new, |at| at.live.images(&lives));
    new.summary = status::summary(&app.app, images, lives.iter().flat_map(status::urls), of_apps);
    drop(lives);
    new.resource_health_source =
        if ctx.parameters.persist_resource_health { String::new() } else { "appTree".to_owned() };
    if new.reconciled_at.is_none() || due.level >= Level::Latest {
        new.reconciled_at = Some(Time::from_timestamp(started));
    }
    let diff = published::wanted(ctx, app, &found);
    new.resources = found.resources.clone();
    new.resources.sort_by_key(|entry| entry.key().to_string());
    autosync::run(ctx, app, (&found, project), &mut new.conditions).await;
    new.sync = found.status;
    new.health.status = found.health.to_string();
    new.source_type = found.source_type;
    new.source_types = found.source_types;
    new.controller_namespace = ctx.namespace.clone();
    if app.app.metadata.deletion_timestamp.is_none() && found.loaded {
        let hooks = DeleteHooks { pre: found.pre_delete, post: found.post_delete };
        let edit = |list: &[String]| status::finalizers::for_delete_hooks(list, Some(hooks));
        if edit(&app.app.metadata.finalizers).is_some()
            && let Err(error) = persist::finalizers(ctx, &app.key(), edit).await
        {
            tracing::error!(reason = %error, "Failed to update delete-hook finalizers");
        }
    }
    persist::status(ctx, app, new).await;
    published::publish(ctx, app, diff).await;
}

/// The one place where a spec is written: empty blocks are dropped (APP-002).
async fn normalize_spec(ctx: &Context, app: &StoredApp) -> StoredApp {
    let Some(patch) = status::normalize_spec(&app.raw) else { return app.clone() };
    match ctx.patch_app(app, &patch).await {
        Ok(()) => {
            let mut raw = app.raw.clone();
            json_patch::merge(&mut raw, &patch);
            StoredApp::from_value(raw).unwrap_or_else(|_| app.clone())
        }
        Err(error) => {
            tracing::error!(reason = %error, "Error persisting normalized application spec");
            app.clone()
        }
    }
}
