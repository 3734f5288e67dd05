//! GitHub Apps: statements, installations, tokens.

use corpus::loopback::Loopback;
use litecd::repo::RepoAccess;
use serde_json::json;

use crate::bench::{Bench, reach, repository, trusting};

fn github(bench: &Bench, expires: u32) -> Loopback {
    let config = json!({"app": 7, "installation": 42, "owner": "Acme", "expires": expires});
    bench.serve("github", config)
}

fn access(server: &Loopback, path: &str, keys: &[(&str, &str)]) -> RepoAccess {
    let api = format!("{}/", server.say("/url"));
    let base = [("githubAppID", "7"), ("githubAppEnterpriseBaseUrl", api.as_str())];
    let url = format!("{}/{path}.git", server.say("/url"));
    RepoAccess::new(&repository(&url, &[&base[..], keys].concat()), &trusting(server.say("/authority"), ""))
}

fn count(journal: &[String], what: &str) -> usize {
    journal.iter().filter(|line| line.as_str() == what).count()
}

/// A bench whose repository belongs to an owner.
fn bench() -> (Bench, String) {
    let bench = Bench::new();
    let sha = bench.repository("acme/app", &[("cm.yaml", "kind: ConfigMap\n")]);
    bench.repository("acme/other", &[("cm.yaml", "kind: ConfigMap\n")]);
    (bench, sha)
}

#[tokio::test]
async fn one_token_serves_an_installation_until_it_expires() {
    let (bench, sha) = bench();
    let server = github(&bench, 3600);
    let store = bench.store();
    for (path, key) in [("acme/app", "/pkcs1"), ("acme/other", "/pkcs1"), ("acme/app", "/pkcs1")] {
        let keys = [("githubAppInstallationID", "42"), ("githubAppPrivateKey", server.say(key))];
        assert!(reach(&store, &access(&server, path, &keys)).await.is_ok(), "{path}");
    }
    assert_eq!(count(&bench.journal(), "token"), 1);
    let keys = [("githubAppInstallationID", "42"), ("githubAppPrivateKey", server.say("/pkcs8"))];
    assert_eq!(reach(&store, &access(&server, "acme/app", &keys)).await, Ok(sha));
    let short = github(&bench, 30);
    let keys = [("githubAppInstallationID", "42"), ("githubAppPrivateKey", short.say("/pkcs1"))];
    for path in ["acme/app", "acme/other"] {
        store.resolve(&access(&short, path, &keys), "main").await.unwrap();
    }
    assert_eq!(count(&bench.journal(), "token"), 3, "a token that ends within a minute is not used again");
}

#[tokio::test]
async fn an_installation_is_found_by_its_owner() {
    let (bench, sha) = bench();
    let server = github(&bench, 3600);
    let (store, keys) = (bench.store(), [("githubAppPrivateKey", server.say("/pkcs1"))]);
    assert_eq!(reach(&store, &access(&server, "acme/app", &keys)).await, Ok(sha));
    assert!(store.resolve(&access(&server, "acme/other", &keys), "main").await.is_ok());
    assert_eq!(count(&bench.journal(), "installations"), 1);
    let error = store.resolve(&access(&server, "foreign/app", &keys), "main").await.unwrap_err();
    assert_eq!(
        error.to_string(),
        "failed to list refs: failed to create GitHub app installation transport: failed to discover GitHub App \
         installation ID for organization foreign: ensure the GitHub App (ID: 7) is installed for this organization: \
         installation not found for org: foreign"
    );
}

#[tokio::test]
async fn refused_apps_read_as_in_argo_cd() {
    let (bench, _) = bench();
    let (server, stranger) = (github(&bench, 3600), github(&bench, 3600));
    let check = async |keys: &[(&str, &str)], expect: &str| {
        let error = bench.store().resolve(&access(&server, "acme/app", keys), "main").await.unwrap_err();
        assert_eq!(error.to_string(), format!("failed to list refs: {expect}"));
    };
    let fetching = format!("when fetching {}/app/installations", server.say("/url"));
    let wrong_key = ("githubAppPrivateKey", stranger.say("/pkcs1"));
    let refused = "received non 2xx response status";
    check(
        &[("githubAppInstallationID", "42"), wrong_key],
        &format!(
            "could not refresh installation id 42's token: {refused} \"401 Unauthorized\" {fetching}/42/access_tokens"
        ),
    )
    .await;
    check(
        &[("githubAppInstallationID", "41"), ("githubAppPrivateKey", server.say("/pkcs1"))],
        &format!(
            "could not refresh installation id 41's token: {refused} \"401 Unauthorized\" {fetching}/41/access_tokens"
        ),
    )
    .await;
    check(
        &[("githubAppInstallationID", "42"), ("githubAppPrivateKey", "no key")],
        "failed to create GitHub app installation transport: failed to initialize GitHub installation transport: could \
         not parse private key: invalid key: Key must be a PEM encoded PKCS1 or PKCS8 key",
    )
    .await;
    for (key, value, words) in [
        ("gcpServiceAccountKey", "{}", "a Google Cloud service account key (gcpServiceAccountKey)"),
        ("useAzureWorkloadIdentity", "true", "Azure workload identity (useAzureWorkloadIdentity)"),
    ] {
        check(&[(key, value)], &format!("logging in to repositories with {words} is not supported by this build"))
            .await;
    }
}
