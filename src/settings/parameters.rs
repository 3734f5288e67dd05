//! Parameters of the controller process.
//!
//! In:  the data of `argocd-cmd-params-cm`; flags under Argo CD's names.
//! Out: typed parameters with Argo CD's defaults.
//! Invariant: a value that cannot be read or is out of range gives the default, as in Argo CD, and is reported.
//! Source: APP-290 to APP-302 (`cmd/argocd-application-controller/commands/argocd_application_controller.go`).

use std::collections::BTreeMap;

use jiff::SignedDuration;

use super::application_sets::{self, ApplicationSets};
use super::repo_server::{RepoServer, bytes};
use crate::gocompat::duration;
use crate::gocompat::patterns::{PatternMatch, matches_any};

/// Parameters of the controller process.
#[derive(Debug, Clone, PartialEq)]
pub struct Parameters {
    /// Namespaces besides the controller's own whose Applications are handled: globs, or `/expressions/`.
    pub application_namespaces: Vec<String>,
    /// Whether the health of single objects is stored in the Application.
    pub persist_resource_health: bool,
    /// Whether comparisons ask the API server by default.
    pub server_side_diff: bool,
    /// How many applications are refreshed at a time.
    pub status_processors: usize,
    /// How many operations run at a time.
    pub operation_processors: usize,
    /// How many hydrations run at a time.
    pub hydration_processors: usize,
    /// How many writes run at a time; zero is no limit.
    pub kubectl_parallelism_limit: usize,
    /// Fixed time between self-heals; zero means that the backoff decides.
    pub self_heal_timeout: SignedDuration,
    /// First time between self-heals.
    pub self_heal_backoff: SignedDuration,
    /// Factor by which that time grows.
    pub self_heal_backoff_factor: i64,
    /// Its longest value.
    pub self_heal_backoff_cap: SignedDuration,
    /// When a sync is ended; zero is never.
    pub sync_timeout: SignedDuration,
    /// Pause between sync waves.
    pub sync_wave_delay: SignedDuration,
    /// How long a repository may fail before the application says so.
    pub repo_error_grace_period: SignedDuration,
    /// How long the controller waits for one source's manifests.
    pub repo_server_timeout: SignedDuration,
    /// How sources are fetched and rendered.
    pub repo_server: RepoServer,
    /// Deadline of one jq expression.
    pub jq_timeout: SignedDuration,
    /// `json` or `text`.
    pub log_format: String,
    /// `debug`, `info`, `warn` or `error`.
    pub log_level: String,
    /// Form of times in the log, a Go layout; empty is RFC 3339.
    pub log_format_timestamp: String,
    /// After which time metrics start anew; zero is never.
    pub metrics_cache_expiration: SignedDuration,
    /// Requests a second to one API server.
    pub k8s_client_qps: f64,
    /// Requests that may be made at once.
    pub k8s_client_burst: usize,
    /// How often a failed request is repeated.
    pub k8s_client_retry_max: usize,
    /// First pause before that.
    pub k8s_client_retry_base_backoff: SignedDuration,
    /// Longest time to connect to an API server.
    pub k8s_tcp_timeout: SignedDuration,
    /// Whether events of clusters are handled in batches.
    pub batch_events_processing: bool,
    /// Time between those batches.
    pub events_processing_interval: SignedDuration,
    /// Whether source hydration is on.
    pub hydrator_enabled: bool,
    /// Time between refreshes, set by flag only; else `argocd-cm` decides.
    pub app_resync: Option<SignedDuration>,
    /// Longest random delay of refreshes, set by flag only; else `argocd-cm` decides.
    pub app_resync_jitter: Option<SignedDuration>,
    /// Time between hard refreshes, set by flag only; else `argocd-cm` decides.
    pub app_hard_resync: Option<SignedDuration>,
    /// Labels of Applications that metrics show.
    pub metrics_application_labels: Vec<String>,
    /// Reasons of Kubernetes events that are written; `all` or `none`.
    pub enable_k8s_event: Vec<String>,
    /// How ApplicationSets are worked on.
    pub application_sets: ApplicationSets,
}

impl Default for Parameters {
    fn default() -> Self {
        let seconds = SignedDuration::from_secs;
        Self {
            application_namespaces: Vec::new(),
            persist_resource_health: false,
            server_side_diff: false,
            status_processors: 20,
            operation_processors: 10,
            hydration_processors: 5,
            kubectl_parallelism_limit: 20,
            self_heal_timeout: SignedDuration::ZERO,
            self_heal_backoff: seconds(2),
            self_heal_backoff_factor: 3,
            self_heal_backoff_cap: seconds(300),
            sync_timeout: SignedDuration::ZERO,
            sync_wave_delay: seconds(2),
            repo_error_grace_period: seconds(180),
            repo_server_timeout: seconds(60),
            repo_server: RepoServer::default(),
            jq_timeout: seconds(1),
            log_format: "json".to_owned(),
            log_level: "info".to_owned(),
            log_format_timestamp: String::new(),
            metrics_cache_expiration: SignedDuration::ZERO,
            k8s_client_qps: 50.0,
            k8s_client_burst: 100,
            k8s_client_retry_max: 0,
            k8s_client_retry_base_backoff: SignedDuration::from_millis(100),
            k8s_tcp_timeout: seconds(30),
            batch_events_processing: true,
            events_processing_interval: SignedDuration::from_millis(100),
            hydrator_enabled: false,
            app_resync: None,
            app_resync_jitter: None,
            app_hard_resync: None,
            metrics_application_labels: Vec::new(),
            enable_k8s_event: vec!["all".to_owned()],
            application_sets: ApplicationSets::default(),
        }
    }
}

/// One parameter: where it is read from, and how it is set; the setter says whether it could read the text.
pub(super) struct Definition {
    /// Key of the ConfigMap; empty when there is a flag only.
    key: &'static str,
    /// Flag without dashes; empty when there is a key only.
    flag: &'static str,
    set: fn(&mut Parameters, &str) -> Option<()>,
}

pub(super) const fn definition(
    key: &'static str,
    flag: &'static str,
    set: fn(&mut Parameters, &str) -> Option<()>,
) -> Definition {
    Definition { key, flag, set }
}

/// Every parameter that has a meaning for a single process, but for those of ApplicationSets.
const DEFINITIONS: &[Definition] = &[
    definition("application.namespaces", "application-namespaces", |p, text| {
        p.application_namespaces = trimmed_list(text);
        Some(())
    }),
    definition("controller.resource.health.persist", "persist-resource-health", |p, text| {
        flag(text).map(|value| p.persist_resource_health = value)
    }),
    definition("controller.diff.server.side", "server-side-diff-enabled", |p, text| {
        flag(text).map(|value| p.server_side_diff = value)
    }),
    definition("controller.status.processors", "status-processors", |p, text| {
        count(text).map(|value| p.status_processors = value)
    }),
    definition("controller.operation.processors", "operation-processors", |p, text| {
        count(text).map(|value| p.operation_processors = value)
    }),
    definition("controller.hydration.processors", "hydration-processors", |p, text| {
        count(text).filter(|value| *value > 0).map(|value| p.hydration_processors = value)
    }),
    definition("controller.kubectl.parallelism.limit", "kubectl-parallelism-limit", |p, text| {
        count(text).map(|value| p.kubectl_parallelism_limit = value)
    }),
    definition("controller.self.heal.timeout.seconds", "self-heal-timeout-seconds", |p, text| {
        seconds(text).map(|value| p.self_heal_timeout = value)
    }),
    definition("controller.self.heal.backoff.timeout.seconds", "self-heal-backoff-timeout-seconds", |p, text| {
        seconds(text).map(|value| p.self_heal_backoff = value)
    }),
    definition("controller.self.heal.backoff.factor", "self-heal-backoff-factor", |p, text| {
        whole(text).map(|value| p.self_heal_backoff_factor = value)
    }),
    definition("controller.self.heal.backoff.cap.seconds", "self-heal-backoff-cap-seconds", |p, text| {
        seconds(text).map(|value| p.self_heal_backoff_cap = value)
    }),
    definition("controller.sync.timeout.seconds", "sync-timeout", |p, text| {
        seconds(text).map(|value| p.sync_timeout = value)
    }),
    definition("controller.sync.wave.delay.seconds", "", |p, text| {
        seconds(text).map(|value| p.sync_wave_delay = value)
    }),
    // The key holds a duration although its name says seconds; the flag holds seconds.
    definition("controller.repo.error.grace.period.seconds", "", |p, text| {
        positive_duration(text).map(|value| p.repo_error_grace_period = whole_seconds(value))
    }),
    definition("", "repo-error-grace-period-seconds", |p, text| {
        seconds(text).map(|value| p.repo_error_grace_period = value)
    }),
    definition("controller.repo.server.timeout.seconds", "repo-server-timeout-seconds", |p, text| {
        seconds(text).map(|value| p.repo_server_timeout = value)
    }),
    definition("reposerver.parallelism.limit", "parallelismlimit", |p, text| {
        count(text).map(|value| p.repo_server.parallelism_limit = value)
    }),
    definition("reposerver.git.lsremote.parallelism.limit", "git-lsremote-parallelism-limit", |p, text| {
        count(text).map(|value| p.repo_server.listings_limit = value)
    }),
    definition("reposerver.git.request.timeout", "git-request-timeout", |p, text| {
        positive_duration(text).map(|value| p.repo_server.git_request_timeout = value)
    }),
    definition("reposerver.enable.git.submodule", "git-modules-enabled", |p, text| {
        flag(text).map(|value| p.repo_server.git_submodules = value)
    }),
    definition("reposerver.allow.oob.symlinks", "allow-oob-symlinks", |p, text| {
        flag(text).map(|value| p.repo_server.allow_links_out = value)
    }),
    definition(
        "reposerver.max.combined.directory.manifests.size",
        "max-combined-directory-manifests-size",
        |p, text| bytes(text).map(|value| p.repo_server.max_directory_bytes = value),
    ),
    definition("reposerver.repo.cache.expiration", "repo-cache-expiration", |p, text| {
        positive_duration(text).map(|value| p.repo_server.cache_expiration = value)
    }),
    definition("", "exec-timeout", |p, text| positive_duration(text).map(|value| p.repo_server.exec_timeout = value)),
    definition("", "exec-fatal-timeout", |p, text| {
        positive_duration(text).map(|value| p.repo_server.exec_fatal_timeout = value)
    }),
    definition("", "pause-gen-after-failed-attempts", |p, text| {
        number(text).map(|value| p.repo_server.pause_after_failures = value)
    }),
    definition("", "pause-gen-minutes", |p, text| {
        whole(text).map(|value| p.repo_server.pause_time = SignedDuration::from_mins(value))
    }),
    definition("", "pause-gen-requests", |p, text| number(text).map(|value| p.repo_server.pause_answers = value)),
    definition(
        "controller.ignore.normalizer.jq.timeout",
        "ignore-normalizer-jq-execution-timeout-seconds",
        |p, text| {
            // Zero stands for the normaliser's own default.
            positive_duration(text).filter(|value| !value.is_zero()).map(|value| p.jq_timeout = value)
        },
    ),
    definition("controller.log.format", "logformat", |p, text| {
        text.clone_into(&mut p.log_format);
        Some(())
    }),
    definition("controller.log.level", "loglevel", |p, text| {
        text.clone_into(&mut p.log_level);
        Some(())
    }),
    definition("log.format.timestamp", "", |p, text| {
        text.clone_into(&mut p.log_format_timestamp);
        Some(())
    }),
    definition("controller.metrics.cache.expiration", "metrics-cache-expiration", |p, text| {
        positive_duration(text).map(|value| p.metrics_cache_expiration = value)
    }),
    definition("controller.k8s.client.qps", "", |p, text| {
        let qps = text.parse::<f64>().ok().filter(|value| *value >= 0.0 && value.is_finite());
        qps.map(|value| p.k8s_client_qps = value)
    }),
    definition("controller.k8s.client.burst", "", |p, text| count(text).map(|value| p.k8s_client_burst = value)),
    definition("controller.k8sclient.retry.max", "", |p, text| count(text).map(|value| p.k8s_client_retry_max = value)),
    definition("controller.k8sclient.retry.base.backoff", "", |p, text| {
        whole(text).map(|value| p.k8s_client_retry_base_backoff = SignedDuration::from_millis(value))
    }),
    definition("controller.k8s.tcp.timeout", "", |p, text| {
        positive_duration(text).map(|value| p.k8s_tcp_timeout = value)
    }),
    definition("controller.cluster.cache.batch.events.processing", "", |p, text| {
        flag(text).map(|value| p.batch_events_processing = value)
    }),
    definition("controller.cluster.cache.events.processing.interval", "", |p, text| {
        positive_duration(text).map(|value| p.events_processing_interval = value)
    }),
    definition("hydrator.enabled", "hydrator-enabled", |p, text| flag(text).map(|value| p.hydrator_enabled = value)),
    definition("", "app-resync", |p, text| seconds(text).map(|value| p.app_resync = Some(value))),
    definition("", "app-resync-jitter", |p, text| seconds(text).map(|value| p.app_resync_jitter = Some(value))),
    definition("", "app-hard-resync", |p, text| seconds(text).map(|value| p.app_hard_resync = Some(value))),
    definition("", "metrics-application-labels", |p, text| {
        p.metrics_application_labels = trimmed_list(text);
        Some(())
    }),
    definition("", "enable-k8s-event", |p, text| {
        p.enable_k8s_event = trimmed_list(text);
        Some(())
    }),
    definition("reposerver.helm.manifest.max.extracted.size", "", |p, text| {
        bytes(text).map(|value| p.repo_server.helm_max_bytes = value)
    }),
    definition("reposerver.disable.helm.manifest.max.extracted.size", "", |p, text| {
        flag(text).map(|value| p.repo_server.helm_unlimited = value)
    }),
    definition("reposerver.oci.manifest.max.extracted.size", "", |p, text| {
        bytes(text).map(|value| p.repo_server.oci_max_bytes = value)
    }),
    definition("reposerver.disable.oci.manifest.max.extracted.size", "", |p, text| {
        flag(text).map(|value| p.repo_server.oci_unlimited = value)
    }),
    definition("reposerver.helm.user.agent", "", |p, text| {
        text.clone_into(&mut p.repo_server.helm_user_agent);
        Some(())
    }),
    definition("reposerver.oci.layer.media.types", "", |p, text| {
        p.repo_server.oci_media_types = trimmed_list(text);
        Some(())
    }),
];

fn definitions() -> impl Iterator<Item = &'static Definition> {
    DEFINITIONS.iter().chain(application_sets::DEFINITIONS)
}

/// A value that could not be used.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum ParameterError {
    /// The value cannot be read or is out of range.
    #[error("invalid value {value:?} for {name}")]
    Invalid {
        /// Key or flag.
        name: String,
        /// The value.
        value: String,
    },
    /// There is no such flag, or it has no meaning here.
    #[error("unknown flag {0}")]
    UnknownFlag(String),
}

impl Parameters {
    /// Reads the data of `argocd-cmd-params-cm`. Values that cannot be used give the default and are returned for the
    /// log; keys without a meaning here are accepted and ignored.
    pub fn from_config_map(data: &BTreeMap<String, String>) -> (Self, Vec<ParameterError>) {
        let mut parameters = Self::default();
        let mut problems = Vec::new();
        for definition in definitions().filter(|definition| !definition.key.is_empty()) {
            // An empty value reaches Argo CD as an unset variable.
            let Some(text) = data.get(definition.key).filter(|text| !text.is_empty()) else { continue };
            if (definition.set)(&mut parameters, text).is_none() {
                problems.push(ParameterError::Invalid { name: definition.key.to_owned(), value: text.clone() });
            }
        }
        (parameters, problems)
    }

    /// Sets one parameter by the name of Argo CD's flag, without dashes; flags win over the ConfigMap.
    ///
    /// # Errors
    /// The flag is unknown or its value cannot be read: unlike a key, a flag is refused.
    pub fn set_flag(&mut self, name: &str, value: &str) -> Result<(), ParameterError> {
        let definition = definitions()
            .find(|definition| !definition.flag.is_empty() && definition.flag == name)
            .ok_or_else(|| ParameterError::UnknownFlag(name.to_owned()))?;
        (definition.set)(self, value)
            .ok_or_else(|| ParameterError::Invalid { name: name.to_owned(), value: value.to_owned() })
    }

    /// Names of all flags that [`Self::set_flag`] takes.
    pub fn flags() -> impl Iterator<Item = &'static str> {
        definitions().map(|definition| definition.flag).filter(|flag| !flag.is_empty())
    }

    /// Names of all keys that [`Self::from_config_map`] reads.
    pub fn keys() -> impl Iterator<Item = &'static str> {
        definitions().map(|definition| definition.key).filter(|key| !key.is_empty())
    }

    /// Whether Applications of a namespace are handled (APP-232).
    pub fn is_app_namespace_allowed(&self, namespace: &str, controller_namespace: &str) -> bool {
        let patterns = self.application_namespaces.iter().map(String::as_str);
        namespace == controller_namespace || matches_any(patterns, namespace, PatternMatch::Regexp)
    }
}

pub(super) fn trimmed_list(text: &str) -> Vec<String> {
    text.split(',').map(|part| part.trim().to_owned()).collect()
}

pub(super) fn flag(text: &str) -> Option<bool> {
    match text.to_ascii_lowercase().as_str() {
        "true" => Some(true),
        "false" => Some(false),
        _ => None,
    }
}

fn whole(text: &str) -> Option<i64> {
    text.parse::<i64>().ok().filter(|value| (0..=i64::from(i32::MAX)).contains(value))
}

pub(super) fn count(text: &str) -> Option<usize> {
    whole(text).and_then(|value| usize::try_from(value).ok())
}

fn number(text: &str) -> Option<u32> {
    whole(text).and_then(|value| u32::try_from(value).ok())
}

fn seconds(text: &str) -> Option<SignedDuration> {
    whole(text).map(SignedDuration::from_secs)
}

pub(super) fn positive_duration(text: &str) -> Option<SignedDuration> {
    duration::parse_setting(text).filter(|value| !value.is_negative())
}

fn whole_seconds(value: SignedDuration) -> SignedDuration {
    SignedDuration::from_secs(value.as_secs())
}
