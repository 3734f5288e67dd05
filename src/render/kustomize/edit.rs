//! The edits of a kustomization that a source asks for.
//!
//! In:  the source's Kustomize options, a private copy.
//! Out: an edited kustomization, by `kustomize edit` wherever it has a command.
//! Source: REND-148 to REND-154 (`util/kustomize/kustomize.go` `Build`).

use std::collections::BTreeMap;
use std::path::Path;

use serde_json::Value;

use super::{Tool, patches};
use crate::api::application::{Kustomize, KustomizeReplica};
use crate::render::workspace::Workspace;
use crate::render::{Error, paths};

/// Runs the edits, in Argo CD's order.
pub async fn apply(tool: &Tool<'_>, copy: &Workspace, options: &Kustomize) -> Result<(), Error> {
    for args in before_patches(tool, options)? {
        tool.plain(copy.app()).arg("edit").args(args).run().await?;
    }
    if !options.patches.is_empty() {
        patches::append(copy.app(), &options.patches)?;
    }
    let components: Vec<&String> = options
        .components
        .iter()
        .filter(|component| !options.ignore_missing_components || exists(copy, component))
        .collect();
    if !components.is_empty() {
        tool.full(copy.app()).args(["edit", "add", "component"]).args(components).run().await?;
    }
    Ok(())
}

/// Arguments of each `kustomize edit` that comes before the patches.
fn before_patches(tool: &Tool<'_>, options: &Kustomize) -> Result<Vec<Vec<String>>, Error> {
    let mut edits: Vec<Vec<String>> = Vec::new();
    let words = |words: &[&str]| words.iter().map(|word| (*word).to_owned()).collect::<Vec<String>>();
    if !options.name_prefix.is_empty() {
        edits.push(words(&["set", "nameprefix", "--", &options.name_prefix]));
    }
    if !options.name_suffix.is_empty() {
        edits.push(words(&["set", "namesuffix", "--", &options.name_suffix]));
    }
    if !options.images.is_empty() {
        let images = options.images.iter().map(|image| tool.env.substitute(image));
        edits.push(words(&["set", "image"]).into_iter().chain(images).collect());
    }
    if !options.replicas.is_empty() {
        let mut edit = words(&["set", "replicas"]);
        for replica in &options.replicas {
            edit.push(format!("{}={}", replica.name, count(replica)?));
        }
        edits.push(edit);
    }
    if !options.common_labels.is_empty() {
        let switches = [
            (options.force_common_labels, "--force"),
            (options.label_without_selector, "--without-selector"),
            (options.label_include_templates, "--include-templates"),
        ];
        let mut edit = words(&["add", "label"]);
        edit.extend(switches.iter().filter(|(is_on, _)| *is_on).map(|(_, name)| (*name).to_owned()));
        edit.extend(pairs(&options.common_labels, |value| tool.env.substitute(value)));
        edits.push(edit);
    }
    if !options.common_annotations.is_empty() {
        let mut edit = words(&["add", "annotation"]);
        if options.force_common_annotations {
            edit.push("--force".to_owned());
        }
        let substitutes = options.common_annotations_envsubst;
        let value = |value: &str| if substitutes { tool.env.substitute(value) } else { value.to_owned() };
        edit.extend(pairs(&options.common_annotations, value));
        edits.push(edit);
    }
    if !options.namespace.is_empty() {
        edits.push(words(&["set", "namespace", "--", &options.namespace]));
    }
    Ok(edits)
}

fn pairs(map: &BTreeMap<String, String>, value: impl Fn(&str) -> String) -> Vec<String> {
    map.iter().map(|(name, text)| format!("{name}:{}", value(text))).collect()
}

/// A replica count; text must hold an integer as Go's `Atoi` reads it.
fn count(replica: &KustomizeReplica) -> Result<i64, Error> {
    match &replica.count {
        Value::String(text) => {
            let refusal = || Error::Failed(format!("expected integer value for count. Received: {text}"));
            text.parse().map_err(|_| refusal())
        }
        other => Ok(other.as_i64().unwrap_or_default()),
    }
}

/// Whether a component is a path inside the copy that exists; a URL is none.
fn exists(copy: &Workspace, component: &str) -> bool {
    let path = paths::clean(&copy.app().join(component));
    let real = std::fs::canonicalize(&path);
    let is_inside = |root: &Path| real.is_ok_and(|real| real.starts_with(root));
    path.starts_with(copy.root()) && is_inside(copy.root())
}
