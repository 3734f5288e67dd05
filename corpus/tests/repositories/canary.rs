//! No credential shows: not in arguments, not in files that others could read or that stay, not in logs, not in errors.
//!
//! A child process of the test does the work, because `PATH` and the log are a process's own: there, a `git` and an `ssh`
//! stand in front that write down their arguments, and git writes down those of its own children.

use std::collections::BTreeSet;
use std::fs;
use std::os::unix::fs::{MetadataExt, PermissionsExt};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use base64::Engine;
use litecd::repo::RepoAccess;
use serde_json::json;

use crate::bench::{Bench, in_child, repository, trusting};

/// Names the folder that the child works in.
const FOLDER: &str = "LITECD_CANARY";

const PASSWORD: &str = "canary-password-5d1f";
const TOKEN: &str = "canary-token-77aa";
const PROXY: &str = "canary-proxy-c0de";
const INSTALLATION: &str = "ghs-canary-4411";
const URL: &str = "canary-url-9e3b";

#[test]
fn no_credential_shows_anywhere() {
    let dir = tempfile::tempdir().unwrap();
    for program in ["git", "ssh"] {
        stand_in_front(dir.path(), program);
    }
    let variables = [(FOLDER, dir.path()), ("TMPDIR", dir.path())];
    let child = in_child("canary::work_that_is_watched", &dir.path().join("bin"), &variables);
    let said = String::from_utf8_lossy(&child.stdout).into_owned() + &String::from_utf8_lossy(&child.stderr);
    assert!(child.status.success(), "{said}");
    let read = |name: &str| fs::read_to_string(dir.path().join(name)).unwrap();
    // What is looked through must hold what was done, or nothing would be found in it.
    assert!(read("arguments").contains("git ls-remote --symref") && read("arguments").contains("ssh -i"));
    assert!(read("children").contains("git-remote-http") && read("log").contains("command failed"));
    let canaries: Vec<String> = read("canaries").lines().map(str::to_owned).collect();
    assert!(canaries.len() >= 10, "{canaries:?}");
    fs::remove_file(dir.path().join("canaries")).unwrap();
    let found = search(dir.path(), &canaries);
    assert!(found.is_empty(), "{found:?}");
    assert!(!canaries.iter().any(|canary| said.contains(canary)), "{said}");
}

/// A program that writes down its arguments and then runs the real one.
fn stand_in_front(dir: &Path, program: &str) {
    let path = std::env::var("PATH").unwrap();
    let real = std::env::split_paths(&path).map(|dir| dir.join(program)).find(|path| path.exists()).unwrap();
    let script = format!(
        "#!/bin/sh\necho \"{program} $*\" >> \"${FOLDER}/arguments\"\nGIT_TRACE=\"${FOLDER}/children\"\nexport GIT_TRACE\n\
         exec {} \"$@\"\n",
        real.display()
    );
    fs::create_dir_all(dir.join("bin")).unwrap();
    let path = dir.join("bin").join(program);
    fs::write(&path, script).unwrap();
    fs::set_permissions(path, fs::Permissions::from_mode(0o755)).unwrap();
}

/// Files below a folder that hold one of the texts.
fn search(dir: &Path, texts: &[String]) -> Vec<PathBuf> {
    let mut found = Vec::new();
    for entry in fs::read_dir(dir).into_iter().flatten().flatten() {
        let path = entry.path();
        if entry.file_type().is_ok_and(|kind| kind.is_dir()) {
            found.extend(search(&path, texts));
        } else if let Ok(bytes) = fs::read(&path) {
            let holds = |text: &String| bytes.windows(text.len()).any(|window| window == text.as_bytes());
            found.extend(texts.iter().any(holds).then_some(path));
        }
    }
    found
}

/// Does nothing unless [`no_credential_shows_anywhere`] starts it.
#[tokio::test]
async fn work_that_is_watched() {
    let Some(dir) = std::env::var_os(FOLDER).map(PathBuf::from) else { return };
    let log = Arc::new(fs::File::create(dir.join("log")).unwrap());
    let subscriber = tracing_subscriber::fmt().with_max_level(tracing::Level::TRACE).with_writer(log).finish();
    tracing::subscriber::set_global_default(subscriber).unwrap();
    let bench = Bench::new();
    let work = Work::new(&bench);
    fs::write(dir.join("canaries"), work.canaries.join("\n")).unwrap();
    let watch = Watch::start(work.canaries.clone());
    let store = bench.store();
    let mut texts = Vec::new();
    for repo in &work.repositories {
        texts.push(format!("{repo:?}"));
        let listing = store.resolve(repo, "main").await;
        let fetch = store.fetch(repo, listing.as_deref().unwrap_or("0123456789012345678901234567890123456789")).await;
        texts.push(format!("{listing:?} {fetch:?}"));
        texts.extend(listing.err().into_iter().chain(fetch.err()).map(|error| error.envelope()));
        texts.push(format!("{:?}", store.environment(repo).await));
    }
    fs::write(dir.join("errors"), texts.join("\n")).unwrap();
    let wrong = watch.stop();
    assert!(wrong.is_empty(), "{wrong:?}");
    // What is still there when the store works on; its memory folder is looked through by the watch.
    fs::write(dir.join("kept"), format!("{:?}", search(&bench.path("cache"), &work.canaries))).unwrap();
    assert_eq!(search(&bench.path("cache"), &work.canaries), Vec::<PathBuf>::new());
}

/// Repositories with every kind of credential, right and wrong, and what must not be seen of them.
struct Work {
    repositories: Vec<RepoAccess>,
    canaries: Vec<String>,
    _servers: Vec<corpus::loopback::Loopback>,
}

impl Work {
    fn new(bench: &Bench) -> Self {
        let login = json!({"user": "alice", "password": PASSWORD, "bearer": TOKEN});
        let open = bench.serve("git-https", login.clone());
        let mut refusing = login.clone();
        refusing["forbid"] = json!(true);
        let refusing = bench.serve("git-https", refusing);
        let secure = bench
            .serve("git-https", json!({"tls": true, "clientCertificate": true, "password": PASSWORD, "user": "alice"}));
        let ssh = bench.serve("git-ssh", json!({}));
        let github = json!({"app": 7, "installation": 42, "owner": "acme", "expires": 3600, "token": INSTALLATION});
        let github = bench.serve("github", github);
        let authorities = format!("{}{}", secure.say("/authority"), github.say("/authority"));
        let trust = trusting(&authorities, ssh.say("/knownHosts"));
        let mut repositories = Vec::new();
        let mut add =
            |url: String, keys: &[(&str, &str)]| repositories.push(RepoAccess::new(&repository(&url, keys), &trust));
        let password = [("username", "alice"), ("password", PASSWORD)];
        let proxy = format!("http://p:{PROXY}@127.0.0.1:9");
        for server in [&open, &refusing] {
            let url = format!("{}/app.git", server.say("/url"));
            add(url.clone(), &password);
            add(url.clone(), &[&password[..], &[("forceHttpBasicAuth", "true")]].concat());
            add(url.clone(), &[("bearerToken", TOKEN)]);
            // Wrong ones: what a wrong one looks like is a secret as well.
            add(url.clone(), &[("password", TOKEN)]);
            add(url.clone(), &[("bearerToken", PASSWORD)]);
            add(url.replace("http://", &format!("http://alice:{URL}@")), &[]);
            add(url.clone(), &[&password[..], &[("proxy", &proxy)]].concat());
        }
        let pair =
            [("tlsClientCertData", secure.say("/clientCertificate")), ("tlsClientCertKey", secure.say("/clientKey"))];
        add(format!("{}/app.git", secure.say("/url")), &[password, pair].concat());
        let url = format!("{}/app.git", ssh.say("/url"));
        for key in [ssh.say("/keys/ed25519"), ssh.say("/keys/pkcs1"), ssh.say("/stranger")] {
            add(url.clone(), &[("sshPrivateKey", key), ("proxy", "")]);
            add(url.clone(), &[("sshPrivateKey", key), ("proxy", &proxy)]);
        }
        let app = [
            ("githubAppID", "7"),
            ("githubAppInstallationID", "42"),
            ("githubAppEnterpriseBaseUrl", github.say("/url")),
        ];
        for key in [github.say("/pkcs1"), secure.say("/clientKey")] {
            let url = format!("{}/app.git", github.say("/url"));
            add(url, &[&app[..], &[("githubAppPrivateKey", key)]].concat());
        }
        let mut canaries: Vec<String> = [PASSWORD, TOKEN, PROXY, URL, INSTALLATION].map(str::to_owned).to_vec();
        let encode = |text: &str| base64::engine::general_purpose::STANDARD.encode(text);
        canaries.extend(
            [PASSWORD, TOKEN, URL, INSTALLATION]
                .iter()
                .flat_map(|word| ["alice", "x-access-token"].map(|user| encode(&format!("{user}:{word}")))),
        );
        // The second line of a key is its own; the first ones look alike.
        let keys = [
            github.say("/pkcs1"),
            secure.say("/clientKey"),
            ssh.say("/keys/ed25519"),
            ssh.say("/keys/pkcs1"),
            ssh.say("/stranger"),
        ];
        canaries.extend(keys.iter().filter_map(|key| key.lines().nth(2)).map(str::to_owned));
        Self { repositories, canaries, _servers: vec![open, refusing, secure, ssh, github] }
    }
}

/// Looks at all processes and at the memory folder again and again.
struct Watch {
    stop: Arc<AtomicBool>,
    wrong: Arc<Mutex<BTreeSet<String>>>,
    thread: std::thread::JoinHandle<usize>,
}

impl Watch {
    fn start(canaries: Vec<String>) -> Self {
        let (stop, wrong) = (Arc::new(AtomicBool::new(false)), Arc::new(Mutex::new(BTreeSet::new())));
        let (stop2, wrong2) = (stop.clone(), wrong.clone());
        let thread = std::thread::spawn(move || {
            let mut keys = 0;
            while !stop2.load(Ordering::Relaxed) {
                let mut wrong = wrong2.lock().unwrap();
                wrong
                    .extend(arguments().into_iter().filter(|line| canaries.iter().any(|canary| line.contains(canary))));
                for path in own_folders().iter().flat_map(|dir| search(dir, &canaries)) {
                    keys += 1;
                    if !is_private(&path) {
                        wrong.insert(path.display().to_string());
                    }
                }
                drop(wrong);
                std::thread::sleep(Duration::from_millis(1));
            }
            keys
        });
        Self { stop, wrong, thread }
    }

    fn stop(self) -> BTreeSet<String> {
        self.stop.store(true, Ordering::Relaxed);
        assert!(
            self.thread.join().unwrap() > 0,
            "no key was seen while it was needed: the watch looks in the wrong place"
        );
        for dir in own_folders() {
            let left: Vec<_> = fs::read_dir(&dir).unwrap().flatten().map(|entry| entry.file_name()).collect();
            assert_eq!(left, ["lock"], "files of credentials outlive their child");
        }
        self.wrong.lock().unwrap().clone()
    }
}

/// Command lines of all processes.
fn arguments() -> Vec<String> {
    let processes = fs::read_dir("/proc").into_iter().flatten().flatten();
    let lines = processes.filter_map(|entry| fs::read(entry.path().join("cmdline")).ok());
    lines.map(|line| String::from_utf8_lossy(&line).replace('\0', " ")).collect()
}

/// The memory folder of this process's store.
fn own_folders() -> Vec<PathBuf> {
    let own = |path: &PathBuf| holds_lock(&path.join("lock"));
    let folders = fs::read_dir("/dev/shm").into_iter().flatten().flatten().map(|entry| entry.path());
    folders
        .filter(|path| path.file_name().is_some_and(|name| name.to_string_lossy().starts_with("litecd-")))
        .filter(own)
        .collect()
}

/// Whether this process has the file open.
fn holds_lock(path: &Path) -> bool {
    let open = fs::read_dir("/proc/self/fd").into_iter().flatten().flatten();
    open.filter_map(|entry| fs::read_link(entry.path()).ok()).any(|open| open == path)
}

/// Whether nobody else can read a file; one that is gone is read by nobody.
fn is_private(path: &Path) -> bool {
    let mode = |path: &Path| fs::metadata(path).map(|data| data.mode() & 0o777);
    let folder = path.parent().map_or(Ok(0), mode);
    matches!(mode(path), Ok(0o600) | Err(_)) && matches!(folder, Ok(0o700) | Err(_))
}
