//! Kinds of Kubernetes and its special interest groups that Argo CD does not check in code.

use super::Kinds;
use super::rule::{Step, Step::*, Test::*, nothing, unjoined};
use crate::health::Code::{Degraded, Healthy, Progressing};
use crate::health::Health;
use crate::health::read::{list, text};
use serde_json::Value;

const SNAPSHOT: &[Step] = &[
    When(&[Is("status.readyToUse", "true")], Healthy, "Ready to use"),
    When(&[Has("status.error")], Degraded, "{.status.error.message}"),
    Else(Progressing, "Waiting for status"),
];

pub(super) const KINDS: Kinds = &[
    (
        "apiextensions.k8s.io/CustomResourceDefinition",
        &[
            When(&[Has("metadata.deletionTimestamp")], Progressing, "CRD is terminating"),
            Fails(&[Lacks("status")], nothing!(10, "conditions")),
            When(&[Lacks("status.conditions")], Progressing, "Status conditions not found"),
            When(&[Empty("status.conditions")], Progressing, "Status conditions not found"),
            Walk(&[
                ("Terminating=True", Progressing, "CRD is terminating: {message!30}"),
                ("NamesAccepted=False", Degraded, "CRD names have not been accepted: {message!37}"),
                ("NonStructuralSchema=True", Degraded, "Schema violations found: {message!44}"),
                ("Established=!True/Installing", Progressing, "CRD is being installed"),
            ]),
            When(&[Condition("Established=True")], Healthy, "CRD is healthy"),
            Else(Degraded, "CRD is not established"),
        ],
    ),
    (
        "batch/CronJob",
        &[
            Fails(&[Lacks("spec")], nothing!(3, "suspend")),
            When(&[Is("spec.suspend", "true")], Healthy, "CronJob is Suspended"),
            When(&[Lacks("status")], Progressing, "Waiting for CronJob"),
            When(&[Lacks("status.lastScheduleTime")], Healthy, "CronJob has not been scheduled yet"),
            When(
                &[Lacks("status.lastSuccessfulTime")],
                Healthy,
                "The CronJob never completed successfully. It may not be healthy",
            ),
            By(cron_job_runs),
        ],
    ),
    (
        "policy/PodDisruptionBudget",
        &[
            Fails(&[Unsaid("*=!False", "reason")], unjoined!(18, "string and nil")),
            Walk(&[("*=False/!InsufficientPods", Degraded, "PodDisruptionBudget has {reason!14}")]),
            Last(&[("*", Healthy, "PodDisruptionBudget has {reason}")]),
            Else(Progressing, "Waiting for status"),
        ],
    ),
    ("snapshot.storage.k8s.io/VolumeSnapshot", SNAPSHOT),
    ("snapshot.storage.k8s.io/VolumeSnapshotContent", SNAPSHOT),
];

/// A CronJob that was scheduled and once succeeded: is it running, and did the last run succeed?
fn cron_job_runs(object: &Value) -> Option<Health> {
    if !list(object, "status.active").is_empty() {
        return Some(Health::new(Healthy, "The job is running. Its last execution may not have been successful"));
    }
    // Both times are RFC 3339 in UTC and whole seconds, so their texts sort as the times do.
    Some(if text(object, "status.lastSuccessfulTime") < text(object, "status.lastScheduleTime") {
        Health::new(Degraded, "CronJob has not completed its last execution successfully")
    } else {
        Health::new(Healthy, "CronJob has completed its last execution successfully")
    })
}
