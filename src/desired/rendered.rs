//! Rendered manifests on disk, so that a restart or a live change renders nothing again.
//!
//! In:  a digest of everything a rendering depends on, and its result.
//! Out: the result, as long as it is remembered.
//! Invariant: only litecd's own user can read the files, since rendered Secrets stand in them as plain text; the folder
//! never grows far beyond its bounds.

use std::cell::Cell;
use std::fs::{self, DirBuilder, File, Permissions};
use std::io::{self, Read, Write};
use std::os::unix::fs::{DirBuilderExt, PermissionsExt};
use std::path::PathBuf;
use std::time::SystemTime;

/// What may stay on disk.
#[derive(Debug, Clone, Copy)]
pub struct Bounds {
    /// Number of files.
    pub files: usize,
    /// Sum of their sizes.
    pub bytes: u64,
}

/// Enough for a thousand applications with two sources each.
pub const BOUNDS: Bounds = Bounds { files: 2_000, bytes: 256 << 20 };

/// How many files are written between two looks at the bounds.
const WRITES: u32 = 64;

/// The folder of rendered manifests.
pub struct Rendered {
    dir: PathBuf,
    bounds: Bounds,
    writes: Cell<u32>,
}

impl Rendered {
    /// Uses a folder, readable by nobody else, and clears it of what is beyond the bounds.
    pub fn new(dir: PathBuf, bounds: Bounds) -> io::Result<Self> {
        DirBuilder::new().recursive(true).mode(0o700).create(&dir)?;
        // The folder may be there from before.
        fs::set_permissions(&dir, Permissions::from_mode(0o700))?;
        let rendered = Self { dir, bounds, writes: Cell::new(0) };
        rendered.prune();
        Ok(rendered)
    }

    /// What is remembered under a key; being asked for makes it recent.
    pub fn recall(&self, key: &str) -> Option<Vec<u8>> {
        let mut file = File::open(self.dir.join(key)).ok()?;
        let mut bytes = Vec::new();
        file.read_to_end(&mut bytes).ok()?;
        // Without its time the file merely goes sooner.
        let _ = file.set_modified(SystemTime::now());
        Some(bytes)
    }

    /// Writes beside and renames, so that a killed process leaves no half-written answer.
    pub fn remember(&self, key: &str, bytes: &[u8]) {
        // A temporary file is readable by its owner only, and stays so under its new name.
        let written = tempfile::NamedTempFile::new_in(&self.dir).and_then(|mut file| {
            file.write_all(bytes)?;
            file.persist(self.dir.join(key)).map_err(|error| error.error)?;
            Ok(())
        });
        if let Err(error) = written {
            tracing::warn!(reason = %error, "Cannot remember rendered manifests");
        }
        self.writes.set(self.writes.get() + 1);
        if self.writes.get() >= WRITES {
            self.prune();
        }
    }

    /// Lets an answer go on under another key; false when there is none.
    pub fn rename(&self, from: &str, to: &str) -> bool {
        fs::rename(self.dir.join(from), self.dir.join(to)).is_ok()
    }

    /// Removes what was not used for longest until the rest is within the bounds.
    fn prune(&self) {
        self.writes.set(0);
        let Ok(entries) = fs::read_dir(&self.dir) else { return };
        let mut files: Vec<_> = entries
            .flatten()
            .filter_map(|entry| {
                let meta = entry.metadata().ok().filter(fs::Metadata::is_file)?;
                Some((meta.modified().ok()?, meta.len(), entry.path()))
            })
            .collect();
        files.sort_by(|left, right| right.cmp(left));
        let mut bytes = 0;
        for (place, (_, size, path)) in files.into_iter().enumerate() {
            bytes += size;
            if place >= self.bounds.files || bytes > self.bounds.bytes {
                let _ = fs::remove_file(path);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::time::Duration;

    fn aged(rendered: &Rendered, key: &str, seconds: u64) {
        rendered.remember(key, b"0123456789");
        let time = SystemTime::now() - Duration::from_secs(seconds);
        File::open(rendered.dir.join(key)).unwrap().set_modified(time).unwrap();
    }

    fn kept(bounds: Bounds) -> Vec<String> {
        let dir = tempfile::tempdir().unwrap();
        let rendered = Rendered::new(dir.path().join("rendered"), bounds).unwrap();
        for (key, age) in [("a", 400), ("b", 300), ("c", 200)] {
            aged(&rendered, key, age);
        }
        assert!(rendered.recall("a").is_some());
        let rendered = Rendered::new(dir.path().join("rendered"), bounds).unwrap();
        ["a", "b", "c"].into_iter().filter(|key| rendered.recall(key).is_some()).map(str::to_owned).collect()
    }

    #[test]
    fn what_was_not_used_for_longest_goes_first() {
        assert_eq!(kept(Bounds { files: 2, bytes: 1000 }), ["a", "c"]);
        assert_eq!(kept(Bounds { files: 9, bytes: 15 }), ["a"]);
        assert_eq!(kept(Bounds { files: 9, bytes: 30 }), ["a", "b", "c"]);
    }

    #[test]
    fn nobody_else_can_read_what_was_rendered() {
        let dir = tempfile::tempdir().unwrap();
        let rendered = Rendered::new(dir.path().join("rendered"), BOUNDS).unwrap();
        rendered.remember("a", b"secret");
        let mode = |path| fs::metadata(path).unwrap().permissions().mode() & 0o777;
        assert_eq!(mode(rendered.dir.clone()), 0o700);
        assert_eq!(mode(rendered.dir.join("a")), 0o600);
    }
}
