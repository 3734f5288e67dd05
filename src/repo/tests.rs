//! Tests of this room.

mod disk;

use super::access::RepoAccess;
use super::refs::Listing;
use super::version::{Constraint, Version, max_version};
use super::{Error, list_failure, redacted};
use crate::process;

#[test]
fn constraints_admit_what_masterminds_admits() {
    for (constraint, admitted, refused) in [
        ("1.x", &["1.0.0", "v1.9.9"][..], &["2.0.0", "0.9.0", "1.2.0-rc.1"][..]),
        ("*", &["0.0.1", "9.0.0"], &["1.0.0-a"]),
        ("*-0", &["1.0.0-a", "2.0.0"], &[]),
        (">=1.2 <2", &["1.2.0", "1.9.0"], &["2.0.0", "1.1.9"]),
        (">=1.2,<2", &["1.2.0"], &["2.0.0"]),
        ("1.2 - 1.4.5", &["1.2.0", "1.4.5"], &["1.4.6", "1.1.0"]),
        ("~1.2.3", &["1.2.3", "1.2.9"], &["1.3.0", "1.2.2"]),
        ("~>1", &["1.0.0", "1.9.0"], &["2.0.0"]),
        ("^0.2.3", &["0.2.3", "0.2.9"], &["0.3.0"]),
        ("^0.0.3", &["0.0.3"], &["0.0.4"]),
        ("^1.2", &["1.2.0", "1.9.0"], &["2.0.0"]),
        ("!=1.2", &["1.3.0"], &["1.2.0", "1.2.5"]),
        (">11", &["12.0.0"], &["11.1.0"]),
        ("<=1.2", &["1.2.9"], &["1.3.0"]),
        ("=>1.0 || <0.5", &["1.0.0", "0.4.0"], &["0.6.0"]),
        (">=1.0.0-0", &["1.0.0-rc.1"], &[]),
    ] {
        let parsed = Constraint::parse(constraint).unwrap();
        let admits = |text: &&&str| parsed.admits(&Version::parse(text).unwrap());
        assert_eq!(admitted.iter().filter(admits).count(), admitted.len(), "{constraint} admits {admitted:?}");
        assert_eq!(refused.iter().filter(admits).count(), 0, "{constraint} refuses {refused:?}");
    }
    for text in ["", "latest", "1.0<2", ">=", "1.0, ", "release-1.x"] {
        assert!(Constraint::parse(text).is_err(), "{text:?}");
    }
}

#[test]
fn highest_tag_wins_in_its_own_spelling() {
    let tags = ["v1.0.0", "1.10.0+build", "v1.9.0", "nightly", "2.0.0-rc.1", "app-1.5.0"];
    assert_eq!(max_version("1.x", &tags, "").as_deref(), Ok("1.10.0+build"));
    assert_eq!(max_version("1.2", &tags, "").as_deref(), Ok("1.2"), "an exact version is never a constraint");
    assert_eq!(max_version("1.x", &tags, "app-").as_deref(), Ok("app-1.5.0"));
    assert_eq!(max_version("1.5.0", &tags, "app-").as_deref(), Ok("app-1.5.0"));
    let none = max_version(">=3", &tags, "").unwrap_err();
    assert_eq!(none.to_string(), "version matching constraint not found in 6 tags");
    let broken = max_version(">=1", &["1.0.0-01"], "").unwrap_err();
    assert_eq!(broken.to_string(), "invalid semver version in tags");
}

fn listing() -> Listing {
    let sha = |digit: char| digit.to_string().repeat(40);
    let lines = [
        "ref: refs/heads/main\tHEAD".to_owned(),
        format!("{}\tHEAD", sha('1')),
        format!("{}\trefs/heads/feature/x", sha('2')),
        format!("{}\trefs/heads/main", sha('1')),
        format!("{}\trefs/heads/twice", sha('3')),
        format!("{}\trefs/pull/7/head", sha('4')),
        format!("{}\trefs/tags/twice", sha('5')),
        format!("{}\trefs/tags/v1.0.0", sha('6')),
        format!("{}\trefs/tags/v1.0.0^{{}}", sha('7')),
        "warning: not a reference".to_owned(),
    ];
    Listing::parse(lines.join("\n").as_bytes())
}

#[test]
fn revisions_resolve_by_short_and_full_names() {
    for (revision, digit) in [
        ("", '1'),
        ("HEAD", '1'),
        ("main", '1'),
        ("refs/heads/main", '1'),
        ("feature/x", '2'),
        ("twice", '3'),
        ("pull/7/head", '4'),
        ("refs/tags/twice", '5'),
        ("v1.0.0", '7'),
        ("1.x", '7'),
    ] {
        assert_eq!(listing().resolve(revision, ""), Ok(digit.to_string().repeat(40)), "{revision}");
    }
    assert_eq!(listing().resolve("abcdef0", ""), Ok("abcdef0".to_owned()), "a short SHA is left to the fetch");
    for revision in ["heads/main", "origin/main", "nope", "1.0.0", "abcdef", "2.x"] {
        let text = format!("unable to resolve '{revision}' to a commit SHA");
        assert_eq!(listing().resolve(revision, "").unwrap_err().to_string(), text);
    }
}

#[test]
fn listing_failures_read_as_in_argo_cd() {
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
    ] {
        let failed = process::Error::Failed {
            command: "git ls-remote".to_owned(),
            cause: "exit status 128".to_owned(),
            stderr: stderr.to_owned(),
        };
        assert_eq!(list_failure::of(&failed, "https://h/r/"), Error::ListRefs(expect.to_owned()));
    }
}

#[test]
fn credentials_stay_with_their_host_and_out_of_logs() {
    let repo = RepoAccess {
        password: "hunter2".to_owned(),
        bearer_token: "token1".to_owned(),
        ..RepoAccess::anonymous("https://u:word@Git.example.com/org/app.git")
    };
    let shown = format!("{repo:?}");
    assert!(!shown.contains("hunter2") && !shown.contains("token1") && !shown.contains("word"), "{shown}");
    let header = (
        "http.https://git.example.com/.extraHeader".to_owned(),
        "Authorization: Basic eC1hY2Nlc3MtdG9rZW46aHVudGVyMg==".to_owned(),
    );
    assert!(repo.settings().contains(&header), "{:?}", repo.settings());
    let near = repo.of_submodule("../lib.git");
    assert_eq!((near.url.as_str(), near.password.as_str()), ("https://u:word@Git.example.com/org/lib.git", "hunter2"));
    let far = repo.of_submodule("https://elsewhere.example.com/lib.git");
    assert_eq!(far, RepoAccess::anonymous("https://elsewhere.example.com/lib.git"));
    assert_eq!(redacted("https://u:p@h/r"), "https://u:******@h/r");
    assert_eq!(redacted("git@h:r"), "git@h:r");
}
