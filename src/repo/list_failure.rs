//! Why references could not be listed.
//!
//! In:  how `git ls-remote` failed.
//! Out: the words of the library that Argo CD lists references with, which are the same each time (git's own hold milliseconds).
//! Source: REND-026 (`go-git` `plumbing/transport`).

use super::access::redacted;
use super::error::Error;
use crate::process;

/// The failure in Argo CD's words.
pub fn of(error: &process::Error, url: &str) -> Error {
    let stderr = error.stderr();
    let remote: Vec<&str> =
        stderr.lines().filter_map(|line| line.strip_prefix("remote: ")).map(str::trim_end).collect();
    let said = remote.join("\n");
    let request = format!("{}/info/refs?service=git-upload-pack", redacted(url).trim_end_matches('/'));
    let text = if stderr.contains("' not found") || stderr.contains("does not appear to be a git repository") {
        format!("repository not found: {said}")
    } else if stderr.contains("Authentication failed") || stderr.contains("could not read Username") {
        format!("authentication required: {said}")
    } else if let Some(code) = after(stderr, "The requested URL returned error: ") {
        match code {
            "401" => format!("authentication required: {said}"),
            "403" => format!("authorization failed: {said}"),
            code => format!("unexpected client error: unexpected requesting {request:?} status code: {code}"),
        }
    } else if let Some(host) = after(stderr, "Could not resolve host: ") {
        format!("Get {request:?}: dial tcp: lookup {host}: no such host")
    } else if let Some(host) = after(stderr, "Failed to connect to ") {
        let port = after(stderr, " port ").unwrap_or_default();
        format!("Get {request:?}: dial tcp {host}:{port}: connect: connection refused")
    } else if let process::Error::Timeout { .. } = error {
        format!("Get {request:?}: context deadline exceeded (Client.Timeout exceeded while awaiting headers)")
    } else {
        let fatal = stderr.lines().find_map(|line| line.strip_prefix("fatal: "));
        fatal.map_or_else(|| error.to_string(), str::to_owned)
    };
    Error::ListRefs(text)
}

/// The word that follows some words.
fn after<'a>(text: &'a str, words: &str) -> Option<&'a str> {
    let (_, rest) = text.split_once(words)?;
    rest.split_whitespace().next()
}
