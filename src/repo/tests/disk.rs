//! Stores on disk, with repositories that real git made.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::{Duration, Instant};

use super::super::{Error, Options, RepoAccess, Revision, Store, Timeouts};

/// A repository with a work tree, and a store beside it.
struct Bench {
    dir: tempfile::TempDir,
}

impl Bench {
    fn new() -> Self {
        let bench = Self { dir: tempfile::tempdir().unwrap() };
        bench.init("app");
        bench
    }
    fn path(&self, name: &str) -> PathBuf {
        self.dir.path().join(name)
    }
    fn init(&self, name: &str) {
        fs::create_dir(self.path(name)).unwrap();
        git(&self.path(name), &["init", "-q", "-b", "main", "."]);
    }
    fn commit(&self, name: &str, files: &[(&str, &str)]) -> String {
        let dir = self.path(name);
        for (path, text) in files {
            fs::create_dir_all(dir.join(path).parent().unwrap()).unwrap();
            fs::write(dir.join(path), text).unwrap();
        }
        git(&dir, &["add", "-A"]);
        git(&dir, &["commit", "-q", "-m", "one"]);
        git(&dir, &["rev-parse", "HEAD"])
    }
    fn access(&self, name: &str) -> RepoAccess {
        RepoAccess::anonymous(self.path(name).to_string_lossy())
    }
    fn store(&self) -> Store {
        Store::new(&self.path("cache")).unwrap()
    }
}

fn git(dir: &Path, args: &[&str]) -> String {
    let base = ["-c", "user.name=T", "-c", "user.email=t@example.com", "-c", "protocol.file.allow=always"];
    let output = Command::new("git").args(base).args(args).current_dir(dir).output().unwrap();
    assert!(output.status.success(), "{args:?}: {}", String::from_utf8_lossy(&output.stderr));
    String::from_utf8(output.stdout).unwrap().trim().to_owned()
}

#[tokio::test]
async fn a_commit_is_resolved_fetched_and_checked_out() {
    let bench = Bench::new();
    let sha = bench.commit("app", &[("dir/cm.yaml", "kind: ConfigMap\n")]);
    let (store, repo) = (bench.store(), bench.access("app"));
    assert_eq!(store.resolve(&repo, "main").await.as_ref(), Ok(&sha));
    assert_eq!(store.fetch(&repo, &sha[..8]).await.as_ref(), Ok(&sha), "a short SHA is expanded");
    let checkout = store.checkout(&repo, &sha).await.unwrap();
    assert_eq!(fs::read_to_string(checkout.root.join("dir/cm.yaml")).unwrap(), "kind: ConfigMap\n");
    assert_eq!(store.checkout(&repo, &sha).await.unwrap().root, checkout.root);
}

#[tokio::test]
async fn concurrent_callers_share_one_fetch_and_one_failure() {
    let bench = Bench::new();
    let sha = bench.commit("app", &[("a", "1")]);
    let (store, repo) = (bench.store(), bench.access("app"));
    let results = futures::future::join_all((0..20).map(|_| store.fetch(&repo, &sha))).await;
    assert!(results.iter().all(|result| result.as_ref() == Ok(&sha)));
    assert_eq!(store.fetches(&repo).await, 1);
    fs::rename(bench.path("app"), bench.path("gone")).unwrap();
    let missing = "0123456789012345678901234567890123456789";
    let results = futures::future::join_all((0..20).map(|_| store.fetch(&repo, missing))).await;
    assert!(results.iter().all(|result| matches!(result, Err(Error::Fetch(_)))), "{results:?}");
    // Those who asked while the first caller tried take its failure.
    assert_eq!(store.fetches(&repo).await, 1 + 1);
    assert_eq!(store.fetch(&repo, &sha).await, Ok(sha), "what is present needs no server");
}

/// Objects that lie in the repository by themselves rather than in a pack.
fn loose_objects(bare: &Path) -> usize {
    let folders = fs::read_dir(bare.join("objects")).unwrap().flatten();
    let loose = folders.filter(|folder| folder.file_name().len() == 2);
    loose.map(|folder| fs::read_dir(folder.path()).unwrap().count()).sum()
}

#[tokio::test]
async fn a_commit_never_appears_before_its_files() {
    let bench = Bench::new();
    let (store, repo) = (bench.store(), bench.access("app"));
    for text in ["1", "2", "3"] {
        let sha = bench.commit("app", &[("a", text), ("dir/b", text)]);
        store.fetch(&repo, &sha).await.unwrap();
        let bare = fs::read_dir(bench.path("cache").join("git")).unwrap().flatten().next().unwrap().path();
        // Loose objects are written one by one, the commit first; a pack appears whole.
        assert_eq!(loose_objects(&bare), 0);
        assert!(store.checkout(&repo, &sha).await.is_ok());
    }
}

#[tokio::test]
async fn callers_of_one_tree_that_cannot_be_written_all_get_the_error_and_then_the_tree() {
    let bench = Bench::new();
    let sha = bench.commit("app", &[("a", "1")]);
    let (store, repo) = (bench.store(), bench.access("app"));
    let missing = "0123456789012345678901234567890123456789";
    store.fetch(&repo, &sha).await.unwrap();
    let results = futures::future::join_all((0..20).map(|_| store.checkout(&repo, missing))).await;
    assert!(results.iter().all(Result::is_err));
    let results = futures::future::join_all((0..20).map(|_| store.checkout(&repo, &sha))).await;
    assert!(results.iter().all(Result::is_ok), "{results:?}");
}

#[tokio::test]
async fn a_listing_is_never_older_than_asked_for() {
    let bench = Bench::new();
    let first = bench.commit("app", &[("a", "1")]);
    let (store, repo) = (bench.store(), bench.access("app"));
    assert_eq!(store.resolve(&repo, "main").await.as_ref(), Ok(&first));
    let second = bench.commit("app", &[("a", "2")]);
    let old_will_do = Revision { text: "main", max_age: Duration::from_secs(60), ..Revision::default() };
    assert_eq!(store.resolve(&repo, old_will_do).await, Ok(first));
    assert_eq!(store.resolve(&repo, "main").await, Ok(second));
}

#[tokio::test]
async fn a_silent_server_costs_one_timeout_for_all_callers() {
    let listener = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    let repo = RepoAccess::anonymous(format!("http://{}/app.git", listener.local_addr().unwrap()));
    let bench = Bench::new();
    let timeouts = Timeouts { list: Duration::from_millis(400), ..Timeouts::default() };
    let options = Options { timeouts, ..Options::default() };
    let store = Store::with_options(&bench.path("cache"), options).unwrap();
    let started = Instant::now();
    let results = futures::future::join_all((0..10).map(|_| store.resolve(&repo, "main"))).await;
    for result in results {
        assert!(result.unwrap_err().to_string().contains("context deadline exceeded"));
    }
    // Whoever asks soon after is told at once, and whoever asks later makes the server be asked again.
    assert!(store.resolve(&repo, "main").await.is_err());
    assert!(started.elapsed() < Duration::from_millis(700), "{:?}", started.elapsed());
    tokio::time::sleep(Duration::from_millis(450)).await;
    let again = Instant::now();
    assert!(store.resolve(&repo, "main").await.is_err());
    assert!(again.elapsed() > Duration::from_millis(350), "{:?}", again.elapsed());
}

#[tokio::test]
async fn links_out_of_the_repository_are_refused() {
    for (target, is_refused) in
        [("/etc/passwd", true), ("../../x", true), ("../dir/../../app/x", true), ("../dir/x", false), ("absent", false)]
    {
        let bench = Bench::new();
        fs::create_dir(bench.path("app/dir")).unwrap();
        std::os::unix::fs::symlink(target, bench.path("app/dir/link")).unwrap();
        let sha = bench.commit("app", &[("a", "1")]);
        let (store, repo) = (bench.store(), bench.access("app"));
        store.fetch(&repo, &sha).await.unwrap();
        let result = store.checkout(&repo, &sha).await;
        let expect = Error::OutOfBoundsLink("dir/link".to_owned());
        assert_eq!(result.err(), is_refused.then_some(expect), "{target}");
    }
}

#[tokio::test]
async fn submodules_are_part_of_the_tree() {
    let bench = Bench::new();
    bench.init("lib");
    bench.commit("lib", &[("lib.yaml", "kind: Secret\n")]);
    bench.commit("app", &[("a", "1")]);
    git(&bench.path("app"), &["submodule", "--quiet", "add", "../lib", "vendor/lib"]);
    let sha = bench.commit("app", &[("b", "2")]);
    let (store, repo) = (bench.store(), bench.access("app"));
    store.fetch(&repo, &sha).await.unwrap();
    let checkout = store.checkout(&repo, &sha).await.unwrap();
    assert_eq!(fs::read_to_string(checkout.root.join("vendor/lib/lib.yaml")).unwrap(), "kind: Secret\n");
    fs::rename(bench.path("lib"), bench.path("gone")).unwrap();
    fs::remove_dir_all(bench.path("cache")).unwrap();
    let store = bench.store();
    store.fetch(&repo, &sha).await.unwrap();
    let error = store.checkout(&repo, &sha).await.unwrap_err();
    assert!(matches!(error, Error::Submodule(_)), "a tree without its submodule is no tree: {error}");
}

#[tokio::test]
async fn unused_checkouts_are_removed_and_used_ones_stay() {
    let bench = Bench::new();
    let options = Options { keep_checkouts: 2, ..Options::default() };
    let store = Store::with_options(&bench.path("cache"), options).unwrap();
    let repo = bench.access("app");
    let mut roots = Vec::new();
    let mut held = None;
    for text in ["1", "2", "3", "4"] {
        let sha = bench.commit("app", &[("a", text)]);
        store.fetch(&repo, &sha).await.unwrap();
        let checkout = store.checkout(&repo, &sha).await.unwrap();
        roots.push(checkout.root.clone());
        held = held.or(Some(checkout));
    }
    let present: Vec<bool> = roots.iter().map(|root| root.exists()).collect();
    assert_eq!(present, [true, false, false, true]);
    drop(held);
}

#[tokio::test]
async fn changed_files_name_both_ends_of_a_move() {
    let bench = Bench::new();
    let from = bench.commit("app", &[("old/cm.yaml", "kind: ConfigMap\ndata: {a: b}\n"), ("same", "1")]);
    git(&bench.path("app"), &["mv", "old", "new"]);
    let to = bench.commit("app", &[("added", "1")]);
    let (store, repo) = (bench.store(), bench.access("app"));
    let changed = store.changed_files(&repo, &from, &to).await;
    assert_eq!(changed, Ok(["added", "new/cm.yaml", "old/cm.yaml"].map(str::to_owned).to_vec()));
    assert_eq!(store.changed_files(&repo, "main", &to).await, Err(Error::NotASha));
}

#[tokio::test]
async fn folders_of_processes_that_ended_are_removed() {
    let bench = Bench::new();
    let abandoned = bench.path("cache/run-old");
    fs::create_dir_all(abandoned.join("trees")).unwrap();
    fs::write(abandoned.join("lock"), "").unwrap();
    let (first, second) = (bench.store(), bench.store());
    assert!(!abandoned.exists());
    assert!(first.scratch().exists() && second.scratch().exists(), "a live process keeps its folder");
}

#[tokio::test]
async fn text_that_is_no_sha_never_reaches_git() {
    let bench = Bench::new();
    bench.commit("app", &[("a", "1")]);
    let (store, repo) = (bench.store(), bench.access("app"));
    let result = store.fetch(&repo, "--upload-pack=touch x").await;
    assert_eq!(result, Err(Error::Unresolved("--upload-pack=touch x".to_owned())));
}
