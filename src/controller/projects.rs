//! An application's effective project, and the check of its spec against it.
//!
//! In:  an Application and the current settings.
//! Out: the project, or the condition that says why there is none; conditions about the spec.
//! Source: APP-103 to APP-115, APP-210 (`controller/appcontroller.go` `getAppProj`, `refreshAppConditions`).

use super::config::Config;
use super::context::Context;
use super::destination::Destination;
use serde_json::Value;
use crate::api::Application;
use crate::api::status::Condition;
use crate::project::{self, EffectiveProject};

/// The application's project.
pub fn load(ctx: &Context, config: &Config, app: &Application) -> Result<EffectiveProject, Condition> {
    let scope = project::Scope {
        projects: &config.projects,
        repositories: &config.repositories,
        clusters: &config.clusters,
        global_projects: config.settings.as_ref().map_or(&[], |settings| &settings.global_projects),
    };
    project::effective(app, &scope, &ctx.namespace)
}

/// Whether the project permits a live object of that scope (APP-080).
pub fn permits_live(project: &EffectiveProject, _config: &Config, _at: &Destination, (object, namespaced): (&Value, bool)) -> bool {
    project.live_permitted(object, namespaced)
}

/// Whether the project permits an object to be synced; the error is the text to show (APP-216).
pub fn permits_sync(
    project: &EffectiveProject,
    _config: &Config,
    _at: &Destination,
    (object, namespaced): (&Value, bool),
) -> Result<(), String> {
    project.sync_permitted(object, namespaced)
}

/// The application's project and what is wrong with its spec; conditions mean that nothing is compared.
pub fn check(ctx: &Context, config: &Config, app: &Application) -> Result<(EffectiveProject, Vec<Condition>), Condition> {
    let project = load(ctx, config, app)?;
    let conditions = project::validate_spec(&app.spec, &project, &config.clusters);
    Ok((project, conditions))
}
