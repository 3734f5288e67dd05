//! What every reconcile shares: clients, stores, settings, the verdict on who may write.
//!
//! In:  watches that fill it.
//! Out: one place that hands out the current settings, an application's project, and the permit to write.
//! Invariant: everything runs on one thread; nothing here is held across an await except through `Rc`.

use std::cell::{Cell, RefCell};
use std::collections::HashMap;
use std::hash::{DefaultHasher, Hash, Hasher};
use std::rc::Rc;
use std::sync::Arc;
use std::time::Duration;

use jiff::Timestamp;
use serde_json::Value;
use tokio::sync::{Notify, mpsc};
use tokio::time::Instant;

use super::classifier;
use super::config::Config;
use super::dry_runs::DryRuns;
use super::feeds::level_of_change;
use super::published::Published;
use super::queue::{AppKey, Purpose, Queue};
use super::readiness::Readiness;
use super::remotes::Remotes;
use super::sets::{self, Sets};
use super::stores::{Apps, StoredApp, key_of};
use super::turns::Turns;
use super::webhooks::Reception;
use crate::api::{ObjectExt, names};
use crate::cluster::{Cluster, Error, Resource, Target};
use crate::compare::{Level, Periods};
use crate::desired::Desired;
use crate::guard::{Permit, Verdict};
use crate::settings::Parameters;
use crate::sync::auto::SelfHealBackoff;
use crate::watch::{Change, Classify, Live, Orphans};

/// Shared by all reconciles.
pub struct Context {
    /// Namespace of the control plane (`argocd`).
    pub namespace: String,
    /// Settings that come from flags and `argocd-cmd-params-cm`.
    pub parameters: Parameters,
    /// The cluster that holds the Applications, which is also the in-cluster destination.
    pub cluster: Cluster,
    /// Live objects of that cluster.
    pub live: Live,
    /// Objects of that cluster that no application owns, where a project asks for them.
    pub orphans: Orphans,
    /// Applications.
    pub apps: Apps,
    /// ApplicationSets, and the work on them.
    pub sets: Sets,
    /// Settings, projects, repositories, clusters; replaced as a whole.
    pub config: RefCell<Rc<Config>>,
    /// The last settings that could be read.
    pub last_good: RefCell<Rc<Config>>,
    /// Whether leftovers were looked for in this cluster.
    pub swept: Rc<Cell<bool>>,
    /// Sources to manifests.
    pub desired: Desired,
    /// Who is next.
    pub queue: Queue,
    /// How many are worked on at once.
    pub turns: Turns,
    /// Told when an Application is being deleted.
    pub doomed: Notify,
    /// The last verdict on who may write.
    pub verdict: RefCell<Verdict>,
    /// When an application's sources first failed to render, for the grace period (APP-082).
    pub repo_errors: RefCell<HashMap<AppKey, Instant>>,
    /// What server-side diffs found for objects that did not change since.
    pub dry_runs: DryRuns,
    /// The `applications` resource.
    pub applications: Arc<Resource>,
    /// Told when objects that nobody named before may be tracked now.
    pub sweep: Notify,
    /// Whether every application is to be refreshed after that.
    pub refresh_all: Cell<bool>,
    /// How long a comparison is good for.
    pub periods: Periods,
    /// Longest random delay of a periodic comparison.
    pub longest_jitter: Duration,
    /// Clusters besides this one.
    pub remotes: Remotes,
    /// Where live stores tell of changes.
    pub changes: mpsc::UnboundedSender<Change>,
    /// Published diffs.
    pub published: Published,
    /// Whether nothing is written whatever the verdict would be.
    pub observe: bool,
    /// Where webhooks arrive.
    pub webhooks: Reception,
    /// What `/readyz` answers.
    pub readiness: Arc<Readiness>,
}

impl Context {
    /// The current time.
    pub fn now(&self) -> Timestamp {
        Timestamp::now()
    }

    /// The current settings.
    pub fn config(&self) -> Rc<Config> {
        self.config.borrow().clone()
    }

    /// The permit to write, asked for anew before each write.
    pub fn permit(&self) -> Option<Permit> {
        self.verdict.borrow().permit()
    }

    /// The permit as an answer of the API server's kind, for code that writes.
    pub fn leave(&self) -> Result<Permit, Error> {
        self.permit().ok_or_else(|| Error::Refused { text: "standing down: nothing is written".to_owned() })
    }

    /// Merge-patches an Application and stores the answer.
    pub async fn patch_app(&self, app: &StoredApp, patch: &Value) -> Result<(), Error> {
        let meta = &app.app.metadata;
        let target = Target::new(&self.applications, &meta.namespace, &meta.name);
        let answer = self.cluster.merge_patch(self.leave()?, &target, patch, names::BINARY_MANAGER).await;
        if let Err(Error::NotFound(_)) = &answer {
            self.forget_app(&app.key());
        }
        self.absorb(&answer?);
        Ok(())
    }

    /// Reads an Application from the API server, past the store.
    pub async fn read_app(&self, key: &AppKey) -> Result<Option<StoredApp>, Error> {
        let Some(raw) = self.cluster.get(&self.applications, &key.namespace, &key.name).await? else {
            self.forget_app(key);
            return Ok(None);
        };
        self.absorb(&raw);
        StoredApp::from_value(raw)
            .map(Some)
            .map_err(|cause| Error::Decode { text: format!("application {key}"), cause })
    }

    /// The delay of an application's periodic comparison: the same each time, spread evenly over all applications.
    pub fn jitter(&self, uid: &str) -> Duration {
        let mut hasher = DefaultHasher::new();
        uid.hash(&mut hasher);
        let millis = u64::try_from(self.longest_jitter.as_millis()).unwrap_or(u64::MAX);
        Duration::from_millis(if millis == 0 { 0 } else { hasher.finish() % millis })
    }

    /// How self-heal attempts are spaced.
    pub fn self_heal_backoff(&self) -> SelfHealBackoff {
        let parameters = &self.parameters;
        let duration = |of: jiff::SignedDuration| Duration::try_from(of).unwrap_or_default();
        SelfHealBackoff {
            first: duration(parameters.self_heal_backoff),
            factor: u32::try_from(parameters.self_heal_backoff_factor).unwrap_or(0),
            cap: duration(parameters.self_heal_backoff_cap),
            fixed: duration(parameters.self_heal_timeout),
        }
    }

    /// Judges live objects by the last settings that could be read: unreadable ones must not make objects foreign.
    pub fn classifier(&self) -> Rc<dyn Classify> {
        classifier::of(&self.last_good.borrow())
    }

    /// Comes back when the grace period of a rendering error is over.
    pub fn again_after_grace(&self, key: &AppKey) {
        let grace = Duration::try_from(self.parameters.repo_error_grace_period).unwrap_or_default();
        self.queue.add_after(key, Some(Level::Latest), Purpose::Grace, grace + Duration::from_secs(1));
    }

    /// Takes in an Application as the API server answered it. An older answer than what is known changes nothing.
    ///
    /// Automated sync or self-heal turned on asks for a refresh (APP-058), whoever's answer shows it first.
    pub fn absorb(&self, object: &Value) {
        let key = key_of(object);
        // The last patch of a deletion is answered with an object that is gone already.
        if object.is_deleting() && object.finalizers().is_empty() {
            return self.forget_app(&key);
        }
        if let Ok(before) = self.apps.put(object) {
            sets::application_changed(self, before.as_ref(), object);
            let level = match before {
                Some(before) => level_of_change(before, object),
                // Watches start with comparisons: what changed while nobody looked shows only in one.
                None => Some(Level::Recent),
            };
            self.queue.add(&key, level);
            if object.is_deleting() {
                self.doomed.notify_waiters();
            }
        }
    }

    /// Waits until an Application that is not being deleted is.
    pub async fn deletion_begins(&self, key: &AppKey) {
        loop {
            let told = self.doomed.notified();
            let found = self.apps.get(key).ok().flatten();
            if found.is_none_or(|app| app.app.metadata.deletion_timestamp.is_some()) {
                return;
            }
            told.await;
        }
    }

    /// Forgets an Application that is gone.
    pub fn forget_app(&self, key: &AppKey) {
        // Its set makes it again, unless that is what deleted it.
        if let Some(set) = self.apps.set_of(key) {
            self.sets.queue.add(&set, None);
        }
        self.apps.remove(key);
        self.queue.forget(key);
        self.repo_errors.borrow_mut().remove(key);
        self.published.forget(key);
        self.dry_runs.forget(key);
    }

    /// The live stores of all clusters in use.
    pub fn lives(&self) -> Vec<Live> {
        let mut lives = vec![self.live.clone()];
        lives.extend(self.remotes.lives());
        lives
    }

    /// Looks at an application again soon, after something failed that nobody will announce.
    pub fn again(&self, key: &AppKey, level: Option<Level>) {
        self.queue.add_after(key, level, Purpose::Again, Duration::from_secs(3));
    }
}
