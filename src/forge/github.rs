//! GitHub and GitHub Enterprise.
//!
//! In:  an organisation or a repository.
//! Out: repositories, branches, pull requests.
//! Source: `scm_provider/github.go`, `pull_request/github.go`, `internal/github_app/client.go`; go-github v69.2.0.

use jiff::Timestamp;
use serde::Deserialize;
use serde_json::Value;

use super::filter::{Host, has_labels};
use super::session::{PATIENCE, Reply, Session};
use super::{Access, Error, PullRequest, Repository};
use crate::api::appset::{PullRequestGithub, ScmGithub};
use crate::gocompat::url::{path_escape, path_text, query_escape};
use crate::http::Trust;
use crate::repo::github::{App, Whose};

const JSON: &str = "application/vnd.github.v3+json";
const TOPICS: &str = "application/vnd.github.mercy-preview+json, application/vnd.github.nebula-preview+json";

/// GitHub's API.
struct Api {
    session: Session,
    /// Ends with a slash.
    base: String,
}

/// Why a request failed, and with which status.
struct Refused {
    status: u16,
    text: String,
}

impl Refused {
    fn unanswered(text: String) -> Self {
        Self { status: 0, text }
    }
}

impl Api {
    async fn new(url: &str, owner: &str, access: &Access<'_>) -> Result<Self, Error> {
        let trust = Trust { authorities: access.authorities.to_owned(), ..Trust::default() };
        let app_url = access.app.map(|app| app.api.as_str()).filter(|_| url.is_empty());
        let base = base(app_url.filter(|api| *api != "https://api.github.com").unwrap_or(url));
        let session = Session::new(&base, trust.clone(), PATIENCE).map_err(Error::Setup)?;
        let session = session.with("x-github-api-version", "2022-11-28");
        let session = match access.app {
            Some(app) => {
                let api = if url.is_empty() { app.api.clone() } else { url.trim_end_matches('/').to_owned() };
                let (app, route) = (App { api, ..app.clone() }, crate::http::Route { trust, ..Default::default() });
                let token = access.tokens.token(&app, Whose::Organization(owner), &route, PATIENCE).await;
                session.with("authorization", format!("token {}", token.map_err(Error::Setup)?))
            }
            None if access.secret.is_empty() => session,
            None => session.with("authorization", format!("Bearer {}", access.secret)),
        };
        Ok(Self { session, base })
    }

    async fn get(&self, place: &str, accept: &str) -> Result<Reply, Refused> {
        let url = format!("{}{place}", self.base);
        let asked = self.session.ask(hyper::Method::GET, &url, &[("accept", accept)]).await;
        asked.map_err(Refused::unanswered)
    }

    async fn read(&self, place: &str, accept: &str) -> Result<Reply, Refused> {
        let reply = self.get(place, accept).await?;
        if reply.status.is_success() {
            return Ok(reply);
        }
        Err(Refused { status: reply.status.as_u16(), text: refusal(&reply) })
    }

    /// All pages of a list.
    async fn pages<T: serde::de::DeserializeOwned>(&self, place: &str, accept: &str) -> Result<Vec<T>, Refused> {
        self.some_pages(place, accept, u64::MAX).await
    }

    /// The first pages of a list.
    async fn some_pages<T: serde::de::DeserializeOwned>(
        &self,
        place: &str,
        accept: &str,
        most: u64,
    ) -> Result<Vec<T>, Refused> {
        let mut all = Vec::new();
        let mut page = 0;
        loop {
            let number = if page == 0 { String::new() } else { format!("page={page}&") };
            let reply = self.read(&format!("{place}?{number}per_page=100"), accept).await?;
            all.extend(reply.json::<Vec<T>>().map_err(Refused::unanswered)?);
            page = next_page(reply.header("link"));
            if page == 0 || page > most {
                return Ok(all);
            }
        }
    }
}

/// Where the API is.
fn base(url: &str) -> String {
    if url.is_empty() {
        return "https://api.github.com/".to_owned();
    }
    let url = if url.ends_with('/') { url.to_owned() } else { format!("{url}/") };
    let host = crate::http::Address::parse(&url).map(|address| address.host).unwrap_or_default();
    if url.ends_with("/api/v3/") || host.starts_with("api.") || host.contains(".api.") {
        url
    } else {
        format!("{url}api/v3/")
    }
}

/// The number of the page that a `Link` header calls the next one; zero when there is none.
fn next_page(link: &str) -> u64 {
    let next = link.split(',').find(|link| link.split(';').skip(1).any(|part| part.trim() == "rel=\"next\""));
    let url = next.and_then(|link| link.split(';').next()).unwrap_or_default().trim();
    let query = url.trim_start_matches('<').trim_end_matches('>').split_once('?').map_or("", |(_, query)| query);
    query.split('&').find_map(|part| part.strip_prefix("page=")?.parse().ok()).unwrap_or_default()
}

#[derive(Deserialize, Default)]
struct Problem {
    #[serde(default)]
    message: String,
    #[serde(default)]
    errors: Vec<Value>,
    #[serde(default)]
    documentation_url: String,
}

/// A refusal in go-github's words.
fn refusal(reply: &Reply) -> String {
    let problem: Problem = reply.json().unwrap_or_default();
    let (status, message) = (reply.status.as_u16(), problem.message);
    let start = format!("GET {}: {status} {message}", reply.url);
    if status == 403 && reply.header("x-ratelimit-remaining") == "0" {
        let reset: i64 = reply.header("x-ratelimit-reset").parse().unwrap_or_default();
        return format!("{start} {}", rate_reset(reset - Timestamp::now().as_second()));
    }
    if status == 403 && problem.documentation_url.ends_with("secondary-rate-limits") {
        return start;
    }
    let errors = problem.errors.iter().map(|error| match error {
        Value::String(text) => format!("{{Resource: Field: Code: Message:{text}}}"),
        other => {
            let part = |name: &str| other.get(name).and_then(Value::as_str).unwrap_or_default();
            let (resource, field) = (part("resource"), part("field"));
            format!("{{Resource:{resource} Field:{field} Code:{} Message:{}}}", part("code"), part("message"))
        }
    });
    format!("{start} [{}]", errors.collect::<Vec<_>>().join(" "))
}

fn rate_reset(seconds: i64) -> String {
    let (minutes, rest) = (seconds.abs() / 60, seconds.abs() % 60);
    let time = if minutes > 0 { format!("{minutes}m{rest:02}s") } else { format!("{rest}s") };
    if seconds < 0 { format!("[rate limit was reset {time} ago]") } else { format!("[rate reset in {time}]") }
}

#[derive(Deserialize)]
struct Repo {
    #[serde(default)]
    id: Value,
    #[serde(default)]
    name: String,
    owner: Option<User>,
    default_branch: Option<String>,
    ssh_url: Option<String>,
    clone_url: Option<String>,
    #[serde(default)]
    archived: Option<bool>,
    topics: Option<Vec<String>>,
}

#[derive(Deserialize, Default)]
struct User {
    #[serde(default)]
    login: String,
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
    sha: String,
}

/// An organisation.
pub struct Organization<'a> {
    api: Api,
    from: &'a ScmGithub,
}

impl<'a> Organization<'a> {
    /// Prepares to ask.
    pub async fn new(from: &'a ScmGithub, access: &Access<'_>) -> Result<Self, Error> {
        Ok(Self { api: Api::new(&from.api, &from.organization, access).await?, from })
    }

    async fn all_branches(&self, of: &Repository) -> Result<Vec<Branch>, Refused> {
        let place = format!("repos/{}/{}/branches", of.organization, of.repository);
        if self.from.all_branches {
            return self.api.pages(&place, JSON).await;
        }
        let reply = self.api.get(&format!("{place}/{}", path_escape(&of.branch)), JSON).await?;
        match reply.status.as_u16() {
            200 => Ok(vec![reply.json().map_err(Refused::unanswered)?]),
            // An empty repository has no default branch.
            404 => Ok(Vec::new()),
            _ => Err(Refused::unanswered(format!("unexpected status code: {}", reply.status_text))),
        }
    }
}

impl Host for Organization<'_> {
    async fn list(&self, protocol: &str) -> Result<Vec<Repository>, String> {
        let organization = &self.from.organization;
        // A protocol that is unknown shows on the first page.
        let most = if matches!(protocol, "" | "ssh" | "https") { u64::MAX } else { 1 };
        let listed = self.api.some_pages::<Repo>(&format!("orgs/{organization}/repos"), TOPICS, most).await;
        let listed =
            listed.map_err(|refused| format!("error listing repositories for {organization}: {}", refused.text))?;
        let mut found = Vec::new();
        for repo in listed {
            let url = match protocol {
                "" | "ssh" => repo.ssh_url,
                "https" => repo.clone_url,
                _ => return Err(format!("unknown clone protocol for GitHub {protocol}")),
            };
            if self.from.exclude_archived_repos && repo.archived.unwrap_or_default() {
                continue;
            }
            found.push(Repository {
                organization: repo.owner.unwrap_or_default().login,
                repository: repo.name,
                repository_id: repo.id,
                url: url.unwrap_or_default(),
                branch: repo.default_branch.unwrap_or_default(),
                sha: String::new(),
                labels: repo.topics.unwrap_or_default(),
            });
        }
        Ok(found)
    }

    async fn branches(&self, of: &Repository) -> Result<Vec<Repository>, String> {
        let listed = self.all_branches(of).await.map_err(|refused| {
            format!("error listing branches for {}/{}: {}", of.organization, of.repository, refused.text)
        })?;
        let branch = |branch: Branch| Repository {
            branch: branch.name,
            sha: branch.commit.map(|commit| commit.sha).unwrap_or_default(),
            ..of.clone()
        };
        Ok(listed.into_iter().map(branch).collect())
    }

    async fn has_path(&self, of: &Repository, path: &str) -> Result<bool, String> {
        if path.contains("..") {
            return Err("path must not contain '..' due to auth vulnerability issue".to_owned());
        }
        let path = path_text(path.trim_end_matches('/'));
        let reference = if of.branch.is_empty() { String::new() } else { format!("?ref={}", query_escape(&of.branch)) };
        let place = format!("repos/{}/{}/contents/{path}{reference}", of.organization, of.repository);
        match self.api.read(&place, JSON).await {
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

#[derive(Deserialize)]
struct Label {
    name: Option<String>,
}

/// Open pull requests of a repository.
pub async fn pull_requests(from: &PullRequestGithub, access: &Access<'_>) -> Result<Vec<PullRequest>, Error> {
    let (owner, repo) = (&from.owner, &from.repo);
    let api = Api::new(&from.api, owner, access).await?;
    let listed = match api.pages::<Pull>(&format!("repos/{owner}/{repo}/pulls"), JSON).await {
        Ok(listed) => listed,
        Err(refused) if refused.status == 404 => return Err(Error::NotFound(refused.text)),
        Err(refused) => {
            return Err(Error::Asked(format!("error listing pull requests for {owner}/{repo}: {}", refused.text)));
        }
    };
    let found = listed.into_iter().map(|pull| PullRequest {
        number: pull.number,
        title: pull.title,
        branch: pull.head.name,
        target_branch: pull.base.name,
        head_sha: pull.head.sha,
        labels: pull.labels.into_iter().flatten().filter_map(|label| label.name).collect(),
        author: pull.user.unwrap_or_default().login,
    });
    Ok(found.filter(|pull| has_labels(&from.labels, &pull.labels)).collect())
}

#[cfg(test)]
mod tests {
    use super::{base, next_page, rate_reset};

    #[test]
    fn enterprise_servers_have_their_api_below() {
        for (url, expect) in [
            ("", "https://api.github.com/"),
            ("https://ghe.example", "https://ghe.example/api/v3/"),
            ("https://ghe.example/api/v3", "https://ghe.example/api/v3/"),
            ("https://api.ghe.example/", "https://api.ghe.example/"),
            ("https://x.api.ghe.example/", "https://x.api.ghe.example/"),
        ] {
            assert_eq!(base(url), expect);
        }
    }

    #[test]
    fn pages_and_limits_are_read_from_headers() {
        assert_eq!(next_page("<https://h/x?per_page=100&page=7>; rel=\"next\", <https://h/x?page=9>; rel=\"last\""), 7);
        assert_eq!(next_page("<https://h/x?page=1>; rel=\"prev\""), 0);
        assert_eq!(
            (rate_reset(61), rate_reset(-5)),
            ("[rate reset in 1m01s]".into(), "[rate limit was reset 5s ago]".into())
        );
    }
}
