//! What the tests share: a store, a folder that servers serve, packaged charts, access as Secrets describe it.

use std::path::{Path, PathBuf};

use corpus::loopback::Loopback;
use flate2::Compression;
use flate2::write::GzEncoder;
use litecd::charts::{ChartAccess, Error, Folder, Options, Store, Wanted};
use litecd::settings::{Repositories, Secret, Trust};
use serde_json::{Value, json};

/// A password that is searched for everywhere.
pub const CANARY: &str = "c4n4ry-5ecret";

pub const CHART_CONFIG: &str = "application/vnd.cncf.helm.config.v1+json";
pub const CHART_LAYER: &str = "application/vnd.cncf.helm.chart.content.v1.tar+gzip";
pub const LAYER: &str = "application/vnd.oci.image.layer.v1.tar+gzip";

/// A store in a folder of its own, and a place for what servers serve.
pub struct World {
    pub dir: tempfile::TempDir,
    pub store: Store,
}

impl World {
    pub fn new() -> Self {
        Self::with(Options::default())
    }

    pub fn with(options: Options) -> Self {
        let dir = tempfile::tempdir().unwrap();
        for folder in ["cache/scratch", "served"] {
            std::fs::create_dir_all(dir.path().join(folder)).unwrap();
        }
        let cache = dir.path().join("cache");
        let store = Store::new(&cache, &cache.join("scratch"), options).unwrap();
        Self { dir, store }
    }

    pub fn served(&self) -> PathBuf {
        self.dir.path().join("served")
    }

    pub fn journal(&self) -> String {
        std::fs::read_to_string(self.dir.path().join("journal")).unwrap_or_default()
    }

    /// Starts a server that serves this world.
    pub fn serve(&self, kind: &str, mut config: Value) -> Loopback {
        config["root"] = json!(self.served());
        config["journal"] = json!(self.dir.path().join("journal"));
        Loopback::start(kind, &config).unwrap()
    }

    /// Puts a packaged chart where it is served, and names it in the index.
    pub fn publish(&self, versions: &[&str]) {
        let mut index = "apiVersion: v1\nentries:\n  other: []\n  shelf:\n".to_owned();
        for version in versions {
            let name = format!("shelf-{version}.tgz");
            std::fs::write(self.served().join(&name), chart("shelf", version)).unwrap();
            index.push_str(&format!("  - name: shelf\n    version: {version}\n    urls: [{name}]\n"));
        }
        std::fs::write(self.served().join("index.yaml"), index).unwrap();
    }

    /// Writes a file that an image's layer is made of.
    pub fn layer(&self, name: &str, bytes: &[u8]) -> PathBuf {
        let path = self.served().join(name);
        std::fs::write(&path, bytes).unwrap();
        path
    }

    pub async fn fetch(&self, access: &ChartAccess, version: &str) -> Result<Folder, Error> {
        self.store.fetch(access, wanted("shelf", version)).await
    }
}

pub fn wanted<'a>(chart: &'a str, version: &'a str) -> Wanted<'a> {
    Wanted { chart, version, ..Wanted::default() }
}

/// A packaged chart.
pub fn chart(name: &str, version: &str) -> Vec<u8> {
    let chart = format!("apiVersion: v2\nname: {name}\nversion: {version}\n");
    packed(&[(&format!("{name}/Chart.yaml"), &chart), (&format!("{name}/values.yaml"), "a: 1\n")])
}

pub fn packed(files: &[(&str, &str)]) -> Vec<u8> {
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
pub fn access(url: &str, keys: &[(&str, &str)], authority: &str) -> ChartAccess {
    let url = ("url", url);
    let data = keys.iter().chain([&url]).map(|(key, value)| ((*key).to_owned(), value.as_bytes().to_vec()));
    let labels = [("argocd.argoproj.io/secret-type".to_owned(), "repository".to_owned())].into();
    let secret = Secret { name: "s".to_owned(), labels, annotations: [].into(), data: data.collect() };
    let mut trust = Trust::default();
    trust.set("argocd-tls-certs-cm", [("127.0.0.1".to_owned(), authority.to_owned())].into());
    ChartAccess::of(&Repositories::from_secrets([&secret]).get(url.1, "").unwrap(), &trust)
}

pub fn user(password: &str) -> Vec<(&str, &str)> {
    vec![("type", "helm"), ("username", "reader"), ("password", password)]
}

/// Fails when the canary stands in a file of the folder, or in its name.
pub fn assert_no_canary(folder: &Path) {
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
