//! The generators over source code hosts: repositories, and pull requests.
//!
//! In:  what a host answered.
//! Out: one set per repository and branch, or per pull request.
//! Invariant: a host that may not be asked is not asked.
//! Source: SET-050 to SET-058 (`applicationset/generators/scm_provider.go`, `pull_request.go`).

use serde_json::Value;

use super::super::names::sanitized;
use super::super::params::Params;
use super::super::query::{Answer, PullRequest, Query, Repository, Stage};
use super::super::slug;
use super::{Context, Stop, add_values, is_setup, misfit, text};
use crate::api::appset::{ApplicationSetTemplate, PullRequestFilter, PullRequestGenerator, ScmProviderGenerator};
use crate::gocompat::regex::Regex;

/// Sets of a `scmProvider`.
pub fn repositories(scm: &ScmProviderGenerator, context: &Context) -> Result<Vec<Params>, Stop> {
    permitted(scm_url(scm), context).map_err(Stop::Error)?;
    let mut asked = scm.clone();
    asked.template = ApplicationSetTemplate::default();
    asked.values.clear();
    asked.requeue_after_seconds = None;
    let repositories = match context.ask(Query::ScmProvider(Box::new(asked)))? {
        Ok(Answer::Repositories(repositories)) => repositories,
        Ok(_) => return Err(misfit()),
        Err(error) if is_setup(error) => return Err(Stop::Error(error.text.clone())),
        Err(error) => return Err(Stop::Error(format!("error listing repos: {error}"))),
    };
    let with_values = |mut params| -> Result<Params, Stop> {
        add_values(&mut params, &scm.values, &context.engine)
            .map_err(|error| format!("failed to append templated values: {error}"))?;
        Ok(params)
    };
    repositories.iter().map(of_repository).map(with_values).collect()
}

fn of_repository(repository: &Repository) -> Params {
    let texts = [
        ("organization", repository.organization.clone()),
        ("repository", repository.repository.clone()),
        ("url", repository.url.clone()),
        ("branch", repository.branch.clone()),
        ("sha", repository.sha.clone()),
        ("short_sha", short(&repository.sha, 8)),
        ("short_sha_7", short(&repository.sha, 7)),
        ("labels", repository.labels.join(",")),
        ("branchNormalized", sanitized(&repository.branch)),
    ];
    let mut params: Params = texts.into_iter().map(|(key, value)| (key.to_owned(), text(value))).collect();
    params.insert("repository_id".to_owned(), repository.repository_id.clone());
    params
}

/// Sets of a `pullRequest`.
pub fn pull_requests(pulls: &PullRequestGenerator, context: &Context) -> Result<Vec<Params>, Stop> {
    const SETUP: &str = "failed to select pull request service provider: ";
    permitted(pull_request_url(pulls), context).map_err(|error| Stop::Error(format!("{SETUP}{error}")))?;
    let filters: Vec<Filter> = pulls
        .filters
        .iter()
        .map(Filter::new)
        .collect::<Result<_, _>>()
        .map_err(|error| Stop::Error(format!("error listing repos: {error}")))?;
    let mut asked = pulls.clone();
    asked.template = ApplicationSetTemplate::default();
    asked.values.clear();
    asked.requeue_after_seconds = None;
    let found = match context.ask(Query::PullRequests(Box::new(asked)))? {
        Ok(Answer::PullRequests(found)) => found,
        Ok(_) => return Err(misfit()),
        Err(error) if is_setup(error) => return Err(Stop::Error(format!("{SETUP}{error}"))),
        Err(error) if error.stage == Stage::RepositoryNotFound && pulls.continue_on_repo_not_found_error => {
            return Ok(Vec::new());
        }
        Err(error) => return Err(Stop::Error(format!("error listing repos: {error}"))),
    };
    let mut sets = Vec::new();
    for pull in found {
        if !filters.is_empty() && !matches_any(&filters, pull)? {
            continue;
        }
        let mut params = of_pull_request(pull, context.engine.go);
        add_values(&mut params, &pulls.values, &context.engine)
            .map_err(|error| format!("failed to append templated values: {error}"))?;
        sets.push(params);
    }
    Ok(sets)
}

fn of_pull_request(pull: &PullRequest, go: bool) -> Params {
    let texts = [
        ("number", pull.number.to_string()),
        ("title", pull.title.clone()),
        ("branch", pull.branch.clone()),
        ("branch_slug", slug::of_branch(&pull.branch)),
        ("target_branch", pull.target_branch.clone()),
        ("target_branch_slug", slug::of_branch(&pull.target_branch)),
        ("head_sha", pull.head_sha.clone()),
        ("head_short_sha", short(&pull.head_sha, 8)),
        ("head_short_sha_7", short(&pull.head_sha, 7)),
        ("author", pull.author.clone()),
    ];
    let mut params: Params = texts.into_iter().map(|(key, value)| (key.to_owned(), text(value))).collect();
    if go {
        params.insert("labels".to_owned(), pull.labels.iter().map(text).collect::<Value>());
    }
    params
}

fn short(sha: &str, length: usize) -> String {
    sha.chars().take(length).collect()
}

/// A filter over pull requests, ready to use.
struct Filter([Option<Regex>; 3]);

impl Filter {
    fn new(filter: &PullRequestFilter) -> Result<Self, String> {
        let compiled = |name: &str, pattern: &Option<String>| match pattern {
            Some(pattern) => Regex::new(pattern)
                .map(Some)
                .map_err(|error| format!("error compiling {name} regexp {pattern:?}: {error}")),
            None => Ok(None),
        };
        Ok(Self([
            compiled("BranchMatch", &filter.branch_match)?,
            compiled("TargetBranchMatch", &filter.target_branch_match)?,
            compiled("TitleMatch", &filter.title_match)?,
        ]))
    }
}

/// Whether all parts of a filter match.
fn matches_any(filters: &[Filter], pull: &PullRequest) -> Result<bool, Stop> {
    let texts = [&pull.branch, &pull.target_branch, &pull.title];
    for filter in filters {
        let mut matches = true;
        for (regex, text) in filter.0.iter().zip(texts) {
            if let Some(regex) = regex {
                let found = regex.is_match(text);
                matches &= found.map_err(|error| Stop::Error(format!("error listing repos: {error}")))?;
            }
        }
        if matches {
            return Ok(true);
        }
    }
    Ok(false)
}

/// Whether the host may be asked at all.
fn permitted(url: &str, context: &Context) -> Result<(), String> {
    let options = context.options;
    if !options.scm_enabled {
        return Err("scm providers are disabled".to_owned());
    }
    if url.is_empty() || options.scm_allowed.is_empty() || options.scm_allowed.iter().any(|allowed| allowed == url) {
        return Ok(());
    }
    let allowed = options.scm_allowed.join(", ");
    Err(format!("scm provider not allowed: scm provider {url:?} not allowed, must use one of the following: {allowed}"))
}

/// The URL that a generator names itself; hosts without a choice have none.
fn scm_url(scm: &ScmProviderGenerator) -> &str {
    let urls = [
        scm.github.as_ref().map(|host| &host.api),
        scm.gitlab.as_ref().map(|host| &host.api),
        scm.gitea.as_ref().map(|host| &host.api),
        scm.bitbucket_server.as_ref().map(|host| &host.api),
        scm.azure_devops.as_ref().map(|host| &host.api),
    ];
    urls.into_iter().flatten().next().map_or("", String::as_str)
}

fn pull_request_url(pulls: &PullRequestGenerator) -> &str {
    let urls = [
        pulls.github.as_ref().map(|host| &host.api),
        pulls.gitlab.as_ref().map(|host| &host.api),
        pulls.gitea.as_ref().map(|host| &host.api),
        pulls.bitbucket_server.as_ref().map(|host| &host.api),
        pulls.bitbucket.as_ref().map(|host| &host.api),
        pulls.azure_devops.as_ref().map(|host| &host.api),
    ];
    urls.into_iter().flatten().next().map_or("", String::as_str)
}
