//! Paths that users write, and where they may lead.
//!
//! In:  a path from the spec or the repository.
//! Out: an absolute path inside the checkout, a permitted URL, or Argo CD's refusal.
//! Invariant: no path leaves the checkout it belongs to, by `..` or by a symbolic link.
//! Source: REND-008, REND-126, REND-127 (`util/app/path/path.go`, `util/io/path/resolved.go`).

use std::path::{Component, Path, PathBuf};

use super::Error;

/// How many links are followed before a path counts as broken.
const MAX_LINKS: usize = 10;

/// The path without `.`, `..` and doubled slashes, computed on the text alone as Go's `filepath.Clean` does.
pub fn clean(path: &Path) -> PathBuf {
    let mut out = PathBuf::new();
    for part in path.components() {
        match part {
            Component::CurDir => {}
            Component::ParentDir => match out.components().next_back() {
                Some(Component::Normal(_)) => {
                    out.pop();
                }
                Some(Component::RootDir) => {}
                _ => out.push(".."),
            },
            other => out.push(other),
        }
    }
    out
}

/// The directory of an application in the checkout.
pub fn app_path(root: &Path, path: &str) -> Result<PathBuf, Error> {
    let fail = |words: &str| Err(Error::Failed(format!("{path}: {words}")));
    if path.starts_with('/') {
        return fail("app path is absolute");
    }
    let full = clean(&root.join(path));
    if !full.starts_with(root) {
        return fail("app path outside root");
    }
    match std::fs::metadata(&full) {
        Ok(found) if found.is_dir() => Ok(full),
        Ok(_) => fail("app path is not a directory"),
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => fail("app path does not exist"),
        Err(error) => Err(Error::Failed(format!("stat {}: {}", full.display(), go_reason(&error)))),
    }
}

/// A value file or similar after resolution.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Resolved {
    /// An absolute path inside the checkout; it need not exist.
    Local(PathBuf),
    /// A URL with a permitted scheme, for the tool to load.
    Remote(String),
}

impl Resolved {
    /// As the tool gets it.
    pub fn argument(&self) -> String {
        match self {
            Self::Local(path) => path.to_string_lossy().into_owned(),
            Self::Remote(url) => url.clone(),
        }
    }
}

/// Where a value file lies: relative to the application, or to the root when it starts with a slash.
pub fn value_file(app: &Path, root: &Path, file: &str, schemes: &[String]) -> Result<Resolved, Error> {
    if let Some(scheme) = url_scheme(file) {
        if schemes.iter().any(|allowed| allowed.eq_ignore_ascii_case(scheme)) {
            return Ok(Resolved::Remote(file.to_owned()));
        }
        return Err(Error::Failed(format!("the URL scheme '{}' is not allowed", scheme.to_lowercase())));
    }
    inside(app, root, file).map(Resolved::Local)
}

/// A local path with its final link followed, inside the root and not the root itself.
pub fn inside(app: &Path, root: &Path, file: &str) -> Result<PathBuf, Error> {
    let path = followed(app, root, file)?;
    if path == root {
        return Err(hidden());
    }
    Ok(path)
}

/// As [`inside`], relative to the root, which it may be.
pub fn inside_or_root(root: &Path, file: &str) -> Result<PathBuf, Error> {
    followed(root, root, file)
}

/// The cause is not shown: it would tell what lies on the machine.
fn hidden() -> Error {
    Error::Failed("internal error: failed to resolve path. Check logs for more details".to_owned())
}

fn followed(app: &Path, root: &Path, file: &str) -> Result<PathBuf, Error> {
    let joined = match file.strip_prefix('/') {
        Some(from_root) => root.join(from_root.trim_start_matches('/')),
        None => app.join(file),
    };
    let mut path = clean(&joined);
    for depth in 0.. {
        let Ok(target) = std::fs::read_link(&path) else { break };
        if depth == MAX_LINKS {
            return Err(hidden());
        }
        path = clean(&path.parent().unwrap_or(Path::new("/")).join(target));
    }
    if !path.starts_with(root) {
        return Err(Error::Failed(format!("file '{file}' resolved to outside repository root")));
    }
    Ok(path)
}

/// The scheme of a URL, as Go's `url.Parse` finds it.
fn url_scheme(text: &str) -> Option<&str> {
    let (scheme, _) = text.split_once(':')?;
    let starts_well = scheme.starts_with(|c: char| c.is_ascii_alphabetic());
    (starts_well && scheme.chars().all(|c| c.is_ascii_alphanumeric() || "+-.".contains(c))).then_some(scheme)
}

/// The system's reason in Go's words: lower case, without a number.
pub fn go_reason(error: &std::io::Error) -> String {
    let text = error.to_string();
    let text = text.split(" (os error").next().unwrap_or_default();
    let mut chars = text.chars();
    chars.next().map(|first| first.to_lowercase().chain(chars).collect()).unwrap_or_default()
}
