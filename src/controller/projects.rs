//! An application's effective project, and the check of its spec against it.
//!
//! In:  an Application and the current settings.
//! Out: the project, or the condition that says why there is none; conditions about the spec.
//! Source: APP-103 to APP-115, APP-210 (`controller/appcontroller.go` `getAppProj`, `refreshAppConditions`).

use super::config::Config;
use super::context::Context;
use crate::api::Application;
use crate::api::status::Condition;
use crate::project::{self, Project};

/// The application's project.
pub fn load(ctx: &Context, config: &Config, app: &Application) -> Result<Project, Condition> {
    let inputs = project::Inputs {
        projects: &config.projects,
        global_projects: config.settings.as_ref().map_or(&[], |settings| &settings.global_projects),
        repositories: &config.repositories,
        clusters: &config.clusters,
    };
    let Some(found) = project::effective(app.spec.project_name(), &inputs) else {
        return Err(project::missing_project(&app.spec.project));
    };
    if found.app_namespace_permitted(&app.metadata.namespace, &ctx.namespace) {
        Ok(found)
    } else {
        Err(project::namespace_not_permitted(&app.metadata.name, &app.metadata.namespace, &app.spec.project))
    }
}

/// The application's project and what is wrong with its spec; conditions mean that nothing is compared.
pub fn check(ctx: &Context, config: &Config, app: &Application) -> Result<(Project, Vec<Condition>), Condition> {
    let project = load(ctx, config, app)?;
    let conditions = project::validate_spec(&app.spec, &project, &config.clusters);
    Ok((project, conditions))
}
