//! Health scripts laid out in folders as Argo CD lays out its own: `GROUP/KIND/health.lua`, `KIND/health.lua` for core.
//!
//! In:  folder names with the scripts found in them; `_` in a name stands for any text without `/`.
//! Out: the script for a kind.
//! Invariant: an exact folder wins over wildcards, and of these the first in the order of names.
//! Source: HEALTH-073, HEALTH-077 (`util/lua/lua.go` `getGlobHealthScriptPaths`).

use std::collections::BTreeMap;

use super::Script;
use crate::gocompat::glob;

/// What stands for any text in a folder's name, since `*` cannot stand in all file systems.
const WILDCARD: &str = "_";

/// Scripts by folder.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct ScriptFolder(BTreeMap<String, Script>);

impl ScriptFolder {
    /// Takes scripts by folder name, such as `apps/Deployment`. As Argo CD's own they may use all libraries.
    pub fn new(scripts: impl IntoIterator<Item = (String, String)>) -> Self {
        Self(scripts.into_iter().map(|(folder, script)| (folder, Script { script, open_libs: true })).collect())
    }

    /// The script for a key such as `apps/Deployment` or `Pod`.
    pub fn script(&self, key: &str) -> Option<&Script> {
        self.0.get(key).or_else(|| {
            let wildcards = self.0.iter().filter(|(folder, _)| folder.contains(WILDCARD));
            wildcards.into_iter().find(|(folder, _)| matches(folder, key)).map(|(_, script)| script)
        })
    }
}

fn matches(folder: &str, key: &str) -> bool {
    glob::matches(&folder.replace(WILDCARD, "*"), key, &['/'])
}
