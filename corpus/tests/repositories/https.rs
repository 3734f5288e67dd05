//! Git over HTTP and HTTPS: passwords, tokens, certificates.

use serde_json::json;

use crate::bench::{Bench, access, reach, refusals, repository, trusting};
use litecd::repo::RepoAccess;

const FETCH: &str = "failed to initialize repository resources: rpc error: code = Internal desc = Failed to fetch \
     default: `git fetch origin --tags --force --prune` failed exit status 128: ";

#[tokio::test]
async fn a_password_is_sent_with_the_listing_and_when_the_server_asks_for_it() {
    let bench = Bench::new();
    let server = bench.serve("git-https", json!({"user": "alice", "password": "wonder"}));
    let url = format!("{}/app.git", server.say("/url"));
    let store = bench.store();
    let repo = access(&url, &[("username", "alice"), ("password", "wonder")]);
    assert_eq!(reach(&store, &repo).await.as_ref(), Ok(&bench.sha));
    let seen = bench.journal();
    assert_eq!(seen.first().map(String::as_str), Some("GET /app.git/info/refs Basic"), "{seen:?}");
    assert_eq!(seen.get(1).map(String::as_str), Some("GET /app.git/info/refs "), "a fetch waits to be asked: {seen:?}");
    assert!(seen.iter().skip(2).all(|line| line.ends_with(" Basic")), "{seen:?}");
}

#[tokio::test]
async fn a_forced_password_and_a_token_are_sent_before_anybody_asks() {
    let bench = Bench::new();
    let server = bench.serve("git-https", json!({"user": "alice", "password": "wonder", "bearer": "token-1"}));
    let url = format!("{}/app.git", server.say("/url"));
    let forced: &[_] = &[("username", "alice"), ("password", "wonder"), ("forceHttpBasicAuth", "true")];
    for (keys, kind) in [(forced, "Basic"), (&[("bearerToken", "token-1")], "Bearer")] {
        let other = Bench::new();
        assert_eq!(reach(&other.store(), &access(&url, keys)).await.as_ref(), Ok(&bench.sha));
        let seen = bench.journal();
        assert!(seen.len() >= 3 && seen.iter().all(|line| line.ends_with(kind)), "{seen:?}");
    }
}

#[tokio::test]
async fn a_password_in_the_url_works_and_is_not_part_of_it_any_more() {
    let bench = Bench::new();
    let server = bench.serve("git-https", json!({"user": "al", "password": "p@ss"}));
    let place = server.say("/url").trim_start_matches("http://");
    let repo = RepoAccess::anonymous(format!("http://al:p%40ss@{place}/app.git"));
    assert_eq!(reach(&bench.store(), &repo).await.as_ref(), Ok(&bench.sha));
    assert_eq!(repo.url, format!("http://al@{place}/app.git"));
}

#[tokio::test]
async fn a_wrong_password_reads_as_in_argo_cd() {
    let bench = Bench::new();
    let server = bench.serve("git-https", json!({"user": "alice", "password": "wonder"}));
    let url = format!("{}/app.git", server.say("/url"));
    for keys in [&[("password", "wrong")][..], &[("bearerToken", "wrong")]] {
        let (listing, fetch) = refusals(&bench.store(), &access(&url, keys)).await;
        assert_eq!(listing, "failed to list refs: authentication required: credentials are needed");
        let expect = format!("{FETCH}remote: credentials are needed\nfatal: Authentication failed for '{url}/'");
        assert_eq!(fetch, expect);
    }
    // Without anything to log in with, git does not print what the server said.
    let (listing, fetch) = refusals(&bench.store(), &RepoAccess::anonymous(&url)).await;
    assert_eq!(listing, "failed to list refs: authentication required: ");
    assert!(fetch.contains("terminal prompts disabled"), "{fetch}");
    let missing = access(&url.replace("app", "none"), &[("username", "alice"), ("password", "wonder")]);
    let (listing, _) = refusals(&bench.store(), &missing).await;
    assert_eq!(listing, "failed to list refs: repository not found: ");
}

#[tokio::test]
async fn what_a_server_repeats_of_a_credential_is_not_shown() {
    let bench = Bench::new();
    let server = bench.serve("git-https", json!({"user": "alice", "password": "wonder", "forbid": true}));
    let url = format!("{}/app.git", server.say("/url"));
    let repo = access(&url, &[("username", "alice"), ("password", "wonder")]);
    let (listing, fetch) = refusals(&bench.store(), &repo).await;
    assert_eq!(listing, "failed to list refs: authorization failed: not allowed: Basic ****** ******");
    assert!(fetch.contains("not allowed: Basic ****** ******"), "{fetch}");
}

#[tokio::test]
async fn a_certificate_of_the_host_is_the_only_one_that_is_trusted() {
    let bench = Bench::new();
    let server = bench.serve("git-https", json!({"tls": true}));
    let stranger = bench.serve("git-https", json!({"tls": true}));
    let url = format!("{}/app.git", server.say("/url"));
    let of = |authority: &str| RepoAccess::new(&repository(&url, &[]), &trusting(authority, ""));
    assert_eq!(reach(&bench.store(), &of(server.say("/authority"))).await.as_ref(), Ok(&bench.sha));
    for wrong in [stranger.say("/authority"), ""] {
        let (listing, fetch) = refusals(&bench.store(), &of(wrong)).await;
        let expect = format!(
            "failed to list refs: Get \"{url}/info/refs?service=git-upload-pack\": tls: failed to verify certificate: \
             x509: certificate signed by unknown authority"
        );
        assert_eq!(listing, expect);
        assert!(fetch.contains("<credentials>/ca.crt") || wrong.is_empty(), "no random name in a condition: {fetch}");
    }
    let insecure = access(&url, &[("insecure", "true")]);
    assert_eq!(reach(&bench.store(), &insecure).await.as_ref(), Ok(&bench.sha));
}

#[tokio::test]
async fn a_client_shows_its_certificate() {
    let bench = Bench::new();
    let config = json!({"tls": true, "clientCertificate": true, "user": "alice", "password": "wonder"});
    let server = bench.serve("git-https", config);
    let url = format!("{}/app.git", server.say("/url"));
    let trust = trusting(server.say("/authority"), "");
    let login = [("username", "alice"), ("password", "wonder")];
    let pair =
        [("tlsClientCertData", server.say("/clientCertificate")), ("tlsClientCertKey", server.say("/clientKey"))];
    let with = RepoAccess::new(&repository(&url, &[login, pair].concat()), &trust);
    assert_eq!(reach(&bench.store(), &with).await.as_ref(), Ok(&bench.sha));
    // The words depend on the library that git speaks TLS with.
    let (listing, fetch) = refusals(&bench.store(), &RepoAccess::new(&repository(&url, &login), &trust)).await;
    assert!(listing.starts_with("failed to list refs: ") && fetch.starts_with(FETCH), "{listing} {fetch}");
}

#[tokio::test]
async fn submodules_of_the_same_host_get_the_credentials() {
    let bench = Bench::new();
    let server = bench.serve("git-https", json!({"user": "alice", "password": "wonder"}));
    let lib = bench.repository("lib", &[("lib.yaml", "kind: Secret\n")]);
    let links = "[submodule \"lib\"]\n\tpath = lib\n\turl = ../lib.git\n";
    bench.repository("outer", &[("cm.yaml", ""), (".gitmodules", links)]);
    let work = bench.path("work/outer");
    crate::bench::git(&work, &["update-index", "--add", "--cacheinfo", &format!("160000,{lib},lib")]);
    crate::bench::git(&work, &["commit", "-q", "-m", "two"]);
    crate::bench::git(&work, &["push", "-q", &bench.root().join("outer.git").to_string_lossy(), "main"]);
    let url = format!("{}/outer.git", server.say("/url"));
    let (store, repo) = (bench.store(), access(&url, &[("username", "alice"), ("password", "wonder")]));
    let sha = reach(&store, &repo).await.unwrap();
    let checkout = store.checkout(&repo, &sha).await.unwrap();
    assert!(checkout.root.join("lib/lib.yaml").exists());
}
