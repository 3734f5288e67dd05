//! Bitbucket Cloud.
//!
//! In:  a workspace or a repository.
//! Out: repositories, branches, pull requests.
//! Source: `scm_provider/bitbucket_cloud.go`, `pull_request/bitbucket_cloud.go`; ktrysmt/go-bitbucket v0.10.0.

use serde::Deserialize;
use serde::de::DeserializeOwned;
use serde_json::Value;

use super::filter::Host;
use super::session::{PATIENCE, Reply, Session};
use super::{Access, Error, PullRequest, Repository};
use crate::api::appset::{PullRequestBitbucket, ScmBitbucket};
use crate::http::{Trust, basic};

/// Where the API is.
const API: &str = "https://api.bitbucket.org/2.0";

struct Api {
    session: Session,
    url: String,
}

impl Api {
    fn new(url: &str, authorization: Option<String>) -> Result<Self, Error> {
        let url = if url.is_empty() { API } else { url };
        let session = Session::new(url, Trust::default(), PATIENCE).map_err(Error::Setup)?;
        let session = match authorization {
            Some(value) => session.with("authorization", value),
            None => session,
        };
        Ok(Self { session, url: url.to_owned() })
    }

    async fn get(&self, url: &str) -> Result<Reply, String> {
        let reply = self.session.get(url).await?;
        if matches!(reply.status.as_u16(), 200 | 201 | 202 | 204) { Ok(reply) } else { Err(reply.status_text) }
    }

    /// All pages of a list.
    async fn pages(&self, place: &str) -> Result<Vec<Value>, String> {
        let mut all = Vec::new();
        let mut next = format!("{}{place}", self.url);
        while !next.is_empty() {
            let page: Page = self.get(&next).await?.json()?;
            next = page.next.filter(|_| !page.values.is_empty()).unwrap_or_default();
            all.extend(page.values);
        }
        Ok(all)
    }
}

#[derive(Deserialize)]
struct Page {
    values: Vec<Value>,
    next: Option<String>,
}

#[derive(Deserialize)]
struct Repo {
    #[serde(default)]
    uuid: Value,
    #[serde(default)]
    slug: String,
    mainbranch: Option<MainBranch>,
    #[serde(default)]
    links: Value,
}

#[derive(Deserialize, Default)]
struct MainBranch {
    #[serde(default)]
    name: String,
}

#[derive(Deserialize)]
struct Branch {
    #[serde(default)]
    name: String,
    #[serde(default)]
    target: Value,
}

/// Entries that are no such thing are left out, as the library does.
fn readable<T: DeserializeOwned>(values: Vec<Value>) -> Vec<T> {
    values.into_iter().filter_map(|value| serde_json::from_value(value).ok()).collect()
}

/// A workspace.
pub struct Workspace<'a> {
    api: Api,
    from: &'a ScmBitbucket,
}

impl<'a> Workspace<'a> {
    /// Prepares to ask.
    pub fn new(from: &'a ScmBitbucket, access: &Access<'_>) -> Result<Self, Error> {
        Self::at(API, from, access)
    }

    /// Prepares to ask an API somewhere else.
    pub(super) fn at(url: &str, from: &'a ScmBitbucket, access: &Access<'_>) -> Result<Self, Error> {
        Ok(Self { api: Api::new(url, Some(basic(&from.user, access.secret)))?, from })
    }

    fn repo(&self, name: &str) -> String {
        format!("{}/repositories/{}/{name}", self.api.url, self.from.owner)
    }

    async fn listed(&self, of: &Repository) -> Result<Vec<Branch>, String> {
        let place = format!("{}/refs/branches", self.repo(&of.repository));
        if self.from.all_branches {
            // One page only, as Argo CD.
            let page: Page = self.api.get(&format!("{place}?")).await?.json()?;
            return Ok(readable(page.values));
        }
        if of.branch.is_empty() {
            return Err("Error: Branch Name is empty".to_owned());
        }
        Ok(vec![self.api.get(&format!("{place}/{}", of.branch)).await?.json()?])
    }
}

impl Host for Workspace<'_> {
    async fn list(&self, protocol: &str) -> Result<Vec<Repository>, String> {
        let owner = &self.from.owner;
        let listed = self.api.pages(&format!("/repositories/{owner}?role=member")).await;
        let listed = listed.map_err(|text| format!("error listing repositories for {owner}: {text}"))?;
        let mut found = Vec::new();
        for repo in readable::<Repo>(listed) {
            let url = clone_url(&repo.links, if protocol.is_empty() { "ssh" } else { protocol })
                .map_err(|text| format!("error fetching clone url for repo {}: {text}", repo.slug))?;
            found.push(Repository {
                organization: owner.clone(),
                repository: repo.slug,
                repository_id: repo.uuid,
                url,
                branch: repo.mainbranch.unwrap_or_default().name,
                ..Repository::default()
            });
        }
        Ok(found)
    }

    async fn branches(&self, of: &Repository) -> Result<Vec<Repository>, String> {
        let listed = self
            .listed(of)
            .await
            .map_err(|text| format!("error listing branches for {}/{}: {text}", of.organization, of.repository))?;
        let mut found = Vec::new();
        for branch in listed {
            let Some(sha) = branch.target.get("hash").and_then(Value::as_str) else {
                let (owner, repository) = (&self.from.owner, &of.repository);
                return Err(format!("error getting SHA for branch for {owner}/{repository}/{}", branch.name));
            };
            found.push(Repository { sha: sha.to_owned(), branch: branch.name, ..of.clone() });
        }
        Ok(found)
    }

    async fn has_path(&self, of: &Repository, path: &str) -> Result<bool, String> {
        let url = format!("{}/src/{}/{path}?format=meta", self.repo(&of.repository), of.sha);
        let reply = self.api.session.get(&url).await?;
        match reply.status.as_u16() {
            200 => Ok(true),
            404 => Ok(false),
            _ => Err(reply.status_text),
        }
    }
}

fn clone_url(links: &Value, protocol: &str) -> Result<String, String> {
    let links = links.get("clone").and_then(Value::as_array).ok_or("unknown type returned from repo links")?;
    let link = links.iter().find(|link| link.get("name").and_then(Value::as_str) == Some(protocol));
    let link = link.ok_or_else(|| format!("unknown clone protocol for Bitbucket cloud {protocol}"))?;
    let url = link.get("href").and_then(Value::as_str).ok_or("could not find href for clone link")?;
    Ok(url.to_owned())
}

#[derive(Deserialize)]
struct Pull {
    #[serde(default)]
    id: i64,
    #[serde(default)]
    title: String,
    #[serde(default)]
    source: End,
    #[serde(default)]
    destination: End,
    #[serde(default)]
    author: Author,
}

#[derive(Deserialize, Default)]
#[serde(default)]
struct End {
    branch: MainBranch,
    commit: Option<Commit>,
}

#[derive(Deserialize)]
struct Commit {
    #[serde(default)]
    hash: String,
}

#[derive(Deserialize, Default)]
struct Author {
    #[serde(default)]
    nickname: String,
}

/// Open pull requests of a repository.
pub async fn pull_requests(from: &PullRequestBitbucket, access: &Access<'_>) -> Result<Vec<PullRequest>, Error> {
    let authorization = match (&from.bearer_token, &from.basic_auth) {
        (Some(_), _) if !access.secret.is_empty() => Some(format!("Bearer {}", access.secret)),
        (None, Some(login)) => Some(basic(&login.username, access.secret)),
        _ => None,
    };
    let (owner, repo) = (&from.owner, &from.repo);
    let api = Api::new(&from.api, authorization)?;
    let listed = api.pages(&format!("/repositories/{owner}/{repo}/pullrequests/")).await.map_err(|text| {
        if text.contains("404 Not Found") {
            return Error::NotFound(text);
        }
        Error::Asked(format!("error listing pull requests for {owner}/{repo}: {text}"))
    })?;
    let listed: Vec<Pull> = serde_json::from_value(Value::Array(listed))
        .map_err(|_| Error::Asked("error unmarshalling json to type '[]BitbucketCloudPullRequest'".to_owned()))?;
    let found = listed.into_iter().map(|pull| PullRequest {
        number: pull.id,
        title: pull.title,
        branch: pull.source.branch.name,
        target_branch: pull.destination.branch.name,
        head_sha: pull.source.commit.map(|commit| commit.hash).unwrap_or_default(),
        labels: Vec::new(),
        author: pull.author.nickname,
    });
    Ok(found.collect())
}
