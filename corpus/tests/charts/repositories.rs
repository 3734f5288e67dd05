//! Chart repositories over HTTP: versions, downloads, errors, credentials, certificates, proxies, hostile archives.

use std::io::Write as _;
use std::time::Duration;

use corpus::loopback::Loopback;
use flate2::Compression;
use flate2::write::GzEncoder;
use litecd::charts::{Options, Store, Wanted};
use serde_json::json;

use crate::world::{CANARY, World, access, assert_no_canary, chart, packed, user, wanted};

#[tokio::test]
async fn versions_are_resolved_by_the_index() {
    let world = World::new();
    let server = world.serve("charts", json!({"etag": true}));
    world.publish(&["1.0.0", "1.2.10", "1.3.0-rc.1", "1.2.0", "2.0.0"]);
    let access = access(server.say("/url"), &[("type", "helm")], "");
    for (chart, revision, expect) in [
        ("shelf", "1.x", Ok("1.2.10")),
        ("shelf", "^1.0.0-0", Ok("1.3.0-rc.1")),
        ("shelf", "*", Ok("2.0.0")),
        ("shelf", "1.2", Ok("1.2")),
        ("shelf", "9.9.9", Ok("9.9.9")),
        ("shelf", "3.x", Err("invalid revision: version matching constraint not found in 5 tags")),
        (
            "shelf",
            "latest",
            Err("invalid revision: failed to determine semver constraint: improper constraint: latest"),
        ),
        ("ladder", "1.x", Err("chart 'ladder' not found in index")),
    ] {
        let found = world.store.resolve(&access, (chart, revision), Duration::MAX).await;
        assert_eq!(found.as_deref().map_err(ToString::to_string), expect.map_err(str::to_owned), "{chart} {revision}");
    }
    assert_eq!(world.journal().lines().count(), 1, "one index serves all");
    world.store.resolve(&access, ("shelf", "1.x"), Duration::ZERO).await.unwrap();
    assert!(world.journal().ends_with("GET /index.yaml  304\n"), "{}", world.journal());
    world.publish(&["1.0.0", "1.4.0"]);
    assert_eq!(world.store.resolve(&access, ("shelf", "1.x"), Duration::MAX).await.as_deref(), Ok("1.2.10"));
    assert_eq!(world.store.resolve(&access, ("shelf", "1.x"), Duration::ZERO).await.as_deref(), Ok("1.4.0"));
}

#[tokio::test]
async fn a_chart_is_downloaded_once_for_all_who_want_it_and_survives_a_restart() {
    let world = World::new();
    let server = world.serve("charts", json!({"delayMs": 50}));
    world.publish(&["1.2.0", "1.2.10"]);
    let access = access(server.say("/url"), &[("type", "helm")], "");
    let all = futures::future::join_all((0..20).map(|_| world.fetch(&access, "1.2"))).await;
    for folder in &all {
        let text = std::fs::read_to_string(folder.as_ref().unwrap().root.join("Chart.yaml")).unwrap();
        assert!(text.contains("version: 1.2.10"), "helm takes the newest that a partial version admits");
    }
    let saw = world.journal();
    assert_eq!(saw.matches("/shelf-1.2.10.tgz").count(), 1, "{saw}");
    let root = all[0].as_ref().unwrap().root.clone();
    assert_ne!(root, all[1].as_ref().unwrap().root, "every render has a folder of its own");
    drop(all);
    assert!(!root.exists(), "folders go with their users");
    let cache = world.dir.path().join("cache");
    let next = Store::new(&cache, &cache.join("scratch"), Options::default()).unwrap();
    next.fetch(&access, wanted("shelf", "1.2")).await.unwrap();
    assert_eq!(world.journal(), saw, "the archive is found again");
    next.fetch(&access, Wanted { fresh: true, ..wanted("shelf", "1.2") }).await.unwrap();
    assert_eq!(world.journal().matches("/shelf-1.2.10.tgz").count(), 2, "a hard refresh downloads anew");
}

#[tokio::test]
async fn failures_read_as_helms_do() {
    let world = World::new();
    let server = world.serve("charts", json!({}));
    let url = server.say("/url");
    let anonymous = access(url, &[("type", "helm")], "");
    let check = async |expect: &str, version: &str| {
        let error = world.fetch(&anonymous, version).await.unwrap_err();
        let expect = format!(
            "error fetching chart: failed to fetch chart: failed running helm: `helm pull --destination <dir> \
             --version {version} --repo {url} shelf` failed exit status 1: Error: {expect}"
        );
        assert_eq!(error.to_string(), expect);
    };
    let unreachable = format!("looks like {url:?} is not a valid chart repository or cannot be reached");
    check(&format!("{unreachable}: failed to fetch {url}/index.yaml : 404 Not Found"), "1.0.0").await;
    let error = world.store.resolve(&anonymous, ("shelf", "1.x"), Duration::ZERO).await.unwrap_err();
    assert_eq!(error.to_string(), "error loading repo index: failed to get index: 404 Not Found");
    std::fs::write(world.served().join("index.yaml"), "<!DOCTYPE html>\n").unwrap();
    let error = world.store.resolve(&anonymous, ("shelf", "1.x"), Duration::ZERO).await.unwrap_err();
    assert_eq!(
        error.to_string(),
        "error decoding index: yaml: unmarshal errors:\n  line 1: cannot unmarshal !!str `<!DOCTY...` into helm.Index"
    );
    world.publish(&["1.0.0"]);
    let not_found = format!("chart \"shelf\" version \"9.9.9\" not found in {url} repository");
    check(&not_found, "9.9.9").await;
    std::fs::remove_file(world.served().join("shelf-1.0.0.tgz")).unwrap();
    check(&format!("failed to fetch {url}/shelf-1.0.0.tgz : 404 Not Found"), "1.0.0").await;
    let gone = url.to_owned();
    drop(server);
    let error = world.store.resolve(&access(&gone, &[], ""), ("shelf", "1.x"), Duration::ZERO).await.unwrap_err();
    let host = gone.trim_start_matches("http://");
    assert_eq!(
        error.to_string(),
        format!(
            "error loading repo index: error making HTTP request: Get \"{gone}/index.yaml\": dial tcp {host}: connect: connection refused"
        )
    );
}

#[tokio::test]
async fn passwords_open_repositories_and_stay_out_of_errors_and_files() {
    let world = World::new();
    let server = world.serve("charts", json!({"user": "reader", "password": CANARY}));
    world.publish(&["1.0.0"]);
    let right = access(server.say("/url"), &user(CANARY), "");
    assert_eq!(world.store.resolve(&right, ("shelf", "1.x"), Duration::ZERO).await.as_deref(), Ok("1.0.0"));
    world.fetch(&right, "1.0.0").await.unwrap();
    let wrong = access(server.say("/url"), &user("wr0ng-5ecret"), "");
    let error = world.store.resolve(&wrong, ("shelf", "1.x"), Duration::ZERO).await.unwrap_err();
    assert_eq!(error.to_string(), "error loading repo index: failed to get index: 401 Unauthorized");
    let error = world.fetch(&wrong, "1.0.0").await.unwrap_err().to_string();
    assert!(error.contains("--username ****** --password ****** --repo"), "{error}");
    assert!(!error.contains("wr0ng"), "{error}");
    let none = access(server.say("/url"), &[], "");
    assert!(world.fetch(&none, "1.0.0").await.is_err(), "what others may read is not for everybody");
    let in_url = server.say("/url").replace("://", &format!("://reader:{CANARY}@"));
    let by_url = access(&in_url, &[], "");
    world.fetch(&by_url, "1.0.0").await.unwrap();
    let error = world.fetch(&by_url, "9.9.9").await.unwrap_err().to_string();
    assert!(!error.contains(CANARY) && !format!("{by_url:?}{right:?}").contains(CANARY), "{error}");
    assert_no_canary(&world.dir.path().join("cache"));
}

#[tokio::test]
async fn credentials_leave_for_other_hosts_only_where_told_to() {
    let (world, other) = (World::new(), World::new());
    let server = world.serve("charts", json!({"user": "reader", "password": CANARY}));
    let elsewhere = other.serve("charts", json!({}));
    other.publish(&["1.0.0"]);
    let index =
        format!("entries:\n  shelf:\n  - version: 1.0.0\n    urls: [\"{}/shelf-1.0.0.tgz\"]\n", elsewhere.say("/url"));
    std::fs::write(world.served().join("index.yaml"), index).unwrap();
    let access = access(server.say("/url"), &user(CANARY), "");
    world.fetch(&access, "1.0.0").await.unwrap();
    assert_eq!(other.journal(), "GET /shelf-1.0.0.tgz  200\n");
    let told = Wanted { pass_credentials: true, fresh: true, ..wanted("shelf", "1.0.0") };
    world.store.fetch(&access, told).await.unwrap();
    assert!(other.journal().ends_with("GET /shelf-1.0.0.tgz Basic 200\n"), "{}", other.journal());
    // The host has another name after the redirect.
    let target = elsewhere.say("/url").replace("127.0.0.1", "localhost");
    let moved = World::new();
    let server = moved.serve("charts", json!({"redirectTo": target}));
    let access = self::access(server.say("/url"), &user(CANARY), "");
    assert_eq!(moved.store.resolve(&access, ("shelf", "*"), Duration::ZERO).await.as_deref(), Ok("1.0.0"));
    assert_eq!(moved.journal(), "GET /index.yaml Basic 302\n");
    assert!(other.journal().ends_with("GET /index.yaml  200\n"), "{}", other.journal());
}

#[tokio::test]
async fn servers_are_trusted_by_their_hosts_certificates() {
    let world = World::new();
    let server = world.serve("charts", json!({"tls": true, "clientCertificate": true}));
    world.publish(&["1.0.0"]);
    let (url, authority) = (server.say("/url"), server.say("/authority"));
    let client =
        [("tlsClientCertData", server.say("/clientCertificate")), ("tlsClientCertKey", server.say("/clientKey"))];
    let resolve = async |keys: &[(&str, &str)], authority: &str| {
        let found = world.store.resolve(&access(url, keys, authority), ("shelf", "*"), Duration::ZERO).await;
        found.map_err(|error| error.to_string())
    };
    assert_eq!(resolve(&client, authority).await.as_deref(), Ok("1.0.0"));
    let refused = |reason: &str| {
        Err(format!("error loading repo index: error making HTTP request: Get \"{url}/index.yaml\": {reason}"))
    };
    let unknown = "tls: failed to verify certificate: x509: certificate signed by unknown authority";
    assert_eq!(resolve(&client, "").await, refused(unknown));
    assert_eq!(resolve(&[], authority).await, refused("remote error: tls: certificate required"));
    let insecure = [client.as_slice(), &[("insecure", "true")]].concat();
    assert_eq!(resolve(&insecure, "").await.as_deref(), Ok("1.0.0"));
    assert_no_canary(&world.dir.path().join("cache"));
}

#[tokio::test]
async fn proxies_are_used_where_a_repository_names_one() {
    let world = World::new();
    world.publish(&["1.0.0"]);
    for tls in [false, true] {
        let server = world.serve("charts", json!({"tls": tls}));
        let target = server.say("/url").split_once("://").unwrap().1;
        let journal = world.dir.path().join(format!("proxy-{tls}"));
        let config = json!({"user": "u", "password": CANARY, "target": target, "journal": journal});
        let proxy = Loopback::start("http-proxy", &config).unwrap();
        let scheme = if tls { "https" } else { "http" };
        let url = format!("{scheme}://charts.test");
        let at = proxy.say("/url").replace("://", &format!("://u:{CANARY}@"));
        let mut keys = vec![("proxy", at.as_str()), ("insecure", "true")];
        let access = access(&url, &keys, "");
        assert_eq!(world.store.resolve(&access, ("shelf", "*"), Duration::ZERO).await.as_deref(), Ok("1.0.0"));
        let seen = std::fs::read_to_string(&journal).unwrap();
        assert_eq!(seen, if tls { "CONNECT charts.test:443\n" } else { "GET charts.test\n" });
        keys.push(("noProxy", ".test"));
        let error = world.store.resolve(&self::access(&url, &keys, ""), ("shelf", "*"), Duration::ZERO).await;
        let error = error.unwrap_err().to_string();
        assert!(error.contains("lookup charts.test: no such host"), "{error}");
        let wrong = at.replace(CANARY, "other");
        let refused = self::access(&url, &[("proxy", &wrong), ("insecure", "true")], "");
        let error = world.store.resolve(&refused, ("shelf", "*"), Duration::ZERO).await.unwrap_err().to_string();
        assert!(error.contains("Proxy Authentication Required") && !error.contains("other"), "{error}");
    }
}

#[tokio::test]
async fn bombs_and_escapes_stay_in_their_box() {
    let world = World::with(Options { max_chart_bytes: Some(100_000), ..Options::default() });
    let server = world.serve("charts", json!({}));
    let access = access(server.say("/url"), &[], "");
    let check = async |version: &str, bytes: Vec<u8>, expect: &str| {
        world.publish(&[version]);
        std::fs::write(world.served().join(format!("shelf-{version}.tgz")), bytes).unwrap();
        let error = world.fetch(&access, version).await.unwrap_err().to_string();
        assert!(error.starts_with("error untarring chart: ") && error.contains(expect), "{error}");
    };
    let bomb = packed(&[("shelf/Chart.yaml", ""), ("shelf/zeros", &"0".repeat(1_000_000))]);
    check("1.0.0", bomb, "unexpected EOF").await;
    check("1.0.1", b"no archive".to_vec(), "error reading file: gzip: invalid header").await;
    let mut gzip = GzEncoder::new(Vec::new(), Compression::fast());
    gzip.write_all(&[b'x'; 2048]).unwrap();
    check("1.0.2", gzip.finish().unwrap(), "error while iterating on tar reader").await;
    // An archive that could not be unpacked is fetched again.
    std::fs::write(world.served().join("shelf-1.0.1.tgz"), chart("shelf", "1.0.1")).unwrap();
    world.publish(&["1.0.1"]);
    world.fetch(&access, "1.0.1").await.unwrap();
    let left = std::fs::read_dir(world.dir.path().join("cache/scratch")).unwrap().count();
    assert_eq!(left, 0, "nothing is left of what failed");
}
