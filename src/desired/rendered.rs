//! Rendered manifests on disk, so that a restart or a live change renders nothing again.
//!
//! In:  a digest of everything a rendering depends on, and its result.
//! Out: the result, as long as it is remembered.
//! Invariant: only litecd's own user can read the files, since rendered Secrets stand in them as plain text; the folder
//! never grows far beyond its bounds; a file that was damaged on disk is no answer.
//! Source: REND-213 to REND-217 (`reposerver/cache/cache.go`).

use std::cell::Cell;
use std::fs::{self, DirBuilder, File, Permissions};
use std::io::{self, Read, Write};
use std::os::unix::fs::{DirBuilderExt, PermissionsExt};
use std::path::PathBuf;
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use flate2::read::GzDecoder;
use flate2::{Compression, GzBuilder};

/// What may stay on disk.
#[derive(Debug, Clone, Copy)]
pub struct Bounds {
    /// Number of files.
    pub files: usize,
    /// Sum of their sizes.
    pub bytes: u64,
    /// How long a rendering is good for, from when it was made; what it depends on besides its key (remote bases, files
    /// behind URLs) may have changed by then. Zero remembers nothing.
    pub age: Duration,
}

impl Default for Bounds {
    /// Enough for a thousand applications with two sources each, for a day.
    fn default() -> Self {
        Self { files: 2_000, bytes: 64 << 20, age: Duration::from_secs(24 * 3600) }
    }
}

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
        let path = self.dir.join(key);
        let file = File::open(&path).ok()?;
        let mut bytes = Vec::new();
        let mut packed = GzDecoder::new(&file);
        let is_whole = packed.read_to_end(&mut bytes).is_ok();
        // The header tells when the rendering was made; the file's own time tells when it was last used.
        let made = packed.header().map_or(0, flate2::GzHeader::mtime);
        let age = now().saturating_sub(made);
        if !is_whole || Duration::from_secs(age.into()) >= self.bounds.age {
            let _ = fs::remove_file(path);
            return None;
        }
        // Without its time the file merely goes sooner.
        let _ = file.set_modified(SystemTime::now());
        Some(bytes)
    }

    /// Writes beside and renames, so that a killed process leaves no half-written answer.
    pub fn remember(&self, key: &str, bytes: &[u8]) {
        if self.bounds.age.is_zero() {
            return;
        }
        // A temporary file is readable by its owner only, and stays so under its new name.
        let written = tempfile::NamedTempFile::new_in(&self.dir).and_then(|mut file| {
            let mut packer = GzBuilder::new().mtime(now()).write(&mut file, Compression::fast());
            packer.write_all(bytes)?;
            packer.finish()?;
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

/// Seconds since 1970, as the header of a file holds them.
fn now() -> u32 {
    SystemTime::now().duration_since(UNIX_EPOCH).ok().and_then(|since| u32::try_from(since.as_secs()).ok()).unwrap_or(0)
}

#[cfg(test)]
mod tests {
    use super::*;
    use sha2::Digest;

    fn aged(rendered: &Rendered, key: &str, seconds: u64) {
        // Digests are packed into no fewer bytes: a thousand.
        let bytes: Vec<u8> = (0..32_u8).flat_map(|of| sha2::Sha256::digest([of])).collect();
        rendered.remember(key, &bytes);
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

    fn bounds(files: usize, bytes: u64) -> Bounds {
        Bounds { files, bytes, ..Bounds::default() }
    }

    #[test]
    fn what_was_not_used_for_longest_goes_first() {
        assert_eq!(kept(bounds(2, 1 << 20)), ["a", "c"]);
        assert_eq!(kept(bounds(9, 1500)), ["a"]);
        assert_eq!(kept(bounds(9, 1 << 20)), ["a", "b", "c"]);
    }

    #[test]
    fn an_answer_survives_a_restart_packed_and_goes_on_under_another_name() {
        let dir = tempfile::tempdir().unwrap();
        let text = "kind: ConfigMap\n".repeat(1000);
        Rendered::new(dir.path().to_owned(), Bounds::default()).unwrap().remember("a", text.as_bytes());
        assert!(fs::metadata(dir.path().join("a")).unwrap().len() < 1000);
        let again = Rendered::new(dir.path().to_owned(), Bounds::default()).unwrap();
        assert!(again.rename("a", "b") && !again.rename("a", "b"));
        assert_eq!(again.recall("a"), None);
        assert_eq!(again.recall("b").as_deref(), Some(text.as_bytes()));
    }

    #[test]
    fn damaged_and_old_answers_are_none() {
        let dir = tempfile::tempdir().unwrap();
        let rendered = Rendered::new(dir.path().to_owned(), Bounds::default()).unwrap();
        rendered.remember("a", b"a rendering");
        let mut bytes = fs::read(dir.path().join("a")).unwrap();
        let middle = bytes.len() / 2;
        bytes[middle] ^= 0xff;
        fs::write(dir.path().join("a"), bytes).unwrap();
        assert_eq!(rendered.recall("a"), None);
        assert!(!dir.path().join("a").exists());
        rendered.remember("a", b"a rendering");
        let short = Bounds { age: Duration::ZERO, ..Bounds::default() };
        let rendered = Rendered::new(dir.path().to_owned(), short).unwrap();
        assert_eq!(rendered.recall("a"), None);
    }

    #[test]
    fn nobody_else_can_read_what_was_rendered() {
        let dir = tempfile::tempdir().unwrap();
        let rendered = Rendered::new(dir.path().join("rendered"), Bounds::default()).unwrap();
        rendered.remember("a", b"secret");
        let mode = |path| fs::metadata(path).unwrap().permissions().mode() & 0o777;
        assert_eq!(mode(rendered.dir.clone()), 0o700);
        assert_eq!(mode(rendered.dir.join("a")), 0o600);
    }
}
