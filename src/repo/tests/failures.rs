//! Failures of git in the words of Argo CD.

use std::time::Duration;

use super::super::error::Failure;
use super::super::{Error, RepoAccess, list_failure};
use crate::process;
use crate::settings::{Credentials, Repository};

fn text(repo: &RepoAccess, stderr: &str) -> String {
    let failed = process::Error::Failed {
        command: "git ls-remote".to_owned(),
        cause: "exit status 128".to_owned(),
        stderr: stderr.to_owned(),
    };
    let Error::ListRefs(text) = list_failure::of(&Failure::Git(failed), repo) else { panic!("no listing failure") };
    text
}

#[test]
fn listing_failures_over_http_read_as_in_argo_cd() {
    for (stderr, expect) in [
        (
            "remote: Repository not found.\nfatal: repository 'https://h/r/' not found",
            "repository not found: Repository not found.",
        ),
        ("fatal: could not read Username for 'https://h': terminal prompts disabled", "authentication required: "),
        ("fatal: unable to access 'https://h/r/': The requested URL returned error: 403", "authorization failed: "),
        (
            "fatal: unable to access 'https://h/r/': Failed to connect to h port 443 after 12 ms: Couldn't connect to server",
            "Get \"https://h/r/info/refs?service=git-upload-pack\": dial tcp h:443: connect: connection refused",
        ),
        (
            "fatal: unable to access 'https://h/r/': Could not resolve host: h",
            "Get \"https://h/r/info/refs?service=git-upload-pack\": dial tcp: lookup h: no such host",
        ),
        (
            "fatal: unable to access 'https://h/r/': SSL certificate problem: self-signed certificate in certificate chain",
            "Get \"https://h/r/info/refs?service=git-upload-pack\": tls: failed to verify certificate: x509: certificate signed by unknown authority",
        ),
        ("fatal: something new", "something new"),
    ] {
        assert_eq!(text(&RepoAccess::anonymous("https://h/r"), stderr), expect);
    }
}

#[test]
fn listing_failures_over_ssh_read_as_in_argo_cd() {
    let credentials = Credentials { ssh_private_key: "key".to_owned(), ..Credentials::default() };
    let repository = Repository { url: "git@h:r.git".to_owned(), credentials, ..Repository::default() };
    let with_key = RepoAccess::new(&repository, &Default::default());
    let denied = "git@h: Permission denied (publickey).\nfatal: Could not read from remote repository.";
    for (stderr, expect) in [
        (
            denied,
            "ssh: handshake failed: ssh: unable to authenticate, attempted methods [none publickey], no supported methods remain",
        ),
        (&format!("Load key \"<credentials>/id\": invalid format\n{denied}"), "ssh: no key found"),
        (
            "No ED25519 host key is known for h and you have requested strict checking.\nHost key verification failed.",
            "ssh: handshake failed: knownhosts: key is unknown",
        ),
        (
            "@  WARNING: REMOTE HOST IDENTIFICATION HAS CHANGED!  @\nHost key verification failed.",
            "ssh: handshake failed: knownhosts: key mismatch",
        ),
        ("ssh: connect to host h port 22: Connection refused", "dial tcp h:22: connect: connection refused"),
        ("ssh: Could not resolve hostname h: Name or service not known", "dial tcp: lookup h: no such host"),
        ("ERROR: Repository not found.\nfatal: Could not read from remote repository.", "repository not found"),
        ("error: cannot run ssh: No such file or directory", "exec: \"ssh\": executable file not found in $PATH"),
    ] {
        assert_eq!(text(&with_key, stderr), expect);
    }
    let expect = "error creating SSH agent: \"SSH agent requested but SSH_AUTH_SOCK not-specified\"";
    assert_eq!(text(&RepoAccess::anonymous("git@h:r.git"), denied), expect);
}

#[test]
fn a_server_that_does_not_answer_reads_as_in_argo_cd() {
    let command = "git ls-remote".to_owned();
    let timeout = process::Error::Timeout { command, fatal: false, after: Duration::from_secs(15) };
    let text = list_failure::of(&Failure::Git(timeout), &RepoAccess::anonymous("https://h/r")).to_string();
    let expect = "failed to list refs: Get \"https://h/r/info/refs?service=git-upload-pack\": context deadline exceeded \
                  (Client.Timeout exceeded while awaiting headers)";
    assert_eq!(text, expect);
}
