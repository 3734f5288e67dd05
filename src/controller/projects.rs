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

/// Why an application has no project.
#[derive(Debug, thiserror::Error)]
pub enum NoProject {
    /// There is none of that name.
    #[error("error getting app project {0:?}: appproject.argoproj.io {0:?} not found")]
    Missing(String),
    /// The application's namespace may not use it.
    #[error("{}", .0.message)]
    NotPermitted(Condition),
}

/// The application's project.
pub fn find(ctx: &Context, config: &Config, app: &Application) -> Result<Project, NoProject> {
    let inputs = project::Inputs {
        projects: &config.projects,
        global_projects: config.settings.as_ref().map_or(&[], |settings| &settings.global_projects),
        repositories: &config.repositories,
        clusters: &config.clusters,
    };
    let name = app.spec.project_name();
    let found = project::effective(name, &inputs).ok_or_else(|| NoProject::Missing(name.to_owned()))?;
    if found.app_namespace_permitted(&app.metadata.namespace, &ctx.namespace) {
        return Ok(found);
    }
    let (app_name, namespace) = (&app.metadata.name, &app.metadata.namespace);
    Err(NoProject::NotPermitted(project::namespace_not_permitted(app_name, namespace, name)))
}

/// The application's project and what is wrong with its spec; conditions mean that nothing is compared.
pub fn check(ctx: &Context, config: &Config, app: &Application) -> Result<(Project, Vec<Condition>), Condition> {
    let project = find(ctx, config, app).map_err(|error| match error {
        NoProject::Missing(_) => project::missing_project(&app.spec.project),
        NoProject::NotPermitted(condition) => condition,
    })?;
    let conditions = project::validate_spec(&app.spec, &project, &config.clusters);
    Ok((project, conditions))
}
