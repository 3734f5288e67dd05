//! `kubectl apply`: create with the last-applied annotation, or patch by a three-way merge.
//!
//! In:  a manifest.
//! Out: `created`, `configured` or `unchanged`, with the warnings kubectl adds.
//! Invariant: an empty patch is never sent; a deletion is sent only with `force` and only after a refused patch.
//! Source: SYNC-142, SYNC-143, SYNC-146 to SYNC-148, SYNC-202 (kubectl v0.36.1 `pkg/cmd/apply/{apply.go,patcher.go}`).

use std::time::Duration;

use serde_json::Value;

use super::apply::{Applied, ApplyError, DryRun, Work};
use super::patch::{MERGE, STRATEGIC};
use super::{Error, Propagation, text};
use crate::api::{ObjectExt, names};
use crate::diff::{self, Patch, PatchKind};

/// Times a conflicting patch is made anew.
const CONFLICT_REPEATS: u32 = 5;
/// Pause before each of them but the first.
const CONFLICT_PAUSE: Duration = Duration::from_secs(1);

impl Work<'_> {
    pub(super) async fn client_side(mut self) -> Result<Applied, ApplyError> {
        let modified = diff::with_last_applied(&self.manifest.object);
        let live = match self.cluster.fetch(&self.manifest.target()).await {
            Ok(live) => live,
            Err(error) if error.is_not_found() => return self.create_applied(modified).await,
            Err(error) => return Err(self.cannot_read(error)),
        };
        if live.annotation(names::LAST_APPLIED).is_none() {
            self.output.stderr.push_str(&text::missing_last_applied(&self.manifest.resource, live.name()));
        }
        let (patched, object) = if self.ask.dry_run == DryRun::Client {
            (self.three_way(&modified, &live).map_err(ApplyError::refused)?.is_some(), live)
        } else {
            self.patch_live(&modified, live).await?
        };
        self.output.stderr.push_str(&text::being_deleted(&object));
        Ok(self.done(if patched { "configured" } else { "unchanged" }, object))
    }

    /// Creates the object; nulls go, because a later patch would drop them too, but stay in the annotation.
    async fn create_applied(self, mut modified: Value) -> Result<Applied, ApplyError> {
        prune_nulls(&mut modified);
        if self.ask.dry_run == DryRun::Client {
            return Ok(self.done("created", modified));
        }
        let how = (self.ask.manager, self.ask.dry_run.parameter());
        let created = self.cluster.create_with(self.permit, &self.manifest.resource, &modified, how).await;
        match created {
            Ok(object) => Ok(self.done("created", object)),
            Err(error) => Err(self.manifest.failed("creating", error)),
        }
    }

    /// Patches until it no longer conflicts; tells whether anything had to be sent.
    async fn patch_live(&self, modified: &Value, mut live: Value) -> Result<(bool, Value), ApplyError> {
        let mut repeats = 0;
        loop {
            let patching =
                |text: String| ApplyError::refused(text::while_doing("patching", &self.manifest.file, &text));
            let Some(patch) = self.three_way(modified, &live).map_err(patching)? else { return Ok((false, live)) };
            match self.send_patch(&patch).await {
                Ok(object) => return Ok((true, object)),
                Err(Error::Conflict(_)) if repeats < CONFLICT_REPEATS => {
                    repeats += 1;
                    if repeats > 1 {
                        tokio::time::sleep(CONFLICT_PAUSE).await;
                    }
                    live = self
                        .cluster
                        .fetch(&self.manifest.target())
                        .await
                        .map_err(|e| self.manifest.failed("patching", e))?;
                }
                Err(Error::Conflict(_) | Error::Invalid(_)) if self.ask.force => {
                    return Ok((true, self.delete_and_create(modified, &live).await?));
                }
                Err(error) => return Err(self.manifest.failed("patching", error)),
            }
        }
    }

    async fn send_patch(&self, patch: &Patch) -> Result<Value, Error> {
        let content_type = match patch.kind {
            PatchKind::Strategic => STRATEGIC,
            PatchKind::Merge => MERGE,
        };
        let how = (self.ask.manager, self.ask.dry_run.parameter());
        self.cluster.patch_with(self.permit, &self.manifest.target(), (content_type, &patch.body), how).await
    }

    /// The patch from live to the manifest, or the text of why there is none.
    fn three_way(&self, modified: &Value, live: &Value) -> Result<Option<Patch>, String> {
        let unusable = |error: &dyn std::fmt::Display| {
            // kubectl would print all three documents here. For a Secret that would put its data into the status.
            if live.kind() == "Secret" && live.group().is_empty() {
                return text::clean(&format!("creating patch: {error}"));
            }
            let original = live.annotation(names::LAST_APPLIED).unwrap_or_default();
            text::clean(&format!(
                "creating patch with:\noriginal:\n{original}\nmodified:\n{modified}\n\ncurrent:\n{live}\n\nfor: {error}"
            ))
        };
        let original = match live.annotation(names::LAST_APPLIED) {
            None | Some("") => None,
            Some(text) => Some(serde_json::from_str::<Value>(text).map_err(|error| unusable(&error))?),
        };
        diff::client_side_patch(original.as_ref(), modified, live).map_err(|error| unusable(&error))
    }

    /// Deletes in the background, looks once whether the object is gone, and creates it anew (SYNC-202).
    async fn delete_and_create(&self, modified: &Value, live: &Value) -> Result<Value, ApplyError> {
        let target = self.manifest.target();
        self.cluster.delete(self.permit, &target, Propagation::Background, None).await?;
        match self.cluster.fetch(&target).await {
            Err(error) if error.is_not_found() => {}
            Err(error) => return Err(error.into()),
            Ok(_) => return Err(ApplyError::refused("context deadline exceeded".to_owned())),
        }
        let how = (self.ask.manager, "");
        let error = match self.cluster.create_with(self.permit, &self.manifest.resource, modified, how).await {
            Ok(object) => return Ok(object),
            Err(error) => error,
        };
        // The object is gone and its successor was refused: put the old one back.
        match self.cluster.create_with(self.permit, &self.manifest.resource, live, how).await {
            Ok(_) => Err(error.into()),
            Err(restoring) => {
                let text = format!(
                    "An error occurred force-replacing the existing object with the newly provided one:\n\n{error}.\n\n\
                     Additionally, an error occurred attempting to restore the original object:\n\n{restoring}"
                );
                Err(ApplyError::new(text::clean(&text), error))
            }
        }
    }

    fn cannot_read(&self, error: Error) -> ApplyError {
        let (resource, object) = (&self.manifest.resource, &self.manifest.object);
        let (group, version) = (&resource.group, &resource.version);
        let verb = format!(
            "retrieving current configuration of:\nResource: \"{group}/{version}, Resource={}\", GroupVersionKind: \
             \"{}\"\nName: \"{}\", Namespace: \"{}\"\nfrom server for:",
            resource.plural,
            resource.gvk(),
            object.name(),
            object.namespace()
        );
        self.manifest.failed(&verb, error)
    }
}

/// Removes null fields of objects at any depth; null elements of arrays stay.
fn prune_nulls(value: &mut Value) {
    match value {
        Value::Object(map) => {
            map.retain(|_, value| !value.is_null());
            map.values_mut().for_each(prune_nulls);
        }
        Value::Array(items) => items.iter_mut().for_each(prune_nulls),
        _ => {}
    }
}
