//! Renders small trees with every option of a source, and compares with what Argo CD's own functions answered.
//!
//! In:  `tests/render_answers/cases.json` (trees, sources, revisions); `answers.json`, which `GenerateManifests` and `MaxVersion`
//!      of Argo CD v3.5.1 gave for them, with Helm 4.2.1 and Kustomize 5.8.1; both tools on `PATH` or in `LITECD_TEST_BIN`.
//! Out: a failure when one differs.
//! Invariant: answers are only read.

use std::collections::BTreeMap;
use std::fs;
use std::os::unix::fs::symlink;
use std::path::{Path, PathBuf};

use litecd::gocompat::semver::max_version;
use litecd::render::{self, KustomizeSettings, RefSource, Request};
use litecd::track::Tracking;
use serde::Deserialize;
use serde_json::Value;

#[derive(Deserialize)]
struct Cases {
    trees: BTreeMap<String, BTreeMap<String, String>>,
    cases: Vec<Case>,
    versions: Vec<Revision>,
}

#[derive(Deserialize)]
struct Case {
    name: String,
    tree: String,
    source: Value,
    #[serde(default)]
    app: Option<String>,
    #[serde(default, rename = "buildOptions")]
    build_options: String,
    #[serde(default)]
    multi: bool,
}

#[derive(Deserialize)]
struct Revision {
    revision: String,
    tags: Vec<String>,
    prefix: String,
}

#[derive(Deserialize)]
struct Answers {
    answers: Vec<Answer>,
    versions: Vec<String>,
}

#[derive(Deserialize)]
struct Answer {
    name: String,
    #[serde(default, rename = "type")]
    source_type: String,
    #[serde(default)]
    manifests: Vec<Value>,
    #[serde(default)]
    error: String,
}

fn read<T: for<'de> Deserialize<'de>>(name: &str) -> T {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/render_answers");
    serde_json::from_slice(&fs::read(folder.join(name)).unwrap()).unwrap()
}

/// A text that begins with an arrow is a link; `ref/` is the other repository.
fn write_tree(root: &Path, files: &BTreeMap<String, String>) {
    for (path, text) in files {
        let path = match path.strip_prefix("ref/") {
            Some(below) => root.with_file_name("values").join(below),
            None => root.join(path),
        };
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        match text.strip_prefix("->") {
            Some(target) => symlink(target, path).unwrap(),
            None => fs::write(path, text).unwrap(),
        }
    }
}

fn request(case: &Case, root: PathBuf, scratch: PathBuf) -> Request {
    let values = RefSource {
        repo_url: "https://git.example.com/values.git".to_owned(),
        root: root.with_file_name("values"),
        ..RefSource::default()
    };
    Request {
        app_name: case.app.clone().unwrap_or_else(|| "team_web".to_owned()),
        namespace: "prod".to_owned(),
        project: "default".to_owned(),
        source: serde_json::from_value(case.source.clone()).unwrap(),
        repository_url: String::new(),
        requested_revision: "main".to_owned(),
        revision: "0123456789abcdef0123456789abcdef01234567".to_owned(),
        refs: if case.multi { BTreeMap::from([("$values".to_owned(), values)]) } else { BTreeMap::new() },
        root,
        has_multiple_sources: case.multi,
        kube_version: "v1.36.3+k3s1".to_owned(),
        api_versions: vec!["v1".to_owned(), "apps/v1".to_owned()],
        tracking: Tracking { label_key: "app.kubernetes.io/instance".to_owned(), ..Tracking::default() },
        enabled: Default::default(),
        kustomize: KustomizeSettings { build_options: case.build_options.clone(), ..Default::default() },
        value_file_schemes: vec!["https".to_owned()],
        helm_repositories: Default::default(),
        permitted_repositories: Vec::new(),
        git_environment: None,
        scratch,
        limits: Default::default(),
        evaluator: env!("CARGO_BIN_EXE_litecd").into(),
        max_directory_bytes: 0,
    }
}

async fn difference(case: &Case, files: &BTreeMap<String, String>, answer: &Answer) -> Option<String> {
    assert_eq!(case.name, answer.name);
    let temp = tempfile::tempdir().unwrap();
    let (root, scratch) = (temp.path().join("tree"), temp.path().join("scratch"));
    fs::create_dir(&scratch).unwrap();
    write_tree(&root, files);
    match render::render(&request(case, root, scratch)).await {
        Err(error) => {
            // A status shows its code where Go prints it.
            let text = match error {
                render::Error::BrokenManifest(_) | render::Error::NotPermitted(_) => error.envelope(),
                other => other.to_string(),
            };
            if text.contains("executable file not found") {
                println!("not run: {} ({text})", case.name);
                return None;
            }
            (text != answer.error)
                .then(|| format!("error {text:?}\n    wanted {:?} {:?}", answer.error, answer.manifests))
        }
        Ok(_) if !answer.error.is_empty() => Some(format!("rendered, wanted error {:?}", answer.error)),
        Ok(found) if found.source_type != answer.source_type => Some(format!("type {}", found.source_type)),
        Ok(found) => (found.manifests != answer.manifests).then(|| {
            let text = |list: &[Value]| serde_json::to_string(list).unwrap();
            format!("{}\n    wanted {}", text(&found.manifests), text(&answer.manifests))
        }),
    }
}

#[tokio::test]
async fn sources_render_as_argo_cd_answered() {
    if let Some(folder) = std::env::var_os("LITECD_TEST_BIN") {
        return run_with_tools(&folder);
    }
    let (cases, answers): (Cases, Answers) = (read("cases.json"), read("answers.json"));
    assert_eq!(cases.cases.len(), answers.answers.len());
    let mut failures = 0;
    for (case, answer) in cases.cases.iter().zip(&answers.answers) {
        if let Some(text) = difference(case, &cases.trees[&case.tree], answer).await {
            failures += 1;
            println!("{} {}\n    {text}", case.name, case.source);
        }
    }
    assert_eq!(failures, 0, "sources that render otherwise");
}

/// Runs the test again in a process whose `PATH` holds the tools; a process may not change its own safely.
fn run_with_tools(folder: &std::ffi::OsStr) {
    let path = std::env::var_os("PATH").unwrap_or_default();
    let folders = std::iter::once(PathBuf::from(folder)).chain(std::env::split_paths(&path));
    let status = std::process::Command::new(std::env::current_exe().unwrap())
        .args(["--exact", "sources_render_as_argo_cd_answered", "--nocapture"])
        .env("PATH", std::env::join_paths(folders).unwrap())
        .env_remove("LITECD_TEST_BIN")
        .status();
    assert!(status.unwrap().success());
}

#[test]
fn revisions_stand_for_the_tags_that_argo_cd_chose() {
    let (cases, answers): (Cases, Answers) = (read("cases.json"), read("answers.json"));
    assert_eq!(cases.versions.len(), answers.versions.len());
    let mut failures = 0;
    for (case, wanted) in cases.versions.iter().zip(&answers.versions) {
        let tags: Vec<&str> = case.tags.iter().map(String::as_str).collect();
        let found = max_version(&case.revision, &tags, &case.prefix).unwrap_or_else(|error| format!("error: {error}"));
        if found != *wanted {
            failures += 1;
            println!("{:?}: {found:?}, wanted {wanted:?}", case.revision);
        }
    }
    assert_eq!(failures, 0, "revisions that stand for other tags");
}
