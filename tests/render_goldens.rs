//! Renders every application of the recorded cases as the controller does, and compares with what Argo CD rendered.
//!
//! In:  the cases (`LITECD_REFERENCE/corpus` or `corpus/cases`); git, helm and kustomize on `PATH` or in `LITECD_TEST_BIN`.
//! Out: one line per case; a difference that is not listed fails, and so does a listed one that is gone.
//! Invariant: goldens are only read. Nothing here needs a cluster or a network.

mod support;

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};

use litecd::api::project::AppProjectSpec;
use litecd::api::{Application, ApplicationSource};
use litecd::desired::{Anew, ClusterFacts, Desired, Error, Inputs, Locals, Options};
use litecd::project::Project;
use litecd::settings::{Parameters, Repositories as RepositorySecrets, Settings};
use serde_json::{Value, json};
use support::corpus::{Case, GIT, Repositories, patch_settings, root};

/// Applications that are not expected to render alike, and why. `case application`, or `case *` for all of a case.
const NOT_YET: &[(&str, &str, &str)] = &[
    ("render/kustomize-remote-base", "*", "the base is on the recorder's server, which is not running"),
    ("render/multi-source-two-revisions", "m2-commits", SAME_COMMIT),
    ("render/multi-source-two-revisions", "m2-reversed", SAME_COMMIT),
    ("webhook/generate-paths", "paths-glob", OLDER_COMMIT),
    ("webhook/github-signatures", "sign", OLDER_LISTING),
    ("webhook/providers", "prov", OLDER_LISTING),
];
const OLDER_COMMIT: &str = "no path of the application changed, so the answer is the manifests of an older commit";
const SAME_COMMIT: &str = "Argo CD reads both references at the commit of the first, each of ours reads its own";
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
    let mut settings = case.settings();
    let mut compared = Compared::default();
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
        // A new process each time: what was rendered for an earlier snapshot is on disk.
        let scene = Scene::new(temp.path(), &settings, (&repositories, &snapshots));
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
                outcome = compare(&scene, app, variant, &compared).await;
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
        for apps in snapshots.iter().filter_map(|snapshot| snapshot.get("applications")?.as_object()) {
            compared.extend(apps.iter().map(|(name, app)| (name.clone(), app.pointer("/status/sync").cloned())));
        }
    }
    let passing = passes.into_iter().filter(|(_, passes)| *passes);
    report.unexpected_passes = passing.map(|(app, _)| format!("{} {app}", case.name)).collect();
    report
}

/// `.status.sync` of each application at the snapshot before.
type Compared = BTreeMap<String, Option<Value>>;

/// An application of a snapshot and what it rendered to.
struct Recorded<'a> {
    app: &'a Value,
    manifests: &'a Value,
}

impl<'a> Recorded<'a> {
    fn of(snapshot: &'a Value, app: &str) -> Option<Self> {
        let recorded = snapshot.get("applications")?.get(app)?;
        recorded.get("spec")?;
        Some(Self { app: recorded, manifests: snapshot.get("manifests")?.get(app)? })
    }
}

enum Outcome {
    Same,
    Different(String),
    NotRun,
}

async fn compare(scene: &Scene, name: &str, recorded: &Recorded<'_>, compared: &Compared) -> Outcome {
    let expected = recorded.manifests.get("error").and_then(Value::as_str);
    if expected.is_some_and(|error| OTHER_ERRORS.iter().any(|other| error.contains(other))) {
        return Outcome::NotRun;
    }
    let app = application(name, recorded.app, compared);
    let is_elsewhere = |source: &ApplicationSource| {
        !source.chart.is_empty() && source.r#ref.is_empty() || !source.repo_url.contains("/git/")
    };
    if app.spec.effective_sources().iter().any(is_elsewhere) {
        return Outcome::NotRun;
    }
    let mut found = scene.render(name, &app).await;
    // Argo CD had tried so often by then that it repeats the failure without trying.
    for _ in 0..3 {
        if found.is_err() && expected.is_some_and(|error| error.starts_with("Manifest generation error (cached): ")) {
            found = scene.render(name, &app).await;
        }
    }
    match (found, expected) {
        // A tool that is missing says so in place of what was recorded.
        (Err(text), _) if text.contains("executable file not found") => Outcome::NotRun,
        (Err(text), None) => Outcome::Different(format!("failed: {text}")),
        (Ok(manifests), Some(error)) => {
            Outcome::Different(format!("rendered {} objects, expected error: {error}", manifests.len()))
        }
        (Err(text), Some(error)) if text == error => Outcome::Same,
        (Err(text), Some(error)) => Outcome::Different(format!("error {text:?}\n      expected {error:?}")),
        (Ok(manifests), None) => {
            let (want, got) = (comparable(recorded.manifests.clone()), comparable(Value::Array(manifests)));
            difference(&want, &got).map_or(Outcome::Same, Outcome::Different)
        }
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

/// The application as the controller has it before it renders: without empty blocks, with what was compared last.
fn application(name: &str, recorded: &Value, compared: &Compared) -> Application {
    let mut app = recorded.clone();
    if let Some(patch) = litecd::status::normalize_spec(&app) {
        json_patch::merge(&mut app, &patch);
    }
    app["metadata"]["name"] = name.into();
    app["status"] = json!({});
    if let Some(sync) = compared.get(name).cloned().flatten() {
        app["status"]["sync"] = sync;
    }
    serde_json::from_value(app).unwrap()
}

/// A repository that the server does not have: its folder is gone by the time somebody looks.
fn add_absent(locals: &mut Locals, url: &str, folder: &Path) {
    std::fs::create_dir_all(folder.join(".git")).unwrap();
    locals.add(url, folder, false).unwrap();
    std::fs::remove_dir_all(folder).unwrap();
}

/// An installation with the repositories and the settings of one moment.
struct Scene {
    desired: Desired,
    settings: Settings,
    facts: ClusterFacts,
}

impl Scene {
    fn new(
        temp: &Path,
        settings: &BTreeMap<String, String>,
        (repositories, snapshots): (&Repositories, &[&Value]),
    ) -> Self {
        let apps = snapshots.iter().filter_map(|snapshot| snapshot.get("applications")?.as_object());
        let specs = apps.flat_map(|apps| apps.values()).filter_map(|app| app.get("spec"));
        let sources = specs.flat_map(|spec| {
            let list = spec.get("sources").and_then(Value::as_array).into_iter().flatten();
            list.chain(spec.get("source")).chain(spec.pointer("/sourceHydrator/drySource"))
        });
        let mut locals = Locals::default();
        for url in sources.filter_map(|source| source.get("repoURL")?.as_str()) {
            let Some(folder) = repositories.local(url) else { continue };
            if Path::new(&folder).is_dir() {
                locals.add(url, Path::new(&folder), false).unwrap();
            } else {
                add_absent(&mut locals, url, &temp.join("absent"));
            }
        }
        let evaluator = env!("CARGO_BIN_EXE_litecd").into();
        let options = Options { evaluator, ..Options::from(&Parameters::default()) };
        let desired = Desired::new(&temp.join("cache"), options).unwrap();
        Self {
            desired: desired.with_locals(locals),
            settings: Settings::from_config_map(settings).unwrap(),
            facts: ClusterFacts { version: "1.36.3".to_owned(), api_versions: api_versions().into() },
        }
    }

    /// Manifests, or the text that Argo CD's repo server would answer.
    async fn render(&self, name: &str, app: &Application) -> Result<Vec<Value>, String> {
        let inputs = Inputs {
            app,
            instance: &name.replace('/', "_"),
            sources: &app.spec.effective_sources(),
            revisions: &[],
            multi: app.spec.has_multiple_sources(),
            anew: Anew::Revisions,
            project: &Project {
                name: app.spec.project_name().to_owned(),
                spec: AppProjectSpec { source_repos: vec!["*".to_owned()], ..AppProjectSpec::default() },
                clusters: Vec::new(),
            },
            settings: &self.settings,
            repositories: &RepositorySecrets::default(),
            cluster: &self.facts,
        };
        match self.desired.manifests(&inputs).await {
            Ok(found) => Ok(found.sources.into_iter().flat_map(|source| source.manifests).collect()),
            Err(Error::Generate { text, .. } | Error::Evaluate { text, .. }) => {
                Err(text.split_once(" desc = ").map_or(text.as_str(), |(_, inner)| inner).to_owned())
            }
            Err(error) => Err(error.to_string()),
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
