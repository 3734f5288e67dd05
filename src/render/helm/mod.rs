//! Renders a chart in the repository with `helm template`.
//!
//! In:  the chart's directory and the source's Helm options.
//! Out: the text that helm printed.
//! Invariant: helm never sees the configuration, cache or plugins of litecd's own user; the checkout is not written, dependencies
//! are built in a private copy and only after helm asked for them.
//! Source: REND-114 to REND-147 (`helmTemplate`, `util/helm/cmd.go`).

mod command;
mod dependencies;
mod glob;
mod logins;
mod values;

#[cfg(test)]
mod tests;

use std::path::Path;

use super::build_env::BuildEnv;
use super::workspace::Workspace;
use super::{Error, Request, SHOWN_ROOT, kube_version, paths, refs};
use crate::api::application::Helm;
use command::{Home, Template};

/// Runs `helm template`, with `helm dependency build` before a second try where dependencies are missing.
pub async fn template(request: &Request, app: &Path, env: &BuildEnv) -> Result<String, Error> {
    let home = Home::new(&request.scratch)?.through(&request.helm_repositories.proxy);
    let options = request.source.helm.clone().unwrap_or_default();
    let template = prepare(request, app, (&options, env, &home))?;
    let dependencies =
        dependencies::of(app, &request.helm_repositories).map_err(|error| error.within("error getting helm repos"))?;
    if !matches!(options.version.as_str(), "" | "v3" | "v4") {
        let version = &options.version;
        return Err(Error::Failed(format!(
            "error initializing helm app object: failed to create new helm command: helm version '{version}' is not supported"
        )));
    }
    match home.template(&template, app, request.limits).await {
        Err(error) if lacks_dependencies(&error) => {
            let (root, own, scratch) = (request.root.clone(), app.to_owned(), request.scratch.clone());
            let copy = tokio::task::spawn_blocking(move || Workspace::copy(&root, &own, &scratch)).await;
            let copy = copy.map_err(|error| Error::Failed(error.to_string()))??;
            let in_copy = async {
                dependencies::check_places(copy.root(), copy.app())?;
                dependencies::build(&home, copy.app(), &dependencies, request).await?;
                home.template(&template, copy.app(), request.limits).await
            };
            in_copy.await.map_err(|error| error.replacing(&copy.root().to_string_lossy(), SHOWN_ROOT))
        }
        outcome => outcome,
    }
    .map_err(|error| home.hide(error))
}

fn lacks_dependencies(error: &Error) -> bool {
    let text = error.to_string();
    ["found in requirements.yaml, but missing in charts", "found in Chart.yaml, but missing in charts/ directory"]
        .iter()
        .any(|words| text.contains(words))
}

/// Everything that goes on helm's command line.
fn prepare(request: &Request, app: &Path, parts: (&Helm, &BuildEnv, &Home)) -> Result<Template, Error> {
    let (options, env, home) = parts;
    let kube_version = kube_version::of(request)?;
    let files = values::files(request, app, env).map_err(|error| error.within("error resolving helm value files"))?;
    let mut template = Template {
        release: release_name(request, options),
        namespace: namespace(request),
        kube_version,
        values: files.iter().map(paths::Resolved::argument).collect(),
        api_versions: kube_version::api_versions(request).to_vec(),
        include_crds: !options.skip_crds,
        skip_schema_validation: options.skip_schema_validation,
        skip_tests: options.skip_tests,
        ..Template::default()
    };
    let inline = values::inline(options);
    if !inline.is_empty() {
        template.values.push(home.write_values(&inline)?);
    }
    for parameter in &options.parameters {
        let group = if parameter.force_string { &mut template.set_string } else { &mut template.set };
        put(group, &parameter.name, env.substitute(&parameter.value));
    }
    for file in &options.file_parameters {
        let resolved = match refs::split(request, &file.path) {
            Some((root, below)) => values::in_ref(root, &env.substitute(below), &request.value_file_schemes)
                .map_err(|error| error.within("error resolving set-file path"))?,
            None => paths::value_file(app, &request.root, &env.substitute(&file.path), &request.value_file_schemes)
                .map_err(|error| error.within("error resolving helm value file path"))?,
        };
        put(&mut template.set_file, &file.name, resolved.argument());
    }
    Ok(template)
}

/// A repeated name keeps its first place and its last value.
fn put(group: &mut Vec<(String, String)>, name: &str, value: String) {
    match group.iter_mut().find(|(known, _)| known == name) {
        Some(entry) => entry.1 = value,
        None => group.push((name.to_owned(), value)),
    }
}

/// The release name given, else the application's name without its namespace.
fn release_name(request: &Request, options: &Helm) -> String {
    if !options.release_name.is_empty() {
        return options.release_name.clone();
    }
    let name = request.app_name.split_once('_').map_or(request.app_name.as_str(), |(_, name)| name);
    if name.is_empty() { request.app_name.clone() } else { name.to_owned() }
}

fn namespace(request: &Request) -> String {
    let helm = request.source.helm.as_ref().map(|helm| helm.namespace.as_str());
    let kustomize = request.source.kustomize.as_ref().map(|kustomize| kustomize.namespace.as_str());
    let own = [helm, kustomize].into_iter().flatten().find(|namespace| !namespace.is_empty());
    own.unwrap_or(&request.namespace).to_owned()
}
