//! Normalises kinds that the API server stores otherwise than they are written.
//!
//! In:  one object.
//! Out: the object without creationTimestamp; Secrets with `data` only; empty roles; ordered Endpoints;
//! EndpointSlices without empty conditions.
//! Source: DIFF-058 to DIFF-061 (`gitops-engine/pkg/diff/diff.go` Normalize).

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use serde_json::{Map, Value};

use super::remarshal::{Unknown, decode_struct};
use crate::api::object::ObjectExt;
use crate::diff::schema;

/// Applies the rule for the object's kind.
pub fn normalize(mut object: Value, ignore_aggregated_roles: bool) -> Value {
    if let Some(Value::Object(metadata)) = object.get_mut("metadata") {
        metadata.remove("creationTimestamp");
    }
    let target = object.group_kind();
    match (target.group.as_str(), target.kind.as_str()) {
        ("", "Secret") => secret(object),
        ("rbac.authorization.k8s.io", "Role" | "ClusterRole") => role(object, ignore_aggregated_roles),
        ("", "Endpoints") => endpoints(object),
        ("discovery.k8s.io", "EndpointSlice") => endpoint_slice(object),
        _ => object,
    }
}

/// The server writes `conditions: {}` where nobody wrote conditions, into a list that compares as one value. Argo CD
/// calls such a slice OutOfSync for ever.
fn endpoint_slice(mut object: Value) -> Value {
    let endpoints = object.get_mut("endpoints").and_then(Value::as_array_mut);
    for endpoint in endpoints.into_iter().flatten().filter_map(Value::as_object_mut) {
        if endpoint.get("conditions").and_then(Value::as_object).is_some_and(Map::is_empty) {
            endpoint.remove("conditions");
        }
    }
    object
}

/// Moves `stringData` into `data` and makes absent values empty texts.
pub fn secret(mut object: Value) -> Value {
    let Value::Object(map) = &mut object else { return object };
    if let Some(Value::Object(texts)) = map.get("stringData").cloned() {
        let mut data = match map.remove("data") {
            Some(Value::Object(data)) => data,
            _ => Map::new(),
        };
        for (key, value) in texts {
            // Values that are no text are kept, so that applying the Secret fails as it should.
            let value = value.as_str().map(|text| STANDARD.encode(text).into()).unwrap_or(value);
            data.insert(key, value);
        }
        map.insert("data".to_owned(), data.into());
        map.remove("stringData");
    }
    let typed = schema::registered(&object.gvk()).map(|ty| decode_struct(&object, ty, Unknown::Dropped));
    let given = object.get("data").is_some_and(Value::is_object);
    if let (Some(Ok(typed)), true) = (typed, given) {
        let mut data = typed.get("data").cloned().unwrap_or_else(|| Map::new().into());
        for value in data.as_object_mut().into_iter().flat_map(Map::values_mut).filter(|value| value.is_null()) {
            *value = "".into();
        }
        if let Value::Object(map) = &mut object {
            map.insert("data".to_owned(), data);
        }
    }
    object
}

fn role(mut object: Value, ignore_aggregated: bool) -> Value {
    let aggregated = ignore_aggregated && object.get("aggregationRule").is_some_and(Value::is_object);
    let empty = object.get("rules").and_then(Value::as_array).is_some_and(Vec::is_empty);
    if let (Value::Object(map), true) = (&mut object, aggregated || empty) {
        map.insert("rules".to_owned(), Value::Null);
    }
    object
}

/// Any fixed order serves, because both sides get it.
fn endpoints(object: Value) -> Value {
    let Some(ty) = schema::registered(&object.gvk()) else { return object };
    let Ok(mut typed) = decode_struct(&object, ty, Unknown::Dropped) else { return object };
    let Some(Value::Array(subsets)) = typed.get_mut("subsets") else { return typed };
    for subset in subsets.iter_mut() {
        for list in ["addresses", "notReadyAddresses"] {
            if let Some(Value::Array(addresses)) = subset.get_mut(list) {
                addresses.sort_by_key(address_key);
            }
        }
        if let Some(Value::Array(ports)) = subset.get_mut("ports") {
            for port in ports.iter_mut().filter_map(Value::as_object_mut) {
                port.entry("protocol").or_insert_with(|| "TCP".into());
            }
            ports.sort_by_key(ToString::to_string);
        }
    }
    subsets.sort_by_key(ToString::to_string);
    typed
}

fn address_key(address: &Value) -> (String, String) {
    let text = |value: Option<&Value>| value.and_then(Value::as_str).unwrap_or_default().to_owned();
    (text(address.get("ip")), text(address.pointer("/targetRef/uid")))
}
