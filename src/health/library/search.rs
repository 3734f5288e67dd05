//! Search engines and the Elastic stack.

use serde_json::Value;

use super::Kinds;
use super::rule::{Step::*, Test::*, nothing};
use crate::health::Code::{Degraded, Healthy, Progressing, Unknown};
use crate::health::Health;
use crate::health::read::{at, int, list, text};

pub(super) const KINDS: Kinds = &[
    (
        "elasticsearch.k8s.elastic.co/Elasticsearch",
        &[
            Fails(&[Has("status.availableNodes"), Lacks("spec")], nothing!(5, "nodeSets")),
            Fails(
                &[Has("status.availableNodes"), Lacks("spec.nodeSets")],
                "<string>:5: bad argument #1 to pairs (table expected, got nil)",
            ),
            By(nodes),
            By(cluster),
            Else(
                Unknown,
                "Elasticsearch Cluster status is unknown. Ensure your ArgoCD is current and then check for/file a bug \
                 report: https://github.com/argoproj/argo-cd/issues",
            ),
        ],
    ),
    (
        "beat.k8s.elastic.co/Beat",
        &[
            Match(
                "status.health",
                &[("red", Degraded, "Elastic Beat status is Red"), ("green", Healthy, "Elastic Beat status is Green")],
            ),
            When(
                &[Is("status.health", "yellow"), Has("status.availableNodes"), Has("status.expectedNodes")],
                Progressing,
                "Elastic Beat status is deploying, there is {.status.availableNodes} instance(s) on \
                 {.status.expectedNodes} expected",
            ),
            When(&[Is("status.health", "yellow")], Progressing, "Elastic Beat phase is progressing"),
            When(
                &[Lacks("status.health"), Has("status.expectedNodes")],
                Progressing,
                "Elastic Beat phase is progressing",
            ),
            Else(
                Unknown,
                "Elastic Beat status is unknown. Ensure your ArgoCD is current and then check for/file a bug report: \
                 https://github.com/argoproj/argo-cd/issues",
            ),
        ],
    ),
    (
        "logstash.k8s.elastic.co/Logstash",
        &[
            Match(
                "status.health",
                &[
                    ("green", Healthy, "Logstash status is Green"),
                    ("yellow", Progressing, "Logstash status is Yellow"),
                    ("red", Degraded, "Logstash status is Red"),
                ],
            ),
            Else(Progressing, "Waiting for Logstash"),
        ],
    ),
    ("solr.apache.org/SolrCloud", &[By(solr)]),
];

fn wanted_nodes(object: &Value) -> i64 {
    list(object, "spec.nodeSets").iter().map(|set| int(set, "count")).sum()
}

fn nodes(object: &Value) -> Option<Health> {
    let available = at(object, "status.availableNodes").as_i64()?;
    let wanted = wanted_nodes(object);
    (available < wanted).then(|| {
        let text = format!("The desired amount of availableNodes is {wanted} but the current amount is {available}");
        Health::new(Progressing, text)
    })
}

/// Phase and health, which count only while all wanted nodes are there.
fn cluster(object: &Value) -> Option<Health> {
    let available = at(object, "status.availableNodes").as_i64()?;
    if available != wanted_nodes(object) {
        return None;
    }
    let health = at(object, "status.health").as_str()?;
    let (code, message) = match (text(object, "status.phase"), health) {
        ("Ready", "green") => (Healthy, "Elasticsearch Cluster status is Green"),
        ("Ready", "yellow") => {
            (Progressing, "Elasticsearch Cluster status is Yellow. Check the status of indices, replicas and shards")
        }
        ("Ready", "red") => {
            (Degraded, "Elasticsearch Cluster status is Red. Check the status of indices, replicas and shards")
        }
        ("ApplyingChanges", _) => (Progressing, "Elasticsearch phase is ApplyingChanges"),
        ("MigratingData", _) => (Progressing, "Elasticsearch phase is MigratingData"),
        ("Invalid", _) => (Degraded, "Elasticsearch phase is Invalid"),
        _ => return None,
    };
    Some(Health::new(code, message))
}

fn solr(object: &Value) -> Option<Health> {
    Some(match at(object, "status.solrNodes") {
        Value::Null => Health::new(Progressing, "Waiting for solr to exist"),
        nodes if nodes.as_array().is_some_and(|nodes| !nodes.iter().all(|node| at(node, "ready") == true)) => {
            Health::new(Progressing, "Not all replicas are ready")
        }
        _ => Health::new(Healthy, "Solr is ready"),
    })
}
