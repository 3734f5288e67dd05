//! Which events make a set worth another look.
//!
//! In:  a set or an Application before and after a change.
//! Out: whether the change counts.
//! Invariant: what the controller itself writes into the status never counts, except the progress of a rolling sync.
//! Source: SET-141, SET-142 (`applicationset/controllers/applicationset_controller.go`
//! `shouldRequeueForApplicationSet`, `shouldRequeueForApplication`).

use super::live::Live;
use super::options::Options;
use crate::api::appset::ApplicationSet;

/// Annotation of a set that asks for a look past all caches; whatever it says.
pub const REFRESH_SET: &str = "argocd.argoproj.io/application-set-refresh";

/// Whether a changed set is looked at again.
pub fn set_changed(old: &ApplicationSet, new: &ApplicationSet, options: &Options) -> bool {
    if options.progressive_syncs && old.status.application_status != new.status.application_status {
        return true;
    }
    let (before, after) = (&old.metadata, &new.metadata);
    if old.spec != new.spec
        || before.labels != after.labels
        || before.finalizers != after.finalizers
        || before.deletion_timestamp != after.deletion_timestamp
    {
        return true;
    }
    let asked_before = before.annotations.contains_key(REFRESH_SET) && !after.annotations.contains_key(REFRESH_SET);
    before.annotations != after.annotations && !asked_before
}

/// Whether the set of a changed Application is looked at again.
pub fn application_changed(old: &Live, new: &Live, options: &Options) -> bool {
    let part = |app: &Live, key: &str| app.metadata.get(key).cloned();
    let owned = ["annotations", "labels", "finalizers"];
    if old.spec != new.spec || owned.iter().any(|key| part(old, key) != part(new, key)) {
        return true;
    }
    let (before, after) = (&old.observed, &new.observed);
    let operations = before.operation.is_some() && after.operation.is_some() && before.operation != after.operation;
    options.progressive_syncs && (before.health != after.health || before.sync != after.sync || operations)
}
