//! Tokens of GitHub App installations.
//!
//! In:  an app's number and private key, and whose repositories somebody wants.
//! Out: a token that git logs in with, good for at least a minute.
//! Invariant: at most one request per installation runs at a time; a token is kept until it expires, and a failure as long as
//! it took to find out. Keys and tokens show nowhere.
//! Source: REND-063 (`util/git/creds.go` `getAccessToken`, `DiscoverGitHubAppInstallationID`; `ghinstallation`).

mod exchange;
mod jwt;

use std::collections::HashMap;
use std::fmt;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

use jiff::{SignedDuration, Timestamp};
use serde::Deserialize;
use tokio::sync::Mutex as AsyncMutex;

use super::attempt::Attempt;
pub use super::login::App;
use crate::http::Route;
use exchange::Api;

/// A token that expires sooner is fetched anew.
const MARGIN: SignedDuration = SignedDuration::from_secs(60);
/// How long the number of an owner's installation is remembered.
const INSTALLATION_AGE: Duration = Duration::from_secs(3600);
/// Installations that are listed per page, and pages that are read.
const PER_PAGE: usize = 100;
const MAX_PAGES: usize = 100;

/// A token as GitHub gives it.
#[derive(Clone, Deserialize)]
struct Token {
    token: String,
    expires_at: Timestamp,
}

#[derive(Deserialize)]
struct Installation {
    id: i64,
    account: Option<Account>,
}

#[derive(Deserialize)]
struct Account {
    #[serde(default)]
    login: String,
}

/// Whose installation is looked for where the app does not name one.
#[derive(Debug, Clone, Copy)]
pub enum Whose<'a> {
    /// The owner of the repository with this URL.
    Repository(&'a str),
    /// An organisation.
    Organization(&'a str),
}

/// The last token of an installation or why there was none; locked while one is fetched.
type Slot = AsyncMutex<Option<(Attempt, Result<Token, String>)>>;

/// An installation by owner, API and app.
type Place = (String, String, i64);

/// Tokens of all installations.
#[derive(Default)]
pub struct Tokens {
    slots: Mutex<HashMap<App, Arc<Slot>>>,
    /// Locked while a list is read, so that a start with many repositories reads it once.
    installations: AsyncMutex<HashMap<Place, (Instant, i64)>>,
}

impl Tokens {
    /// A token for what somebody owns. `limit` is the time that each request may take.
    ///
    /// # Errors
    /// The app is refused or cannot ask; the text is Argo CD's.
    pub async fn token(&self, app: &App, whose: Whose<'_>, route: &Route, limit: Duration) -> Result<String, String> {
        let asked = Instant::now();
        let api = Api { route, url: &app.api, limit };
        let installation = match app.installation {
            0 => self.discover(app, whose, &api).await.map_err(in_transport)?,
            known => known,
        };
        let app = App { installation, ..app.clone() };
        let slot = lock(&self.slots).entry(app.clone()).or_default().clone();
        let mut last = slot.lock().await;
        match &*last {
            Some((_, Ok(token))) if token.expires_at > Timestamp::now() + MARGIN => return Ok(token.token.clone()),
            Some((attempt, Err(text))) if attempt.answers(asked) => return Err(text.clone()),
            _ => {}
        }
        let begun = Instant::now();
        let result = fetch(&app, &api).await;
        let token = result.as_ref().map(|token| token.token.clone()).map_err(Clone::clone);
        *last = Some((Attempt::since(begun), result));
        token
    }

    /// The number of the installation that belongs to an owner.
    async fn discover(&self, app: &App, whose: Whose<'_>, api: &Api<'_>) -> Result<i64, String> {
        let owner = whose.name()?;
        let place = |owner: String| (owner, app.api.clone(), app.id);
        let mut known = self.installations.lock().await;
        known.retain(|_, (seen, _)| seen.elapsed() < INSTALLATION_AGE);
        if let Some((_, id)) = known.get(&place(owner.clone())) {
            return Ok(*id);
        }
        let wrong = |cause: String| {
            format!(
                "failed to discover GitHub App installation ID for organization {owner}: ensure the GitHub App (ID: {}) \
                 is installed for this organization: {cause}",
                app.id
            )
        };
        for installation in list(app, api).await.map_err(&wrong)? {
            let login = installation.account.map(|account| account.login.to_lowercase()).unwrap_or_default();
            known.insert(place(login), (Instant::now(), installation.id));
        }
        let found = known.get(&place(owner.clone())).map(|(_, id)| *id);
        found.ok_or_else(|| wrong(format!("installation not found for org: {owner}")))
    }
}

/// Fetches a token of an installation.
async fn fetch(app: &App, api: &Api<'_>) -> Result<Token, String> {
    let id = app.installation;
    let signed = jwt::sign(app, Timestamp::now())
        .map_err(|text| in_transport(format!("failed to initialize GitHub installation transport: {text}")))?;
    let place = format!("/app/installations/{id}/access_tokens");
    let refresh = |cause: String| format!("could not refresh installation id {id}'s token: {cause}");
    let answer = api.post(&place, &signed).await.map_err(|cause| {
        refresh(format!("could not get access_tokens from GitHub API for installation ID {id}: {cause}"))
    })?;
    if !answer.is_success {
        let status = &answer.status;
        return Err(refresh(format!("received non 2xx response status {status:?} when fetching {}{place}", app.api)));
    }
    serde_json::from_slice(&answer.body).map_err(|_| refresh("the answer holds no token".to_owned()))
}

/// All installations of an app.
async fn list(app: &App, api: &Api<'_>) -> Result<Vec<Installation>, String> {
    let signed =
        jwt::sign(app, Timestamp::now()).map_err(|text| format!("failed to create GitHub app transport: {text}"))?;
    let wrong = |cause: String| format!("failed to list installations: {cause}");
    let mut all = Vec::new();
    for page in 1..=MAX_PAGES {
        let place = format!("/app/installations?per_page={PER_PAGE}&page={page}");
        let answer = api.get(&place, &signed).await;
        let answer = answer.map_err(&wrong)?;
        if !answer.is_success {
            return Err(wrong(format!("GET {}{place}: {}", app.api, answer.status)));
        }
        let found: Vec<Installation> =
            serde_json::from_slice(&answer.body).map_err(|_| wrong("the answer is no list".to_owned()))?;
        let is_last = found.len() < PER_PAGE;
        all.extend(found);
        if is_last {
            break;
        }
    }
    Ok(all)
}

fn in_transport(cause: String) -> String {
    format!("failed to create GitHub app installation transport: {cause}")
}

impl Whose<'_> {
    /// The owner's name in lower case.
    fn name(self) -> Result<String, String> {
        match self {
            Self::Organization(name) => Ok(name.to_lowercase()),
            Self::Repository(url) => owner(url).ok_or_else(|| {
                format!(
                    "failed to extract organization from repository URL {url} for GitHub App installation discovery: \
                     the URL does not contain an organization/owner"
                )
            }),
        }
    }
}

/// The owner of a repository: the first of at least two parts of its URL's path, in lower case.
fn owner(url: &str) -> Option<String> {
    let path = match url.split_once("://") {
        Some((_, rest)) => rest.split_once('/')?.1,
        None => url.split_once(':')?.1,
    };
    let (owner, name) = path.trim_matches('/').split_once('/')?;
    (!owner.is_empty() && !name.is_empty()).then(|| owner.to_lowercase())
}

fn lock<T>(mutex: &Mutex<T>) -> std::sync::MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

impl fmt::Debug for Tokens {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Tokens").field("installations", &lock(&self.slots).len()).finish_non_exhaustive()
    }
}

#[cfg(test)]
mod tests {
    use super::owner;

    #[test]
    fn the_owner_is_the_first_part_of_the_path() {
        for (url, expect) in [
            ("https://github.com/Argoproj/argo-cd.git", Some("argoproj")),
            ("git@github.com:org/repo.git", Some("org")),
            ("ssh://git@github.com:22/org/repo", Some("org")),
            ("https://ghe.example.com/org/sub/repo/", Some("org")),
            ("https://github.com/alone", None),
            ("https://github.com", None),
        ] {
            assert_eq!(owner(url).as_deref(), expect, "{url}");
        }
    }
}
