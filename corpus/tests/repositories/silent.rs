//! Servers that do not answer.

use std::time::{Duration, Instant};

use serde_json::json;

use crate::bench::{Bench, access};
use litecd::repo::{Options, RepoAccess, Timeouts};

#[tokio::test]
async fn many_repositories_of_a_dead_host_do_not_each_wait_for_it() {
    let bench = Bench::new();
    let timeouts = Timeouts { list: Duration::from_millis(500), ..Timeouts::default() };
    let store = bench.store_with(Options { timeouts, ..Options::default() });
    for (kind, scheme) in [("git-https", "http"), ("git-ssh", "ssh")] {
        let server = bench.serve(kind, json!({"silent": true}));
        let started = Instant::now();
        for number in 0..20 {
            let repo = access(&format!("{}/app{number}.git", server.say("/url")), &[]);
            let error = store.resolve(&repo, "main").await.unwrap_err().to_string();
            assert!(
                error.ends_with("context deadline exceeded (Client.Timeout exceeded while awaiting headers)"),
                "{error}"
            );
        }
        assert!(started.elapsed() < Duration::from_millis(2500), "{scheme}: {:?}", started.elapsed());
    }
}

#[tokio::test]
async fn a_host_that_answers_again_is_asked_again() {
    let bench = Bench::new();
    let timeouts = Timeouts { list: Duration::from_secs(2), ..Timeouts::default() };
    let store = bench.store_with(Options { timeouts, ..Options::default() });
    let server = bench.serve("git-https", json!({}));
    let place = server.say("/url").to_owned();
    // The process is stopped, so that its connections are accepted and never answered.
    let stopped = Stopped::new(&server);
    for name in ["a", "b"] {
        assert!(store.resolve(&RepoAccess::anonymous(format!("{place}/{name}.git")), "main").await.is_err());
    }
    let repo = RepoAccess::anonymous(format!("{place}/app.git"));
    drop(stopped);
    assert!(store.resolve(&repo, "main").await.is_err(), "the host is left alone for a moment");
    tokio::time::sleep(Duration::from_millis(2100)).await;
    assert_eq!(store.resolve(&repo, "main").await, Ok(bench.sha.clone()));
}

/// A server that stands still until this is dropped.
struct Stopped(u32);

impl Stopped {
    fn new(server: &corpus::loopback::Loopback) -> Self {
        signal(server.pid(), "STOP");
        Self(server.pid())
    }
}

impl Drop for Stopped {
    fn drop(&mut self) {
        signal(self.0, "CONT");
    }
}

fn signal(pid: u32, name: &str) {
    let sent = std::process::Command::new("kill").args([format!("-{name}"), pid.to_string()]).status();
    assert!(sent.unwrap().success());
}
