//! The store: listings, fetches and checkouts of all repositories.
//!
//! In:  what callers ask for, at any time and any number of them.
//! Out: answers that callers share.
//! Invariant: the lock of a repository is held while its child runs. Whoever waits for the lock and finds an answer that was
//! begun after it asked takes that answer, also when it is a failure; and a failure is taken for as long again as it took to
//! find out. So a dead server costs one timeout and leaves half of the time to others, whatever the number of apps.
//! Source: REND-025 to REND-036.

use std::collections::{BTreeMap, HashMap};
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

use git2::Repository;
use sha2::{Digest, Sha256};
use tokio::sync::Mutex as AsyncMutex;

use super::access::RepoAccess;
use super::attempt::Attempt;
use super::checkout::{Checkout, Submodule, Trees, Wanted};
use super::contents::Contents;
use super::environment::{Environment, Purpose};
use super::error::{Error, Failure};
use super::folder::Folder;
use super::git::{self, Fetch, Remote, Timeouts};
use super::github::{Tokens, Whose};
use super::lfs::{self, LargeFile};
use super::login::{Https, Login};
use super::refs::{self, Listing};
use super::silence::Silence;
use super::{changes, leftovers, list_failure, submodules};
use crate::settings::git_url;

/// Settings of the store.
#[derive(Debug, Clone, Copy)]
pub struct Options {
    /// How long git children may run.
    pub timeouts: Timeouts,
    /// Checked-out trees that are kept when nobody uses them.
    pub keep_checkouts: usize,
    /// `reposerver.allow.oob.symlinks`.
    pub allow_links_out: bool,
    /// `reposerver.enable.git.submodule`.
    pub submodules: bool,
}

impl Default for Options {
    fn default() -> Self {
        Self { timeouts: Timeouts::default(), keep_checkouts: 32, allow_links_out: false, submodules: true }
    }
}

/// A revision to resolve.
#[derive(Debug, Clone, Copy, Default)]
pub struct Revision<'a> {
    /// `targetRevision`; empty means `HEAD`.
    pub text: &'a str,
    /// `tagPrefix` of the source, empty for none.
    pub tag_prefix: &'a str,
    /// How old a listing may be; zero asks the server.
    pub max_age: Duration,
}

impl<'a> From<&'a str> for Revision<'a> {
    fn from(text: &'a str) -> Self {
        Self { text, ..Self::default() }
    }
}

/// Every hundredth fetch lets git repack: often enough to keep packs few, seldom enough not to be felt.
const FETCHES_PER_REPACK: u64 = 100;

/// More than this is a repository that contains itself.
const MAX_SUBMODULES: usize = 200;

/// Listings are remembered per repository and login; of more than this, those that nobody waits for are forgotten.
const MAX_LISTINGS: usize = 1000;

/// The last listing of a repository or why there was none; locked while one runs.
type LastListing = AsyncMutex<Option<(Attempt, Result<Arc<Listing>, Error>)>>;

#[derive(Debug)]
struct Bare {
    dir: PathBuf,
    hash: String,
    state: AsyncMutex<FetchState>,
}

#[derive(Debug, Default)]
struct FetchState {
    fetches: u64,
    /// The last failure, with the revision it was for.
    failure: Option<(Attempt, String, Error)>,
}

/// All repositories of a cache directory.
#[derive(Debug)]
pub struct Store {
    folder: Folder,
    private: PathBuf,
    options: Options,
    listings: Mutex<HashMap<RepoAccess, Arc<LastListing>>>,
    bares: Mutex<HashMap<String, Arc<Bare>>>,
    silence: Silence,
    tokens: Tokens,
    trees: Trees,
}

impl Store {
    /// Opens a cache directory.
    ///
    /// # Errors
    /// The directory cannot be made or written.
    pub fn new(dir: &Path) -> std::io::Result<Self> {
        Self::with_options(dir, Options::default())
    }
    /// Opens a cache directory with settings.
    ///
    /// # Errors
    /// The directory cannot be made or written.
    pub fn with_options(dir: &Path, options: Options) -> std::io::Result<Self> {
        let folder = Folder::open(dir)?;
        Ok(Self {
            private: folder.private(),
            folder,
            options,
            listings: Mutex::default(),
            bares: Mutex::default(),
            silence: Silence::default(),
            tokens: Tokens::default(),
            trees: Trees::default(),
        })
    }
    /// Directory for credentials while a child needs them; nobody else can read it.
    pub fn private(&self) -> PathBuf {
        self.private.clone()
    }
    /// Directory in which renders may make private copies; on the same file system as the checkouts.
    pub fn scratch(&self) -> PathBuf {
        self.folder.scratch()
    }

    /// The commit that a revision names: a full SHA, or a short one that [`Store::fetch`] expands.
    ///
    /// # Errors
    /// The server gave no listing, or nothing has that name.
    pub async fn resolve(&self, repo: &RepoAccess, revision: impl Into<Revision<'_>>) -> Result<String, Error> {
        let revision = revision.into();
        if refs::is_sha(revision.text) {
            return Ok(revision.text.to_owned());
        }
        self.listing(repo, revision.max_age).await?.resolve(revision.text, revision.tag_prefix)
    }

    /// The references of a repository, at most `max_age` old.
    ///
    /// # Errors
    /// The server gave no listing.
    pub async fn listing(&self, repo: &RepoAccess, max_age: Duration) -> Result<Arc<Listing>, Error> {
        let asked = Instant::now();
        let slot = self.last_listing(repo);
        let mut last = slot.lock().await;
        let oldest = asked.checked_sub(max_age).unwrap_or(asked);
        match &*last {
            Some((attempt, Ok(listing))) if attempt.begun >= oldest => return Ok(listing.clone()),
            Some((attempt, Err(error))) if attempt.answers(asked) => return Err(error.clone()),
            _ => {}
        }
        let begun = Instant::now();
        if self.silent_host(repo, begun).is_some() {
            return Err(list_failure::silent(repo));
        }
        let listing = async { git::list(self.remote(repo, &self.login(repo).await?)).await }.await;
        let attempt = Attempt::since(begun);
        self.note(repo, attempt, listing.as_ref().err());
        let result = match listing {
            Ok(output) => Ok(Arc::new(Listing::parse(&output))),
            Err(failure) => Err(list_failure::of(&failure, repo)),
        };
        let result = result.and_then(|listing| {
            let is_empty = listing.is_empty();
            if is_empty { Err(Error::ListRefs("remote repository is empty".to_owned())) } else { Ok(listing) }
        });
        *last = Some((attempt, result.clone()));
        result
    }

    fn last_listing(&self, repo: &RepoAccess) -> Arc<LastListing> {
        let mut listings = lock(&self.listings);
        if listings.len() >= MAX_LISTINGS {
            listings.retain(|_, last| Arc::strong_count(last) > 1);
        }
        listings.entry(repo.clone()).or_default().clone()
    }

    /// What a tool needs that runs git by itself, as kustomize does with remote bases. Keep it while the tool runs.
    ///
    /// # Errors
    /// There is nothing to log in with.
    pub async fn environment(&self, repo: &RepoAccess) -> Result<Environment, Error> {
        let login = self.login(repo).await.map_err(Error::Fetch)?;
        let environment = Environment::new(repo, &login, (&self.private, Purpose::Fetching), &[]);
        environment.map_err(|error| Error::disk("writing credentials", &error))
    }

    /// The login of a repository, with the tokens that it needs.
    async fn login(&self, repo: &RepoAccess) -> Result<Login, Failure> {
        match &repo.login {
            Login::Unsupported(what) => Err(Failure::Credentials(format!(
                "logging in to repositories with {what} is not supported by this build"
            ))),
            Login::App(app) => {
                let (route, limit) = (repo.route_to(&app.api), self.options.timeouts.list);
                let token = self.tokens.token(app, Whose::Repository(&repo.url), &route, limit).await;
                Ok(Login::Https(Https::token(token.map_err(Failure::Credentials)?)))
            }
            login => Ok(login.clone()),
        }
    }

    fn remote<'a>(&'a self, repo: &'a RepoAccess, login: &'a Login) -> Remote<'a> {
        Remote { repo, login, private: &self.private, timeouts: &self.options.timeouts }
    }

    /// The repository's host when it is left alone because it does not answer.
    fn silent_host(&self, repo: &RepoAccess, now: Instant) -> Option<String> {
        let host = repo.authority()?.place();
        self.silence.is_silent(&host, now).then_some(host)
    }

    /// Remembers whether the repository's host answered.
    fn note(&self, repo: &RepoAccess, attempt: Attempt, failure: Option<&Failure>) {
        let Some(authority) = repo.authority() else { return };
        match failure {
            Some(failure) if failure.is_silence() => {
                self.silence.unanswered(&authority.place(), &repo.url, (attempt.ended, attempt.took()));
            }
            Some(Failure::Credentials(_) | Failure::Silent(_)) => {}
            _ => self.silence.answered(&authority.place()),
        }
    }

    /// Makes the commit present and returns its full SHA; `sha` may be short. No child runs when it is present already.
    ///
    /// # Errors
    /// The server did not give the commit.
    pub async fn fetch(&self, repo: &RepoAccess, sha: &str) -> Result<String, Error> {
        let asked = Instant::now();
        let bare = self.bare(repo);
        if let Some(commit) = find_commit(&bare.dir, sha) {
            return Ok(commit);
        }
        let mut state = bare.state.lock().await;
        if let Some(commit) = find_commit(&bare.dir, sha) {
            return Ok(commit);
        }
        match &state.failure {
            Some((attempt, revision, error)) if revision == sha && attempt.answers(asked) => return Err(error.clone()),
            _ => {}
        }
        let begun = Instant::now();
        if let Some(host) = self.silent_host(repo, begun) {
            return Err(Error::Fetch(Failure::Silent(host)));
        }
        let tidy = state.fetches % FETCHES_PER_REPACK == FETCHES_PER_REPACK - 1;
        state.fetches += 1;
        let result = self.fetch_from_server(repo, &bare.dir, sha, tidy).await;
        if result.is_err() {
            leftovers::remove(&bare.dir, 2 * (self.options.timeouts.exec + self.options.timeouts.grace));
        }
        let attempt = Attempt::since(begun);
        self.note(repo, attempt, result.as_ref().err().and_then(Error::failure));
        state.failure = result.as_ref().err().map(|error| (attempt, sha.to_owned(), error.clone()));
        result
    }

    async fn fetch_from_server(&self, repo: &RepoAccess, dir: &Path, sha: &str, tidy: bool) -> Result<String, Error> {
        // Only hexadecimal digits go on to git's command line.
        if sha.is_empty() || !sha.bytes().all(|b| b.is_ascii_hexdigit()) {
            return Err(Error::Unresolved(sha.to_owned()));
        }
        open_or_init(dir)?;
        let login = self.login(repo).await.map_err(Error::Fetch)?;
        let remote = self.remote(repo, &login);
        let first = if repo.depth > 0 { Fetch::Revision(sha) } else { Fetch::Everything };
        git::fetch(remote, dir, first, tidy).await.map_err(Error::Fetch)?;
        if let Some(commit) = find_commit(dir, sha) {
            return Ok(commit);
        }
        let explicit = git::fetch(remote, dir, Fetch::Revision(sha), tidy).await;
        explicit.map_err(|source| Error::FetchRevision { revision: sha.to_owned(), source })?;
        find_commit(dir, sha)
            .or_else(|| find_commit(dir, "FETCH_HEAD"))
            .ok_or_else(|| Error::NotACommit(format!("'{sha}' is no commit")))
    }

    /// The tree of a commit that [`Store::fetch`] returned, on disk.
    ///
    /// # Errors
    /// The commit is not present, a link leaves the repository, or the disk refuses.
    pub async fn checkout(&self, repo: &RepoAccess, commit: &str) -> Result<Checkout, Error> {
        let bare = self.bare(repo);
        let wanted = Wanted {
            root: self.folder.trees().join(format!(
                "{}-{commit}{}",
                bare.hash,
                if repo.large_files { "-lfs" } else { "" }
            )),
            bare: bare.dir.clone(),
            commit: commit.to_owned(),
            submodules: self.submodules(repo, commit).await?,
            large_files: self.large_files(repo, commit).await?,
            allow_links_out: self.options.allow_links_out,
            keep: self.options.keep_checkouts,
        };
        self.trees.get(wanted).await
    }

    /// Paths of the folders of a commit that [`Store::fetch`] returned; hidden ones are left out.
    ///
    /// # Errors
    /// The commit or a submodule is not present.
    pub async fn folders(&self, repo: &RepoAccess, commit: &str, submodules: bool) -> Result<Vec<String>, Error> {
        let contents = self.contents(repo, commit, submodules).await?;
        let found = tokio::task::spawn_blocking(move || contents.folders()).await;
        found.map_err(|error| Error::Cache(error.to_string()))?
    }

    /// Contents of the wanted files of a commit that [`Store::fetch`] returned, by path.
    ///
    /// # Errors
    /// The commit or a submodule is not present, or a file cannot be read.
    pub async fn files(
        &self,
        repo: &RepoAccess,
        (commit, submodules): (&str, bool),
        wanted: impl Fn(&str) -> bool + Send + 'static,
    ) -> Result<BTreeMap<String, Vec<u8>>, Error> {
        let contents = self.contents(repo, commit, submodules).await?;
        let large = self.large_files(repo, commit).await?;
        let bare = self.bare(repo).dir.clone();
        let found = tokio::task::spawn_blocking(move || {
            let mut found = contents.files(&wanted)?;
            for file in &large {
                if let Some(content) = found.get_mut(&file.path) {
                    *content = file.read(&bare)?;
                }
            }
            Ok(found)
        });
        found.await.map_err(|error| Error::Cache(error.to_string()))?
    }

    async fn contents(&self, repo: &RepoAccess, commit: &str, submodules: bool) -> Result<Contents, Error> {
        let submodules = if submodules { self.submodules(repo, commit).await? } else { Vec::new() };
        Ok(Contents { bare: self.bare(repo).dir.clone(), commit: commit.to_owned(), submodules })
    }

    /// The large files of a commit, with their content present.
    async fn large_files(&self, repo: &RepoAccess, commit: &str) -> Result<Vec<LargeFile>, Error> {
        if !repo.large_files {
            return Ok(Vec::new());
        }
        let bare = self.bare(repo);
        let (dir, wanted) = (bare.dir.clone(), commit.to_owned());
        let found = tokio::task::spawn_blocking(move || lfs::of(&dir, &wanted)).await;
        let found = found.map_err(|error| Error::Cache(error.to_string()))??;
        let is_complete = || found.iter().all(|file| file.is_present(&bare.dir));
        if !is_complete() {
            let _turn = bare.state.lock().await;
            if !is_complete() {
                let login = self.login(repo).await.map_err(Error::Fetch)?;
                let fetched = git::fetch_large_files(self.remote(repo, &login), &bare.dir, commit).await;
                fetched.map_err(Error::Fetch)?;
            }
        }
        Ok(found)
    }

    /// All submodules of a commit, outer ones first, with their commits present.
    async fn submodules(&self, repo: &RepoAccess, commit: &str) -> Result<Vec<Submodule>, Error> {
        let mut found = Vec::new();
        if !self.options.submodules {
            return Ok(found);
        }
        let mut open = vec![(repo.clone(), commit.to_owned(), String::new())];
        while let Some((parent, commit, place)) = open.pop() {
            let dir = self.bare(&parent).dir.clone();
            let links = tokio::task::spawn_blocking(move || submodules::of(&dir, &commit)).await;
            for link in links.map_err(|error| Error::Cache(error.to_string()))?? {
                if found.len() == MAX_SUBMODULES {
                    return Err(Error::Submodule("too many submodules".to_owned()));
                }
                let access = parent.of_submodule(&link.url);
                let fetched = self.fetch(&access, &link.commit).await;
                let commit = fetched.map_err(|error| Error::Submodule(format!("{}: {error}", link.path)))?;
                let path = if place.is_empty() { link.path } else { format!("{place}/{}", link.path) };
                found.push(Submodule {
                    bare: self.bare(&access).dir.clone(),
                    commit: commit.clone(),
                    path: path.clone(),
                });
                open.push((access, commit, path));
            }
        }
        Ok(found)
    }

    /// Files that differ between two commits; what is missing is fetched.
    ///
    /// # Errors
    /// A revision is no full SHA, or the server did not give it.
    pub async fn changed_files(&self, repo: &RepoAccess, from: &str, to: &str) -> Result<Vec<String>, Error> {
        if from == to {
            return Ok(Vec::new());
        }
        if !refs::is_sha(from) || !refs::is_sha(to) {
            return Err(Error::NotASha);
        }
        let (from, to) = (self.fetch(repo, from).await?, self.fetch(repo, to).await?);
        let dir = self.bare(repo).dir.clone();
        let diff = tokio::task::spawn_blocking(move || changes::between(&dir, &from, &to));
        diff.await.map_err(|error| Error::Cache(error.to_string()))?
    }

    /// How many fetches of a repository were started.
    #[cfg(test)]
    pub(crate) async fn fetches(&self, repo: &RepoAccess) -> u64 {
        self.bare(repo).state.lock().await.fetches
    }

    fn bare(&self, repo: &RepoAccess) -> Arc<Bare> {
        let normal = git_url::normalize(&repo.url);
        let key = if normal.is_empty() { repo.url.clone() } else { normal };
        let mut bares = lock(&self.bares);
        let made = bares.entry(key).or_insert_with_key(|key| {
            let digest = Sha256::digest(key.as_bytes());
            let hash: String = digest.iter().take(12).map(|byte| format!("{byte:02x}")).collect();
            Arc::new(Bare { dir: self.folder.bare(&hash), hash, state: AsyncMutex::default() })
        });
        made.clone()
    }
}

fn lock<T>(mutex: &Mutex<T>) -> std::sync::MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Full SHA of a commit that is present; tags are followed.
fn find_commit(dir: &Path, revision: &str) -> Option<String> {
    let repo = Repository::open_bare(dir).ok()?;
    let object = match git2::Oid::from_str(revision) {
        Ok(oid) if revision.len() == 40 => repo.find_object(oid, None).ok()?,
        _ => repo.revparse_single(revision).ok()?,
    };
    Some(object.peel_to_commit().ok()?.id().to_string())
}

fn open_or_init(dir: &Path) -> Result<(), Error> {
    if Repository::open_bare(dir).is_ok() {
        return Ok(());
    }
    // What is there and cannot be opened is no repository any more: everything in it can be fetched again.
    let _ = std::fs::remove_dir_all(dir);
    Repository::init_bare(dir).map(|_| ()).map_err(|error| Error::objects(&error))
}
