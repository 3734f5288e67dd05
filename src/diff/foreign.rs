//! What stays in a server-side applied object although the manifest does not have it.
//!
//! In:  a manifest, and the object after its server-side apply.
//! Out: the data that another manager keeps, each with the manager's name.
//! Invariant: only the data of ConfigMaps and Secrets is looked at. Elsewhere fields that others own are how controllers
//! work; there they are what an application reads.
//! Source: structured-merge-diff 6.4.0: an apply never removes what another manager owns.

use serde_json::{Map, Value};

use super::fields::{self, field_step};
use crate::api::ObjectExt;
use crate::api::names::FIELD_MANAGER;

/// Data that the manifest lacks and another manager keeps, as `(field, manager)`. A manifest without any data leaves it
/// to others on purpose.
pub fn kept_data(manifest: &Value, applied: &Value) -> Vec<(String, String)> {
    if !manifest.group().is_empty() || !matches!(manifest.kind(), "ConfigMap" | "Secret") {
        return Vec::new();
    }
    let wanted = manifest_data(manifest);
    if wanted.is_empty() {
        return Vec::new();
    }
    let owners = fields::owners(applied);
    let holds = |manager: &str, map: &str, key: &str| {
        owners.iter().filter(|owner| owner.manager == manager).any(|owner| {
            let map = owner.fields.children.get(&field_step(map));
            map.is_some_and(|map| map.children.contains_key(&field_step(key)))
        })
    };
    let mut kept = Vec::new();
    for map in ["data", "binaryData"] {
        let keys = applied.get(map).and_then(Value::as_object).into_iter().flat_map(Map::keys);
        for key in keys.filter(|key| !wanted.contains(&key.as_str()) && !holds(FIELD_MANAGER, map, key)) {
            let manager = owners.iter().map(|owner| &owner.manager).find(|manager| holds(manager, map, key));
            kept.extend(manager.map(|manager| (format!("{map}.{key}"), manager.clone())));
        }
    }
    kept
}

fn manifest_data(manifest: &Value) -> Vec<&str> {
    let maps = ["data", "binaryData", "stringData"].into_iter().filter_map(|map| manifest.get(map)?.as_object());
    maps.flat_map(Map::keys).map(String::as_str).collect()
}
