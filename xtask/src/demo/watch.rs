//! Notices that the examples were edited.
//!
//! In:  `examples/`.  Out: the files that changed since it was last asked.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};
use std::time::SystemTime;

use anyhow::{Context as _, Result};

type State = BTreeMap<PathBuf, (u64, SystemTime)>;

/// Remembers the files' sizes and times.
#[derive(Debug)]
pub struct Watch {
    root: PathBuf,
    known: State,
}

impl Watch {
    /// Begins with the examples as they are.
    pub fn new() -> Result<Self> {
        Self::on(crate::workspace().join("examples"))
    }

    fn on(root: PathBuf) -> Result<Self> {
        let known = state(&root)?;
        Ok(Self { root, known })
    }

    /// The files that were written, made or removed since the last call.
    pub fn changed(&mut self) -> Result<Option<Vec<String>>> {
        let now = state(&self.root)?;
        if now == self.known {
            return Ok(None);
        }
        let mut files: Vec<&PathBuf> = now.keys().chain(self.known.keys()).collect();
        files.sort();
        files.dedup();
        let files = files.into_iter().filter(|file| now.get(*file) != self.known.get(*file));
        let names = files.map(|file| file.strip_prefix(&self.root).unwrap_or(file).display().to_string()).collect();
        self.known = now;
        Ok(Some(names))
    }
}

fn state(root: &Path) -> Result<State> {
    let mut all = State::new();
    for entry in fs::read_dir(root).with_context(|| format!("cannot read {}", root.display()))? {
        let path = entry?.path();
        // An editor may replace a file while we look.
        let Ok(metadata) = fs::metadata(&path) else { continue };
        if metadata.is_dir() {
            all.extend(state(&path)?);
        } else {
            all.insert(path, (metadata.len(), metadata.modified()?));
        }
    }
    Ok(all)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_written_a_new_and_a_removed_file_are_noticed_once() {
        let folder = std::env::temp_dir().join(format!("xtask-watch-{}", std::process::id()));
        fs::create_dir_all(folder.join("sub")).unwrap();
        fs::write(folder.join("kept"), "").unwrap();
        fs::write(folder.join("removed"), "").unwrap();
        let mut watch = Watch::on(folder.clone()).unwrap();
        assert_eq!(watch.changed().unwrap(), None);
        fs::write(folder.join("kept"), "more").unwrap();
        fs::write(folder.join("sub/new"), "").unwrap();
        fs::remove_file(folder.join("removed")).unwrap();
        assert_eq!(watch.changed().unwrap(), Some(vec!["kept".to_owned(), "removed".to_owned(), "sub/new".to_owned()]));
        assert_eq!(watch.changed().unwrap(), None);
        fs::remove_dir_all(folder).unwrap();
    }
}
