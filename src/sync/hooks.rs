//! Which objects are hooks, of which type, and when they are deleted.
//!
//! In:  an object's annotations (Argo CD's own and Helm's).
//! Out: hook types, sync phases, delete policies, the name of a hook that has only a name prefix.
//! Invariant: an Argo CD type that is understood hides Helm's types; a hook without any understood type never runs.
//! Source: SYNC-050, SYNC-051, SYNC-160 to SYNC-172, APP-203 (`gitops-engine/pkg/sync/hook/`, `controller/hook.go`).

use serde_json::Value;

use super::words::SyncPhase;
use crate::api::ObjectExt;
use crate::api::names::{HELM_HOOK, HELM_HOOK_DELETE_POLICY, HOOK, HOOK_DELETE_POLICY, HOOK_FINALIZER};

/// Hook types that the sync itself knows.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum HookType {
    /// Runs in a phase of the sync.
    Phase(SyncPhase),
    /// Is neither applied nor pruned.
    Skip,
}

/// Hooks that run when the application is deleted.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum DeleteHook {
    /// Before the objects are deleted.
    PreDelete,
    /// After the objects are deleted.
    PostDelete,
}

impl DeleteHook {
    /// The type's name in annotations and messages.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::PreDelete => "PreDelete",
            Self::PostDelete => "PostDelete",
        }
    }
    fn helm(self) -> &'static str {
        match self {
            Self::PreDelete => "pre-delete",
            Self::PostDelete => "post-delete",
        }
    }
    /// Whether the object is a hook of this type, whatever else it is (APP-203).
    pub fn is_type_of(self, object: &Value) -> bool {
        object.has_annotation_option(HOOK, self.as_str()) || object.has_annotation_option(HELM_HOOK, self.helm())
    }
}

/// When a hook is deleted; with none given, before its next creation (SYNC-167).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct DeletePolicies {
    /// Before it is created again.
    pub before_creation: bool,
    /// When the whole operation succeeded.
    pub on_success: bool,
    /// When the operation failed.
    pub on_failure: bool,
}

/// The trimmed, non-empty parts of a comma-separated annotation.
pub(super) fn annotation_list<'a>(object: &'a Value, name: &str) -> impl Iterator<Item = &'a str> {
    object.annotation(name).unwrap_or_default().split(',').map(str::trim).filter(|part| !part.is_empty())
}

/// Types of the object, in written order and without repeats (SYNC-162, SYNC-165, SYNC-166).
pub fn types(object: &Value) -> Vec<HookType> {
    let own = distinct(annotation_list(object, HOOK).filter_map(own_type));
    if own.is_empty() { distinct(annotation_list(object, HELM_HOOK).filter_map(helm_type)) } else { own }
}

fn distinct(types: impl Iterator<Item = HookType>) -> Vec<HookType> {
    let mut seen = Vec::new();
    for found in types {
        if !seen.contains(&found) {
            seen.push(found);
        }
    }
    seen
}

fn own_type(text: &str) -> Option<HookType> {
    Some(match text {
        "PreSync" => HookType::Phase(SyncPhase::PreSync),
        "Sync" => HookType::Phase(SyncPhase::Sync),
        "PostSync" => HookType::Phase(SyncPhase::PostSync),
        "SyncFail" => HookType::Phase(SyncPhase::SyncFail),
        "Skip" => HookType::Skip,
        _ => return None,
    })
}

fn helm_type(text: &str) -> Option<HookType> {
    Some(HookType::Phase(match text {
        "pre-install" | "pre-upgrade" => SyncPhase::PreSync,
        "post-install" | "post-upgrade" => SyncPhase::PostSync,
        _ => return None,
    }))
}

/// Whether the object is only to be skipped (SYNC-051, SYNC-163).
pub fn is_skipped(object: &Value) -> bool {
    types(object) == [HookType::Skip]
}

/// Whether the object is a hook of the sync; an unknown type makes a hook too (SYNC-164).
///
/// Helm marks CRDs with `crd-install`, which makes no hook.
pub fn is_hook(object: &Value) -> bool {
    if object.annotation(HOOK).is_some() {
        return !is_skipped(object);
    }
    object.annotation(HELM_HOOK).is_some_and(|value| value != "crd-install")
}

/// Whether the object is a hook without any understood type, which is left out of the targets (SYNC-164).
pub fn is_ignored(object: &Value) -> bool {
    is_hook(object) && types(object).is_empty()
}

/// Whether the object is a hook of a sync or of the deletion.
pub fn is_any_hook(object: &Value) -> bool {
    is_hook(object) || is_delete_hook(object)
}

/// Whether the object is a PreDelete or PostDelete hook (APP-203).
pub fn is_delete_hook(object: &Value) -> bool {
    DeleteHook::PreDelete.is_type_of(object) || DeleteHook::PostDelete.is_type_of(object)
}

/// Whether the object has a type that runs in a phase of the sync.
pub fn has_sync_phase(object: &Value) -> bool {
    types(object).iter().any(|found| matches!(found, HookType::Phase(_)))
}

/// Whether the object takes no part in a sync because it is a hook of the deletion only (SYNC-180).
pub fn is_delete_hook_only(object: &Value) -> bool {
    is_delete_hook(object) && !has_sync_phase(object)
}

/// Phases in which the object's turn comes, in phase order: its hook types, or `Sync` for an ordinary object.
pub fn sync_phases(object: &Value) -> Vec<SyncPhase> {
    if is_skipped(object) {
        return Vec::new();
    }
    if !is_hook(object) {
        return vec![SyncPhase::Sync];
    }
    let mut phases: Vec<SyncPhase> = types(object)
        .into_iter()
        .filter_map(|found| match found {
            HookType::Phase(phase) => Some(phase),
            HookType::Skip => None,
        })
        .collect();
    phases.sort();
    phases
}

/// When the hook is deleted (SYNC-167).
pub fn delete_policies(object: &Value) -> DeletePolicies {
    let own = annotation_list(object, HOOK_DELETE_POLICY);
    let helm = annotation_list(object, HELM_HOOK_DELETE_POLICY);
    let mut found = DeletePolicies { before_creation: false, on_success: false, on_failure: false };
    for text in own {
        match text {
            "BeforeHookCreation" => found.before_creation = true,
            "HookSucceeded" => found.on_success = true,
            "HookFailed" => found.on_failure = true,
            _ => {}
        }
    }
    for text in helm {
        match text {
            "before-hook-creation" => found.before_creation = true,
            "hook-succeeded" => found.on_success = true,
            "hook-failed" => found.on_failure = true,
            _ => {}
        }
    }
    if !(found.on_success || found.on_failure) {
        found.before_creation = true;
    }
    found
}

/// Whether the object carries the finalizer that keeps a running hook in the cluster.
pub fn has_finalizer(object: &Value) -> bool {
    object.finalizers().contains(&HOOK_FINALIZER)
}

/// Gives the hook the finalizer that keeps it in the cluster until its result was seen (SYNC-053).
pub(super) fn add_finalizer(object: &mut Value) {
    if has_finalizer(object) {
        return;
    }
    let list = object.metadata_mut().entry("finalizers").or_insert_with(|| Value::Array(Vec::new()));
    match list {
        Value::Array(finalizers) => finalizers.push(HOOK_FINALIZER.into()),
        other => *other = Value::Array(vec![HOOK_FINALIZER.into()]),
    }
}

/// Name of a hook that has only `generateName`: prefix, short revision, phase and start of the operation (SYNC-172).
///
/// The same operation always arrives at the same name, so a resumed pass finds what an earlier one created.
pub fn generated_name(prefix: &str, revision: &str, phase: SyncPhase, started_at: i64) -> String {
    let short = match revision.get(..7) {
        Some(start) if revision.len() >= 8 => start,
        _ => revision,
    };
    format!("{prefix}{}", format!("{short}-{}-{started_at}", phase.as_str()).to_lowercase())
}
