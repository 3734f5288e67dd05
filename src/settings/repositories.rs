//! Repository Secrets, and which of them a URL and project get.
//!
//! In:  Secrets labelled as repositories or as credentials for URL prefixes, for reading and for writing.
//! Out: the repository for a URL, with credentials; lists that Helm and OCI sources are offered.
//! Invariant: a malformed Secret fails only the look-ups that meet it.
//! Source: REND-047, REND-051 to REND-055, REND-067, REND-068 (`util/db/repository.go`, `repository_secrets.go`).

use std::sync::Arc;

use super::repository::{Repository, RepositoryCredentials};
use super::{Secret, Trust, git_url};
use crate::gocompat::strconv::{self, quote};

/// Why a repository cannot be looked up; part of a source's error text (REND-055).
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum RepositoryError {
    /// The repository's own Secret is malformed.
    #[error("unable to get repository {url}: unable to get repository {url} from secrets backend: {source}", url = quote(.url))]
    Malformed {
        /// URL that was looked up.
        url: String,
        /// The malformed key's error.
        source: strconv::Error,
    },
    /// The Secret with credentials for the URL's prefix is malformed.
    #[error(
        "unable to enrich repository {url} info with credentials: failed to get repository credentials for {own}: \
         unable to get repository credentials for {own} from secrets backend: {source}",
        url = quote(.url), own = quote(.own)
    )]
    MalformedCredentials {
        /// URL that was looked up.
        url: String,
        /// URL of the repository's Secret.
        own: String,
        /// The malformed key's error.
        source: strconv::Error,
    },
}

/// A Secret that was read as far as it could be.
#[derive(Debug, Clone)]
struct Entry<T> {
    url: String,
    /// Normalised once, because every look-up compares it.
    normal_url: String,
    project: String,
    r#type: String,
    read: Result<T, strconv::Error>,
}

/// Secrets of one purpose: for reading sources, or for writing hydrated manifests.
#[derive(Debug, Clone, Default)]
struct Set {
    repositories: Vec<Entry<Repository>>,
    credentials: Vec<Entry<RepositoryCredentials>>,
}

/// All repository Secrets, and what the repositories' servers are checked against.
#[derive(Debug, Clone, Default)]
pub struct Repositories {
    read: Set,
    write: Set,
    trust: Arc<Trust>,
}

impl Repositories {
    /// Reads the Secrets that are labelled as repositories or credentials; others are left out.
    pub fn from_secrets<'a>(secrets: impl IntoIterator<Item = &'a Secret>) -> Self {
        let mut secrets: Vec<&Secret> = secrets.into_iter().collect();
        // The same Secrets always give the same answer.
        secrets.sort_by(|left, right| left.name.cmp(&right.name));
        Self {
            read: Set {
                repositories: entries(&secrets, "repository", Repository::from_secret),
                credentials: entries(&secrets, "repo-creds", RepositoryCredentials::from_secret),
            },
            write: Set {
                repositories: entries(&secrets, "repository-write", Repository::from_secret),
                credentials: entries(&secrets, "repo-write-creds", RepositoryCredentials::from_secret),
            },
            trust: Arc::default(),
        }
    }

    /// Checks servers against these certificates and host keys.
    pub fn trusting(self, trust: Trust) -> Self {
        Self { trust: Arc::new(trust), ..self }
    }

    /// What servers are checked against.
    pub fn trust(&self) -> &Arc<Trust> {
        &self.trust
    }

    /// The repository for a URL: the project's own, else everybody's, else one without credentials.
    ///
    /// # Errors
    /// The Secret that is met is malformed.
    pub fn get(&self, url: &str, project: &str) -> Result<Repository, RepositoryError> {
        self.read.get(url, project)
    }

    /// The repository that hydrated manifests are pushed to.
    ///
    /// # Errors
    /// The Secret that is met is malformed.
    pub fn get_for_writing(&self, url: &str, project: &str) -> Result<Repository, RepositoryError> {
        self.write.get(url, project)
    }

    /// URLs of the repositories whose Secrets name the project.
    pub fn urls_of_project(&self, project: &str) -> impl Iterator<Item = &str> {
        let entries = self.read.repositories.iter();
        entries.filter(move |entry| !project.is_empty() && entry.project == project).map(|entry| entry.url.as_str())
    }

    /// Helm repositories with a name, credentials filled in: those that charts may depend on.
    pub fn helm_repositories(&self) -> impl Iterator<Item = Repository> {
        self.of_type("helm").filter(|repository| !repository.name.is_empty())
    }

    /// OCI repositories, credentials filled in.
    pub fn oci_repositories(&self) -> impl Iterator<Item = Repository> {
        self.of_type("oci")
    }

    /// Credentials for URL prefixes of this type, in any case.
    pub fn credentials_of_type(&self, wanted: &str) -> impl Iterator<Item = &RepositoryCredentials> {
        let entries = self.read.credentials.iter();
        entries
            .filter(move |entry| entry.r#type.eq_ignore_ascii_case(wanted))
            .filter_map(|entry| entry.read.as_ref().ok())
    }

    /// Malformed Secrets are left out here, because one must not break all sources (REND-055).
    fn of_type(&self, wanted: &str) -> impl Iterator<Item = Repository> {
        let entries = self.read.repositories.iter().filter(move |entry| entry.r#type == wanted);
        entries.filter_map(|entry| self.read.enriched(entry.read.as_ref().ok()?.clone(), &entry.url).ok())
    }
}

impl Set {
    fn get(&self, url: &str, project: &str) -> Result<Repository, RepositoryError> {
        let mut same = self.repositories.iter().filter(|entry| git_url::same(&entry.url, url));
        let found = same
            .clone()
            .find(|entry| entry.project == project)
            .or_else(|| same.rfind(|entry| entry.project.is_empty()));
        let repository = match found {
            None => Repository::anonymous(url),
            Some(entry) => {
                entry.read.clone().map_err(|source| RepositoryError::Malformed { url: url.to_owned(), source })?
            }
        };
        self.enriched(repository, url)
    }

    /// Adds the credentials of the longest URL prefix to a repository that has none.
    fn enriched(&self, mut repository: Repository, url: &str) -> Result<Repository, RepositoryError> {
        if repository.has_credentials() {
            return Ok(repository);
        }
        let normal = git_url::normalize(&repository.url);
        let mut longest: Option<&Entry<RepositoryCredentials>> = None;
        for entry in self.credentials.iter().filter(|entry| normal.starts_with(&entry.normal_url)) {
            // The first of equal ones stays; an empty prefix never counts.
            if entry.normal_url.len() > longest.map_or(0, |entry| entry.normal_url.len()) {
                longest = Some(entry);
            }
        }
        if let Some(entry) = longest {
            let credentials = entry.read.as_ref().map_err(|source| RepositoryError::MalformedCredentials {
                url: url.to_owned(),
                own: repository.url.clone(),
                source: source.clone(),
            })?;
            repository.inherit(credentials);
        }
        Ok(repository)
    }
}

fn entries<T>(
    secrets: &[&Secret],
    secret_type: &str,
    read: impl Fn(&Secret) -> Result<T, strconv::Error>,
) -> Vec<Entry<T>> {
    let wanted = secrets.iter().filter(|secret| secret.is_type(secret_type));
    wanted
        .map(|secret| {
            let url = secret.text("url");
            Entry {
                normal_url: git_url::normalize(&url),
                url,
                project: secret.text("project"),
                r#type: secret.text("type"),
                read: read(secret),
            }
        })
        .collect()
}
