//! The recorded cases: reads them, and replays their commits into local repositories.
//!
//! In:  a case folder (`case.yaml`, `golden*.yaml`, files that steps name).
//! Out: bare repositories with the same commit hashes that were recorded.
//! Invariant: author, dates and messages are those of the recorder; `${GIT}` stands for the recorder's own server.

use std::collections::BTreeMap;
use std::fs;
use std::os::unix::fs::{PermissionsExt, symlink};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use serde_json::Value;

/// The server that cases were recorded with.
pub const GIT: &str = "http://127.0.0.1:30080/git";
const HELM: &str = "http://127.0.0.1:30080/helm";

/// Where the cases are; `None` when they are not at hand.
pub fn root() -> Option<PathBuf> {
    let reference = std::env::var_os("LITECD_REFERENCE").map(|dir| PathBuf::from(dir).join("corpus"));
    let own = Path::new(env!("CARGO_MANIFEST_DIR")).join("corpus/cases");
    [reference, Some(own)].into_iter().flatten().find(|dir| dir.is_dir())
}

/// One case.
pub struct Case {
    pub name: String,
    pub dir: PathBuf,
    pub spec: Value,
    pub goldens: Vec<Value>,
}

impl Case {
    /// All cases, by name.
    pub fn all(root: &Path) -> Vec<Self> {
        let folders = |dir: &Path| -> Vec<PathBuf> {
            let mut paths: Vec<_> = fs::read_dir(dir).unwrap().map(|entry| entry.unwrap().path()).collect();
            paths.retain(|path| path.is_dir());
            paths.sort();
            paths
        };
        let cases = folders(root).into_iter().flat_map(|area| folders(&area));
        cases.filter(|dir| dir.join("case.yaml").exists()).map(|dir| Self::read(&dir)).collect()
    }

    fn read(dir: &Path) -> Self {
        let part = |path: &Path| path.file_name().unwrap().to_string_lossy().into_owned();
        // The recorder writes YAML in which `y` and `n` are texts, unlike the YAML of manifests.
        let read = |path: &Path| serde_yaml::from_str(&substitute(&fs::read_to_string(path).unwrap())).unwrap();
        let mut goldens: Vec<PathBuf> = fs::read_dir(dir).unwrap().map(|entry| entry.unwrap().path()).collect();
        goldens.retain(|path| part(path).starts_with("golden") && part(path).ends_with(".yaml"));
        goldens.sort();
        Self {
            name: format!("{}/{}", part(dir.parent().unwrap()), part(dir)),
            dir: dir.to_owned(),
            spec: read(&dir.join("case.yaml")),
            goldens: goldens.iter().map(|path| read(path)).collect(),
        }
    }

    /// The case's `argocd-cm` at its start.
    pub fn settings(&self) -> BTreeMap<String, String> {
        texts(self.spec.pointer("/config/cm"))
    }
}

/// Applies a `patch` step on `argocd-cm` to settings.
pub fn patch_settings(settings: &mut BTreeMap<String, String>, patch: &Value) {
    let is = |key: &str, value: &str| patch.get(key).and_then(Value::as_str) == Some(value);
    if is("kind", "ConfigMap") && is("name", "argocd-cm") {
        settings.extend(texts(patch.pointer("/merge/data")));
    }
}

fn texts(map: Option<&Value>) -> BTreeMap<String, String> {
    let entries = map.and_then(Value::as_object).into_iter().flatten();
    entries.filter_map(|(key, value)| Some((key.clone(), value.as_str()?.to_owned()))).collect()
}

fn substitute(text: &str) -> String {
    text.replace("${GIT}", GIT).replace("${HELM}", HELM)
}

/// Local bare repositories, by the name they have on the recorder's server.
pub struct Repositories {
    root: PathBuf,
    commits: u32,
}

impl Repositories {
    pub fn new(root: &Path) -> Self {
        Self { root: root.to_owned(), commits: 0 }
    }

    /// The local path of a repository's URL.
    pub fn local(&self, url: &str) -> Option<String> {
        let path = url.split_once("127.0.0.1:30080/git/").map(|(_, path)| path)?;
        let path = path.strip_suffix(".git").unwrap_or(path);
        Some(self.root.join("git").join(format!("{path}.git")).to_string_lossy().into_owned())
    }

    /// The `commit` step: the folder becomes the whole content of the branch.
    pub fn commit(&mut self, case: &Path, step: &Value) {
        let text = |key: &str| step.get(key).and_then(Value::as_str);
        let (repo, from) = (text("repo").unwrap(), text("from").unwrap());
        let branch = text("branch").unwrap_or("main");
        let (bare, work) = (self.root.join("git").join(format!("{repo}.git")), self.root.join("work").join(repo));
        if !bare.exists() {
            fs::create_dir_all(&bare).unwrap();
            self.git(&bare, &["init", "--bare", "."]);
            fs::create_dir_all(&work).unwrap();
            self.git(&work, &["init", "."]);
            self.git(&work, &["remote", "add", "origin", bare.to_str().unwrap()]);
        }
        if self.has(&work, &format!("refs/heads/{branch}")) {
            self.git(&work, &["checkout", "-q", branch]);
        } else if self.has(&work, "HEAD") {
            self.git(&work, &["checkout", "-q", "-b", branch]);
        }
        for entry in fs::read_dir(&work).unwrap() {
            let path = entry.unwrap().path();
            if path.ends_with(".git") {
                continue;
            }
            let is_folder = path.symlink_metadata().unwrap().is_dir();
            if is_folder { fs::remove_dir_all(&path) } else { fs::remove_file(&path) }.unwrap();
        }
        copy_tree(&case.join(from), &work);
        self.git(&work, &["add", "-A", "."]);
        self.git(&work, &["commit", "-q", "--allow-empty", "-m", text("message").unwrap_or(from)]);
        self.git(&work, &["push", "-q", "-f", "origin", &format!("HEAD:refs/heads/{branch}")]);
        if let Some(tag) = text("tag") {
            self.git(&work, &["tag", "-f", tag]);
            self.git(&work, &["push", "-q", "-f", "origin", &format!("refs/tags/{tag}")]);
        }
        self.commits += 1;
    }

    fn has(&self, work: &Path, revision: &str) -> bool {
        let output = Command::new("git").args(["rev-parse", "--verify", "-q", revision]).current_dir(work).output();
        output.unwrap().status.success()
    }

    fn git(&self, dir: &Path, args: &[&str]) {
        let date = format!("2026-01-01T00:{:02}:00Z", self.commits);
        let mut command = Command::new("git");
        command.args(["-c", "init.defaultBranch=main", "-c", "core.autocrlf=false"]).args(args).current_dir(dir);
        for role in ["AUTHOR", "COMMITTER"] {
            command.env(format!("GIT_{role}_NAME"), "Corpus").env(format!("GIT_{role}_EMAIL"), "corpus@example.com");
            command.env(format!("GIT_{role}_DATE"), &date);
        }
        command.env("GIT_CONFIG_GLOBAL", "/dev/null").env("GIT_CONFIG_NOSYSTEM", "1").stdout(Stdio::null());
        let output = command.output().unwrap();
        assert!(output.status.success(), "git {args:?}: {}", String::from_utf8_lossy(&output.stderr));
    }
}

fn copy_tree(from: &Path, to: &Path) {
    for entry in fs::read_dir(from).unwrap() {
        let entry = entry.unwrap();
        let (source, target, kind) = (entry.path(), to.join(entry.file_name()), entry.file_type().unwrap());
        if kind.is_symlink() {
            symlink(fs::read_link(&source).unwrap(), &target).unwrap();
        } else if kind.is_dir() {
            fs::create_dir_all(&target).unwrap();
            copy_tree(&source, &target);
        } else {
            let bytes = fs::read(&source).unwrap();
            let bytes =
                String::from_utf8(bytes).map_or_else(|error| error.into_bytes(), |text| substitute(&text).into());
            fs::write(&target, bytes).unwrap();
            let mode = source.metadata().unwrap().permissions().mode();
            fs::set_permissions(&target, fs::Permissions::from_mode(mode)).unwrap();
        }
    }
}
