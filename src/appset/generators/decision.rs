//! The cluster decision generator: clusters that another controller's objects name.
//!
//! In:  a ConfigMap that says which kind and fields to read, objects of that kind, the clusters.
//! Out: one set per decision whose cluster is known.
//! Invariant: an object that has not been filled by its controller yet is no decision against its clusters: an object
//! whose status lacks the list is an error.
//! Source: SET-027 to SET-029 (`applicationset/generators/duck_type.go`).

use std::collections::BTreeMap;

use serde_json::{Map, Value};

use super::super::params::{Params, text_of};
use super::super::query::{Answer, Query};
use super::{Context, Stop, misfit, put_values, text};
use crate::api::appset::DuckTypeGenerator;

/// The sets of parameters.
pub fn params(duck: &DuckTypeGenerator, context: &Context) -> Result<Vec<Params>, Stop> {
    let settings = match context.ask(Query::ConfigMap { name: duck.config_map_ref.clone() })? {
        Ok(Answer::ConfigMap(data)) => data,
        Ok(_) => return Err(misfit()),
        Err(error) => return Err(Stop::Error(format!("error reading configMapRef: {error}"))),
    };
    let objects = match context.ask(query(duck, settings)?)? {
        Ok(Answer::Objects(objects)) => objects,
        Ok(_) => return Err(misfit()),
        Err(error) => return Err(Stop::Error(format!("failed to get dynamic resources: {error}"))),
    };
    if objects.is_empty() {
        return Err(Stop::Error("no clusterDecisionResources found".to_owned()));
    }
    let entry = |key: &str| settings.get(key).map(String::as_str).filter(|text| !text.is_empty());
    let Some(match_key) = entry("matchKey") else { return Ok(Vec::new()) };
    let mut sets = Vec::new();
    for decision in decisions(objects, entry("statusListKey").unwrap_or("clusters"))? {
        sets.extend(of_decision(decision, match_key, duck, context));
    }
    Ok(sets)
}

/// What is asked for, when the ConfigMap and the generator make sense.
fn query(duck: &DuckTypeGenerator, settings: &BTreeMap<String, String>) -> Result<Query, Stop> {
    let entry = |key: &str| settings.get(key).map(String::as_str).unwrap_or_default();
    let (group, version) = match entry("apiVersion").split_once('/') {
        Some((group, version)) if !group.is_empty() && !entry("kind").is_empty() => (group, version),
        _ => {
            let text = "there is a problem with the apiVersion, kind or resourceName provided";
            return Err(Stop::Error(text.to_owned()));
        }
    };
    let selects = !duck.label_selector.match_labels.is_empty() || !duck.label_selector.match_expressions.is_empty();
    if duck.name.is_empty() != selects {
        let text = "there is a problem with the definition of the ClusterDecisionResource generator";
        return Err(Stop::Error(text.to_owned()));
    }
    Ok(Query::Objects {
        group: group.to_owned(),
        version: version.to_owned(),
        resource: entry("kind").to_owned(),
        name: duck.name.clone(),
        selector: duck.label_selector.clone(),
    })
}

/// All decisions of all objects. An object without any status is passed over, as in Argo CD; a status of another shape
/// ends Argo CD's pass without a word, and is an error here.
fn decisions<'a>(objects: &'a [Value], list_key: &str) -> Result<Vec<&'a Map<String, Value>>, Stop> {
    let mut all = Vec::new();
    for object in objects {
        let Some(status) = object.get("status").and_then(Value::as_object).filter(|status| !status.is_empty()) else {
            continue;
        };
        let name = object.pointer("/metadata/name").and_then(Value::as_str).unwrap_or_default();
        let problem =
            || Stop::Error(format!("clusterDecisionResource {name}: status.{list_key} is no list of objects"));
        let list = status.get(list_key).and_then(Value::as_array).ok_or_else(problem)?;
        for decision in list {
            all.push(decision.as_object().ok_or_else(problem)?);
        }
    }
    Ok(all)
}

fn of_decision(
    decision: &Map<String, Value>,
    match_key: &str,
    duck: &DuckTypeGenerator,
    context: &Context,
) -> Option<Params> {
    let wanted =
        decision.get(match_key).filter(|value| !value.is_null()).map(text_of).filter(|text| !text.is_empty())?;
    let cluster = context.world.clusters.iter().find(|cluster| cluster.name == wanted)?;
    let mut params = Params::new();
    params.insert("name".to_owned(), text(&cluster.name));
    params.insert("server".to_owned(), text(&cluster.server));
    // Whole numbers stay whole here: these objects are not read through a file.
    params.extend(decision.iter().map(|(key, value)| (key.clone(), text(text_of(value)))));
    put_values(
        &mut params,
        duck.values.iter().map(|(key, value)| (key.clone(), text(value))).collect(),
        &context.engine,
    );
    Some(params)
}
