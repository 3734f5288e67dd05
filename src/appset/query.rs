//! What an ApplicationSet needs to know from outside, and what is known so far.
//!
//! In:  questions that the generators of one set ask; answers, or why there is none.
//! Out: the answer to each question.
//! Invariant: a question holds no secret, only names of Secrets; a question that failed is an error, never an empty
//! answer.
//! Source: SET-027 to SET-058 (`applicationset/generators`, `applicationset/services`).

use std::collections::BTreeMap;

use serde_json::{Map, Value};

use crate::api::appset::{LabelSelector, PullRequestGenerator, ScmProviderGenerator};

/// A question. Equal questions have equal answers, so each is asked once in a pass.
#[derive(Debug, Clone, PartialEq)]
pub enum Query {
    /// All directories of a commit: paths from the root, in lexical order of a walk, without the root and without
    /// directories (and what is below them) whose name begins with a dot. Answer: [`Answer::Directories`].
    GitDirectories {
        /// Repository URL.
        repo_url: String,
        /// Branch, tag, commit; empty means `HEAD`.
        revision: String,
        /// Project whose credentials and source integrity count; empty when the set's project is a template: then
        /// only credentials without a project do, and integrity is not looked at.
        project: String,
    },
    /// The files of a commit that a pattern matches. Answer: [`Answer::Files`].
    GitFiles {
        /// Repository URL.
        repo_url: String,
        /// Branch, tag, commit; empty means `HEAD`.
        revision: String,
        /// As for directories.
        project: String,
        /// The pattern; [`super::globs::Pattern`] says which paths match.
        pattern: String,
        /// How the pattern is read.
        globbing: Globbing,
    },
    /// The data of a ConfigMap in Argo CD's namespace. Answer: [`Answer::ConfigMap`].
    ConfigMap {
        /// Its name.
        name: String,
    },
    /// Objects of a kind in Argo CD's namespace, whole. Answer: [`Answer::Objects`].
    Objects {
        /// API group.
        group: String,
        /// Version.
        version: String,
        /// Plural name of the kind, as it stands in the URL.
        resource: String,
        /// The only object that counts; empty when the selector decides.
        name: String,
        /// Which objects count when no name is given.
        selector: LabelSelector,
    },
    /// Repositories of a source code host, filters applied. The generator holds what is asked only: template, values
    /// and interval are taken out. Answer: [`Answer::Repositories`].
    ScmProvider(Box<ScmProviderGenerator>),
    /// Pull requests of a repository; filters need not be applied, this room does. The generator holds what is asked
    /// only. Answer: [`Answer::PullRequests`].
    PullRequests(Box<PullRequestGenerator>),
    /// Parameters from a plugin's HTTP service. Answer: [`Answer::Parameters`].
    Plugin(Box<PluginQuery>),
}

/// What is asked of a plugin.
#[derive(Debug, Clone, PartialEq)]
pub struct PluginQuery {
    /// Name of the set, sent along.
    pub set: String,
    /// URL without `/api/v1/getparams.execute`.
    pub base_url: String,
    /// Secret in Argo CD's namespace that holds the token.
    pub secret: String,
    /// The token as the ConfigMap gives it without the Secret's name: `$key`.
    pub token: String,
    /// Seconds until the call is given up.
    pub timeout: u64,
    /// `input.parameters`.
    pub parameters: BTreeMap<String, Value>,
}

/// How patterns of the Git file generator are read.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Globbing {
    /// As Git's pathspecs: `*` crosses `/`.
    #[default]
    Pathspec,
    /// As globs of paths: `*` stops at `/`, `**` does not (`--enable-new-git-file-globbing`).
    Doublestar,
}

/// The answer to a question.
#[derive(Debug, Clone, PartialEq)]
pub enum Answer {
    /// Paths of directories.
    Directories(Vec<String>),
    /// Contents of files by path.
    Files(BTreeMap<String, Vec<u8>>),
    /// Data of a ConfigMap.
    ConfigMap(BTreeMap<String, String>),
    /// Objects, in the order of the list.
    Objects(Vec<Value>),
    /// Repositories and branches.
    Repositories(Vec<Repository>),
    /// Pull requests.
    PullRequests(Vec<PullRequest>),
    /// `output.parameters` of a plugin's reply.
    Parameters(Vec<Map<String, Value>>),
}

/// One branch of one repository.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Repository {
    /// Organisation, group or owner.
    pub organization: String,
    /// Name.
    pub repository: String,
    /// The host's id: a number for most, a text for some.
    pub repository_id: Value,
    /// URL to clone.
    pub url: String,
    /// Branch.
    pub branch: String,
    /// Commit of the branch.
    pub sha: String,
    /// Labels or topics.
    pub labels: Vec<String>,
}

/// One pull request.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct PullRequest {
    /// Number.
    pub number: i64,
    /// Title.
    pub title: String,
    /// Branch it comes from.
    pub branch: String,
    /// Branch it goes to.
    pub target_branch: String,
    /// Commit of the branch it comes from.
    pub head_sha: String,
    /// Labels.
    pub labels: Vec<String>,
    /// Who opened it.
    pub author: String,
}

/// Why a question has no answer. The text is the part that Argo CD's own wrapping ends with; which wrapping that is,
/// the stage says.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{text}")]
pub struct QueryError {
    /// How far the question came.
    pub stage: Stage,
    /// Text for people, without secrets.
    pub text: String,
}

/// How far a question came before it failed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Stage {
    /// Before anything was asked: credentials, certificates, the repository's entry.
    ///
    /// Git: behind `error in GetRepository: `. Hosts: the whole text (`error fetching Gitlab token: …`), which the
    /// pull request generator puts behind `failed to select pull request service provider: `. Plugin: behind
    /// `error getting plugin from generator: `.
    Setup,
    /// The answer was an error.
    ///
    /// Git: behind `error retrieving Git Directories: ` or `error retrieving Git files: `, so that it begins with
    /// `rpc error: code = Internal desc = `. Hosts: behind `error listing repos: `. Plugin: behind
    /// `error listing params: `. Kubernetes: the API server's text.
    Asked,
    /// The host says that the repository does not exist. Pull requests only.
    RepositoryNotFound,
}

/// What is known so far.
#[derive(Debug, Clone, Default)]
pub struct Answers {
    known: Vec<(Query, Result<Answer, QueryError>)>,
}

impl Answers {
    /// Remembers the answer to a question; a later answer replaces an earlier one.
    pub fn insert(&mut self, query: Query, answer: Result<Answer, QueryError>) {
        match self.known.iter_mut().find(|(known, _)| *known == query) {
            Some((_, old)) => *old = answer,
            None => self.known.push((query, answer)),
        }
    }

    /// The answer to a question; nothing when it has not been asked yet.
    pub fn get(&self, query: &Query) -> Option<&Result<Answer, QueryError>> {
        self.known.iter().find(|(known, _)| known == query).map(|(_, answer)| answer)
    }
}
