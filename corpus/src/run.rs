//! Runs the steps of a case against the controller that watches a cluster.
//!
//! In:  a case, a cluster, the servers.  Out: the snapshots its steps asked for, and notes on what did not come about.
//! Invariant: the cluster is cleaned up whatever happens, so that cases do not see each other.

use std::time::{Duration, Instant};

use anyhow::{Context as _, Result};
use serde_json::{Map, Value, json};
use tokio::time::sleep;

use crate::api::{self, ARGOCD, Cluster, JSON_PATCH, MERGE, Patch};
use crate::case::{Case, Part, Post, Reference, Refresh, Settle, Start, Step, Sync, Wait};
use crate::repositories::date;
use crate::servers::Servers;
use crate::subject::Switch;
use crate::web;

/// Where things are that a run needs besides the cluster.
#[derive(Debug, Clone)]
pub struct Endpoints {
    /// The controller's webhook.
    pub webhook: String,
    /// Argo CD's ApplicationSet controller's webhook, where that listens apart.
    pub appset_webhook: Option<String>,
    /// Argo CD's API, when recording.
    pub api: Option<String>,
}

/// Where a case is run.
pub struct Bench<'a> {
    /// The cluster.
    pub cluster: &'a mut Cluster,
    /// The repositories.
    pub servers: &'a Servers,
    /// The controller's addresses.
    pub endpoints: &'a Endpoints,
    /// The controller, where it is the harness that runs it.
    pub litecd: Option<Switch<'a>>,
}

/// One case being run.
pub struct Run<'a> {
    pub(crate) cluster: &'a mut Cluster,
    pub(crate) servers: &'a Servers,
    pub(crate) endpoints: &'a Endpoints,
    litecd: Option<Switch<'a>>,
    pub(crate) case: &'a Case,
    pub(crate) say: &'a mut dyn FnMut(String),
    /// What did not come about.
    pub notes: Vec<String>,
    pub(crate) posts: Vec<String>,
    pub(crate) verbose: bool,
    commits: usize,
}

impl<'a> Run<'a> {
    /// Prepares a run.
    pub fn new(bench: Bench<'a>, case: &'a Case, say: &'a mut dyn FnMut(String)) -> Self {
        let Bench { cluster, servers, endpoints, litecd } = bench;
        Self {
            cluster,
            servers,
            endpoints,
            litecd,
            case,
            say,
            notes: Vec::new(),
            posts: Vec::new(),
            verbose: false,
            commits: 0,
        }
    }

    /// Says each step as it begins.
    pub fn verbose(mut self, verbose: bool) -> Self {
        self.verbose = verbose;
        self
    }

    /// Runs every step and cleans up; the snapshots by name.
    pub async fn snapshots(&mut self) -> Result<Value> {
        let outcome = self.steps().await;
        let cleanup = self.cleanup().await.context("cleaning up");
        let snapshots = outcome?;
        cleanup?;
        Ok(snapshots)
    }

    /// Prepares the cluster and the servers, and runs every step; the snapshots by name.
    pub(crate) async fn steps(&mut self) -> Result<Value> {
        self.servers.reset().await?;
        let spec = &self.case.spec;
        let mut settings = Map::from_iter([("timeout.reconciliation".to_owned(), json!("3600s"))]);
        settings.extend(spec.config.cm.clone());
        self.configure(settings).await?;
        let namespaces = spec.create_namespaces.iter().chain(&spec.app_namespaces);
        for namespace in namespaces.filter(|name| *name != ARGOCD) {
            let object = json!({"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": namespace}});
            self.cluster.apply(object, None).await?;
        }
        for document in self.case.documents(&spec.cluster)? {
            self.cluster.apply(document, None).await?;
        }
        if !spec.cluster.names().is_empty() {
            sleep(Duration::from_millis(1500)).await;
        }
        let started = Instant::now();
        let mut snapshots = Map::new();
        for (i, step) in spec.steps.iter().enumerate() {
            if self.verbose {
                let text: String = format!("{step:?}").chars().take(150).collect();
                (self.say)(format!("  {:6.1}s step {i} {text}", started.elapsed().as_secs_f64()));
            }
            match step {
                Step::Snapshot(name) => {
                    snapshots.insert(name.clone(), self.snapshot().await?);
                }
                step => self.step(step).await.with_context(|| format!("step {i}"))?,
            }
        }
        Ok(snapshots.into())
    }

    /// Sets argocd-cm, and gives the controller time to read it when that changed something.
    async fn configure(&mut self, settings: Map<String, Value>) -> Result<()> {
        let place = Reference::new("ConfigMap", Some(ARGOCD), "argocd-cm");
        let settings = Value::from(settings);
        let mut object = json!({
            "apiVersion": "v1", "kind": "ConfigMap", "data": settings,
            "metadata": {"name": "argocd-cm", "namespace": ARGOCD, "labels": {
                "app.kubernetes.io/part-of": "argocd", "app.kubernetes.io/name": "argocd-cm"}},
        });
        let Some(current) = self.cluster.get(&place).await? else {
            return self.cluster.apply(object, Some(ARGOCD)).await;
        };
        if current.get("data") != Some(&settings) {
            object["metadata"]["resourceVersion"] = current["metadata"]["resourceVersion"].clone();
            let path = self.cluster.path(&place).await?;
            self.cluster.call(http::Method::PUT, &path, Some((&object, "application/json"))).await?;
            sleep(Duration::from_secs(2)).await;
        }
        Ok(())
    }

    pub(crate) async fn step(&mut self, step: &Step) -> Result<()> {
        match step {
            Step::Commit(commit) => {
                self.commits += 1;
                self.servers.commit(&self.case.dir, commit, &date(self.commits - 1)).await
            }
            Step::Mirror(mirror) => self.servers.mirror(mirror).await,
            Step::Chart(chart) => self.servers.chart(&self.case.dir, chart).await,
            Step::Apply(files) => {
                for document in self.case.documents(files)? {
                    self.cluster.apply(document, Some(ARGOCD)).await?;
                }
                Ok(())
            }
            Step::Delete(delete) => {
                self.cluster.delete(&delete.object, delete.cascade.as_deref().unwrap_or("background")).await
            }
            Step::Patch(patch) => {
                let (body, content_type) = match (&patch.merge, &patch.json) {
                    (Some(body), _) => (body, MERGE),
                    (None, Some(body)) => (body, JSON_PATCH),
                    (None, None) => anyhow::bail!("a patch needs merge or json"),
                };
                let manager = patch.manager.as_deref().unwrap_or("corpus");
                let subresource = patch.subresource.as_deref();
                self.cluster.patch(&patch.object, Patch { body, content_type, subresource, manager }).await
            }
            Step::Refresh(Refresh::App(app)) => self.refresh(&app_named(app), "normal").await,
            Step::Refresh(Refresh::Typed { app, kind }) => {
                self.refresh(&app_named(app), kind.as_deref().unwrap_or("normal")).await
            }
            Step::Sync(sync) => self.sync(sync).await,
            Step::Terminate(app) => {
                let body = json!({"status": {"operationState": {"phase": "Terminating"}}});
                self.cluster.patch(&app_named(app), Patch::merge(&body)).await
            }
            Step::Settle(settle) => self.settle(settle.as_ref().unwrap_or(&Settle::default())).await,
            Step::Wait(wait) => self.wait(wait).await,
            Step::Gone(gone) => {
                let timeout = gone.timeout.unwrap_or(60.0);
                if !self.gone(&gone.object, timeout).await? {
                    self.note(format!("not gone: {gone:?}"));
                }
                Ok(())
            }
            Step::Sleep(seconds) => {
                sleep(Duration::from_secs_f64(*seconds)).await;
                Ok(())
            }
            Step::Post(post) => self.post(post).await,
            Step::Stop(Part::Git) => {
                self.servers.stop();
                Ok(())
            }
            Step::Start(Start::Usual(Part::Git)) => self.servers.resume().await,
            Step::Stop(Part::Litecd) => {
                self.litecd()?.stop().await;
                Ok(())
            }
            Step::Start(Start::Usual(Part::Litecd)) => self.litecd()?.start(None).await,
            Step::Start(Start::Limited { service_account }) => self.start_limited(service_account).await,
            Step::Snapshot(_) => Ok(()),
        }
    }

    /// litecd, where it may be ended and started.
    pub(crate) fn litecd(&mut self) -> Result<&mut Switch<'a>> {
        self.litecd.as_mut().context("only a controller that the harness started can be ended and started again")
    }

    /// Starts litecd with the rights of the service account `NAMESPACE/NAME` in place of all rights.
    async fn start_limited(&mut self, account: &str) -> Result<()> {
        let (namespace, name) = account.split_once('/').context("serviceAccount is NAMESPACE/NAME")?;
        let path = format!("/api/v1/namespaces/{namespace}/serviceaccounts/{name}/token");
        let body = json!({"apiVersion": "authentication.k8s.io/v1", "kind": "TokenRequest", "spec": {}});
        let answer = self.cluster.call(http::Method::POST, &path, Some((&body, "application/json"))).await?;
        let token = answer.pointer("/status/token").context("no token")?.clone();
        let litecd = self.litecd()?;
        let kubeconfig = litecd.subject.kubeconfig_with(name, ("/users/0/user/token", token))?;
        litecd.start(Some(&kubeconfig)).await
    }

    fn note(&mut self, note: String) {
        (self.say)(format!("  note: {note}"));
        self.notes.push(note);
    }

    async fn refresh(&mut self, app: &Reference, kind: &str) -> Result<()> {
        let body = json!({"metadata": {"annotations": {"argocd.argoproj.io/refresh": kind}}});
        self.cluster.patch(app, Patch::merge(&body)).await
    }

    /// Sets `.operation` and clears the last one's state, as Argo CD's API server does.
    pub(crate) async fn sync(&mut self, sync: &Sync) -> Result<()> {
        let place = app_named(&sync.app);
        let app = self.cluster.get(&place).await?.with_context(|| format!("there is no app {}", sync.app))?;
        let mut fields = sync.fields.clone();
        if let Some(options) = app.pointer("/spec/syncPolicy/syncOptions").filter(|options| !options.is_null()) {
            fields.entry("syncOptions").or_insert_with(|| options.clone());
        }
        let mut operation = Map::from_iter([("initiatedBy".to_owned(), json!({"username": "corpus"}))]);
        for key in ["retry", "info", "initiatedBy"] {
            if let Some(value) = fields.remove(key) {
                operation.insert(key.to_owned(), value);
            }
        }
        operation.insert("sync".to_owned(), fields.into());
        let mut body = json!({"operation": operation});
        // Without this the last operation's results would count for this one.
        if app.pointer("/status/operationState").is_some_and(|state| !state.is_null()) {
            body["status"] = json!({"operationState": null});
        }
        self.cluster.patch(&place, Patch::merge(&body)).await
    }

    /// Every Application that the case can see, with its namespace.
    pub(crate) async fn apps(&mut self) -> Result<Vec<(String, Value)>> {
        let kind = self.cluster.kind("Application", Some("argoproj.io")).await?;
        let mut all = Vec::new();
        for namespace in std::iter::once(ARGOCD).chain(self.case.spec.app_namespaces.iter().map(String::as_str)) {
            let apps = self.cluster.list(&kind, Some(namespace)).await?;
            all.extend(apps.into_iter().map(|app| (namespace.to_owned(), app)));
        }
        Ok(all)
    }

    async fn settle(&mut self, settle: &Settle) -> Result<()> {
        let quiet = Duration::from_secs_f64(settle.quiet.unwrap_or(3.0));
        let end = Instant::now() + Duration::from_secs_f64(settle.timeout.unwrap_or(60.0));
        for (namespace, app) in self.apps().await? {
            let place = Reference::argocd("Application", &namespace, name_of(&app));
            match self.refresh(&place, settle.refresh.as_deref().unwrap_or("normal")).await {
                Err(error) if api::code(&error) != 404 => return Err(error),
                _ => {}
            }
        }
        let (mut last, mut since) = (None, Instant::now());
        let mut busy = Vec::new();
        while Instant::now() < end {
            let apps = self.apps().await?;
            busy = apps.iter().filter(|(_, app)| is_busy(app)).map(|(_, app)| name_of(app).to_owned()).collect();
            let mark = self.mark(apps).await?;
            if last.as_ref() != Some(&mark) {
                (last, since) = (Some(mark), Instant::now());
            } else if busy.is_empty() && since.elapsed() >= quiet {
                return Ok(());
            }
            sleep(Duration::from_millis(500)).await;
        }
        self.note(format!("settle timed out, busy: {busy:?}"));
        Ok(())
    }

    /// What must stay the same for the case to be quiet.
    async fn mark(&mut self, mut apps: Vec<(String, Value)>) -> Result<Value> {
        for status in apps.iter_mut().filter_map(|(_, app)| app.get_mut("status")?.as_object_mut()) {
            status.remove("reconciledAt");
        }
        let apps: Vec<Value> =
            apps.iter().map(|(namespace, app)| json!([namespace, name_of(app), app["status"], app["spec"]])).collect();
        let mut versions = Vec::new();
        for namespace in &self.case.spec.namespaces {
            for kind in ["Deployment", "Job", "ConfigMap", "Service", "Pod"] {
                let kind = self.cluster.kind(kind, None).await?;
                versions.extend(self.cluster.list(&kind, Some(namespace)).await?.iter().map(version_of));
            }
        }
        let sets = self.cluster.kind("ApplicationSet", Some("argoproj.io")).await?;
        versions.extend(self.cluster.list(&sets, Some(ARGOCD)).await?.iter().map(version_of));
        Ok(json!([apps, versions]))
    }

    async fn wait(&mut self, wait: &Wait) -> Result<()> {
        let end = Instant::now() + Duration::from_secs_f64(wait.timeout.unwrap_or(60.0));
        while Instant::now() < end {
            if let Some(object) = self.cluster.get(&wait.object).await?
                && wait.until.iter().all(|(path, want)| matches(&object, path, want))
            {
                return Ok(());
            }
            sleep(Duration::from_millis(200)).await;
        }
        self.note(format!("wait timed out: {wait:?}"));
        Ok(())
    }

    /// Waits until an object is gone; false when it is still there after `timeout` seconds.
    pub(crate) async fn gone(&mut self, object: &Reference, timeout: f64) -> Result<bool> {
        let end = Instant::now() + Duration::from_secs_f64(timeout);
        while Instant::now() < end {
            if self.cluster.get(object).await?.is_none() {
                return Ok(true);
            }
            sleep(Duration::from_millis(200)).await;
        }
        Ok(false)
    }

    async fn post(&mut self, post: &Post) -> Result<()> {
        let body = match &post.body {
            Value::String(file) => self.case.text(file)?.into_bytes(),
            object => object.to_string().into_bytes(),
        };
        let mut headers = vec![("Content-Type".to_owned(), "application/json".to_owned())];
        for (name, value) in &post.headers {
            headers.retain(|(known, _)| !known.eq_ignore_ascii_case(name));
            headers.push((name.clone(), value.as_str().map_or_else(|| value.to_string(), str::to_owned)));
        }
        if let Some(sign) = &post.sign {
            headers
                .push((sign.header.clone(), format!("{}{}", sign.prefix, signature(&sign.hash, &sign.secret, &body)?)));
        }
        let apart =
            self.endpoints.appset_webhook.as_ref().filter(|_| post.endpoint.as_deref() == Some("applicationset"));
        let base = apart.unwrap_or(&self.endpoints.webhook);
        let path = post.path.as_deref().unwrap_or("/api/webhook");
        let answer = web::post(&format!("{base}{path}"), &headers, body).await?;
        self.posts.push(format!("{} {}", answer.code, answer.text.trim()).trim().to_owned());
        if let Some(expected) = post.expect.filter(|expected| *expected != answer.code) {
            self.note(format!("webhook answered {}, expected {expected}", answer.code));
        }
        Ok(())
    }
}

/// The app that a step names, `NAME` or `NAMESPACE/NAME`.
fn app_named(text: &str) -> Reference {
    let (namespace, name) = text.rsplit_once('/').unwrap_or((ARGOCD, text));
    Reference::argocd("Application", namespace, name)
}

pub(crate) fn name_of(object: &Value) -> &str {
    object.pointer("/metadata/name").and_then(Value::as_str).unwrap_or_default()
}

fn version_of(object: &Value) -> Value {
    json!([name_of(object), object.pointer("/metadata/resourceVersion")])
}

/// True while an app waits for a refresh, has an operation, or was never compared.
fn is_busy(app: &Value) -> bool {
    let has = |pointer| app.pointer(pointer).is_some_and(|value| !crate::normal::is_empty(value));
    let phase = app.pointer("/status/operationState/phase").and_then(Value::as_str);
    app.pointer("/metadata/annotations/argocd.argoproj.io~1refresh").is_some()
        || has("/operation")
        || matches!(phase, Some("Running" | "Terminating"))
        || !has("/status/sync")
}

/// True when the value at a dotted path is the wanted one, or `<absent>`, or `<present>`, as wanted.
pub fn matches(object: &Value, path: &str, want: &Value) -> bool {
    let found = path.split('.').try_fold(object, |current, key| match current {
        Value::Array(items) => items.get(key.parse::<usize>().ok()?),
        other => other.get(key),
    });
    let found = found.filter(|value| !value.is_null());
    match (want.as_str(), found) {
        (Some("<absent>"), found) => found.is_none(),
        (Some("<present>"), found) => found.is_some(),
        (_, found) => crate::compare::same(want, found.unwrap_or(&Value::Null)),
    }
}

fn signature(hash: &str, secret: &str, body: &[u8]) -> Result<String> {
    let algorithm = match hash {
        "sha1" => ring::hmac::HMAC_SHA1_FOR_LEGACY_USE_ONLY,
        "sha256" => ring::hmac::HMAC_SHA256,
        "sha512" => ring::hmac::HMAC_SHA512,
        other => anyhow::bail!("unknown hash {other}"),
    };
    let tag = ring::hmac::sign(&ring::hmac::Key::new(algorithm, secret.as_bytes()), body);
    Ok(tag.as_ref().iter().map(|byte| format!("{byte:02x}")).collect())
}
