//! The store: versions, archives and folders of all repositories.
//!
//! In:  what callers ask for, at any time and any number of them.
//! Out: answers that callers share; folders of their own.
//! Invariant: an archive that cannot be unpacked does not stay in the cache; a folder lives as long as somebody holds it.
//! Source: REND-069 to REND-081 (`reposerver/repository/repository.go` `runRepoOperation`, `newHelmClientResolveRevision`).

use std::ffi::OsStr;
use std::fs::File;
use std::path::{Component, Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use super::access::ChartAccess;
use super::archive;
use super::cache::{Cache, Kind};
use super::error::Error;
use super::index::{self, Download, Entry, Index};
use super::links;
use super::oci::{self, MediaTypes};
use super::pull::{Pull, registry_name};
use super::registry::{Reference, Session};
use super::shared::Slots;
use crate::gocompat::semver::{is_version, max_version};

/// Settings of the store.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Options {
    /// Longest time of one piece of work with a server (`ARGOCD_EXEC_TIMEOUT`).
    pub timeout: Duration,
    /// Bytes that a chart may have, unpacked; `None` for no limit.
    pub max_chart_bytes: Option<u64>,
    /// Bytes that an artefact may have, unpacked; `None` for no limit.
    pub max_oci_bytes: Option<u64>,
    /// Bytes that an index may have.
    pub max_index_bytes: u64,
    /// Media types of layers that may be unpacked.
    pub media_types: MediaTypes,
    /// `reposerver.allow.oob.symlinks`.
    pub allow_links_out: bool,
    /// Bytes that archives and indexes may take on disk.
    pub max_cache_bytes: u64,
}

impl Default for Options {
    fn default() -> Self {
        const GIGABYTE: u64 = 1_000_000_000;
        Self {
            timeout: Duration::from_secs(90),
            max_chart_bytes: Some(GIGABYTE),
            max_oci_bytes: Some(GIGABYTE),
            max_index_bytes: index::MAX_BYTES,
            media_types: MediaTypes::default(),
            allow_links_out: false,
            max_cache_bytes: GIGABYTE,
        }
    }
}

/// A chart to download.
#[derive(Debug, Clone, Copy, Default)]
pub struct Wanted<'a> {
    /// The chart; empty for an artefact.
    pub chart: &'a str,
    /// What [`Store::resolve`] or [`Store::resolve_oci`] gave.
    pub version: &'a str,
    /// Whether what is cached is left aside and replaced.
    pub fresh: bool,
    /// `helm.passCredentials`.
    pub pass_credentials: bool,
}

/// An unpacked chart or artefact; removed from disk with its last clone.
#[derive(Debug, Clone)]
pub struct Folder {
    /// Root; read-only by agreement.
    pub root: PathBuf,
    _folder: Arc<tempfile::TempDir>,
}

/// Indexes and lists of tags that are remembered at most; what nobody uses is asked for again.
const MOST_SLOTS: usize = 1_000;

/// All chart repositories and registries.
#[derive(Debug)]
pub struct Store {
    cache: Arc<Cache>,
    scratch: PathBuf,
    options: Options,
    indexes: Slots<ChartAccess, Arc<Index>>,
    tags: Slots<(ChartAccess, String), Arc<[String]>>,
    digests: Slots<(ChartAccess, String), String>,
    archives: Slots<String, ()>,
}

impl Store {
    /// Opens a cache directory; `scratch` is a folder of this process on the same file system.
    ///
    /// # Errors
    /// The directory cannot be made or written.
    pub fn new(dir: &Path, scratch: &Path, options: Options) -> std::io::Result<Self> {
        Ok(Self {
            cache: Arc::new(Cache::open(&dir.join("charts"), options.max_cache_bytes)?),
            scratch: scratch.to_owned(),
            options,
            indexes: Slots::new(MOST_SLOTS),
            tags: Slots::new(MOST_SLOTS),
            digests: Slots::new(MOST_SLOTS),
            archives: Slots::new(MOST_SLOTS),
        })
    }

    /// The version of a chart that a revision stands for; versions known for at most `max_age` are chosen from.
    ///
    /// # Errors
    /// The versions did not come, or none is admitted.
    pub async fn resolve(
        &self,
        access: &ChartAccess,
        (chart, revision): (&str, &str),
        max_age: Duration,
    ) -> Result<String, Error> {
        if is_version(revision) {
            return Ok(revision.to_owned());
        }
        if access.is_registry() {
            let tags = self.tags(access, &registry_name(&access.url, chart), max_age).await?;
            let tags: Vec<&str> = tags.iter().map(String::as_str).collect();
            return max_version(revision, &tags, "").map_err(Error::Revision);
        }
        let entries = self.entries(access, chart, max_age).await?;
        let versions: Vec<&str> = entries.iter().map(|entry| entry.version.as_str()).collect();
        max_version(revision, &versions, "").map_err(Error::Revision)
    }

    async fn tags(&self, access: &ChartAccess, name: &str, max_age: Duration) -> Result<Arc<[String]>, Error> {
        let slot = self.tags.of(&(access.clone(), name.to_owned()));
        let attempt = |_| async {
            let of = Reference::parse(name)
                .map_err(|reason| Error::Tags(format!("failed to initialize repository: {reason}")))?;
            let mut session = Session::new(access, self.options.timeout)
                .map_err(|reason| Error::Tags(format!("failed setup tlsConfig: {reason}")))?;
            let tags = oci::tags(&mut session, &of).await;
            tags.map(Arc::from).map_err(|reason| Error::Tags(format!("failed to get tags: {reason}")))
        };
        slot.get(max_age, attempt).await
    }

    async fn index(&self, access: &ChartAccess, max_age: Duration) -> Result<Arc<Index>, Error> {
        let key = self.cache.key(access, &["index"]);
        let download = Download {
            access,
            path: self.cache.index(&key),
            scratch: &self.scratch,
            timeout: self.options.timeout,
            limit: self.options.max_index_bytes,
        };
        let keep = |file: &Path| self.cache.keep_index(file, &key);
        self.indexes.of(access).get(max_age, |known| download.run(known, keep)).await
    }

    /// The versions of a chart that the index knows.
    async fn entries(&self, access: &ChartAccess, chart: &str, max_age: Duration) -> Result<Arc<[Entry]>, Error> {
        match self.index(access, max_age).await?.entries(chart).await {
            // The file may have made room for others, or the server may have had a bad moment.
            Err(Error::Cache(_) | Error::DecodeIndex(_)) if !max_age.is_zero() => {
                self.index(access, Duration::ZERO).await?.entries(chart).await
            }
            outcome => outcome,
        }
    }

    /// A chart, unpacked.
    ///
    /// # Errors
    /// The chart did not come, or is not one.
    pub async fn fetch(&self, access: &ChartAccess, wanted: Wanted<'_>) -> Result<Folder, Error> {
        let key = self.cache.key(access, &["chart", wanted.chart, wanted.version]);
        let (kind, file) = self.archive(&key, wanted.fresh, self.download_chart(access, wanted, &key)).await?;
        let limit = self.options.max_chart_bytes.unwrap_or(u64::MAX);
        let folder = self.unpack((kind, file), &key, limit).await.map_err(Error::Unpack)?;
        let root = folder_name(wanted.chart).map(|name| folder.path().join(name)).filter(|root| root.is_dir());
        let Some(root) = root else {
            self.cache.remove_archive(&key);
            let name = folder_name(wanted.chart).unwrap_or(OsStr::new(wanted.chart)).display();
            return Err(Error::Cache(format!("lstat <path to chart>/{name}: no such file or directory")));
        };
        self.check_links(&root, Error::ChartLink).await?;
        Ok(Folder { root, _folder: Arc::new(folder) })
    }

    async fn download_chart(&self, access: &ChartAccess, wanted: Wanted<'_>, key: &str) -> Result<(), Error> {
        let pull = Pull {
            access,
            chart: wanted.chart,
            version: wanted.version,
            pass_credentials: wanted.pass_credentials,
            timeout: self.options.timeout,
            limit: self.options.max_chart_bytes.unwrap_or(u64::MAX),
        };
        let folder = self.scratch_folder("download-")?;
        let file = folder.path().join("archive");
        if access.is_registry() {
            pull.registry_archive(&file).await?;
        } else {
            self.pull_by_index(&pull, &file).await?;
        }
        self.keep(&file, key, Kind::TarGz)
    }

    /// Looks in the index that is known, and in a new one where that does not have the version.
    async fn pull_by_index(&self, pull: &Pull<'_>, file: &Path) -> Result<(), Error> {
        for max_age in [Duration::MAX, Duration::ZERO] {
            match self.entries(pull.access, pull.chart, max_age).await {
                Ok(entries) if super::chart::pick(&entries, pull.version).is_some() => {
                    return pull.listed_archive(&entries, file).await;
                }
                Ok(_) | Err(Error::NotInIndex(_)) => {}
                Err(Error::LoadIndex(failure)) => return Err(pull.no_index(&failure.in_helms_words(pull.access))),
                Err(Error::DecodeIndex(text)) => return Err(pull.no_index(&text)),
                Err(error) => return Err(error),
            }
        }
        Err(pull.not_found())
    }

    /// The digest that the revision of an `oci://` source stands for.
    ///
    /// # Errors
    /// The registry did not answer, or nothing has that name.
    pub async fn resolve_oci(&self, access: &ChartAccess, revision: &str, max_age: Duration) -> Result<String, Error> {
        let of = oci::reference(&access.url).map_err(Error::OciClient)?;
        let slot = self.digests.of(&(access.clone(), revision.to_owned()));
        let attempt = |_| async {
            let mut session = Session::new(access, self.options.timeout)
                .map_err(|reason| Error::OciClient(format!("failed setup tlsConfig: {reason}")))?;
            let digest = oci::resolve(&mut session, &of, revision).await;
            digest.map_err(|reason| Error::OciRevision { revision: revision.to_owned(), reason })
        };
        slot.get(max_age, attempt).await
    }

    /// An artefact, unpacked; of a chart, the chart's own folder.
    ///
    /// # Errors
    /// The artefact did not come, or manifests cannot come from it.
    pub async fn fetch_oci(&self, access: &ChartAccess, wanted: Wanted<'_>) -> Result<Folder, Error> {
        let digest = wanted.version;
        let key = self.cache.key(access, &["oci", digest]);
        let (kind, file) = self.archive(&key, wanted.fresh, self.download_artefact(access, digest, &key)).await?;
        let limit = self.options.max_oci_bytes.unwrap_or(u64::MAX);
        let fail = |reason: String| Error::OciUnpack { digest: digest.to_owned(), reason };
        let unpacked = self.unpack((kind, file), &key, limit).await;
        let folder = unpacked.map_err(|reason| fail(format!("could not decompress layer: {reason}")))?;
        let root = match kind {
            Kind::Chart => only_folder(folder.path()).map_err(fail)?,
            Kind::Tar | Kind::TarGz => folder.path().to_owned(),
        };
        self.check_links(&root, Error::OciLink).await?;
        Ok(Folder { root, _folder: Arc::new(folder) })
    }

    async fn download_artefact(&self, access: &ChartAccess, digest: &str, key: &str) -> Result<(), Error> {
        let of = oci::reference(&access.url).map_err(Error::OciClient)?;
        let mut session = Session::new(access, self.options.timeout)
            .map_err(|reason| Error::OciClient(format!("failed setup tlsConfig: {reason}")))?;
        let folder = self.scratch_folder("download-")?;
        let file = folder.path().join("archive");
        let to = (file.as_path(), self.options.max_oci_bytes.unwrap_or(u64::MAX));
        let fetched = oci::fetch(&mut session, (&of, digest), &self.options.media_types, to).await;
        let kind = fetched.map_err(Error::OciImage)?;
        self.keep(&file, key, kind)
    }

    fn keep(&self, file: &Path, key: &str, kind: Kind) -> Result<(), Error> {
        self.cache.keep_archive(file, key, kind).map_err(|error| Error::disk("keeping an archive", &error))
    }

    /// Opens an archive, downloading it where it is missing or not wanted any more.
    async fn archive(
        &self,
        key: &str,
        fresh: bool,
        download: impl Future<Output = Result<(), Error>>,
    ) -> Result<(Kind, File), Error> {
        if !fresh && let Some(found) = self.cache.open_archive(key) {
            return Ok(found);
        }
        let attempt = |_| async {
            // Whoever waited behind a download that was begun earlier finds its archive.
            if fresh || self.cache.open_archive(key).is_none() { download.await } else { Ok(()) }
        };
        self.archives.of(&key.to_owned()).get(Duration::ZERO, attempt).await?;
        let found = self.cache.open_archive(key);
        found.ok_or_else(|| Error::Cache("the archive was removed while it was waited for".to_owned()))
    }

    /// Unpacks an archive into a folder of its own.
    async fn unpack(&self, (kind, file): (Kind, File), key: &str, limit: u64) -> Result<tempfile::TempDir, String> {
        let folder = self.scratch_folder("chart-").map_err(|error| error.to_string())?;
        let work = tokio::task::spawn_blocking(move || {
            let done = archive::unpack(file, kind, folder.path(), limit);
            done.map(|()| folder)
        });
        let unpacked = work.await.map_err(|error| error.to_string()).flatten();
        if unpacked.is_err() {
            self.cache.remove_archive(key);
        }
        unpacked
    }

    fn scratch_folder(&self, prefix: &str) -> Result<tempfile::TempDir, Error> {
        let made = tempfile::Builder::new().prefix(prefix).tempdir_in(&self.scratch);
        made.map_err(|error| Error::disk("making a folder", &error))
    }

    async fn check_links(&self, root: &Path, refusal: impl FnOnce(String) -> Error) -> Result<(), Error> {
        if self.options.allow_links_out {
            return Ok(());
        }
        let root = root.to_owned();
        let found = tokio::task::spawn_blocking(move || links::first_out_of_bounds(&root)).await;
        match found.map_err(|error| Error::Cache(error.to_string()))? {
            Ok(None) => Ok(()),
            Ok(Some(link)) => Err(refusal(link)),
            Err(error) => Err(Error::disk("reading an unpacked archive", &error)),
        }
    }
}

/// The folder of a chart in its archive: the last part of its name. A name such as `..` or `/` has none: it would lead out of
/// the archive, to what other applications have unpacked beside it.
pub(super) fn folder_name(chart: &str) -> Option<&OsStr> {
    match Path::new(chart).components().next_back()? {
        Component::Normal(name) => Some(name),
        _ => None,
    }
}

/// The folder that is all there is in an unpacked chart.
fn only_folder(root: &Path) -> Result<PathBuf, String> {
    let entries = std::fs::read_dir(root).map_err(|error| error.to_string())?;
    let found: Vec<std::fs::DirEntry> = entries.collect::<Result<_, _>>().map_err(|error| error.to_string())?;
    match found.as_slice() {
        [one] if one.file_type().is_ok_and(|kind| kind.is_dir()) => Ok(one.path()),
        several => Err(format!("expected 1 directory, found {}", several.len())),
    }
}
