//! Git over SSH: keys and host keys.

use corpus::loopback::Loopback;
use serde_json::json;

use crate::bench::{Bench, reach, refusals, repository, trusting};
use litecd::repo::RepoAccess;

const DENIED: &str = "failed to list refs: ssh: handshake failed: ssh: unable to authenticate, attempted methods \
     [none publickey], no supported methods remain";

fn with(server: &Loopback, keys: &[(&str, &str)], known_hosts: &str) -> RepoAccess {
    RepoAccess::new(&repository(&format!("{}/app.git", server.say("/url")), keys), &trusting("", known_hosts))
}

#[tokio::test]
async fn keys_of_every_type_and_form_work() {
    let bench = Bench::new();
    let server = bench.serve("git-ssh", json!({}));
    for kind in ["ed25519", "ecdsa", "rsa", "pkcs1"] {
        let other = Bench::new();
        let key = server.say(&format!("/keys/{kind}"));
        let repo = with(&server, &[("sshPrivateKey", key)], server.say("/knownHosts"));
        assert_eq!(reach(&other.store(), &repo).await.as_ref(), Ok(&bench.sha), "{kind}");
        let trimmed = with(&server, &[("sshPrivateKey", key.trim())], server.say("/knownHosts"));
        assert_eq!(other.store().resolve(&trimmed, "main").await.as_ref(), Ok(&bench.sha), "{kind} without newline");
    }
}

#[tokio::test]
async fn a_host_must_be_known_unless_that_is_waived() {
    let bench = Bench::new();
    let server = bench.serve("git-ssh", json!({}));
    let key = ("sshPrivateKey", server.say("/keys/ed25519"));
    for (known, words) in [("", "key is unknown"), (server.say("/otherHost"), "key mismatch")] {
        let (listing, fetch) = refusals(&bench.store(), &with(&server, &[key], known)).await;
        assert_eq!(listing, format!("failed to list refs: ssh: handshake failed: knownhosts: {words}"));
        assert!(fetch.contains("Host key verification failed."), "{fetch}");
    }
    for waiver in ["insecure", "insecureIgnoreHostKey"] {
        let repo = with(&server, &[key, (waiver, "true")], "");
        assert_eq!(bench.store().resolve(&repo, "main").await.as_ref(), Ok(&bench.sha), "{waiver}");
    }
}

#[tokio::test]
async fn wrong_keys_read_as_in_argo_cd() {
    let bench = Bench::new();
    let server = bench.serve("git-ssh", json!({}));
    let known = server.say("/knownHosts");
    let check = async |keys: &[(&str, &str)], expect: &str| {
        let (listing, fetch) = refusals(&bench.store(), &with(&server, keys, known)).await;
        assert_eq!(listing, expect);
        assert!(fetch.contains("Permission denied (publickey)."), "{fetch}");
        assert!(!fetch.contains("/git-"), "no random name in a condition: {fetch}");
    };
    check(&[("sshPrivateKey", server.say("/stranger"))], DENIED).await;
    check(&[("sshPrivateKey", "no key")], "failed to list refs: ssh: no key found").await;
    let agent =
        "failed to list refs: error creating SSH agent: \"SSH agent requested but SSH_AUTH_SOCK not-specified\"";
    check(&[], agent).await;
    let missing = RepoAccess::new(
        &repository(&format!("{}/none.git", server.say("/url")), &[("sshPrivateKey", server.say("/keys/rsa"))]),
        &trusting("", known),
    );
    assert_eq!(refusals(&bench.store(), &missing).await.0, "failed to list refs: repository not found");
}

#[tokio::test]
async fn a_repository_gets_the_key_of_its_urls_prefix() {
    use litecd::settings::Repositories;
    let bench = Bench::new();
    let server = bench.serve("git-ssh", json!({}));
    let keys = [("url", server.say("/url")), ("sshPrivateKey", server.say("/keys/ed25519"))];
    let secrets = [crate::bench::secret("repo-creds", &keys)];
    let found = Repositories::from_secrets(&secrets).get(&format!("{}/app.git", server.say("/url")), "p").unwrap();
    let repo = RepoAccess::new(&found, &trusting("", server.say("/knownHosts")));
    assert_eq!(reach(&bench.store(), &repo).await.as_ref(), Ok(&bench.sha));
}
