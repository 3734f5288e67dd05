//! Which of a repository's credentials git logs in with.
//!
//! In:  the credentials of a repository, filled in from those of its URL's prefix.
//! Out: one way to log in.
//! Invariant: `Debug` shows no credential; an identity that litecd does not know is an error and never an anonymous login.
//! Source: REND-056 to REND-058, REND-063, REND-277 (`repository_types.go` `GetGitCreds`).

use std::fmt;

use base64::Engine;

use super::authority::Authority;
use crate::settings::Credentials;

/// User of a login that has only a token.
const TOKEN_USER: &str = "x-access-token";

/// How git logs in.
#[derive(Clone, PartialEq, Eq, Hash, Default)]
pub enum Login {
    /// Not at all.
    #[default]
    Anonymous,
    /// With a password or token over HTTP.
    Https(Https),
    /// With a private key over SSH.
    Ssh {
        /// The key's file.
        key: String,
    },
    /// As the installation of a GitHub App.
    App(App),
    /// With an identity that litecd cannot use; the text says which.
    Unsupported(&'static str),
}

/// A password or token for HTTP.
#[derive(Clone, PartialEq, Eq, Hash, Default)]
pub struct Https {
    /// User; never empty.
    pub username: String,
    /// Password; may be empty when there is a token.
    pub password: String,
    /// Bearer token.
    pub bearer_token: String,
    /// Whether the password is sent before the server asks for it.
    pub forced: bool,
}

/// A GitHub App and where it is installed.
#[derive(Clone, PartialEq, Eq, Hash)]
pub struct App {
    /// The app's number.
    pub id: i64,
    /// The installation's number; 0 when it must be found by the repository's owner.
    pub installation: i64,
    /// PEM.
    pub private_key: String,
    /// URL of the API without slashes at its end.
    pub api: String,
}

impl App {
    /// The app of credentials; none when they hold no key.
    pub fn of(credentials: &Credentials) -> Option<Self> {
        let written = credentials.github_app_enterprise_base_url.trim_end_matches('/');
        let app = Self {
            id: credentials.github_app_id,
            installation: credentials.github_app_installation_id,
            private_key: credentials.github_app_private_key.clone(),
            api: if written.is_empty() { "https://api.github.com".to_owned() } else { written.to_owned() },
        };
        Some(app).filter(|app| !app.private_key.is_empty())
    }
}

impl Login {
    /// The login for a repository, the first that applies in Argo CD's order.
    pub fn of(credentials: &Credentials, url: &str) -> Self {
        let has = |texts: &[&str]| texts.iter().all(|text| !text.is_empty());
        if !credentials.password.is_empty() || !credentials.bearer_token.is_empty() {
            return Self::Https(Https {
                username: token_user(&credentials.username),
                password: credentials.password.clone(),
                bearer_token: credentials.bearer_token.clone(),
                forced: credentials.force_http_basic_auth,
            });
        }
        if !credentials.ssh_private_key.is_empty() {
            return Self::Ssh { key: credentials.ssh_private_key.clone() };
        }
        if let Some(app) = App::of(credentials).filter(|app| app.id != 0) {
            return Self::App(app);
        }
        if !credentials.gcp_service_account_key.is_empty() {
            return Self::Unsupported("a Google Cloud service account key (gcpServiceAccountKey)");
        }
        if credentials.use_azure_workload_identity {
            return Self::Unsupported("Azure workload identity (useAzureWorkloadIdentity)");
        }
        if has(&[
            &credentials.azure_service_principal_client_id,
            &credentials.azure_service_principal_client_secret,
            &credentials.azure_service_principal_tenant_id,
        ]) {
            return Self::Unsupported("an Azure service principal (azureServicePrincipalClientSecret)");
        }
        Self::of_url(url)
    }

    /// The login that a URL carries itself.
    pub fn of_url(url: &str) -> Self {
        match Authority::of(url) {
            Some(Authority { user, password: Some(password), scheme, .. }) if scheme.starts_with("http") => {
                Self::Https(Https { username: token_user(&user), password, ..Https::default() })
            }
            _ => Self::Anonymous,
        }
    }

    /// Whether it is a login at all.
    pub fn is_some(&self) -> bool {
        *self != Self::Anonymous
    }

    /// Every text that must not be shown.
    pub fn secrets(&self) -> Vec<String> {
        match self {
            Self::Anonymous | Self::Unsupported(_) => Vec::new(),
            Self::Https(https) => vec![https.password.clone(), https.bearer_token.clone(), https.pair()],
            Self::Ssh { key } => vec![key.clone()],
            Self::App(app) => vec![app.private_key.clone()],
        }
    }
}

impl Https {
    /// Logs in with a token as password.
    pub fn token(token: String) -> Self {
        Self { username: TOKEN_USER.to_owned(), password: token, ..Self::default() }
    }

    /// User and password as the header has them.
    fn pair(&self) -> String {
        base64::engine::general_purpose::STANDARD.encode(format!("{}:{}", self.username, self.password))
    }

    fn basic(&self) -> Option<String> {
        (!self.password.is_empty()).then(|| format!("Authorization: Basic {}", self.pair()))
    }

    fn bearer(&self) -> Option<String> {
        (!self.bearer_token.is_empty()).then(|| format!("Authorization: Bearer {}", self.bearer_token))
    }

    /// The header of a listing, which logs in without being asked: one request fewer.
    pub fn listing_header(&self) -> Option<String> {
        self.bearer().or_else(|| self.basic())
    }

    /// The header of a fetch: a token, or a password that is forced on the server; others wait until the server asks.
    pub fn fetch_header(&self) -> Option<String> {
        let forced = self.basic().filter(|_| self.forced);
        forced.or_else(|| self.bearer())
    }
}

fn token_user(user: &str) -> String {
    if user.is_empty() { TOKEN_USER.to_owned() } else { user.to_owned() }
}

impl fmt::Debug for Login {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Anonymous => "Anonymous",
            Self::Https(_) => "Https",
            Self::Ssh { .. } => "Ssh",
            Self::App(_) => "App",
            Self::Unsupported(what) => what,
        })
    }
}
