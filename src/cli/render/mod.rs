//! `litecd render`: prints what Applications render to, without a cluster.
//!
//! In:  files with Applications and, where they matter, with the settings of the installation.
//! Out: manifests on standard output; for each Application that has none its error on standard error.
//! Invariant: the way from an Application to its manifests is the controller's own (`desired`).

mod given;

use std::path::PathBuf;
use std::process::ExitCode;

use anyhow::Context;
use serde_json::{Value, json};

use self::given::Given;
use super::interrupt::unless_stopped;
use crate::api::{Application, Destination, names};
use crate::desired::{Anew, ClusterFacts, Desired, Inputs, Locals, Options};
use crate::gocompat::yaml;
use crate::project::{Project, validate_spec};

/// Renders Applications as the controller would, tracking metadata included, without a cluster.
///
/// Exit code 0: all rendered; 1: an Application could not be rendered, and standard error says why; 2: input could not
/// be read.
#[derive(clap::Args)]
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
}

/// Runs `litecd render`.
pub fn run(args: &Args) -> anyhow::Result<ExitCode> {
    if !matches!(args.output.as_str(), "yaml" | "json") {
        anyhow::bail!("unknown output format {:?}: use yaml or json", args.output);
    }
    let given = Given::read(&args.files, &args.settings)?;
    let temporary = tempfile::tempdir().context("cannot make a temporary folder")?;
    let cache = args.cache_dir.as_deref().unwrap_or(temporary.path());
    let desired = Desired::new(cache, Options::from(&given.parameters).without_memory())
        .with_context(|| format!("cannot use the cache directory {}", cache.display()))?
        .with_locals(locals(args)?);
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

fn locals(args: &Args) -> anyhow::Result<Locals> {
    let mut locals = Locals::default();
    for given in &args.repositories {
        // A URL may hold an equals sign, a path seldom does.
        let (url, folder) = given.rsplit_once('=').with_context(|| format!("--repo {given:?} is not URL=FOLDER"))?;
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

/// What the sources break of the rules of the project; where the objects go is not known without clusters.
fn refused(app: &Application, project: &Project, given: &Given) -> Option<String> {
    let mut spec = app.spec.clone();
    spec.destination = Destination {
        server: names::IN_CLUSTER_SERVER.to_owned(),
        namespace: spec.destination.namespace,
        name: String::new(),
    };
    let mut project = project.clone();
    project.spec.destinations =
        vec![Destination { server: "*".to_owned(), namespace: "*".to_owned(), name: String::new() }];
    let texts: Vec<String> =
        validate_spec(&spec, &project, &given.clusters).into_iter().map(|condition| condition.message).collect();
    (!texts.is_empty()).then(|| texts.join("; "))
}

fn text(format: &str, manifests: Vec<Value>) -> anyhow::Result<String> {
    if format == "json" {
        let list = json!({"apiVersion": "v1", "kind": "List", "items": manifests});
        return Ok(format!("{}\n", serde_json::to_string_pretty(&list)?));
    }
    Ok(manifests.iter().map(|object| format!("---\n{}", yaml::to_string(object))).collect())
}
