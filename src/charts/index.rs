//! The index of a chart repository.
//!
//! In:  `index.yaml` on a server.
//! Out: the versions of one chart at a time.
//! Invariant: indexes hold thousands of charts in tens of megabytes, so one is never held in memory: it lies on disk, and is
//! skimmed for each chart that somebody wants, for as long as a download may take and no single text in it without end. A
//! server that can say "unchanged" is asked that way.
//! Source: REND-071, REND-074 (`util/helm/client.go` `GetIndex`, Helm `pkg/repo/v1/index.go`).

use std::cell::Cell;
use std::collections::HashMap;
use std::fs::File;
use std::io::{self, BufReader, Read};
use std::path::{Path, PathBuf};
use std::rc::Rc;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

use hyper::StatusCode;
use hyper::header::{self, HeaderName};
use libyaml_safer::{EventData, Parser};

use super::access::ChartAccess;
use super::error::Error;
use crate::gocompat::yaml;
use crate::http::{Address, Answer, Client, Request};

/// Bytes that an index may have where nobody says otherwise.
pub const MAX_BYTES: u64 = 1_000_000_000;

/// Bytes of one text in an index, and of one comment; the reader holds it in memory.
const MAX_TEXT: usize = 16 << 20;

/// One version of a chart.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Entry {
    /// Version as written.
    pub version: String,
    /// The first place to get it from, as written; may be relative.
    pub url: Option<String>,
}

/// An index on disk.
#[derive(Debug)]
pub struct Index {
    path: PathBuf,
    /// What the server wants to be asked with whether it has a newer one.
    validators: Vec<(HeaderName, String)>,
    /// Charts that were looked for.
    charts: Mutex<HashMap<String, Option<Arc<[Entry]>>>>,
    /// Longest time of one look for a chart.
    timeout: Duration,
}

/// Why an index did not come.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum Failure {
    /// The server answered with something else.
    #[error("failed to get index: {0}")]
    Status(String),
    /// The server did not answer.
    #[error("error making HTTP request: {0}")]
    Request(String),
    /// The client certificate cannot be used.
    #[error("error creating TLS config: {0}")]
    Tls(String),
    /// The answer broke off.
    #[error("{0}")]
    Body(String),
}

impl Failure {
    /// The same failure as helm words it.
    pub fn in_helms_words(&self, access: &ChartAccess) -> String {
        match self {
            Self::Status(status) => {
                let address = Address::parse(&access.url).map(|address| address.below("index.yaml").shown());
                format!("failed to fetch {} : {status}", address.unwrap_or_default())
            }
            Self::Request(text) | Self::Body(text) => text.clone(),
            Self::Tls(text) => format!("can't create TLS config for client: {text}"),
        }
    }
}

/// What downloads need.
pub struct Download<'a> {
    /// The repository.
    pub access: &'a ChartAccess,
    /// Where the index will be.
    pub path: PathBuf,
    /// Folder for the download.
    pub scratch: &'a Path,
    /// Longest time that it may take.
    pub timeout: Duration,
    /// Bytes that an index may have.
    pub limit: u64,
}

impl Download<'_> {
    /// The index as the server has it now; `known` is used again when the server says that nothing changed.
    pub async fn run(
        &self,
        known: Option<Arc<Index>>,
        keep: impl FnOnce(&Path) -> std::io::Result<()>,
    ) -> Result<Arc<Index>, Error> {
        let known = known.filter(|index| index.path.exists());
        let address = address(self.access).map_err(|text| Error::LoadIndex(Failure::Request(text)))?;
        let client = Client::new(&self.access.route, self.timeout);
        let client = client.map_err(|text| Error::LoadIndex(Failure::Tls(text)))?;
        let mut request = request(self.access, address);
        for (name, value) in known.iter().flat_map(|index| &index.validators) {
            request = request.header(name.clone(), value.clone());
        }
        let shown = request.address.shown();
        let answer = client.send(request).await;
        let answer = answer.map_err(|fault| Error::LoadIndex(Failure::Request(fault.shown("Get", &shown))))?;
        if answer.status == StatusCode::NOT_MODIFIED
            && let Some(known) = known
        {
            return Ok(known);
        }
        if answer.status != StatusCode::OK {
            return Err(Error::LoadIndex(Failure::Status(answer.status_text())));
        }
        let validators = [(header::ETAG, header::IF_NONE_MATCH), (header::LAST_MODIFIED, header::IF_MODIFIED_SINCE)]
            .into_iter()
            .filter_map(|(given, asked)| Some((asked, answer.header(&given)?.to_owned())))
            .collect();
        let folder = tempfile::Builder::new().prefix("index-").tempdir_in(self.scratch);
        let folder = folder.map_err(|error| Error::disk("making a folder for the index", &error))?;
        let file = folder.path().join("index.yaml");
        let saved = save(answer, &file, self.limit).await;
        saved.map_err(|text| Error::LoadIndex(Failure::Body(text)))?;
        keep(&file).map_err(|error| Error::disk("keeping the index", &error))?;
        let (path, charts, timeout) = (self.path.clone(), Mutex::default(), self.timeout);
        Ok(Arc::new(Index { path, validators, charts, timeout }))
    }
}

impl Index {
    /// The versions of a chart, in the index's order.
    ///
    /// # Errors
    /// The index cannot be read, or has no such chart.
    pub async fn entries(self: &Arc<Self>, chart: &str) -> Result<Arc<[Entry]>, Error> {
        let known = self.known().get(chart).cloned();
        let found = match known {
            Some(found) => found,
            None => {
                let (path, wanted, timeout) = (self.path.clone(), chart.to_owned(), self.timeout);
                // Skimming megabytes of YAML is work for the processor and must not hold up other applications.
                let skimmed = tokio::task::spawn_blocking(move || skim_file(&path, &wanted, timeout)).await;
                let found = skimmed.map_err(|error| Error::Cache(error.to_string()))??.map(Arc::from);
                self.known().insert(chart.to_owned(), found.clone());
                found
            }
        };
        found.ok_or_else(|| Error::NotInIndex(chart.to_owned()))
    }

    fn known(&self) -> std::sync::MutexGuard<'_, HashMap<String, Option<Arc<[Entry]>>>> {
        self.charts.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Where the index of a repository is.
fn address(access: &ChartAccess) -> Result<Address, String> {
    let repository = Address::parse(&access.url).ok_or_else(|| {
        let scheme = access.shown_url().split_once("://").map(|(scheme, _)| scheme.to_owned()).unwrap_or_default();
        format!("Get \"{}\": unsupported protocol scheme {scheme:?}", access.shown_url())
    })?;
    Ok(repository.below("index.yaml"))
}

/// Writes an index down. One that was cut may read well and lack the newest versions, so it is none.
async fn save(answer: Answer, file: &Path, limit: u64) -> Result<(), String> {
    let saved = answer.save(file, limit).await.map_err(|fault| fault.to_string())?;
    if saved.is_cut { Err(format!("the index is too large: it has more than {limit} bytes")) } else { Ok(()) }
}

/// A request that authenticates with whatever the repository has.
fn request(access: &ChartAccess, address: Address) -> Request {
    let request = Request::get(address);
    if access.has_credentials() { request.basic_auth(&access.username, &access.password) } else { request }
}

/// Whether an index is there and can be read; the error is helm's.
pub async fn check(access: &ChartAccess, scratch: &Path, timeout: Duration) -> Result<(), String> {
    let client = Client::new(&access.route, timeout)?;
    let address = address(access)?;
    let shown = address.shown();
    let answer = client.send(request(access, address)).await.map_err(|fault| fault.shown("Get", &shown))?;
    if answer.status != StatusCode::OK {
        return Err(format!("failed to fetch {shown} : {}", answer.status_text()));
    }
    let folder = tempfile::Builder::new().prefix("index-").tempdir_in(scratch).map_err(|error| error.to_string())?;
    let file = folder.path().join("index.yaml");
    save(answer, &file, MAX_BYTES).await?;
    let skimmed = tokio::task::spawn_blocking(move || {
        // The folder goes when the file has been read.
        let _folder = folder;
        skim_file(&file, "", timeout)
    });
    match skimmed.await.map_err(|error| error.to_string())? {
        Ok(_) => Ok(()),
        Err(Error::DecodeIndex(text)) => Err(text),
        Err(error) => Err(error.to_string()),
    }
}

fn skim_file(path: &Path, chart: &str, timeout: Duration) -> Result<Option<Vec<Entry>>, Error> {
    let file = File::open(path).map_err(|error| Error::disk("opening the index", &error))?;
    // The parser panics at a text that ends in the middle of a block of lines.
    let text = file.chain(b"\n".as_slice());
    skim(text, chart, timeout).map_err(Error::DecodeIndex)
}

/// Ends a text that is not worth reading on.
struct Bounded<R> {
    inner: R,
    bounds: Rc<Bounds>,
}

struct Bounds {
    /// `None` where that is beyond the clock.
    until: Option<Instant>,
    /// Bytes that may come before something is read.
    room: Cell<usize>,
    /// Why the text was ended; the reader has words of its own for that.
    reason: Cell<Option<String>>,
}

impl<R: Read> Read for Bounded<R> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let bounds = &self.bounds;
        let reason = if bounds.room.get() == 0 {
            format!("the index is too large: a text in it has more than {MAX_TEXT} bytes")
        } else if bounds.until.is_some_and(|until| Instant::now() > until) {
            "the index is too large: reading it takes too long".to_owned()
        } else {
            let length = self.inner.read(buffer)?;
            bounds.room.set(bounds.room.get().saturating_sub(length));
            return Ok(length);
        };
        bounds.reason.set(Some(reason));
        Err(io::ErrorKind::Other.into())
    }
}

/// A collection that the reader is inside of.
struct Level {
    is_mapping: bool,
    /// The key whose value comes next.
    key: Option<String>,
}

/// The versions of one chart, `None` when the index does not name it; the rest of the text is read over, but read.
pub(super) fn skim(text: impl Read, chart: &str, timeout: Duration) -> Result<Option<Vec<Entry>>, String> {
    let until = Instant::now().checked_add(timeout);
    let bounds = Rc::new(Bounds { until, room: Cell::new(MAX_TEXT), reason: Cell::new(None) });
    let mut parser = Parser::new();
    parser.set_input(BufReader::with_capacity(64 << 10, Bounded { inner: text, bounds: Rc::clone(&bounds) }));
    let (mut levels, mut found): (Vec<Level>, Option<Vec<Entry>>) = (Vec::new(), None);
    loop {
        bounds.room.set(MAX_TEXT);
        let event = yaml::next_event(&mut parser)
            .map_err(|problem| bounds.reason.take().unwrap_or_else(|| format!("yaml: {}", problem.text)))?;
        match event.data {
            EventData::StreamEnd => return Err("EOF".to_owned()),
            EventData::DocumentEnd { .. } => return Ok(found),
            EventData::Scalar { value, .. } => {
                if levels.is_empty() && !value.is_empty() {
                    return Err(not_an_index(&value));
                }
                scalar(&mut levels, value, chart, found.as_mut());
            }
            EventData::Alias { .. } => scalar(&mut levels, String::new(), chart, found.as_mut()),
            EventData::SequenceStart { .. } | EventData::MappingStart { .. } => {
                let is_mapping = matches!(event.data, EventData::MappingStart { .. });
                match path(&levels).as_slice() {
                    // A name that occurs twice: the last one counts.
                    [Some("entries"), Some(name)] if *name == chart => found = Some(Vec::new()),
                    [Some("entries"), Some(name), None] if *name == chart && is_mapping => {
                        found.get_or_insert_default().push(Entry::default());
                    }
                    _ => {}
                }
                levels.push(Level { is_mapping, key: None });
            }
            EventData::SequenceEnd | EventData::MappingEnd => {
                levels.pop();
                if let Some(level) = levels.last_mut() {
                    // A collection that is a key has no name that is looked for.
                    level.key = if level.is_mapping && level.key.is_none() { Some(String::new()) } else { None };
                }
            }
            EventData::StreamStart { .. } | EventData::DocumentStart { .. } => {}
        }
        if levels.len() > 1_000 {
            return Err("yaml: exceeded max depth of 1000".to_owned());
        }
    }
}

/// Keys on the way to where the reader is; `None` inside of a list.
fn path(levels: &[Level]) -> Vec<Option<&str>> {
    levels.iter().map(|level| level.key.as_deref()).collect()
}

/// Takes a scalar in: a key, a version, a place, or nothing of interest.
fn scalar(levels: &mut [Level], value: String, chart: &str, found: Option<&mut Vec<Entry>>) {
    let Some(level) = levels.last_mut() else { return };
    if level.is_mapping && level.key.is_none() {
        level.key = Some(value);
        return;
    }
    if let Some(entry) = found.and_then(|entries| entries.last_mut()) {
        match path(levels).as_slice() {
            [Some("entries"), Some(name), None, Some("version")] if *name == chart => entry.version = value,
            [Some("entries"), Some(name), None, Some("urls"), None] if *name == chart => {
                entry.url.get_or_insert(value);
            }
            _ => {}
        }
    }
    if let Some(level) = levels.last_mut() {
        level.key = None;
    }
}

/// What go-yaml says about a page that is no index.
fn not_an_index(value: &str) -> String {
    let shown = match value.char_indices().nth(7) {
        Some((at, _)) if value.len() > 10 => format!("{}...", value.get(..at).unwrap_or(value)),
        _ => value.to_owned(),
    };
    format!("yaml: unmarshal errors:\n  line 1: cannot unmarshal !!str `{shown}` into helm.Index")
}
