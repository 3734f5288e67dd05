//! Monitoring, logging, tracing and their tools.

use serde_json::Value;

use super::Kinds;
use super::rule::{Step, Step::*, Test::*, conditions, nothing};
use crate::health::Code::{Degraded, Healthy, Missing, Progressing, Suspended, Unknown};
use crate::health::Health;
use crate::health::read::{at, text};

const CORALOGIX: &[Step] = &[
    Walk(&[("RemoteSynced=True", Healthy, "Resource is ready"), ("RemoteSynced=False", Degraded, "{message}")]),
    Else(Progressing, "Waiting for status to be updated"),
];
const HUMIO: &[Step] = &[
    Match(
        "status.state",
        &[
            ("Exists", Healthy, "Component state: Exists."),
            ("NotFound", Missing, "Component state: NotFound."),
            ("ConfigError", Degraded, "Component state: ConfigError."),
            ("Unknown", Unknown, "Component state: Unknown."),
        ],
    ),
    Else(Progressing, "Update in progress"),
];
const GRAFANA_CONTENT: &[Step] = &[By(grafana_content)];

/// A Keptn task of a delivery, which states the end of its run at a path.
macro_rules! keptn {
    ($kind:literal, $path:literal, $field:literal) => {
        &[
            Fails(&[Lacks("status")], nothing!(2, $field)),
            When(&[Is($path, "Succeeded")], Healthy, concat!($kind, " is healthy")),
            When(&[Is($path, "Failed")], Degraded, concat!($kind, " is degraded")),
            Else(Progressing, concat!($kind, " is progressing")),
        ]
    };
}

pub(super) const KINDS: Kinds = &[
    (
        "monitoring.coreos.com/Prometheus",
        &[
            Walk(&[
                ("Available=True", Healthy, "All instances are available"),
                ("Available=!True/SomePodsNotReady", Progressing, "{message|@reason}"),
                ("Available=!True", Degraded, "{message|@reason}"),
            ]),
            Else(Progressing, "Waiting for initialization"),
        ],
    ),
    ("grafana.integreatly.org/GrafanaDashboard", GRAFANA_CONTENT),
    ("grafana.integreatly.org/GrafanaFolder", GRAFANA_CONTENT),
    (
        "grafana.integreatly.org/Grafana",
        &[
            When(&[Lacks("status.stageStatus")], Progressing, "Waiting for Grafana status info"),
            When(&[Is("status.stageStatus", "failed")], Degraded, "Failed at stage {.status.stage!14}"),
            When(&[Is("status.stage", "complete"), Is("status.stageStatus", "success")], Healthy, ""),
            Else(Progressing, "{.status.stage}"),
        ],
    ),
    (
        "grafana.integreatly.org/GrafanaDatasource",
        &[
            When(&[Lacks("status")], Progressing, ""),
            When(&[Is("status.uid", "")], Progressing, ""),
            When(&[Is("status.NoMatchingInstances", "true")], Degraded, "can't find matching grafana instance"),
            Else(Healthy, ""),
        ],
    ),
    (
        "opentelemetry.io/OpenTelemetryCollector",
        &[
            Fails(&[Has("status"), Lacks("status.scale.statusReplicas"), Lacks("spec")], nothing!(39, "mode")),
            By(collector),
        ],
    ),
    (
        "jaegertracing.io/Jaeger",
        &[
            When(&[Is("status.phase", "Running")], Healthy, "Jaeger is Running"),
            When(&[Is("status.phase", "Failed")], Degraded, "Jaeger Failed For Some Reason"),
            Else(Progressing, "Waiting for Jaeger"),
        ],
    ),
    (
        "kiali.io/Kiali",
        &[
            Walk(&[
                ("Successful=True", Healthy, "{message}"),
                ("Failure=True", Degraded, "{message}"),
                ("Running=*/Running", Progressing, "{message}"),
            ]),
            Else(Progressing, "Waiting for Kiali"),
        ],
    ),
    (
        "datadoghq.com/DatadogMetric",
        &[
            Walk(&[
                ("Error=True/!", Degraded, "{reason}: {message|DatadogMetric reported an error}"),
                ("Error=True", Degraded, "{message|DatadogMetric reported an error}"),
            ]),
            Walk(&[("Valid=False", Degraded, "{message|DatadogMetric is not valid}")]),
            Else(Healthy, "DatadogMetric is healthy"),
        ],
    ),
    ("coralogix.com/Alert", CORALOGIX),
    ("coralogix.com/RecordingRuleGroupSet", CORALOGIX),
    ("core.humio.com/HumioAction", HUMIO),
    ("core.humio.com/HumioAlert", HUMIO),
    ("core.humio.com/HumioIngestToken", HUMIO),
    ("core.humio.com/HumioParser", HUMIO),
    ("core.humio.com/HumioRepository", HUMIO),
    ("core.humio.com/HumioView", HUMIO),
    (
        "core.humio.com/HumioCluster",
        &[
            Fails(&[Lacks("status")], nothing!(9, "message")),
            Match(
                "status.state",
                &[
                    ("Running", Healthy, "{.status.message|Cluster is in a healthy running state}"),
                    ("Restarting", Progressing, "{.status.message|Cluster pods are being restarted}"),
                    ("Upgrading", Progressing, "{.status.message|Cluster pods are being upgraded}"),
                    (
                        "ConfigError",
                        Degraded,
                        "{.status.message|User-provided cluster specification resulted in a configuration error}",
                    ),
                    ("Pending", Progressing, "{.status.message|Cluster is waiting on resources to be provisioned}"),
                    ("Unknown", Unknown, "{.status.message|Component state: Unknown.}"),
                ],
            ),
            Else(Progressing, "Update in progress"),
        ],
    ),
    ("lifecycle.keptn.sh/KeptnAppVersion", keptn!("KeptnAppVersion", "status.status", "status")),
    ("lifecycle.keptn.sh/KeptnEvaluation", keptn!("KeptnEvaluation", "status.overallStatus", "overallStatus")),
    ("lifecycle.keptn.sh/KeptnTask", keptn!("KeptnTask", "status.status", "status")),
    ("lifecycle.keptn.sh/KeptnWorkloadInstance", keptn!("KeptnWorkloadInstance", "status.status", "status")),
    ("lifecycle.keptn.sh/KeptnWorkloadVersion", keptn!("KeptnWorkloadVersion", "status.status", "status")),
    (
        "metrics.keptn.sh/Analysis",
        &[
            Fails(&[Lacks("status")], nothing!(2, "pass")),
            When(&[Is("status.pass", "true")], Healthy, "Analysis is healthy"),
            When(&[Is("status.warning", "true")], Healthy, "Analysis is healthy with warnings"),
            When(&[Is("status.pass", "false")], Degraded, "Analysis is degraded"),
            Else(Progressing, "Analysis is progressing"),
        ],
    ),
    (
        "metrics.keptn.sh/KeptnMetric",
        &[
            Fails(&[Lacks("status")], nothing!(2, "errMsg")),
            When(&[Is("status.errMsg", "!")], Degraded, "KeptnMetric is degraded"),
            When(&[Has("status.value")], Healthy, "KeptnMetric is healthy"),
            Else(Progressing, "KeptnMetric is progressing"),
        ],
    ),
];

pub(super) const WILDCARDS: Kinds = &[
    (
        "grafana-org-operator.kubitus-project.gitlab.io/*",
        &[
            Walk(&[
                ("Ready=False", Degraded, "{message}"),
                ("Ready=True", Healthy, "{message}"),
                ("Ready", Progressing, "{message}"),
            ]),
            Else(Progressing, "Waiting ..."),
        ],
    ),
    (
        "operator.victoriametrics.com/*",
        &[
            When(&[Lacks("status")], Progressing, "Waiting for the operator to reconcile"),
            When(
                &[Has("metadata.generation"), Stale("status.observedGeneration")],
                Progressing,
                "Waiting for the operator to reconcile",
            ),
            When(&[Is("status.updateStatus", "operational")], Healthy, "All components are operational"),
            By(victoria_metrics),
            Else(Progressing, "Waiting for the operator to report status"),
        ],
    ),
];

fn victoria_metrics(object: &Value) -> Option<Health> {
    let (code, default) = match text(object, "status.updateStatus") {
        "expanding" => (Progressing, "Reconciliation in progress"),
        "paused" => (Suspended, "Reconciliation is paused"),
        "failed" => (Degraded, "Reconciliation failed"),
        _ => return None,
    };
    let reason = text(object, "status.reason");
    Some(Health::new(code, if reason.is_empty() { default } else { reason }))
}

/// Strings the conditions together up to the first failed one.
fn grafana_content(object: &Value) -> Option<Health> {
    let mut parts = Vec::new();
    let mut code = Progressing;
    for condition in conditions(object).iter().filter(|condition| at(condition, "status").is_string()) {
        parts.push(grafana_words(condition));
        match text(condition, "status") {
            "False" => {
                code = Degraded;
                break;
            }
            "True" => code = Healthy,
            _ => {}
        }
    }
    Some(Health::new(code, parts.join(", ")))
}

/// `reason for type because message`, as far as the condition says.
fn grafana_words(condition: &Value) -> String {
    let mut words = String::new();
    for (field, link) in [("reason", ""), ("type", " for "), ("message", " because ")] {
        let Some(text) = at(condition, field).as_str() else { break };
        words.push_str(link);
        words.push_str(text);
    }
    words
}

fn collector(object: &Value) -> Option<Health> {
    let mode = text(object, "spec.mode");
    let replicas = at(object, "status.scale.statusReplicas");
    Some(if at(object, "status").is_null() {
        Health::new(Progressing, "Waiting for OpenTelemetry Collector status")
    } else if let Some(replicas) = replicas.as_str() {
        collector_scale(replicas, mode)
    } else if mode == "sidecar" {
        Health::new(Healthy, "Collector is running in sidecar mode")
    } else {
        Health::new(Progressing, "Scale status not available")
    })
}

/// Reads `ready/total`.
fn collector_scale(replicas: &str, mode: &str) -> Health {
    let counts = replicas
        .split_once('/')
        .and_then(|(ready, total)| Some((ready.parse::<u64>().ok()?, total.parse::<u64>().ok()?)));
    match counts {
        None => Health::new(Progressing, format!("Unable to parse replica status: {replicas}")),
        Some((0, 0)) if mode == "daemonset" => Health::new(Healthy, "DaemonSet has no eligible nodes (0/0)"),
        Some((0, _)) => Health::new(Degraded, "No replicas are ready"),
        Some((ready, total)) if ready == total => Health::new(Healthy, "All replicas are ready"),
        Some(_) => Health::new(Progressing, "Replicas are starting up"),
    }
}
