//! The cases that need not pass yet.
//!
//! In:  `expected-failures.txt`, a line `AREA/CASE: reason` each.  Out: reasons by case.
//! Invariant: a line names a case that exists and says why.

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;

use anyhow::{Context as _, Result, bail};

/// Reads the list at `path`; `cases` is the folder of the cases.
pub fn read(path: &Path, cases: &Path) -> Result<BTreeMap<String, String>> {
    let text = fs::read_to_string(path).with_context(|| format!("cannot read {}", path.display()))?;
    let mut all = BTreeMap::new();
    for line in text.lines().map(str::trim).filter(|line| !line.is_empty() && !line.starts_with('#')) {
        match line.split_once(": ") {
            Some((case, reason)) if cases.join(case).join("case.yaml").exists() && !reason.trim().is_empty() => {
                all.insert(case.to_owned(), reason.trim().to_owned());
            }
            _ => bail!("{}: {line:?} is not `AREA/CASE: reason` of a case there is", path.display()),
        }
    }
    Ok(all)
}
