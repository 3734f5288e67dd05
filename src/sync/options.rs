//! Sync options of an operation and of single objects.
//!
//! In:  the operation's `syncOptions` and strategy; annotations of targets and live objects.
//! Out: booleans and values that the steps ask for.
//! Invariant: options are compared as whole strings; what the spec says about syncing never reaches a hand-written
//! operation (SYNC-190).
//! Source: SYNC-190 to SYNC-208 (`controller/sync.go` `SyncAppState`, `gitops-engine/pkg/sync/resource/annotations.go`).

use serde_json::Value;

use super::hooks::annotation_list;
use crate::api::ObjectExt;
use crate::api::names::SYNC_OPTIONS;
use crate::api::operation::SyncOperation;

/// What happens to the objects that a deleted object owns.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Propagation {
    /// Owned objects first.
    Foreground,
    /// Owned objects afterwards.
    Background,
    /// Owned objects stay.
    Orphan,
}

impl Propagation {
    /// As the API server spells it.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Foreground => "Foreground",
            Self::Background => "Background",
            Self::Orphan => "Orphan",
        }
    }
}

/// Options of one operation.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Options {
    /// Only tries.
    pub dry_run: bool,
    /// Deletes what left the sources.
    pub prune: bool,
    /// Deletes and recreates what cannot be patched (strategy, SYNC-201).
    pub force: bool,
    /// Leaves hooks out (SYNC-052).
    pub skip_hooks: bool,
    /// Validates against the schema.
    pub validate: bool,
    /// Prunes after everything else (SYNC-196).
    pub prune_last: bool,
    /// Applies only what differs (SYNC-198).
    pub apply_out_of_sync_only: bool,
    /// Replaces instead of applying (SYNC-199).
    pub replace: bool,
    /// Server-side apply (SYNC-205).
    pub server_side: bool,
    /// Takes fields over from client-side apply before the first server-side apply (SYNC-206).
    pub migrate_client_side: bool,
    /// Creates the destination namespace (SYNC-060).
    pub create_namespace: bool,
    /// A missing kind exempts from the dry run (SYNC-079).
    pub skip_dry_run_on_missing: bool,
    /// How deletions treat owned objects (SYNC-197).
    pub propagation: Propagation,
    /// Value of the option `Prune` (SYNC-193).
    pub prune_option: Option<String>,
}

impl Options {
    /// Reads the options of an operation.
    pub fn of(operation: &SyncOperation) -> Self {
        let has = |option: &str| operation.sync_options.iter().any(|given| given == option);
        let strategy = operation.sync_strategy.as_ref();
        let apply = strategy.and_then(|strategy| strategy.apply.as_ref());
        let chosen = apply.or_else(|| strategy.and_then(|strategy| strategy.hook.as_ref()));
        Self {
            dry_run: operation.dry_run,
            prune: operation.prune,
            force: chosen.is_some_and(|strategy| strategy.force),
            skip_hooks: apply.is_some() || !operation.resources.is_empty(),
            validate: !has("Validate=false"),
            prune_last: has("PruneLast=true"),
            apply_out_of_sync_only: has("ApplyOutOfSyncOnly=true"),
            replace: has("Replace=true"),
            server_side: has("ServerSideApply=true"),
            migrate_client_side: !has("ClientSideApplyMigration=false"),
            create_namespace: has("CreateNamespace=true"),
            skip_dry_run_on_missing: has("SkipDryRunOnMissingResource=true"),
            propagation: propagation(has),
            prune_option: option_value(&operation.sync_options, "Prune").map(str::to_owned),
        }
    }

    /// `Prune` as it holds for a live object: its annotation, else the operation's option (SYNC-193).
    fn prune_option_of<'a>(&'a self, live: &'a Value) -> Option<&'a str> {
        annotation_value(live, "Prune").or(self.prune_option.as_deref())
    }
    /// Whether the live object is kept although it left the sources.
    pub(super) fn keeps(&self, live: &Value) -> bool {
        self.prune_option_of(live) == Some("false")
    }
    /// Whether pruning the live object waits for approval (SYNC-194).
    pub(super) fn asks_before_pruning(&self, live: &Value) -> bool {
        self.prune_option_of(live) == Some("confirm")
    }
}

/// With several policies given, this order decides (SYNC-197).
fn propagation(has: impl Fn(&str) -> bool) -> Propagation {
    if has("PrunePropagationPolicy=background") {
        Propagation::Background
    } else if has("PrunePropagationPolicy=foreground") {
        Propagation::Foreground
    } else if has("PrunePropagationPolicy=orphan") {
        Propagation::Orphan
    } else {
        Propagation::Foreground
    }
}

/// Value of the first `key=value` in a list of options.
pub fn option_value<'a>(options: &'a [String], key: &str) -> Option<&'a str> {
    options.iter().find_map(|option| option.strip_prefix(key)?.strip_prefix('='))
}

/// Value of the first `key=value` in an object's sync options (SYNC-192).
pub(super) fn annotation_value<'a>(object: &'a Value, key: &str) -> Option<&'a str> {
    annotation_list(object, SYNC_OPTIONS).find_map(|option| option.strip_prefix(key)?.strip_prefix('='))
}

/// Whether an object's sync options contain exactly this one.
pub(super) fn has_option(object: &Value, option: &str) -> bool {
    object.has_annotation_option(SYNC_OPTIONS, option)
}
