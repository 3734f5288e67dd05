//! Value files and inline values.
//!
//! In:  the source's Helm options.
//! Out: the files in the order helm gets them, each once.
//! Source: REND-125 to REND-132, REND-175, REND-176 (`getResolvedValueFiles`, `pkg/apis/application/v1alpha1/values.go`).

use std::path::{Path, PathBuf};

use super::glob;
use crate::api::application::Helm;
use crate::render::build_env::BuildEnv;
use crate::render::paths::{self, Resolved};
use crate::render::{Error, Request, refs};

/// Values of the spec as text; the object wins over the text. JSON is YAML that no reader misreads.
pub fn inline(options: &Helm) -> String {
    match &options.values_object {
        None => options.values.clone(),
        Some(object) => {
            let text = crate::gocompat::json::to_string_plain(object);
            // JSON allows these characters as they are, YAML does not.
            text.replace('\u{7f}', "\\u007f") + "\n"
        }
    }
}

/// The value files, in order.
pub fn files(request: &Request, app: &Path, env: &BuildEnv) -> Result<Vec<Resolved>, Error> {
    let Some(options) = &request.source.helm else { return Ok(Vec::new()) };
    let explicit: Vec<Resolved> = options
        .value_files
        .iter()
        .filter_map(|file| resolve(request, app, env, file).ok())
        .map(|(resolved, _)| resolved)
        .filter(|resolved| glob_pattern(resolved).is_none())
        .collect();
    let mut files: Vec<Resolved> = Vec::new();
    let mut add = |file: Resolved| {
        if !files.contains(&file) {
            files.push(file);
        }
    };
    for raw in &options.value_files {
        let (resolved, root) =
            resolve(request, app, env, raw).map_err(|error| error.within("error resolving value file path"))?;
        if let Some(pattern) = glob_pattern(&resolved) {
            if !glob::is_valid(pattern) {
                return Err(Error::Failed(format!("error expanding glob pattern {raw:?}: syntax error in pattern")));
            }
            let matches = glob::expand(pattern);
            if matches.is_empty() {
                if options.ignore_missing_value_files {
                    continue;
                }
                return Err(Error::NoValueFile(format!("values file glob {raw:?} matched no files")));
            }
            check_inside(&matches, root).map_err(|error| error.within(&format!("glob pattern {raw:?}")))?;
            // A file that is also named on its own keeps its own place.
            matches.into_iter().map(Resolved::Local).filter(|file| !explicit.contains(file)).for_each(&mut add);
            continue;
        }
        // What cannot be looked at for another reason is for helm to report.
        let is_missing = matches!(&resolved, Resolved::Local(path)
            if std::fs::metadata(path).is_err_and(|error| error.kind() == std::io::ErrorKind::NotFound));
        if !(is_missing && options.ignore_missing_value_files) {
            add(resolved);
        }
    }
    Ok(files)
}

/// Where a value file lies, and the root that it must not leave.
fn resolve<'a>(request: &'a Request, app: &Path, env: &BuildEnv, file: &str) -> Result<(Resolved, &'a Path), Error> {
    let schemes = &request.value_file_schemes;
    match refs::split(request, file) {
        // The substitution happens after the name of the other source is taken off, for it looks like a variable.
        Some((root, below)) => Ok((in_ref(root, &env.substitute(below), schemes)?, root)),
        None => Ok((paths::value_file(app, &request.root, &env.substitute(file), schemes)?, &request.root)),
    }
}

/// A path below the root of another source.
pub fn in_ref(root: &Path, below: &str, schemes: &[String]) -> Result<Resolved, Error> {
    paths::value_file(root, root, below, schemes).map_err(|error| error.within("error resolving value file path"))
}

fn glob_pattern(file: &Resolved) -> Option<&Path> {
    match file {
        Resolved::Local(path) if path.to_string_lossy().contains(['*', '?', '[']) => Some(path),
        _ => None,
    }
}

/// Refuses matches that lead out of the root through links.
fn check_inside(matches: &[PathBuf], root: &Path) -> Result<(), Error> {
    for found in matches {
        let real = std::fs::canonicalize(found).map_err(|error| {
            Error::Failed(format!("error resolving symlink for glob match {:?}: {error}", found.display().to_string()))
        })?;
        if !real.starts_with(root) {
            return Err(Error::Failed(format!(
                "glob match {:?} resolved to outside repository root",
                found.display().to_string()
            )));
        }
    }
    Ok(())
}
