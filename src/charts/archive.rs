//! Unpacks archives that may be hostile.
//!
//! In:  an archive and an empty folder.
//! Out: its folders, files and symbolic links in there; hard links, devices and the like are passed over, as Argo CD does.
//! Invariant: nothing is written through a link, so nothing lands outside the folder; links lead inside; bytes and entries are
//! bounded, and so is what is held in memory of an entry.
//! Source: REND-078, REND-080 (`util/io/files/tar.go` `untar`).

use std::cell::Cell;
use std::ffi::OsStr;
use std::fs;
use std::io::{self, Read};
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::{OpenOptionsExt, symlink};
use std::path::{Component, Path, PathBuf};
use std::rc::Rc;

use flate2::read::MultiGzDecoder;
use tar::EntryType;

use super::cache::Kind;

/// More entries than this are an attack on the disk: empty files cost no bytes of the limit.
const MAX_ENTRIES: usize = 100_000;

/// Bytes of headers in front of one entry. Long names and extended headers are read into memory, and Go refuses them from here.
const MAX_HEADERS: u64 = 1 << 20;

/// What errors show instead of the folder, whose name is another one each time.
const SHOWN_FOLDER: &str = "<path to cached source>";

/// Unpacks at most `limit` bytes; blocking.
pub fn unpack(archive: impl Read, kind: Kind, into: &Path, limit: u64) -> Result<(), String> {
    decompress(archive, kind, into, limit).map_err(|text| text.replace(&*into.to_string_lossy(), SHOWN_FOLDER))
}

fn decompress(archive: impl Read, kind: Kind, into: &Path, limit: u64) -> Result<(), String> {
    let archive = io::BufReader::new(archive);
    if kind == Kind::Tar {
        return untar(archive, into, limit);
    }
    let mut gzip = MultiGzDecoder::new(archive);
    // Go reads the header when the reader is made, and has other words for it.
    let mut first = [0_u8; 1];
    let length = gzip.read(&mut first).map_err(|error| format!("error reading file: {}", gzip_words(&error)))?;
    let head = io::Cursor::new(first.get(..length).unwrap_or_default().to_vec());
    untar(head.chain(gzip), into, limit)
}

fn gzip_words(error: &io::Error) -> String {
    match error.kind() {
        io::ErrorKind::UnexpectedEof => "EOF".to_owned(),
        _ => "gzip: invalid header".to_owned(),
    }
}

/// Counts what was read, and ends as if the archive did when there is too much.
struct Bounded<R> {
    inner: R,
    left: u64,
    /// What may still be read before the next entry must have come.
    headers: Rc<Cell<u64>>,
}

impl<R: Read> Read for Bounded<R> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let left = self.left.min(self.headers.get());
        let room = usize::try_from(left).unwrap_or(usize::MAX).min(buffer.len());
        if room == 0 && !buffer.is_empty() {
            let is_end = self.left == 0;
            return Err(if is_end { io::ErrorKind::UnexpectedEof } else { io::ErrorKind::FileTooLarge }.into());
        }
        let length = self.inner.read(buffer.get_mut(..room).unwrap_or_default())?;
        let read = u64::try_from(length).unwrap_or(0);
        self.left -= read;
        self.headers.set(self.headers.get() - read);
        Ok(length)
    }
}

fn untar(archive: impl Read, into: &Path, limit: u64) -> Result<(), String> {
    let headers = Rc::new(Cell::new(MAX_HEADERS));
    let mut archive = tar::Archive::new(Bounded { inner: archive, left: limit, headers: Rc::clone(&headers) });
    let broken = |error: io::Error| format!("error while iterating on tar reader: {}", words(&error));
    let mut entries = archive.entries().map_err(broken)?;
    for number in 0.. {
        headers.set(MAX_HEADERS);
        let Some(entry) = entries.next() else { break };
        headers.set(u64::MAX);
        if number == MAX_ENTRIES {
            return Err(format!("archive has more than {MAX_ENTRIES} entries"));
        }
        let mut entry = entry.map_err(broken)?;
        take(&mut entry, into)?;
        // What is passed over must not count as headers of the next one. Holes of sparse files have no end.
        if entry.header().entry_type() != EntryType::GNUSparse {
            io::copy(&mut entry, &mut io::sink()).map_err(broken)?;
        }
    }
    Ok(())
}

/// Makes one entry in the folder.
fn take<R: Read>(entry: &mut tar::Entry<'_, R>, into: &Path) -> Result<(), String> {
    let name = entry.path_bytes().into_owned();
    let Some(place) = inside(Path::new(""), OsStr::from_bytes(&name)) else {
        let shown = into.join(OsStr::from_bytes(&name));
        return Err(format!("illegal filepath in archive: {}", shown.display()));
    };
    if place.as_os_str().is_empty() {
        return Ok(());
    }
    match entry.header().entry_type() {
        EntryType::Directory => {
            make_folders(into, &place).map_err(|error| format!("error creating nested folders: {error}"))
        }
        EntryType::Symlink => {
            let link = entry.link_name_bytes().unwrap_or_default().into_owned();
            make_link(into, &place, OsStr::from_bytes(&link))
        }
        EntryType::Regular => {
            make_parent(into, &place)?;
            write(&into.join(&place), entry)
        }
        _ => Ok(()),
    }
}

fn words(error: &io::Error) -> String {
    match error.kind() {
        io::ErrorKind::UnexpectedEof => "unexpected EOF".to_owned(),
        io::ErrorKind::FileTooLarge => "archive/tar: header field too long".to_owned(),
        // Go has one text for every header that it cannot read.
        io::ErrorKind::Other => "archive/tar: invalid tar header".to_owned(),
        _ => error.to_string(),
    }
}

/// Where a path that starts in `folder` leads, from the root; `None` when that is outside. An absolute path starts there too,
/// because Go joins it.
fn inside(folder: &Path, path: &OsStr) -> Option<PathBuf> {
    let mut place = folder.to_owned();
    for part in Path::new(path).components() {
        match part {
            Component::Normal(name) => place.push(name),
            Component::ParentDir if !place.pop() => return None,
            Component::ParentDir | Component::CurDir | Component::RootDir | Component::Prefix(_) => {}
        }
    }
    Some(place)
}

/// Makes the folders of a path; fails where something else, such as a link, is in the way.
fn make_folders(root: &Path, place: &Path) -> io::Result<()> {
    let mut at = root.to_owned();
    for part in place.components() {
        at.push(part);
        match fs::symlink_metadata(&at) {
            Ok(found) if found.is_dir() => {}
            Ok(_) => return Err(io::ErrorKind::NotADirectory.into()),
            Err(error) if error.kind() == io::ErrorKind::NotFound => fs::create_dir(&at)?,
            Err(error) => return Err(error),
        }
    }
    Ok(())
}

fn make_parent(root: &Path, place: &Path) -> Result<(), String> {
    let parent = place.parent().unwrap_or(Path::new(""));
    make_folders(root, parent).map_err(|error| format!("error creating nested folders: {error}"))
}

fn make_link(root: &Path, place: &Path, link: &OsStr) -> Result<(), String> {
    let folder = place.parent().unwrap_or(Path::new(""));
    let Some(leads_to) = inside(folder, link) else {
        return Err(format!("illegal filepath in symlink: {}", root.join(folder).join(link).display()));
    };
    make_parent(root, place)?;
    let failed = |error: io::Error| format!("error creating symlink: {error}");
    symlink(relative(folder, &leads_to), root.join(place)).map_err(failed)
}

/// The way from a folder to a place, both from the root.
fn relative(folder: &Path, to: &Path) -> PathBuf {
    let shared = folder.components().zip(to.components()).take_while(|(left, right)| left == right).count();
    let up = folder.components().skip(shared).map(|_| Component::ParentDir);
    let way: PathBuf = up.chain(to.components().skip(shared)).collect();
    if way.as_os_str().is_empty() { PathBuf::from(".") } else { way }
}

/// Writes one file; a file or link of that name makes room, so that nothing is written through a link.
fn write(target: &Path, entry: &mut impl Read) -> Result<(), String> {
    let shown = target.display();
    let failed = |error: io::Error| format!("error creating file \"{shown}\": {error}");
    match fs::remove_file(target) {
        Err(error) if error.kind() != io::ErrorKind::NotFound => return Err(failed(error)),
        _ => {}
    }
    let mut file = fs::OpenOptions::new().write(true).create_new(true).mode(0o644).open(target).map_err(failed)?;
    let copied = io::copy(entry, &mut file);
    copied.map(drop).map_err(|error| format!("error writing tgz file: {}", words(&error)))
}
