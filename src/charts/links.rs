//! Symbolic links of an unpacked archive that leave it.
//!
//! In:  a folder.
//! Out: the first link, in walking order, that is absolute or steps outside the folder on its way.
//! Source: REND-009 (`util/app/path/path.go` `CheckOutOfBoundsSymlinks`).

use std::fs;
use std::io;
use std::path::Path;

use crate::repo::leaves_root;

/// The first link that leaves the folder, by its path from there; blocking.
pub fn first_out_of_bounds(root: &Path) -> io::Result<Option<String>> {
    scan(root, "")
}

fn scan(root: &Path, folder: &str) -> io::Result<Option<String>> {
    let mut entries: Vec<fs::DirEntry> = fs::read_dir(root.join(folder))?.collect::<Result<_, _>>()?;
    entries.sort_by_key(fs::DirEntry::file_name);
    for entry in entries {
        let kind = entry.file_type()?;
        let name = entry.file_name().to_string_lossy().into_owned();
        let path = if folder.is_empty() { name } else { format!("{folder}/{name}") };
        if kind.is_symlink() {
            if leaves_root(folder, &fs::read_link(entry.path())?.to_string_lossy()) {
                return Ok(Some(path));
            }
        } else if kind.is_dir()
            && let Some(found) = scan(root, &path)?
        {
            return Ok(Some(found));
        }
    }
    Ok(None)
}
