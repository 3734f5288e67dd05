//! From the inputs of a desired state to the request of one rendering.
//!
//! In:  inputs, one source and its resolved revision.
//! Out: a request without files: where those lie is known once they are fetched.
//! Source: REND-196, REND-213 (`controller/state.go` `GetRepoObjs`, `reposerver/repository/repository.proto`).

use std::collections::BTreeMap;
use std::path::PathBuf;

use super::Desired;
use super::inputs::Inputs;
use crate::api::ApplicationSource;
use crate::render::{Enabled, KustomizeSettings, Request};

/// The request of one source.
pub fn of(
    desired: &Desired,
    inputs: &Inputs<'_>,
    (source, requested, revision): (&ApplicationSource, &str, &str),
) -> Request {
    let tools = &inputs.settings.tools;
    Request {
        app_name: inputs.instance.to_owned(),
        namespace: inputs.app.spec.destination.namespace.clone(),
        project: inputs.app.spec.project_name().to_owned(),
        source: source.clone(),
        repository_url: repository_url(inputs, source),
        requested_revision: requested.to_owned(),
        revision: revision.to_owned(),
        root: PathBuf::new(),
        refs: BTreeMap::new(),
        has_multiple_sources: inputs.multi,
        kube_version: inputs.cluster.version.clone(),
        api_versions: inputs.cluster.api_versions.to_vec(),
        tracking: inputs.settings.tracking(),
        enabled: Enabled {
            helm: tools.helm_enabled,
            kustomize: tools.kustomize_enabled,
            jsonnet: tools.jsonnet_enabled,
        },
        kustomize: KustomizeSettings {
            build_options: tools.kustomize.build_options.clone(),
            binaries: tools.kustomize.versions.iter().map(|(v, k)| (v.clone(), k.path.clone())).collect(),
        },
        value_file_schemes: tools.helm_values_file_schemes.clone(),
        helm_repositories: desired.helm_repositories(inputs, source),
        permitted_repositories: inputs.project.spec.source_repos.clone(),
        git_environment: None,
        scratch: desired.store.scratch(),
        limits: desired.options.limits,
        evaluator: desired.options.evaluator.clone(),
        max_directory_bytes: desired.options.max_directory_bytes,
    }
}

/// The repository's URL as its Secret spells it, which is what Argo CD puts into the build environment.
fn repository_url(inputs: &Inputs<'_>, source: &ApplicationSource) -> String {
    let known = inputs.repositories.get(&source.repo_url, &inputs.project.name);
    known.map(|known| known.url).unwrap_or_default()
}
