//! From rendered objects to the manifests of an application.
//!
//! In:  objects as the tool gave them.
//! Out: lists taken apart, tracking metadata written.
//! Invariant: nothing else is added or removed: namespaces are not defaulted here.
//! Source: REND-200 to REND-212 (`GenerateManifests`).

use serde_json::Value;

use super::{Error, Request};
use crate::api::ObjectExt;
use crate::track;

/// The application's manifests.
pub fn manifests(request: &Request, objects: Vec<Value>) -> Result<Vec<Value>, Error> {
    let mut manifests = Vec::with_capacity(objects.len());
    for object in objects {
        for mut target in members(object)? {
            mark(request, &mut target)?;
            manifests.push(target);
        }
    }
    Ok(manifests)
}

/// The members of a list, one level deep; any other object stands for itself.
fn members(mut object: Value) -> Result<Vec<Value>, Error> {
    match object.get_mut("items").map(Value::take) {
        Some(Value::Array(items)) => {
            if items.iter().all(Value::is_object) {
                return Ok(items);
            }
            Err(Error::Failed("items member is not an object: map[string]interface {}".to_owned()))
        }
        Some(Value::Null) if object.get("spec").is_none() && object.get("status").is_none() => Ok(Vec::new()),
        Some(other) => {
            if let Value::Object(map) = &mut object {
                map.insert("items".to_owned(), other);
            }
            Ok(vec![object])
        }
        None => Ok(vec![object]),
    }
}

fn mark(request: &Request, object: &mut Value) -> Result<(), Error> {
    let is_crd = object.kind() == "CustomResourceDefinition" && object.group() == "apiextensions.k8s.io";
    if is_crd || request.tracking.label_key.is_empty() || request.app_name.is_empty() {
        return Ok(());
    }
    track::set(object, &request.tracking, &request.app_name, &request.namespace)
        .map_err(|error| Error::Failed(format!("failed to set app instance tracking info on manifest: {error}")))
}
