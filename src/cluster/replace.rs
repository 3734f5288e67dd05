//! `kubectl replace` and `kubectl create`, and the plain update Argo CD prefers for what must not be recreated.
//!
//! In:  a manifest and whether a live object was seen.
//! Out: `replaced`, `created`, or Argo CD's own `<Kind>/<name> updated`.
//! Invariant: CRDs and Namespaces are never deleted to be replaced: everything in them would go too.
//! Source: SYNC-200, SYNC-203 (`sync_context.go` `applyObject`; kubectl v0.36.1 `pkg/cmd/{replace,create}`).

use std::time::Duration;

use serde_json::Value;
use tokio::time::Instant;

use super::apply::{Applied, Apply, ApplyError, DryRun, Work};
use super::patch::DRY_RUN_ALL;
use super::{Cluster, Error, Propagation, text};
use crate::api::{ObjectExt, names};
use crate::diff;
use crate::guard::Permit;

/// How long a forced replacement waits for the old object to go, and how often it looks.
const PATIENCE: Duration = Duration::from_secs(300);
const PAUSE: Duration = Duration::from_secs(1);

impl Cluster {
    pub(super) async fn apply_by_replacing(&self, permit: Permit, ask: &Apply<'_>) -> Result<Applied, ApplyError> {
        match ask.live {
            None => self.work(permit, ask).await?.create().await,
            Some(live) if is_updated_in_place(ask.object) => self.update_in_place(permit, ask, live).await,
            Some(_) if ask.force && ask.dry_run == DryRun::None => self.work(permit, ask).await?.recreate().await,
            Some(_) => self.work(permit, ask).await?.replace().await,
        }
    }

    /// Even Argo CD's client-side dry run asks the server here.
    async fn update_in_place(&self, permit: Permit, ask: &Apply<'_>, live: &Value) -> Result<Applied, ApplyError> {
        let gvk = ask.object.gvk();
        let resource = self
            .resource_with_verb(&gvk, "update")
            .await
            .map_err(|error| ApplyError::refused(format!("error creating discovery client for config: {error}")))?;
        let mut object = ask.object.clone();
        object.metadata_mut().insert("resourceVersion".to_owned(), live.resource_version().into());
        if !resource.namespaced {
            object.metadata_mut().remove("namespace");
        }
        let dry_run = if ask.dry_run == DryRun::None { "" } else { DRY_RUN_ALL };
        let target = super::Target::new(&resource, object.namespace(), object.name());
        let updated = self
            .update_with(permit, &target, &object, (names::BINARY_MANAGER, dry_run))
            .await
            .map_err(|error| ApplyError::new(error.to_string(), error))?;
        let message = format!("{}/{} updated", ask.object.kind(), ask.object.name());
        Ok(Applied { message, object: (ask.dry_run == DryRun::None).then_some(updated) })
    }
}

/// By kind alone for namespaces, as Argo CD decides it.
fn is_updated_in_place(object: &Value) -> bool {
    object.kind() == "Namespace"
        || (object.group() == "apiextensions.k8s.io" && object.kind() == "CustomResourceDefinition")
}

impl Work<'_> {
    /// The manifest as sent: an annotation it already has is brought up to date, none is added.
    fn annotated(&self) -> Value {
        let object = &self.manifest.object;
        match object.annotation(names::LAST_APPLIED) {
            None | Some("") => object.clone(),
            Some(_) => diff::with_last_applied(object),
        }
    }

    async fn create(self) -> Result<Applied, ApplyError> {
        let object = self.annotated();
        if self.ask.dry_run == DryRun::Client {
            return Ok(self.done("created", object));
        }
        let how = (names::BINARY_MANAGER, self.ask.dry_run.parameter());
        match self.cluster.create_with(self.permit, &self.manifest.resource, &object, how).await {
            Ok(created) => Ok(self.done("created", created)),
            Err(error) => Err(self.manifest.failed("creating", error)),
        }
    }

    /// Reads the version in the cluster and overwrites it, whatever it is.
    async fn replace(self) -> Result<Applied, ApplyError> {
        let mut object = self.annotated();
        if self.ask.dry_run == DryRun::Client {
            return Ok(self.done("replaced", object));
        }
        let target = self.manifest.target();
        if object.resource_version().is_empty() {
            // An unreadable object is put without version, so that the PUT's own error is the one reported.
            if let Ok(live) = self.cluster.fetch(&target).await {
                object.metadata_mut().insert("resourceVersion".to_owned(), live.resource_version().into());
            }
        }
        let how = (names::BINARY_MANAGER, self.ask.dry_run.parameter());
        match self.cluster.update_with(self.permit, &target, &object, how).await {
            Ok(replaced) => Ok(self.done("replaced", replaced)),
            Err(error) => Err(self.manifest.failed("replacing", error)),
        }
    }

    /// Deletes, waits, creates (SYNC-203).
    async fn recreate(mut self) -> Result<Applied, ApplyError> {
        let target = self.manifest.target();
        let deleted = self.cluster.delete(self.permit, &target, Propagation::Background, None).await;
        deleted.map_err(|error| self.manifest.failed("deleting", error))?;
        self.output.stdout.push_str(&text::deleted(&self.manifest.resource, &self.manifest.object));
        let started = Instant::now();
        loop {
            match self.cluster.fetch(&target).await {
                Err(Error::NotFound(_)) => break,
                Err(error) => return Err(error.into()),
                Ok(_) if started.elapsed() >= PATIENCE => {
                    return Err(ApplyError::refused("context deadline exceeded".to_owned()));
                }
                Ok(_) => tokio::time::sleep(PAUSE).await,
            }
        }
        let (object, how) = (self.annotated(), (names::BINARY_MANAGER, ""));
        let created = self.cluster.create_with(self.permit, &self.manifest.resource, &object, how).await?;
        Ok(self.done("replaced", created))
    }
}
