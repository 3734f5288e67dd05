//! Features of a requested operation, and of sync options.
//!
//! In:  nothing. Out: rows. Source: APP-020, APP-021, SYNC-190 to SYNC-211.

use super::{Row, features};
use crate::check::Support::{No, Yes};

pub static ROWS: &[Row] = features! {
    Sync "operation.sync" Yes,
        ["Application.operation.sync.revision", "Application.operation.sync.revisions",
         "Application.operation.sync.prune", "Application.operation.sync.syncStrategy.**",
         "Application.operation.sync.autoHealAttemptsCount", "Application.operation.initiatedBy.**",
         "Application.operation.info.**", "Application.operation.retry.**"],
        "Operation by hand", "A sync that is asked for in the object itself.";
    Sync "operation.dry-run" Yes, ["Application.operation.sync.dryRun"],
        "Dry run", "A sync that only tries.";
    Sync "operation.partial" Yes, ["Application.operation.sync.resources.**"],
        "Partial sync", "A sync of some objects only.";
    Sync "operation.sync-options" Yes, ["Application.operation.sync.syncOptions"],
        "Sync options of an operation", "Options of one sync; each option is a feature of its own.";
    Sync "operation.source" Yes, ["Application.operation.sync.source.**", "Application.operation.sync.sources.**"],
        "Source of an operation", "A sync from another source than the spec's.";
    Sync "operation.manifests" No("manifests from a developer's disk are not taken"),
        ["Application.operation.sync.manifests"],
        "Local manifests", "A sync of manifests that the command line sent.";

    Sync "sync-option.create-namespace" Yes, ["sync-option:CreateNamespace"],
        "CreateNamespace", "Creates the destination namespace.";
    Sync "sync-option.validate" Yes, ["sync-option:Validate"],
        "Validate", "Whether objects are held against their schema.";
    Sync "sync-option.prune-last" Yes, ["sync-option:PruneLast"],
        "PruneLast", "Removes what left the sources after everything else.";
    Sync "sync-option.apply-out-of-sync-only" Yes, ["sync-option:ApplyOutOfSyncOnly"],
        "ApplyOutOfSyncOnly", "Applies only what differs.";
    Sync "sync-option.replace" Yes, ["sync-option:Replace"],
        "Replace", "Replaces instead of applying.";
    Sync "sync-option.force" Yes, ["sync-option:Force"],
        "Force", "Deletes and creates what cannot be changed.";
    Sync "sync-option.server-side-apply" Yes, ["sync-option:ServerSideApply"],
        "ServerSideApply", "Applies in the API server.";
    Sync "sync-option.client-side-apply-migration" Yes, ["sync-option:ClientSideApplyMigration"],
        "ClientSideApplyMigration", "Whether fields of a former client-side apply are taken over.";
    Sync "sync-option.prune" Yes, ["sync-option:Prune"],
        "Prune", "Whether an object is removed when it left the sources, or only after a confirmation.";
    Delete "sync-option.delete" Yes, ["sync-option:Delete"],
        "Delete", "Whether an object goes with its Application, or only after a confirmation.";
    Sync "sync-option.prune-propagation-policy" Yes, ["sync-option:PrunePropagationPolicy"],
        "PrunePropagationPolicy", "How dependents of a removed object are treated.";
    Sync "sync-option.skip-dry-run-on-missing-resource" Yes, ["sync-option:SkipDryRunOnMissingResource"],
        "SkipDryRunOnMissingResource", "No dry run while the object's kind does not exist.";
    Sync "sync-option.fail-on-shared-resource" Yes, ["sync-option:FailOnSharedResource"],
        "FailOnSharedResource", "Fails when another Application has the object, too.";
    Sync "sync-option.respect-ignore-differences" Yes, ["sync-option:RespectIgnoreDifferences"],
        "RespectIgnoreDifferences", "Syncs leave ignored fields alone.";
};
