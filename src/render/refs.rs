//! Sources that refer to other sources of the application as `$name/…`.
//!
//! In:  the value files and file parameters of a Helm source, the sources that have a `ref`.
//! Out: which of them are used and where each one's files lie.
//! Invariant: two references to one repository read the same commit, that of the first one used (REND-179 describes why).
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

/// The names (`$name`) whose repositories must be checked out before the source can be rendered, in order of use; of several that
/// name one repository only the first.
///
/// # Errors
/// A name that no source has, or a name of a chart.
pub fn needed(source: &ApplicationSource, targets: &BTreeMap<String, RefTarget>) -> Result<Vec<String>, Error> {
    let mut names: Vec<String> = Vec::new();
    for name in used_names(source) {
        let target = targets.get(name).ok_or_else(|| unknown(name, targets.keys()))?;
        if !target.chart.is_empty() {
            return Err(Error::Failed(
                "source has a 'chart' field defined, but Helm charts are not yet not supported for 'ref' sources"
                    .to_owned(),
            ));
        }
        let is_known =
            |known: &String| targets.get(known).is_some_and(|other| git_url::same(&other.repo_url, &target.repo_url));
        if !names.iter().any(is_known) {
            names.push(name.to_owned());
        }
    }
    Ok(names)
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

/// `$name` of each value file and file parameter that has one.
fn used_names(source: &ApplicationSource) -> impl Iterator<Item = &str> {
    let helm = source.helm.iter();
    let files = helm.flat_map(|helm| helm.value_files.iter().chain(helm.file_parameters.iter().map(|file| &file.path)));
    files.filter(|file| file.starts_with('$')).map(|file| name_of(file))
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
        if git_url::same(&request.source.repo_url, &used.repo_url) && used.revision != request.revision {
            return Err(Error::Failed(format!(
                "cannot reference a different revision of the same repository ({name} references {:?} which resolves to {:?} while the application references {:?} which resolves to {:?})",
                used.revision, used.revision, request.requested_revision, request.revision
            )));
        }
    }
    Ok(())
}

/// For a path `$name/…` of a known source: the root of its checkout, and the path below it.
pub fn split<'a, 'f>(request: &'a Request, file: &'f str) -> Option<(&'a Path, &'f str)> {
    let name = name_of(file);
    if !name.starts_with('$') || !request.has_multiple_sources {
        return None;
    }
    let wanted = request.refs.get(name)?;
    let first = used_names(&request.source)
        .filter_map(|used| request.refs.get(used))
        .find(|used| git_url::same(&used.repo_url, &wanted.repo_url));
    Some((&first.unwrap_or(wanted).root, file.get(name.len()..).unwrap_or_default()))
}
