//! Charts whose dependencies lie in repositories that ask for a password, built by the real helm.
//!
//! A child process of the test does the work, because `PATH` is a process's own: there, a script stands in front of helm that
//! writes down its arguments and its environment.

use std::os::unix::fs::PermissionsExt as _;
use std::path::PathBuf;
use std::sync::Arc;

use corpus::loopback::Loopback;
use corpus::tools::{Need, Tools};
use litecd::render::{self, HelmRepositories, Request};
use litecd::settings::{Repositories, Secret, Trust};
use serde_json::json;

use crate::world::{CANARY, CHART_CONFIG, CHART_LAYER};

/// Set for the process that runs with the script on its `PATH`.
const CHILD: &str = "LITECD_TEST_RECORDED_HELM";

#[test]
fn dependencies_are_built_with_credentials_that_nobody_else_sees() {
    if std::env::var_os(CHILD).is_some() {
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
        return runtime.block_on(build_dependencies());
    }
    let helm = Tools::find_or_build(Need::Renderers, &mut |text| eprintln!("{text}")).unwrap().path("helm");
    // A process may not change its own environment safely, so the test runs again in one that has another.
    let tools = tempfile::tempdir().unwrap();
    let seen = tools.path().join("seen");
    let script = format!(
        "#!/bin/sh\n{{ printf '%s\\n' \"$@\"; env; }} >> '{}'\nexec '{}' \"$@\"\n",
        seen.display(),
        helm.display()
    );
    let program = tools.path().join("helm");
    std::fs::write(&program, script).unwrap();
    std::fs::set_permissions(&program, std::fs::Permissions::from_mode(0o755)).unwrap();
    let path = std::env::var_os("PATH").unwrap_or_default();
    let dirs = [tools.path().to_owned()].into_iter().chain(std::env::split_paths(&path));
    let status = std::process::Command::new(std::env::current_exe().unwrap())
        .args(["--exact", "dependencies::dependencies_are_built_with_credentials_that_nobody_else_sees", "--nocapture"])
        .env("PATH", std::env::join_paths(dirs).unwrap())
        .env(CHILD, "1")
        .status();
    assert!(status.unwrap().success());
    let seen = std::fs::read_to_string(&seen).unwrap_or_default();
    assert!(seen.contains("dependency\nbuild"), "helm was started by way of the script");
    assert!(!seen.contains(CANARY), "a password in helm's arguments or environment");
}

/// A chart in a folder, and the folders that a render needs.
struct World {
    dir: tempfile::TempDir,
}

impl World {
    fn new(dependencies: &str) -> Self {
        let dir = tempfile::tempdir().unwrap();
        let root = std::fs::canonicalize(dir.path()).unwrap();
        for folder in ["tree/templates", "scratch", "private"] {
            std::fs::create_dir_all(root.join(folder)).unwrap();
        }
        let chart = format!("apiVersion: v2\nname: umbrella\nversion: 1.0.0\ndependencies:\n{dependencies}");
        std::fs::write(root.join("tree/Chart.yaml"), chart).unwrap();
        std::fs::write(root.join("tree/templates/cm.yaml"), config_map("umbrella")).unwrap();
        Self { dir }
    }

    fn at(&self, name: &str) -> PathBuf {
        std::fs::canonicalize(self.dir.path()).unwrap().join(name)
    }

    fn request(&self, repositories: HelmRepositories, permitted: &str) -> Request {
        Request {
            app_name: "web".to_owned(),
            namespace: "prod".to_owned(),
            project: "default".to_owned(),
            source: serde_json::from_value(json!({"repoURL": "https://h/r", "path": "."})).unwrap(),
            requested_revision: "main".to_owned(),
            revision: "0123456789abcdef0123456789abcdef01234567".to_owned(),
            root: self.at("tree"),
            refs: Default::default(),
            has_multiple_sources: false,
            kube_version: "1.36.3".to_owned(),
            api_versions: vec!["v1".to_owned()],
            tracking: Default::default(),
            enabled: Default::default(),
            kustomize: Default::default(),
            evaluator: Default::default(),
            repository_url: "https://h/r".to_owned(),
            value_file_schemes: Vec::new(),
            helm_repositories: HelmRepositories { private: self.at("private"), ..repositories },
            permitted_repositories: vec![permitted.to_owned()],
            git_environment: None,
            scratch: self.at("scratch"),
            limits: Default::default(),
            max_directory_bytes: 0,
        }
    }

    /// The names of what is rendered, or the text of the failure.
    async fn render(&self, repositories: HelmRepositories, permitted: &str) -> Result<Vec<String>, String> {
        let rendered = render::render(&self.request(repositories, permitted)).await;
        for folder in ["scratch", "private"] {
            assert_eq!(std::fs::read_dir(self.at(folder)).unwrap().count(), 0, "{folder} is empty again");
        }
        let names = |object: &serde_json::Value| object["metadata"]["name"].as_str().unwrap_or_default().to_owned();
        let mut names: Vec<String> = rendered.map_err(|error| error.envelope())?.manifests.iter().map(names).collect();
        names.sort();
        Ok(names)
    }
}

fn config_map(name: &str) -> String {
    format!("apiVersion: v1\nkind: ConfigMap\nmetadata:\n  name: {name}\n")
}

/// A packaged chart that renders to one object of its name.
fn package(name: &str) -> Vec<u8> {
    let gzip = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::fast());
    let mut tar = tar::Builder::new(gzip);
    let chart = format!("apiVersion: v2\nname: {name}\nversion: 1.0.0\n");
    for (path, text) in [("Chart.yaml", chart), ("templates/cm.yaml", config_map(name))] {
        let mut header = tar::Header::new_gnu();
        header.set_size(text.len() as u64);
        header.set_mode(0o644);
        tar.append_data(&mut header, format!("{name}/{path}"), text.as_bytes()).unwrap();
    }
    tar.into_inner().unwrap().finish().unwrap()
}

/// Repositories as Secrets describe them.
fn repositories(secrets: &[&[(&str, &str)]], authority: &str) -> HelmRepositories {
    let secrets: Vec<Secret> = secrets
        .iter()
        .enumerate()
        .map(|(number, keys)| Secret {
            name: number.to_string(),
            labels: [("argocd.argoproj.io/secret-type".to_owned(), "repository".to_owned())].into(),
            annotations: [].into(),
            data: keys.iter().map(|(key, value)| ((*key).to_owned(), value.as_bytes().to_vec())).collect(),
        })
        .collect();
    let mut trust = Trust::default();
    trust.set("argocd-tls-certs-cm", [("127.0.0.1".to_owned(), authority.to_owned())].into());
    HelmRepositories {
        repositories: Repositories::from_secrets(&secrets).helm_repositories().collect(),
        trust: Arc::new(trust),
        ..HelmRepositories::default()
    }
}

async fn build_dependencies() {
    let served = tempfile::tempdir().unwrap();
    let archive = |name: &str| {
        let path = served.path().join(format!("{name}-1.0.0.tgz"));
        std::fs::write(&path, package(name)).unwrap();
        path
    };
    archive("cache");
    archive("queue");
    let index = "apiVersion: v1\nentries:\n  cache:\n  - {name: cache, version: 1.0.0, urls: [cache-1.0.0.tgz]}\n  \
                 queue:\n  - {name: queue, version: 1.0.0, urls: [queue-1.0.0.tgz]}\n";
    std::fs::write(served.path().join("index.yaml"), index).unwrap();
    let config = json!({"root": served.path(), "user": "reader", "password": CANARY, "tls": true});
    let charts = Loopback::start("charts", &config).unwrap();
    let images = json!([{"repository": "org/store", "tags": ["1.0.0"], "config": CHART_CONFIG,
        "layers": [{"mediaType": CHART_LAYER, "file": archive("store")}]}]);
    let config = json!({"auth": "token", "user": "reader", "password": CANARY, "images": images});
    let registry = Loopback::start("registry", &config).unwrap();
    let (url, host, authority) = (charts.say("/url"), registry.say("/host"), charts.say("/authority"));
    let world = World::new(&format!(
        "- {{name: cache, version: 1.0.0, repository: \"@team\"}}\n- {{name: queue, version: 1.x, repository: \"{url}\"}}\n\
         - {{name: store, version: 1.0.0, repository: \"oci://{host}/org\"}}\n"
    ));
    let org = format!("{host}/org");
    let secrets = |password: &'static str| {
        let team =
            vec![("type", "helm"), ("name", "team"), ("url", url), ("username", "reader"), ("password", password)];
        let plain = [("enableOCI", "true"), ("insecureOCIForceHttp", "true")];
        let org =
            [("type", "helm"), ("name", "org"), ("url", org.as_str()), ("username", "reader"), ("password", password)];
        (team, [org.as_slice(), &plain].concat())
    };
    let (team, org) = secrets(CANARY);
    let rendered = world.render(repositories(&[&team, &org], authority), "*").await;
    assert_eq!(rendered.as_deref(), Ok(["cache", "queue", "store", "umbrella"].map(str::to_owned).as_slice()));

    let (wrong_team, wrong_org) = secrets("wr0ng-5ecret");
    let failed = "rpc error: code = Unknown desc = error building helm chart dependencies: ";
    let error = world.render(repositories(&[&wrong_team, &org], authority), "*").await.unwrap_err();
    let expect = format!(
        "{failed}failed to add helm repository {url}: failed to add repository: failed running helm: `helm repo add \
         --username ****** --password ****** --ca-file <file> team {url}` failed exit status 1: Error: looks like {url:?} \
         is not a valid chart repository or cannot be reached: failed to fetch {url}/index.yaml : 401 Unauthorized"
    );
    assert_eq!(error, expect);
    let error = world.render(repositories(&[&team, &wrong_org], authority), "*").await.unwrap_err();
    let start = format!(
        "{failed}failed to login to registry {host}/org: failed to login to registry: failed running helm: \
         `helm registry login {host} --plain-http --username ****** --password-stdin --ca-file <file>` failed exit status 1: Error: \
         authenticating to {host:?}: "
    );
    assert!(error.starts_with(&start), "{error}");
    let error = world.render(repositories(&[&wrong_team, &org], authority), "https://else.where/*").await.unwrap_err();
    let refused = format!("helm repos {url}, {url}, {host}/org are not permitted in project 'default'");
    assert_eq!(error, format!("rpc error: code = PermissionDenied desc = {refused}"));
}
