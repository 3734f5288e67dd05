//! Renders a plain directory of manifests.
//!
//! In:  the application's directory, the options of the source.
//! Out: the objects of all manifest files, in file order and then document order.
//! Invariant: a file that cannot be read as manifest fails the source as soon as it looks like one; nothing is left out silently
//! that a user would miss.
//! Source: REND-092 to REND-107 (`reposerver/repository/repository.go` `findManifests`).

use std::path::Path;

use serde_json::Value;

use super::documents::{self, Reader};
use super::{Error, Request, json_syntax, walk};
use crate::api::application::Directory;

/// Renders the directory.
pub fn render(request: &Request, app: &Path, options: &Directory) -> Result<Vec<Value>, Error> {
    let selection = walk::Selection {
        app,
        root: &request.root,
        recurse: options.recurse,
        include: &options.include,
        exclude: &options.exclude,
        max_bytes: request.max_directory_bytes,
    };
    let files = walk::manifest_files(&selection)
        .map_err(|text| Error::Failed(format!("failed to get potentially valid manifests: {text}")))?;
    let mut objects = Vec::new();
    for file in files {
        let name = file.path.file_name().map(|name| name.to_string_lossy().into_owned()).unwrap_or_default();
        if name.ends_with(".jsonnet") {
            if request.enabled.jsonnet {
                return Err(Error::BrokenManifest(format!(
                    "Failed to evaluate jsonnet {name:?}: litecd does not evaluate Jsonnet yet"
                )));
            }
        } else if name.ends_with(".json") {
            objects.push(read_json(&file.text, &name)?);
        } else {
            objects.extend(read_yaml(&file.text, &name)?);
        }
    }
    Ok(objects)
}

/// A `.json` file holds exactly one object.
fn read_json(text: &str, name: &str) -> Result<Value, Error> {
    let broken = |cause: &str| Error::BrokenManifest(format!("Failed to unmarshal {name:?}: {cause}"));
    let start = text.trim_start();
    if start.is_empty() {
        return Err(broken("EOF"));
    }
    let end = json_syntax::value_end(start).map_err(|problem| broken(&problem.text))?;
    let (raw, after) = start.split_at(end);
    let value: Value = serde_json::from_str(raw).map_err(|error| broken(&error.to_string()))?;
    let has_kind = value.get("kind").and_then(Value::as_str).is_some_and(|kind| !kind.is_empty());
    if !value.is_object() {
        return Err(broken("json: cannot unmarshal into Go value of type map[string]interface {}"));
    }
    // An image manifest has no kind; it is kept, and fails later where every object needs one.
    if !has_kind && !looks_like_image_manifest(&value) {
        return Err(broken(&format!("Object 'Kind' is missing in '{raw}'")));
    }
    let next = after.trim_start();
    if !next.is_empty() && !next.starts_with([']', '}']) {
        return Err(Error::BrokenManifest(format!(
            "Found multiple objects in {name:?}. Only single objects are allowed in JSON files."
        )));
    }
    Ok(documents::whole_numbers(value))
}

/// Whether Go would decode the object as an OCI image manifest: every known field has a fitting type.
fn looks_like_image_manifest(value: &Value) -> bool {
    let fits = |field: &str, is_fitting: fn(&Value) -> bool| {
        value.get(field).is_none_or(|value| value.is_null() || is_fitting(value))
    };
    let is_strings = |value: &Value| value.as_object().is_some_and(|map| map.values().all(|v| v.is_string() || v.is_null()));
    fits("schemaVersion", |value| value.is_i64())
        && fits("mediaType", Value::is_string)
        && fits("artifactType", Value::is_string)
        && fits("config", Value::is_object)
        && fits("layers", |value| value.as_array().is_some_and(|list| list.iter().all(|v| v.is_object() || v.is_null())))
        && fits("subject", Value::is_object)
        && fits("annotations", is_strings)
}

fn read_yaml(text: &str, name: &str) -> Result<Vec<Value>, Error> {
    let (objects, failure) = documents::read(text, Reader::Files);
    let Some(failure) = failure else { return Ok(objects) };
    let looks_like_manifest = ["apiVersion:", "kind:", "metadata:"].iter().all(|word| text.contains(word));
    if objects.is_empty() && !looks_like_manifest {
        tracing::debug!(file = name, %failure, "file is no manifest");
        return Ok(objects);
    }
    Err(Error::BrokenManifest(format!("Failed to unmarshal {name:?}: failed to unmarshal manifest: {failure}")))
}
