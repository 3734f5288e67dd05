//! Operations: what is requested, and how far it has come.
//!
//! Source: APP-020, APP-021, APP-158 to APP-184 (`pkg/apis/application/v1alpha1/types.go`).

use serde_json::Value;

use super::application::{ApplicationSource, Info, ManagedNamespaceMetadata};
use super::status::Time;
use super::wire::wire;

wire! {
    /// A requested operation.
    pub struct Operation {
        /// The sync; nothing else can be requested.
        sync: Option<SyncOperation> = "sync";
        /// Who asked.
        initiated_by: OperationInitiator = "initiatedBy" always;
        /// Shown by the UI only.
        info: Vec<Info> = "info";
        /// Retry policy.
        retry: RetryStrategy = "retry" always;
    }

    /// Who asked for an operation.
    pub struct OperationInitiator {
        /// User name.
        username: String = "username";
        /// Whether a controller asked.
        automated: bool = "automated";
    }

    /// A sync request.
    pub struct SyncOperation {
        /// Revision of the single source.
        revision: String = "revision";
        /// Whether to prune.
        prune: bool = "prune";
        /// Whether only to try.
        dry_run: bool = "dryRun";
        /// Apply or hook strategy.
        sync_strategy: Option<SyncStrategy> = "syncStrategy";
        /// Only these objects, when not empty.
        resources: Vec<SyncOperationResource> = "resources";
        /// Source override.
        source: Option<ApplicationSource> = "source";
        /// Manifests that replace the rendered ones.
        manifests: Vec<String> = "manifests";
        /// `Key=value` options; the spec's are not inherited (APP-177).
        sync_options: Vec<String> = "syncOptions";
        /// Sources override.
        sources: Vec<ApplicationSource> = "sources";
        /// Revisions of the sources.
        revisions: Vec<String> = "revisions";
        /// Self-heal attempts so far.
        self_heal_attempts: i64 = "autoHealAttemptsCount";
    }

    /// An object named by a partial sync.
    pub struct SyncOperationResource {
        /// API group.
        group: String = "group";
        /// Kind.
        kind: String = "kind" required;
        /// Name.
        name: String = "name" required;
        /// Namespace; empty matches all.
        namespace: String = "namespace";
    }

    /// Apply or hook strategy.
    pub struct SyncStrategy {
        /// Applies without hooks.
        apply: Option<SyncStrategyApply> = "apply";
        /// Applies with hooks (the default).
        hook: Option<SyncStrategyApply> = "hook";
    }

    /// Options of a strategy.
    pub struct SyncStrategyApply {
        /// Deletes and recreates what cannot be patched.
        force: bool = "force";
    }

    /// Retry policy.
    pub struct RetryStrategy {
        /// Retries after the first attempt; negative means no limit.
        limit: i64 = "limit";
        /// Delay between attempts.
        backoff: Option<Backoff> = "backoff";
        /// Whether a retry takes the newest revision.
        refresh: bool = "refresh";
    }

    /// Delay between attempts.
    pub struct Backoff {
        /// First delay; a bare number is seconds.
        duration: String = "duration";
        /// Growth per attempt.
        factor: Option<i64> = "factor";
        /// Longest delay.
        max_duration: String = "maxDuration";
    }

    /// Progress of an operation.
    pub struct OperationState {
        /// What was requested.
        operation: Operation = "operation" required;
        /// `Running`, `Terminating`, `Failed`, `Error` or `Succeeded`.
        phase: String = "phase" required;
        /// Text for people.
        message: String = "message";
        /// Result so far.
        sync_result: Option<SyncOperationResult> = "syncResult";
        /// When the operation started.
        started_at: Time = "startedAt" required;
        /// When it ended, or when the last attempt ended while a retry is due.
        finished_at: Option<Time> = "finishedAt";
        /// Retries so far.
        retry_count: i64 = "retryCount";
    }

    /// Result of a sync.
    pub struct SyncOperationResult {
        /// One entry per object and phase.
        resources: Vec<ResourceResult> = "resources";
        /// Resolved revision; empty for several sources.
        revision: String = "revision" required;
        /// Source that was synced.
        source: ApplicationSource = "source" always;
        /// Sources that were synced.
        sources: Vec<ApplicationSource> = "sources";
        /// Resolved revisions.
        revisions: Vec<String> = "revisions";
        /// Namespace metadata that was applied.
        managed_namespace_metadata: Option<ManagedNamespaceMetadata> = "managedNamespaceMetadata";
    }

    /// Result for one object in one phase.
    pub struct ResourceResult {
        /// API group.
        group: String = "group" required;
        /// Version.
        version: String = "version" required;
        /// Kind.
        kind: String = "kind" required;
        /// Namespace.
        namespace: String = "namespace" required;
        /// Name.
        name: String = "name" required;
        /// `Synced`, `SyncFailed`, `Pruned` or `PruneSkipped`.
        status: String = "status";
        /// Text for people.
        message: String = "message";
        /// Phase for hooks, empty otherwise.
        hook_type: String = "hookType";
        /// Operation phase of this object.
        hook_phase: String = "hookPhase";
        /// Sync phase.
        sync_phase: String = "syncPhase";
        /// Container images.
        images: Vec<String> = "images";
    }
}

/// Completed phases (APP-160).
pub fn phase_is_completed(phase: &str) -> bool {
    matches!(phase, "Succeeded" | "Failed" | "Error")
}

impl OperationState {
    /// Whether the phase is completed.
    pub fn is_completed(&self) -> bool {
        phase_is_completed(&self.phase)
    }
    /// The state as JSON.
    pub fn to_value(&self) -> Value {
        serde_json::to_value(self).unwrap_or_default()
    }
}
