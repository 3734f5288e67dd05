//! Which tool renders a source, after the overrides in the repository are merged into it.
//!
//! In:  the source as the spec has it, the application's directory.
//! Out: the merged source and its type.
//! Invariant: overrides change neither the chart nor the path nor the repository nor the revision.
//! Source: REND-083 to REND-091 (`mergeSourceParameters`, `GetAppSourceType`, `util/app/discovery/discovery.go`).

use std::fs;
use std::path::Path;

use serde_json::Value;

use super::paths::go_reason;
use super::walk::sorted_entries;
use super::{Enabled, Error};
use crate::api::ApplicationSource;
use crate::gocompat::yaml;

/// What renders a source.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum SourceType {
    /// Plain manifests.
    Directory,
    /// A chart.
    Helm,
    /// A kustomization.
    Kustomize,
    /// A config management plugin.
    Plugin,
}

impl SourceType {
    /// As `status.sourceType` has it.
    pub fn name(self) -> &'static str {
        match self {
            Self::Directory => "Directory",
            Self::Helm => "Helm",
            Self::Kustomize => "Kustomize",
            Self::Plugin => "Plugin",
        }
    }
}

/// The source with its overrides, and its type.
pub fn detect(
    source: &ApplicationSource,
    app: &Path,
    app_name: &str,
    enabled: Enabled,
) -> Result<(ApplicationSource, SourceType), Error> {
    let within = |text: String| Error::Failed(format!("error getting app source type: {text}"));
    let merged = with_overrides(source, app, app_name)
        .map_err(|text| within(format!("error while parsing source parameters: {text}")))?;
    let is_on = |kind: SourceType| match kind {
        SourceType::Helm => enabled.helm,
        SourceType::Kustomize => enabled.kustomize,
        SourceType::Directory | SourceType::Plugin => true,
    };
    let explicit = explicit_types(&merged);
    let found = match explicit.as_slice() {
        [] => discover(app, &is_on).map_err(|text| within(format!("error getting app source type: {text}")))?,
        [kind] => *kind,
        several => {
            let names: Vec<&str> = several.iter().map(|kind| kind.name()).collect();
            return Err(within(format!("multiple application sources defined: {}", names.join(","))));
        }
    };
    Ok((merged, if is_on(found) { found } else { SourceType::Directory }))
}

fn explicit_types(source: &ApplicationSource) -> Vec<SourceType> {
    let blocks = [
        (source.kustomize.is_some(), SourceType::Kustomize),
        (source.helm.is_some(), SourceType::Helm),
        (source.directory.is_some(), SourceType::Directory),
        (source.plugin.is_some(), SourceType::Plugin),
    ];
    blocks.into_iter().filter(|(is_given, _)| *is_given).map(|(_, kind)| kind).collect()
}

/// The type that the files right in the directory give; the last in byte order wins.
fn discover(app: &Path, is_on: &dyn Fn(SourceType) -> bool) -> Result<SourceType, String> {
    let mut found = SourceType::Directory;
    let metadata =
        fs::symlink_metadata(app).map_err(|error| format!("lstat {}: {}", app.display(), go_reason(&error)))?;
    if !metadata.is_dir() {
        return Ok(found);
    }
    let entries = sorted_entries(app).map_err(|error| format!("open {}: {}", app.display(), go_reason(&error)))?;
    for path in entries {
        let name = path.file_name().unwrap_or_default().to_string_lossy();
        let kind = match name.as_ref() {
            "kustomization.yaml" | "kustomization.yml" | "Kustomization" => SourceType::Kustomize,
            name if name.ends_with("Chart.yaml") => SourceType::Helm,
            _ => continue,
        };
        let is_folder = fs::symlink_metadata(&path).is_ok_and(|metadata| metadata.is_dir());
        if !is_folder && is_on(kind) {
            found = kind;
        }
    }
    Ok(found)
}

/// Merges `.argocd-source.yaml`, then the file named after the application.
fn with_overrides(source: &ApplicationSource, app: &Path, app_name: &str) -> Result<ApplicationSource, String> {
    let mut names = vec![".argocd-source.yaml".to_owned()];
    if !app_name.is_empty() {
        names.push(format!(".argocd-source-{app_name}.yaml"));
    }
    let mut merged = source.clone();
    for name in names {
        let file = app.join(name);
        let fail = |text: String| format!("{}: {text}", file.display());
        match fs::metadata(&file) {
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => continue,
            Err(error) => return Err(format!("stat {}: {}", file.display(), go_reason(&error))),
            Ok(metadata) if metadata.is_dir() => continue,
            Ok(_) => {}
        }
        let text = fs::read(&file).map_err(|error| fail(format!("open {}: {}", file.display(), go_reason(&error))))?;
        let patch = yaml::parse_bytes(&text).map_err(|error| fail(error.bare()))?;
        if !patch.is_object() && !patch.is_array() {
            return Err(fail("Invalid JSON Patch".to_owned()));
        }
        let old = serde_json::to_value(&merged).map_err(|error| fail(error.to_string()))?;
        let mut patched = old.clone();
        json_patch::merge(&mut patched, &patch);
        let new = decoded_over(old, patched);
        super::source_schema::check(&new).map_err(fail)?;
        merged = serde_json::from_value(new).map_err(|error| fail(error.to_string()))?;
    }
    merged.chart.clone_from(&source.chart);
    merged.path.clone_from(&source.path);
    merged.repo_url.clone_from(&source.repo_url);
    merged.target_revision.clone_from(&source.target_revision);
    Ok(merged)
}

/// What Go holds after it decoded `new` into the struct that held `old`: a field that is absent or null keeps its value,
/// also inside list elements. So `null` in an override removes nothing.
fn decoded_over(old: Value, new: Value) -> Value {
    match (old, new) {
        (old, Value::Null) => old,
        (Value::Object(mut old), Value::Object(new)) => {
            for (key, value) in new {
                // Free-form values are taken as a whole.
                let kept = if key == "valuesObject" { None } else { old.remove(&key) };
                old.insert(key, kept.map_or(value.clone(), |kept| decoded_over(kept, value)));
            }
            Value::Object(old)
        }
        (Value::Array(old), Value::Array(new)) => {
            let mut old = old.into_iter();
            new.into_iter().map(|value| decoded_over(old.next().unwrap_or(Value::Null), value)).collect()
        }
        (_, new) => new,
    }
}
