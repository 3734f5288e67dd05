//! `litecd render`: prints what Applications render to, without a cluster.
//!
//! In:  files with Applications and, where they matter, with the settings of the installation.
//! Out: manifests on standard output; for each Application that has none its error on standard error.
//! Invariant: the way from an Application to its manifests is the controller's own (`desired`).

mod given;
#[cfg(test)]
mod tests;

use std::collections::BTreeSet;
use std::path::PathBuf;
use std::process::ExitCode;

use anyhow::Context;
use serde_json::{Value, json};

use self::given::{Given, anywhere, not_expanded};
use super::interrupt::unless_stopped;
use crate::api::{Application, names};
use crate::desired::{Anew, ClusterFacts, Desired, Inputs, Locals, Options};
use crate::gocompat::yaml;
use crate::project::{Project, validate_spec};
use crate::settings::Clusters;

/// What stands below the flags in the help.
const MORE: &str = "\
Exit codes:
  0  every Application rendered
  1  an Application could not be rendered, or its project forbids it; standard error says why
  2  the input or the command line is wrong

Example:
  litecd render shop.yaml --repo https://github.com/acme/shop.git=. --uncommitted";

/// Renders Applications as the controller would, tracking metadata included, without a cluster.
///
/// What is printed is what the controller hands to a sync, which equals what Argo CD compares. An object that names no
/// namespace has none here: a sync applies it to the destination's, so `kubectl apply` needs `-n`.
#[derive(clap::Args)]
#[command(after_help = MORE)]
pub struct Args {
    /// File with Applications, `-` for standard input; other objects in it count as given with `--settings`.
    #[arg(required = true)]
    files: Vec<PathBuf>,
    /// Takes a repository from a folder: a Git repository, or plain files, which stand for every revision. Others are
    /// fetched from their servers.
    #[arg(long = "repo", value_name = "URL=FOLDER")]
    repositories: Vec<String>,
    /// Takes the folders' files as they lie there, committed or not, whatever revision is asked for.
    #[arg(long)]
    uncommitted: bool,
    /// File with settings: argocd-cm, argocd-cmd-params-cm, AppProjects, repository Secrets. Without them, and for
    /// projects that are not given, Argo CD's defaults hold and every repository is permitted.
    #[arg(long = "settings", short = 'f', value_name = "FILE")]
    settings: Vec<PathBuf>,
    /// Kubernetes version that charts see, such as 1.34.0; Helm's own default without it.
    #[arg(long, default_value = "")]
    kube_version: String,
    /// API versions that charts see besides Helm's own, such as `monitoring.coreos.com/v1` and
    /// `monitoring.coreos.com/v1/ServiceMonitor`, comma separated.
    #[arg(long, value_delimiter = ',')]
    api_versions: Vec<String>,
    /// Namespace of the control plane; Applications elsewhere have it in their instance name.
    #[arg(long, env = "ARGOCD_NAMESPACE", default_value = "argocd")]
    namespace: String,
    /// Folder that keeps fetched repositories between runs; a temporary one without it.
    #[arg(long)]
    cache_dir: Option<PathBuf>,
    /// Output format: yaml or json.
    #[arg(long, short, default_value = "yaml")]
    output: String,
    #[command(flatten)]
    rendering: super::rendering::Flags,
}

/// Runs `litecd render`.
pub fn run(args: &Args) -> anyhow::Result<ExitCode> {
    if !matches!(args.output.as_str(), "yaml" | "json") {
        anyhow::bail!("unknown output format {:?}: use yaml or json", args.output);
    }
    let mut given = Given::read(&args.files, &args.settings)?;
    // As the controller: flags and variables win over the ConfigMap, and an empty variable is no value.
    for (flag, value) in args.rendering.clone().all() {
        if let Some(value) = value.filter(|text| !text.is_empty()) {
            given.parameters.set_flag(flag, &value).with_context(|| format!("cannot use --{flag}"))?;
        }
    }
    let given = Given::read(&args.files, &args.settings)?;
    if !given.sets.is_empty() {
        let (count, names) = (given.applications.len(), given.sets.join(", "));
        eprintln!("litecd: rendering {count} Applications only{}", not_expanded(&names));
    }
    let temporary = tempfile::tempdir().context("cannot make a temporary folder")?;
    let cache = args.cache_dir.as_deref().unwrap_or(temporary.path());
    let desired = Desired::new(cache, Options::from(&given.parameters).without_memory())
        .with_context(|| format!("cannot use the cache directory {}", cache.display()))?
        .with_locals(locals(args, &given.applications)?);
    let facts = ClusterFacts { version: args.kube_version.clone(), api_versions: args.api_versions.clone().into() };
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .max_blocking_threads(4)
        .build()
        .context("cannot start the runtime")?;
    let all = given.applications.iter().map(|app| one(&desired, app, (&given, &facts, &args.namespace)));
    let outcomes = runtime.block_on(unless_stopped(futures::future::join_all(all)))?;
    let mut manifests = Vec::new();
    let mut code = ExitCode::SUCCESS;
    for (app, outcome) in given.applications.iter().zip(outcomes) {
        match outcome {
            Ok(rendered) => manifests.extend(rendered),
            Err(text) => {
                eprintln!("{}: {text}", app.qualified_name());
                code = ExitCode::from(1);
            }
        }
    }
    super::print(&text(&args.output, manifests)?)?;
    Ok(code)
}

fn locals(args: &Args, apps: &[Application]) -> anyhow::Result<Locals> {
    let sources: BTreeSet<String> =
        apps.iter().flat_map(|app| app.spec.effective_sources()).map(|source| source.repo_url).collect();
    let mut locals = Locals::default();
    for given in &args.repositories {
        // A URL may hold an equals sign, a path seldom does.
        let (url, folder) = given.rsplit_once('=').with_context(|| format!("--repo {given:?} is not URL=FOLDER"))?;
        // A misspelt URL would be passed over, and the repository fetched from its server instead.
        if !sources.iter().any(|source| Locals::is_same(source, url)) {
            let sources: Vec<String> = sources.into_iter().collect();
            anyhow::bail!("--repo {given:?}: no source uses {url}; sources are {}", sources.join(", "));
        }
        locals
            .add(url, folder.as_ref(), args.uncommitted)
            .with_context(|| format!("cannot use the folder {folder}"))?;
    }
    Ok(locals)
}

/// Manifests of one Application, or the text of the condition that it would get.
async fn one(
    desired: &Desired,
    app: &Application,
    (given, cluster, namespace): (&Given, &ClusterFacts, &str),
) -> Result<Vec<Value>, String> {
    let project = given.project(app.spec.project_name());
    if let Some(text) = refused(app, &project, given) {
        return Err(text);
    }
    let inputs = Inputs {
        app,
        instance: &app.instance_name(namespace),
        sources: &app.spec.effective_sources(),
        revisions: &[],
        multi: app.spec.has_multiple_sources(),
        // The process has just started: a listing that one Application asked for is new enough for all.
        anew: Anew::Nothing,
        project: &project,
        settings: &given.settings,
        repositories: &given.repositories,
        cluster,
    };
    let found = desired.manifests(&inputs).await.map_err(|error| format!("Failed to load target state: {error}"))?;
    Ok(found.sources.into_iter().flat_map(|source| source.manifests).collect())
}

/// What the Application breaks of the rules of its project, in the controller's words.
fn refused(app: &Application, project: &Project, given: &Given) -> Option<String> {
    let (mut spec, mut project) = (app.spec.clone(), project.clone());
    let clusters = given.clusters(&spec.destination).unwrap_or_else(|| {
        // Where the objects go is not known, so that only the sources can be judged.
        project.spec.destinations = vec![anywhere()];
        spec.destination.server = names::IN_CLUSTER_SERVER.to_owned();
        spec.destination.name = String::new();
        Clusters::from_secrets([], true)
    });
    let texts: Vec<String> =
        validate_spec(&spec, &project, &clusters).into_iter().map(|condition| condition.message).collect();
    (!texts.is_empty()).then(|| texts.join("; "))
}

fn text(format: &str, manifests: Vec<Value>) -> anyhow::Result<String> {
    if format == "json" {
        let list = json!({"apiVersion": "v1", "kind": "List", "items": manifests});
        return Ok(format!("{}\n", serde_json::to_string_pretty(&list)?));
    }
    Ok(manifests.iter().map(|object| format!("---\n{}", yaml::to_string(object))).collect())
}
