//! Azure DevOps.
//!
//! In:  a team project or a repository.
//! Out: repositories, branches, pull requests.
//! Source: `scm_provider/azure_devops.go`, `pull_request/azure_devops.go`; azure-devops-go-api v7.

use std::cell::RefCell;
use std::collections::BTreeMap;

use hyper::Method;
use serde::Deserialize;
use serde::de::DeserializeOwned;
use serde_json::Value;

use super::filter::{Host, has_labels};
use super::session::{PATIENCE, Reply, Session};
use super::{Access, Error, PullRequest, Repository};
use crate::api::appset::{PullRequestAzureDevOps, ScmAzureDevOps};
use crate::gocompat::url::{path_escape, query_escape};
use crate::http::{Trust, basic};

/// Ids of what is asked for, as the service registers them.
const GIT: &str = "4e080c62-fa21-4fbc-8fef-2a10a2b38049";
const AREAS: &str = "e81700f7-3be2-46de-8624-2eb35882fcaa";
const REPOSITORIES: &str = "225f7195-f9c7-4d14-ab28-a83f7ff77e1f";
const BRANCHES: &str = "d5b216de-d8d5-4d32-ae76-51df755b16d3";
const ITEMS: &str = "fb93c0db-47ed-4a31-8c20-47552878fb44";
const PULL_REQUESTS: &str = "a5d28130-9cd2-40fa-9f08-902e7daa9efb";

/// Version of the exchange that is wanted.
const VERSION: &str = "7.1-preview.1";

struct Api {
    session: Session,
    /// The organisation's URL, in lower case.
    url: String,
    /// Where things are, by URL and id.
    places: RefCell<BTreeMap<String, Vec<Location>>>,
    /// URL of the Git services once it is known.
    git: RefCell<Option<String>>,
}

#[derive(Deserialize, Clone)]
#[serde(rename_all = "camelCase")]
struct Location {
    id: String,
    area: String,
    resource_name: String,
    route_template: String,
    resource_version: u32,
    min_version: String,
    max_version: String,
    released_version: String,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Area {
    id: String,
    location_url: String,
}

#[derive(Deserialize)]
struct Collection<T> {
    value: Vec<T>,
}

/// Why a request failed, and which kind of failure the service calls it.
struct Refused {
    key: String,
    text: String,
}

#[derive(Deserialize, Default)]
#[serde(rename_all = "camelCase")]
struct Problem {
    message: Option<String>,
    #[serde(default)]
    type_key: Option<String>,
    value: Option<Box<Problem>>,
}

impl Refused {
    fn plain(text: String) -> Self {
        Self { key: String::new(), text }
    }

    fn of(reply: &Reply) -> Self {
        if reply.body.is_empty() {
            return Self::plain(format!("Request returned status: {}", reply.status_text));
        }
        if reply.header("content-type").contains("text/plain") {
            return Self::plain(reply.text());
        }
        match reply.json::<Problem>() {
            Err(text) => Self::plain(text),
            Ok(problem) => {
                let inner = problem.value.and_then(|inner| inner.message);
                let unsaid = || format!("REST call returned status code {}", reply.status.as_u16());
                Self {
                    key: problem.type_key.unwrap_or_default(),
                    text: problem.message.or(inner).unwrap_or_else(unsaid),
                }
            }
        }
    }
}

impl Api {
    fn new(url: &str, organization: &str, access: &Access<'_>) -> Result<Self, Error> {
        let url = if url.is_empty() { "https://dev.azure.com" } else { url };
        let separator = if url.ends_with('/') { "" } else { "/" };
        let url = format!("{url}{separator}{organization}").trim_end_matches('/').to_lowercase();
        let session = Session::new(&url, Trust::default(), PATIENCE).map_err(Error::Setup)?;
        let session = session.with("x-tfs-fedauthredirect", "Suppress");
        let session = match access.secret {
            "" => session,
            token => session.with("authorization", basic("", token)),
        };
        Ok(Self { session, url, places: RefCell::default(), git: RefCell::default() })
    }

    async fn ask(&self, method: Method, url: &str, accept: &str) -> Result<Reply, Refused> {
        let reply = self.session.ask(method, url, &[("accept", accept)]).await.map_err(Refused::plain)?;
        if reply.status.is_success() { Ok(reply) } else { Err(Refused::of(&reply)) }
    }

    /// Where something is; what a URL offers is asked once.
    async fn location(&self, base: &str, id: &str) -> Result<Location, Refused> {
        let known = self.places.borrow().get(base).cloned();
        let known = match known {
            Some(known) => known,
            None => {
                let reply = self.ask(Method::OPTIONS, &format!("{base}/_apis"), "application/json").await?;
                let found = reply.json::<Collection<Location>>().map_err(Refused::plain)?.value;
                self.places.borrow_mut().insert(base.to_owned(), found.clone());
                found
            }
        };
        let found = known.into_iter().find(|location| location.id.eq_ignore_ascii_case(id));
        found.ok_or_else(|| Refused::plain(format!("API location ID {id} is not registered on {base}.")))
    }

    async fn send(
        &self,
        base: &str,
        (id, version): (&str, &str),
        route: &[(&str, &str)],
        query: &str,
    ) -> Result<Reply, Refused> {
        let location = self.location(base, id).await?;
        let query = if query.is_empty() { String::new() } else { format!("?{query}") };
        let url = format!("{base}{}{query}", path(&location, route));
        let accept = format!("application/json;api-version={}", negotiated(&location, version));
        self.ask(Method::GET, &url, &accept).await
    }

    /// URL of the Git services. A server of one's own names none and is asked again each time, as Argo CD does.
    async fn git(&self) -> Result<String, Refused> {
        if let Some(known) = &*self.git.borrow() {
            return Ok(known.clone());
        }
        let reply = self.send(&self.url, (AREAS, "5.1-preview.1"), &[], "").await?;
        let areas = reply.json::<Collection<Area>>().map_err(Refused::plain)?.value;
        if areas.is_empty() {
            return Ok(self.url.clone());
        }
        let git = areas
            .into_iter()
            .find(|area| area.id.eq_ignore_ascii_case(GIT))
            .ok_or_else(|| Refused::plain(format!("API resource area Id {GIT} is not registered on {}.", self.url)))?;
        let url = git.location_url.trim_end_matches('/').to_lowercase();
        *self.git.borrow_mut() = Some(url.clone());
        Ok(url)
    }

    async fn read<T: DeserializeOwned>(
        &self,
        base: &str,
        id: &str,
        route: &[(&str, &str)],
        query: &str,
    ) -> Result<T, Refused> {
        self.send(base, (id, VERSION), route, query).await?.json().map_err(Refused::plain)
    }
}

/// A location's path; parts that have no value are left out.
fn path(location: &Location, route: &[(&str, &str)]) -> String {
    let own = [("area", location.area.as_str()), ("resource", location.resource_name.as_str())];
    let template = location.route_template.replace("{*", "{");
    let mut path = String::new();
    for segment in template.split('/') {
        match segment.strip_prefix('{').and_then(|segment| segment.strip_suffix('}')) {
            None => path.push_str(&format!("/{segment}")),
            Some(name) => {
                if let Some((_, value)) = own.iter().chain(route).find(|(known, _)| *known == name) {
                    path.push_str(&format!("/{}", path_escape(value)));
                }
            }
        }
    }
    path
}

/// The version to speak: the wanted one, or the newest that the server knows.
fn negotiated(location: &Location, wanted: &str) -> String {
    let number = |text: &str| {
        let (major, minor) = text.split_once('.').unwrap_or((text, "0"));
        (major.parse::<u32>().unwrap_or_default(), minor.parse::<u32>().unwrap_or_default())
    };
    let (release, resource) = wanted.split_once("-preview.").unwrap_or((wanted, "1"));
    if number(&location.min_version) > number(release) {
        return wanted.to_owned();
    }
    if number(&location.max_version) < number(release) {
        let preview = if location.released_version < location.max_version { "-preview" } else { "" };
        return format!("{}{preview}", location.max_version);
    }
    format!("{release}-preview.{}", location.resource_version.min(resource.parse().unwrap_or(1)))
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Repo {
    id: Option<String>,
    name: Option<String>,
    default_branch: Option<String>,
    remote_url: Option<String>,
}

#[derive(Deserialize)]
struct Branch {
    name: Option<String>,
    commit: Option<Commit>,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Commit {
    commit_id: Option<String>,
}

/// A team project.
pub struct TeamProject<'a> {
    api: Api,
    from: &'a ScmAzureDevOps,
}

impl<'a> TeamProject<'a> {
    /// Prepares to ask.
    pub fn new(from: &'a ScmAzureDevOps, access: &Access<'_>) -> Result<Self, Error> {
        if access.secret.is_empty() {
            return Err(Error::Setup("no access token provided".to_owned()));
        }
        Ok(Self { api: Api::new(&from.api, &from.organization, access)?, from })
    }

    async fn git(&self) -> Result<String, String> {
        let git = self.api.git().await;
        git.map_err(|refused| {
            let text = refused.text;
            format!(
                "failed to get Azure DevOps client: failed to get new Azure DevOps git client for SCM generator: {text}"
            )
        })
    }
}

impl Host for TeamProject<'_> {
    async fn list(&self, _: &str) -> Result<Vec<Repository>, String> {
        let (git, route) = (self.git().await?, [("project", self.from.team_project.as_str())]);
        let listed: Collection<Repo> =
            self.api.read(&git, REPOSITORIES, &route, "").await.map_err(|refused| refused.text)?;
        let whole = listed.value.into_iter().filter_map(|repo| {
            Some(Repository {
                organization: self.from.organization.clone(),
                repository: repo.name?,
                repository_id: Value::String(repo.id?),
                url: repo.remote_url?,
                branch: repo.default_branch?,
                ..Repository::default()
            })
        });
        Ok(whole.collect())
    }

    async fn branches(&self, of: &Repository) -> Result<Vec<Repository>, String> {
        let git = self.git().await?;
        let (project, repo) = (self.from.team_project.as_str(), of.repository.as_str());
        let route = [("project", project), ("repositoryId", repo)];
        let listed = if self.from.all_branches {
            let listed = self.api.read::<Collection<Branch>>(&git, BRANCHES, &route, "").await;
            listed.map(|listed| listed.value).map_err(|refused| {
                let text =
                    format!("failed getting branches from repository {repo}, project {project}: {}", refused.text);
                Refused { text, ..refused }
            })
        } else {
            let name = of.branch.replacen("refs/heads/", "", 1);
            let query = format!("name={}", query_escape(&name));
            self.api.read::<Branch>(&git, BRANCHES, &route, &query).await.map(|branch| vec![branch]).map_err(
                |refused| {
                    let text = format!(
                        "could not get default branch {name} ({}) from repository {repo}: {}",
                        of.branch, refused.text
                    );
                    Refused { text, ..refused }
                },
            )
        };
        let listed = match listed {
            Ok(listed) => listed,
            Err(refused) if refused.key == "GitRepositoryNotFoundException" => Vec::new(),
            Err(refused) => return Err(refused.text),
        };
        let mut found = Vec::new();
        for branch in listed {
            let (Some(name), Some(commit)) = (branch.name, branch.commit) else {
                let branch = &of.branch;
                return Err(format!("invalid branch result after requesting branch {branch} from repository {repo}"));
            };
            found.push(Repository {
                branch: name,
                sha: commit.commit_id.unwrap_or_default(),
                labels: Vec::new(),
                ..of.clone()
            });
        }
        Ok(found)
    }

    async fn has_path(&self, of: &Repository, path: &str) -> Result<bool, String> {
        let git = self.git().await?;
        let id = of.repository_id.as_str().unwrap_or_default();
        let route = [("project", self.from.team_project.as_str()), ("repositoryId", id)];
        let query = format!("path={}&versionDescriptor.version={}", query_escape(path), query_escape(&of.branch));
        match self.api.send(&git, (ITEMS, VERSION), &route, &query).await {
            Ok(_) => Ok(true),
            Err(refused) if refused.key == "GitItemNotFoundException" => Ok(false),
            Err(refused) => Err(format!("failed to check for path existence in Azure DevOps: {}", refused.text)),
        }
    }
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Pull {
    pull_request_id: Option<i64>,
    title: Option<String>,
    repository: Option<Repo>,
    source_ref_name: Option<String>,
    target_ref_name: Option<String>,
    last_merge_source_commit: Option<Commit>,
    labels: Option<Vec<Label>>,
    created_by: Option<Creator>,
}

#[derive(Deserialize)]
struct Label {
    #[serde(default)]
    name: String,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Creator {
    #[serde(default)]
    unique_name: String,
}

/// Open pull requests of a repository.
pub async fn pull_requests(from: &PullRequestAzureDevOps, access: &Access<'_>) -> Result<Vec<PullRequest>, Error> {
    let api = Api::new(&from.api, &from.organization, access)?;
    let git = api.git().await.map_err(|refused| {
        let text = refused.text;
        Error::Asked(format!(
            "failed to get Azure DevOps client: failed to get new Azure DevOps git client for pull request generator: \
             {text}"
        ))
    })?;
    let route = [("project", from.project.as_str())];
    let listed: Collection<Pull> = api.read(&git, PULL_REQUESTS, &route, "").await.map_err(|refused| {
        if refused.text.contains("The following project does not exist") {
            return Error::NotFound(refused.text);
        }
        Error::Asked(format!("failed to get pull requests by project: {}", refused.text))
    })?;
    let whole = listed.value.into_iter().filter_map(|pull| {
        let is_wanted = pull.repository?.name? == from.repo;
        let short = |name: &str| name.replacen("refs/heads/", "", 1);
        let author = pull.created_by.map(|creator| creator.unique_name).unwrap_or_default();
        let found = PullRequest {
            number: pull.pull_request_id?,
            title: pull.title.unwrap_or_default(),
            branch: short(&pull.source_ref_name?),
            target_branch: short(&pull.target_ref_name?),
            head_sha: pull.last_merge_source_commit?.commit_id?,
            labels: pull.labels.into_iter().flatten().map(|label| label.name).collect(),
            author: author.split('@').next().unwrap_or_default().to_owned(),
        };
        (is_wanted && has_labels(&from.labels, &found.labels)).then_some(found)
    });
    Ok(whole.collect())
}
