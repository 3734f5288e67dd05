//! Which repositories, branches and pull requests a generator keeps.
//!
//! In:  filters of a generator, what a host lists.
//! Out: what any of the filters keeps.
//! Invariant: a host is asked for paths only where the patterns of the same filter match.
//! Source: SET-040, SET-050 (`applicationset/services/{scm_provider,pull_request}/utils.go`).

use super::{PullRequest, Repository};
use crate::api::appset::{PullRequestFilter, ScmFilter};
use crate::gocompat::regex::Regex;
use crate::gocompat::strconv::quote;

/// What a host can be asked.
pub trait Host {
    /// All repositories, each with its default branch.
    async fn list(&self, protocol: &str) -> Result<Vec<Repository>, String>;
    /// The branches of a repository that count.
    async fn branches(&self, of: &Repository) -> Result<Vec<Repository>, String>;
    /// Whether a path exists on a branch.
    async fn has_path(&self, of: &Repository, path: &str) -> Result<bool, String>;
}

fn compile(name: &str, pattern: Option<&String>) -> Result<Option<Regex>, String> {
    let made = pattern.map(|pattern| {
        Regex::new(pattern).map_err(|error| format!("error compiling {name} regexp {}: {error}", quote(pattern)))
    });
    made.transpose()
}

/// Whether a pattern matches; no pattern matches everything.
fn matches(pattern: Option<&Regex>, text: &str) -> Result<bool, String> {
    pattern.map_or(Ok(true), |pattern| pattern.is_match(text).map_err(|error| error.to_string()))
}

struct Filter<'a> {
    repository: Option<Regex>,
    label: Option<Regex>,
    branch: Option<Regex>,
    exist: &'a [String],
    do_not_exist: &'a [String],
}

impl<'a> Filter<'a> {
    fn new(from: &'a ScmFilter) -> Result<Self, String> {
        Ok(Self {
            repository: compile("RepositoryMatch", from.repository_match.as_ref())?,
            label: compile("LabelMatch", from.label_match.as_ref())?,
            branch: compile("BranchMatch", from.branch_match.as_ref())?,
            exist: &from.paths_exist,
            do_not_exist: &from.paths_do_not_exist,
        })
    }

    /// Whether it needs to know the branch.
    fn is_of_branches(&self) -> bool {
        self.branch.is_some() || !self.exist.is_empty() || !self.do_not_exist.is_empty()
    }

    fn is_of_repositories(&self) -> bool {
        !self.is_of_branches() && (self.repository.is_some() || self.label.is_some())
    }

    async fn keeps(&self, host: &impl Host, found: &Repository) -> Result<bool, String> {
        if !matches(self.repository.as_ref(), &found.repository)? || !matches(self.branch.as_ref(), &found.branch)? {
            return Ok(false);
        }
        if self.label.is_some() {
            let mut has_label = false;
            for label in &found.labels {
                has_label = has_label || matches(self.label.as_ref(), label)?;
            }
            if !has_label {
                return Ok(false);
            }
        }
        let wanted =
            self.exist.iter().map(|path| (path, true)).chain(self.do_not_exist.iter().map(|path| (path, false)));
        for (path, exists) in wanted {
            if host.has_path(found, path.trim_end_matches('/')).await? != exists {
                return Ok(false);
            }
        }
        Ok(true)
    }
}

/// Lists what a host has and keeps what the filters keep: first repositories, then their branches.
pub async fn keep(host: &impl Host, filters: &[ScmFilter], protocol: &str) -> Result<Vec<Repository>, String> {
    let filters = filters.iter().map(Filter::new).collect::<Result<Vec<_>, _>>()?;
    let (of_branches, others): (Vec<_>, Vec<_>) = filters.into_iter().partition(Filter::is_of_branches);
    let of_repositories: Vec<_> = others.into_iter().filter(Filter::is_of_repositories).collect();
    let mut branches = Vec::new();
    for repository in kept(host, &of_repositories, host.list(protocol).await?).await? {
        branches.extend(host.branches(&repository).await?);
    }
    kept(host, &of_branches, branches).await
}

async fn kept(host: &impl Host, filters: &[Filter<'_>], found: Vec<Repository>) -> Result<Vec<Repository>, String> {
    if filters.is_empty() {
        return Ok(found);
    }
    let mut kept = Vec::new();
    for one in found {
        for filter in filters {
            if filter.keeps(host, &one).await? {
                kept.push(one);
                break;
            }
        }
    }
    Ok(kept)
}

/// Compiled filters of pull requests.
pub struct PullFilters(Vec<[Option<Regex>; 3]>);

impl PullFilters {
    /// Compiles filters.
    ///
    /// # Errors
    /// A pattern is wrong; the text is Argo CD's.
    pub fn new(filters: &[PullRequestFilter]) -> Result<Self, String> {
        let compiled = filters.iter().map(|filter| {
            Ok([
                compile("BranchMatch", filter.branch_match.as_ref())?,
                compile("TargetBranchMatch", filter.target_branch_match.as_ref())?,
                compile("TitleMatch", filter.title_match.as_ref())?,
            ])
        });
        compiled.collect::<Result<_, String>>().map(Self)
    }

    fn keeps(&self, found: &PullRequest) -> Result<bool, String> {
        for [branch, target, title] in &self.0 {
            if matches(branch.as_ref(), &found.branch)?
                && matches(target.as_ref(), &found.target_branch)?
                && matches(title.as_ref(), &found.title)?
            {
                return Ok(true);
            }
        }
        Ok(self.0.is_empty())
    }
}

/// The pull requests that any of the filters keeps.
///
/// # Errors
/// A pattern takes too long.
pub fn keep_pull_requests(filters: &PullFilters, found: Vec<PullRequest>) -> Result<Vec<PullRequest>, String> {
    let mut kept = Vec::new();
    for one in found {
        if filters.keeps(&one)? {
            kept.push(one);
        }
    }
    Ok(kept)
}

/// Whether all wanted labels are there.
pub fn has_labels(wanted: &[String], found: &[String]) -> bool {
    wanted.iter().all(|label| found.contains(label))
}
