//! Every object that real Argo CD's API server stored while the corpus was recorded passes litecd's CRDs.

use litecd::api::schema::validate;
use serde_json::Value;

use crate::{files_below, reference_crds, reference_folder, schema_in};

const KINDS: [&str; 3] = ["Application", "AppProject", "ApplicationSet"];

/// Objects of the three kinds in the corpus, with the file they stand in. Goldens are Argo CD's own objects without
/// the fields that a run does not fix, so they are no objects to store.
fn stored_objects(folder: &std::path::Path) -> Vec<(String, Value)> {
    let mut found = Vec::new();
    for path in files_below(&folder.join("corpus")) {
        let name = path.file_name().unwrap_or_default().to_string_lossy().into_owned();
        if !name.ends_with(".yaml") || name.starts_with("golden") || name == "case.yaml" {
            continue;
        }
        let Ok(text) = std::fs::read_to_string(&path) else { continue };
        if !text.contains("argoproj.io/v1alpha1") {
            continue;
        }
        let file = litecd::check::documents(&text).unwrap_or_else(|problem| panic!("{}: {problem}", path.display()));
        for object in file.into_iter().map(|document| document.to_value()) {
            let kind = object["kind"].as_str().unwrap_or_default();
            if object["apiVersion"] == "argoproj.io/v1alpha1" && KINDS.contains(&kind) {
                found.push((path.display().to_string(), object));
            }
        }
    }
    found
}

#[test]
fn recorded_objects_pass_the_schemas() {
    let Some(folder) = reference_folder() else { return };
    let (theirs, ours) = (reference_crds(&folder), litecd::api::crds());
    let objects = stored_objects(&folder);
    assert!(objects.len() > 400, "the corpus holds {} objects", objects.len());
    for (file, object) in objects {
        let kind = object["kind"].as_str().expect("a kind");
        for (whose, crds) in [("litecd", &ours[..]), ("Argo CD", theirs)] {
            let found = validate(schema_in(crds, kind), &object);
            assert!(found.is_empty(), "{file} by {whose}: {kind} {}: {found:?}", object["metadata"]["name"]);
        }
    }
}
