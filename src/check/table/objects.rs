//! Annotations, finalizers and hooks on any object, compare options, and Argo CD's labelled Secrets.
//!
//! In:  nothing. Out: rows. Source: APP-022, APP-023, APP-192, `docs/user-guide/annotations-and-labels.md`.

use super::{Row, features};
use crate::check::Support::{No, Other, Partial, Yes};

pub static ROWS: &[Row] = features! {
    Compare "annotation.refresh" Yes, ["annotation:argocd.argoproj.io/refresh"],
        "Refresh", "Asks for a refresh now.";
    Render "annotation.hydrate" No("litecd does not push hydrated manifests"), ["annotation:argocd.argoproj.io/hydrate"],
        "Hydrate", "Asks for a hydration now.";
    Generate "annotation.application-set-refresh" Yes,
        ["annotation:argocd.argoproj.io/application-set-refresh"],
        "Refresh of an ApplicationSet", "Asks for a new look at an ApplicationSet.";
    Compare "annotation.skip-reconcile" Yes, ["annotation:argocd.argoproj.io/skip-reconcile"],
        "Skip reconcile", "Stops all work on an Application.";
    Delete "annotation.deletion-approved" Yes, ["annotation:argocd.argoproj.io/deletion-approved"],
        "Confirmation", "Confirms prunes and deletions that wait for it.";
    Sync "annotation.prune-budget" Yes, ["annotation:litecd.io/prune-budget", "annotation:litecd.io/prune-approved"],
        "Prune budget", "How much one automated sync may prune, and for which revision more is approved; litecd's own.";
    Render "annotation.manifest-generate-paths" Yes,
        ["annotation:argocd.argoproj.io/manifest-generate-paths"],
        "Manifest paths", "Paths whose change makes a new commit relevant.";
    Sync "annotation.client-side-apply-migration-manager" Yes,
        ["annotation:argocd.argoproj.io/client-side-apply-migration-manager"],
        "Migration manager", "The field manager whose fields server-side apply takes over.";
    Report "annotation.web-interface" Yes,
        ["annotation:argocd.argoproj.io/managed-by-url", "annotation:notice.argocd.argoproj.io/*",
         "annotation:pref.argocd.argoproj.io/*"],
        "Hints for the web interface", "Kept, and without effect on the controller.";
    Report "annotation.links" Yes,
        ["annotation:link.argocd.argoproj.io/*", "annotation:argocd.argoproj.io/ignore-default-links"],
        "Links", "URLs in the summary.";
    Serve "annotation.notifications" Other("Argo CD's own notifications controller goes on sending them"),
        ["annotation:notifications.argoproj.io/*"],
        "Notifications", "Subscriptions of the notifications controller.";

    Compare "annotation.tracking" Yes,
        ["annotation:argocd.argoproj.io/tracking-id", "annotation:argocd.argoproj.io/installation-id"],
        "Tracking", "Says which Application an object belongs to.";
    Sync "annotation.sync-wave" Yes, ["annotation:argocd.argoproj.io/sync-wave"],
        "Sync wave", "Orders objects of one sync.";
    Sync "annotation.sync-options" Yes, ["annotation:argocd.argoproj.io/sync-options"],
        "Sync options of an object", "Options for one object; each option is a feature of its own.";
    Compare "annotation.compare-options" Yes, ["annotation:argocd.argoproj.io/compare-options"],
        "Compare options", "How an object is compared; each option is a feature of its own.";
    Report "annotation.ignore-healthcheck" Yes, ["annotation:argocd.argoproj.io/ignore-healthcheck"],
        "Ignore health", "Leaves an object out of the Application's health.";
    Compare "annotation.ignore-differences-json-pointers" Yes,
        ["annotation:argocd.argoproj.io/ignore-differences-json-pointers"],
        "Ignored fields of an object", "JSON pointers that are left out of the object's comparison.";
    Compare "annotation.ignore-resource-updates" Partial("every change of a managed object leads to a new look"),
        ["annotation:argocd.argoproj.io/ignore-resource-updates"],
        "Ignore updates", "Changes of ignored fields do not lead to a refresh.";

    Compare "compare-option.ignore-extraneous" Yes, ["compare-option:IgnoreExtraneous"],
        "IgnoreExtraneous", "An object that left the sources does not make the Application OutOfSync.";
    Compare "compare-option.server-side-diff" Yes,
        ["compare-option:ServerSideDiff", "compare-option:IncludeMutationWebhook"],
        "ServerSideDiff", "Compares with what the API server would store.";

    Sync "annotation.hook" Yes, ["annotation:argocd.argoproj.io/hook", "annotation:argocd.argoproj.io/hook-delete-policy"],
        "Hook", "An object that runs at a phase of the sync, and when it is removed.";
    Sync "hook.sync" Yes, ["hook:PreSync", "hook:Sync", "hook:PostSync", "hook:SyncFail", "hook:Skip"],
        "Sync hooks", "Hooks before, during and after a sync.";
    Delete "hook.delete" Yes, ["hook:PreDelete", "hook:PostDelete"],
        "Delete hooks", "Hooks around the deletion of an Application.";
    Sync "annotation.helm-hook" Yes,
        ["annotation:helm.sh/hook", "annotation:helm.sh/hook-weight", "annotation:helm.sh/hook-delete-policy"],
        "Helm hook", "Helm's hooks, mapped to sync hooks.";
    Sync "helm-hook.install" Yes,
        ["helm-hook:pre-install", "helm-hook:pre-upgrade", "helm-hook:post-install",
         "helm-hook:post-upgrade"],
        "Helm install and upgrade hooks", "Run as PreSync and PostSync.";
    Sync "helm-hook.crd-install" Yes, ["helm-hook:crd-install"],
        "Helm 2 CRD hook", "No hook for Argo CD, but an ordinary object.";
    Delete "helm-hook.delete" Yes, ["helm-hook:pre-delete", "helm-hook:post-delete"],
        "Helm delete hooks", "Run as PreDelete and PostDelete.";
    Sync "helm-hook.ignored" Yes,
        ["helm-hook:pre-rollback", "helm-hook:post-rollback", "helm-hook:test", "helm-hook:test-success",
         "helm-hook:test-failure"],
        "Helm rollback and test hooks", "Left out of syncs, as Argo CD does.";
    Delete "annotation.helm-resource-policy" Yes, ["annotation:helm.sh/resource-policy"],
        "Helm resource policy", "`keep` protects an object when its Application is deleted.";

    Delete "finalizer.cascade" Yes,
        ["finalizer:resources-finalizer.argocd.argoproj.io",
         "finalizer:resources-finalizer.argocd.argoproj.io/foreground",
         "finalizer:resources-finalizer.argocd.argoproj.io/background"],
        "Cascading deletion", "Objects go with their Application.";
    Delete "finalizer.hooks" Yes,
        ["finalizer:pre-delete-finalizer.argocd.argoproj.io", "finalizer:pre-delete-finalizer.argocd.argoproj.io/cleanup",
         "finalizer:post-delete-finalizer.argocd.argoproj.io", "finalizer:post-delete-finalizer.argocd.argoproj.io/cleanup",
         "finalizer:argocd.argoproj.io/hook-finalizer"],
        "Hook finalizers", "Keep an Application or hook until its delete hooks ran.";

    Render "secret.repository" Yes, ["secret:repository", "secret:repo-creds"],
        "Repository credentials", "How private repositories are reached; what they need is a feature of its own.";
    Render "secret.helm-repository" Yes,
        ["repository-secret:type=helm"],
        "Helm repository", "A repository of charts.";
    Render "secret.oci-repository" Yes,
        ["repository-secret:type=oci", "repository-secret:enableOCI", "repository-secret:insecureOCIForceHttp"],
        "OCI repository", "A registry of charts or manifests.";
    Render "secret.ssh" Yes,
        ["repository-secret:sshPrivateKey", "repository-secret:insecureIgnoreHostKey"],
        "SSH key of a repository", "The key that opens a Git repository over SSH.";
    Render "secret.tls-client-certificate" Yes,
        ["repository-secret:tlsClientCertData", "repository-secret:tlsClientCertKey"],
        "Client certificate of a repository", "The certificate that opens a repository.";
    Render "secret.github-app" Yes,
        ["repository-secret:githubAppID", "repository-secret:githubAppInstallationID",
         "repository-secret:githubAppPrivateKey", "repository-secret:githubAppEnterpriseBaseUrl"],
        "GitHub App", "Credentials of a GitHub App.";
    Render "secret.cloud-identity" No("such a repository is refused: passwords, tokens, SSH keys and GitHub Apps work"),
        ["repository-secret:gcpServiceAccountKey", "repository-secret:useAzureWorkloadIdentity",
         "repository-secret:azureServicePrincipal*", "repository-secret:azureActiveDirectoryEndpoint"],
        "Cloud identity of a repository", "A Google or Azure identity that opens a repository.";
    Render "secret.proxy" Yes,
        ["repository-secret:proxy", "repository-secret:noProxy"],
        "Proxy of a repository", "The proxy that a repository is reached through.";
    Render "secret.lfs" Yes, ["repository-secret:enableLfs"],
        "Large files", "Fetches files of Git LFS.";
    Render "secret.repository-write" No("litecd does not push hydrated manifests"),
        ["secret:repository-write", "secret:repo-write-creds"],
        "Write credentials", "How the source hydrator pushes.";
    Sync "secret.cluster" Yes, ["secret:cluster"],
        "Cluster", "How a remote cluster is reached.";
    Sync "secret.cluster-identity" No("tokens, passwords and client certificates only; such a cluster is refused"),
        ["cluster-secret:execProviderConfig", "cluster-secret:awsAuthConfig"],
        "Cluster by plugin or AWS identity", "A program or AWS makes the credentials of a remote cluster.";
    Sync "secret.cluster-namespaces" Partial("orphaned resources of such a cluster are not counted"),
        ["cluster-secret:namespaces"],
        "Cluster by namespaces", "Only these namespaces of a cluster are managed, with `clusterResources` or without.";
    Compare "secret.webhook" Yes,
        ["argocd-secret:webhook.*"],
        "Webhook secrets", "What the senders of webhooks sign with.";
    Generate "secret.scm" Yes, ["secret:scm-creds"],
        "SCM credentials", "Tokens for generators.";
};
