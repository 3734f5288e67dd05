//! Knows which kinds the API server offers, without asking it each time.
//!
//! In:  the server's aggregated discovery documents, two requests for everything.
//! Out: a kind's resource, preferred version or scope; the version strings Helm is given.
//! Invariant: "not there" is said only after asking the server about that very group and version.
//! Source: SYNC-055, SYNC-134; `kube.go` `ServerResourceForGroupVersionKind`, `ctl.go` `GetAPIResources`,
//! `GetServerVersion`; `util/argo/argo.go` `APIResourcesToStrings`.

mod read;
mod snapshot;

use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

pub(super) use snapshot::Snapshot;

use super::request::Call;
use super::resource::root;
use super::{Cluster, Error, Resource};
use crate::api::{GroupKind, GroupVersionKind};

/// After this long everything is read again, whatever the server's tags say.
const OLDEST: Duration = Duration::from_secs(600);
/// How long what was read counts without asking whether it is current. CRDs come and go; Helm charts ask which there are.
const UNASKED: Duration = Duration::from_secs(10);
/// An unknown kind reloads everything at most this often: an app full of objects without CRD must not hammer the server.
const MISS_PAUSE: Duration = Duration::from_secs(10);
/// Pause between attempts while the server does not answer.
const FAILURE_PAUSE: Duration = Duration::from_secs(2);

/// Why a kind cannot be used; the text goes into the result of its sync task.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{text}")]
pub struct DiscoveryError {
    /// The server was asked and does not have the kind; otherwise it could not be asked or lacks the verb.
    pub not_found: bool,
    /// Whether the server could not be asked, which may pass.
    pub transient: bool,
    /// Argo CD's text (SYNC-134).
    pub text: String,
}

/// What was read last.
#[derive(Default)]
pub(super) struct Cache {
    state: Mutex<State>,
    /// Held while reading, so that many apps waiting for discovery cause one request.
    reading: tokio::sync::Mutex<()>,
}

#[derive(Default)]
struct State {
    snapshot: Option<Arc<Snapshot>>,
    read: Option<Instant>,
    /// When the server last said that this is current.
    asked: Option<Instant>,
    failed: Option<Instant>,
    outdated: bool,
}

fn within(moment: Option<Instant>, span: Duration) -> bool {
    moment.is_some_and(|moment| moment.elapsed() < span)
}

impl Cache {
    fn with<T>(&self, use_state: impl FnOnce(&mut State) -> T) -> T {
        use_state(&mut self.state.lock().unwrap_or_else(PoisonError::into_inner))
    }

    /// What was read, if it need not be asked about.
    fn fresh(&self, age: Duration) -> Option<Arc<Snapshot>> {
        self.with(|state| {
            let known = state.snapshot.clone()?;
            // Asking is cheap only where the server tags its documents.
            let age = if known.tags.is_empty() { age } else { age.min(UNASKED) };
            let usable = (within(state.asked, age) && !state.outdated) || within(state.failed, FAILURE_PAUSE);
            usable.then_some(known)
        })
    }

    /// What was read, if the server may be asked by its tags whether that is current.
    fn askable(&self) -> Option<Arc<Snapshot>> {
        self.with(|state| state.snapshot.clone().filter(|_| within(state.read, OLDEST)))
    }
}

impl Cluster {
    /// The kind in that version.
    pub async fn resource(&self, gvk: &GroupVersionKind) -> Result<Arc<Resource>, DiscoveryError> {
        self.resource_with_verb(gvk, "").await
    }

    /// The kind in that version, which must offer `verb` (empty: any).
    pub async fn resource_with_verb(
        &self,
        gvk: &GroupVersionKind,
        verb: &str,
    ) -> Result<Arc<Resource>, DiscoveryError> {
        if let Ok(snapshot) = self.discovered(OLDEST).await
            && let Some(found) = snapshot.find(gvk, verb)
        {
            return Ok(found);
        }
        self.ask_group_version(gvk, verb).await
    }

    /// The kind in the version its group prefers, or in the best version that has it.
    pub async fn preferred(&self, kind: &GroupKind) -> Option<Arc<Resource>> {
        if let Some(found) = self.discovered(OLDEST).await.ok()?.preferred(kind) {
            return Some(found);
        }
        self.discovered(MISS_PAUSE).await.ok()?.preferred(kind)
    }

    /// Whether objects of the kind live in namespaces; `None` when the kind is unknown or nothing could be asked.
    pub async fn namespaced(&self, kind: &GroupKind) -> Option<bool> {
        self.preferred(kind).await.map(|resource| resource.namespaced)
    }

    /// Every kind that can be listed and watched, in its preferred version.
    pub async fn all_listable(&self) -> Result<Vec<Arc<Resource>>, Error> {
        Ok(self.discovered(OLDEST).await?.listable())
    }

    /// Group-versions whose kinds could not be read, such as those of an aggregated API that is down. Their kinds are
    /// unknown, not absent.
    pub async fn unreadable_versions(&self) -> Result<Vec<String>, Error> {
        Ok(self.discovered(OLDEST).await?.unreadable.clone())
    }

    /// `group/version` and `group/version/Kind` of everything listable, sorted: Helm's capabilities.
    pub async fn api_versions(&self) -> Result<Vec<String>, Error> {
        Ok(self.discovered(OLDEST).await?.api_versions())
    }

    /// The server's version as `v<major>.<minor>.<patch>`, without vendor suffix.
    pub async fn version(&self) -> Result<String, Error> {
        Ok(self.discovered(OLDEST).await?.version.clone())
    }

    /// Makes the next use read discovery again; for when a CRD or APIService changed.
    pub fn forget_discovery(&self) {
        self.inner.discovery.with(|state| state.outdated = true);
    }

    /// What is known, read again if it is older than `age`.
    async fn discovered(&self, age: Duration) -> Result<Arc<Snapshot>, Error> {
        let cache = &self.inner.discovery;
        if let Some(known) = cache.fresh(age) {
            return Ok(known);
        }
        let _alone = cache.reading.lock().await;
        if let Some(known) = cache.fresh(age) {
            return Ok(known);
        }
        cache.with(|state| state.outdated = false);
        match self.read(cache.askable()).await {
            Ok((snapshot, is_new)) => {
                cache.with(|state| {
                    let now = Some(Instant::now());
                    state.asked = now;
                    state.failed = None;
                    if is_new {
                        state.read = now;
                        state.snapshot = Some(Arc::clone(&snapshot));
                    }
                });
                Ok(snapshot)
            }
            // Kinds seldom vanish, so what was known still holds; a kind it lacks is asked about directly.
            Err(error) => cache.with(|state| {
                state.outdated = true;
                state.failed = Some(Instant::now());
                tracing::warn!(server = %self.inner.server, error = %error, "discovery failed");
                state.snapshot.clone().ok_or(error)
            }),
        }
    }

    /// What is known, if it is current, else everything anew; and which of the two.
    async fn read(&self, known: Option<Arc<Snapshot>>) -> Result<(Arc<Snapshot>, bool), Error> {
        if let Some(known) = known
            && read::is_current(self, &known).await?
        {
            return Ok((known, false));
        }
        Ok((Arc::new(read::everything(self).await?), true))
    }

    /// Asks about one group-version, as Argo CD does for every kind of a sync; this is what finds a CRD made a moment
    /// ago, and whose answer is quoted when it is not there.
    async fn ask_group_version(&self, gvk: &GroupVersionKind, verb: &str) -> Result<Arc<Resource>, DiscoveryError> {
        let group_version = gvk.api_version();
        let answer = self.send(Call::get(root(&gvk.group, &gvk.version))).await.map_err(|error| DiscoveryError {
            not_found: error.is_not_found(),
            transient: error.is_transient(),
            text: format!("failed to discover server resources for group version {group_version}: {error}"),
        })?;
        let all = read::resource_list(&answer, &gvk.group, &gvk.version);
        let mut of_kind = all.into_iter().filter(|resource| resource.kind == gvk.kind).peekable();
        let exists = of_kind.peek().is_some();
        if exists {
            // The cache did not know it, so it is behind.
            self.forget_discovery();
        }
        let qualified = if gvk.group.is_empty() { gvk.kind.clone() } else { format!("{}.{}", gvk.kind, gvk.group) };
        of_kind.find(|resource| verb.is_empty() || resource.verbs.has(verb)).map(Arc::new).ok_or_else(|| {
            DiscoveryError {
                not_found: !exists,
                transient: false,
                text: if exists {
                    format!("{verb} is not supported on resources of kind {qualified:?}")
                } else {
                    format!("{qualified} \"\" not found")
                },
            }
        })
    }
}
