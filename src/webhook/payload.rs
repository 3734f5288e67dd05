//! What the bodies of webhooks say.
//!
//! In:  a body whose signature was good.
//! Out: an event.
//! Invariant: fields that decide nothing are not looked at, so that a sender may change them; `null` is an absent field.
//! Source: HOOK-007 to HOOK-010, HOOK-018, HOOK-021 (`util/webhook/webhook.go` `affectedRevisionInfo`,
//! `util/webhook/ghcr.go`, `applicationset/webhook/webhook.go` `getPRGeneratorInfo`).

use serde::de::{Deserialize, DeserializeOwned, Deserializer, IgnoredAny};

use super::{Event, Published, Push, Refusal};

/// A pull request that changed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum MergeRequest {
    /// At GitHub.
    GitHub {
        /// Organisation or user.
        owner: String,
        /// Repository.
        repo: String,
        /// Address of the repository in the API.
        api: String,
    },
    /// At GitLab.
    GitLab {
        /// Number of the project.
        project: String,
        /// Address of the project's page.
        url: String,
    },
    /// At Azure DevOps.
    Azure {
        /// Project.
        project: String,
        /// Repository.
        repo: String,
    },
}

/// `null` is as good as nothing.
fn lax<'de, D: Deserializer<'de>, T: Deserialize<'de> + Default>(from: D) -> Result<T, D::Error> {
    Ok(Option::<T>::deserialize(from)?.unwrap_or_default())
}

macro_rules! payload {
    ($( $name:ident { $( $field:ident : $ty:ty = $key:literal ),* $(,)? } )*) => { $(
        #[derive(serde::Deserialize, Default)]
        struct $name { $( #[serde(default, rename = $key, deserialize_with = "lax")] $field: $ty, )* }
    )* };
}

payload! {
    Hub { reference: String = "ref", repository: HubRepository = "repository", commits: Vec<Option<Commit>> = "commits" }
    HubRepository { url: String = "html_url", default_branch: String = "default_branch" }
    Commit { added: Vec<String> = "added", modified: Vec<String> = "modified", removed: Vec<String> = "removed" }
    Lab { reference: String = "ref", project: LabProject = "project", commits: Vec<Option<Commit>> = "commits",
          attributes: LabAttributes = "object_attributes" }
    LabProject { url: String = "web_url", default_branch: String = "default_branch" }
    LabAttributes { action: String = "action", target: i64 = "target_project_id" }
    LabKind { object: String = "object_kind", event: String = "event_name" }
    Azure { event: String = "eventType", resource: AzureResource = "resource" }
    AzureResource { updates: Vec<AzureUpdate> = "refUpdates", repository: AzureRepository = "repository" }
    AzureUpdate { name: String = "name" }
    AzureRepository { name: String = "name", url: String = "remoteUrl", default_branch: String = "defaultBranch",
                      project: Named = "project" }
    Named { name: String = "name" }
    Bitbucket { repository: BitbucketRepository = "repository", push: BitbucketPush = "push" }
    BitbucketRepository { links: BitbucketLinks = "links" }
    BitbucketLinks { html: Link = "html" }
    Link { href: String = "href" }
    BitbucketPush { changes: Vec<BitbucketChange> = "changes" }
    BitbucketChange { new: Named = "new" }
    Server { repository: ServerRepository = "repository", changes: Vec<ServerChange> = "changes" }
    ServerRepository { links: ServerLinks = "links" }
    ServerLinks { clone: serde_json::Value = "clone" }
    ServerChange { reference: ServerReference = "ref" }
    ServerReference { id: String = "id" }
    Package { action: String = "action", package: PackageBody = "package" }
    PackageBody { name: String = "name", kind: String = "package_type", owner: Login = "owner",
                  version: PackageVersion = "package_version" }
    Login { login: String = "login" }
    PackageVersion { container: Container = "container_metadata" }
    Container { tag: Named = "tag" }
    PullRequest { action: String = "action", repository: PullRepository = "repository" }
    PullRepository { name: String = "name", url: String = "url", owner: Login = "owner" }
}

fn read<T: DeserializeOwned>(body: &[u8]) -> Result<T, Refusal> {
    serde_json::from_slice(body).map_err(|error| {
        let place = format!("invalid JSON at line {} column {}", error.line(), error.column());
        Refusal::Other(if error.is_eof() { "unexpected end of JSON input".to_owned() } else { place })
    })
}

/// The name of a branch or tag: what follows the second slash (HOOK-010).
pub fn short_revision(reference: &str) -> &str {
    reference.splitn(3, '/').last().unwrap_or_default()
}

fn files(commits: Vec<Option<Commit>>) -> Vec<String> {
    commits.into_iter().flatten().flat_map(|of| of.added.into_iter().chain(of.modified).chain(of.removed)).collect()
}

fn push(urls: Vec<String>, reference: &str, touched_head: bool) -> Push {
    Push { urls, revision: short_revision(reference).to_owned(), touched_head, ..Push::default() }
}

/// A body that must be JSON, and no more.
pub fn nothing(body: &[u8]) -> Result<Option<Event>, Refusal> {
    read::<IgnoredAny>(body).map(|_| None)
}

/// A push of GitHub, Gogs, Gitea or Forgejo.
pub fn hub(body: &[u8]) -> Result<Option<Event>, Refusal> {
    let Hub { reference, repository, commits } = read(body)?;
    let touched_head = repository.default_branch == short_revision(&reference);
    let files = files(commits);
    Ok(Some(Event::Push(Push { files, ..push(vec![repository.url], &reference, touched_head) })))
}

/// A pull request of GitHub.
pub fn github_pull_request(body: &[u8]) -> Result<Option<Event>, Refusal> {
    let PullRequest { action, repository } = read(body)?;
    const ACTIONS: [&str; 6] = ["opened", "closed", "synchronize", "labeled", "reopened", "unlabeled"];
    let PullRepository { name: repo, url: api, owner } = repository;
    let event = MergeRequest::GitHub { owner: owner.login, repo, api };
    Ok(ACTIONS.contains(&action.as_str()).then_some(Event::PullRequest(event)))
}

/// Anything of GitLab; a system hook says in its body what it is.
pub fn gitlab(body: &[u8], event: &str, for_sets: bool) -> Result<Option<Event>, Refusal> {
    let event = if event == "System Hook" { system_hook(&read(body)?)? } else { event };
    if event == "Merge Request Hook" && !for_sets {
        return Err(Refusal::Other("event not defined to be parsed".to_owned()));
    }
    if event.is_empty() {
        return Ok(None);
    }
    let Lab { reference, project, commits, attributes } = read(body)?;
    if event == "Merge Request Hook" {
        const ACTIONS: [&str; 5] = ["open", "close", "reopen", "update", "merge"];
        let request = MergeRequest::GitLab { project: attributes.target.to_string(), url: project.url };
        return Ok(ACTIONS.contains(&attributes.action.as_str()).then_some(Event::PullRequest(request)));
    }
    let touched_head = project.default_branch == short_revision(&reference);
    let (files, not_for_sets) = (files(commits), event == "Tag Push Hook");
    Ok(Some(Event::Push(Push { files, not_for_sets, ..push(vec![project.url], &reference, touched_head) })))
}

/// Which hook a system hook stands for; empty for those that concern no repository's content.
fn system_hook(kind: &LabKind) -> Result<&'static str, Refusal> {
    let hook = |name: &str| match name {
        "push" => Some("Push Hook"),
        "tag_push" => Some("Tag Push Hook"),
        "merge_request" => Some("Merge Request Hook"),
        _ => None,
    };
    if let Some(hook) = hook(&kind.object).or_else(|| hook(&kind.event)) {
        return Ok(hook);
    }
    let people = ["project_", "user_", "key_", "group_"];
    match people.iter().any(|prefix| kind.event.starts_with(prefix)) {
        true => Ok(""),
        false => Err(Refusal::Other("unknown system hook event System Hook".to_owned())),
    }
}

/// Anything of Azure DevOps.
pub fn azure(body: &[u8]) -> Result<Option<Event>, Refusal> {
    let Azure { event, resource } = read(body).map_err(|_| Refusal::Payload)?;
    let repository = resource.repository;
    match event.as_str() {
        "git.push" => {
            let name = resource.updates.into_iter().next().unwrap_or_default().name;
            let touched_head = !name.is_empty() && name == repository.default_branch;
            Ok(Some(Event::Push(push(vec![repository.url], &name, touched_head))))
        }
        "git.pullrequest.created" | "git.pullrequest.merged" | "git.pullrequest.updated" => {
            let (project, repo) = (repository.project.name, repository.name);
            Ok(Some(Event::PullRequest(MergeRequest::Azure { project, repo })))
        }
        "build.complete" => Ok(None),
        other => Err(Refusal::Other(format!("unknown event {other}"))),
    }
}

/// A push of Bitbucket Cloud, which says neither which files changed nor which branch is the default.
pub fn bitbucket(body: &[u8]) -> Result<Option<Event>, Refusal> {
    let Bitbucket { repository, push: pushed } = read(body)?;
    let revision = pushed.changes.into_iter().next().unwrap_or_default().new.name;
    let urls = vec![repository.links.html.href];
    Ok(Some(Event::Push(Push { urls, revision, touched_head: true, ..Push::default() })))
}

/// A push of Bitbucket Server, which says neither which files changed nor which branch is the default.
pub fn bitbucket_server(body: &[u8]) -> Result<Option<Event>, Refusal> {
    let Server { repository, changes } = read(body)?;
    let links = repository.links.clone.as_array().cloned().unwrap_or_default();
    let is_clone = |link: &&serde_json::Value| matches!(link["name"].as_str(), Some("http" | "ssh"));
    let urls = links.iter().filter(is_clone).filter_map(|link| link["href"].as_str().map(str::to_owned)).collect();
    let reference = changes.into_iter().next().unwrap_or_default().reference.id;
    Ok(Some(Event::Push(push(urls, &reference, true))))
}

/// A package of GitHub's registry.
pub fn package(body: &[u8]) -> Result<Option<Event>, Refusal> {
    let Package { action, package } = read(body)?;
    let tag = package.version.container.tag.name;
    if action != "published" || !package.kind.eq_ignore_ascii_case("container") || tag.is_empty() {
        return Ok(None);
    }
    let repository = format!("ghcr.io/{}/{}", package.owner.login, package.name);
    Ok(Some(Event::Published(Published { repository, tag })))
}
