//! Checks an Application's spec against its project.
//!
//! In:  a spec, its effective project, the clusters.
//! Out: conditions in Argo CD's order; none when all is well.
//! Source: APP-104 to APP-115 (`util/argo/argo.go` `ValidatePermissions`, `controller/appcontroller.go`).

use super::{Project, source_text};
use crate::api::application::{ApplicationSource, ApplicationSpec, SourceHydrator};
use crate::api::status::Condition;
use crate::settings::Clusters;

const INVALID_SPEC: &str = "InvalidSpecError";
const UNKNOWN: &str = "UnknownError";

/// The condition of an Application whose project does not exist; `project` as written in its spec.
pub fn missing_project(project: &str) -> Condition {
    Condition::new(INVALID_SPEC, format!("Application referencing project {project} which does not exist"))
}

/// The condition of an Application whose project could not be read; `project` as written in its spec.
pub fn project_unknown(project: &str, error: &str) -> Condition {
    Condition::new(UNKNOWN, format!("could not retrieve AppProject '{project}' from cache: {error}"))
}

/// The condition of an Application in a namespace that its project does not list.
pub fn namespace_not_permitted(app_name: &str, app_namespace: &str, project: &str) -> Condition {
    let text =
        format!("application '{app_name}' in namespace '{app_namespace}' is not permitted to use project '{project}'");
    Condition::new(UNKNOWN, text)
}

/// The conditions of a spec. A malformed source hides what comes after it, a source that is not permitted does not.
pub fn validate_spec(spec: &ApplicationSpec, project: &Project, clusters: &Clusters) -> Vec<Condition> {
    let mut conditions = Vec::new();
    let sources = if let Some(hydrator) = &spec.source_hydrator {
        hydrator_conditions(hydrator, project, &mut conditions)
    } else if spec.has_multiple_sources() {
        spec.sources.iter().try_for_each(|source| source_conditions(source, true, project, &mut conditions))
    } else {
        source_conditions(&spec.source.clone().unwrap_or_default(), false, project, &mut conditions)
    };
    if sources.is_ok() {
        conditions.extend(destination_condition(spec, project, clusters));
    }
    conditions
}

/// The spec is malformed, so that nothing more can be said about it; the condition is already noted.
struct Malformed;

fn source_conditions(
    source: &ApplicationSource,
    is_one_of_many: bool,
    project: &Project,
    conditions: &mut Vec<Condition>,
) -> Result<(), Malformed> {
    let has_content = !source.path.is_empty() || !source.chart.is_empty() || (is_one_of_many && source.is_ref());
    let malformed = if source.repo_url.is_empty() || !has_content {
        Some(if is_one_of_many {
            format!(
                "spec.source.repoURL and either source.path, source.chart, or source.ref are required for source {}",
                source_text::of(source)
            )
        } else {
            "spec.source.repoURL and either spec.source.path or spec.source.chart are required".to_owned()
        })
    } else if !source.chart.is_empty() && source.target_revision.is_empty() {
        Some("spec.source.targetRevision is required if the manifest source is a helm chart".to_owned())
    } else {
        None
    };
    if let Some(text) = malformed {
        conditions.push(Condition::new(INVALID_SPEC, text));
        return Err(Malformed);
    }
    if !project.source_permitted(&source.repo_url) {
        conditions.push(repo_not_permitted("application repo", &source.repo_url, project));
    }
    Ok(())
}

fn hydrator_conditions(
    hydrator: &SourceHydrator,
    project: &Project,
    conditions: &mut Vec<Condition>,
) -> Result<(), Malformed> {
    let (dry, sync) = (&hydrator.dry_source, &hydrator.sync_source);
    let mut missing = |is_missing: bool, text: &str| {
        if is_missing {
            conditions.push(Condition::new(INVALID_SPEC, text));
        }
        is_missing
    };
    let malformed = [
        missing(dry.repo_url.is_empty(), "spec.sourceHydrator.drySource.repoURL is required"),
        missing(sync.target_branch.is_empty(), "spec.sourceHydrator.syncSource.targetBranch is required"),
        missing(
            hydrator.hydrate_to.as_ref().is_some_and(|to| to.target_branch.is_empty()),
            "when spec.sourceHydrator.hydrateTo is set, spec.sourceHydrator.hydrateTo.targetBranch is required",
        ),
    ];
    if malformed.contains(&true) {
        return Err(Malformed);
    }
    if !project.source_permitted(&dry.repo_url) {
        conditions.push(repo_not_permitted("application repo", &dry.repo_url, project));
    }
    let sync_repo = if sync.repo_url.is_empty() { &dry.repo_url } else { &sync.repo_url };
    if sync_repo != &dry.repo_url && !project.source_permitted(sync_repo) {
        conditions.push(repo_not_permitted("sync source repo", sync_repo, project));
    }
    Ok(())
}

fn repo_not_permitted(what: &str, repo_url: &str, project: &Project) -> Condition {
    Condition::new(INVALID_SPEC, format!("{what} {repo_url} is not permitted in project '{}'", project.name))
}

fn destination_condition(spec: &ApplicationSpec, project: &Project, clusters: &Clusters) -> Option<Condition> {
    let destination = &spec.destination;
    let cluster = match clusters.resolve(destination) {
        Ok(cluster) => cluster,
        Err(error) => return Some(Condition::new(INVALID_SPEC, error.to_string())),
    };
    if project.destination_permitted(cluster, &destination.namespace) {
        return None;
    }
    let server = if destination.name.is_empty() { &cluster.server } else { &cluster.name };
    Some(Condition::new(
        INVALID_SPEC,
        format!(
            "application destination server '{server}' and namespace '{}' do not match any of the allowed destinations \
             in project '{}'",
            destination.namespace, project.name
        ),
    ))
}
