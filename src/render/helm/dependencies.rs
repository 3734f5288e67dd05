//! Chart dependencies.
//!
//! In:  the dependencies that `Chart.yaml` names, the repositories and credentials that the project permits.
//! Out: the dependencies in the chart's `charts/` folder.
//! Invariant: helm learns only the repositories that dependencies come from, and their credentials from files; no local
//! dependency lies outside the checkout.
//! Source: REND-135 to REND-145 (`getHelmRepos`, `util/helm/helm.go` `DependencyBuild`).

use std::path::Path;

use serde_json::Value;

use super::command::Home;
use super::logins::Logins;
use crate::charts::{self, ChartAccess};
use crate::gocompat::yaml;
use crate::project::Project;
use crate::render::paths::{clean, go_reason};
use crate::render::{Error, HelmRepositories, Request};
use crate::settings::{Repository, RepositoryCredentials};

/// The repository of a dependency.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Source {
    /// Name in helm's list of repositories.
    pub name: String,
    /// The repository with its credentials.
    pub repository: Repository,
    /// Whether it is a registry.
    pub is_oci: bool,
}

/// The repositories that the chart's dependencies come from.
pub fn of(chart: &Path, known: &HelmRepositories) -> Result<Vec<Source>, Error> {
    let within = |text: String| Error::Failed(format!("error retrieving helm dependency repos: {text}"));
    let file = chart.join("Chart.yaml");
    let shown = file.display();
    let text = std::fs::read(&file).map_err(|error| {
        within(format!("error reading helm chart from {shown}: open {shown}: {}", go_reason(&error)))
    })?;
    let parsed = yaml::parse(&String::from_utf8_lossy(&text)).map_err(|error| {
        within(format!("error unmarshalling the helm chart while getting helm dependency repos: {error}"))
    })?;
    let listed = parsed.get("dependencies").and_then(Value::as_array).map(Vec::as_slice).unwrap_or_default();
    let urls = listed.iter().filter_map(|dependency| dependency.get("repository").and_then(Value::as_str));
    Ok(urls.filter_map(|url| source(url, known)).collect())
}

/// Files that name dependencies; the locks are made by the chart's author, and helm goes where they say.
const LISTS: [&str; 4] = ["Chart.yaml", "Chart.lock", "requirements.yaml", "requirements.lock"];

/// Refuses local dependencies outside the checkout, where charts of other projects lie.
///
/// # Errors
/// A dependency leads there, or a list of dependencies cannot be read.
pub fn check_places(root: &Path, chart: &Path) -> Result<(), Error> {
    let fail = |text: String| Error::Failed(format!("error building helm chart dependencies: {text}"));
    let real = |path: &Path| std::fs::canonicalize(path).unwrap_or_else(|_| path.to_owned());
    let (root, chart) = (real(root), real(chart));
    for name in LISTS {
        // What is missing names nothing.
        let Ok(text) = std::fs::read(chart.join(name)) else { continue };
        let list = yaml::parse_bytes(&text).map_err(|error| fail(format!("cannot load {name}: {error}")))?;
        let listed = fields(&list, "dependencies").flat_map(|listed| listed.as_array().into_iter().flatten());
        let urls = listed.flat_map(|dependency| fields(dependency, "repository")).filter_map(Value::as_str);
        for url in urls {
            let Some(path) = url.strip_prefix("file://") else { continue };
            let place = clean(&chart.join(path));
            if !place.starts_with(&root) || !real(&place).starts_with(&root) {
                return Err(fail(format!("file '{url}' resolved to outside repository root")));
            }
        }
    }
    Ok(())
}

/// Values of a key, whose case helm does not mind.
fn fields<'a>(of: &'a Value, name: &'static str) -> impl Iterator<Item = &'a Value> {
    let fields = of.as_object().into_iter().flatten();
    fields.filter(move |(key, _)| key.eq_ignore_ascii_case(name)).map(|(_, value)| value)
}

/// The repository of one dependency with its credentials; `None` for what helm finds without help.
pub fn source(url: &str, known: &HelmRepositories) -> Option<Source> {
    let (wanted, name) = match url.strip_prefix('@').or_else(|| url.strip_prefix("alias:")) {
        Some(name) => (Repository { name: name.to_owned(), ..Repository::default() }, name.to_owned()),
        None => {
            let is_oci = url.starts_with("oci://");
            if !is_oci && !url.starts_with("https://") {
                return None;
            }
            let mut wanted = Repository::anonymous(bare(url));
            wanted.credentials.enable_oci = is_oci;
            (wanted, url.replace('/', "-"))
        }
    };
    // Of several with one URL or name the last one counts.
    let by_url = known.repositories.iter().rfind(|repository| bare(&repository.url) == wanted.url);
    let by_name = || known.repositories.iter().rfind(|repository| !name.is_empty() && repository.name == name);
    let repository = match by_url.or_else(by_name) {
        Some(found) => found.clone(),
        None => with_credentials(wanted, known),
    };
    let is_oci = repository.credentials.enable_oci || repository.credentials.r#type == "oci";
    let own = Some(repository.name.clone()).filter(|own| !own.is_empty());
    Some(Source { name: own.unwrap_or(name), repository, is_oci })
}

fn bare(url: &str) -> &str {
    url.strip_prefix("oci://").unwrap_or(url)
}

/// A repository that no Secret describes, with the first credentials whose URL it begins with; a registry falls back to those
/// of a registry that lies above or below it.
fn with_credentials(mut wanted: Repository, known: &HelmRepositories) -> Repository {
    let oci = format!("oci://{}", wanted.url);
    let fits = |entry: &&RepositoryCredentials| match entry.credentials.r#type.as_str() {
        "oci" => oci.starts_with(&entry.url),
        _ => wanted.url.starts_with(&entry.url),
    };
    if let Some(found) = known.credentials.iter().find(fits) {
        let from = &found.credentials;
        let own = &mut wanted.credentials;
        own.enable_oci = from.enable_oci || from.r#type == "oci";
        own.username.clone_from(&from.username);
        own.password.clone_from(&from.password);
        own.tls_client_cert_data.clone_from(&from.tls_client_cert_data);
        own.tls_client_cert_key.clone_from(&from.tls_client_cert_key);
        own.insecure_oci_force_http = from.insecure_oci_force_http;
        own.use_azure_workload_identity = from.use_azure_workload_identity;
        return wanted;
    }
    let is_near = |left: &str, right: &str| left.starts_with(right) || right.starts_with(left);
    let near = known.repositories.iter().find(|repository| {
        let from = &repository.credentials;
        from.enable_oci && is_near(&wanted.url, &repository.url)
            || from.r#type == "oci" && is_near(&oci, &repository.url)
    });
    if let Some(near) = near.filter(|_| wanted.credentials.enable_oci) {
        wanted.credentials.username.clone_from(&near.credentials.username);
        wanted.credentials.password.clone_from(&near.credentials.password);
        wanted.credentials.insecure_oci_force_http = near.credentials.insecure_oci_force_http;
        wanted.credentials.use_azure_workload_identity = near.credentials.use_azure_workload_identity;
    }
    wanted
}

/// Builds the dependencies in the chart's directory, which must be a private copy.
pub async fn build(home: &Home, chart: &Path, sources: &[Source], request: &Request) -> Result<(), Error> {
    let outcome = run(home, chart, sources, request).await;
    outcome.map_err(|text| {
        let text = format!("error building helm chart dependencies: {text}");
        let was_unreachable = ["is not a valid chart repository or cannot be reached", "could not download"]
            .iter()
            .any(|words| text.contains(words));
        let mut project = Project::default();
        project.spec.source_repos.clone_from(&request.permitted_repositories);
        let urls = sources.iter().map(|source| source.repository.url.as_str());
        let refused: Vec<&str> = urls.filter(|url| !project.source_permitted(url)).collect();
        if was_unreachable && !refused.is_empty() {
            let (list, project) = (refused.join(", "), &request.project);
            return Error::NotPermitted(format!("helm repos {list} are not permitted in project '{project}'"));
        }
        Error::Failed(text)
    })
}

async fn run(home: &Home, chart: &Path, sources: &[Source], request: &Request) -> Result<(), String> {
    let known = &request.helm_repositories;
    let private = if known.private.as_os_str().is_empty() { &request.scratch } else { &known.private };
    let disk = |error: std::io::Error| format!("failed to write helm's configuration: {error}");
    let mut logins = Logins::new(private).map_err(disk)?;
    let pass_credentials = request.source.helm.as_ref().is_some_and(|helm| helm.pass_credentials);
    for source in sources {
        if source.repository.credentials.use_azure_workload_identity {
            let what = "an Azure workload identity is not supported by this build";
            return Err(format!("failed to get password for helm registry: {what}"));
        }
        let mut access = ChartAccess::of(&source.repository, &known.trust);
        // Every helm command of Argo CD goes through the proxy of the source's own repository.
        (access.route.proxy, access.route.no_proxy) = known.proxy.clone();
        let url = access.shown_url();
        if !source.is_oci {
            let place = (request.scratch.as_path(), request.limits.timeout);
            let there = charts::repository_is_there(&access, (&source.name, pass_credentials), place).await;
            let words = format!("failed to add helm repository {url}: failed to add repository: failed running helm");
            there.map_err(|reason| format!("{words}: {reason}"))?;
            logins.add_repository(&source.name, &access, pass_credentials).map_err(disk)?;
        } else if !access.username.is_empty() && !access.password.is_empty() {
            let entered = charts::log_in(&access, request.limits.timeout).await;
            let words = format!("failed to login to registry {url}: failed to login to registry: failed running helm");
            entered.map_err(|reason| format!("{words}: {reason}"))?;
            logins.add_registry(&access);
        }
    }
    let mut args = vec!["dependency", "build"];
    if known.insecure {
        args.push("--insecure-skip-tls-verify");
    }
    if sources.iter().any(|source| source.repository.credentials.insecure_oci_force_http) {
        args.push("--plain-http");
    }
    let command = logins.give_to(home.helm(chart, request.limits)).map_err(disk)?;
    let build = command.args(args).run().await;
    let words = "failed to build helm dependencies: failed to build dependencies: failed running helm";
    let folder = logins.folder().to_string_lossy().into_owned();
    build.map(drop).map_err(|error| format!("{words}: {error}").replace(&folder, "<helm logins>"))
}
