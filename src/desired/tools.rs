//! Which helm and kustomize would run, as far as that can change what they print.
//!
//! In:  `PATH` and the settings that name further kustomize binaries.
//! Out: a text that changes when a tool is replaced.
//! Invariant: measured once per binary; a process that outlives the replacement of its tools goes on with the old name.

use std::cell::RefCell;
use std::collections::HashMap;
use std::fs;
use std::path::{Path, PathBuf};
use std::time::UNIX_EPOCH;

use crate::render::KustomizeSettings;

/// The tools that are found on `PATH`.
const ON_PATH: [&str; 2] = ["helm", "kustomize"];

/// What was measured.
#[derive(Debug, Default)]
pub struct Tools {
    on_path: Vec<String>,
    others: RefCell<HashMap<String, String>>,
}

impl Tools {
    /// Looks for the tools on `PATH`.
    pub fn measure() -> Self {
        let on_path = ON_PATH.iter().map(|tool| find(tool).map_or_else(String::new, |path| mark(&path)));
        Self { on_path: on_path.collect(), others: RefCell::default() }
    }

    /// One text for all tools that a rendering may run.
    pub fn fingerprint(&self, kustomize: &KustomizeSettings) -> String {
        let mut others = self.others.borrow_mut();
        let further = kustomize.binaries.values();
        let further: Vec<String> =
            further.map(|path| others.entry(path.clone()).or_insert_with(|| mark(Path::new(path))).clone()).collect();
        [self.on_path.as_slice(), &further].concat().join("\n")
    }
}

fn find(tool: &str) -> Option<PathBuf> {
    let path = std::env::var_os("PATH")?;
    std::env::split_paths(&path).map(|folder| folder.join(tool)).find(|file| file.is_file())
}

/// Path, size and time of a binary; starting it to ask for its version would cost every start half a second.
fn mark(path: &Path) -> String {
    let Ok(meta) = fs::metadata(path) else { return String::new() };
    let time = meta.modified().ok().and_then(|time| time.duration_since(UNIX_EPOCH).ok()).unwrap_or_default();
    format!("{} {} {}", path.display(), meta.len(), time.as_nanos())
}
