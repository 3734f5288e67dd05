//! What every reconcile shares: clients, stores, settings, the verdict on who may write.
//!
//! In:  watches that fill it.
//! Out: one place that hands out the current settings, an application's project, and the permit to write.
//! Invariant: everything runs on one thread; nothing here is held across an await except through `Rc`.

use std::cell::RefCell;
use std::collections::HashMap;
use std::rc::Rc;
use std::sync::Arc;
use std::time::Duration;

use jiff::Timestamp;
use serde_json::Value;
use tokio::time::Instant;

use super::config::Config;
use super::desired::Desired;
use super::queue::{AppKey, Purpose, Queue};
use super::stores::{Apps, StoredApp};
use crate::api::names;
use crate::cluster::{Cluster, Error, Resource, Target};
use crate::guard::{Permit, Verdict};
use crate::settings::Parameters;
use crate::watch::Live;

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
    /// Applications.
    pub apps: Apps,
    /// Settings, projects, repositories, clusters; replaced as a whole.
    pub config: RefCell<Rc<Config>>,
    /// Sources to manifests.
    pub desired: Desired,
    /// Who is next.
    pub queue: Queue,
    /// The last verdict on who may write.
    pub verdict: RefCell<Verdict>,
    /// When an application's sources first failed to render, for the grace period (APP-082).
    pub repo_errors: RefCell<HashMap<AppKey, Instant>>,
    /// The `applications` resource.
    pub applications: Arc<Resource>,
    /// Whether nothing is written whatever the verdict would be.
    pub observe: bool,
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

    /// Merge-patches an Application and stores the answer.
    pub async fn patch_app(&self, permit: Permit, app: &StoredApp, patch: &Value) -> Result<(), Error> {
        let meta = &app.app.metadata;
        let target = Target::new(&self.applications, &meta.namespace, &meta.name);
        let answer = self.cluster.merge_patch(permit, &target, patch, names::BINARY_MANAGER).await?;
        // An older answer loses against a newer event; both are fine.
        let _ = self.apps.put(&answer);
        Ok(())
    }

    /// Reads an Application from the API server, past the store.
    pub async fn read_app(&self, key: &AppKey) -> Result<Option<StoredApp>, Error> {
        let Some(raw) = self.cluster.get(&self.applications, &key.namespace, &key.name).await? else { return Ok(None) };
        let _ = self.apps.put(&raw);
        StoredApp::from_value(raw).map(Some).map_err(|source| Error::Decode { text: format!("application {key}"), source })
    }

    /// Looks at an application again soon, after something failed that nobody will announce.
    pub fn again(&self, key: &AppKey) {
        self.queue.add_after(key, None, Purpose::Again, Duration::from_secs(3));
    }
}
