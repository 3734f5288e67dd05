//! Keeps a kustomization inside its checkout.
//!
//! In:  a kustomization's directory.
//! Out: a refusal when it, or a kustomization that it is built from, names a path outside the checkout.
//! Invariant: kustomize itself lets bases lie anywhere on the machine, and so does Argo CD; here they would be checkouts of other
//! projects. URLs are no paths: what they lead to is cloned apart and confined by kustomize.
//! Source: the refusal's words are those of REND-127.

use std::collections::HashSet;
use std::path::{Path, PathBuf};

use serde_json::Value;

use super::patches::NAMES;
use crate::gocompat::yaml;
use crate::render::Error;

/// Fields of a kustomization that hold paths; `*` stands for each element of a list.
const PATHS: &[&str] = &[
    "resources/*",
    "bases/*",
    "components/*",
    "crds/*",
    "configurations/*",
    "generators/*",
    "transformers/*",
    "validators/*",
    "patchesStrategicMerge/*",
    "patches/*/path",
    "patchesJson6902/*/path",
    "replacements/*/path",
    "openapi/path",
    "configMapGenerator/*/files/*",
    "configMapGenerator/*/envs/*",
    "configMapGenerator/*/env",
    "secretGenerator/*/files/*",
    "secretGenerator/*/envs/*",
    "secretGenerator/*/env",
    "helmGlobals/chartHome",
    "helmGlobals/configHome",
    "helmCharts/*/valuesFile",
    "helmCharts/*/additionalValuesFiles/*",
    "helmChartInflationGenerator/*/values",
    "helmChartInflationGenerator/*/chartHome",
];

/// Checks a kustomization and all that it is built from; blocking.
pub fn check(root: &Path, app: &Path) -> Result<(), Error> {
    let root = std::fs::canonicalize(root).unwrap_or_else(|_| root.to_owned());
    let mut open = vec![app.to_owned()];
    let mut seen: HashSet<PathBuf> = HashSet::new();
    while let Some(folder) = open.pop() {
        let Ok(folder) = std::fs::canonicalize(&folder) else { continue };
        if !seen.insert(folder.clone()) {
            continue;
        }
        // What cannot be read here is reported by kustomize.
        let file = NAMES.iter().map(|name| folder.join(name)).find(|path| path.exists());
        let Some(Ok(kustomization)) =
            file.and_then(|file| std::fs::read(file).ok()).map(|text| yaml::parse_bytes(&text))
        else {
            continue;
        };
        for path in PATHS {
            for entry in texts(&kustomization, path) {
                open.extend(inside(&root, &folder, entry)?);
            }
        }
    }
    Ok(())
}

/// The texts at a path.
fn texts<'a>(value: &'a Value, path: &str) -> Vec<&'a str> {
    let mut found = vec![value];
    for step in path.split('/') {
        found = match step {
            "*" => found.into_iter().filter_map(Value::as_array).flatten().collect(),
            key => found.into_iter().filter_map(|value| value.get(key)).collect(),
        };
    }
    found.into_iter().filter_map(Value::as_str).collect()
}

/// Where an entry leads, where that is a directory of the checkout.
fn inside(root: &Path, folder: &Path, entry: &str) -> Result<Option<PathBuf>, Error> {
    // Files of generators may be `key=path`.
    let candidates = [Some(entry), entry.split_once('=').map(|(_, path)| path)];
    for candidate in candidates.into_iter().flatten() {
        let Ok(real) = std::fs::canonicalize(folder.join(candidate)) else { continue };
        if !real.starts_with(root) {
            return Err(Error::Failed(format!("file '{entry}' resolved to outside repository root")));
        }
        if real.is_dir() {
            return Ok(Some(real));
        }
    }
    Ok(None)
}
