//! Brokers and what lives on them: Strimzi, Banzai and Confluent Kafka, RabbitMQ.

use serde_json::Value;

use super::Kinds;
use super::rule::{Step::*, Test::*, nothing};
use crate::health::Code::{Degraded, Healthy, Progressing, Unknown};
use crate::health::Health;
use crate::health::read::{at, int, text};

/// A kind of Strimzi, which states trouble as `NotReady`.
macro_rules! strimzi {
    ($waiting:literal) => {
        &[
            Walk(&[("NotReady=True", Degraded, "{message}"), ("Ready=True", Healthy, "")]),
            Else(Progressing, concat!("Waiting for ", $waiting)),
        ]
    };
}

/// A component of Confluent Platform.
macro_rules! confluent {
    ($what:literal) => {
        &[
            Match(
                "status.phase",
                &[
                    ("RUNNING", Healthy, concat!($what, " running")),
                    ("PROVISIONING", Progressing, concat!($what, " provisioning")),
                ],
            ),
            Else(Progressing, concat!("Waiting for ", $what)),
        ]
    };
}

/// An object inside a RabbitMQ cluster.
macro_rules! rabbitmq {
    ($what:literal) => {
        &[
            Walk(&[
                ("Ready=True/SuccessfulCreateOrUpdate", Healthy, concat!("RabbitMQ ", $what, " ready")),
                (
                    "Ready=False/FailedCreateOrUpdate",
                    Degraded,
                    concat!("RabbitMQ ", $what, " failed to be created or updated"),
                ),
            ]),
            Else(Unknown, concat!("RabbitMQ ", $what, " status is unknown")),
        ]
    };
}

pub(super) const KINDS: Kinds = &[
    (
        "kafka.strimzi.io/Kafka",
        &[
            // A cluster that is being created is not ready and not in trouble.
            Walk(&[("NotReady=True/!Creating", Degraded, "{message}"), ("Ready=True", Healthy, "")]),
            Else(Progressing, "Waiting for Kafka Cluster"),
        ],
    ),
    ("kafka.strimzi.io/KafkaBridge", strimzi!("KafkaBridge")),
    ("kafka.strimzi.io/KafkaConnect", strimzi!("Kafka Connect")),
    ("kafka.strimzi.io/KafkaConnector", strimzi!("KafkaConnector")),
    ("kafka.strimzi.io/KafkaTopic", strimzi!("Kafka Topic")),
    ("kafka.strimzi.io/KafkaUser", strimzi!("Kafka User")),
    (
        "kafka.banzaicloud.io/KafkaCluster",
        &[
            Fails(
                &[Is("status.state", "!ClusterRollingUpgrading"), That(has_untold_broker)],
                nothing!(14, "cruiseControlState"),
            ),
            By(banzai),
            Else(Progressing, "Waiting for KafkaCluster"),
        ],
    ),
    ("platform.confluent.io/Connect", confluent!("Connect")),
    ("platform.confluent.io/ControlCenter", confluent!("ControlCenter")),
    ("platform.confluent.io/Kafka", confluent!("Kafka")),
    ("platform.confluent.io/KsqlDB", confluent!("KsqlDB")),
    ("platform.confluent.io/SchemaRegistry", confluent!("SchemaRegistry")),
    ("platform.confluent.io/Zookeeper", confluent!("Zookeeper")),
    ("platform.confluent.io/Connector", &[By(connector), Else(Progressing, "Waiting for Kafka Connector")]),
    ("rabbitmq.com/Binding", rabbitmq!("binding")),
    ("rabbitmq.com/Exchange", rabbitmq!("exchange")),
    ("rabbitmq.com/Permission", rabbitmq!("permission")),
    ("rabbitmq.com/Policy", rabbitmq!("policy")),
    ("rabbitmq.com/Queue", rabbitmq!("queue")),
    ("rabbitmq.com/Shovel", rabbitmq!("shovel")),
    ("rabbitmq.com/User", rabbitmq!("user")),
    ("rabbitmq.com/Vhost", rabbitmq!("vhost")),
    (
        "rabbitmq.com/RabbitmqCluster",
        &[
            Walk(&[("ReconcileSuccess=False", Degraded, "{message}")]),
            Walk(&[(
                "ClusterAvailable|AllReplicasReady=Unknown",
                Progressing,
                "Waiting for RabbitMQ cluster readiness (conditions unknown)",
            )]),
            Walk(&[("ClusterAvailable=False", Progressing, "Waiting for RabbitMQ cluster formation")]),
            Walk(&[("AllReplicasReady=False", Progressing, "Waiting for RabbitMQ instances ready")]),
            When(
                &[Condition("ClusterAvailable=True"), Condition("AllReplicasReady=True")],
                Healthy,
                "RabbitMQ cluster ready",
            ),
            Else(Progressing, "Waiting for RabbitMQ Operator"),
        ],
    ),
];

fn banzai(object: &Value) -> Option<Health> {
    let state = text(object, "status.state");
    if state == "ClusterRollingUpgrading" {
        return Some(Health::new(Progressing, "Kafka Cluster is Rolling Upgrading."));
    }
    let brokers = at(object, "status.brokersState").as_object()?;
    if !brokers.values().all(is_broker_in_sync) {
        return Some(Health::new(Degraded, "Broker Config is out of Sync or CruiseControlState is not Ready"));
    }
    match (at(object, "status.cruiseControlTopicStatus").as_str(), state) {
        (Some("CruiseControlTopicReady"), "ClusterRunning") => {
            Some(Health::new(Healthy, "Kafka Brokers, CruiseControl and cluster are in Healthy State."))
        }
        (Some("CruiseControlTopicNotReady") | None, "ClusterReconciling") => {
            Some(Health::new(Progressing, "Kafka Cluster is Reconciling."))
        }
        _ => None,
    }
}

/// Whether a broker with the wanted configuration has no state of its last action.
fn has_untold_broker(object: &Value) -> bool {
    let is_untold = |broker: &Value| {
        text(broker, "configurationState") == "ConfigInSync" && at(broker, "gracefulActionState").is_null()
    };
    at(object, "status.brokersState").as_object().is_some_and(|brokers| brokers.values().any(is_untold))
}

fn is_broker_in_sync(broker: &Value) -> bool {
    text(broker, "configurationState") == "ConfigInSync"
        && matches!(
            text(broker, "gracefulActionState.cruiseControlState"),
            "GracefulUpscaleSucceeded" | "GracefulDownscaleSucceeded"
        )
}

fn connector(object: &Value) -> Option<Health> {
    let state = at(object, "status.state").as_str()?;
    let has_count = !at(object, "status.failedTasksCount").is_null();
    if state == "CREATED" && text(object, "status.connectorState") == "RUNNING" && !has_count {
        return Some(Health::new(Healthy, "Connector running"));
    }
    if state == "ERROR" {
        // The only condition nests what went wrong in its message.
        let message = at(object, "status.conditions").get(0).map(|first| text(first, "message"));
        return Some(Health::new(Degraded, message.unwrap_or("No conditions available")));
    }
    (int(object, "status.failedTasksCount") > 0).then(|| Health::new(Degraded, "Connector has failed tasks"))
}
