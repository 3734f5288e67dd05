//! Which version of a chart helm takes, and where from.
//!
//! In:  the versions in an index, and a version as it is passed to `helm pull --version`.
//! Out: the entry helm would download.
//! Source: REND-069 (Helm `pkg/repo/v1/index.go` `SortEntries`, `Get`).

use std::cmp::Reverse;

use super::index::Entry;
use crate::gocompat::semver::{Constraint, Version};

/// The entry for a version: the exact one, else the highest that the version admits when it is read as a constraint.
pub fn pick<'a>(entries: &'a [Entry], version: &str) -> Option<&'a Entry> {
    if let Some(exact) = entries.iter().find(|entry| entry.version == version) {
        return Some(exact);
    }
    let constraint = Constraint::parse(version).ok()?;
    let mut known: Vec<(Version, &Entry)> =
        entries.iter().filter_map(|entry| Some((Version::parse(&entry.version).ok()?, entry))).collect();
    known.sort_by(|(left, _), (right, _)| Reverse(left).cmp(&Reverse(right)));
    known.into_iter().find(|(version, _)| constraint.admits(version)).map(|(_, entry)| entry)
}
