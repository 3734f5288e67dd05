//! Source code hosts and plugins, asked for one set.
//!
//! In:  what a generator asks; the Secrets and ConfigMaps that it refers to, in the set's namespace.
//! Out: repositories, pull requests or parameters, or why there are none.
//! Invariant: a token is read for one question and kept nowhere.
//! Source: SET-050 to SET-058 (`applicationset/generators/{scm_provider,pull_request,plugin}.go`,
//! `applicationset/utils/kubernetes.go`).

use std::time::Duration;

use serde_json::{Map, Value};

use crate::api::appset::{
    BasicAuthBitbucketServer, BearerTokenBitbucket, ConfigMapKeyRef, PullRequestGenerator, ScmProviderGenerator,
    SecretRef,
};
use crate::appset::{PluginQuery, PullRequest, QueryError, Repository, Stage};
use crate::cluster::{Resource, Target};
use crate::controller::context::Context;
use crate::forge::{self, Access, Plugin};
use crate::repo::github::App;
use crate::settings::{RepositoryCredentials, Secret};

/// Type of Secrets that generators may refer to in strict mode.
const SCM_CREDS: &str = "scm-creds";

/// Asks for one set.
pub struct Hosts<'a> {
    ctx: &'a Context,
    /// The set's namespace.
    namespace: &'a str,
}

/// What a generator refers to.
#[derive(Default)]
struct References<'a> {
    /// What Argo CD calls the secret in errors.
    called: &'static str,
    secret: Option<&'a SecretRef>,
    authorities: Option<&'a ConfigMapKeyRef>,
    /// Secret with a GitHub App; empty for none.
    app: &'a str,
    /// What an error about that begins with.
    app_trouble: &'static str,
}

/// What was read of them.
struct Held {
    secret: String,
    authorities: String,
    app: Option<App>,
}

impl<'a> Hosts<'a> {
    /// Asks for a set of this namespace.
    pub fn new(ctx: &'a Context, namespace: &'a str) -> Self {
        Self { ctx, namespace }
    }

    /// Repositories and branches.
    pub async fn repositories(&self, wanted: &ScmProviderGenerator) -> Result<Vec<Repository>, QueryError> {
        let is_github = wanted.github.is_some();
        let within = |text: String| if is_github { format!("scm provider: {text}") } else { text };
        let held = self.read(&of_scm(wanted)).await.map_err(|text| setup(within(text)))?;
        let found = forge::repositories(wanted, &self.access(&held)).await;
        found.map_err(|error| match error {
            forge::Error::Setup(text) => setup(within(initializing(wanted, &text))),
            forge::Error::Asked(text) | forge::Error::NotFound(text) => QueryError { stage: Stage::Asked, text },
        })
    }

    /// Pull requests, not filtered.
    pub async fn pull_requests(&self, wanted: &PullRequestGenerator) -> Result<Vec<PullRequest>, QueryError> {
        let held = self.read(&of_pull_requests(wanted)).await.map_err(setup)?;
        let found = forge::pull_requests(wanted, &self.access(&held)).await;
        found.map_err(|error| match error {
            forge::Error::Setup(text) => setup(text),
            forge::Error::Asked(text) => QueryError { stage: Stage::Asked, text },
            forge::Error::NotFound(text) => QueryError { stage: Stage::RepositoryNotFound, text },
        })
    }

    /// Parameters of a plugin.
    pub async fn plugin(&self, query: &PluginQuery) -> Result<Vec<Map<String, Value>>, QueryError> {
        let failed = |text: String| setup(format!("error fetching Secret token: {text}"));
        let secret = self.fetch("Secret", "secrets", &self.ctx.namespace, &query.secret).await;
        let secret = secret
            .map_err(|text| failed(format!("error fetching secret {}/{}: {text}", self.ctx.namespace, query.secret)))?;
        let secret = Secret::from_object(&secret).unwrap_or_default();
        let key = query.token.trim_start_matches('$');
        // A key that is not there leaves the reference as it is, as in Argo CD.
        let token =
            if secret.data.contains_key(key) { secret.text(key).trim().to_owned() } else { query.token.clone() };
        let plugin = Plugin {
            set: &query.set,
            base_url: &query.base_url,
            token: &token,
            timeout: Some(Duration::from_secs(query.timeout)),
            parameters: &query.parameters,
        };
        forge::plugin(&plugin).await.map_err(|error| match error {
            forge::Error::Setup(text) => setup(text),
            forge::Error::Asked(text) | forge::Error::NotFound(text) => QueryError { stage: Stage::Asked, text },
        })
    }

    fn access<'h>(&'h self, held: &'h Held) -> Access<'h> {
        Access {
            secret: &held.secret,
            app: held.app.as_ref(),
            tokens: &self.ctx.sets.tokens,
            authorities: &held.authorities,
        }
    }

    async fn read(&self, wanted: &References<'_>) -> Result<Held, String> {
        let authorities = match wanted.authorities {
            Some(reference) => self.config_map_key(reference).await,
            None => Ok(String::new()),
        };
        let authorities =
            authorities.map_err(|text| format!("error fetching CA certificates from ConfigMap: {text}"))?;
        if !wanted.app.is_empty() {
            let app = self.app(wanted.app).await.map_err(|text| format!("{}: {text}", wanted.app_trouble))?;
            return Ok(Held { secret: String::new(), authorities, app: Some(app) });
        }
        let secret = match wanted.secret {
            Some(reference) => self.secret_key(reference).await,
            None => Ok(String::new()),
        };
        let secret = secret.map_err(|text| format!("error fetching {}: {text}", wanted.called))?;
        Ok(Held { secret, authorities, app: None })
    }

    async fn secret_key(&self, reference: &SecretRef) -> Result<String, String> {
        let (name, namespace, key) = (&reference.secret_name, self.namespace, &reference.key);
        let object = self.fetch("Secret", "secrets", namespace, name).await;
        let object = object.map_err(|text| format!("error fetching secret {namespace}/{name}: {text}"))?;
        let secret = Secret::from_object(&object).unwrap_or_default();
        if self.ctx.parameters.application_sets.strict_tokens && !secret.is_type(SCM_CREDS) {
            let reason = "secret must have label \"argocd.argoproj.io/secret-type\"=\"scm-creds\"";
            return Err(format!("secret {namespace}/{name} is not a valid SCM creds secret: {reason}"));
        }
        let found = secret.data.contains_key(key).then(|| secret.text(key));
        found.ok_or_else(|| format!("key {key:?} in secret {namespace}/{name} not found"))
    }

    async fn config_map_key(&self, reference: &ConfigMapKeyRef) -> Result<String, String> {
        let (name, key) = (&reference.config_map_name, &reference.key);
        let object = self.fetch("ConfigMap", "configmaps", self.namespace, name).await?;
        let text = object.get("data").and_then(|data| data.get(key)).and_then(Value::as_str);
        text.map(str::to_owned).ok_or_else(|| format!("key {key} not found in ConfigMap {name}"))
    }

    /// The GitHub App of a Secret with credentials for repositories.
    async fn app(&self, name: &str) -> Result<App, String> {
        let object = self.fetch("Secret", "secrets", &self.ctx.namespace, name).await;
        let object = object.map_err(|text| format!("error getting creds for {name}: {text}"))?;
        let secret = Secret::from_object(&object).filter(|secret| secret.is_type("repo-creds"));
        let credentials = secret.map(|secret| RepositoryCredentials::from_secret(&secret)).transpose();
        let credentials = credentials.map_err(|error| format!("error getting creds for {name}: {error}"))?;
        let app = credentials.as_ref().and_then(|found| App::of(&found.credentials));
        app.ok_or_else(|| format!("no github app found for {name}"))
    }

    async fn fetch(&self, kind: &str, plural: &str, namespace: &str, name: &str) -> Result<Value, String> {
        let resource = Resource {
            version: "v1".to_owned(),
            kind: kind.to_owned(),
            plural: plural.to_owned(),
            namespaced: true,
            ..Resource::default()
        };
        let found = self.ctx.cluster.fetch(&Target::new(&resource, namespace, name)).await;
        found.map_err(|error| error.to_string())
    }
}

fn setup(text: String) -> QueryError {
    QueryError { stage: Stage::Setup, text }
}

fn initializing(wanted: &ScmProviderGenerator, text: &str) -> String {
    let service = if wanted.github.is_some() {
        "Github"
    } else if wanted.gitlab.is_some() {
        "Gitlab"
    } else if wanted.gitea.is_some() {
        "Gitea"
    } else if wanted.bitbucket_server.is_some() {
        "Bitbucket Server"
    } else if wanted.azure_devops.is_some() {
        "Azure Devops"
    } else if wanted.bitbucket.is_some() {
        "Bitbucket cloud"
    } else {
        return text.to_owned();
    };
    format!("error initializing {service} service: {text}")
}

fn of_scm(wanted: &ScmProviderGenerator) -> References<'_> {
    let plain = |called, secret| References { called, secret, ..References::default() };
    if let Some(from) = &wanted.github {
        let token = plain("Github token", from.token_ref.as_ref());
        References { app: &from.app_secret_name, app_trouble: "error fetching Github app secret", ..token }
    } else if let Some(from) = &wanted.gitlab {
        References { authorities: from.ca_ref.as_ref(), ..plain("Gitlab token", from.token_ref.as_ref()) }
    } else if let Some(from) = &wanted.gitea {
        plain("Gitea token", from.token_ref.as_ref())
    } else if let Some(from) = &wanted.bitbucket_server {
        bitbucket(from.bearer_token.as_ref(), from.basic_auth.as_ref(), from.ca_ref.as_ref())
    } else if let Some(from) = &wanted.azure_devops {
        plain("Azure Devops access token", from.access_token_ref.as_ref())
    } else if let Some(from) = &wanted.bitbucket {
        plain("Bitbucket cloud appPassword", from.app_password_ref.as_ref())
    } else {
        References::default()
    }
}

fn of_pull_requests(wanted: &PullRequestGenerator) -> References<'_> {
    let token = |secret| References { called: "Secret token", secret, ..References::default() };
    if let Some(from) = &wanted.github {
        let token = token(from.token_ref.as_ref());
        References { app: &from.app_secret_name, app_trouble: "error getting GitHub App secret", ..token }
    } else if let Some(from) = &wanted.gitlab {
        References { authorities: from.ca_ref.as_ref(), ..token(from.token_ref.as_ref()) }
    } else if let Some(from) = &wanted.gitea {
        token(from.token_ref.as_ref())
    } else if let Some(from) = &wanted.bitbucket_server {
        bitbucket(from.bearer_token.as_ref(), from.basic_auth.as_ref(), from.ca_ref.as_ref())
    } else if let Some(from) = &wanted.bitbucket {
        bitbucket(from.bearer_token.as_ref(), from.basic_auth.as_ref(), None)
    } else if let Some(from) = &wanted.azure_devops {
        token(from.token_ref.as_ref())
    } else {
        References::default()
    }
}

fn bitbucket<'a>(
    bearer: Option<&'a BearerTokenBitbucket>,
    basic: Option<&'a BasicAuthBitbucketServer>,
    authorities: Option<&'a ConfigMapKeyRef>,
) -> References<'a> {
    let (called, secret) = match (bearer, basic) {
        (Some(bearer), _) => ("Secret Bearer token", bearer.token_ref.as_ref()),
        (None, Some(basic)) => ("Secret token", basic.password_ref.as_ref()),
        (None, None) => ("", None),
    };
    References { called, secret, authorities, ..References::default() }
}
