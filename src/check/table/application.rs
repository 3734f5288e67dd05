//! Features of an Application's spec and status.
//!
//! In:  nothing. Out: rows. Source: APP-001 to APP-047.

use super::{Row, features};
use crate::check::Support::{No, Yes};

pub static ROWS: &[Row] = features! {
    Configure "object.identity" Yes,
        ["Application.apiVersion", "Application.kind", "Application.metadata.**",
         "AppProject.apiVersion", "AppProject.kind", "AppProject.metadata.**",
         "ApplicationSet.apiVersion", "ApplicationSet.kind", "ApplicationSet.metadata.**"],
        "Kind and metadata", "The object itself; its annotations and finalizers are features of their own.";
    Permit "application.project" Yes, ["Application.spec.project"],
        "Project", "The AppProject that says what the Application may do.";
    Render "application.multi-source" Yes, ["Application.spec.sources"],
        "Several sources", "Several sources rendered into one set of objects.";
    Sync "destination.server" Yes, ["Application.spec.destination.server"],
        "Destination by server", "The cluster by the URL of its API server.";
    Sync "destination.name" Yes, ["Application.spec.destination.name"],
        "Destination by name", "The cluster by its name.";
    Sync "destination.remote" Yes, ["destination:remote"],
        "Remote cluster", "A destination other than the cluster litecd runs in; its Secret says whether it can be reached.";
    Sync "destination.namespace" Yes, ["Application.spec.destination.namespace"],
        "Destination namespace", "The namespace of objects that name none.";
    Sync "sync.automated" Yes, ["Application.spec.syncPolicy.automated", "Application.spec.syncPolicy.automated.enabled"],
        "Automated sync", "Syncs by itself when the sources change.";
    Sync "sync.automated.prune" Yes, ["Application.spec.syncPolicy.automated.prune"],
        "Automated prune", "Automated syncs remove what left the sources.";
    Sync "sync.automated.self-heal" Yes, ["Application.spec.syncPolicy.automated.selfHeal"],
        "Self-heal", "Live changes are put back.";
    Sync "sync.automated.allow-empty" Yes, ["Application.spec.syncPolicy.automated.allowEmpty"],
        "Allow empty", "An automated sync may leave nothing.";
    Sync "sync.options" Yes, ["Application.spec.syncPolicy.syncOptions"],
        "Sync options", "Options of automated syncs; each option is a feature of its own.";
    Sync "sync.retry" Yes, ["Application.spec.syncPolicy.retry.**"],
        "Retry", "Failed syncs are tried again with growing delays.";
    Sync "sync.managed-namespace-metadata" Yes, ["Application.spec.syncPolicy.managedNamespaceMetadata.**"],
        "Namespace metadata", "Labels and annotations of the namespace that a sync creates.";
    Compare "ignore.json-pointers" Yes,
        ["Application.spec.ignoreDifferences.group", "Application.spec.ignoreDifferences.kind",
         "Application.spec.ignoreDifferences.name", "Application.spec.ignoreDifferences.namespace",
         "Application.spec.ignoreDifferences.jsonPointers"],
        "Ignored differences", "Fields left out of the comparison, by JSON pointer.";
    Compare "ignore.jq" Yes, ["Application.spec.ignoreDifferences.jqPathExpressions"],
        "Ignored differences by jq", "Fields left out of the comparison, by jq path expression.";
    Compare "ignore.managers" Yes,
        ["Application.spec.ignoreDifferences.managedFieldsManagers"],
        "Ignored field managers", "Fields left out of the comparison because another manager owns them.";
    Report "application.info" Yes, ["Application.spec.info.**"],
        "Info", "Names and values for people; kept, and without effect on the controller.";
    Sync "application.history-limit" Yes, ["Application.spec.revisionHistoryLimit"],
        "History limit", "How many syncs the history keeps.";
    Render "application.source-hydrator"
        No("litecd does not push hydrated manifests"),
        ["Application.spec.sourceHydrator.**", "Application.status.sourceHydrator.**"],
        "Source hydrator", "Rendered manifests are pushed to a branch and synced from there.";
    Report "application.status" Yes,
        ["Application.status.conditions.**", "Application.status.controllerNamespace", "Application.status.health.**",
         "Application.status.history.**", "Application.status.observedAt", "Application.status.operationState.**",
         "Application.status.reconciledAt", "Application.status.resourceHealthSource",
         "Application.status.resources.**", "Application.status.sourceType", "Application.status.sourceTypes",
         "Application.status.summary.**", "Application.status.sync.**"],
        "Status", "What the controller observed; it writes these fields itself.";
};
