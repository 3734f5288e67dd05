//! Renders every application of the recorded cases and compares with what Argo CD rendered.
//!
//! In:  the cases (`LITECD_REFERENCE/corpus` or `corpus/cases`); git, helm and kustomize on `PATH` or in `LITECD_TEST_BIN`.
//! Out: one line per case; a difference that is not listed fails, and so does a listed one that is gone.
//! Invariant: goldens are only read. Nothing here needs a cluster or a network.

mod support;

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};

use litecd::api::ApplicationSource;
use litecd::process::Limits;
use litecd::render::refs;
use litecd::render::{self, Enabled, KustomizeSettings, RefSource, Request};
use litecd::repo::{RepoAccess, Store};
use litecd::track::{Method, Tracking};
use serde_json::Value;
use support::corpus::{Case, GIT, Repositories, patch_settings, root};

/// Applications that are not expected to render alike, and why. `case application`, or `case *` for all of a case.
const NOT_YET: &[(&str, &str, &str)] = &[
    ("render/jsonnet", "*", "Jsonnet is not evaluated yet"),
    ("render/kustomize-remote-base", "*", "the base is on the recorder's server, which is not running"),
    ("render/manifest-generate-paths", "gp-deep", OLDER_COMMIT),
    ("render/manifest-generate-paths", "gp-dot", OLDER_COMMIT),
    ("render/manifest-generate-paths", "gp-glob", OLDER_COMMIT),
    ("render/manifest-generate-paths", "gp-two", OLDER_COMMIT),
    ("webhook/generate-paths", "paths-glob", OLDER_COMMIT),
    ("webhook/github-signatures", "sign", OLDER_LISTING),
    ("webhook/providers", "prov", OLDER_LISTING),
];
const OLDER_COMMIT: &str = "no path of the application changed, so the answer is the manifests of an older commit";
const OLDER_LISTING: &str = "the push was refused, so the answer comes from an older listing of references";

/// Applications whose repository holds symbolic links; they do not run where the cases were stored without links.
const WITH_LINKS: &[(&str, &str, &str)] = &[
    ("render/paths-links-types", "pl-dotted", "v1/links/link.yaml"),
    ("render/paths-links-types", "pl-linkdir", "v1/linked"),
    ("render/paths-links-types", "pl-oob", "out/escape"),
];

/// Errors of Argo CD's API server or controller, not of a render.
const OTHER_ERRORS: &[&str] = &[
    "permission denied",
    "app is not allowed in project",
    "cluster \"",
    "error getting application cluster config",
    "error getting server version",
];

#[derive(Default)]
struct Report {
    same: usize,
    listed: usize,
    not_run: usize,
    differences: Vec<String>,
    unexpected_passes: BTreeSet<String>,
}

#[tokio::test]
async fn every_recorded_application_renders_as_recorded() {
    if let Some(folder) = std::env::var_os("LITECD_TEST_BIN") {
        return run_with_tools(&folder);
    }
    let Some(root) = root() else {
        println!("not run: no recorded cases (LITECD_REFERENCE is not set and corpus/cases is missing)");
        return;
    };
    let only = std::env::var("LITECD_TEST_CASE").ok();
    let mut total = Report::default();
    for case in Case::all(&root) {
        if only.as_ref().is_some_and(|only| !case.name.contains(only.as_str())) {
            continue;
        }
        let report = check_case(&case).await;
        if report.same + report.listed + report.differences.len() + report.not_run > 0 {
            println!(
                "{} {}: {} same, {} listed, {} not run, {} different",
                if report.differences.is_empty() { "ok  " } else { "FAIL" },
                case.name,
                report.same,
                report.listed,
                report.not_run,
                report.differences.len()
            );
        }
        for difference in &report.differences {
            println!("    {difference}");
        }
        total.same += report.same;
        total.listed += report.listed;
        total.not_run += report.not_run;
        total.differences.extend(report.differences);
        total.unexpected_passes.extend(report.unexpected_passes);
    }
    println!(
        "{} same, {} listed, {} not run, {} different",
        total.same,
        total.listed,
        total.not_run,
        total.differences.len()
    );
    assert!(total.same > 0, "nothing was compared");
    assert!(total.differences.is_empty(), "{} applications differ", total.differences.len());
    assert!(total.unexpected_passes.is_empty(), "listed and yet the same: {:?}", total.unexpected_passes);
}

/// Runs the test again in a process whose `PATH` holds the tools; a process may not change its own safely.
fn run_with_tools(folder: &std::ffi::OsStr) {
    let path = std::env::var_os("PATH").unwrap_or_default();
    let folders = std::iter::once(PathBuf::from(folder)).chain(std::env::split_paths(&path));
    let status = std::process::Command::new(std::env::current_exe().unwrap())
        .args(["--exact", "every_recorded_application_renders_as_recorded", "--nocapture"])
        .env("PATH", std::env::join_paths(folders).unwrap())
        .env_remove("LITECD_TEST_BIN")
        .status();
    assert!(status.unwrap().success());
}

async fn check_case(case: &Case) -> Report {
    let mut report = Report::default();
    let has_manifests = case.goldens.iter().flat_map(|g| g.as_object()).flat_map(|g| g.values());
    if !has_manifests.clone().any(|snapshot| snapshot.get("manifests").is_some()) {
        return report;
    }
    let temp = tempfile::tempdir().unwrap();
    let mut repositories = Repositories::new(temp.path());
    let store = Store::new(&temp.path().join("cache")).unwrap();
    let mut settings = case.settings();
    let mut passes: BTreeMap<String, bool> = BTreeMap::new();
    for step in case.spec.get("steps").and_then(Value::as_array).unwrap() {
        if let Some(commit) = step.get("commit") {
            repositories.commit(&case.dir, commit);
        }
        if let Some(patch) = step.get("patch") {
            patch_settings(&mut settings, patch);
        }
        let Some(name) = step.get("snapshot").and_then(Value::as_str) else { continue };
        let snapshots: Vec<&Value> = case.goldens.iter().filter_map(|golden| golden.get(name)).collect();
        let apps =
            snapshots.iter().filter_map(|snapshot| snapshot.get("manifests")?.as_object()).flat_map(|apps| apps.keys());
        for app in apps.collect::<BTreeSet<_>>() {
            let variants = snapshots.iter().filter_map(|snapshot| Recorded::of(snapshot, app)).collect::<Vec<_>>();
            let is_flat =
                |(c, a, link): &(&str, &str, &str)| *c == case.name && *a == app && !case.dir.join(link).is_symlink();
            if WITH_LINKS.iter().any(is_flat) {
                report.not_run += 1;
                continue;
            }
            let listed = NOT_YET.iter().any(|(c, a, _)| *c == case.name && (*a == "*" || *a == app));
            let mut outcome = Outcome::NotRun;
            for variant in &variants {
                outcome = compare(&settings, (&store, &repositories), app, variant).await;
                if !matches!(outcome, Outcome::Different(_)) {
                    break;
                }
            }
            match outcome {
                Outcome::NotRun => report.not_run += 1,
                Outcome::Same => {
                    report.same += usize::from(!listed);
                    if listed {
                        passes.entry(app.clone()).or_insert(true);
                    }
                }
                Outcome::Different(_) if listed => {
                    report.listed += 1;
                    passes.insert(app.clone(), false);
                }
                Outcome::Different(text) => report.differences.push(format!("{name} {app}: {text}")),
            }
        }
    }
    let passing = passes.into_iter().filter(|(_, passes)| *passes);
    report.unexpected_passes = passing.map(|(app, _)| format!("{} {app}", case.name)).collect();
    report
}

/// An application of a snapshot and what it rendered to.
struct Recorded<'a> {
    spec: &'a Value,
    manifests: &'a Value,
}

impl<'a> Recorded<'a> {
    fn of(snapshot: &'a Value, app: &str) -> Option<Self> {
        let spec = snapshot.get("applications")?.get(app)?.get("spec")?;
        Some(Self { spec, manifests: snapshot.get("manifests")?.get(app)? })
    }
}

enum Outcome {
    Same,
    Different(String),
    NotRun,
}

async fn compare(
    settings: &BTreeMap<String, String>,
    (store, repositories): (&Store, &Repositories),
    app: &str,
    recorded: &Recorded<'_>,
) -> Outcome {
    let expected_error = recorded.manifests.get("error").and_then(Value::as_str);
    if expected_error.is_some_and(|error| OTHER_ERRORS.iter().any(|other| error.contains(other))) {
        return Outcome::NotRun;
    }
    let sources = sources(recorded.spec);
    if sources
        .iter()
        .any(|source| !source.chart.is_empty() && source.r#ref.is_empty() || !source.repo_url.contains("/git/"))
    {
        return Outcome::NotRun;
    }
    let target = Target { settings, store, repositories, app, spec: recorded.spec, sources: &sources };
    let mut manifests = Vec::new();
    let mut failure = None;
    for source in &sources {
        match target.render(source).await {
            Ok(rendered) => manifests.extend(rendered.manifests),
            // A tool that is missing says so in place of what was recorded.
            Err(found) if found.text.contains("executable file not found") => return Outcome::NotRun,
            Err(text) => {
                failure = Some(text);
                break;
            }
        }
    }
    match (failure, expected_error) {
        (Some(failure), None) => Outcome::Different(format!("failed: {}", failure.text)),
        (None, Some(error)) => {
            Outcome::Different(format!("rendered {} objects, expected error: {error}", manifests.len()))
        }
        (Some(failure), Some(error)) if failure.text == error || failure.cached.as_deref() == Some(error) => {
            Outcome::Same
        }
        (Some(failure), Some(error)) => {
            Outcome::Different(format!("error {:?}\n      expected {error:?}", failure.text))
        }
        (None, None) => {
            let (want, got) = (comparable(recorded.manifests.clone()), comparable(Value::Array(manifests)));
            difference(&want, &got).map_or(Outcome::Same, Outcome::Different)
        }
    }
}

/// Why a source was not rendered: the text, and the text when it is answered from the cache of failures.
struct Failure {
    text: String,
    cached: Option<String>,
}

impl From<render::Error> for Failure {
    fn from(error: render::Error) -> Self {
        let cached = error.cached_envelope();
        let cached = cached.strip_prefix("rpc error: code = Unknown desc = ").map(str::to_owned);
        Self { text: error.to_string(), cached }
    }
}

impl From<litecd::repo::Error> for Failure {
    fn from(error: litecd::repo::Error) -> Self {
        Self { text: error.to_string(), cached: None }
    }
}

/// The API server that manifests were recorded through hides what Secrets hold; large numbers lost their type on the way.
fn comparable(value: Value) -> Value {
    match value {
        Value::Array(items) => items.into_iter().map(comparable).collect(),
        Value::Object(mut map) => {
            if map.get("kind").and_then(Value::as_str) == Some("Secret") {
                map.remove("data");
                map.remove("stringData");
            }
            map.into_iter().map(|(key, value)| (key, comparable(value))).collect()
        }
        Value::Number(number) if number.as_i64().is_none() => number.as_f64().into(),
        other => other,
    }
}

fn difference(want: &Value, got: &Value) -> Option<String> {
    fn walk(want: &Value, got: &Value, path: &str) -> Option<String> {
        match (want, got) {
            (Value::Array(a), Value::Array(b)) => {
                if a.len() != b.len() {
                    let names = |list: &[Value]| {
                        let name = |v: &Value| v.pointer("/metadata/name").map(ToString::to_string);
                        list.iter().filter_map(name).collect::<Vec<_>>().join(" ")
                    };
                    return Some(format!("{path}: {} ({}), expected {} ({})", b.len(), names(b), a.len(), names(a)));
                }
                a.iter().zip(b).enumerate().find_map(|(i, (a, b))| walk(a, b, &format!("{path}[{i}]")))
            }
            (Value::Object(a), Value::Object(b)) => {
                let keys: BTreeSet<&String> = a.keys().chain(b.keys()).collect();
                keys.into_iter().find_map(|key| match (a.get(key), b.get(key)) {
                    (Some(a), Some(b)) => walk(a, b, &format!("{path}/{key}")),
                    (a, b) => Some(format!("{path}/{key}: {b:?}, expected {a:?}")),
                })
            }
            (a, b) => (a != b).then(|| format!("{path}: {b}, expected {a}")),
        }
    }
    walk(want, got, "")
}

/// The sources that are rendered; empty blocks of a single source are dropped, as the controller does before it renders.
fn sources(spec: &Value) -> Vec<ApplicationSource> {
    if let Some(list) = spec.get("sources").and_then(Value::as_array) {
        return list.iter().map(|source| serde_json::from_value(source.clone()).unwrap()).collect();
    }
    let mut source: ApplicationSource =
        serde_json::from_value(spec.get("source").cloned().unwrap_or_default()).unwrap_or_default();
    source.helm = source.helm.filter(|helm| *helm != Default::default());
    source.kustomize = source.kustomize.filter(|kustomize| *kustomize != Default::default());
    source.directory = source.directory.filter(|directory| *directory != Default::default());
    source.plugin = source.plugin.filter(|plugin| *plugin != Default::default());
    vec![source]
}

struct Target<'a> {
    settings: &'a BTreeMap<String, String>,
    store: &'a Store,
    repositories: &'a Repositories,
    app: &'a str,
    spec: &'a Value,
    sources: &'a [ApplicationSource],
}

impl Target<'_> {
    fn setting(&self, key: &str) -> Option<&str> {
        self.settings.get(key).map(String::as_str)
    }

    fn access(&self, url: &str) -> RepoAccess {
        RepoAccess::anonymous(self.repositories.local(url).unwrap_or_else(|| url.to_owned()))
    }

    async fn render(&self, source: &ApplicationSource) -> Result<render::Rendered, Failure> {
        let is_multi = self.spec.get("sources").is_some();
        let repo = self.access(&source.repo_url);
        let wanted = litecd::repo::Revision {
            text: &source.target_revision,
            tag_prefix: &source.tag_prefix,
            ..Default::default()
        };
        let resolved = self.store.resolve(&repo, wanted).await?;
        if is_multi && source.path.is_empty() && source.is_ref() {
            return Ok(render::Rendered::default());
        }
        let refs = if is_multi { self.refs(source).await? } else { BTreeMap::new() };
        let commit = self.store.fetch(&repo, &resolved).await?;
        let checkout = self.store.checkout(&repo, &commit).await?;
        let request = Request {
            revision: if is_multi { resolved } else { commit },
            root: checkout.root.clone(),
            refs,
            has_multiple_sources: is_multi,
            ..self.request(source)
        };
        Ok(render::render(&request).await?)
    }

    async fn refs(&self, source: &ApplicationSource) -> Result<BTreeMap<String, RefSource>, Failure> {
        let needed = refs::needed(source, &refs::targets(self.sources)?)?;
        let mut refs = BTreeMap::new();
        for other in self.sources.iter().filter(|other| other.is_ref()) {
            let name = format!("${}", other.r#ref);
            let mut found =
                RefSource { repo_url: other.repo_url.clone(), chart: other.chart.clone(), ..RefSource::default() };
            if needed.contains(&name) {
                let repo = self.access(&other.repo_url);
                let unreachable =
                    |_| Failure { text: format!("failed to get git client for repo {}", other.repo_url), cached: None };
                let resolved = self.store.resolve(&repo, other.target_revision.as_str()).await.map_err(unreachable)?;
                let commit = self.store.fetch(&repo, &resolved).await?;
                found.root = self.store.checkout(&repo, &commit).await?.root;
                found.revision = resolved;
            }
            refs.insert(name, found);
        }
        Ok(refs)
    }

    fn request(&self, source: &ApplicationSource) -> Request {
        let text = |pointer: &str| self.spec.pointer(pointer).and_then(Value::as_str).unwrap_or_default().to_owned();
        let setting = |key: &str, default: &str| self.setting(key).unwrap_or(default).to_owned();
        let is_on = |key: &str| self.setting(key).is_none_or(|text| text == "true");
        let list =
            |text: String| text.split(',').map(|part| part.trim().to_owned()).filter(|part| !part.is_empty()).collect();
        Request {
            app_name: self.app.replace('/', "_"),
            namespace: text("/destination/namespace"),
            project: text("/project"),
            source: source.clone(),
            requested_revision: source.target_revision.clone(),
            revision: String::new(),
            root: PathBuf::new(),
            refs: BTreeMap::new(),
            has_multiple_sources: false,
            kube_version: "1.36.3".to_owned(),
            api_versions: api_versions(),
            tracking: Tracking {
                method: Method::parse(&setting("application.resourceTrackingMethod", "")),
                label_key: setting("application.instanceLabelKey", "app.kubernetes.io/instance"),
                installation_id: self.setting("installationID").map(str::to_owned),
            },
            enabled: Enabled {
                helm: is_on("helm.enable"),
                kustomize: is_on("kustomize.enable"),
                jsonnet: is_on("jsonnet.enable"),
            },
            kustomize: KustomizeSettings {
                build_options: setting("kustomize.buildOptions", ""),
                binaries: BTreeMap::new(),
            },
            value_file_schemes: list(setting("helm.valuesFileSchemes", "https, http")),
            helm_repositories: Vec::new(),
            permitted_repositories: vec!["*".to_owned()],
            git_environment: None,
            scratch: self.store.scratch(),
            limits: Limits::default(),
            max_directory_bytes: 10_000_000,
        }
    }
}

/// Some API versions that the recorder's cluster served.
fn api_versions() -> Vec<String> {
    ["v1", "v1/ConfigMap", "v1/Secret", "v1/Service", "apps/v1", "apps/v1/Deployment", "batch/v1", "batch/v1/Job"]
        .map(str::to_owned)
        .to_vec()
}

#[test]
fn repository_urls_of_cases_are_local() {
    let repositories = Repositories::new(Path::new("/r"));
    let expect = Some("/r/git/app.git".to_owned());
    assert_eq!(repositories.local(&format!("{GIT}/app.git")), expect);
    assert_eq!(repositories.local(&format!("{GIT}/app")), expect);
}
