//! Storage systems and backups.

use serde_json::Value;

use super::Kinds;
use super::rule::{Step, Step::*, Test::*, conditions, is_match};
use crate::health::Code::{Degraded, Healthy, Progressing, Suspended, Unknown};
use crate::health::Health;
use crate::health::read::{at, text};

const ASTRA_RUN: &[Step] = &[
    Match(
        "status.state",
        &[
            ("Completed", Healthy, "{.kind} Completed"),
            ("Running", Progressing, "{.kind} Running"),
            ("*", Degraded, "{.status.state}"),
        ],
    ),
    Else(Progressing, "No status available"),
];

pub(super) const KINDS: Kinds = &[
    ("ceph.rook.io/CephCluster", &[By(ceph_cluster)]),
    ("ceph.rook.io/CephObjectStore", &[By(ceph_object_store)]),
    (
        "objectbucket.io/ObjectBucketClaim",
        &[
            Match(
                "status.phase",
                &[
                    ("Bound", Healthy, "Object bucket claim phase is Bound"),
                    ("Failed", Degraded, "Object bucket claim phase is Failed"),
                    ("*", Progressing, "Object bucket claim phase is {.status.phase}"),
                ],
            ),
            When(&[Has("status")], Progressing, "Waiting for phase to be reported"),
            Else(Progressing, "Waiting for status to be reported"),
        ],
    ),
    (
        "ocs.openshift.io/StorageCluster",
        &[
            Walk(&[("Degraded=True", Degraded, "{message}")]),
            Walk(&[("Progressing=True", Progressing, "{message}")]),
            Walk(&[("Available=True", Healthy, "{message}")]),
            Else(Unknown, "StorageCluster is in an unknown state."),
        ],
    ),
    (
        "minio.min.io/Tenant",
        &[
            Match(
                "status.currentState",
                &[
                    ("Initialized", Healthy, "{.status.currentState}"),
                    (
                        "Statefulset not controlled by operator|Another MinIO Tenant already exists in the namespace\
                         |Tenant credentials are not set properly|Different versions across MinIO Pools\
                         |Pool Decommissioning Not Allowed",
                        Degraded,
                        "{.status.currentState}",
                    ),
                    ("*", Progressing, "{.status.currentState}"),
                ],
            ),
            Else(Progressing, "No status info available"),
        ],
    ),
    (
        "trident.netapp.io/TridentBackendConfig",
        &[
            When(
                &[Is("status.phase", "Bound"), Is("status.lastOperationStatus", "Success")],
                Healthy,
                "{.status.message}",
            ),
            When(&[Is("status.lastOperationStatus", "Failed")], Degraded, "{.status.message}"),
            Else(Progressing, "Waiting for backend creation"),
        ],
    ),
    (
        "trident.netapp.io/TridentOrchestrator",
        &[
            Match(
                "status.status",
                &[("Installed", Healthy, "{.status.message}"), ("Failed|Error", Degraded, "{.status.message}")],
            ),
            Else(Progressing, "Waiting for trident installation"),
        ],
    ),
    ("astra.netapp.io/Backup", ASTRA_RUN),
    ("astra.netapp.io/ExecHooksRun", ASTRA_RUN),
    ("astra.netapp.io/ResourceBackup", ASTRA_RUN),
    ("astra.netapp.io/ResticVolumeBackup", ASTRA_RUN),
    ("astra.netapp.io/Snapshot", ASTRA_RUN),
    (
        "astra.netapp.io/AppVault",
        &[
            Match(
                "status.state",
                &[("available|Available", Healthy, "{.kind} Available"), ("failed|Failed", Degraded, "{.kind} Failed")],
            ),
            Else(Progressing, "No status available"),
        ],
    ),
    (
        "astra.netapp.io/Application",
        &[
            Walk(&[
                ("Ready=True", Healthy, "Astra Application Ready, protectionState: {.status.protectionState!7}"),
                ("Ready=False", Degraded, "Astra Application Degraded, message: {message!11}"),
            ]),
            Else(Progressing, "No status available"),
        ],
    ),
    (
        "astra.netapp.io/ExecHook",
        &[
            Match("spec.enabled", &[("true", Healthy, "{.kind} enabled"), ("false", Suspended, "{.kind} disabled")]),
            Else(Progressing, "No status available"),
        ],
    ),
    (
        "astra.netapp.io/Schedule",
        &[
            When(
                &[Has("status.lastScheduleTime")],
                Healthy,
                "Protection policy lastScheduleTime: {.status.lastScheduleTime}",
            ),
            Else(Healthy, "Protection policy not yet executed"),
        ],
    ),
    ("cdi.kubevirt.io/DataVolume", &[By(data_volume)]),
];

fn ceph_cluster(object: &Value) -> Option<Health> {
    if at(object, "status").is_null() {
        return Some(Health::new(Progressing, "Waiting for status to be reported"));
    }
    let mut code = Progressing;
    let mut parts = Vec::new();
    if let Some(health) = at(object, "status.ceph.health").as_str() {
        code = match health {
            "HEALTH_ERR" | "HEALTH_WARN" => Degraded,
            "HEALTH_OK" => Healthy,
            _ => Progressing,
        };
        parts.push(format!("Ceph health is {health}{}", ceph_details(object)));
    }
    if let (Healthy, Some(state)) = (code, at(object, "status.state").as_str()) {
        code = match state {
            "Created" | "Connected" => Healthy,
            "Error" => Degraded,
            _ => Progressing,
        };
        parts.push(format!("Ceph cluster state is {state}"));
    }
    let message = text(object, "status.message");
    if !message.is_empty() {
        parts.push(message.to_owned());
    }
    Some(Health::new(code, parts.join(" - ")))
}

/// The details' messages in the order of their names.
fn ceph_details(object: &Value) -> String {
    let messages: Vec<&str> = at(object, "status.ceph.details")
        .as_object()
        .into_iter()
        .flat_map(|details| details.values())
        .filter_map(|detail| at(detail, "message").as_str())
        .collect();
    if messages.is_empty() { String::new() } else { format!(" ({})", messages.join("; ")) }
}

fn ceph_object_store(object: &Value) -> Option<Health> {
    let phase = at(object, "status.phase").as_str();
    let code = match phase {
        Some("Ready") => Healthy,
        Some("Failure") => Degraded,
        _ => Progressing,
    };
    let mut message = match phase {
        Some(phase) => format!("Ceph object store phase is {phase}"),
        None => "Waiting for status to be reported".to_owned(),
    };
    let endpoint = text(object, "status.info.endpoint");
    if !endpoint.is_empty() {
        message = format!("{message} - endpoint: {endpoint}");
    }
    Some(Health::new(code, message))
}

fn data_volume(object: &Value) -> Option<Health> {
    let phase = at(object, "status.phase").as_str();
    let code = match phase {
        Some("Succeeded") => Healthy,
        Some("Failed" | "Unknown") => Degraded,
        Some("Paused") => Suspended,
        _ => Progressing,
    };
    let failed = conditions(object).iter().find(|condition| is_match("Running=False/Error", condition));
    Some(match (code, failed) {
        (Progressing | Degraded, Some(failed)) => Health::new(Degraded, text(failed, "message")),
        (code, _) => Health::new(code, phase.unwrap_or("No status available")),
    })
}
