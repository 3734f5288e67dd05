//! Why references could not be listed.
//!
//! In:  how `git ls-remote` failed.
//! Out: the words of the library that Argo CD lists references with, which are the same each time (git's own hold milliseconds).
//! Source: REND-026, REND-064 (`go-git` `plumbing/transport`, `golang.org/x/crypto/ssh`).

use super::access::RepoAccess;
use super::error::{Error, Failure};
use super::login::Login;
use crate::process;

/// The failure in Argo CD's words.
pub fn of(failure: &Failure, repo: &RepoAccess) -> Error {
    let error = match failure {
        Failure::Git(error) => error,
        Failure::Silent(_) => return silent(repo),
        Failure::Credentials(text) => return Error::ListRefs(text.clone()),
    };
    let is_ssh = repo.authority().is_some_and(|authority| authority.is_ssh());
    let text = match error {
        process::Error::Timeout { .. } => return silent(repo),
        _ if is_ssh => over_ssh(error.stderr(), repo),
        _ => over_http(error.stderr(), &request(repo)),
    };
    let fatal = || error.stderr().lines().find_map(|line| line.strip_prefix("fatal: ").map(str::to_owned));
    Error::ListRefs(text.or_else(fatal).unwrap_or_else(|| error.to_string()))
}

/// The failure of a server that did not answer.
pub fn silent(repo: &RepoAccess) -> Error {
    let request = request(repo);
    Error::ListRefs(format!(
        "Get {request:?}: context deadline exceeded (Client.Timeout exceeded while awaiting headers)"
    ))
}

/// The request that a listing over HTTP begins with.
fn request(repo: &RepoAccess) -> String {
    format!("{}/info/refs?service=git-upload-pack", repo.url.trim_end_matches('/'))
}

fn over_http(stderr: &str, request: &str) -> Option<String> {
    let said = remote_lines(stderr);
    if stderr.contains("' not found") || stderr.contains("does not appear to be a git repository") {
        return Some(format!("repository not found: {said}"));
    }
    if stderr.contains("Authentication failed") || stderr.contains("could not read Username") {
        return Some(format!("authentication required: {said}"));
    }
    if let Some(code) = after(stderr, "The requested URL returned error: ") {
        return Some(match code {
            "401" => format!("authentication required: {said}"),
            "403" => format!("authorization failed: {said}"),
            code => format!("unexpected client error: unexpected requesting {request:?} status code: {code}"),
        });
    }
    let cause = if let Some(host) = after(stderr, "Could not resolve host: ") {
        format!("dial tcp: lookup {host}: no such host")
    } else if let Some(host) = after(stderr, "Failed to connect to ") {
        let port = after(stderr, " port ").unwrap_or_default();
        format!("dial tcp {host}:{port}: connect: connection refused")
    } else if let Some(proxy) = after(stderr, "Could not resolve proxy: ") {
        format!("proxyconnect tcp: dial tcp: lookup {proxy}: no such host")
    } else if UNKNOWN_AUTHORITY.iter().any(|words| stderr.contains(words)) {
        "tls: failed to verify certificate: x509: certificate signed by unknown authority".to_owned()
    } else if ["certificate required", "Certificate is required"].iter().any(|words| stderr.contains(words)) {
        "remote error: tls: certificate required".to_owned()
    } else {
        return None;
    };
    Some(format!("Get {request:?}: {cause}"))
}

/// How the TLS libraries that git is built with say that nobody vouches for a server.
const UNKNOWN_AUTHORITY: [&str; 4] = [
    "server certificate verification failed",
    "self-signed certificate",
    "self signed certificate",
    "unable to get local issuer certificate",
];

fn over_ssh(stderr: &str, repo: &RepoAccess) -> Option<String> {
    let host = repo.authority().map(|authority| authority.host).unwrap_or_default();
    let has = |words: &[&str]| words.iter().any(|words| stderr.contains(words));
    let text = if has(&["cannot run ssh", "ssh: not found", "ssh: command not found"]) {
        "exec: \"ssh\": executable file not found in $PATH".to_owned()
    } else if has(&["Load key "]) {
        // The next lines say that the server refused, which it could only do.
        if has(&["incorrect passphrase"]) {
            "ssh: this private key is passphrase protected".to_owned()
        } else {
            "ssh: no key found".to_owned()
        }
    } else if has(&["REMOTE HOST IDENTIFICATION HAS CHANGED"]) {
        "ssh: handshake failed: knownhosts: key mismatch".to_owned()
    } else if has(&["Host key verification failed", "host key is known for"]) {
        "ssh: handshake failed: knownhosts: key is unknown".to_owned()
    } else if has(&["Permission denied"]) {
        match &repo.login {
            Login::Ssh { .. } => {
                "ssh: handshake failed: ssh: unable to authenticate, attempted methods [none publickey], \
                 no supported methods remain"
                    .to_owned()
            }
            // Without a key Argo CD looks for an agent, and says that there is none.
            _ => "error creating SSH agent: \"SSH agent requested but SSH_AUTH_SOCK not-specified\"".to_owned(),
        }
    } else if let Some(port) = after(stderr, &format!("connect to host {host} port ")) {
        let port = port.trim_end_matches(':');
        let cause = if has(&["Connection refused"]) { "connect: connection refused" } else { "i/o timeout" };
        format!("dial tcp {host}:{port}: {cause}")
    } else if has(&["Could not resolve hostname"]) {
        format!("dial tcp: lookup {host}: no such host")
    } else if has(&REPOSITORY_NOT_FOUND) {
        "repository not found".to_owned()
    } else {
        return None;
    };
    Some(text)
}

/// What git hosts say over SSH about a repository that is not there.
const REPOSITORY_NOT_FOUND: [&str; 7] = [
    "ERROR: Repository not found",
    "repository does not exist.",
    "does not appear to be a git repository",
    "repository not found",
    "no such repository",
    "Repository does not exist or you do not have access",
    "The project you were looking for could not be found",
];

/// What a server said to people.
fn remote_lines(stderr: &str) -> String {
    let lines = stderr.lines().filter_map(|line| line.strip_prefix("remote: ")).map(str::trim_end);
    lines.collect::<Vec<_>>().join("\n")
}

/// The word that follows some words.
fn after<'a>(text: &'a str, words: &str) -> Option<&'a str> {
    let (_, rest) = text.split_once(words)?;
    rest.split_whitespace().next()
}
