//! Charts and artefacts from real servers: chart repositories and OCI registries on the loopback interface.
//!
//! In:  `corpus/servers`.
//! Out: versions, folders and errors as users see them; what the servers saw; that passwords are nowhere else.

use std::io::Write as _;
use std::path::{Path, PathBuf};
use std::time::Duration;

use flate2::Compression;
use flate2::write::GzEncoder;
use litecd::charts::{ChartAccess, Error, Folder, Options, Store, Wanted};
use litecd::settings::{Repositories, Secret, Trust};
use serde_json::{Value, json};

#[path = "support/servers.rs"]
mod servers;

use servers::Server;

/// A password that is searched for everywhere.
const CANARY: &str = "c4n4ry-5ecret";

const CHART_CONFIG: &str = "application/vnd.cncf.helm.config.v1+json";
const CHART_LAYER: &str = "application/vnd.cncf.helm.chart.content.v1.tar+gzip";
const LAYER: &str = "application/vnd.oci.image.layer.v1.tar+gzip";

/// A store in a folder of its own, and a place for what servers serve.
struct World {
    dir: tempfile::TempDir,
    store: Store,
}

impl World {
    fn new() -> Self {
        Self::with(Options::default())
    }

    fn with(options: Options) -> Self {
        let dir = tempfile::tempdir().unwrap();
        for folder in ["cache/scratch", "served"] {
            std::fs::create_dir_all(dir.path().join(folder)).unwrap();
        }
        let cache = dir.path().join("cache");
        let store = Store::new(&cache, &cache.join("scratch"), options).unwrap();
        Self { dir, store }
    }

    fn served(&self) -> PathBuf {
        self.dir.path().join("served")
    }

    fn journal(&self) -> String {
        std::fs::read_to_string(self.dir.path().join("journal")).unwrap_or_default()
    }

    /// Starts a server that serves this world.
    fn serve(&self, kind: &str, mut config: Value) -> Option<Server> {
        config["root"] = json!(self.served());
        config["journal"] = json!(self.dir.path().join("journal"));
        Server::start(kind, &config)
    }

    /// Puts a packaged chart where it is served, and names it in the index.
    fn publish(&self, versions: &[&str]) {
        let mut index = "apiVersion: v1\nentries:\n  other: []\n  shelf:\n".to_owned();
        for version in versions {
            let name = format!("shelf-{version}.tgz");
            std::fs::write(self.served().join(&name), chart("shelf", version)).unwrap();
            index.push_str(&format!("  - name: shelf\n    version: {version}\n    urls: [{name}]\n"));
        }
        std::fs::write(self.served().join("index.yaml"), index).unwrap();
    }

    /// Writes a file that an image's layer is made of.
    fn layer(&self, name: &str, bytes: &[u8]) -> PathBuf {
        let path = self.served().join(name);
        std::fs::write(&path, bytes).unwrap();
        path
    }

    async fn fetch(&self, access: &ChartAccess, version: &str) -> Result<Folder, Error> {
        self.store.fetch(access, wanted("shelf", version)).await
    }
}

fn wanted<'a>(chart: &'a str, version: &'a str) -> Wanted<'a> {
    Wanted { chart, version, ..Wanted::default() }
}

/// A packaged chart.
fn chart(name: &str, version: &str) -> Vec<u8> {
    let chart = format!("apiVersion: v2\nname: {name}\nversion: {version}\n");
    packed(&[(&format!("{name}/Chart.yaml"), &chart), (&format!("{name}/values.yaml"), "a: 1\n")])
}

fn packed(files: &[(&str, &str)]) -> Vec<u8> {
    let mut tar = tar::Builder::new(GzEncoder::new(Vec::new(), Compression::fast()));
    for (path, text) in files {
        let mut header = tar::Header::new_gnu();
        header.set_size(text.len() as u64);
        header.set_mode(0o644);
        tar.append_data(&mut header, path, text.as_bytes()).unwrap();
    }
    tar.into_inner().unwrap().finish().unwrap()
}

/// Access as a Secret describes it.
fn access(url: &str, keys: &[(&str, &str)], authority: &str) -> ChartAccess {
    let url = ("url", url);
    let data = keys.iter().chain([&url]).map(|(key, value)| ((*key).to_owned(), value.as_bytes().to_vec()));
    let labels = [("argocd.argoproj.io/secret-type".to_owned(), "repository".to_owned())].into();
    let secret = Secret { name: "s".to_owned(), labels, annotations: [].into(), data: data.collect() };
    let mut trust = Trust::default();
    trust.set("argocd-tls-certs-cm", [("127.0.0.1".to_owned(), authority.to_owned())].into());
    ChartAccess::of(&Repositories::from_secrets([&secret]).get(url.1, "").unwrap(), &trust)
}

fn user<'a>(password: &'a str) -> Vec<(&'a str, &'a str)> {
    vec![("type", "helm"), ("username", "reader"), ("password", password)]
}

/// Fails when the canary stands in a file of the folder, or in its name.
fn assert_no_canary(folder: &Path) {
    for entry in std::fs::read_dir(folder).unwrap().flatten() {
        let path = entry.path();
        assert!(!path.to_string_lossy().contains(CANARY), "{}", path.display());
        if path.is_dir() {
            assert_no_canary(&path);
        } else {
            let bytes = std::fs::read(&path).unwrap();
            assert!(!bytes.windows(CANARY.len()).any(|part| part == CANARY.as_bytes()), "{}", path.display());
        }
    }
}

#[tokio::test]
async fn versions_are_resolved_by_the_index() {
    let world = World::new();
    let Some(server) = world.serve("charts", json!({"etag": true})) else { return };
    world.publish(&["1.0.0", "1.2.10", "1.3.0-rc.1", "1.2.0", "2.0.0"]);
    let access = access(server.text("url"), &[("type", "helm")], "");
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
    let Some(server) = world.serve("charts", json!({"delayMs": 50})) else { return };
    world.publish(&["1.2.0", "1.2.10"]);
    let access = access(server.text("url"), &[("type", "helm")], "");
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
    let Some(server) = world.serve("charts", json!({})) else { return };
    let url = server.text("url");
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
    let Some(server) = world.serve("charts", json!({"user": "reader", "password": CANARY})) else { return };
    world.publish(&["1.0.0"]);
    let right = access(server.text("url"), &user(CANARY), "");
    assert_eq!(world.store.resolve(&right, ("shelf", "1.x"), Duration::ZERO).await.as_deref(), Ok("1.0.0"));
    world.fetch(&right, "1.0.0").await.unwrap();
    let wrong = access(server.text("url"), &user("wr0ng-5ecret"), "");
    let error = world.store.resolve(&wrong, ("shelf", "1.x"), Duration::ZERO).await.unwrap_err();
    assert_eq!(error.to_string(), "error loading repo index: failed to get index: 401 Unauthorized");
    let error = world.fetch(&wrong, "1.0.0").await.unwrap_err().to_string();
    assert!(error.contains("--username ****** --password ****** --repo"), "{error}");
    assert!(!error.contains("wr0ng"), "{error}");
    let none = access(server.text("url"), &[], "");
    assert!(world.fetch(&none, "1.0.0").await.is_err(), "what others may read is not for everybody");
    let in_url = server.text("url").replace("://", &format!("://reader:{CANARY}@"));
    let by_url = access(&in_url, &[], "");
    world.fetch(&by_url, "1.0.0").await.unwrap();
    let error = world.fetch(&by_url, "9.9.9").await.unwrap_err().to_string();
    assert!(!error.contains(CANARY) && !format!("{by_url:?}{right:?}").contains(CANARY), "{error}");
    assert_no_canary(&world.dir.path().join("cache"));
}

#[tokio::test]
async fn credentials_leave_for_other_hosts_only_where_told_to() {
    let (world, other) = (World::new(), World::new());
    let Some(server) = world.serve("charts", json!({"user": "reader", "password": CANARY})) else { return };
    let Some(elsewhere) = other.serve("charts", json!({})) else { return };
    other.publish(&["1.0.0"]);
    let index =
        format!("entries:\n  shelf:\n  - version: 1.0.0\n    urls: [\"{}/shelf-1.0.0.tgz\"]\n", elsewhere.text("url"));
    std::fs::write(world.served().join("index.yaml"), index).unwrap();
    let access = access(server.text("url"), &user(CANARY), "");
    world.fetch(&access, "1.0.0").await.unwrap();
    assert_eq!(other.journal(), "GET /shelf-1.0.0.tgz  200\n");
    let told = Wanted { pass_credentials: true, fresh: true, ..wanted("shelf", "1.0.0") };
    world.store.fetch(&access, told).await.unwrap();
    assert!(other.journal().ends_with("GET /shelf-1.0.0.tgz Basic 200\n"), "{}", other.journal());
    // The host has another name after the redirect.
    let target = elsewhere.text("url").replace("127.0.0.1", "localhost");
    let moved = World::new();
    let Some(server) = moved.serve("charts", json!({"redirectTo": target})) else { return };
    let access = self::access(server.text("url"), &user(CANARY), "");
    assert_eq!(moved.store.resolve(&access, ("shelf", "*"), Duration::ZERO).await.as_deref(), Ok("1.0.0"));
    assert_eq!(moved.journal(), "GET /index.yaml Basic 302\n");
    assert!(other.journal().ends_with("GET /index.yaml  200\n"), "{}", other.journal());
}

#[tokio::test]
async fn servers_are_trusted_by_their_hosts_certificates() {
    let world = World::new();
    let Some(server) = world.serve("charts", json!({"tls": true, "clientCertificate": true})) else { return };
    world.publish(&["1.0.0"]);
    let (url, authority) = (server.text("url"), server.text("authority"));
    let client =
        [("tlsClientCertData", server.text("clientCertificate")), ("tlsClientCertKey", server.text("clientKey"))];
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
        let Some(server) = world.serve("charts", json!({"tls": tls})) else { return };
        let target = server.text("url").split_once("://").unwrap().1;
        let journal = world.dir.path().join(format!("proxy-{tls}"));
        let config = json!({"user": "u", "password": CANARY, "target": target, "journal": journal});
        let Some(proxy) = Server::start("http-proxy", &config) else { return };
        let scheme = if tls { "https" } else { "http" };
        let url = format!("{scheme}://charts.test");
        let at = proxy.text("url").replace("://", &format!("://u:{CANARY}@"));
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

/// A registry's configuration with one chart in several versions, and one artefact.
fn images(world: &World, mut config: Value) -> Value {
    let manifests = world.layer("manifests.tgz", &packed(&[("cm.yaml", "kind: ConfigMap\n"), ("sub/x.yaml", "")]));
    let mut images = vec![json!({
        "repository": "org/app", "tags": ["1.0.0", "stable"], "config": "application/vnd.oci.empty.v1+json",
        "layers": [{"mediaType": LAYER, "file": manifests}],
    })];
    for version in ["1.0.0", "1.2.0", "1.2.10", "2.0.0-rc.1", "1.3.0+build"] {
        let file = world.layer(&format!("{version}.tgz"), &chart("shelf", version));
        images.push(json!({
            "repository": "org/shelf", "tags": [version.replace('+', "_")], "config": CHART_CONFIG,
            "layers": [{"mediaType": CHART_LAYER, "file": file}],
        }));
    }
    config["images"] = images.into();
    config
}

#[tokio::test]
async fn charts_come_from_registries_however_they_authenticate() {
    for (auth, tls) in [("", false), ("basic", false), ("token", false), ("token", true)] {
        let world = World::new();
        let config = json!({"auth": auth, "user": "reader", "password": CANARY, "pageSize": 2, "tls": tls, "redirectBlobs": true});
        let Some(server) = world.serve("registry", images(&world, config)) else { return };
        let plain = if tls { "false" } else { "true" };
        let keys = [user(CANARY), vec![("enableOCI", "true"), ("insecureOCIForceHttp", plain)]].concat();
        let url = format!("{}/org", server.text("host"));
        let right = access(&url, &keys, server.text("authority"));
        assert!(right.is_registry());
        for (revision, version) in [("1.2.x", "1.2.10"), ("*", "1.3.0+build"), (">=2.0.0-0", "2.0.0-rc.1")] {
            let found = world.store.resolve(&right, ("shelf", revision), Duration::MAX).await;
            assert_eq!(found.as_deref(), Ok(version), "{auth} {revision}");
            let folder = world.fetch(&right, version).await.unwrap();
            let text = std::fs::read_to_string(folder.root.join("Chart.yaml")).unwrap();
            assert!(text.ends_with(&format!("version: {version}\n")), "{text}");
        }
        assert_eq!(world.journal().matches(" 200").filter(|_| true).count() > 0, true);
        assert_eq!(world.journal().matches("/v2/org/shelf/tags/list").count() >= 3, true, "{}", world.journal());
        let error = world.fetch(&right, "9.9.9").await.unwrap_err().to_string();
        let host = server.text("host");
        let missing = format!("failed to perform \"FetchReference\" on source: {host}/org/shelf:9.9.9: not found");
        assert!(
            error.starts_with(
                "error pulling OCI chart: failed to pull OCI chart: failed running helm: `helm pull oci://"
            ),
            "{error}"
        );
        assert!(error.ends_with(&missing), "{error}");
        if !auth.is_empty() {
            let keys = [user("wr0ng-5ecret"), keys[3..].to_vec()].concat();
            let wrong = access(&url, &keys, server.text("authority"));
            let error = world.store.resolve(&wrong, ("shelf", "1.x"), Duration::ZERO).await.unwrap_err().to_string();
            assert!(error.starts_with("unable to get tags: failed to get tags: GET \"http"), "{error}");
            assert!(error.ends_with("response status code 401: unauthorized: authentication required"), "{error}");
            let error = world.fetch(&wrong, "1.0.0").await.unwrap_err().to_string();
            let start = "error logging into OCI registry: failed to login to registry: failed running helm: `helm registry login ";
            assert!(error.starts_with(start) && error.contains("--username ****** --password-stdin"), "{error}");
            assert!(!error.contains("wr0ng") && !error.contains(CANARY), "{error}");
        }
        assert_no_canary(&world.dir.path().join("cache"));
    }
}

#[tokio::test]
async fn artefacts_are_sources_by_tag_digest_and_constraint() {
    let world = World::new();
    let config = json!({"auth": "token", "user": "reader", "password": CANARY, "pageSize": 2});
    let Some(server) = world.serve("registry", images(&world, config)) else { return };
    let host = server.text("host");
    let keys = [user(CANARY), vec![("insecureOCIForceHttp", "true")]].concat();
    let app = access(&format!("oci://{host}/org/app"), &keys, "");
    let digest = server.announced["digests"]["org/app:1.0.0"].as_str().unwrap();
    for revision in ["1.0.0", "stable", "1.x", digest] {
        let found = world.store.resolve_oci(&app, revision, Duration::ZERO).await;
        assert_eq!(found.as_deref(), Ok(digest), "{revision}");
    }
    let folder = world.store.fetch_oci(&app, wanted("", digest)).await.unwrap();
    assert_eq!(std::fs::read_to_string(folder.root.join("cm.yaml")).unwrap(), "kind: ConfigMap\n");
    let shelf = access(&format!("oci://{host}/org/shelf"), &keys, "");
    let digest = world.store.resolve_oci(&shelf, "1.3.x", Duration::ZERO).await.unwrap();
    let folder = world.store.fetch_oci(&shelf, wanted("", &digest)).await.unwrap();
    assert!(folder.root.join("Chart.yaml").is_file(), "a chart's only folder is the root");
    let fail = async |access: &ChartAccess, revision: &str| {
        world.store.resolve_oci(access, revision, Duration::ZERO).await.unwrap_err().to_string()
    };
    let failed = format!(
        "failed to resolve revision \"nope\": cannot get digest for revision nope: {host}/org/app:nope: not found"
    );
    assert_eq!(fail(&app, "nope").await, failed);
    assert_eq!(
        fail(&app, "9.x").await,
        "failed to resolve revision \"9.x\": no version for constraints: version matching constraint not found in 2 tags"
    );
    let unknown = format!("sha256:{}", "0".repeat(64));
    let error = world.store.fetch_oci(&app, wanted("", &unknown)).await.unwrap_err();
    assert_eq!(
        error.to_string(),
        format!("error resolving oci manifest for digest {unknown}: {host}/org/app@{unknown}: not found")
    );
    assert_no_canary(&world.dir.path().join("cache"));
}

#[tokio::test]
async fn what_a_registry_gives_is_checked() {
    let world = World::new();
    let Some(server) = world.serve("registry", images(&world, json!({"corruptBlobs": true}))) else { return };
    let url = format!("oci://{}/org/app", server.text("host"));
    let app = access(&url, &[("insecureOCIForceHttp", "true")], "");
    let digest = world.store.resolve_oci(&app, "stable", Duration::ZERO).await.unwrap();
    let error = world.store.fetch_oci(&app, wanted("", &digest)).await.unwrap_err();
    assert!(error.to_string().ends_with("mismatched digest"), "{error}");
    let Some(server) = world.serve("registry", images(&world, json!({}))) else { return };
    let app = access(&format!("oci://{}/org/app", server.text("host")), &[("insecureOCIForceHttp", "true")], "");
    let small = Store::new(
        &world.dir.path().join("cache"),
        &world.dir.path().join("cache/scratch"),
        Options { max_oci_bytes: Some(40), max_chart_bytes: Some(40), ..Options::default() },
    );
    let error = small.unwrap().fetch_oci(&app, wanted("", &digest)).await.unwrap_err().to_string();
    assert!(error.contains("is larger than the limit of 40 bytes"), "{error}");
}

#[tokio::test]
async fn bombs_and_escapes_stay_in_their_box() {
    let world = World::with(Options { max_chart_bytes: Some(100_000), ..Options::default() });
    let Some(server) = world.serve("charts", json!({})) else { return };
    let access = access(server.text("url"), &[], "");
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
