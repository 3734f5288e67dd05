//! Downloaded files on disk.
//!
//! In:  finished downloads.
//! Out: the same files for everyone who may have fetched them, also after a restart.
//! Invariant: a file has its final name only when it is complete; names tell nothing, because a random salt that only litecd
//! reads goes into them along with the credentials; what has not been used for longest goes first when there is too much.
//! Source: REND-077 (`util/helm/client.go` `getCachedChartPath`).

use std::fs::{self, File};
use std::io::{self, Read, Write};
use std::os::unix::fs::{DirBuilderExt, OpenOptionsExt};
use std::path::{Path, PathBuf};
use std::time::SystemTime;

use sha2::{Digest, Sha256};

use super::access::ChartAccess;

/// What an archive is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Kind {
    /// A packaged chart: everything lies in one folder.
    Chart,
    /// A packed folder.
    TarGz,
    /// A packed folder without compression.
    Tar,
}

/// Kinds and the endings of their file names.
const KINDS: [(Kind, &str); 3] = [(Kind::Chart, "chart.tgz"), (Kind::TarGz, "tar.gz"), (Kind::Tar, "tar")];

/// The cache's folders.
#[derive(Debug)]
pub struct Cache {
    dir: PathBuf,
    salt: Vec<u8>,
    /// Bytes that all files together may take.
    limit: u64,
}

impl Cache {
    /// Opens the folders, making them where they are missing.
    pub fn open(dir: &Path, limit: u64) -> io::Result<Self> {
        for folder in ["archives", "indexes"] {
            fs::DirBuilder::new().recursive(true).mode(0o700).create(dir.join(folder))?;
        }
        Ok(Self { dir: dir.to_owned(), salt: salt(&dir.join("salt"))?, limit })
    }

    /// The name of what one access sees under some words.
    pub fn key(&self, access: &ChartAccess, words: &[&str]) -> String {
        let trust = &access.route.trust;
        let own = [&access.url, &access.username, &access.password, &trust.certificate, &trust.key];
        let mut digest = Sha256::new();
        digest.update(&self.salt);
        for word in own.iter().map(|word| word.as_str()).chain(words.iter().copied()) {
            digest.update(word.len().to_le_bytes());
            digest.update(word);
        }
        digest.finalize().iter().take(16).map(|byte| format!("{byte:02x}")).collect()
    }

    /// Where the index of a key is.
    pub fn index(&self, key: &str) -> PathBuf {
        self.dir.join("indexes").join(key)
    }

    fn archive(&self, key: &str, ending: &str) -> PathBuf {
        self.dir.join("archives").join(format!("{key}.{ending}"))
    }

    /// Opens an archive, if it is there, and notes its use.
    pub fn open_archive(&self, key: &str) -> Option<(Kind, File)> {
        KINDS.iter().find_map(|(kind, ending)| {
            let file = File::open(self.archive(key, ending)).ok()?;
            // The order of removal depends on it, nothing else.
            let _ = file.set_modified(SystemTime::now());
            Some((*kind, file))
        })
    }

    /// Forgets an archive.
    pub fn remove_archive(&self, key: &str) {
        for (_, ending) in KINDS {
            let _ = fs::remove_file(self.archive(key, ending));
        }
    }

    /// Takes a finished download in.
    pub fn keep_archive(&self, download: &Path, key: &str, kind: Kind) -> io::Result<()> {
        let ending = KINDS.iter().find(|(known, _)| *known == kind).map_or("tar", |(_, ending)| ending);
        let path = self.archive(key, ending);
        fs::rename(download, &path)?;
        self.prune(&path);
        Ok(())
    }

    /// Takes a finished index in.
    pub fn keep_index(&self, download: &Path, key: &str) -> io::Result<()> {
        let path = self.index(key);
        fs::rename(download, &path)?;
        self.prune(&path);
        Ok(())
    }

    /// Removes what has not been used for longest until the rest is within the limit.
    fn prune(&self, newest: &Path) {
        let folders = ["archives", "indexes"].map(|folder| fs::read_dir(self.dir.join(folder)));
        let mut files: Vec<(SystemTime, u64, PathBuf)> = folders
            .into_iter()
            .flatten()
            .flatten()
            .flatten()
            .filter_map(|entry| {
                let metadata = entry.metadata().ok()?;
                Some((metadata.modified().ok()?, metadata.len(), entry.path()))
            })
            .collect();
        let mut total: u64 = files.iter().map(|(_, bytes, _)| bytes).sum();
        files.sort();
        for (_, bytes, path) in files.iter().filter(|(.., path)| path != newest) {
            if total <= self.limit {
                return;
            }
            if fs::remove_file(path).is_ok() {
                total = total.saturating_sub(*bytes);
            }
        }
    }
}

/// Reads the salt, making it the first time.
fn salt(path: &Path) -> io::Result<Vec<u8>> {
    let mut salt = Vec::new();
    if let Ok(mut file) = File::open(path) {
        file.read_to_end(&mut salt)?;
    }
    if salt.len() == 32 {
        return Ok(salt);
    }
    salt = vec![0; 32];
    File::open("/dev/urandom")?.read_exact(&mut salt)?;
    let _ = fs::remove_file(path);
    fs::OpenOptions::new().write(true).create_new(true).mode(0o600).open(path)?.write_all(&salt)?;
    Ok(salt)
}
