//! The git children: listing and fetching.
//!
//! In:  a repository, the login for it, its bare clone's folder, a revision.
//! Out: git's own output, or its failure.
//! Invariant: arguments read as Argo CD's do, because they end up in conditions; everything else (remote, credentials, settings)
//! travels in the environment. Redirects are not followed, so a header with credentials stays with the host it was made for.
//! Source: REND-027, REND-033, REND-035, REND-040 (`util/git/client.go`).

use std::path::Path;
use std::time::Duration;

use super::access::RepoAccess;
use super::environment::{Environment, Purpose};
use super::error::Failure;
use super::login::Login;
use crate::process::{Command, Limits};

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

/// A repository that can be talked to now: tokens that its login needs are there.
#[derive(Debug, Clone, Copy)]
pub struct Remote<'a> {
    /// The repository.
    pub repo: &'a RepoAccess,
    /// How git logs in.
    pub login: &'a Login,
    /// Folder that nobody else can read, for files of credentials.
    pub private: &'a Path,
    /// How long git children may run.
    pub timeouts: &'a Timeouts,
}

/// `git ls-remote`: all references with their symbolic targets, in one request.
pub async fn list(remote: Remote<'_>) -> Result<Vec<u8>, Failure> {
    let limits = Limits { timeout: remote.timeouts.list, grace: None, max_output: MAX_LISTING };
    // The old protocol answers with the first request; the new one needs a second round for the same list.
    let settings = [("protocol.version", "0".to_owned())];
    let (command, environment) = command(remote, Purpose::Listing, &settings)?;
    let listing = command.args(["ls-remote", "--symref", "--", &remote.repo.url]).limits(limits).run().await;
    drop(environment);
    Ok(listing?)
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
pub async fn fetch(remote: Remote<'_>, bare: &Path, what: Fetch<'_>, tidy: bool) -> Result<(), Failure> {
    let mut args = vec!["fetch".to_owned(), "origin".to_owned()];
    if let Fetch::Revision(revision) = what {
        args.push(revision.to_owned());
    }
    if remote.repo.depth > 0 {
        args.extend(["--depth".to_owned(), remote.repo.depth.to_string()]);
    } else {
        args.push("--tags".to_owned());
    }
    args.extend(["--force".to_owned(), "--prune".to_owned()]);
    let settings = [
        ("remote.origin.url", remote.repo.url.clone()),
        ("remote.origin.fetch", "+refs/heads/*:refs/remotes/origin/*".to_owned()),
        ("maintenance.auto", tidy.to_string()),
        // Small fetches would be unpacked object by object, commits first: for a moment, and for ever when git is
        // killed, a commit would be there without its files. A pack appears whole or not at all.
        ("fetch.unpackLimit", "1".to_owned()),
    ];
    let (command, environment) = command(remote, Purpose::Fetching, &settings)?;
    let outcome = command.args(args).env("GIT_DIR", bare).limits(fetch_limits(remote.timeouts)).run().await;
    drop(environment);
    Ok(outcome.map(|_| ())?)
}

/// `git lfs fetch`: the content of the large files of a commit, into the bare repository.
pub async fn fetch_large_files(remote: Remote<'_>, bare: &Path, commit: &str) -> Result<(), Failure> {
    let settings = [("remote.origin.url", remote.repo.url.clone())];
    let (command, environment) = command(remote, Purpose::Fetching, &settings)?;
    let command = command.args(["lfs", "fetch", "origin", commit]).env("GIT_DIR", bare);
    let outcome = command.limits(fetch_limits(remote.timeouts)).run().await;
    drop(environment);
    Ok(outcome.map(|_| ())?)
}

fn fetch_limits(timeouts: &Timeouts) -> Limits {
    Limits { timeout: timeouts.exec, grace: Some(timeouts.grace), max_output: 1 << 20 }
}

/// A git child with the fixed environment and the given settings, and what it must outlive.
fn command(
    remote: Remote<'_>,
    purpose: Purpose,
    settings: &[(&str, String)],
) -> Result<(Command, Environment), Failure> {
    let mut all = vec![
        ("maintenance.autoDetach".to_owned(), "false".to_owned()),
        ("gc.autoDetach".to_owned(), "false".to_owned()),
        ("http.lowSpeedLimit".to_owned(), "1".to_owned()),
        ("http.lowSpeedTime".to_owned(), STALLED.as_secs().to_string()),
        ("http.followRedirects".to_owned(), "false".to_owned()),
    ];
    all.extend(settings.iter().map(|(key, value)| ((*key).to_owned(), value.clone())));
    let environment = Environment::new(remote.repo, remote.login, (remote.private, purpose), &all);
    let environment = environment.map_err(|error| Failure::Credentials(format!("writing credentials: {error}")))?;
    let fixed = [("HOME", "/dev/null"), ("LC_ALL", "C"), ("GIT_LFS_SKIP_SMUDGE", "1")];
    let command = fixed.iter().fold(Command::new("git"), |command, (name, value)| command.env(*name, value));
    Ok((environment.give(command), environment))
}
