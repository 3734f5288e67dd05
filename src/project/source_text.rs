//! Prints a source the way Go prints the struct, for the one message that shows it.
//!
//! In:  a source.
//! Out: its fields between braces; tool options show as `nil`, or as their type with the content left out.
//! Source: APP-108 (`util/argo/argo.go` `validateSourcePermissions`).

use crate::api::application::ApplicationSource;

/// `{repoURL path targetRevision helm kustomize directory plugin chart ref name tagPrefix}`.
///
/// Argo CD prints the whole content of tool options. It is left out here: Helm values may hold what must not be in a
/// status, and nobody needs them to see that the path is missing.
pub(super) fn of(source: &ApplicationSource) -> String {
    let tool = |is_set: bool, name: &str| {
        if is_set { format!("&ApplicationSource{name}{{…}}") } else { "nil".to_owned() }
    };
    let fields: [&str; 11] = [
        &source.repo_url,
        &source.path,
        &source.target_revision,
        &tool(source.helm.is_some(), "Helm"),
        &tool(source.kustomize.is_some(), "Kustomize"),
        &tool(source.directory.is_some(), "Directory"),
        &tool(source.plugin.is_some(), "Plugin"),
        &source.chart,
        &source.r#ref,
        &source.name,
        &source.tag_prefix,
    ];
    format!("{{{}}}", fields.join(" "))
}
