//! Keys of the ConfigMap `argocd-cm`.
//!
//! In:  nothing. Out: rows. Source: APP-272 to APP-289, `util/settings/settings.go`.

use super::{Row, features};
use crate::check::Support::{self, No, Other, Yes};

/// Keys of the API server and the web interface.
const OTHER_SERVER: Support = Other("Argo CD's own API server and web interface go on reading it");

pub static ROWS: &[Row] = features! {
    Configure "settings.timeouts" Yes,
        ["argocd-cm:timeout.reconciliation", "argocd-cm:timeout.reconciliation.jitter",
         "argocd-cm:timeout.hard.reconciliation"],
        "Refresh periods", "How often Applications are looked at without a change.";
    Compare "settings.tracking" Yes,
        ["argocd-cm:application.instanceLabelKey", "argocd-cm:application.resourceTrackingMethod",
         "argocd-cm:installationID"],
        "Tracking method", "How objects are marked as belonging to an Application.";
    Compare "settings.resource-filters" Yes, ["argocd-cm:resource.exclusions", "argocd-cm:resource.inclusions"],
        "Resource filters", "Kinds that are not looked at.";
    Compare "settings.ignore-differences" Yes, ["argocd-cm:resource.customizations.ignoreDifferences.*"],
        "Ignored differences for all", "Fields left out of every comparison.";
    Compare "settings.compare-options" Yes, ["argocd-cm:resource.compareoptions"],
        "Compare options for all", "Status fields, aggregated roles and ignored updates.";
    Report "settings.health-scripts" Yes,
        ["argocd-cm:resource.customizations.health.*", "argocd-cm:resource.customizations.useOpenLibs.*"],
        "Health scripts", "Lua scripts that tell an object's health.";
    Compare "settings.customizations-map" Yes,
        ["argocd-cm:resource.customizations"],
        "Customizations in one map", "Health, actions and ignored differences, all kinds in one key.";
    Serve "settings.actions" OTHER_SERVER, ["argocd-cm:resource.customizations.actions.*"],
        "Resource actions", "Actions of the web interface.";
    Compare "settings.ignore-resource-updates" Yes,
        ["argocd-cm:resource.customizations.ignoreResourceUpdates.*", "argocd-cm:resource.ignoreResourceUpdatesEnabled"],
        "Ignored updates", "Changes of these fields do not lead to a refresh.";
    Compare "settings.known-type-fields" Yes,
        ["argocd-cm:resource.customizations.knownTypeFields.*"],
        "Known type fields", "Fields of custom kinds that hold built-in types.";
    Compare "settings.respect-rbac" No("the watched kinds do not follow litecd's rights yet"), ["argocd-cm:resource.respectRBAC"],
        "Respect RBAC", "Kinds that may not be listed are not looked at.";
    Report "settings.event-labels" Yes,
        ["argocd-cm:resource.includeEventLabelKeys", "argocd-cm:resource.excludeEventLabelKeys"],
        "Event labels", "Labels of Applications that their events carry.";
    Serve "settings.mask" Yes,
        ["argocd-cm:resource.customLabels", "argocd-cm:application.allowedNodeLabels",
         "argocd-cm:resource.sensitive.mask.annotations"],
        "What the web interface shows", "Without effect on the controller: litecd publishes no live objects.";
    Permit "settings.in-cluster" Yes, ["argocd-cm:cluster.inClusterEnabled"],
        "In-cluster destination", "Whether the cluster litecd runs in can be a destination.";
    Permit "settings.global-projects" Yes, ["argocd-cm:globalProjects"],
        "Global projects", "Projects that others inherit from.";
    Render "settings.kustomize" Yes, ["argocd-cm:kustomize.enable", "argocd-cm:kustomize.buildOptions"],
        "Kustomize settings", "Whether Kustomize is used, and its build options.";
    Render "settings.kustomize-versions" Yes,
        ["argocd-cm:kustomize.buildOptions.*", "argocd-cm:kustomize.path.*", "argocd-cm:kustomize.version.*"],
        "Kustomize versions", "Further Kustomize binaries and their options.";
    Render "settings.helm" Yes, ["argocd-cm:helm.enable", "argocd-cm:helm.valuesFileSchemes"],
        "Helm settings", "Whether Helm is used, and where value files may come from.";
    Render "settings.jsonnet" Yes, ["argocd-cm:jsonnet.enable"],
        "Jsonnet settings", "Whether Jsonnet is used.";
    Sync "settings.prune-budget" Yes, ["argocd-cm:litecd.prune.budget"],
        "Prune budget", "How much one automated sync may prune; litecd's own.";
    Sync "settings.impersonation" Yes,
        ["argocd-cm:application.sync.impersonation.enabled", "argocd-cm:application.sync.impersonation.enforced"],
        "Impersonation settings", "Syncs act as a service account per destination.";
    Render "settings.hydrator" No("litecd does not push hydrated manifests"),
        ["argocd-cm:sourceHydrator.commitMessageTemplate", "argocd-cm:sourceHydrator.readmeMessageTemplate",
         "argocd-cm:commit.author.name", "argocd-cm:commit.author.email"],
        "Source hydrator settings", "Texts and author of hydrated commits.";
    Compare "settings.webhook" Yes,
        ["argocd-cm:webhook.refresh.jitter", "argocd-cm:webhook.refresh.jitter.threshold",
         "argocd-cm:webhook.maxPayloadSizeMB"],
        "Webhook settings", "Limits of webhooks.";
    Serve "settings.accounts" OTHER_SERVER,
        ["argocd-cm:admin.enabled", "argocd-cm:accounts.*", "argocd-cm:users.anonymous.enabled",
         "argocd-cm:users.session.duration", "argocd-cm:passwordPattern"],
        "Accounts", "Local users.";
    Serve "settings.single-sign-on" OTHER_SERVER,
        ["argocd-cm:dex.config", "argocd-cm:oidc.config", "argocd-cm:oidc.tls.insecure.skip.verify"],
        "Single sign-on", "Users of an identity provider.";
    Serve "settings.web-interface" OTHER_SERVER,
        ["argocd-cm:url", "argocd-cm:additionalUrls", "argocd-cm:statusbadge.enabled", "argocd-cm:statusbadge.url",
         "argocd-cm:ga.trackingid", "argocd-cm:ga.anonymizeusers", "argocd-cm:help.chatUrl", "argocd-cm:help.chatText",
         "argocd-cm:help.download.*", "argocd-cm:ui.cssurl", "argocd-cm:ui.bannercontent", "argocd-cm:ui.bannerurl",
         "argocd-cm:ui.bannerpermanent", "argocd-cm:ui.bannerposition", "argocd-cm:project.links",
         "argocd-cm:application.links", "argocd-cm:resource.links", "argocd-cm:extension.config",
         "argocd-cm:extension.config.*", "argocd-cm:exec.enabled", "argocd-cm:exec.shells",
         "argocd-cm:server.maxPodLogsToRender", "argocd-cm:server.rbac.disableApplicationFineGrainedRBACInheritance",
         "argocd-cm:application.sync.requireOverridePrivilegeForRevisionSync"],
        "Web interface", "How the web interface looks and what it offers.";
};
