//! The git children: listing and fetching.
//!
//! In:  a repository, its bare clone's folder, a revision.
//! Out: git's own output, or its failure.
//! Invariant: arguments read as Argo CD's do, because they end up in conditions; everything else (remote, credentials, settings)
//! travels in the environment. Redirects are not followed, so a header with credentials stays with the host it was made for.
//! Source: REND-027, REND-033, REND-035, REND-040 (`util/git/client.go`).

use std::path::Path;
use std::time::Duration;

use super::access::{self, RepoAccess};
use crate::process::{self, Command, Limits};

/// How long git children may run.
#[derive(Debug, Clone, Copy)]
pub struct Timeouts {
    /// One listing of references (`ARGOCD_GIT_REQUEST_TIMEOUT`).
    pub list: Duration,
    /// One fetch (`ARGOCD_EXEC_TIMEOUT`).
    pub exec: Duration,
    /// Between TERM and KILL (`ARGOCD_EXEC_FATAL_TIMEOUT`).
    pub grace: Duration,
}

impl Default for Timeouts {
    fn default() -> Self {
        Self { list: Duration::from_secs(15), exec: Duration::from_secs(90), grace: Duration::from_secs(10) }
    }
}

/// A transfer slower than one byte per second for this long is dead; servers that prepare a pack send a byte every second.
const STALLED: Duration = Duration::from_secs(30);
/// More references than this fits are no repository litecd can work with.
const MAX_LISTING: usize = 128 << 20;

/// `git ls-remote`: all references with their symbolic targets, in one request.
pub async fn list(repo: &RepoAccess, timeouts: &Timeouts) -> Result<Vec<u8>, process::Error> {
    let limits = Limits { timeout: timeouts.list, grace: None, max_output: MAX_LISTING };
    // The old protocol answers with the first request; the new one needs a second round for the same list.
    let settings = [("protocol.version", "0".to_owned())];
    command(repo, &settings).args(["ls-remote", "--symref", "--", &repo.url]).limits(limits).run().await
}

/// What to fetch.
#[derive(Debug, Clone, Copy)]
pub enum Fetch<'a> {
    /// All branches and tags.
    Everything,
    /// One revision that no branch or tag brought.
    Revision(&'a str),
}

/// `git fetch` into the bare repository. `tidy` lets git repack afterwards.
pub async fn fetch(
    repo: &RepoAccess,
    bare: &Path,
    what: Fetch<'_>,
    (timeouts, tidy): (&Timeouts, bool),
) -> Result<(), process::Error> {
    let mut args = vec!["fetch".to_owned(), "origin".to_owned()];
    if let Fetch::Revision(revision) = what {
        args.push(revision.to_owned());
    }
    if repo.depth > 0 {
        args.extend(["--depth".to_owned(), repo.depth.to_string()]);
    } else {
        args.push("--tags".to_owned());
    }
    args.extend(["--force".to_owned(), "--prune".to_owned()]);
    let settings = [
        ("remote.origin.url", repo.url.clone()),
        ("remote.origin.fetch", "+refs/heads/*:refs/remotes/origin/*".to_owned()),
        ("maintenance.auto", tidy.to_string()),
        // Small fetches would be unpacked object by object, commits first: for a moment, and for ever when git is
        // killed, a commit would be there without its files. A pack appears whole or not at all.
        ("fetch.unpackLimit", "1".to_owned()),
    ];
    let limits = Limits { timeout: timeouts.exec, grace: Some(timeouts.grace), max_output: 1 << 20 };
    command(repo, &settings).args(args).env("GIT_DIR", bare).limits(limits).run().await.map(|_| ())
}

/// A git child with the fixed environment and the given settings.
fn command(repo: &RepoAccess, settings: &[(&str, String)]) -> Command {
    let mut all = vec![
        ("maintenance.autoDetach".to_owned(), "false".to_owned()),
        ("gc.autoDetach".to_owned(), "false".to_owned()),
        ("http.lowSpeedLimit".to_owned(), "1".to_owned()),
        ("http.lowSpeedTime".to_owned(), STALLED.as_secs().to_string()),
    ];
    all.extend(settings.iter().map(|(key, value)| ((*key).to_owned(), value.clone())));
    all.extend(repo.settings());
    let fixed =
        [("HOME", "/dev/null"), ("LC_ALL", "C"), ("GIT_LFS_SKIP_SMUDGE", "1"), ("GIT_TERMINAL_PROMPT", "false")];
    let command = fixed.iter().fold(Command::new("git"), |command, (name, value)| command.env(*name, value));
    let environment = access::environment(repo, &all);
    environment.into_iter().fold(command, |command, (name, value)| command.env(name, value))
}
