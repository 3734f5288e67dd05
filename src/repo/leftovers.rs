//! What a killed git child leaves behind.
//!
//! In:  a bare repository after a failed fetch, and an age that no running child can have.
//! Out: temporary packs and lock files of that age are removed, so that the next fetch can go on.
//! Invariant: younger files are left alone: another process may share the cache directory.
//! Source: REND-044 (`util/git/client.go` `cleanupOrphanedTempPackfiles`).

use std::fs;
use std::path::Path;
use std::time::Duration;

/// Names that git gives to packs in the making.
const PARTIAL: [&str; 4] = ["tmp_pack_", "tmp_idx_", "tmp_rev_", "tmp_mtimes_"];

/// Removes old leftovers; what cannot be removed stays for the next time.
pub fn remove(bare: &Path, age: Duration) {
    remove_files(&bare.join("objects/pack"), age, &|name| PARTIAL.iter().any(|start| name.starts_with(start)));
    remove_files(bare, age, &is_lock);
    remove_locks_below(&bare.join("refs"), age);
}

fn is_lock(name: &str) -> bool {
    name.ends_with(".lock")
}

fn remove_locks_below(folder: &Path, age: Duration) {
    remove_files(folder, age, &is_lock);
    for entry in fs::read_dir(folder).into_iter().flatten().flatten() {
        if entry.file_type().is_ok_and(|kind| kind.is_dir()) {
            remove_locks_below(&entry.path(), age);
        }
    }
}

fn remove_files(folder: &Path, age: Duration, is_leftover: &dyn Fn(&str) -> bool) {
    for entry in fs::read_dir(folder).into_iter().flatten().flatten() {
        let metadata = entry.metadata().ok().filter(fs::Metadata::is_file);
        let changed = metadata.and_then(|metadata| metadata.modified().ok());
        let is_old = changed.and_then(|changed| changed.elapsed().ok()).is_some_and(|elapsed| elapsed > age);
        if is_old && is_leftover(&entry.file_name().to_string_lossy()) {
            tracing::info!(file = %entry.path().display(), "removing what a killed git left behind");
            let _ = fs::remove_file(entry.path());
        }
    }
}
