//! A command that a signal ends leaves neither children nor files behind.
//!
//! In:  the binary, a `git` that never answers.
//! Out: exit codes, processes and folders after the signal.
//! Invariant: the key of a repository is gone with the command that wrote it.

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use rustix::process::{Pid, Signal, kill_process, test_kill_process};

const INPUT: &str = "
apiVersion: argoproj.io/v1alpha1
kind: Application
metadata: {name: a, namespace: argocd}
spec:
  project: default
  source: {repoURL: 'git@git.example.com:a.git', path: .}
  destination: {server: https://kubernetes.default.svc, namespace: a}
---
apiVersion: v1
kind: Secret
metadata: {name: r, namespace: argocd, labels: {argocd.argoproj.io/secret-type: repository}}
stringData: {type: git, url: 'git@git.example.com:a.git', sshPrivateKey: a-key, insecure: 'true'}
";

/// Writes down its environment and its child, then hangs.
const GIT: &str = "#!/bin/sh
env > \"$SCENE/env\"
sleep 1000 &
echo $! > \"$SCENE/child.new\"
mv \"$SCENE/child.new\" \"$SCENE/child\"
wait
";

fn until(what: &str, mut holds: impl FnMut() -> bool) {
    let begun = Instant::now();
    while !holds() {
        assert!(begun.elapsed() < Duration::from_secs(30), "{what}");
        std::thread::sleep(Duration::from_millis(20));
    }
}

fn start(scene: &Path) -> Child {
    fs::create_dir_all(scene.join("bin")).unwrap();
    fs::create_dir_all(scene.join("tmp")).unwrap();
    fs::write(scene.join("bin/git"), GIT).unwrap();
    fs::set_permissions(scene.join("bin/git"), fs::Permissions::from_mode(0o755)).unwrap();
    fs::write(scene.join("input.yaml"), INPUT).unwrap();
    let path = format!("{}:{}", scene.join("bin").display(), std::env::var("PATH").unwrap());
    Command::new(env!("CARGO_BIN_EXE_litecd"))
        .arg("render")
        .arg(scene.join("input.yaml"))
        .env("PATH", path)
        .env("SCENE", scene)
        .env("TMPDIR", scene.join("tmp"))
        .stdout(Stdio::null())
        .spawn()
        .unwrap()
}

#[track_caller]
fn check(signal: Signal, code: i32) {
    let scene = tempfile::tempdir().unwrap();
    let mut litecd = start(scene.path());
    until("git was not started", || scene.path().join("child").exists());
    let env = fs::read_to_string(scene.path().join("env")).unwrap();
    let words = env.split(|letter: char| letter.is_whitespace() || "'\"=".contains(letter));
    let keys: Vec<&Path> = words.filter(|word| word.contains("/git-")).map(Path::new).collect();
    assert!(keys.iter().any(|key| key.exists()), "no key in {env}");
    let child: i32 = fs::read_to_string(scene.path().join("child")).unwrap().trim().parse().unwrap();
    kill_process(Pid::from_child(&litecd), signal).unwrap();
    let mut status = None;
    until("litecd did not end", || {
        status = litecd.try_wait().unwrap();
        status.is_some()
    });
    assert_eq!(status.and_then(|status| status.code()), Some(code));
    until("a child lives on", || is_gone(child));
    assert_eq!(fs::read_dir(scene.path().join("tmp")).unwrap().count(), 0);
    for key in keys {
        assert!(!key.exists(), "{} was left", key.display());
    }
}

/// Whether a process ended; where nobody collects orphans it may stay as a zombie.
fn is_gone(process: i32) -> bool {
    let is_zombie = fs::read_to_string(format!("/proc/{process}/stat")).is_ok_and(|stat| stat.contains(") Z "));
    is_zombie || Pid::from_raw(process).is_none_or(|process| test_kill_process(process).is_err())
}

#[test]
fn a_signal_ends_a_rendering_with_all_it_started() {
    check(Signal::TERM, 143);
    check(Signal::INT, 130);
}
