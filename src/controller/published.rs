//! Keeps the diff of each application that is out of sync in a Secret beside it.
//!
//! In:  a comparison.
//! Out: Secret `<application>.diff`: written when its text changed, removed when the application is in sync.
//! Invariant: a Secret of that name that litecd did not make is left alone; nothing is written without a permit, and
//! no failure here is one of the application's.
//! Source: litecd's own; Argo CD keeps differences in Redis.

use std::cell::RefCell;
use std::collections::{HashMap, HashSet};
use std::rc::Rc;
use std::time::Duration;

use serde_json::Value;
use tokio::sync::OnceCell;

use super::comparison::Comparison;
use super::context::Context;
use super::queue::AppKey;
use super::stores::StoredApp;
use crate::api::ObjectExt;
use crate::cluster::{Error, Propagation, Resource, Target};
use crate::explain::{diff, published};

/// Field manager of the Secrets.
const MANAGER: &str = "litecd";

/// How long a sync may run before what is left of the difference is published: most end within seconds, and two writes
/// for each would be for nothing.
const PATIENCE: Duration = Duration::from_secs(60);

/// What is known to be published.
pub struct Published {
    enabled: bool,
    /// Namespaces in which it is not permitted, or not possible just now, as in one that is being deleted.
    refused: RefCell<HashSet<String>>,
    /// Digest of each published text.
    known: RefCell<HashMap<AppKey, String>>,
    /// Namespaces whose Secrets were listed, or are being listed.
    listed: RefCell<HashMap<String, Rc<OnceCell<()>>>>,
}

/// What a comparison says about the diff.
pub enum Wanted {
    /// It is not known whether there is one, so what is published stays.
    AsItIs,
    /// There is none.
    Nothing,
    /// This one.
    Text(String),
}

impl Published {
    /// Nothing is known yet; `enabled` says whether anything is published at all.
    pub fn new(enabled: bool) -> Self {
        Self { enabled, refused: RefCell::default(), known: RefCell::default(), listed: RefCell::default() }
    }

    fn is_on(&self, namespace: &str) -> bool {
        self.enabled && !self.refused.borrow().contains(namespace)
    }

    /// Forgets an application that is gone; its Secret goes with its owner.
    pub fn forget(&self, key: &AppKey) {
        self.known.borrow_mut().remove(key);
    }
}

/// The diff to publish after a comparison.
pub fn wanted(ctx: &Context, app: &StoredApp, found: &Comparison) -> Wanted {
    let config = ctx.config();
    let is_on = ctx.published.is_on(&app.app.metadata.namespace);
    let (true, Some(_), Ok(settings)) = (is_on, ctx.permit(), &config.settings) else {
        return Wanted::AsItIs;
    };
    match found.status.status.as_str() {
        "Synced" => Wanted::Nothing,
        "OutOfSync" => {
            let input = diff::Input {
                app: &app.app,
                status: &found.status,
                resources: &found.resources,
                differences: &found.differences,
                pairs: &found.paired.pairs,
                hidden: &settings.sensitive_mask_annotations,
            };
            Wanted::Text(diff::of(&input, published::ROOM).text)
        }
        _ => Wanted::AsItIs,
    }
}

/// Publishes; whatever goes wrong is only logged.
pub async fn publish(ctx: &Context, app: &StoredApp, wanted: Wanted) {
    if app.app.metadata.deletion_timestamp.is_some() || matches!(wanted, Wanted::AsItIs) {
        return;
    }
    let is_text = matches!(wanted, Wanted::Text(_));
    match try_publish(ctx, app, wanted).await {
        Ok(()) => {}
        Err(Error::Forbidden(status)) => {
            let namespace = app.key().namespace;
            ctx.published.refused.borrow_mut().insert(namespace.clone());
            let hint = "none are published there until the next start; --publish-diffs=false says so without a warning";
            tracing::warn!(namespace, reason = status.message, hint, "Not permitted to publish diffs");
        }
        Err(error) => {
            if is_text {
                // It is not known what was written; the next comparison looks again.
                ctx.published.known.borrow_mut().insert(app.key(), String::new());
            }
            tracing::warn!(reason = %error, "Failed to publish the diff");
        }
    }
}

async fn try_publish(ctx: &Context, app: &StoredApp, wanted: Wanted) -> Result<(), Error> {
    let key = app.key();
    list(ctx, &key.namespace).await?;
    let known = ctx.published.known.borrow().get(&key).cloned();
    match (wanted, known) {
        (Wanted::Text(text), known) => {
            if known.is_some_and(|known| known == published::digest(&text)) || is_syncing(ctx, &key) {
                return Ok(());
            }
            write(ctx, app, &text).await
        }
        (Wanted::Nothing, Some(_)) => remove(ctx, &key).await,
        (Wanted::Nothing | Wanted::AsItIs, _) => Ok(()),
    }
}

/// Learns what was published before this process started, once per namespace.
async fn list(ctx: &Context, namespace: &str) -> Result<(), Error> {
    let cell = ctx.published.listed.borrow_mut().entry(namespace.to_owned()).or_default().clone();
    let read = async || {
        let list = ctx.cluster.list_metadata(&secrets(), Some(namespace), published::SELECTOR).await?;
        let mut known = ctx.published.known.borrow_mut();
        for secret in &list.items {
            if let Some(app) = published::application(secret.name()) {
                let key = AppKey { namespace: namespace.to_owned(), name: app.to_owned() };
                known.insert(key, published::digest_of(secret).to_owned());
            }
        }
        Ok(())
    };
    cell.get_or_try_init(read).await.copied()
}

/// Whether a sync is about to run or has not run for long.
fn is_syncing(ctx: &Context, key: &AppKey) -> bool {
    let Ok(Some(fresh)) = ctx.apps.get(key) else { return true };
    if fresh.app.operation.is_none() {
        return false;
    }
    let state = fresh.app.status.operation_state.as_ref().filter(|state| !state.is_completed());
    let age = state.map(|state| ctx.now().duration_since(state.started_at.timestamp()));
    age.and_then(|age| Duration::try_from(age).ok()).is_none_or(|age| age < PATIENCE)
}

async fn write(ctx: &Context, app: &StoredApp, text: &str) -> Result<(), Error> {
    let Some(mut secret) = published::secret(&app.app, text) else { return Ok(()) };
    let resource = secrets();
    let (namespace, name) = (secret.namespace().to_owned(), secret.name().to_owned());
    match ctx.cluster.get(&resource, &namespace, &name).await? {
        None => ctx.cluster.create(ctx.leave()?, &resource, &secret, MANAGER).await?,
        Some(there) if published::is_ours(&there) => {
            // Only this version is replaced; somebody who is faster is looked at anew with the next comparison.
            secret.metadata_mut().insert("resourceVersion".to_owned(), there.resource_version().into());
            let target = Target::new(&resource, &namespace, &name);
            ctx.cluster.update(ctx.leave()?, &target, &secret, MANAGER).await?
        }
        Some(_) => {
            tracing::warn!(namespace, name, "A Secret that is not litecd's has the name of a published diff");
            Value::Null
        }
    };
    ctx.published.known.borrow_mut().insert(app.key(), published::digest(text));
    Ok(())
}

async fn remove(ctx: &Context, key: &AppKey) -> Result<(), Error> {
    let Some(name) = published::name(&key.name) else { return Ok(()) };
    let resource = secrets();
    let there = ctx.cluster.get(&resource, &key.namespace, &name).await?;
    if let Some(there) = there.filter(published::is_ours) {
        let target = Target::new(&resource, &key.namespace, &name);
        match ctx.cluster.delete(ctx.leave()?, &target, Propagation::Background, Some(there.uid())).await {
            Ok(_) | Err(Error::NotFound(_) | Error::Conflict(_)) => {}
            Err(error) => return Err(error),
        }
    }
    ctx.published.forget(key);
    Ok(())
}

fn secrets() -> Resource {
    Resource {
        version: "v1".to_owned(),
        kind: "Secret".to_owned(),
        plural: "secrets".to_owned(),
        namespaced: true,
        ..Resource::default()
    }
}
