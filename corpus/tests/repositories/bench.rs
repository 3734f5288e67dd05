//! What the tests share: a folder of bare repositories, a store, Secrets.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};
use std::sync::Arc;

use corpus::loopback::Loopback;
use litecd::repo::{Error, Options, RepoAccess, Store};
use litecd::settings::{Repositories, Repository, Secret, Trust, secret, trust};
use serde_json::{Value, json};

/// A bare repository `app.git` with one commit, and a store beside it.
pub struct Bench {
    dir: tempfile::TempDir,
    /// The commit on branch `main`.
    pub sha: String,
}

impl Bench {
    pub fn new() -> Self {
        let mut bench = Self { dir: tempfile::tempdir().unwrap(), sha: String::new() };
        bench.sha = bench.repository("app", &[("cm.yaml", "kind: ConfigMap\n")]);
        bench
    }

    /// Makes a bare repository `git/NAME.git` with one commit on `main`, and returns the commit.
    pub fn repository(&self, name: &str, files: &[(&str, &str)]) -> String {
        let (work, bare) = (self.path("work").join(name), self.root().join(format!("{name}.git")));
        fs::create_dir_all(&work).unwrap();
        fs::create_dir_all(self.root()).unwrap();
        git(&work, &["init", "-q", "-b", "main", "."]);
        for (path, text) in files {
            fs::create_dir_all(work.join(path).parent().unwrap()).unwrap();
            fs::write(work.join(path), text).unwrap();
        }
        git(&work, &["add", "-A"]);
        git(&work, &["commit", "-q", "-m", "one"]);
        git(&work, &["clone", "-q", "--bare", ".", &bare.to_string_lossy()]);
        git(&work, &["rev-parse", "HEAD"])
    }

    pub fn path(&self, name: &str) -> PathBuf {
        self.dir.path().join(name)
    }

    /// The folder that servers serve.
    pub fn root(&self) -> PathBuf {
        self.path("git")
    }

    /// Starts a server of these repositories; `config` is completed with their folder and a journal.
    pub fn serve(&self, kind: &str, mut config: Value) -> Loopback {
        config["root"] = json!(self.root());
        config["journal"] = json!(self.path("journal"));
        Loopback::start(kind, &config).unwrap()
    }

    /// What servers saw since the last call.
    pub fn journal(&self) -> Vec<String> {
        let text = fs::read_to_string(self.path("journal")).unwrap_or_default();
        let _ = fs::write(self.path("journal"), "");
        text.lines().map(str::to_owned).collect()
    }

    pub fn store(&self) -> Store {
        Store::new(&self.path("cache")).unwrap()
    }

    pub fn store_with(&self, options: Options) -> Store {
        Store::with_options(&self.path("cache"), options).unwrap()
    }
}

/// Runs git with nobody's settings.
pub fn git(dir: &Path, args: &[&str]) -> String {
    let fixed = ["-c", "user.name=T", "-c", "user.email=t@example.com"];
    let mut command = Command::new("git");
    command.args(fixed).args(args).current_dir(dir).env("GIT_CONFIG_GLOBAL", "/dev/null");
    let output = command.output().unwrap();
    assert!(output.status.success(), "{args:?}: {}", String::from_utf8_lossy(&output.stderr));
    String::from_utf8(output.stdout).unwrap().trim().to_owned()
}

/// Runs a test of this binary in a process of its own, in whose `PATH` a folder comes first.
pub fn in_child(test: &str, first: &Path, variables: &[(&str, &Path)]) -> Output {
    let path = format!("{}:{}", first.display(), std::env::var("PATH").unwrap());
    let mut command = Command::new(std::env::current_exe().unwrap());
    command.args(["--exact", test, "--nocapture"]).env("PATH", path);
    command.envs(variables.iter().copied()).output().unwrap()
}

/// A labelled Secret.
pub fn secret(kind: &str, data: &[(&str, &str)]) -> Secret {
    Secret {
        name: format!("{kind}-{}", data.len()),
        labels: BTreeMap::from([(secret::SECRET_TYPE.to_owned(), kind.to_owned())]),
        annotations: BTreeMap::new(),
        data: data.iter().map(|(key, value)| ((*key).to_owned(), value.as_bytes().to_vec())).collect(),
    }
}

/// The repository at a URL whose Secret has these keys.
pub fn repository(url: &str, data: &[(&str, &str)]) -> Repository {
    let keys = [&[("url", url)], data].concat();
    Repositories::from_secrets([&secret("repository", &keys)]).get(url, "default").unwrap()
}

/// Access to the repository at a URL whose Secret has these keys.
pub fn access(url: &str, data: &[(&str, &str)]) -> RepoAccess {
    RepoAccess::new(&repository(url, data), &Arc::default())
}

/// Certificates for the loopback address, and host keys.
pub fn trusting(authority: &str, known_hosts: &str) -> Arc<Trust> {
    let mut trust = Trust::default();
    let map = |key: &str, text: &str| BTreeMap::from([(key.to_owned(), text.to_owned())]);
    trust.set(trust::TLS_CERTIFICATES, map("127.0.0.1", authority));
    trust.set(trust::SSH_KNOWN_HOSTS, map("ssh_known_hosts", known_hosts));
    Arc::new(trust)
}

/// Lists, fetches and checks out `main`; the commit.
pub async fn reach(store: &Store, repo: &RepoAccess) -> Result<String, Error> {
    let sha = store.fetch(repo, &store.resolve(repo, "main").await?).await?;
    let checkout = store.checkout(repo, &sha).await?;
    assert!(checkout.root.join("cm.yaml").exists());
    Ok(sha)
}

/// The error of a listing, and of a fetch of a commit that needs no listing.
pub async fn refusals(store: &Store, repo: &RepoAccess) -> (String, String) {
    let commit = "0123456789012345678901234567890123456789";
    let listing = store.resolve(repo, "main").await.unwrap_err();
    (listing.to_string(), store.fetch(repo, commit).await.unwrap_err().to_string())
}
