//! The binaries that a cluster under test and litecd need: the control plane, kwok, helm, kustomize, and the test servers.
//!
//! In:  a Go toolchain, or the folder that `LITECD_TEST_BIN` names.  Out: `target/cluster-bin`.
//! Invariant: what is there was built from the versions written here; each binary has a stamp beside it.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::{Mutex, PoisonError};

use anyhow::{Context as _, Result, bail};
use sha2::{Digest as _, Sha256};

/// The Kubernetes under test; the same as in `cluster/go.mod`.
const KUBERNETES: &str = "1.36.3";

/// What is installed as it is: name, module path and version.
const INSTALLED: [(&str, &str, &str); 3] = [
    ("kustomize", "sigs.k8s.io/kustomize/kustomize/v5", "v5.8.1"),
    ("helm", "helm.sh/helm/v4/cmd/helm", "v4.2.1"),
    ("kwok", "sigs.k8s.io/kwok/cmd/kwok", "v0.8.0"),
];

/// Which of the binaries are needed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Need {
    /// helm and kustomize: what litecd itself runs.
    Renderers,
    /// Those and a cluster's.
    Cluster,
}

/// A folder with the binaries.
#[derive(Debug, Clone)]
pub struct Tools {
    dir: PathBuf,
}

impl Tools {
    /// The binaries that `LITECD_TEST_BIN` names, or else those in the target folder, which are built when missing.
    /// `say` hears what is being built.
    pub fn find_or_build(need: Need, say: &mut dyn FnMut(&str)) -> Result<Self> {
        if let Some(dir) = std::env::var_os("LITECD_TEST_BIN").filter(|dir| !dir.is_empty()) {
            let dir = PathBuf::from(dir);
            let dir = dir.canonicalize().with_context(|| format!("LITECD_TEST_BIN: {}", dir.display()))?;
            return Ok(Self { dir });
        }
        let dir = crate::target().join("cluster-bin");
        fs::create_dir_all(&dir)?;
        let tools = Self { dir: dir.canonicalize()? };
        for (name, module, version) in INSTALLED {
            let stamp = format!("{module}@{version}");
            if tools.is_stamped(name, &stamp) || (name == "kwok" && need == Need::Renderers) {
                continue;
            }
            say(&format!("building {name} {version}"));
            go(Command::new("go").args(["install", &stamp]).env("GOBIN", &tools.dir))?;
            tools.stamp(name, &stamp)?;
        }
        if need == Need::Cluster {
            tools.control_plane(say)?;
        }
        Ok(tools)
    }

    /// The binaries in a folder, as they are.
    pub fn at(dir: &Path) -> Self {
        Self { dir: dir.to_owned() }
    }

    /// The folder.
    pub fn dir(&self) -> &Path {
        &self.dir
    }

    /// The path of a binary.
    pub fn path(&self, name: &str) -> PathBuf {
        self.dir.join(name)
    }

    /// A PATH in which these binaries come first.
    pub fn search_path(&self) -> String {
        let rest = std::env::var("PATH").unwrap_or_default();
        format!("{}:{rest}", self.dir.display())
    }

    fn control_plane(&self, say: &mut dyn FnMut(&str)) -> Result<()> {
        let source = crate::root().join("cluster");
        let hash = digest(["main.go", "go.mod", "go.sum"].map(|file| source.join(file)))?;
        let stamp = format!("kubernetes v{KUBERNETES} {hash}");
        if self.is_stamped("testcluster", &stamp) {
            return Ok(());
        }
        say(&format!("building the control plane of Kubernetes {KUBERNETES} (some minutes when the Go cache is cold)"));
        go(Command::new("go")
            .args(["build", "-mod=readonly", "-ldflags", &version_flags(), "-o"])
            .arg(self.path("testcluster"))
            .arg(".")
            .current_dir(&source))?;
        self.stamp("testcluster", &stamp)
    }

    fn is_stamped(&self, name: &str, stamp: &str) -> bool {
        self.path(name).exists() && fs::read_to_string(self.stamp_file(name)).is_ok_and(|found| found == stamp)
    }

    fn stamp(&self, name: &str, stamp: &str) -> Result<()> {
        Ok(fs::write(self.stamp_file(name), stamp)?)
    }

    fn stamp_file(&self, name: &str) -> PathBuf {
        self.dir.join(format!("{name}.version"))
    }
}

/// A folder with git-lfs, built when it is missing; the version is the one that Argo CD brings along.
pub fn git_lfs() -> Result<PathBuf> {
    let dir = crate::target().join("cluster-bin/git-lfs");
    fs::create_dir_all(&dir)?;
    let tools = Tools { dir: dir.canonicalize()? };
    let stamp = "github.com/git-lfs/git-lfs/v3@v3.7.1";
    if !tools.is_stamped("git-lfs", stamp) {
        go(Command::new("go").args(["install", stamp]).env("GOBIN", &tools.dir))?;
        tools.stamp("git-lfs", stamp)?;
    }
    Ok(tools.dir)
}

/// The binary of `corpus/servers`, built when it is missing or older than its source.
pub fn servers() -> Result<PathBuf> {
    // Tests start servers at the same time.
    static BUILDING: Mutex<()> = Mutex::new(());
    let _guard = BUILDING.lock().unwrap_or_else(PoisonError::into_inner);
    let source = crate::root().join("servers");
    let dir = crate::target().join("cluster-bin");
    fs::create_dir_all(&dir)?;
    let mut files: Vec<PathBuf> = fs::read_dir(&source)?.flatten().map(|entry| entry.path()).collect();
    files.sort();
    let stamp = digest(files)?;
    // Other checkouts may share the target folder.
    let tools = Tools { dir: dir.canonicalize()? };
    let name = format!("servers-{}", stamp.get(..12).unwrap_or_default());
    if !tools.is_stamped(&name, &stamp) {
        let partial = tempfile::NamedTempFile::new_in(&tools.dir)?.into_temp_path();
        go(Command::new("go").args(["build", "-mod=readonly", "-o"]).arg(&partial).arg(".").current_dir(&source))?;
        fs::rename(&partial, tools.path(&name))?;
        tools.stamp(&name, &stamp)?;
    }
    Ok(tools.path(&name))
}

/// Digest of what is built.
fn digest(files: impl IntoIterator<Item = PathBuf>) -> Result<String> {
    let mut hash = Sha256::new();
    for file in files {
        hash.update(fs::read(file)?);
    }
    Ok(hash.finalize().iter().map(|byte| format!("{byte:02x}")).collect())
}

/// Tools parse the version that the API server answers, so it must be a real one.
fn version_flags() -> String {
    let mut parts = KUBERNETES.split('.');
    let (major, minor) = (parts.next().unwrap_or_default(), parts.next().unwrap_or_default());
    let version = format!("v{KUBERNETES}");
    let set = [
        ("gitVersion", version.as_str()),
        ("gitMajor", major),
        ("gitMinor", minor),
        ("gitTreeState", "clean"),
        ("buildDate", "2026-01-01T00:00:00Z"),
    ];
    set.map(|(name, value)| format!("-X k8s.io/component-base/version.{name}={value}")).join(" ")
}

fn go(command: &mut Command) -> Result<()> {
    let status = command.env("GOFLAGS", "-buildvcs=false").status().context("cannot run go: is Go installed?")?;
    if !status.success() {
        bail!("go failed ({status})");
    }
    Ok(())
}
