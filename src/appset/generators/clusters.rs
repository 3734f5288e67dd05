//! The clusters generator: clusters that Argo CD knows.
//!
//! In:  cluster Secrets, the generator's selector.
//! Out: one set per cluster, by name, then the cluster of the control plane when no Secret describes it and nothing is
//! selected; or one set with all of them.
//! Source: SET-023 to SET-026 (`applicationset/generators/cluster.go`).

use std::collections::BTreeMap;

use serde_json::{Map, Value};

use super::super::names::sanitized;
use super::super::params::Params;
use super::super::selector::{Selector, Values};
use super::{Context, Stop, add_values, text};
use crate::api::appset::ClusterGenerator;
use crate::api::names::{IN_CLUSTER_NAME, IN_CLUSTER_SERVER};
use crate::settings::Secret;

/// The sets of parameters.
pub fn params(clusters: &ClusterGenerator, context: &Context) -> Result<Vec<Params>, Stop> {
    let selector = Selector::new(&clusters.selector, Values::Labels).map_err(|error| {
        Stop::Error(format!("error getting cluster secrets: error converting label selector: {error}"))
    })?;
    let selected = context.world.cluster_secrets.iter().filter(|secret| selector.matches(&secret.labels));
    let by_name: BTreeMap<String, &Secret> = selected.map(|secret| (secret.text("name"), secret)).collect();
    let mut sets = Vec::new();
    for secret in by_name.values() {
        sets.push(with_values(of_secret(secret, context.engine.go), clusters, context, "cluster")?);
    }
    let selects = !clusters.selector.match_labels.is_empty() || !clusters.selector.match_expressions.is_empty();
    if !selects && !by_name.values().any(|secret| secret.text("server") == IN_CLUSTER_SERVER) {
        sets.push(with_values(local(), clusters, context, "local cluster")?);
    }
    if clusters.flat_list {
        let all = sets.into_iter().map(Value::Object).collect();
        return Ok(vec![Map::from_iter([("clusters".to_owned(), Value::Array(all))])]);
    }
    Ok(sets)
}

fn with_values(mut params: Params, clusters: &ClusterGenerator, context: &Context, what: &str) -> Result<Params, Stop> {
    add_values(&mut params, &clusters.values, &context.engine)
        .map_err(|error| format!("error appending templated values for {what}: {error}"))?;
    Ok(params)
}

fn of_secret(secret: &Secret, go: bool) -> Params {
    let name = secret.text("name");
    let mut params = Params::new();
    params.insert("nameNormalized".to_owned(), text(sanitized(&name)));
    params.insert("name".to_owned(), text(name));
    params.insert("server".to_owned(), text(secret.text("server")));
    params.insert("project".to_owned(), text(secret.text("project")));
    let parts = [("annotations", &secret.annotations), ("labels", &secret.labels)];
    if go {
        let map =
            |texts: &BTreeMap<String, String>| texts.iter().map(|(key, value)| (key.clone(), text(value))).collect();
        let filled = parts.into_iter().filter(|(_, texts)| !texts.is_empty());
        let metadata = filled.map(|(part, texts)| (part.to_owned(), Value::Object(map(texts)))).collect();
        params.insert("metadata".to_owned(), Value::Object(metadata));
    } else {
        for (part, texts) in parts {
            params.extend(texts.iter().map(|(key, value)| (format!("metadata.{part}.{key}"), text(value))));
        }
    }
    params
}

/// The cluster of the control plane.
fn local() -> Params {
    let fields = [
        ("name", IN_CLUSTER_NAME),
        ("nameNormalized", IN_CLUSTER_NAME),
        ("server", IN_CLUSTER_SERVER),
        ("project", ""),
    ];
    fields.into_iter().map(|(key, value)| (key.to_owned(), text(value))).collect()
}
