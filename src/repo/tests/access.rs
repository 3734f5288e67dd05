//! From a repository's Secrets to what git is given.

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::Path;
use std::sync::Arc;

use super::super::RepoAccess;
use super::super::environment::{Environment, Purpose};
use super::super::login::Login;
use crate::settings::{Credentials, Repository, Trust, trust};

fn access(url: &str, credentials: Credentials) -> RepoAccess {
    let repository = Repository { url: url.to_owned(), credentials, ..Repository::default() };
    RepoAccess::new(&repository, &Arc::default())
}

fn password(url: &str) -> RepoAccess {
    access(url, Credentials { password: "hunter2".to_owned(), ..Credentials::default() })
}

/// What git is given; the folder keeps the files.
fn given(repo: &RepoAccess, purpose: Purpose) -> (Environment, tempfile::TempDir) {
    let dir = tempfile::tempdir().unwrap();
    (Environment::new(repo, &repo.login, (dir.path(), purpose), &[]).unwrap(), dir)
}

#[test]
fn the_first_credential_in_argo_cds_order_is_used() {
    let check = |credentials: Credentials, expect: &str| {
        assert_eq!(format!("{:?}", Login::of(&credentials, "https://h/r")), expect);
    };
    let all = Credentials {
        password: "p".to_owned(),
        ssh_private_key: "k".to_owned(),
        github_app_private_key: "g".to_owned(),
        github_app_id: 1,
        gcp_service_account_key: "{}".to_owned(),
        use_azure_workload_identity: true,
        ..Credentials::default()
    };
    let without_password = Credentials { password: String::new(), ..all.clone() };
    let without_key = Credentials { ssh_private_key: String::new(), ..without_password.clone() };
    let without_app = Credentials { github_app_id: 0, ..without_key.clone() };
    let without_gcp = Credentials { gcp_service_account_key: String::new(), ..without_app.clone() };
    check(all, "Https");
    check(without_password, "Ssh");
    check(without_key, "App");
    check(without_app, "a Google Cloud service account key (gcpServiceAccountKey)");
    check(without_gcp, "Azure workload identity (useAzureWorkloadIdentity)");
    check(Credentials { bearer_token: "t".to_owned(), ..Credentials::default() }, "Https");
    check(Credentials { username: "u".to_owned(), ..Credentials::default() }, "Anonymous");
    assert_eq!(format!("{:?}", Login::of_url("https://u:p@h/r")), "Https");
    assert_eq!(format!("{:?}", Login::of_url("https://u@h/r")), "Anonymous");
}

#[test]
fn a_password_waits_for_the_server_to_ask_unless_it_is_forced() {
    let header = "http.https://git.example.com/.extraHeader";
    let basic = "Authorization: Basic eC1hY2Nlc3MtdG9rZW46aHVudGVyMg==";
    let repo = password("https://Git.example.com/org/app.git");
    let (listing, _dir) = given(&repo, Purpose::Listing);
    assert_eq!(listing.setting(header), Some(basic));
    let (fetching, _dir) = given(&repo, Purpose::Fetching);
    assert_eq!(fetching.setting(header), None);
    assert_eq!(fetching.variable("LITECD_GIT_PASSWORD"), Some("hunter2"));
    assert_eq!(fetching.setting("credential.helper"), Some(""));
    assert!(fetching.setting("credential.https://git.example.com.helper").is_some());
    let forced = Credentials {
        password: "hunter2".to_owned(),
        bearer_token: "token1".to_owned(),
        force_http_basic_auth: true,
        ..Credentials::default()
    };
    let repo = access("https://git.example.com/x", forced);
    assert_eq!(given(&repo, Purpose::Fetching).0.setting(header), Some(basic));
    assert_eq!(given(&repo, Purpose::Listing).0.setting(header), Some("Authorization: Bearer token1"));
}

#[test]
fn credentials_stay_with_their_host() {
    let repo = password("https://u:word@Git.example.com/org/app.git");
    assert_eq!(repo.url, "https://u@Git.example.com/org/app.git");
    let near = repo.of_submodule("../lib.git");
    assert_eq!((near.url.as_str(), near.login.is_some()), ("https://u@Git.example.com/org/lib.git", true));
    let far = repo.of_submodule("https://elsewhere.example.com/lib.git");
    assert_eq!(far, RepoAccess::anonymous("https://elsewhere.example.com/lib.git"));
    let other_port = repo.of_submodule("https://git.example.com:8443/lib.git");
    assert!(!other_port.login.is_some());
    let key = access("git@h:org/app.git", Credentials { ssh_private_key: "k".to_owned(), ..Credentials::default() });
    assert!(key.of_submodule("ssh://git@other/lib").login.is_some(), "a key is shown to nobody by offering it");
    assert!(!key.of_submodule("https://h/lib").login.is_some());
    assert_eq!(key.of_submodule("../lib").url, "git@h:org/lib");
}

#[test]
fn keys_stand_in_private_files_as_long_as_they_are_needed() {
    let mut trust = Trust::default();
    trust.set(trust::SSH_KNOWN_HOSTS, [("ssh_known_hosts".to_owned(), "h ssh-ed25519 AAAA".to_owned())].into());
    let credentials = Credentials { ssh_private_key: "the key".to_owned(), ..Credentials::default() };
    let mut repository = Repository { url: "git@h:r".to_owned(), credentials, ..Repository::default() };
    let (environment, dir) = given(&RepoAccess::new(&repository, &Arc::new(trust)), Purpose::Fetching);
    let files = fs::read_dir(dir.path()).unwrap().next().unwrap().unwrap().path();
    let read = |name: &str| fs::read_to_string(files.join(name)).unwrap();
    let mode = |path: &Path| fs::metadata(path).unwrap().permissions().mode() & 0o777;
    assert_eq!((read("id").as_str(), read("known_hosts").as_str()), ("the key\n", "h ssh-ed25519 AAAA\n"));
    assert_eq!((mode(&files), mode(&files.join("id"))), (0o700, 0o600));
    let files = files.to_string_lossy().into_owned();
    let expect = format!(
        "ssh -i '{files}/id' -o IdentitiesOnly=yes -o 'StrictHostKeyChecking=yes' \
         -o 'UserKnownHostsFile=\"{files}/known_hosts\"' -o 'GlobalKnownHostsFile=/dev/null' -o 'BatchMode=yes'"
    );
    assert_eq!(environment.variable("GIT_SSH_COMMAND"), Some(expect.as_str()));
    drop(environment);
    assert!(fs::read_dir(dir.path()).unwrap().next().is_none());
    repository.insecure_ignore_host_key = true;
    repository.credentials.proxy = "socks5://u:word@proxy:1080".to_owned();
    let (environment, _dir) = given(&RepoAccess::new(&repository, &Arc::default()), Purpose::Fetching);
    let command = environment.variable("GIT_SSH_COMMAND").unwrap();
    assert!(command.contains("-o 'StrictHostKeyChecking=no' -o 'UserKnownHostsFile=\"/dev/null\"'"), "{command}");
    assert!(command.ends_with("-o 'ProxyCommand=connect-proxy -S proxy:1080 -5 %h %p'"), "{command}");
    assert_eq!(environment.variable("SOCKS5_PASSWD"), Some("word"));
}

#[test]
fn a_repositorys_proxy_replaces_the_processes_own_in_both_spellings() {
    let proxy = Credentials { proxy: "http://proxy:3128".to_owned(), ..Credentials::default() };
    let (environment, _dir) = given(&access("https://h/r", proxy), Purpose::Listing);
    for (name, value) in [("http_proxy", "http://proxy:3128"), ("HTTPS_PROXY", "http://proxy:3128"), ("NO_PROXY", "")] {
        assert_eq!(environment.variable(name), Some(value), "{name}");
    }
    let (environment, _dir) = given(&RepoAccess::anonymous("https://h/r"), Purpose::Listing);
    assert_eq!(environment.variable("https_proxy"), None);
}

#[test]
fn debug_shows_no_credential() {
    let credentials = Credentials {
        password: "hunter2".to_owned(),
        bearer_token: "token1".to_owned(),
        tls_client_cert_data: "cert".to_owned(),
        tls_client_cert_key: "private".to_owned(),
        proxy: "http://u:proxyword@h".to_owned(),
        ..Credentials::default()
    };
    let repo = access("https://u:word@h/r", credentials);
    let (environment, _dir) = given(&repo, Purpose::Listing);
    let shown = format!("{repo:?} {:?} {environment:?}", repo.login);
    for secret in ["hunter2", "token1", "private", "proxyword", "word@"] {
        assert!(!shown.contains(secret), "{secret} in {shown}");
    }
}
