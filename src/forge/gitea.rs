//! Gitea and Forgejo.
//!
//! In:  an organisation or a repository.
//! Out: repositories, branches, pull requests.
//! Source: `scm_provider/gitea.go`, `pull_request/gitea.go`; Gitea SDK v0.25.1.

use hyper::Method;
use serde::Deserialize;
use serde::de::DeserializeOwned;
use serde_json::Value;

use super::filter::{Host, has_labels};
use super::session::{PATIENCE, Reply, Session};
use super::{Access, Error, PullRequest, Repository};
use crate::api::appset::{PullRequestGitea, ScmGitea};
use crate::gocompat::url::{path_escape, query_escape};
use crate::http::{Address, Trust};

/// The oldest server that the SDK talks to.
const OLDEST: (u64, u64) = (1, 11);

/// What Argo CD sends: the server's first page, as long as the server likes.
const PAGE: &str = "limit=0&page=1";

struct Api {
    session: Session,
    url: String,
}

/// Why a request failed, and with which status.
struct Refused {
    status: u16,
    text: String,
}

#[derive(Deserialize)]
struct Version {
    #[serde(default)]
    version: String,
}

impl Api {
    async fn new(url: &str, insecure: bool, access: &Access<'_>) -> Result<Self, String> {
        let url = url.strip_suffix('/').unwrap_or(url).to_owned();
        let session = Session::new(&url, Trust { insecure, ..Trust::default() }, PATIENCE)?;
        let session = match access.secret {
            "" => session,
            token => session.with("authorization", format!("token {token}")),
        };
        let api = Self { session, url };
        let version: Version = api.read("/version", false).await.map_err(|refused| refused.text)?;
        let mut numbers = version.version.split(['.', '-', '+']).map(|number| number.parse::<u64>().ok());
        match (numbers.next().flatten(), numbers.next().flatten()) {
            (Some(major), Some(minor)) if (major, minor) >= OLDEST => Ok(api),
            (Some(_), _) => Err(format!("gitea server at {} is older than 1.11.0", api.url)),
            (None, _) => Err(format!("unknown version: {}", version.version)),
        }
    }

    async fn ask(&self, place: &str, is_json: bool) -> Result<Reply, Refused> {
        let url = format!("{}/api/v1{place}", self.url);
        let headers: &[(&'static str, &str)] = if is_json { &[("content-type", "application/json")] } else { &[] };
        let reply = self.session.ask(Method::GET, &url, headers).await;
        let reply = reply.map_err(|text| Refused { status: 0, text })?;
        if reply.status.is_success() {
            return Ok(reply);
        }
        Err(Refused { status: reply.status.as_u16(), text: refusal(&reply) })
    }

    async fn read<T: DeserializeOwned>(&self, place: &str, is_json: bool) -> Result<T, Refused> {
        let reply = self.ask(place, is_json).await?;
        reply.json().map_err(|text| Refused { status: reply.status.as_u16(), text })
    }
}

fn refusal(reply: &Reply) -> String {
    let text = reply.text();
    match reply.json::<serde_json::Map<String, Value>>() {
        Err(_) => {
            let path = Address::parse(&reply.url).map(|address| address.path).unwrap_or_default();
            let status = reply.status.as_u16();
            format!("unknown API error: {status}\nRequest: '{path}' with 'GET' method and '{text}' body")
        }
        Ok(map) => match map.get("message") {
            Some(Value::String(message)) => message.clone(),
            Some(other) => other.to_string(),
            None => format!("{}: {text}", reply.status_text),
        },
    }
}

/// A path with each of its parts escaped.
fn parts(path: &str) -> String {
    path.split('/').map(path_escape).collect::<Vec<_>>().join("/")
}

#[derive(Deserialize)]
struct Repo {
    id: Value,
    #[serde(default)]
    name: String,
    #[serde(default)]
    default_branch: String,
    #[serde(default)]
    ssh_url: String,
    #[serde(default)]
    html_url: String,
    #[serde(default)]
    archived: bool,
}

#[derive(Deserialize)]
struct Label {
    #[serde(default)]
    name: String,
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

impl Branch {
    fn sha(self) -> String {
        self.commit.map(|commit| commit.id).unwrap_or_default()
    }
}

/// An organisation.
pub struct Owner<'a> {
    api: Api,
    from: &'a ScmGitea,
}

impl<'a> Owner<'a> {
    /// Prepares to ask.
    pub async fn new(from: &'a ScmGitea, access: &Access<'_>) -> Result<Self, Error> {
        let api = Api::new(&from.api, from.insecure, access).await;
        let failed = |text| Error::Setup(format!("error creating a new gitea client: {text}")).without(access.secret);
        Ok(Self { api: api.map_err(failed)?, from })
    }

    fn repo(&self, name: &str) -> String {
        format!("/repos/{}/{}", path_escape(&self.from.owner), path_escape(name))
    }
}

impl Host for Owner<'_> {
    async fn list(&self, protocol: &str) -> Result<Vec<Repository>, String> {
        let place = format!("/orgs/{}/repos?{PAGE}", path_escape(&self.from.owner));
        let listed: Vec<Repo> = self.api.read(&place, false).await.map_err(|refused| refused.text)?;
        let mut found = Vec::new();
        for repo in listed {
            let url = match protocol {
                "" | "ssh" => repo.ssh_url,
                "https" => repo.html_url,
                _ => return Err(format!("unknown clone protocol for GitHub {protocol}")),
            };
            let place = format!("{}/labels?{PAGE}", self.repo(&repo.name));
            let labels: Vec<Label> = self.api.read(&place, false).await.map_err(|refused| refused.text)?;
            if self.from.exclude_archived_repos && repo.archived {
                continue;
            }
            found.push(Repository {
                organization: self.from.owner.clone(),
                repository: repo.name,
                repository_id: repo.id,
                url,
                branch: repo.default_branch,
                sha: String::new(),
                labels: labels.into_iter().map(|label| label.name).collect(),
            });
        }
        Ok(found)
    }

    async fn branches(&self, of: &Repository) -> Result<Vec<Repository>, String> {
        let place = format!("{}/branches", self.repo(&of.repository));
        if self.from.all_branches {
            let listed: Vec<Branch> =
                self.api.read(&format!("{place}?{PAGE}"), false).await.map_err(|refused| refused.text)?;
            let branch = |branch: Branch| Repository { branch: branch.name.clone(), sha: branch.sha(), ..of.clone() };
            return Ok(listed.into_iter().map(branch).collect());
        }
        let branch: Branch =
            self.api.read(&format!("{place}/{}", parts(&of.branch)), false).await.map_err(|refused| {
                if refused.status != 404 {
                    return refused.text;
                }
                format!(
                    "got 404 while getting default branch {:?} for repo {:?} - check your repo config: {}",
                    of.branch, of.repository, refused.text
                )
            })?;
        Ok(vec![Repository { sha: branch.sha(), ..of.clone() }])
    }

    async fn has_path(&self, of: &Repository, path: &str) -> Result<bool, String> {
        let path = parts(path.strip_prefix('/').unwrap_or(path));
        let place = format!("{}/contents/{path}?ref={}", self.repo(&of.repository), query_escape(&of.branch));
        match self.api.ask(&place, true).await {
            Ok(_) => Ok(true),
            Err(refused) if refused.status == 404 => Ok(false),
            Err(refused) => Err(refused.text),
        }
    }
}

#[derive(Deserialize)]
struct Pull {
    #[serde(default)]
    number: i64,
    #[serde(default)]
    title: String,
    head: Reference,
    base: Reference,
    labels: Option<Vec<Label>>,
    user: Option<User>,
}

#[derive(Deserialize)]
struct Reference {
    #[serde(default, rename = "ref")]
    name: String,
    #[serde(default)]
    sha: String,
}

#[derive(Deserialize, Default)]
struct User {
    #[serde(default)]
    login: String,
}

/// Open pull requests of a repository.
pub async fn pull_requests(from: &PullRequestGitea, access: &Access<'_>) -> Result<Vec<PullRequest>, Error> {
    let api = Api::new(&from.api, from.insecure, access).await.map_err(Error::Setup)?;
    let place = format!("/repos/{}/{}/pulls?{PAGE}&state=open", path_escape(&from.owner), path_escape(&from.repo));
    let listed: Vec<Pull> = api.read(&place, true).await.map_err(|refused| match refused.status {
        404 => Error::NotFound(refused.text),
        _ => Error::Asked(refused.text),
    })?;
    let found = listed.into_iter().map(|pull| PullRequest {
        number: pull.number,
        title: pull.title,
        branch: pull.head.name,
        target_branch: pull.base.name,
        head_sha: pull.head.sha,
        labels: pull.labels.into_iter().flatten().map(|label| label.name).collect(),
        author: pull.user.unwrap_or_default().login,
    });
    Ok(found.filter(|pull| has_labels(&from.labels, &pull.labels)).collect())
}
