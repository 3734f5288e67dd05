//! Evaluates the Jsonnet files of a directory, in a child process of litecd's own program.
//!
//! In:  the files of a source and its Jsonnet options.
//! Out: the objects of each file.
//! Invariant: a program that never ends, or that fills the memory, ends its child and nothing else; the memory of an evaluation
//! is gone with the child. No import leaves the checkout.
//! Source: REND-108 to REND-113 (`reposerver/repository/repository.go` `findManifests`, `makeJsonnetVM`).

mod contexts;
mod imports;
mod library;
mod output;
mod places;
mod program;
mod syntax;
mod text;
mod tokens;
mod trace;

#[cfg(test)]
mod tests;

use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::build_env::BuildEnv;
use super::{Error, Request, paths};
use crate::api::application::{Jsonnet, JsonnetVar};
use crate::process::Command;

/// Name of the hidden subcommand that evaluates.
pub const SUBCOMMAND: &str = "render-jsonnet";
/// Most memory of a child in bytes; manifests of a cluster need a fraction of it.
const MAX_MEMORY: u64 = 1 << 30;
/// How far the stack may grow: the parser follows nested code by recursion.
const STACK_BYTES: u64 = 64 << 20;

/// The program that this process runs, to start it again. The link also works after an upgrade replaced the file.
pub fn own_program() -> PathBuf {
    let link = PathBuf::from("/proc/self/exe");
    if link.exists() { link } else { std::env::current_exe().unwrap_or_else(|_| "litecd".into()) }
}

/// A variable or top-level argument.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Variable {
    name: String,
    value: String,
    /// Whether the value is Jsonnet code.
    #[serde(default)]
    code: bool,
}

/// What a child is asked.
#[derive(Debug, Serialize, Deserialize)]
struct Task {
    /// Root of the checkout.
    root: PathBuf,
    /// Folders for imports, the last one first.
    folders: Vec<PathBuf>,
    /// Files in order; the first failure ends the work.
    files: Vec<File>,
}

#[derive(Debug, Serialize, Deserialize)]
struct File {
    path: PathBuf,
    ext_vars: Vec<Variable>,
    tlas: Vec<Variable>,
}

/// What a child answers for one file: JSON text or a failure.
type Outcome = Result<String, String>;

/// Evaluates the files in order. The answer is shorter than the list where a file failed: the last entry is its failure.
pub async fn evaluate(
    request: &Request,
    app: &Path,
    files: &[PathBuf],
) -> Result<Vec<Result<Vec<Value>, Error>>, Error> {
    let options = request.source.directory.as_ref().map(|directory| directory.jsonnet.clone()).unwrap_or_default();
    let env = BuildEnv::of(request);
    let task = Task {
        root: request.root.clone(),
        folders: folders(request, app, &options)?,
        files: files_with_variables(files, options, &env),
    };
    let input = serde_json::to_vec(&task).map_err(|error| Error::Failed(error.to_string()))?;
    let child = Command::new(&request.evaluator).arg(SUBCOMMAND).dir("/").limits(request.limits).stdin(input);
    let answer = child.run().await.map_err(|error| stopped(files, &error))?;
    let outcomes: Vec<Outcome> =
        serde_json::from_slice(&answer).map_err(|error| Error::Failed(format!("evaluating jsonnet: {error}")))?;
    let named = files.iter().zip(outcomes);
    Ok(named.map(|(file, outcome)| objects(&file_name(file), outcome)).collect())
}

/// A child that ended without an answer did so while it evaluated one of the files; which one is not known.
fn stopped(files: &[PathBuf], error: &crate::process::Error) -> Error {
    let names: Vec<String> = files.iter().map(|file| file_name(file)).collect();
    let cause = match error {
        crate::process::Error::Timeout { after, .. } => {
            format!("timeout after {}", crate::process::go_duration(*after))
        }
        crate::process::Error::Failed { cause, stderr, .. } => {
            let why = stderr.lines().next().map(|line| format!(": {line}")).unwrap_or_default();
            format!("evaluation ended by {cause}{why}")
        }
        other => other.to_string(),
    };
    Error::BrokenManifest(format!("Failed to evaluate jsonnet {:?}: {cause}", names.join(", ")))
}

fn objects(name: &str, outcome: Outcome) -> Result<Vec<Value>, Error> {
    let broken = |what: &str, cause: &str| Error::BrokenManifest(format!("Failed to {what} {name:?}: {cause}"));
    let json = outcome.map_err(|cause| broken("evaluate jsonnet", &cause))?;
    output::objects(&json).map_err(|cause| broken("unmarshal generated json", &cause))
}

fn file_name(path: &Path) -> String {
    path.file_name().unwrap_or_default().to_string_lossy().into_owned()
}

/// The application's folder, then the libraries, which are relative to the root of the checkout.
fn folders(request: &Request, app: &Path, options: &Jsonnet) -> Result<Vec<PathBuf>, Error> {
    let libs = options.libs.iter().map(|lib| paths::inside_or_root(&request.root, lib));
    std::iter::once(Ok(app.to_owned())).chain(libs).collect()
}

/// The variables of each file. Argo CD replaces them in place and again for every file, so the second file sees the values of the
/// first one substituted once more.
fn files_with_variables(files: &[PathBuf], mut options: Jsonnet, env: &BuildEnv) -> Vec<File> {
    let substitute = |variables: &mut Vec<JsonnetVar>| -> Vec<Variable> {
        variables.iter_mut().for_each(|variable| variable.value = env.substitute(&variable.value));
        let as_given = |v: &JsonnetVar| Variable { name: v.name.clone(), value: v.value.clone(), code: v.code };
        variables.iter().map(as_given).collect()
    };
    let with_variables = |path: &PathBuf| File {
        path: path.clone(),
        tlas: substitute(&mut options.tlas),
        ext_vars: substitute(&mut options.ext_vars),
    };
    files.iter().map(with_variables).collect()
}

/// The child's work: reads a task, evaluates it, and gives the text of the answer.
///
/// # Errors
/// The task is not one that a litecd of this version writes.
pub fn answer(task: &[u8]) -> Result<String, String> {
    limit_memory();
    let task: Task = serde_json::from_slice(task).map_err(|error| format!("no task: {error}"))?;
    serde_json::to_string(&outcomes(&task)).map_err(|error| error.to_string())
}

fn outcomes(task: &Task) -> Vec<Outcome> {
    let search = imports::Search { root: task.root.clone(), folders: task.folders.clone() };
    let mut outcomes = Vec::new();
    for file in &task.files {
        let setup = program::Setup { file: &file.path, search: &search, ext_vars: &file.ext_vars, tlas: &file.tlas };
        let outcome = program::evaluate(&setup);
        let failed = outcome.is_err();
        outcomes.push(outcome);
        if failed {
            break;
        }
    }
    outcomes
}

/// A program that allocates without end is to end its own process. Where a container's limit is hit first, the kernel may end all
/// of the container, so the limit stays below it.
fn limit_memory() {
    use rustix::process::{Resource, Rlimit, getrlimit, setrlimit};
    let container = std::fs::read_to_string("/sys/fs/cgroup/memory.max").ok();
    let container = container.and_then(|text| text.trim().parse::<u64>().ok()).map(|bytes| bytes / 4 * 3);
    let memory = container.map_or(MAX_MEMORY, |bytes| bytes.min(MAX_MEMORY));
    for (resource, bytes) in [(Resource::Data, memory), (Resource::Stack, STACK_BYTES)] {
        let limit = Rlimit { current: Some(bytes), maximum: getrlimit(resource).maximum };
        // Where the system does not take a limit, the limit of the container remains.
        let _ = setrlimit(resource, limit);
    }
}
