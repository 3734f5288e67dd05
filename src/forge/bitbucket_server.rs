//! Bitbucket Server and Data Center.
//!
//! In:  a project or a repository.
//! Out: repositories, branches, pull requests.
//! Source: `scm_provider/bitbucket_server.go`, `pull_request/bitbucket_server.go`, `services/util.go`; go-bitbucket-v1.

use serde::Deserialize;
use serde_json::Value;

use super::filter::Host;
use super::session::{PATIENCE, Reply, Session, not_json};
use super::{Access, Error, PullRequest, Repository};
use crate::api::appset::{
    BasicAuthBitbucketServer, BearerTokenBitbucket, PullRequestBitbucketServer, ScmBitbucketServer,
};
use crate::gocompat::url::query_escape;
use crate::http::{Trust, basic};

struct Api {
    session: Session,
    base: String,
}

/// Why a request failed, and with which status.
struct Refused {
    status: u16,
    text: String,
}

/// Who asks.
struct Login<'a> {
    basic: Option<&'a BasicAuthBitbucketServer>,
    bearer: Option<&'a BearerTokenBitbucket>,
    insecure: bool,
}

impl Api {
    fn new(url: &str, login: &Login<'_>, access: &Access<'_>) -> Result<Self, Error> {
        let base = match url.strip_suffix('/') {
            Some(trimmed) if url.ends_with("/rest/") => trimmed.to_owned(),
            _ if url.ends_with("/rest") => url.to_owned(),
            _ => format!("{url}/rest"),
        };
        let trust = Trust { authorities: access.authorities.to_owned(), insecure: login.insecure, ..Trust::default() };
        let session = Session::new(&base, trust, PATIENCE).map_err(Error::Setup)?;
        let session = session.with("content-type", "application/json");
        let authorization = match (login.bearer, login.basic) {
            (Some(_), _) => Some(format!("Bearer {}", access.secret)),
            (None, Some(login)) => Some(basic(&login.username, access.secret)),
            (None, None) => None,
        };
        let session = match authorization {
            // Requests with a login pass the check against forged requests.
            Some(value) => session
                .with("authorization", value)
                .with("x-atlassian-token", "no-check")
                .with("x-requested-with", "XMLHttpRequest"),
            None => session,
        };
        Ok(Self { session, base })
    }

    async fn read(&self, place: &str) -> Result<Reply, Refused> {
        let reply = self.session.get(&format!("{}/api/1.0/projects/{place}", self.base)).await;
        let reply = reply.map_err(|text| Refused { status: 0, text })?;
        if reply.status.as_u16() < 300 {
            return Ok(reply);
        }
        let mut text = format!("Status: {}, Body: {}", reply.status_text, reply.text());
        if let Err(error) = serde_json::from_slice::<Value>(&reply.body) {
            text.push_str(&format!(" ParseError: {}", not_json(&reply.body, &error)));
        }
        Err(Refused { status: reply.status.as_u16(), text })
    }

    async fn pages<T: serde::de::DeserializeOwned>(&self, place: &str) -> Result<Vec<T>, Refused> {
        let mut all = Vec::new();
        let mut start = String::new();
        loop {
            let page = self.page(place, &start).await?;
            all.extend(page.values);
            match page.next {
                Some(next) => start = next,
                None => return Ok(all),
            }
        }
    }

    /// One page; the next one is asked for with what it says.
    async fn page<T: serde::de::DeserializeOwned>(&self, place: &str, start: &str) -> Result<Listed<T>, Refused> {
        let reply = self.read(&format!("{place}?limit=100{start}")).await?;
        let unreadable = |text| Refused { status: reply.status.as_u16(), text };
        let page: Page<T> = reply.json().map_err(unreadable)?;
        let next = (page.is_last == Some(false)).then(|| format!("&start={}", page.next.unwrap_or_default()));
        Ok(Listed { values: page.values, next })
    }
}

struct Listed<T> {
    values: Vec<T>,
    next: Option<String>,
}

#[derive(Deserialize)]
struct Page<T> {
    #[serde(rename = "isLastPage")]
    is_last: Option<bool>,
    #[serde(rename = "nextPageStart")]
    next: Option<u64>,
    values: Vec<T>,
}

#[derive(Deserialize)]
struct Repo {
    id: Value,
    #[serde(default)]
    name: String,
    project: Owner,
    #[serde(default)]
    links: Links,
}

#[derive(Deserialize)]
struct Owner {
    #[serde(default)]
    key: String,
}

#[derive(Deserialize, Default)]
struct Links {
    #[serde(default)]
    clone: Vec<Link>,
}

#[derive(Deserialize)]
struct Link {
    #[serde(default)]
    name: String,
    #[serde(default)]
    href: String,
}

#[derive(Deserialize, Clone)]
#[serde(rename_all = "camelCase")]
struct Branch {
    #[serde(default)]
    display_id: String,
    #[serde(default)]
    latest_commit: String,
}

/// A project.
pub struct Project<'a> {
    api: Api,
    from: &'a ScmBitbucketServer,
}

impl<'a> Project<'a> {
    /// Prepares to ask.
    pub fn new(from: &'a ScmBitbucketServer, access: &Access<'_>) -> Result<Self, Error> {
        let login =
            Login { basic: from.basic_auth.as_ref(), bearer: from.bearer_token.as_ref(), insecure: from.insecure };
        Ok(Self { api: Api::new(&from.api, &login, access)?, from })
    }

    /// The default branch; none where the repository is empty.
    async fn default_branch(&self, project: &str, repo: &str) -> Result<Option<Branch>, String> {
        match self.api.read(&format!("{project}/repos/{repo}/branches/default")).await {
            Ok(reply) if reply.body.is_empty() => Ok(None),
            Ok(reply) => reply.json().map(Some),
            Err(refused) if refused.status == 404 => Ok(None),
            Err(refused) => Err(refused.text),
        }
    }
}

impl Host for Project<'_> {
    async fn list(&self, protocol: &str) -> Result<Vec<Repository>, String> {
        let key = &self.from.project;
        let (place, mut start) = (format!("{key}/repos"), String::new());
        let mut found = Vec::new();
        loop {
            let page = self.api.page::<Repo>(&place, &start).await;
            let page = page.map_err(|refused| format!("error listing repositories for {key}: {}", refused.text))?;
            for repo in page.values {
                let name = match protocol {
                    "" | "ssh" => "ssh",
                    "https" => "http",
                    _ => return Err(format!("unknown clone protocol for Bitbucket Server {protocol}")),
                };
                let url = repo.links.clone.into_iter().find(|link| link.name == name).map(|link| link.href);
                let Some(branch) = self.default_branch(&repo.project.key, &repo.name).await? else { continue };
                found.push(Repository {
                    organization: repo.project.key,
                    repository: repo.name,
                    repository_id: repo.id,
                    url: url.unwrap_or_default(),
                    branch: branch.display_id,
                    sha: branch.latest_commit,
                    labels: Vec::new(),
                });
            }
            match page.next {
                Some(next) => start = next,
                None => return Ok(found),
            }
        }
    }

    async fn branches(&self, of: &Repository) -> Result<Vec<Repository>, String> {
        let (project, repo) = (&of.organization, &of.repository);
        let wrong = |text: String| format!("error listing branches for {project}/{repo}: {text}");
        let listed = if self.from.all_branches {
            let listed = self.api.pages::<Branch>(&format!("{project}/repos/{repo}/branches")).await;
            listed.map_err(|refused| wrong(wrong(refused.text)))?
        } else {
            self.default_branch(project, repo).await.map_err(wrong)?.into_iter().collect()
        };
        let branch = |branch: Branch| Repository { branch: branch.display_id, sha: branch.latest_commit, ..of.clone() };
        Ok(listed.into_iter().map(branch).collect())
    }

    async fn has_path(&self, of: &Repository, path: &str) -> Result<bool, String> {
        let path = if path.is_empty() { String::new() } else { format!("/{path}") };
        let place = format!(
            "{}/repos/{}/browse{path}?at={}&limit=100&type=true",
            of.organization,
            of.repository,
            query_escape(&of.branch)
        );
        match self.api.read(&place).await {
            Ok(_) => Ok(true),
            Err(refused) if refused.status == 404 => Ok(false),
            Err(refused) => Err(refused.text),
        }
    }
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Pull {
    #[serde(default)]
    id: i64,
    #[serde(default)]
    title: String,
    from_ref: Branch,
    to_ref: Branch,
    author: Option<Author>,
}

#[derive(Deserialize)]
struct Author {
    user: Option<User>,
}

#[derive(Deserialize)]
struct User {
    #[serde(default)]
    name: String,
}

/// Open pull requests of a repository.
pub async fn pull_requests(from: &PullRequestBitbucketServer, access: &Access<'_>) -> Result<Vec<PullRequest>, Error> {
    let login = Login { basic: from.basic_auth.as_ref(), bearer: from.bearer_token.as_ref(), insecure: from.insecure };
    let (project, repo) = (&from.project, &from.repo);
    let api = Api::new(&from.api, &login, access)?;
    let listed = match api.pages::<Pull>(&format!("{project}/repos/{repo}/pull-requests")).await {
        Ok(listed) => listed,
        Err(refused) if refused.status == 404 => return Err(Error::NotFound(refused.text)),
        Err(refused) => {
            return Err(Error::Asked(format!("error listing pull requests for {project}/{repo}: {}", refused.text)));
        }
    };
    let found = listed.into_iter().map(|pull| PullRequest {
        number: pull.id,
        title: pull.title,
        branch: pull.from_ref.display_id,
        target_branch: pull.to_ref.display_id,
        head_sha: pull.from_ref.latest_commit,
        labels: Vec::new(),
        author: pull.author.and_then(|author| author.user).map(|user| user.name).unwrap_or_default(),
    });
    Ok(found.collect())
}
