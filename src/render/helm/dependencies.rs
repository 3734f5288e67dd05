//! Chart dependencies.
//!
//! In:  the dependencies that `Chart.yaml` names, the repositories that the project permits.
//! Out: the dependencies in the chart's `charts/` folder.
//! Invariant: passwords reach helm on stdin, never as arguments.
//! Source: REND-135 to REND-145 (`getHelmRepos`, `util/helm/helm.go` `DependencyBuild`).

use std::path::Path;

use serde_json::Value;

use super::command::Home;
use crate::gocompat::{glob, yaml};
use crate::render::paths::go_reason;
use crate::render::{Error, HelmRepository, Request};

/// The repositories that the chart's dependencies come from.
pub fn of(chart: &Path, known: &[HelmRepository]) -> Result<Vec<HelmRepository>, Error> {
    let within = |text: String| Error::Failed(format!("error retrieving helm dependency repos: {text}"));
    let file = chart.join("Chart.yaml");
    let shown = file.display();
    let text = std::fs::read(&file)
        .map_err(|error| within(format!("error reading helm chart from {shown}: open {shown}: {}", go_reason(&error))))?;
    let parsed = yaml::parse(&String::from_utf8_lossy(&text)).map_err(|error| {
        within(format!("error unmarshalling the helm chart while getting helm dependency repos: {error}"))
    })?;
    let listed = parsed.get("dependencies").and_then(Value::as_array).map(Vec::as_slice).unwrap_or_default();
    let urls = listed.iter().filter_map(|dependency| dependency.get("repository").and_then(Value::as_str));
    Ok(urls.filter_map(|url| wanted(url, known)).collect())
}

/// The repository of one dependency with its credentials; `None` for what helm finds without help.
fn wanted(url: &str, known: &[HelmRepository]) -> Option<HelmRepository> {
    let by_name = |name: &str| known.iter().find(|repository| repository.name == name).cloned();
    if let Some(name) = url.strip_prefix('@').or_else(|| url.strip_prefix("alias:")) {
        return Some(by_name(name).unwrap_or_else(|| HelmRepository { name: name.to_owned(), ..HelmRepository::default() }));
    }
    let oci = url.starts_with("oci://");
    if !oci && !url.starts_with("https://") {
        return None;
    }
    let bare = url.strip_prefix("oci://").unwrap_or(url);
    let same = |repository: &&HelmRepository| repository.url.strip_prefix("oci://").unwrap_or(&repository.url) == bare;
    let name = url.replace('/', "-");
    let found = known.iter().find(same).cloned().or_else(|| by_name(&name));
    let default = || {
        let registry = known.iter().find(|repository| {
            let registry = repository.url.strip_prefix("oci://").unwrap_or(&repository.url);
            oci && repository.oci && (bare.starts_with(registry) || registry.starts_with(bare))
        });
        let (username, password) = registry.map(|r| (r.username.clone(), r.password.clone())).unwrap_or_default();
        HelmRepository { name: name.clone(), url: bare.to_owned(), username, password, oci }
    };
    let mut repository = found.unwrap_or_else(default);
    if repository.name.is_empty() {
        repository.name = name;
    }
    Some(repository)
}

/// Builds the dependencies in the chart's directory, which must be a private copy.
pub async fn build(
    home: &Home,
    chart: &Path,
    repositories: &[HelmRepository],
    request: &Request,
) -> Result<(), Error> {
    let outcome = run(home, chart, repositories, request).await;
    outcome.map_err(|text| {
        let text = format!("error building helm chart dependencies: {text}");
        let was_unreachable = ["is not a valid chart repository or cannot be reached", "could not download"]
            .iter()
            .any(|words| text.contains(words));
        let is_refused = |repository: &&HelmRepository| !is_permitted(&repository.url, &request.permitted_repositories);
        let refused: Vec<&str> = repositories.iter().filter(is_refused).map(|r| r.url.as_str()).collect();
        if was_unreachable && !refused.is_empty() {
            let (list, project) = (refused.join(", "), &request.project);
            return Error::NotPermitted(format!("helm repos {list} are not permitted in project '{project}'"));
        }
        Error::Failed(text)
    })
}

async fn run(home: &Home, chart: &Path, repositories: &[HelmRepository], request: &Request) -> Result<(), String> {
    for repository in repositories {
        let url = &repository.url;
        if repository.oci {
            if !repository.username.is_empty() && !repository.password.is_empty() {
                let host = url.split('/').next().unwrap_or_default();
                let args = ["registry", "login", host, "--username", &repository.username, "--password-stdin"];
                let login = home.helm(chart, request.limits).args(args).stdin(repository.password.clone().into_bytes());
                let words = format!("failed to login to registry {url}: failed to login to registry: failed running helm");
                login.run().await.map_err(|error| format!("{words}: {error}"))?;
            }
            continue;
        }
        let mut add = home.helm(chart, request.limits).args(["repo", "add"]);
        if !repository.username.is_empty() {
            add = add.args(["--username", &repository.username]);
        }
        if !repository.password.is_empty() {
            add = add.arg("--password-stdin").stdin(repository.password.clone().into_bytes());
        }
        if request.source.helm.as_ref().is_some_and(|helm| helm.pass_credentials) {
            add = add.arg("--pass-credentials");
        }
        let added = add.args([&repository.name, url]).run().await;
        let words = format!("failed to add helm repository {url}: failed to add repository: failed running helm");
        added.map_err(|error| format!("{words}: {error}"))?;
    }
    let build = home.helm(chart, request.limits).args(["dependency", "build"]).run().await;
    let words = "failed to build helm dependencies: failed to build dependencies: failed running helm";
    build.map(|_| ()).map_err(|error| format!("{words}: {error}"))
}

/// Whether the project permits a repository: some pattern matches and no `!` pattern does.
fn is_permitted(url: &str, patterns: &[String]) -> bool {
    let matches = |pattern: &str| pattern == "*" || glob::matches(pattern, url, &['/']);
    let is_denied = patterns.iter().filter_map(|pattern| pattern.strip_prefix('!')).any(matches);
    !is_denied && patterns.iter().filter(|pattern| !pattern.starts_with('!')).any(|pattern| matches(pattern))
}
