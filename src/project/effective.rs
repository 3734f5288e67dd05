//! Puts a project together from everything that extends it.
//!
//! In:  the project's name, all AppProjects of the controller's namespace, settings, repositories and clusters.
//! Out: the effective project, or nothing when there is no such AppProject.
//! Source: APP-210, APP-211 (`util/argo/argo.go` `GetAppProjectByName`, `GetGlobalProjects`, `mergeVirtualProject`).

use super::Project;
use crate::api::Destination;
use crate::api::project::{AppProject, AppProjectSpec};
use crate::settings::{Clusters, GlobalProject, Repositories};

/// What a project is put together from.
#[derive(Debug, Clone, Copy)]
pub struct Inputs<'a> {
    /// AppProjects of the controller's namespace.
    pub projects: &'a [AppProject],
    /// Which projects extend others.
    pub global_projects: &'a [GlobalProject],
    /// Repository Secrets.
    pub repositories: &'a Repositories,
    /// Cluster Secrets.
    pub clusters: &'a Clusters,
}

/// The effective project, or `None` when there is no AppProject of this name.
pub fn effective(name: &str, inputs: &Inputs<'_>) -> Option<Project> {
    let project = find(inputs.projects, name)?;
    let mut spec = project.spec.clone();
    spec.source_repos.extend(inputs.repositories.urls_of_project(name).map(str::to_owned));
    let mut clusters = Vec::new();
    for cluster in inputs.clusters.of_project(name) {
        clusters.push((cluster.name.clone(), cluster.server.clone()));
        let destination = |namespace: &str| Destination {
            server: cluster.server.clone(),
            namespace: namespace.to_owned(),
            name: String::new(),
        };
        if cluster.namespaces.is_empty() {
            spec.destinations.push(destination("*"));
        } else {
            spec.destinations.extend(cluster.namespaces.iter().map(|namespace| destination(namespace)));
        }
    }
    for global in globals(project, inputs) {
        merge(&mut spec, &global.spec);
    }
    Some(Project { name: name.to_owned(), spec, clusters })
}

fn find<'a>(projects: &'a [AppProject], name: &str) -> Option<&'a AppProject> {
    projects.iter().find(|project| project.metadata.name == name)
}

/// Global projects in the order of the setting. A wrong selector or a missing project ends the list, as in Argo CD.
fn globals<'a>(project: &AppProject, inputs: &Inputs<'a>) -> Vec<&'a AppProject> {
    let mut found = Vec::new();
    for global in inputs.global_projects {
        if global.project_name == project.metadata.name {
            continue;
        }
        match global.label_selector.matches(&project.metadata.labels) {
            None => break,
            Some(false) => {}
            Some(true) => match find(inputs.projects, &global.project_name) {
                Some(global) => found.push(global),
                None => break,
            },
        }
    }
    found
}

fn merge(own: &mut AppProjectSpec, global: &AppProjectSpec) {
    own.cluster_resource_whitelist.extend_from_slice(&global.cluster_resource_whitelist);
    own.cluster_resource_blacklist.extend_from_slice(&global.cluster_resource_blacklist);
    own.namespace_resource_blacklist.extend_from_slice(&global.namespace_resource_blacklist);
    // An absent list allows all, so it may only come into being when there is something to add.
    if let Some(added) = global.namespace_resource_whitelist.as_ref().filter(|added| !added.is_empty()) {
        own.namespace_resource_whitelist.get_or_insert_with(Vec::new).extend_from_slice(added);
    }
    own.sync_windows.extend_from_slice(&global.sync_windows);
    own.source_repos.extend_from_slice(&global.source_repos);
    own.destinations.extend_from_slice(&global.destinations);
    own.destination_service_accounts.extend_from_slice(&global.destination_service_accounts);
}
