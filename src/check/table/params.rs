//! Keys of the ConfigMap `argocd-cmd-params-cm`.
//!
//! In:  nothing. Out: rows. Source: APP-290 to APP-302, `docs/operator-manual/argocd-cmd-params-cm.yaml`.

use super::{Row, features};
use crate::check::Support::{self, No, Other, Partial, Yes};

const OTHER_PROGRAM: Support = Other("Argo CD's own programs go on reading it");

pub static ROWS: &[Row] = features! {
    Permit "params.application-namespaces" Yes,
        ["argocd-cmd-params-cm:application.namespaces"],
        "Applications in other namespaces", "Namespaces whose Applications are read.";
    Report "params.health-persist" Yes, ["argocd-cmd-params-cm:controller.resource.health.persist"],
        "Health in the status", "Whether each object's health is written to the status.";
    Compare "params.server-side-diff" Yes,
        ["argocd-cmd-params-cm:controller.diff.server.side"],
        "Server-side diff for all", "Compares with what the API server would store.";
    Compare "params.jq-timeout" Yes, ["argocd-cmd-params-cm:controller.ignore.normalizer.jq.timeout"],
        "jq time limit", "How long a jq path expression may take.";
    Sync "params.self-heal" Yes,
        ["argocd-cmd-params-cm:controller.self.heal.timeout.seconds",
         "argocd-cmd-params-cm:controller.self.heal.backoff.timeout.seconds",
         "argocd-cmd-params-cm:controller.self.heal.backoff.factor",
         "argocd-cmd-params-cm:controller.self.heal.backoff.cap.seconds",
         "argocd-cmd-params-cm:controller.self.heal.backoff.cooldown.seconds"],
        "Self-heal delays", "Delays between self-heal attempts.";
    Sync "params.sync" Yes,
        ["argocd-cmd-params-cm:controller.sync.timeout.seconds",
         "argocd-cmd-params-cm:controller.sync.wave.delay.seconds"],
        "Sync limits", "Time limit of a sync and delay between waves.";
    Compare "params.repo-error-grace-period" Yes,
        ["argocd-cmd-params-cm:controller.repo.error.grace.period.seconds"],
        "Grace period", "How long a failing repository is not reported.";
    Render "params.render-timeout" Yes, ["argocd-cmd-params-cm:controller.repo.server.timeout.seconds"],
        "Rendering time limit", "How long one rendering may take.";
    Configure "params.workers" Yes,
        ["argocd-cmd-params-cm:controller.status.processors", "argocd-cmd-params-cm:controller.operation.processors",
         "argocd-cmd-params-cm:controller.kubectl.parallelism.limit",
         "argocd-cmd-params-cm:reposerver.parallelism.limit"],
        "Parallel work", "How much is done at the same time.";
    Report "params.logs" Yes,
        ["argocd-cmd-params-cm:controller.log.format", "argocd-cmd-params-cm:controller.log.level",
         "argocd-cmd-params-cm:log.format.timestamp"],
        "Logs", "Format and level of logs.";
    Configure "params.kubernetes-client" Yes,
        ["argocd-cmd-params-cm:controller.k8s.client.qps", "argocd-cmd-params-cm:controller.k8s.client.burst",
         "argocd-cmd-params-cm:controller.k8s.client.max.idle.connections",
         "argocd-cmd-params-cm:controller.k8s.tcp.timeout", "argocd-cmd-params-cm:controller.k8s.tcp.keepalive",
         "argocd-cmd-params-cm:controller.k8s.tcp.idle.timeout",
         "argocd-cmd-params-cm:controller.k8s.tls.handshake.timeout",
         "argocd-cmd-params-cm:controller.k8sclient.retry.max",
         "argocd-cmd-params-cm:controller.k8sclient.retry.base.backoff"],
        "Kubernetes client", "Limits of the connection to the API server; accepted, litecd chooses its own.";
    Configure "params.one-process" Yes,
        ["argocd-cmd-params-cm:repo.server", "argocd-cmd-params-cm:redis.*", "argocd-cmd-params-cm:otlp.*",
         "argocd-cmd-params-cm:controller.repo.server.plaintext",
         "argocd-cmd-params-cm:controller.repo.server.strict.tls",
         "argocd-cmd-params-cm:controller.repo.server.ca.cert.path",
         "argocd-cmd-params-cm:controller.repo.server.client.cert.path",
         "argocd-cmd-params-cm:controller.repo.server.client.cert.key.path",
         "argocd-cmd-params-cm:controller.app.state.cache.expiration",
         "argocd-cmd-params-cm:controller.default.cache.expiration",
         "argocd-cmd-params-cm:controller.cluster.cache.batch.events.processing",
         "argocd-cmd-params-cm:controller.cluster.cache.events.processing.interval",
         "argocd-cmd-params-cm:controller.grpc.enable.txt.service.config",
         "argocd-cmd-params-cm:controller.metrics.cache.expiration",
         "argocd-cmd-params-cm:controller.profile.enabled", "argocd-cmd-params-cm:controller.sharding.algorithm",
         "argocd-cmd-params-cm:reposerver.listen.address", "argocd-cmd-params-cm:reposerver.metrics.listen.address",
         "argocd-cmd-params-cm:reposerver.log.format", "argocd-cmd-params-cm:reposerver.log.level",
         "argocd-cmd-params-cm:reposerver.disable.tls", "argocd-cmd-params-cm:reposerver.tls.minversion",
         "argocd-cmd-params-cm:reposerver.tls.maxversion", "argocd-cmd-params-cm:reposerver.tls.ciphers",
         "argocd-cmd-params-cm:reposerver.client.ca.path",
         "argocd-cmd-params-cm:reposerver.default.cache.expiration",
         "argocd-cmd-params-cm:reposerver.revision.cache.lock.timeout", "argocd-cmd-params-cm:reposerver.grpc.max.size",
         "argocd-cmd-params-cm:reposerver.grpc.enable.txt.service.config",
         "argocd-cmd-params-cm:reposerver.profile.enabled"],
        "Links between Argo CD's programs", "Accepted, and without meaning in one process.";

    Render "params.manifest-cache" Yes, ["argocd-cmd-params-cm:reposerver.repo.cache.expiration"],
        "Manifest cache", "How long rendered manifests are good for.";
    Render "params.directory" Yes,
        ["argocd-cmd-params-cm:reposerver.max.combined.directory.manifests.size",
         "argocd-cmd-params-cm:reposerver.allow.oob.symlinks"],
        "Directory limits", "Which files of a directory are read, and how many bytes.";
    Render "params.hidden-directories" No("directories whose name begins with a dot are treated as Argo CD's default does"),
        ["argocd-cmd-params-cm:reposerver.include.hidden.directories"],
        "Hidden directories", "Whether directories whose name begins with a dot are read.";
    Render "params.git-config" No("litecd gives git its own configuration"),
        ["argocd-cmd-params-cm:reposerver.enable.builtin.git.config"],
        "Git's built-in configuration", "Whether the system's git configuration is replaced.";
    Render "params.git" Yes,
        ["argocd-cmd-params-cm:reposerver.enable.git.submodule",
         "argocd-cmd-params-cm:reposerver.git.lsremote.parallelism.limit",
         "argocd-cmd-params-cm:reposerver.git.request.timeout"],
        "Git", "Submodules, limits and time limits of Git.";
    Render "params.helm-and-oci" Yes,
        ["argocd-cmd-params-cm:reposerver.helm.manifest.max.extracted.size",
         "argocd-cmd-params-cm:reposerver.disable.helm.manifest.max.extracted.size",
         "argocd-cmd-params-cm:reposerver.helm.user.agent",
         "argocd-cmd-params-cm:reposerver.oci.manifest.max.extracted.size",
         "argocd-cmd-params-cm:reposerver.disable.oci.manifest.max.extracted.size",
         "argocd-cmd-params-cm:reposerver.oci.layer.media.types"],
        "Charts and artefacts", "Limits of what is fetched from registries.";
    Render "params.plugins" No("config management plugins are not run"),
        ["argocd-cmd-params-cm:reposerver.plugin.tar.exclusions",
         "argocd-cmd-params-cm:reposerver.plugin.use.manifest.generate.paths",
         "argocd-cmd-params-cm:reposerver.streamed.manifest.max.tar.size",
         "argocd-cmd-params-cm:reposerver.streamed.manifest.max.extracted.size"],
        "Plugin streams", "What is sent to plugins.";
    Render "params.hydrator" No("litecd does not push hydrated manifests"),
        ["argocd-cmd-params-cm:hydrator.enabled", "argocd-cmd-params-cm:commit.server",
         "argocd-cmd-params-cm:controller.hydration.processors", "argocd-cmd-params-cm:commitserver.*"],
        "Source hydrator", "Whether manifests are hydrated, and by which server.";

    Generate "params.appset-policy" Yes,
        ["argocd-cmd-params-cm:applicationsetcontroller.policy",
         "argocd-cmd-params-cm:applicationsetcontroller.enable.policy.override",
         "argocd-cmd-params-cm:applicationsetcontroller.enable.progressive.syncs",
         "argocd-cmd-params-cm:applicationsetcontroller.enable.new.git.file.globbing",
         "argocd-cmd-params-cm:applicationsetcontroller.enable.git.submodule",
         "argocd-cmd-params-cm:applicationsetcontroller.global.preserved.annotations",
         "argocd-cmd-params-cm:applicationsetcontroller.global.preserved.labels",
         "argocd-cmd-params-cm:applicationsetcontroller.namespaces",
         "argocd-cmd-params-cm:applicationsetcontroller.requeue.after",
         "argocd-cmd-params-cm:applicationsetcontroller.status.max.resources.count",
         "argocd-cmd-params-cm:applicationsetcontroller.concurrent.reconciliations.max"],
        "ApplicationSet policy", "What the ApplicationSet controller may do.";
    Generate "params.appset-dry-run" No("ApplicationSets are carried out"),
        ["argocd-cmd-params-cm:applicationsetcontroller.dryrun"],
        "ApplicationSet dry run", "Whether nothing is written.";
    Generate "params.appset-scm" Partial("scm.root.ca.path is not read, and there are no metrics of GitHub"),
        ["argocd-cmd-params-cm:applicationsetcontroller.allowed.scm.providers",
         "argocd-cmd-params-cm:applicationsetcontroller.enable.scm.providers",
         "argocd-cmd-params-cm:applicationsetcontroller.scm.root.ca.path",
         "argocd-cmd-params-cm:applicationsetcontroller.enable.tokenref.strict.mode",
         "argocd-cmd-params-cm:applicationsetcontroller.enable.github.api.metrics"],
        "ApplicationSet providers", "Which providers generators may ask.";
    Generate "params.appset-program" Partial("logs and connections are those of litecd itself"),
        ["argocd-cmd-params-cm:applicationsetcontroller.debug", "argocd-cmd-params-cm:applicationsetcontroller.log.format",
         "argocd-cmd-params-cm:applicationsetcontroller.log.level",
         "argocd-cmd-params-cm:applicationsetcontroller.enable.leader.election",
         "argocd-cmd-params-cm:applicationsetcontroller.webhook.parallelism.limit",
         "argocd-cmd-params-cm:applicationsetcontroller.profile.enabled",
         "argocd-cmd-params-cm:applicationsetcontroller.grpc.enable.txt.service.config",
         "argocd-cmd-params-cm:applicationsetcontroller.k8s.*",
         "argocd-cmd-params-cm:applicationsetcontroller.repo.server.*"],
        "ApplicationSet controller", "Logs, connections and limits of the ApplicationSet controller.";
    Serve "params.other-programs" OTHER_PROGRAM,
        ["argocd-cmd-params-cm:server.*", "argocd-cmd-params-cm:dexserver.*",
         "argocd-cmd-params-cm:notificationscontroller.*"],
        "Argo CD's other programs", "API server, Dex and notifications controller.";
};
