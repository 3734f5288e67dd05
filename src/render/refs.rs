//! Sources that refer to other sources of the application as `$name/…`.
//!
//! In:  the value files and file parameters of a Helm source, the sources that have a `ref`.
//! Out: which of them are used and where each one's files lie.
//! Invariant: each reference reads its own commit. (Argo CD reads all references to one repository at the commit of the first
//! one used, and shows the others' revisions beside it; REND-179.)
//! Source: REND-173 to REND-183 (`resolveReferencedSources`, `runManifestGenAsync`).

use std::collections::BTreeMap;
use std::path::Path;

use super::{Error, Request};
use crate::api::ApplicationSource;
use crate::settings::git_url;

/// A source that has a `ref`, before its revision is resolved.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct RefTarget {
    /// Repository URL as written.
    pub repo_url: String,
    /// Chart, where the source is one.
    pub chart: String,
}

/// The sources that have a `ref`, by `$name`.
///
/// # Errors
/// A name with other characters than letters, digits, `_` and `-`, or a repeated one. The controller notices this before it asks
/// for a render, so users see the text without an envelope (REND-174, REND-255).
pub fn targets(sources: &[ApplicationSource]) -> Result<BTreeMap<String, RefTarget>, Error> {
    let fail = |text: String| Err(Error::Failed(format!("failed to get ref sources: {text}")));
    let mut targets = BTreeMap::new();
    for source in sources.iter().filter(|source| source.is_ref()) {
        let name = &source.r#ref;
        if !name.chars().all(|c| c.is_ascii_alphanumeric() || c == '_' || c == '-') {
            return fail(format!("sources.ref {name} cannot contain any special characters except '_' and '-'"));
        }
        let target = RefTarget { repo_url: source.repo_url.clone(), chart: source.chart.clone() };
        if targets.insert(format!("${name}"), target).is_some() {
            return fail("invalid sources: multiple sources had the same `ref` key".to_owned());
        }
    }
    Ok(targets)
}

/// The names (`$name`) whose repositories must be checked out before the source can be rendered, in order of use.
///
/// # Errors
/// A name that no source has, or a name of a chart.
pub fn needed(source: &ApplicationSource, targets: &BTreeMap<String, RefTarget>) -> Result<Vec<String>, Error> {
    let names = used(source);
    for name in &names {
        let target = targets.get(*name).ok_or_else(|| unknown(name, targets.keys()))?;
        if !target.chart.is_empty() {
            return Err(Error::Failed(
                "source has a 'chart' field defined, but Helm charts are not yet not supported for 'ref' sources"
                    .to_owned(),
            ));
        }
    }
    Ok(names.into_iter().map(str::to_owned).collect())
}

fn unknown<'a>(name: &str, known: impl ExactSizeIterator<Item = &'a String>) -> Error {
    if known.len() == 0 {
        return Error::Failed(format!("source referenced {name:?}, but no source has a 'ref' field defined"));
    }
    let list: Vec<&str> = known.map(String::as_str).collect();
    Error::Failed(format!(
        "source referenced {name:?}, which is not one of the available sources ({})",
        list.join(", ")
    ))
}

/// `$name` of each value file and file parameter that has one, each once.
pub fn used(source: &ApplicationSource) -> Vec<&str> {
    let helm = source.helm.iter();
    let files = helm.flat_map(|helm| helm.value_files.iter().chain(helm.file_parameters.iter().map(|file| &file.path)));
    let mut names: Vec<&str> = Vec::new();
    for name in files.filter(|file| file.starts_with('$')).map(|file| name_of(file)) {
        if !names.contains(&name) {
            names.push(name);
        }
    }
    names
}

/// The part of a path before its first slash.
fn name_of(file: &str) -> &str {
    file.split('/').next().unwrap_or_default()
}

/// Refuses what Argo CD refuses before it renders a source of several.
pub fn check(request: &Request) -> Result<(), Error> {
    if !request.has_multiple_sources {
        return Ok(());
    }
    let targets = request.refs.iter().map(|(name, source)| {
        (name.clone(), RefTarget { repo_url: source.repo_url.clone(), chart: source.chart.clone() })
    });
    for name in needed(&request.source, &targets.collect())? {
        let Some(used) = request.refs.get(&name) else { continue };
        if git_url::same(&request.source.repo_url, &used.repo_url) && !same_commit(&used.revision, &request.revision) {
            return Err(Error::Failed(format!(
                "cannot reference a different revision of the same repository ({name} references {:?} which resolves to {:?} while the application references {:?} which resolves to {:?})",
                used.revision, used.revision, request.requested_revision, request.revision
            )));
        }
    }
    Ok(())
}

/// Whether two resolved revisions are one commit; either may be the beginning of a SHA, as it was written.
fn same_commit(left: &str, right: &str) -> bool {
    left.starts_with(right) || right.starts_with(left)
}

/// For a path `$name/…` of a known source: the root of its checkout, and the path below it.
pub fn split<'a, 'f>(request: &'a Request, file: &'f str) -> Option<(&'a Path, &'f str)> {
    let name = name_of(file);
    if !name.starts_with('$') || !request.has_multiple_sources {
        return None;
    }
    let wanted = request.refs.get(name)?;
    Some((&wanted.root, file.get(name.len()..).unwrap_or_default()))
}
