//! Crossplane, its providers, and Google's Config Connector, which are known by wildcard groups.

use super::Kinds;
use super::rule::{Step::*, Test::*};
use crate::health::Code::{Degraded, Healthy, Progressing, Suspended};

/// A managed resource of the classic AWS provider.
macro_rules! aws {
    ($what:literal) => {
        &[
            When(&[Lacks("status.conditions")], Progressing, concat!("Waiting for ", $what, " to be created")),
            When(&[Condition("Ready=True"), Condition("Synced=True")], Healthy, "{Ready:reason}"),
            When(&[Condition("Synced=!True/ReconcilePaused")], Suspended, "{Synced:reason}"),
            When(
                &[Condition("Synced=True/!ReconcilePaused")],
                Progressing,
                concat!("Waiting for ", $what, " to be available"),
            ),
            When(&[Condition("Synced=*/ReconcileError")], Degraded, "{Synced:message}"),
            Else(Degraded, ""),
        ]
    };
}

pub(super) const KINDS: Kinds = &[
    ("cloudfront.aws.crossplane.io/Distribution", aws!("distribution")),
    ("iam.aws.crossplane.io/Policy", aws!("Policy")),
    ("iam.aws.crossplane.io/Role", aws!("Role")),
    ("iam.aws.crossplane.io/RolePolicyAttachment", aws!("RolePolicyAttachment")),
    ("rds.aws.crossplane.io/DBCluster", aws!("DBCluster")),
    ("rds.aws.crossplane.io/DBInstance", aws!("DBInstance")),
    ("route53.aws.crossplane.io/ResourceRecordSet", aws!("resourcrecordset")),
    ("s3.aws.crossplane.io/Bucket", aws!("Bucket")),
    (
        "pkg.crossplane.io/Provider",
        &[
            When(&[Lacks("status.conditions")], Progressing, "Waiting for provider to be installed"),
            When(
                &[Condition("Installed=True"), Condition("Healthy=True")],
                Healthy,
                "{Installed:reason!20} {Healthy:reason!20}",
            ),
            Else(Degraded, "{Installed:reason!20} {Healthy:reason!20}"),
        ],
    ),
    (
        "stacks.crossplane.io/ClusterStackInstall",
        &[
            Each("status.conditionedStatus.conditions", &[("Ready=True", Healthy, "{reason}")]),
            Each("status.conditionedStatus.conditions", &[("Ready", Progressing, "{reason}")]),
            Else(Progressing, "Waiting for stack to be installed"),
        ],
    ),
];

pub(super) const WILDCARDS: Kinds = &[
    (
        "*.cnrm.cloud.google.com/*",
        &[
            When(&[Stale("status.observedGeneration")], Progressing, "Update in progress"),
            When(
                &[Is("kind", "ConfigConnector|ConfigConnectorContext"), Is("status.healthy", "true")],
                Healthy,
                "{.kind} is healthy",
            ),
            When(
                &[Is("kind", "ConfigConnector|ConfigConnectorContext"), Has("status.healthy")],
                Degraded,
                "{.kind} is not healthy",
            ),
            Walk(&[
                ("*=True/UpToDate", Healthy, "{message}"),
                ("*=*/UpdateFailed|DependencyNotFound", Degraded, "{message}"),
                ("*=*/DependencyNotReady", Suspended, "{message}"),
            ]),
            Else(Progressing, "Update in progress"),
        ],
    ),
    (
        "*.crossplane.io/*",
        &[
            When(&[Lacks("status")], Healthy, "Resource is up-to-date."),
            When(
                &[
                    Empty("status"),
                    Is(
                        "kind",
                        "Composition|CompositionRevision|DeploymentRuntimeConfig|ClusterProviderConfig|ProviderConfig\
                         |ProviderConfigUsage|ControllerConfig",
                    ),
                ],
                Healthy,
                "Resource is up-to-date.",
            ),
            When(
                &[Lacks("status.conditions"), Is("kind", "ProviderConfig|ClusterProviderConfig"), Has("status.users")],
                Healthy,
                "Resource is in use.",
            ),
            Walk(&[("LastAsyncOperation|Synced=False", Degraded, "{message}")]),
            Walk(&[(
                "Ready|Healthy|Offered|Established|ValidPipeline|RevisionHealthy=True",
                Healthy,
                "Resource is up-to-date.",
            )]),
            Else(Progressing, "Provisioning ..."),
        ],
    ),
    (
        "*.upbound.io/*",
        &[
            When(&[Lacks("status")], Healthy, "Resource is up-to-date."),
            When(
                &[Empty("status"), Is("kind", "ClusterProviderConfig|ProviderConfig|ProviderConfigUsage")],
                Healthy,
                "Resource is up-to-date.",
            ),
            When(
                &[Lacks("status.conditions"), Is("kind", "ProviderConfig|ClusterProviderConfig"), Has("status.users")],
                Healthy,
                "Resource is in use.",
            ),
            Walk(&[("LastAsyncOperation|Synced=False", Degraded, "{message}")]),
            Walk(&[("Ready=True", Healthy, "Resource is up-to-date.")]),
            Else(Progressing, "Provisioning ..."),
        ],
    ),
];
