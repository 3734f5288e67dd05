//! The administrator's health scripts, and which one an object gets.
//!
//! In:  scripts by `group/Kind` (core: `Kind`), either exact or with wildcards; a folder of scripts behind them.
//! Out: the script for an object's kind, if any.
//! Invariant: an exact key wins over wildcards; of several wildcards the first in key order wins, where Argo CD
//! takes any; the settings win over the folder.
//! Source: HEALTH-073, HEALTH-075, HEALTH-076, HEALTH-078 (`util/lua/lua.go` `GetHealthScript`).

use std::collections::BTreeMap;
use std::fmt;
use std::sync::Arc;

use jiff::Timestamp;
use serde_json::Value;

use super::ScriptFolder;
use crate::api::ObjectExt;

/// A health script and what it may use.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Script {
    /// Lua text; an empty one is no script.
    pub script: String,
    /// Whether the string, math and coroutine libraries are open to it (`useOpenLibs`).
    pub open_libs: bool,
}

/// The clock of one script run; this room has none of its own.
pub struct Run {
    /// The time that the script sees.
    pub now: Timestamp,
    /// Whether the script's time is up; Argo CD gives it one second.
    pub expired: Box<dyn Fn() -> bool + Send + Sync>,
}

/// Starts the clock of one script run.
pub type StartRun = Arc<dyn Fn() -> Run + Send + Sync>;

/// Whether a glob without separators (first) matches a text (second).
pub type Glob = fn(&str, &str) -> bool;

/// Scripts of one installation with what is needed to choose and run them.
#[derive(Clone)]
pub struct Overrides {
    scripts: BTreeMap<String, Script>,
    folder: ScriptFolder,
    matches: Glob,
    start: StartRun,
}

impl Overrides {
    /// Scripts by key, the glob matcher for keys with wildcards, and the clock of script runs.
    pub fn new(scripts: BTreeMap<String, Script>, matches: Glob, start: StartRun) -> Self {
        Self { scripts, folder: ScriptFolder::default(), matches, start }
    }

    /// The same with a folder of scripts for kinds that the settings say nothing about.
    pub fn with_folder(self, folder: ScriptFolder) -> Self {
        Self { folder, ..self }
    }

    /// No scripts at all.
    pub fn none() -> Self {
        Self::new(
            BTreeMap::new(),
            |_, _| false,
            Arc::new(|| Run { now: Timestamp::UNIX_EPOCH, expired: Box::new(|| true) }),
        )
    }

    /// The script for a key such as `apps/Deployment` or `Pod`.
    pub fn script(&self, key: &str) -> Option<&Script> {
        let is_script = |script: &&Script| !script.script.is_empty();
        let wildcard = || {
            self.scripts
                .iter()
                .find(|(pattern, script)| is_script(script) && (self.matches)(pattern, key))
                .map(|(_, script)| script)
        };
        self.scripts.get(key).filter(is_script).or_else(wildcard).or_else(|| self.folder.script(key))
    }

    /// What starts the clock of a script run.
    pub(super) fn start(&self) -> &StartRun {
        &self.start
    }
}

impl fmt::Debug for Overrides {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Overrides")
            .field("scripts", &self.scripts)
            .field("folder", &self.folder)
            .finish_non_exhaustive()
    }
}

/// The key under which an object's script is looked up: `group/Kind`, for core kinds just `Kind` (HEALTH-076).
pub(super) fn key(object: &Value) -> String {
    match object.group() {
        "" => object.kind().to_owned(),
        group => format!("{group}/{}", object.kind()),
    }
}
