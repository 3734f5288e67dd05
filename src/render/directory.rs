//! Renders a plain directory of manifests.
//!
//! In:  the application's directory, the options of the source.
//! Out: the objects of all manifest files, in file order and then document order.
//! Invariant: a file that cannot be read as manifest fails the source as soon as it looks like one; nothing is left out silently
//! that a user would miss.
//! Source: REND-092 to REND-113 (`reposerver/repository/repository.go` `findManifests`).

use std::path::{Path, PathBuf};

use serde_json::{Map, Value};

use super::documents::{self, Reader};
use super::{Error, Request, json_syntax, jsonnet, walk};

/// Renders the directory.
pub async fn render(request: &Request, app: &Path) -> Result<Vec<Value>, Error> {
    let (own, folder) = (request.clone(), app.to_owned());
    let walk = tokio::task::spawn_blocking(move || manifest_files(&own, &folder)).await;
    let mut files = walk.map_err(|error| Error::Failed(format!("rendering ended early: {error}")))??;
    files.retain(|file| request.enabled.jsonnet || !is_jsonnet(&file.path));
    let programs: Vec<PathBuf> =
        files.iter().filter(|file| is_jsonnet(&file.path)).map(|file| file.path.clone()).collect();
    let evaluated =
        if programs.is_empty() { Vec::new() } else { evaluate_or_fail_later(request, app, &programs).await };
    // Reading manifests is work for the processor, and must not hold up other applications.
    let read = tokio::task::spawn_blocking(move || read_all(&files, evaluated)).await;
    read.map_err(|error| Error::Failed(format!("rendering ended early: {error}")))?
}

fn manifest_files(request: &Request, app: &Path) -> Result<Vec<walk::File>, Error> {
    let options = request.source.directory.clone().unwrap_or_default();
    let selection = walk::Selection {
        app,
        root: &request.root,
        recurse: options.recurse,
        include: &options.include,
        exclude: &options.exclude,
        max_bytes: request.max_directory_bytes,
    };
    walk::manifest_files(&selection)
        .map_err(|text| Error::Failed(format!("failed to get potentially valid manifests: {text}")))
}

fn is_jsonnet(path: &Path) -> bool {
    path.extension().is_some_and(|extension| extension == "jsonnet")
}

/// Objects of each Jsonnet file. Where none could be evaluated that is the first file's failure: a broken file before it is
/// reported first, as Argo CD does, which reads file by file.
async fn evaluate_or_fail_later(request: &Request, app: &Path, programs: &[PathBuf]) -> Vec<Result<Vec<Value>, Error>> {
    jsonnet::evaluate(request, app, programs).await.unwrap_or_else(|error| vec![Err(error)])
}

fn read_all(files: &[walk::File], evaluated: Vec<Result<Vec<Value>, Error>>) -> Result<Vec<Value>, Error> {
    let mut evaluated = evaluated.into_iter();
    let mut objects = Vec::new();
    for file in files {
        let name = file.path.file_name().map(|name| name.to_string_lossy().into_owned()).unwrap_or_default();
        if is_jsonnet(&file.path) {
            let missing = || Err(Error::Failed(format!("evaluating jsonnet {name:?}: no answer")));
            objects.extend(evaluated.next().unwrap_or_else(missing)?);
        } else if name.ends_with(".json") {
            objects.push(read_json(&file.text, &name)?);
        } else {
            objects.extend(read_yaml(&file.text, &name)?);
        }
    }
    Ok(objects)
}

/// A `.json` file holds exactly one object.
pub(super) fn read_json(text: &str, name: &str) -> Result<Value, Error> {
    let broken = |cause: &str| Error::BrokenManifest(format!("Failed to unmarshal {name:?}: {cause}"));
    let start = text.trim_start();
    if start.is_empty() {
        return Err(broken("EOF"));
    }
    let end = json_syntax::value_end(start).map_err(|problem| broken(&problem.text))?;
    let (raw, after) = start.split_at(end);
    let value: Value = serde_json::from_str(raw).map_err(|error| broken(&error.to_string()))?;
    // Go takes `null` for an image manifest without a field.
    let value = if value.is_null() { Value::Object(Map::new()) } else { value };
    let has_kind = value.get("kind").and_then(Value::as_str).is_some_and(|kind| !kind.is_empty());
    if !value.is_object() {
        return Err(broken(&documents::no_object(&value)));
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
    let is_strings =
        |value: &Value| value.as_object().is_some_and(|map| map.values().all(|v| v.is_string() || v.is_null()));
    fits("schemaVersion", |value| value.is_i64())
        && fits("mediaType", Value::is_string)
        && fits("artifactType", Value::is_string)
        && fits("config", Value::is_object)
        && fits("layers", |value| {
            value.as_array().is_some_and(|list| list.iter().all(|v| v.is_object() || v.is_null()))
        })
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
