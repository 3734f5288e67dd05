//! `kubectl apply --server-side --force-conflicts`, and handing client-side ownership over to it.
//!
//! In:  a manifest.
//! Out: `serverside-applied`, with warnings where the hand-over failed.
//! Invariant: a failed hand-over never fails the apply, because the object has been applied by then.
//! Source: SYNC-141, SYNC-145, SYNC-206, SYNC-207 (kubectl v0.36.1 `pkg/cmd/apply/apply.go`
//! `migrateToSSAIfNecessary`; `sync_context.go` `performCSAUpgradeMigration`).

use serde_json::Value;

use super::apply::{Applied, ApplyError, Work};
use super::patch::{APPLY, DRY_RUN_ALL, JSON_PATCH, Mode};
use super::{Cluster, Error, Target, managed_fields, text};
use crate::api::ObjectExt;
use crate::guard::Permit;

/// Times a hand-over that conflicts is made anew.
const REPEATS: u32 = 5;

impl Cluster {
    /// Asks the server what a server-side apply would make of the object. Nothing is persisted, so no permit is needed.
    pub async fn predict(&self, object: &Value, manager: &str) -> Result<Value, ApplyError> {
        let manifest = self.read_manifest(object).await?;
        Ok(self.send_apply(&manifest.target(), &manifest.object, Mode { manager, dry_run: DRY_RUN_ALL }).await?)
    }

    async fn send_apply(&self, target: &Target<'_>, object: &Value, mode: Mode<'_>) -> Result<Value, Error> {
        self.patch_call(
            target,
            (APPLY, object),
            &[("dryRun", mode.dry_run), ("fieldManager", mode.manager), ("force", "true")],
        )
        .await
    }

    /// Argo CD's own hand-over before a server-side apply (SYNC-206): fields that `from` wrote by client-side apply
    /// become fields that `manager` applies. Returns the object where something changed.
    pub async fn migrate_ownership(
        &self,
        permit: Permit,
        target: &Target<'_>,
        from: &str,
        manager: &str,
    ) -> Result<Option<Value>, Error> {
        let mut repeats = 0;
        loop {
            let live = self.fetch(target).await?;
            let Some(patch) = managed_fields::upgrade(&live, &[from.to_owned()], manager) else { return Ok(None) };
            match self.patch(permit, target, (JSON_PATCH, &patch), "").await {
                Ok(object) => return Ok(Some(object)),
                Err(Error::Conflict(_)) if repeats < REPEATS => repeats += 1,
                Err(error) => return Err(error),
            }
        }
    }
}

impl Work<'_> {
    pub(super) async fn server_side(mut self) -> Result<Applied, ApplyError> {
        let mut object = self.send().await.map_err(|error| match error {
            Error::Conflict(_) => ApplyError::new(text::clean(&text::conflict_advice(&error)), error),
            _ => error.into(),
        })?;
        match self.migrate(&object).await {
            Ok(false) => {}
            // Only a second apply drops the fields that the manifest no longer has.
            Ok(true) => match self.send().await {
                Ok(again) => object = again,
                Err(error) => self.output.stderr.push_str(&text::reapply_failed(&error)),
            },
            Err(error) => self.output.stderr.push_str(&text::migration_rejected(&error)),
        }
        self.output.stderr.push_str(&text::being_deleted(&object));
        Ok(self.done("serverside-applied", object))
    }

    async fn send(&self) -> Result<Value, Error> {
        let mode = Mode { manager: self.ask.manager, dry_run: self.ask.dry_run.parameter() };
        self.cluster.send_apply(&self.manifest.target(), &self.manifest.object, mode).await
    }

    /// Takes over from every manager that kept the last-applied annotation, that is, from client-side applies.
    async fn migrate(&self, applied: &Value) -> Result<bool, Error> {
        let former = managed_fields::client_side_managers(applied);
        if former.is_empty() {
            return Ok(false);
        }
        let target = self.manifest.target();
        let mode = Mode { manager: self.ask.manager, dry_run: self.ask.dry_run.parameter() };
        let mut object = applied.clone();
        let mut repeats = 0;
        loop {
            let Some(patch) = managed_fields::upgrade(&object, &former, self.ask.manager) else { return Ok(false) };
            match self.cluster.patch_with(self.permit, &target, (JSON_PATCH, &patch), mode).await {
                Ok(_) => return Ok(true),
                Err(Error::Conflict(_)) if repeats < REPEATS => repeats += 1,
                Err(error) => return Err(error),
            }
            object = self.cluster.fetch(&Target::new(target.resource, target.namespace, object.name())).await?;
        }
    }
}
