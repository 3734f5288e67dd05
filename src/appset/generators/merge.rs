//! The merge generator: sets of the first child, overlaid by those of the others that have the same merge keys.
//!
//! In:  two or more children, merge keys.
//! Out: the sets of the first child in their order; what only later children have is left out.
//! Source: SET-045 to SET-047 (`applicationset/generators/merge.go`).

use std::collections::BTreeMap;

use serde_json::Value;

use super::super::params::{Params, overlay};
use super::matrix::child;
use super::{Context, Gathered, Level, Stop};
use crate::api::appset::MergeGenerator;
use crate::gocompat::json;

/// The sets of parameters.
pub fn params(merge: &MergeGenerator, context: &Context, level: Level) -> Result<Vec<Params>, Stop> {
    let count = merge.generators.len();
    if count < 2 {
        return Err(Stop::Error("found less than two generators, Merge requires two or more".to_owned()));
    }
    let mut children = Gathered::default();
    for (at, generator) in merge.generators.iter().enumerate() {
        let before = format!(
            "error getting param sets from generators: error getting params from generator {} of {count}: ",
            at + 1
        );
        children.add(child(generator, context, &Params::new(), level).map_err(|stop| stop.within(&before)));
    }
    let mut children = children.finish()?.into_iter();
    let within = |error| Stop::Error(format!("error getting param sets by merge key: {error}"));
    let mut base = keyed(children.next().unwrap_or_default(), &merge.merge_keys).map_err(within)?;
    for over in children {
        let mut over: BTreeMap<_, _> = keyed(over, &merge.merge_keys).map_err(within)?.into_iter().collect();
        for (key, params) in &mut base {
            match over.remove(key) {
                Some(over) if context.engine.go => overlay(params, over),
                Some(over) => params.extend(over),
                None => {}
            }
        }
    }
    Ok(base.into_iter().map(|(_, params)| params).collect())
}

/// The sets with their keys, in order.
fn keyed(sets: Vec<Params>, keys: &[String]) -> Result<Vec<(String, Params)>, String> {
    if keys.is_empty() {
        return Err("no merge keys were specified, Merge requires at least one".to_owned());
    }
    let mut seen = std::collections::BTreeSet::new();
    let mut keyed = Vec::new();
    for params in sets {
        let values = keys.iter().map(|key| (key.clone(), params.get(key).cloned().unwrap_or(Value::Null)));
        let key = json::to_string(&Value::Object(values.collect()));
        if !seen.insert(key.clone()) {
            let rule = "Merge requires all param sets to be unique";
            return Err(format!(
                "the parameters from a generator were not unique by the given mergeKeys, {rule}. Duplicate key was {key}"
            ));
        }
        keyed.push((key, params));
    }
    Ok(keyed)
}
