//! GitLab.
//!
//! In:  a group or a project.
//! Out: projects, branches, merge requests.
//! Source: `scm_provider/gitlab.go`, `pull_request/gitlab.go`; client-go v1.46.0.

use std::time::Duration;

use serde::Deserialize;
use serde::de::DeserializeOwned;
use serde_json::Value;

use super::filter::Host;
use super::session::{PATIENCE, Reply, Session};
use super::{Access, Error, PullRequest, Repository};
use crate::api::appset::{PullRequestGitlab, ScmGitlab};
use crate::gocompat::url::{path_escape, query_escape};
use crate::http::Trust;

/// How often a request is repeated when the server is overloaded, and the first pause; each further one is longer by it.
const REPEATS: u32 = 5;
const PAUSE: Duration = Duration::from_millis(800);

struct Api {
    session: Session,
    /// Ends with a slash.
    base: String,
}

/// Why a request failed.
enum Refused {
    NotFound,
    Other(String),
}

impl Refused {
    fn text(self) -> String {
        match self {
            Self::NotFound => "404 Not Found".to_owned(),
            Self::Other(text) => text,
        }
    }
}

impl Api {
    fn new(url: &str, insecure: bool, access: &Access<'_>) -> Result<Self, Error> {
        let url = if url.is_empty() { "https://gitlab.com" } else { url };
        let mut base = format!("{}/", url.trim_end_matches('/'));
        if !base.ends_with("/api/v4/") {
            base.push_str("api/v4/");
        }
        let trust = Trust { authorities: access.authorities.to_owned(), insecure, ..Trust::default() };
        let session = Session::new(&base, trust, PATIENCE).map_err(Error::Setup)?;
        Ok(Self { session: session.with("accept", "application/json").with("private-token", access.secret), base })
    }

    async fn read(&self, place: &str) -> Result<Reply, Refused> {
        let url = format!("{}{place}", self.base);
        let mut repeated = 0;
        loop {
            let reply = self.session.get(&url).await.map_err(Refused::Other)?;
            let is_overloaded = reply.status.as_u16() == 429 || reply.status.is_server_error();
            if !is_overloaded || repeated == REPEATS {
                return checked(reply);
            }
            repeated += 1;
            tokio::time::sleep(PAUSE * repeated).await;
        }
    }

    /// All pages of a list; `query` holds what comes before and after the page, in order.
    async fn pages<T: DeserializeOwned>(
        &self,
        place: &str,
        query: (&str, &str),
        is_last: impl Fn(&Reply) -> bool,
    ) -> Result<Vec<T>, Refused> {
        let mut all = Vec::new();
        let mut page = String::new();
        loop {
            let reply = self.read(&format!("{place}?{}{page}{}", query.0, query.1)).await?;
            all.extend(reply.json::<Vec<T>>().map_err(Refused::Other)?);
            if is_last(&reply) {
                return Ok(all);
            }
            page = format!("page={}&", reply.number("x-next-page"));
        }
    }
}

fn has_no_next(reply: &Reply) -> bool {
    reply.number("x-next-page") == 0
}

fn checked(reply: Reply) -> Result<Reply, Refused> {
    let status = reply.status.as_u16();
    match status {
        200 | 201 | 202 | 204 | 304 => return Ok(reply),
        404 => return Err(Refused::NotFound),
        _ => {}
    }
    let url = reply.url.split('?').next().unwrap_or_default();
    let start = format!("GET {url}: {status}");
    let text = reply.text();
    Err(Refused::Other(match reply.json::<Value>() {
        _ if text.trim().is_empty() => start,
        Ok(value) => format!("{start} {}", words(&value)),
        Err(_) => format!("{start} failed to parse unknown error format: {text}"),
    }))
}

/// The texts in an error of GitLab.
fn words(value: &Value) -> String {
    match value {
        Value::String(text) => text.clone(),
        Value::Array(items) => format!("[{}]", items.iter().map(words).collect::<Vec<_>>().join(", ")),
        Value::Object(map) => {
            let mut all: Vec<String> = map.iter().map(|(key, value)| format!("{{{key}: {}}}", words(value))).collect();
            all.sort();
            all.join(", ")
        }
        Value::Null => "failed to parse unexpected error type: <nil>".to_owned(),
        Value::Bool(_) => "failed to parse unexpected error type: bool".to_owned(),
        Value::Number(_) => "failed to parse unexpected error type: float64".to_owned(),
    }
}

/// A part of a path; GitLab's client escapes dots too.
fn part(text: &str) -> String {
    path_escape(text).replace('.', "%2E")
}

#[derive(Deserialize)]
struct Project {
    id: Value,
    #[serde(default)]
    path: String,
    namespace: Option<Namespace>,
    default_branch: Option<String>,
    ssh_url_to_repo: Option<String>,
    http_url_to_repo: Option<String>,
    topics: Option<Vec<String>>,
    tag_list: Option<Vec<String>>,
}

#[derive(Deserialize, Default)]
struct Namespace {
    #[serde(default)]
    full_path: String,
}

#[derive(Deserialize)]
struct Branch {
    #[serde(default)]
    name: String,
    commit: Option<Commit>,
}

#[derive(Deserialize)]
struct Commit {
    #[serde(default)]
    id: String,
}

/// A group.
pub struct Group<'a> {
    api: Api,
    from: &'a ScmGitlab,
}

impl<'a> Group<'a> {
    /// Prepares to ask.
    pub fn new(from: &'a ScmGitlab, access: &Access<'_>) -> Result<Self, Error> {
        Ok(Self { api: Api::new(&from.api, from.insecure, access)?, from })
    }
}

impl Host for Group<'_> {
    async fn list(&self, protocol: &str) -> Result<Vec<Repository>, String> {
        let from = self.from;
        let archived = if from.include_archived_repos { "archived=true&" } else { "" };
        let before = format!("{archived}include_subgroups={}&", from.include_subgroups);
        let shared = from.include_shared_projects.unwrap_or(true);
        let after = format!("per_page=100&topic={}&with_shared={shared}", query_escape(&from.topic));
        let place = format!("groups/{}/projects", part(&from.group));
        // A protocol that is unknown shows on the first page.
        let is_known = matches!(protocol, "" | "ssh" | "https");
        let is_last = |reply: &Reply| !is_known || reply.number("x-page") >= reply.number("x-total-pages");
        let listed = self.api.pages::<Project>(&place, (&before, &after), is_last).await;
        let listed =
            listed.map_err(|refused| format!("error listing projects for {}: {}", from.group, refused.text()))?;
        let mut found = Vec::new();
        for project in listed {
            let url = match protocol {
                "" | "ssh" => project.ssh_url_to_repo,
                "https" => project.http_url_to_repo,
                _ => return Err(format!("unknown clone protocol for Gitlab {protocol}")),
            };
            // Before GitLab 14.5 topics were tags.
            let topics = project.topics.filter(|topics| !topics.is_empty()).or(project.tag_list);
            found.push(Repository {
                organization: project.namespace.unwrap_or_default().full_path,
                repository: project.path,
                repository_id: project.id,
                url: url.unwrap_or_default(),
                branch: project.default_branch.unwrap_or_default(),
                sha: String::new(),
                labels: topics.unwrap_or_default(),
            });
        }
        Ok(found)
    }

    async fn branches(&self, of: &Repository) -> Result<Vec<Repository>, String> {
        let place = format!("projects/{}/repository/branches", of.repository_id);
        let listed = if self.from.all_branches {
            self.api.pages::<Branch>(&place, ("", "per_page=100"), has_no_next).await
        } else {
            let reply = self.api.read(&format!("{place}/{}", part(&of.branch))).await;
            reply.and_then(|reply| Ok(vec![reply.json().map_err(Refused::Other)?]))
        };
        let listed = match listed {
            Ok(listed) => listed,
            Err(Refused::NotFound) => Vec::new(),
            Err(refused) => {
                let (organization, repository) = (&of.organization, &of.repository);
                return Err(format!("error listing branches for {organization}/{repository}: {}", refused.text()));
            }
        };
        let branch = |branch: Branch| Repository {
            branch: branch.name,
            sha: branch.commit.map(|commit| commit.id).unwrap_or_default(),
            ..of.clone()
        };
        Ok(listed.into_iter().map(branch).collect())
    }

    async fn has_path(&self, of: &Repository, path: &str) -> Result<bool, String> {
        let project = part(&format!("{}/{}", of.organization, of.repository));
        let known = self.api.read(&format!("projects/{project}")).await;
        let known = known.map_err(|refused| format!("error getting Project Info: {}", refused.text()))?;
        let id = known.json::<Value>()?.get("id").cloned().unwrap_or_default();
        let reference = query_escape(&of.branch);
        let file = format!("projects/{id}/repository/files/{}?ref={reference}", part(path));
        let tree = format!("projects/{id}/repository/tree?path={}&ref={reference}", query_escape(path));
        for place in [file, tree] {
            match self.api.read(&place).await {
                Ok(_) => return Ok(true),
                Err(Refused::NotFound) => {}
                Err(refused) => return Err(refused.text()),
            }
        }
        Ok(false)
    }
}

#[derive(Deserialize)]
struct MergeRequest {
    #[serde(default)]
    iid: i64,
    #[serde(default)]
    title: String,
    #[serde(default)]
    source_branch: String,
    #[serde(default)]
    target_branch: String,
    sha: Option<String>,
    labels: Option<Vec<String>>,
    author: Option<Author>,
}

#[derive(Deserialize, Default)]
struct Author {
    #[serde(default)]
    username: String,
}

/// Merge requests of a project.
pub async fn merge_requests(from: &PullRequestGitlab, access: &Access<'_>) -> Result<Vec<PullRequest>, Error> {
    let api = Api::new(&from.api, from.insecure, access)?;
    let labels = if from.labels.is_empty() {
        String::new()
    } else {
        format!("labels={}&", query_escape(&from.labels.join(",")))
    };
    let state = match from.pull_request_state.as_str() {
        "" => String::new(),
        state => format!("&state={}", query_escape(state)),
    };
    let place = format!("projects/{}/merge_requests", part(&from.project));
    let query = (labels.as_str(), &*format!("per_page=100{state}"));
    let listed = match api.pages::<MergeRequest>(&place, query, has_no_next).await {
        Ok(listed) => listed,
        Err(Refused::NotFound) => return Err(Error::NotFound(Refused::NotFound.text())),
        Err(refused) => {
            let text = format!("error listing merge requests for project '{}': {}", from.project, refused.text());
            return Err(Error::Asked(text));
        }
    };
    let found = listed.into_iter().map(|request| PullRequest {
        number: request.iid,
        title: request.title,
        branch: request.source_branch,
        target_branch: request.target_branch,
        head_sha: request.sha.unwrap_or_default(),
        labels: request.labels.unwrap_or_default(),
        author: request.author.unwrap_or_default().username,
    });
    Ok(found.collect())
}
