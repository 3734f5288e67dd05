//! Databases and schema migrations.

use serde_json::Value;

use super::Kinds;
use super::rule::{Step, Step::*, Test::*, conditions, nothing, unjoined};
use crate::health::Code::{Degraded, Healthy, Progressing, Suspended, Unknown};
use crate::health::Health;
use crate::health::read::{at, list, plain, text};

const MARIADB: &[Step] = &[
    Walk(&[("*=False/Failed", Degraded, "{message}"), ("*=False", Progressing, "{message}")]),
    Last(&[("*", Healthy, "{message}")]),
    When(&[Has("status.conditions")], Healthy, ""),
    Else(Progressing, "No status info available"),
];
const MARIADB_CONTENT: &[Step] = &[
    Walk(&[("Ready=True", Healthy, "{message}"), ("Ready", Degraded, "{message}")]),
    Last(&[("*", Progressing, "{message}")]),
    Else(Progressing, "No status info available"),
];

/// An installation by the ClickHouse operator.
macro_rules! clickhouse {
    ($what:literal) => {
        &[
            Match(
                "status.status",
                &[
                    ("Completed", Healthy, concat!($what, " installation completed successfully")),
                    ("InProgress", Progressing, concat!($what, " installation in progress")),
                    ("*", Degraded, concat!($what, " status: {.status.status}")),
                ],
            ),
            Else(Progressing, concat!($what, " status not yet available")),
        ]
    };
}

pub(super) const KINDS: Kinds = &[
    (
        "postgresql.cnpg.io/Cluster",
        &[By(hibernation), Fails(&[Lacks("status")], nothing!(68, "phaseReason")), By(cnpg_phase)],
    ),
    (
        "acid.zalan.do/postgresql",
        &[
            Match(
                "status.PostgresClusterStatus",
                &[
                    ("Running", Healthy, "{.status.PostgresClusterStatus}"),
                    ("Creating|Updating", Progressing, "{.status.PostgresClusterStatus}"),
                    ("*", Degraded, "{.status.PostgresClusterStatus}"),
                ],
            ),
            Else(Progressing, "Waiting for postgres cluster status..."),
        ],
    ),
    ("mariadb.mmontes.io/MariaDB", MARIADB),
    ("k8s.mariadb.com/MariaDB", MARIADB),
    ("k8s.mariadb.com/Database", MARIADB_CONTENT),
    ("k8s.mariadb.com/Grant", MARIADB_CONTENT),
    ("k8s.mariadb.com/User", MARIADB_CONTENT),
    (
        "k8s.mariadb.com/Backup",
        &[
            Fails(&[Unsaid("*", "message")], unjoined!(7, "string and nil")),
            Fails(&[Unsaid("*", "reason")], unjoined!(7, "nil and string")),
            By(mariadb_backup),
            Else(Progressing, "No status info available"),
        ],
    ),
    (
        "k8s.mariadb.com/SqlJob",
        &[
            Fails(&[Unsaid("*", "message")], unjoined!(9, "string and nil")),
            Fails(&[Unsaid("*", "reason")], unjoined!(9, "nil and string")),
            Walk(&[
                ("*=True/JobComplete", Healthy, "{reason} {message}"),
                ("*=True/JobFailed", Degraded, "{reason} {message}"),
            ]),
            Last(&[("*", Progressing, "{reason} {message}")]),
            Else(Progressing, "No status info available"),
        ],
    ),
    (
        "pxc.percona.com/PerconaXtraDBCluster",
        &[
            Fails(&[Is("status.state", "initializing"), That(is_uncounted)], unjoined!(6, "nil and string")),
            Fails(&[Is("status.state", "ready"), That(is_uncounted)], unjoined!(12, "nil and string")),
            Fails(&[Is("status.state", "stopping"), That(is_uncounted)], unjoined!(24, "nil and string")),
            Fails(
                &[Is("status.state", "error"), Lacks("status.message")],
                "<string>:30: bad argument #1 to concat (table expected, got nil)",
            ),
            By(xtradb),
        ],
    ),
    (
        "psmdb.percona.com/PerconaServerMongoDB",
        &[
            Fails(&[Has("status"), That(is_uncounted)], unjoined!(12, "nil and string")),
            By(mongodb),
            Else(Unknown, "Cluster status is unknown"),
        ],
    ),
    ("cassandra.rook.io/Cluster", &[By(cassandra), Else(Progressing, "Waiting for Cassandra Cluster")]),
    ("clickhouse.altinity.com/ClickHouseInstallation", clickhouse!("ClickHouse")),
    ("clickhouse-keeper.altinity.com/ClickHouseKeeperInstallation", clickhouse!("ClickHouseKeeper")),
    ("zookeeper.pravega.io/ZookeeperCluster", &[By(zookeeper)]),
    (
        "db.atlasgo.io/AtlasMigration",
        &[
            Walk(&[
                ("Ready=True", Healthy, "{reason}"),
                ("Ready=*/Reconciling", Progressing, "{reason}"),
                ("Ready", Degraded, "{reason}"),
            ]),
            Else(Progressing, "Waiting for Atlas Operator"),
        ],
    ),
    ("db.atlasgo.io/AtlasSchema", &[By(atlas_schema), Else(Progressing, "Waiting for Atlas Operator")]),
];

fn hibernation(object: &Value) -> Option<Health> {
    let annotation = object.pointer("/metadata/annotations/cnpg.io~1reconciliationLoop");
    if annotation.and_then(Value::as_str) == Some("disabled") {
        return Some(Health::new(Suspended, "Cluster reconciliation is suspended"));
    }
    let hibernation = conditions(object).iter().find(|found| text(found, "type") == "cnpg.io/hibernation")?;
    let code = if text(hibernation, "status") == "True" { Suspended } else { Degraded };
    Some(Health::new(code, text(hibernation, "message")))
}

fn cnpg_phase(object: &Value) -> Option<Health> {
    let code = match text(object, "status.phase") {
        _ if at(object, "status.conditions").is_null() => Progressing,
        "Cluster in healthy state" => Healthy,
        "Setting up primary"
        | "Creating a new replica"
        | "Upgrading cluster"
        | "Waiting for the instances to become active"
        | "Promoting to primary cluster" => Progressing,
        "Switchover in progress"
        | "Failing over"
        | "Upgrading Postgres major version"
        | "Cluster upgrade delayed"
        | "Waiting for user action"
        | "Primary instance is being restarted in-place"
        | "Primary instance is being restarted without a switchover"
        | "Cluster cannot execute instance online upgrade due to missing architecture binary"
        | "Online upgrade in progress"
        | "Applying configuration" => Degraded,
        "Unable to create required cluster objects"
        | "Cluster cannot proceed to reconciliation due to an unknown plugin being required"
        | "Cluster has incomplete or invalid image catalog"
        | "Cluster is unrecoverable and needs manual intervention" => Suspended,
        _ => Unknown,
    };
    Some(Health::new(code, text(object, "status.phaseReason")))
}

fn mariadb_backup(object: &Value) -> Option<Health> {
    if at(object, "status.conditions").is_null() {
        return None;
    }
    let failed = conditions(object).iter().find(|condition| text(condition, "status") == "False");
    let Some(condition) = failed.or(conditions(object).last()) else {
        return Some(Health::new(Healthy, ""));
    };
    let (reason, message) = (text(condition, "reason"), text(condition, "message"));
    let code = match (failed.is_some(), reason, message) {
        (false, ..) => Healthy,
        (true, "CronJobScheduled", "Failed") => Degraded,
        (true, ..) => Progressing,
    };
    Some(Health::new(code, format!("{reason} {message}")))
}

/// Whether a Percona cluster does not say how many of its nodes are ready, or how many it has.
fn is_uncounted(object: &Value) -> bool {
    at(object, "status.ready").is_null() || at(object, "status.size").is_null()
}

/// `ready/size` of a Percona cluster.
fn percona_nodes(object: &Value) -> String {
    format!("{}/{} node(s) are ready", plain(at(object, "status.ready")), plain(at(object, "status.size")))
}

fn xtradb(object: &Value) -> Option<Health> {
    let nodes = percona_nodes(object);
    Some(match text(object, "status.state") {
        "initializing" => Health::new(Progressing, nodes),
        "ready" => Health::new(Healthy, nodes),
        "paused" => Health::new(Unknown, "Cluster is paused"),
        "stopping" => Health::new(Degraded, format!("Cluster is stopping ({nodes})")),
        "error" => {
            let errors: Vec<String> = list(object, "status.message").iter().map(plain).collect();
            Health::new(Degraded, format!("Cluster is on error: {}", errors.join(", ")))
        }
        _ => Health::new(
            Unknown,
            "Cluster status is unknown. Ensure your ArgoCD is current and then check for/file a bug report: \
             https://github.com/argoproj/argo-cd/issues",
        ),
    })
}

fn mongodb(object: &Value) -> Option<Health> {
    if at(object, "status").is_null() {
        return None;
    }
    let code = match text(object, "status.state") {
        "initializing" | "stopping" => Progressing,
        "ready" => Healthy,
        "error" => Degraded,
        "paused" => Suspended,
        _ => Unknown,
    };
    Some(Health::new(code, percona_nodes(object)))
}

fn cassandra(object: &Value) -> Option<Health> {
    let racks = at(object, "status.racks").as_object()?;
    let is_short = |rack: &Value| {
        let (members, ready) = (at(rack, "members"), at(rack, "readyMembers"));
        !members.is_null() && !ready.is_null() && members != ready
    };
    (!racks.values().any(is_short)).then(|| Health::new(Healthy, ""))
}

fn zookeeper(object: &Value) -> Option<Health> {
    let ready = at(object, "status.readyReplicas");
    let has_joined = !at(object, "status").is_null()
        && ready.as_i64() != Some(0)
        && ready.as_i64() == at(object, "status.replicas").as_i64();
    Some(if has_joined {
        Health::new(Healthy, "All ZK Nodes have joined the ensemble")
    } else {
        Health::new(Progressing, "Waiting for ZK Nodes to join the ensemble")
    })
}

fn atlas_schema(object: &Value) -> Option<Health> {
    let ready = conditions(object).iter().find(|condition| text(condition, "type") == "Ready")?;
    let code = match (text(ready, "status"), text(ready, "message")) {
        ("True", _) => Healthy,
        (_, "Reconciling" | "GettingDevDB") => Progressing,
        _ => Degraded,
    };
    Some(Health::new(code, text(ready, "reason")))
}
