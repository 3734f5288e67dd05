//! The cluster as the harness uses it: plain JSON over HTTPS, any kind.
//!
//! In:  a kubeconfig.  Out: objects as JSON values.
//! Invariant: nothing is cached but the list of kinds, so that every answer is what the API server says now.

use std::path::Path;
use std::time::Duration;

use anyhow::{Context as _, Result, bail};
use futures::stream::{self, StreamExt as _};
use http::{Method, Request};
use kube::Client;
use kube::config::{KubeConfigOptions, Kubeconfig};
use serde_json::{Value, json};
use tokio::time::sleep;

use crate::case::Reference;

/// Argo CD's namespace.
pub const ARGOCD: &str = "argocd";

/// A JSON merge patch.
pub const MERGE: &str = "application/merge-patch+json";
/// A JSON patch.
pub const JSON_PATCH: &str = "application/json-patch+json";
/// Server-side apply; JSON is YAML.
pub const APPLY: &str = "application/apply-patch+yaml";

/// The API server refused, or could not be asked.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// It answered with an error.
    #[error("{code} from {request}: {message}")]
    Refused {
        /// The HTTP code.
        code: u16,
        /// Method and path.
        request: String,
        /// What it said.
        message: String,
    },
    /// It did not answer.
    #[error("{request}: {source}")]
    Unreachable {
        /// Method and path.
        request: String,
        /// What happened.
        #[source]
        source: Box<kube::Error>,
    },
}

impl Error {
    /// The HTTP code of a refusal; 0 when there was no answer.
    pub fn code(&self) -> u16 {
        match self {
            Self::Refused { code, .. } => *code,
            Self::Unreachable { .. } => 0,
        }
    }
}

/// A kind that the API server serves, in its preferred version.
#[derive(Debug, Clone)]
pub struct Kind {
    /// For example `Deployment`.
    pub kind: String,
    /// For example `apps`; empty for the core group.
    pub group: String,
    /// For example `apps/v1`.
    pub api_version: String,
    /// For example `deployments`.
    pub plural: String,
    /// Whether its objects live in namespaces.
    pub namespaced: bool,
    /// Whether its objects can be listed.
    pub listable: bool,
}

impl Kind {
    /// The path of its objects, or of the one named.
    pub fn path(&self, namespace: Option<&str>, name: Option<&str>) -> String {
        collection(&self.api_version, &self.plural, namespace.filter(|_| self.namespaced))
            + &name.map(|name| format!("/{name}")).unwrap_or_default()
    }
}

fn collection(api_version: &str, plural: &str, namespace: Option<&str>) -> String {
    let root = if api_version.contains('/') { "apis" } else { "api" };
    let scope = namespace.map(|namespace| format!("/namespaces/{namespace}")).unwrap_or_default();
    format!("/{root}/{api_version}{scope}/{plural}")
}

/// A patch and how it is sent.
#[derive(Debug)]
pub struct Patch<'a> {
    /// The patch.
    pub body: &'a Value,
    /// Its content type.
    pub content_type: &'a str,
    /// For example `status`.
    pub subresource: Option<&'a str>,
    /// The field manager.
    pub manager: &'a str,
}

impl<'a> Patch<'a> {
    /// A JSON merge patch by the harness itself.
    pub fn merge(body: &'a Value) -> Self {
        Self { body, content_type: MERGE, subresource: None, manager: "corpus" }
    }
}

/// A connection to a cluster.
pub struct Cluster {
    client: Client,
    kinds: Vec<Kind>,
}

impl std::fmt::Display for Kind {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{} {}", self.api_version, self.kind)
    }
}

impl Cluster {
    /// Prepares a connection to the cluster that a kubeconfig names; nothing is asked yet.
    pub async fn connect(kubeconfig: &Path) -> Result<Self> {
        let file = Kubeconfig::read_from(kubeconfig)?;
        let mut config = kube::Config::from_custom_kubeconfig(file, &KubeConfigOptions::default()).await?;
        config.connect_timeout = Some(Duration::from_secs(10));
        config.read_timeout = Some(Duration::from_secs(60));
        config.reset_reader_on_write = true;
        config.default_retry = false;
        Ok(Self { client: Client::try_from(config)?, kinds: Vec::new() })
    }

    /// Sends one request; waits out "too many requests", which a new CRD's storage answers until it is set up.
    pub async fn call(&self, method: Method, path: &str, body: Option<(&Value, &str)>) -> Result<Value, Error> {
        let bytes = body.map(|(value, _)| value.to_string().into_bytes()).unwrap_or_default();
        let request = format!("{method} {path}");
        let mut attempts = 0;
        loop {
            attempts += 1;
            let mut http = Request::builder().method(&method).uri(path).header("accept", "application/json");
            if let Some((_, content_type)) = body {
                http = http.header("content-type", content_type);
            }
            let http = http.body(bytes.clone()).map_err(|error| Error::Unreachable {
                request: request.clone(),
                source: Box::new(kube::Error::HttpError(error)),
            })?;
            match self.client.request_text(http).await {
                Ok(text) => return Ok(serde_json::from_str(&text).unwrap_or(Value::String(text))),
                Err(kube::Error::Api(status)) if status.code == 429 && attempts < 10 => {
                    sleep(Duration::from_secs(1)).await;
                }
                Err(kube::Error::Api(status)) => {
                    return Err(Error::Refused { code: status.code, request, message: status.message });
                }
                // A kept-alive connection may have been closed meanwhile.
                Err(_) if attempts < 2 => {}
                Err(error) => return Err(Error::Unreachable { request, source: Box::new(error) }),
            }
        }
    }

    /// Reads a path as text: `/readyz`, `/version`.
    pub async fn raw(&self, path: &str) -> Result<String, Error> {
        self.call(Method::GET, path, None).await.map(|value| match value {
            Value::String(text) => text,
            other => other.to_string(),
        })
    }

    /// Asks which kinds there are now.
    pub async fn discover(&mut self) -> Result<()> {
        let groups = self.call(Method::GET, "/apis", None).await?;
        let groups = groups.get("groups").and_then(Value::as_array).cloned().unwrap_or_default();
        let mut versions = vec!["v1".to_owned()];
        versions.extend(
            groups
                .iter()
                .filter_map(|group| Some(group.pointer("/preferredVersion/groupVersion")?.as_str()?.to_owned())),
        );
        let this = &*self;
        let found = stream::iter(versions).map(|version| async move { this.kinds_of(&version).await }).buffered(8);
        self.kinds = found.collect::<Vec<_>>().await.concat();
        Ok(())
    }

    /// The kinds of one version; none when it cannot be read, as for a CRD that is going away.
    async fn kinds_of(&self, api_version: &str) -> Vec<Kind> {
        let root = if api_version.contains('/') { "apis" } else { "api" };
        let list = self.call(Method::GET, &format!("/{root}/{api_version}"), None).await.unwrap_or_default();
        let resources = list.get("resources").and_then(Value::as_array).cloned().unwrap_or_default();
        let kinds = resources.iter().filter_map(|resource| {
            let plural = resource.get("name")?.as_str().filter(|name| !name.contains('/'))?;
            let verbs = resource.get("verbs")?.as_array()?;
            Some(Kind {
                kind: resource.get("kind")?.as_str()?.to_owned(),
                group: group_of(api_version).to_owned(),
                api_version: api_version.to_owned(),
                plural: plural.to_owned(),
                namespaced: resource.get("namespaced")?.as_bool()?,
                listable: verbs.iter().any(|verb| verb == "list"),
            })
        });
        kinds.collect()
    }

    /// The kinds found last.
    pub fn kinds(&self) -> &[Kind] {
        &self.kinds
    }

    /// The kind of that name, in the group given or the alphabetically first one that has it.
    pub async fn kind(&mut self, kind: &str, group: Option<&str>) -> Result<Kind> {
        for attempt in 0..2 {
            if attempt == 1 || self.kinds.is_empty() {
                self.discover().await?;
            }
            let matching =
                self.kinds.iter().filter(|known| known.kind == kind && group.is_none_or(|g| known.group == g));
            if let Some(found) = matching.min_by_key(|known| (known.group == "events.k8s.io", known.group.clone())) {
                return Ok(found.clone());
            }
        }
        bail!("unknown kind {}/{kind}", group.unwrap_or_default())
    }

    /// The object, if it is there.
    pub async fn get(&mut self, object: &Reference) -> Result<Option<Value>> {
        let path = self.path(object).await?;
        match self.call(Method::GET, &path, None).await {
            Ok(found) => Ok(Some(found)),
            Err(error) if error.code() == 404 => Ok(None),
            Err(error) => Err(error.into()),
        }
    }

    /// The path of an object; Argo CD's own kinds are in its namespace unless said.
    pub async fn path(&mut self, object: &Reference) -> Result<String> {
        let kind = self.kind(&object.kind, object.group.as_deref()).await?;
        let is_argocds = matches!(object.kind.as_str(), "Application" | "AppProject" | "ApplicationSet");
        let namespace = object.namespace.as_deref().or(is_argocds.then_some(ARGOCD));
        Ok(kind.path(namespace, Some(&object.name)))
    }

    /// The objects of a kind, with kind and version filled in.
    pub async fn list(&self, kind: &Kind, namespace: Option<&str>) -> Result<Vec<Value>, Error> {
        let mut answer = self.call(Method::GET, &kind.path(namespace, None), None).await?;
        let Some(Value::Array(mut items)) = answer.get_mut("items").map(Value::take) else { return Ok(Vec::new()) };
        for item in items.iter_mut().filter_map(Value::as_object_mut) {
            item.entry("apiVersion").or_insert_with(|| json!(kind.api_version));
            item.entry("kind").or_insert_with(|| json!(kind.kind));
        }
        Ok(items)
    }

    /// Creates the object, or merges it into the one that is there.
    ///
    /// Tries for 15 seconds what a namespace, CRD or admission rule that is being set up refuses.
    pub async fn apply(&mut self, mut object: Value, namespace: Option<&str>) -> Result<()> {
        let (collection, name) = self.place(&mut object, namespace).await?;
        let mut attempts = 0;
        loop {
            attempts += 1;
            let create = format!("{collection}?fieldManager=corpus");
            let mut answer = self.call(Method::POST, &create, Some((&object, "application/json"))).await;
            if matches!(&answer, Err(error) if error.code() == 409) {
                let patch = format!("{collection}/{name}?fieldManager=corpus");
                answer = self.call(Method::PATCH, &patch, Some((&object, MERGE))).await;
            }
            match answer {
                Ok(_) => return Ok(()),
                Err(error) if attempts < 60 && [404, 403, 500, 503, 409].contains(&error.code()) => {
                    sleep(Duration::from_millis(250)).await;
                }
                Err(error) => return Err(error.into()),
            }
        }
    }

    /// Applies the object server-side, taking over every field it names.
    pub async fn force(&mut self, mut object: Value, namespace: Option<&str>) -> Result<()> {
        let (collection, name) = self.place(&mut object, namespace).await?;
        let path = format!("{collection}/{name}?fieldManager=corpus-setup&force=true");
        self.call(Method::PATCH, &path, Some((&object, APPLY))).await?;
        Ok(())
    }

    /// The collection and name of an object to write, in the version it is written in; fills its namespace in.
    async fn place(&mut self, object: &mut Value, namespace: Option<&str>) -> Result<(String, String)> {
        let api_version = text(object, "/apiVersion")?.to_owned();
        let kind = self.kind(text(object, "/kind")?, Some(group_of(&api_version))).await?;
        let name = text(object, "/metadata/name")?.to_owned();
        let own = object.pointer("/metadata/namespace").and_then(Value::as_str);
        let namespace = own.or(namespace).unwrap_or("default").to_owned();
        if kind.namespaced {
            object["metadata"]["namespace"] = json!(namespace);
        }
        Ok((collection(&api_version, &kind.plural, kind.namespaced.then_some(&namespace)), name))
    }

    /// Patches an object.
    pub async fn patch(&mut self, object: &Reference, patch: Patch<'_>) -> Result<(), anyhow::Error> {
        let subresource = patch.subresource.map(|name| format!("/{name}")).unwrap_or_default();
        let path = format!("{}{subresource}?fieldManager={}", self.path(object).await?, patch.manager);
        self.call(Method::PATCH, &path, Some((patch.body, patch.content_type))).await?;
        Ok(())
    }

    /// Deletes an object; one that is not there is deleted.
    pub async fn delete(&mut self, object: &Reference, cascade: &str) -> Result<()> {
        let policy = match cascade {
            "orphan" => "Orphan",
            "foreground" => "Foreground",
            _ => "Background",
        };
        let options = json!({"kind": "DeleteOptions", "apiVersion": "v1", "propagationPolicy": policy});
        let path = self.path(object).await?;
        match self.call(Method::DELETE, &path, Some((&options, "application/json"))).await {
            Err(error) if error.code() != 404 => Err(error.into()),
            _ => Ok(()),
        }
    }
}

/// The HTTP code of an error that came from the API server; 0 for another.
pub fn code(error: &anyhow::Error) -> u16 {
    error.downcast_ref::<Error>().map_or(0, Error::code)
}

fn group_of(api_version: &str) -> &str {
    api_version.split_once('/').map(|(group, _)| group).unwrap_or_default()
}

fn text<'v>(object: &'v Value, pointer: &str) -> Result<&'v str> {
    object.pointer(pointer).and_then(Value::as_str).with_context(|| format!("an object without {pointer}"))
}

impl Reference {
    /// An object named by its kind.
    pub fn new(kind: &str, namespace: Option<&str>, name: &str) -> Self {
        Self { kind: kind.to_owned(), name: name.to_owned(), namespace: namespace.map(str::to_owned), group: None }
    }

    /// One of Argo CD's own objects.
    pub fn argocd(kind: &str, namespace: &str, name: &str) -> Self {
        Self { group: Some("argoproj.io".to_owned()), ..Self::new(kind, Some(namespace), name) }
    }

    /// What an object read from the cluster is named by.
    pub fn to(object: &Value) -> Result<Self> {
        let namespace = object.pointer("/metadata/namespace").and_then(Value::as_str);
        let group = group_of(text(object, "/apiVersion")?).to_owned();
        Ok(Self { group: Some(group), ..Self::new(text(object, "/kind")?, namespace, text(object, "/metadata/name")?) })
    }
}
