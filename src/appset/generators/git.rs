//! The Git generator: directories or files of a commit.
//!
//! In:  patterns, the directories of a commit, or contents of the files that patterns match.
//! Out: one set per directory, or per object in a file, ordered by path.
//! Source: SET-030 to SET-038 (`applicationset/generators/git.go`).

use std::collections::BTreeMap;

use serde_json::{Map, Value};

use super::super::names::sanitized;
use super::super::params::{Params, flattened, with_floats};
use super::super::query::{Answer, Query};
use super::super::yaml;
use super::{Context, Stop, add_values, is_setup, misfit, text};
use crate::api::appset::GitGenerator;
use crate::gocompat::filepath;

/// The sets of parameters.
pub fn params(git: &GitGenerator, context: &Context) -> Result<Vec<Params>, Stop> {
    let written = &context.set.spec.template.spec.project;
    let is_template = written.contains("{{");
    if !is_template && !context.world.projects.contains(written) {
        let problem = format!("AppProject.argoproj.io {written:?} not found");
        return Err(Stop::Error(format!("error getting project {written}: {problem}")));
    }
    let project = if is_template { "" } else { written };
    let sets = match (git.directories.is_empty(), git.files.is_empty()) {
        (false, _) => of_directories(git, project, context),
        (true, false) => of_files(git, project, context),
        (true, true) => return Err(Stop::Error("ApplicationSet is empty".to_owned())),
    };
    sets.map_err(|stop| stop.within("error generating params from git: "))
}

fn of_directories(git: &GitGenerator, project: &str, context: &Context) -> Result<Vec<Params>, Stop> {
    let query = Query::GitDirectories {
        repo_url: git.repo_url.clone(),
        revision: git.revision.clone(),
        project: project.to_owned(),
    };
    let directories = match context.ask(query)? {
        Ok(Answer::Directories(directories)) => directories,
        Ok(_) => return Err(misfit()),
        Err(error) => {
            let before = if is_setup(error) { "error in GetRepository" } else { "error retrieving Git Directories" };
            return Err(Stop::Error(format!("error getting directories from repo: {before}: {error}")));
        }
    };
    let wanted = directories.iter().filter(|path| is_wanted(git, path));
    wanted
        .map(|path| {
            let mut params = Params::new();
            let place = Place { directory: path, filename: None, prefix: &git.path_param_prefix };
            place.add(&mut params, context.engine.go);
            add_values(&mut params, &git.values, &context.engine).map_err(|error| {
                format!("error generating params from apps: failed to append templated values: {error}")
            })?;
            Ok(params)
        })
        .collect()
}

/// Whether a pattern takes a directory and none leaves it out; a malformed pattern does neither.
fn is_wanted(git: &GitGenerator, path: &str) -> bool {
    let matches = |exclude: bool| {
        let mut items = git.directories.iter().filter(|item| item.exclude == exclude);
        items.any(|item| filepath::matches(&item.path, path) == Ok(true))
    };
    matches(false) && !matches(true)
}

fn of_files(git: &GitGenerator, project: &str, context: &Context) -> Result<Vec<Params>, Stop> {
    let files = wanted_files(git, project, context)?;
    let mut sets = Vec::new();
    for (path, content) in files {
        let of_file = of_file(git, path, content, context)
            .map_err(|error| format!("unable to process file '{path}' from repository '{}': {error}", git.repo_url))?;
        sets.extend(of_file);
    }
    Ok(sets)
}

/// Files that a pattern takes and none leaves out.
fn wanted_files<'a>(
    git: &GitGenerator,
    project: &str,
    context: &'a Context,
) -> Result<BTreeMap<&'a str, &'a [u8]>, Stop> {
    let mut answers = super::Gathered::default();
    let (excluded, included): (Vec<_>, Vec<_>) = git.files.iter().partition(|item| item.exclude);
    for item in included.iter().chain(&excluded) {
        let query = Query::GitFiles {
            repo_url: git.repo_url.clone(),
            revision: git.revision.clone(),
            project: project.to_owned(),
            pattern: item.path.clone(),
            globbing: context.options.globbing,
        };
        answers.add(context.ask(query).and_then(|answer| match answer {
            Ok(Answer::Files(files)) => Ok(files),
            Ok(_) => Err(misfit()),
            Err(error) => {
                let before = if is_setup(error) { "error in GetRepository" } else { "error retrieving Git files" };
                Err(Stop::Error(format!("{before}: {error}")))
            }
        }));
    }
    let answers = answers.finish()?;
    let (taken, left_out) = answers.split_at(included.len());
    let mut files: BTreeMap<&str, &[u8]> = BTreeMap::new();
    for (path, content) in taken.iter().flat_map(|files| files.iter()) {
        files.insert(path, content);
    }
    files.retain(|path, _| !left_out.iter().any(|files| files.contains_key(*path)));
    Ok(files)
}

fn of_file(git: &GitGenerator, path: &str, content: &[u8], context: &Context) -> Result<Vec<Params>, String> {
    let objects = yaml::object_or_objects(content).map_err(|error| format!("unable to parse file: {error}"))?;
    let (directory, filename) = path.rsplit_once('/').unwrap_or((".", path));
    let place = Place { directory, filename: Some(filename), prefix: &git.path_param_prefix };
    objects
        .into_iter()
        .map(|object| {
            let floats: Params = object.into_iter().map(|(key, value)| (key, with_floats(value))).collect();
            let mut params = if context.engine.go { floats } else { flattened(&floats) };
            place.add(&mut params, context.engine.go);
            add_values(&mut params, &git.values, &context.engine)
                .map_err(|error| format!("failed to append templated values: {error}"))?;
            Ok(params)
        })
        .collect()
}

/// Where a set of parameters comes from.
struct Place<'a> {
    directory: &'a str,
    filename: Option<&'a str>,
    prefix: &'a str,
}

impl Place<'_> {
    /// Adds the path parameters, over parameters of the same name.
    fn add(&self, params: &mut Params, go: bool) {
        let basename = self.directory.rsplit('/').next().unwrap_or_default();
        let segments = self.directory.split('/');
        let mut parts = vec![("basename", basename.to_owned()), ("basenameNormalized", sanitized(basename))];
        if let Some(filename) = self.filename {
            parts.push(("filename", filename.to_owned()));
            parts.push(("filenameNormalized", sanitized(filename)));
        }
        if go {
            let mut path: Map<String, Value> =
                parts.into_iter().map(|(key, part)| (key.to_owned(), text(part))).collect();
            path.insert("path".to_owned(), text(self.directory));
            path.insert("segments".to_owned(), segments.map(text).collect());
            let (key, value) = match self.prefix {
                "" => ("path", Value::Object(path)),
                prefix => (prefix, Value::Object(Map::from_iter([("path".to_owned(), Value::Object(path))]))),
            };
            params.insert(key.to_owned(), value);
        } else {
            let name = if self.prefix.is_empty() { "path".to_owned() } else { format!("{}.path", self.prefix) };
            params.extend(parts.into_iter().map(|(key, part)| (format!("{name}.{key}"), text(part))));
            let filled = segments.enumerate().filter(|(_, segment)| !segment.is_empty());
            params.extend(filled.map(|(at, segment)| (format!("{name}[{at}]"), text(segment))));
            params.insert(name, text(self.directory));
        }
    }
}
