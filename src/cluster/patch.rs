//! Plain writes: create, update, and patches of the kinds that need no local computation.
//!
//! In:  a permit, a target, a body, the field manager to be recorded.
//! Out: the object the server answered.
//! Source: SYNC-144; `ctl.go` `PatchResource`, `CreateResource`.

use http::Method;
use serde_json::Value;

use super::request::Call;
use super::{Cluster, Error, Resource, Target};
use crate::api::ObjectExt;
use crate::guard::Permit;

pub(super) const MERGE: &str = "application/merge-patch+json";
pub(super) const STRATEGIC: &str = "application/strategic-merge-patch+json";
pub(super) const JSON_PATCH: &str = "application/json-patch+json";
pub(super) const APPLY: &str = "application/apply-patch+yaml";

/// `dryRun` of requests that the server must not persist.
pub(super) const DRY_RUN_ALL: &str = "All";

impl Cluster {
    /// Sends a JSON merge patch (RFC 7386).
    pub async fn merge_patch(
        &self,
        permit: Permit,
        target: &Target<'_>,
        body: &Value,
        manager: &str,
    ) -> Result<Value, Error> {
        self.patch(permit, target, (MERGE, body), manager).await
    }

    /// Sends a JSON patch (RFC 6902).
    pub async fn json_patch(
        &self,
        permit: Permit,
        target: &Target<'_>,
        body: &Value,
        manager: &str,
    ) -> Result<Value, Error> {
        self.patch(permit, target, (JSON_PATCH, body), manager).await
    }

    pub(super) async fn patch(
        &self,
        permit: Permit,
        target: &Target<'_>,
        patch: (&'static str, &Value),
        manager: &str,
    ) -> Result<Value, Error> {
        self.patch_with(permit, target, patch, (manager, "")).await
    }

    /// [`Cluster::patch`] with the `dryRun` parameter beside the manager.
    pub(super) async fn patch_with(
        &self,
        _permit: Permit,
        target: &Target<'_>,
        patch: (&'static str, &Value),
        (manager, dry_run): (&str, &str),
    ) -> Result<Value, Error> {
        self.patch_call(target, patch, &[("dryRun", dry_run), ("fieldManager", manager)]).await
    }

    /// The request itself; callers hold a permit or ask for a dry run.
    pub(super) async fn patch_call(
        &self,
        target: &Target<'_>,
        (content_type, body): (&'static str, &Value),
        query: &[(&'static str, &str)],
    ) -> Result<Value, Error> {
        let call = Call::new(Method::PATCH, target.path()?).about(target.about()).body(content_type, body);
        self.send(query.iter().fold(call, |call, (name, value)| call.query(name, *value))).await
    }

    /// Creates the object in the namespace it names. A stale `resourceVersion` in it is left out, as kubectl does.
    pub async fn create(
        &self,
        permit: Permit,
        resource: &Resource,
        object: &Value,
        manager: &str,
    ) -> Result<Value, Error> {
        self.create_with(permit, resource, object, (manager, "")).await
    }

    /// [`Cluster::create`] with the `dryRun` parameter beside the manager.
    pub(super) async fn create_with(
        &self,
        _permit: Permit,
        resource: &Resource,
        object: &Value,
        (manager, dry_run): (&str, &str),
    ) -> Result<Value, Error> {
        if resource.namespaced && object.namespace().is_empty() {
            return Err(Error::Refused { text: "an empty namespace may not be set during creation".to_owned() });
        }
        let mut object = object.clone();
        object.metadata_mut().remove("resourceVersion");
        let call = Call::new(Method::POST, resource.collection(object.namespace())).about(resource.qualified());
        self.send(call.query("dryRun", dry_run).query("fieldManager", manager).json(&object)).await
    }

    /// Replaces the object. With a `resourceVersion` in it, only that version is replaced.
    pub async fn update(
        &self,
        permit: Permit,
        target: &Target<'_>,
        object: &Value,
        manager: &str,
    ) -> Result<Value, Error> {
        self.update_with(permit, target, object, (manager, "")).await
    }

    /// [`Cluster::update`] with the `dryRun` parameter beside the manager.
    pub(super) async fn update_with(
        &self,
        _permit: Permit,
        target: &Target<'_>,
        object: &Value,
        (manager, dry_run): (&str, &str),
    ) -> Result<Value, Error> {
        let call = Call::new(Method::PUT, target.path()?).about(target.about());
        self.send(call.query("dryRun", dry_run).query("fieldManager", manager).json(object)).await
    }
}
