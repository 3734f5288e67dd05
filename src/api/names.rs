//! Names that Argo CD and Helm fix: annotations, labels, finalizers, field managers.
//!
//! Source: APP-022, APP-023, APP-192 (`common/common.go`, `gitops-engine/pkg/sync/common/types.go`).

/// API group of Application, AppProject and ApplicationSet.
pub const GROUP: &str = "argoproj.io";
/// Version of Argo CD whose behaviour and status format litecd reproduces.
pub const ARGOCD_VERSION: &str = "v3.5.1";

/// On an Application: asks for a refresh, `hard` or anything else for a normal one.
pub const REFRESH: &str = "argocd.argoproj.io/refresh";
/// On an ApplicationSet: asks for a look at its generators, past what is remembered.
pub const SET_REFRESH: &str = "argocd.argoproj.io/application-set-refresh";
/// On an Application: a true boolean stops all processing of it.
pub const SKIP_RECONCILE: &str = "argocd.argoproj.io/skip-reconcile";
/// On an Application: RFC 3339 time at which prunes and deletions were confirmed.
pub const DELETION_APPROVED: &str = "argocd.argoproj.io/deletion-approved";
/// On an Application: `;`-separated paths whose change makes a new commit relevant.
pub const MANIFEST_GENERATE_PATHS: &str = "argocd.argoproj.io/manifest-generate-paths";
/// On an Application: field manager that client-side apply migration looks for.
pub const CSA_MIGRATION_MANAGER: &str = "argocd.argoproj.io/client-side-apply-migration-manager";

/// On an Application: how many objects one automated sync may prune, `5` or `10%`; litecd's own.
pub const PRUNE_BUDGET: &str = "litecd.io/prune-budget";
/// On an Application: the revision whose prunes are approved although they exceed the budget; litecd's own.
pub const PRUNE_APPROVED: &str = "litecd.io/prune-approved";

/// On managed objects: which application the object belongs to.
pub const TRACKING_ID: &str = "argocd.argoproj.io/tracking-id";
/// On managed objects: which Argo CD installation wrote the tracking id.
pub const INSTALLATION_ID: &str = "argocd.argoproj.io/installation-id";
/// Default label of label tracking.
pub const INSTANCE_LABEL: &str = "app.kubernetes.io/instance";
/// On managed objects: sync wave.
pub const SYNC_WAVE: &str = "argocd.argoproj.io/sync-wave";
/// On managed objects: hook types, comma separated.
pub const HOOK: &str = "argocd.argoproj.io/hook";
/// On hooks: delete policies, comma separated.
pub const HOOK_DELETE_POLICY: &str = "argocd.argoproj.io/hook-delete-policy";
/// Finalizer that keeps a running hook in the cluster.
pub const HOOK_FINALIZER: &str = "argocd.argoproj.io/hook-finalizer";
/// On managed objects: sync options, comma separated.
pub const SYNC_OPTIONS: &str = "argocd.argoproj.io/sync-options";
/// On managed objects and Applications: compare options, comma separated.
pub const COMPARE_OPTIONS: &str = "argocd.argoproj.io/compare-options";
/// On managed objects: comma-separated JSON pointers that are left out of the object's comparison.
pub const IGNORE_JSON_POINTERS: &str = "argocd.argoproj.io/ignore-differences-json-pointers";
/// On managed objects: exactly `true` leaves the object out of the app's health.
pub const IGNORE_HEALTHCHECK: &str = "argocd.argoproj.io/ignore-healthcheck";
/// On managed objects: exactly true boolean opts an untracked object into update filtering.
pub const IGNORE_RESOURCE_UPDATES: &str = "argocd.argoproj.io/ignore-resource-updates";
/// Prefix of annotations that hold links for the summary.
pub const LINK_PREFIX: &str = "link.argocd.argoproj.io/";
/// On Ingresses and Gateways: true leaves the derived URLs out.
pub const IGNORE_DEFAULT_LINKS: &str = "argocd.argoproj.io/ignore-default-links";

/// Helm's hook annotation.
pub const HELM_HOOK: &str = "helm.sh/hook";
/// Helm's hook weight, read as sync wave when no sync wave is given.
pub const HELM_HOOK_WEIGHT: &str = "helm.sh/hook-weight";
/// Helm's hook delete policy.
pub const HELM_HOOK_DELETE_POLICY: &str = "helm.sh/hook-delete-policy";
/// Helm's resource policy; `keep` protects from deletion with the app.
pub const HELM_RESOURCE_POLICY: &str = "helm.sh/resource-policy";

/// Cascade finalizer (foreground).
pub const RESOURCES_FINALIZER: &str = "resources-finalizer.argocd.argoproj.io";
/// Cascade finalizer, foreground spelled out.
pub const FOREGROUND_FINALIZER: &str = "resources-finalizer.argocd.argoproj.io/foreground";
/// Cascade finalizer with background propagation.
pub const BACKGROUND_FINALIZER: &str = "resources-finalizer.argocd.argoproj.io/background";
/// Finalizer that runs PreDelete hooks.
pub const PRE_DELETE_FINALIZER: &str = "pre-delete-finalizer.argocd.argoproj.io";
/// Finalizer that cleans PreDelete hooks up.
pub const PRE_DELETE_CLEANUP_FINALIZER: &str = "pre-delete-finalizer.argocd.argoproj.io/cleanup";
/// Finalizer that runs PostDelete hooks.
pub const POST_DELETE_FINALIZER: &str = "post-delete-finalizer.argocd.argoproj.io";
/// Finalizer that cleans PostDelete hooks up.
pub const POST_DELETE_CLEANUP_FINALIZER: &str = "post-delete-finalizer.argocd.argoproj.io/cleanup";

/// Where client-side apply remembers the manifest it applied last.
pub const LAST_APPLIED: &str = "kubectl.kubernetes.io/last-applied-configuration";
/// Field manager of applies, as Argo CD names it.
pub const FIELD_MANAGER: &str = "argocd-controller";
/// Field manager of writes for which Argo CD names none: its binary's name.
pub const BINARY_MANAGER: &str = "argocd-application-controller";
/// Field manager of writes to ApplicationSets and to the Applications they make: the name of Argo CD's binary for them.
pub const SETS_MANAGER: &str = "argocd-applicationset-controller";
/// The cluster Argo CD runs in.
pub const IN_CLUSTER_SERVER: &str = "https://kubernetes.default.svc";
/// Name of the in-cluster destination.
pub const IN_CLUSTER_NAME: &str = "in-cluster";
