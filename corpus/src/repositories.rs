//! Makes the repositories and charts that a case names.
//!
//! In:  folders of the case.  Out: bare repositories and packaged charts in the servers' folder.
//! Invariant: author, committer, dates and settings are fixed, so that commit hashes are those of the goldens.

use std::fs;
use std::os::unix::fs::symlink;
use std::path::Path;

use anyhow::{Context as _, Result};
use tokio::process::Command;

use crate::case::{Chart, Commit, Mirror};
use crate::child::{run, run_command};
use crate::servers::{Addresses, Servers};

impl Servers {
    /// Makes the folder `commit.from` of `case` the whole content of a repository; `minute` is the commit's time.
    pub async fn commit(&self, case: &Path, commit: &Commit, minute: usize) -> Result<()> {
        let bare = self.root.join("git").join(format!("{}.git", commit.repo));
        let work = self.root.join("work").join(&commit.repo);
        let branch = commit.branch.as_deref().unwrap_or("main");
        if !bare.exists() {
            fs::create_dir_all(&bare)?;
            fs::create_dir_all(&work)?;
            git(&bare, minute, &["init", "-q", "--bare", "."]).await?;
            git(&work, minute, &["init", "-q", "."]).await?;
            git(&work, minute, &["remote", "add", "origin", &bare.to_string_lossy()]).await?;
        }
        if has(&work, &format!("refs/heads/{branch}")).await {
            git(&work, minute, &["checkout", "-q", branch]).await?;
        } else if has(&work, "HEAD").await {
            git(&work, minute, &["checkout", "-q", "-b", branch]).await?;
        }
        empty(&work)?;
        copy_tree(&case.join(&commit.from), &work, &self.addresses)?;
        let message = commit.message.as_deref().unwrap_or(&commit.from);
        git(&work, minute, &["add", "-A", "."]).await?;
        git(&work, minute, &["commit", "-q", "--allow-empty", "-m", message]).await?;
        git(&work, minute, &["push", "-q", "-f", "origin", &format!("HEAD:refs/heads/{branch}")]).await?;
        if let Some(tag) = &commit.tag {
            git(&work, minute, &["tag", "-f", tag]).await?;
            git(&work, minute, &["push", "-q", "-f", "origin", &format!("refs/tags/{tag}")]).await?;
        }
        Ok(())
    }

    /// Serves a public repository at a commit; `$CORPUS_MIRRORS/OWNER+NAME/repo` is its git directory.
    pub async fn mirror(&self, mirror: &Mirror) -> Result<()> {
        let mirrors = std::env::var("CORPUS_MIRRORS").context("mirror: CORPUS_MIRRORS is not set")?;
        let source = Path::new(&mirrors).join(mirror.github.replace('/', "+")).join("repo/objects");
        let bare = self.root.join("git").join(format!("{}.git", mirror.repo));
        let branch = format!("refs/heads/{}", mirror.branch.as_deref().unwrap_or("main"));
        fs::create_dir_all(&bare)?;
        git(&bare, 0, &["init", "-q", "--bare", "."]).await?;
        fs::write(bare.join("objects/info/alternates"), format!("{}\n", source.display()))?;
        git(&bare, 0, &["update-ref", &branch, &mirror.commit]).await?;
        git(&bare, 0, &["symbolic-ref", "HEAD", &branch]).await
    }

    /// Packages a chart folder of `case` and renews the chart repository's index.
    pub async fn chart(&self, case: &Path, chart: &Chart) -> Result<()> {
        let scratch = tempfile::tempdir()?;
        let source = case.join(&chart.from);
        let name = source.file_name().context("chart: from names no folder")?;
        let folder = scratch.path().join(name);
        copy_tree(&source, &folder, &self.addresses)?;
        let charts = self.root.join("helm");
        let charts = charts.to_string_lossy();
        let folder = folder.to_string_lossy();
        let mut args = vec!["package", &folder, "-d", &charts];
        if let Some(version) = &chart.version {
            args.extend(["--version", version]);
        }
        run("helm", &args, scratch.path()).await?;
        run("helm", &["repo", "index", &charts, "--url", &self.addresses.helm], scratch.path()).await?;
        Ok(())
    }
}

/// Runs git with nobody's settings but these.
pub async fn git(dir: &Path, minute: usize, args: &[&str]) -> Result<()> {
    let date = format!("2026-01-01T00:{minute:02}:00Z");
    let mut command = Command::new("git");
    command.args(["-c", "init.defaultBranch=main", "-c", "core.autocrlf=false"]).args(args).current_dir(dir);
    for role in ["AUTHOR", "COMMITTER"] {
        command
            .env(format!("GIT_{role}_NAME"), "Corpus")
            .env(format!("GIT_{role}_EMAIL"), "corpus@example.com")
            .env(format!("GIT_{role}_DATE"), &date);
    }
    command.env("GIT_CONFIG_GLOBAL", "/dev/null").env("GIT_CONFIG_NOSYSTEM", "1");
    run_command(&mut command).await.map(drop)
}

async fn has(work: &Path, reference: &str) -> bool {
    run("git", &["rev-parse", "--verify", "-q", reference], work).await.is_ok()
}

/// Removes all but git's own folder.
fn empty(work: &Path) -> Result<()> {
    for entry in fs::read_dir(work)? {
        let entry = entry?;
        if entry.file_name() == ".git" {
            continue;
        }
        match entry.file_type()?.is_dir() {
            true => fs::remove_dir_all(entry.path())?,
            false => fs::remove_file(entry.path())?,
        }
    }
    Ok(())
}

/// Copies a folder with its links and modes; texts get the servers' addresses filled in.
pub fn copy_tree(from: &Path, to: &Path, addresses: &Addresses) -> Result<()> {
    fs::create_dir_all(to)?;
    for entry in fs::read_dir(from).with_context(|| format!("cannot read {}", from.display()))? {
        let entry = entry?;
        let (source, target) = (entry.path(), to.join(entry.file_name()));
        let kind = entry.file_type()?;
        if kind.is_symlink() {
            symlink(fs::read_link(&source)?, &target)?;
        } else if kind.is_dir() {
            copy_tree(&source, &target, addresses)?;
        } else {
            let bytes = match String::from_utf8(fs::read(&source)?) {
                Ok(text) => addresses.substitute(&text).into_bytes(),
                Err(binary) => binary.into_bytes(),
            };
            fs::write(&target, bytes)?;
            fs::set_permissions(&target, fs::metadata(&source)?.permissions())?;
        }
    }
    Ok(())
}
