//! Sources to manifests: resolve, fetch, check out, render, remember.
//!
//! In:  an application's sources and the revisions wanted.
//! Out: manifests per source, all sources of one repository and revision text from one commit.
//! Invariant: a rendering is looked up by everything it depends on, so that a restart or a live change renders nothing
//! again; a hard refresh renders anew.
//! Source: APP-070 to APP-073, APP-135 to APP-138 (`controller/state.go` `GetRepoObjs`).

use std::cell::RefCell;
use std::collections::{BTreeMap, HashMap};
use std::path::{Path, PathBuf};
use std::rc::Rc;
use std::time::{Duration, Instant};

use serde::{Deserialize, Serialize};
use serde_json::{Value, json};
use sha2::{Digest, Sha256};
use tokio::sync::Semaphore;

use super::config::{Config, InForce};
use super::destination::Destination;
use super::rendered::{BOUNDS, Rendered};
use crate::api::Application;
use crate::api::application::ApplicationSource;
use crate::process::Limits;
use crate::render::{self, Enabled, KustomizeSettings, RefSource};
use crate::repo::{Checkout, RepoAccess, Revision, Store};
use crate::settings::Parameters;

/// What is wanted.
pub struct Wanted<'a> {
    /// The application.
    pub app: &'a Application,
    /// Its instance name.
    pub instance: &'a str,
    /// Its sources.
    pub sources: &'a [ApplicationSource],
    /// Revision wanted per source.
    pub revisions: &'a [String],
    /// Whether to render anew.
    pub hard: bool,
    /// Whether to resolve revisions anew.
    pub force_resolve: bool,
    /// Whether the application has several sources.
    pub multi: bool,
}

/// Manifests of one source.
#[derive(Debug, Serialize, Deserialize)]
pub struct SourceManifests {
    /// Rendered objects.
    pub manifests: Vec<Value>,
    /// Commit.
    pub revision: String,
    /// `Directory`, `Helm`, `Kustomize`, or empty for a reference.
    pub source_type: String,
}

/// How old a listing of references may be when nobody asked for a fresh one.
const LISTING_AGE: Duration = Duration::from_secs(10);

/// Renders sources and remembers the results on disk.
pub struct Desired {
    store: Store,
    rendered: Rendered,
    /// Renderings at once: helm and kustomize are processes of 50 MiB each.
    turns: Semaphore,
    limits: Limits,
    failures: RefCell<Failures>,
}

impl Desired {
    /// Uses a folder for repositories and rendered manifests.
    pub fn new(dir: &Path, parameters: &Parameters) -> std::io::Result<Self> {
        let rendered = Rendered::new(dir.join("rendered"), BOUNDS)?;
        let parallel = std::thread::available_parallelism().map_or(2, usize::from).max(2);
        let timeout = Duration::try_from(parameters.repo_server_timeout).unwrap_or(Duration::from_secs(60));
        let limits = Limits { timeout, ..Limits::default() };
        Ok(Self {
            store: Store::new(dir)?,
            rendered,
            turns: Semaphore::new(parallel),
            limits,
            failures: RefCell::default(),
        })
    }

    /// Manifests of all sources; the error is what follows `Failed to load target state: `.
    pub async fn manifests(
        &self,
        config: &Config,
        settings: &InForce,
        destination: &Destination,
        wanted: &Wanted<'_>,
    ) -> Result<Vec<SourceManifests>, String> {
        let cluster = ClusterFacts::of(destination).await?;
        let mut commits =
            Commits { desired: self, config, project: wanted.app.spec.project_name(), known: HashMap::new() };
        let refs = self.refs(&mut commits, wanted).await?;
        let mut all = Vec::with_capacity(wanted.sources.len());
        let count = wanted.sources.len();
        for (index, source) in wanted.sources.iter().enumerate() {
            let requested =
                wanted.revisions.get(index).filter(|text| !text.is_empty()).unwrap_or(&source.target_revision);
            let scene = Scene { settings, cluster: &cluster, wanted, refs: &refs };
            let one = self.source(&mut commits, &scene, (source, requested)).await;
            all.push(
                one.map_err(|text| format!("failed to generate manifest for source {} of {count}: {text}", index + 1))?,
            );
        }
        Ok(all)
    }

    async fn source(
        &self,
        commits: &mut Commits<'_>,
        scene: &Scene<'_>,
        (source, requested): (&ApplicationSource, &str),
    ) -> Result<SourceManifests, String> {
        if source.is_helm() || source.is_oci() {
            return Err("rpc error: code = Unimplemented desc = charts from Helm and OCI repositories are not supported by this build".to_owned());
        }
        let commit = commits.resolve(source, requested, scene.wanted).await?;
        let request = self.request(scene, (source, requested, &commit));
        let key = self.key(&request);
        if !scene.wanted.hard
            && let Some(known) = self.recall(&key)
        {
            return Ok(known);
        }
        if !scene.wanted.hard
            && let Some(text) = self.failures.borrow_mut().recall(&key)
        {
            return Err(text);
        }
        let checkout = commits.checkout(source, &commit).await?;
        let _turn = self.turns.acquire().await.map_err(|error| error.to_string())?;
        let request = render::Request { root: checkout.root.clone(), ..request };
        let rendered = match render::render(&request).await {
            Ok(rendered) => rendered,
            Err(error) => {
                self.failures.borrow_mut().note(&key, error.cached_envelope());
                return Err(error.envelope());
            }
        };
        self.failures.borrow_mut().forget(&key);
        let result = SourceManifests {
            manifests: rendered.manifests,
            revision: commit,
            source_type: rendered.source_type.to_owned(),
        };
        self.remember(&key, &result);
        Ok(result)
    }

    /// Checkouts that `$name` refers to.
    async fn refs(
        &self,
        commits: &mut Commits<'_>,
        wanted: &Wanted<'_>,
    ) -> Result<BTreeMap<String, RefSource>, String> {
        let mut refs = BTreeMap::new();
        if !wanted.multi {
            return Ok(refs);
        }
        render::refs::targets(wanted.sources).map_err(|error| error.to_string())?;
        let count = wanted.sources.len();
        for (index, source) in wanted.sources.iter().enumerate().filter(|(_, source)| source.is_ref()) {
            let requested =
                wanted.revisions.get(index).filter(|text| !text.is_empty()).unwrap_or(&source.target_revision);
            let mut known =
                RefSource { repo_url: source.repo_url.clone(), chart: source.chart.clone(), ..RefSource::default() };
            if !source.is_helm() {
                let place = |text| format!("failed to generate manifest for source {} of {count}: {text}", index + 1);
                known.revision = commits.resolve(source, requested, wanted).await.map_err(place)?;
                known.root = commits.checkout(source, &known.revision).await.map_err(place)?.root.clone();
            }
            refs.insert(format!("${}", source.r#ref), known);
        }
        Ok(refs)
    }

    fn request(
        &self,
        scene: &Scene<'_>,
        (source, requested, commit): (&ApplicationSource, &str, &str),
    ) -> render::Request {
        let (settings, wanted) = (scene.settings, scene.wanted);
        render::Request {
            app_name: wanted.instance.to_owned(),
            namespace: wanted.app.spec.destination.namespace.clone(),
            project: wanted.app.spec.project_name().to_owned(),
            source: source.clone(),
            requested_revision: requested.to_owned(),
            revision: commit.to_owned(),
            root: PathBuf::new(),
            refs: scene.refs.clone(),
            has_multiple_sources: wanted.multi,
            kube_version: scene.cluster.version.clone(),
            api_versions: scene.cluster.api_versions.to_vec(),
            tracking: settings.tracking.clone(),
            enabled: Enabled {
                helm: settings.tools.helm_enabled,
                kustomize: settings.tools.kustomize_enabled,
                jsonnet: settings.tools.jsonnet_enabled,
            },
            kustomize: KustomizeSettings {
                build_options: settings.tools.kustomize.build_options.clone(),
                binaries: settings.tools.kustomize.versions.iter().map(|(v, k)| (v.clone(), k.path.clone())).collect(),
            },
            value_file_schemes: settings.tools.helm_values_file_schemes.clone(),
            helm_repositories: Vec::new(),
            permitted_repositories: Vec::new(),
            git_environment: Vec::new(),
            scratch: self.store.scratch(),
            limits: self.limits,
            max_directory_bytes: 10 << 20,
        }
    }

    /// Everything a rendering depends on, as one digest.
    fn key(&self, request: &render::Request) -> String {
        let refs: Vec<Value> = request.refs.iter().map(|(name, r)| json!([name, r.repo_url, r.revision])).collect();
        let parts = json!([
            env!("CARGO_PKG_VERSION"),
            [&request.app_name, &request.namespace, &request.project],
            request.source,
            [&request.requested_revision, &request.revision, &request.kube_version],
            refs,
            request.has_multiple_sources,
            request.api_versions,
            format!(
                "{:?}{:?}{:?}{:?}",
                request.tracking, request.enabled, request.kustomize, request.value_file_schemes
            ),
        ]);
        let digest = Sha256::digest(parts.to_string().as_bytes());
        digest.iter().map(|byte| format!("{byte:02x}")).collect()
    }

    fn recall(&self, key: &str) -> Option<SourceManifests> {
        serde_json::from_slice(&self.rendered.recall(key)?).ok()
    }

    fn remember(&self, key: &str, result: &SourceManifests) {
        if let Ok(bytes) = serde_json::to_vec(result) {
            self.rendered.remember(key, &bytes);
        }
    }
}

/// Renderings that failed: after three failures the error is given without trying again, for an hour or until a hard
/// refresh (`reposerver/repository/repository.go` `getManifestCacheEntry`).
#[derive(Default)]
struct Failures(HashMap<String, Failed>);

struct Failed {
    count: u32,
    first: Instant,
    text: String,
}

/// Failures after which a rendering is not tried again, and for how long.
const GIVE_UP_AFTER: u32 = 3;
const GIVE_UP_FOR: Duration = Duration::from_secs(3600);

impl Failures {
    fn note(&mut self, key: &str, text: String) {
        // Old revisions never come back; a few thousand texts are the most that is kept.
        if self.0.len() > 2000 {
            self.0.clear();
        }
        let failed = self.0.entry(key.to_owned()).or_insert_with(|| Failed {
            count: 0,
            first: Instant::now(),
            text: String::new(),
        });
        failed.count += 1;
        failed.text = text;
    }

    fn forget(&mut self, key: &str) {
        self.0.remove(key);
    }

    fn recall(&mut self, key: &str) -> Option<String> {
        let failed = self.0.get(key)?;
        if failed.first.elapsed() > GIVE_UP_FOR {
            self.0.remove(key);
            return None;
        }
        (failed.count >= GIVE_UP_AFTER).then(|| failed.text.clone())
    }
}

/// What rendering needs to know of the destination.
struct ClusterFacts {
    version: String,
    api_versions: Rc<[String]>,
}

impl ClusterFacts {
    async fn of(destination: &Destination) -> Result<Self, String> {
        let server = &destination.server;
        let unknown = |error: crate::cluster::Error| {
            format!(
                "failed to get cluster version for cluster {server:?}: failed to get cluster info for {server:?}: error synchronizing cache state : {error}"
            )
        };
        let version = destination.cluster.version().await.map_err(unknown)?;
        let api_versions = destination.cluster.api_versions().await.map_err(unknown)?.into();
        Ok(Self { version, api_versions })
    }
}

/// What one application's sources are rendered with.
struct Scene<'a> {
    settings: &'a InForce,
    cluster: &'a ClusterFacts,
    wanted: &'a Wanted<'a>,
    refs: &'a BTreeMap<String, RefSource>,
}

/// Commits resolved in this comparison: equal repository and revision give equal commits, whatever is pushed meanwhile.
struct Commits<'a> {
    desired: &'a Desired,
    config: &'a Config,
    project: &'a str,
    known: HashMap<(String, String, String), String>,
}

impl Commits<'_> {
    async fn resolve(
        &mut self,
        source: &ApplicationSource,
        requested: &str,
        wanted: &Wanted<'_>,
    ) -> Result<String, String> {
        let key =
            (crate::settings::git_url::normalize(&source.repo_url), requested.to_owned(), source.tag_prefix.clone());
        if let Some(commit) = self.known.get(&key) {
            return Ok(commit.clone());
        }
        let max_age = if wanted.force_resolve { Duration::ZERO } else { LISTING_AGE };
        let revision = Revision { text: requested, tag_prefix: &source.tag_prefix, max_age };
        let commit =
            self.desired.store.resolve(&self.access(source)?, revision).await.map_err(|error| error.envelope())?;
        self.known.insert(key, commit.clone());
        Ok(commit)
    }

    async fn checkout(&self, source: &ApplicationSource, commit: &str) -> Result<Checkout, String> {
        let access = self.access(source)?;
        let commit = self.desired.store.fetch(&access, commit).await.map_err(|error| error.envelope())?;
        self.desired.store.checkout(&access, &commit).await.map_err(|error| error.envelope())
    }

    fn access(&self, source: &ApplicationSource) -> Result<RepoAccess, String> {
        let mut access = RepoAccess::anonymous(&source.repo_url);
        let known =
            self.config.repositories.get(&source.repo_url, self.project).map_err(|error| {
                format!("failed to get repo {:?}: {error}", crate::repo::redacted(&source.repo_url))
            })?;
        access.insecure = known.is_insecure();
        access.username = known.credentials.username;
        access.password = known.credentials.password;
        access.bearer_token = known.credentials.bearer_token;
        access.ssh_private_key = known.credentials.ssh_private_key;
        access.depth = u32::try_from(known.depth).unwrap_or(0);
        Ok(access)
    }
}
