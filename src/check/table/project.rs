//! Features of an AppProject.
//!
//! In:  nothing. Out: rows. Source: APP-212 to APP-222, `AppProjectSpec`.

use super::{Row, features};
use crate::check::Support::{No, Other, Yes};

pub static ROWS: &[Row] = features! {
    Permit "project.source-repos" Yes, ["AppProject.spec.sourceRepos"],
        "Allowed repositories", "Repositories that Applications may use.";
    Permit "project.destinations" Yes, ["AppProject.spec.destinations.**"],
        "Allowed destinations", "Clusters and namespaces that Applications may use.";
    Permit "project.kinds" Yes,
        ["AppProject.spec.clusterResourceWhitelist.**", "AppProject.spec.clusterResourceBlacklist.**",
         "AppProject.spec.namespaceResourceWhitelist.**", "AppProject.spec.namespaceResourceBlacklist.**"],
        "Allowed kinds", "Kinds that Applications may hold.";
    Report "project.description" Yes, ["AppProject.spec.description"],
        "Description", "Text for people.";
    Serve "project.roles" Other("Argo CD's own API server goes on applying them"),
        ["AppProject.spec.roles.**", "AppProject.status.**"],
        "Roles", "Rights and tokens for Argo CD's API server.";
    Compare "project.orphaned-resources" Yes,
        ["AppProject.spec.orphanedResources", "AppProject.spec.orphanedResources.warn",
         "AppProject.spec.orphanedResources.ignore.**"],
        "Orphaned resources", "Monitoring of objects that no Application owns.";
    Sync "project.sync-windows" Yes, ["AppProject.spec.syncWindows.**"],
        "Sync windows", "Times at which syncs are allowed or denied.";
    Render "project.signature-keys" No("signatures of commits are not verified yet"),
        ["AppProject.spec.signatureKeys.**", "AppProject.spec.sourceIntegrity.**"],
        "Signature verification", "Commits must be signed with known keys.";
    Permit "project.source-namespaces" Yes,
        ["AppProject.spec.sourceNamespaces"],
        "Applications in other namespaces", "Namespaces whose Applications may use the project.";
    Permit "project.scoped-clusters" Yes,
        ["AppProject.spec.permitOnlyProjectScopedClusters"],
        "Project-scoped clusters only", "Applications may use only clusters of the project.";
    Sync "project.impersonation" Yes,
        ["AppProject.spec.destinationServiceAccounts.**"],
        "Impersonation", "Syncs act as a service account per destination.";
};
