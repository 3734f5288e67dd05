//! A case: a folder with `case.yaml`, the files its steps name, and the goldens recorded from Argo CD.
//!
//! In:  the folder.  Out: typed steps, documents and goldens.
//! Invariant: a misspelt field of `case.yaml` is an error, so that no step does less than it says.

use std::fs;
use std::path::{Path, PathBuf};

use anyhow::{Context as _, Result, bail};
use serde::Deserialize;
use serde_json::{Map, Value};

use crate::servers::Addresses;
use crate::yaml;

/// A case as read from its folder.
#[derive(Debug)]
pub struct Case {
    /// `area/name`.
    pub name: String,
    /// The folder.
    pub dir: PathBuf,
    /// What `case.yaml` says.
    pub spec: Spec,
    addresses: Addresses,
}

/// `case.yaml`.
#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct Spec {
    /// One line.
    pub title: String,
    /// What is tested, and what a wrong implementation would do.
    #[serde(default)]
    pub about: String,
    /// Features.
    #[serde(default)]
    pub tags: Vec<String>,
    /// Ids of the specification.
    #[serde(default)]
    pub spec: Vec<String>,
    /// Users' reports that the case re-makes.
    #[serde(default)]
    pub report: String,
    /// What Argo CD does wrong here.
    #[serde(default)]
    pub argocd_bug: String,
    /// `cm`: entries for argocd-cm.
    #[serde(default)]
    pub config: Config,
    /// The namespaces whose objects a snapshot holds.
    #[serde(default)]
    pub namespaces: Vec<String>,
    /// Namespaces made before the first step.
    #[serde(default)]
    pub create_namespaces: Vec<String>,
    /// Namespaces other than argocd that hold Applications.
    #[serde(default)]
    pub app_namespaces: Vec<String>,
    /// Files applied before the first step.
    #[serde(default)]
    pub cluster: Files,
    /// Cluster-scoped objects that a snapshot holds too.
    #[serde(default)]
    pub cluster_objects: Vec<Reference>,
    /// What recording adds: `health`, `diffs`.
    #[serde(default)]
    pub record: Vec<String>,
    /// What happens, in order.
    pub steps: Vec<Step>,
}

/// Configuration a case asks for.
#[derive(Debug, Default, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Config {
    /// Entries of argocd-cm.
    #[serde(default)]
    pub cm: Map<String, Value>,
}

/// One file or several.
#[derive(Debug, Deserialize)]
#[serde(untagged)]
pub enum Files {
    /// One.
    One(String),
    /// Several.
    Many(Vec<String>),
}

impl Default for Files {
    fn default() -> Self {
        Self::Many(Vec::new())
    }
}

impl Files {
    /// The files' names.
    pub fn names(&self) -> &[String] {
        match self {
            Self::One(name) => std::slice::from_ref(name),
            Self::Many(names) => names,
        }
    }
}

/// An object that a step or a snapshot names.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Reference {
    /// Its kind.
    pub kind: String,
    /// Its name.
    pub name: String,
    /// Its namespace; argocd for Argo CD's own kinds.
    #[serde(default)]
    pub namespace: Option<String>,
    /// Its API group, where the kind alone is ambiguous.
    #[serde(default)]
    pub group: Option<String>,
}

/// One thing that happens.
#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
pub enum Step {
    /// The folder `from` becomes the whole content of a repository.
    Commit(Commit),
    /// A public repository is served from a local mirror.
    Mirror(Mirror),
    /// A chart folder is packaged into the chart server.
    Chart(Chart),
    /// Each document is created, or merged into what is there.
    Apply(Files),
    /// An object is deleted.
    Delete(Delete),
    /// An object is patched.
    Patch(Box<Patch>),
    /// An app is refreshed.
    Refresh(Refresh),
    /// An operation is started as `argocd app sync` starts it.
    Sync(Sync),
    /// The app's operation is terminated.
    Terminate(String),
    /// Every app is refreshed; then nothing must move for a while.
    Settle(Option<Settle>),
    /// An object must come to hold values.
    Wait(Wait),
    /// An object must go.
    Gone(Gone),
    /// Seconds.
    Sleep(f64),
    /// The webhook endpoint is called.
    Post(Box<Post>),
    /// What there is now is kept under a name.
    Snapshot(String),
}

/// `commit`.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Commit {
    /// The repository's name.
    pub repo: String,
    /// A folder of the case.
    pub from: String,
    /// `main` unless said.
    #[serde(default)]
    pub branch: Option<String>,
    /// A tag to set or move.
    #[serde(default)]
    pub tag: Option<String>,
    /// The folder's name unless said.
    #[serde(default)]
    pub message: Option<String>,
}

/// `mirror`.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Mirror {
    /// The repository's name here.
    pub repo: String,
    /// OWNER/NAME.
    pub github: String,
    /// The commit its branch stands on.
    pub commit: String,
    /// `main` unless said.
    #[serde(default)]
    pub branch: Option<String>,
}

/// `chart`.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Chart {
    /// A chart's folder in the case.
    pub from: String,
    /// In place of the chart's own version.
    #[serde(default)]
    pub version: Option<String>,
}

/// `delete`.
#[derive(Debug, Deserialize)]
pub struct Delete {
    /// What.
    #[serde(flatten)]
    pub object: Reference,
    /// `background` unless said.
    #[serde(default)]
    pub cascade: Option<String>,
}

/// `patch`.
#[derive(Debug, Deserialize)]
pub struct Patch {
    /// What.
    #[serde(flatten)]
    pub object: Reference,
    /// A JSON merge patch.
    #[serde(default)]
    pub merge: Option<Value>,
    /// A JSON patch.
    #[serde(default)]
    pub json: Option<Value>,
    /// For example `status`.
    #[serde(default)]
    pub subresource: Option<String>,
    /// The field manager.
    #[serde(default)]
    pub manager: Option<String>,
}

/// `refresh`.
#[derive(Debug, Deserialize)]
#[serde(untagged)]
pub enum Refresh {
    /// A normal one.
    App(String),
    /// Of a type.
    Typed {
        /// The app.
        app: String,
        /// `normal` or `hard`.
        #[serde(default, rename = "type")]
        kind: Option<String>,
    },
}

/// `sync`.
#[derive(Debug, Deserialize)]
pub struct Sync {
    /// The app.
    pub app: String,
    /// Fields of `operation.sync`, besides `retry`, `info` and `initiatedBy`.
    #[serde(flatten)]
    pub fields: Map<String, Value>,
}

/// `settle`.
#[derive(Debug, Default, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Settle {
    /// Seconds; 60 unless said.
    #[serde(default)]
    pub timeout: Option<f64>,
    /// Seconds; 3 unless said.
    #[serde(default)]
    pub quiet: Option<f64>,
    /// The refresh's type.
    #[serde(default)]
    pub refresh: Option<String>,
}

/// `wait`.
#[derive(Debug, Deserialize)]
pub struct Wait {
    /// What.
    #[serde(flatten)]
    pub object: Reference,
    /// Dotted paths and their values, or `<absent>`, or `<present>`.
    #[serde(default)]
    pub until: Map<String, Value>,
    /// Seconds; 60 unless said.
    #[serde(default)]
    pub timeout: Option<f64>,
}

/// `gone`.
#[derive(Debug, Deserialize)]
pub struct Gone {
    /// What.
    #[serde(flatten)]
    pub object: Reference,
    /// Seconds; 60 unless said.
    #[serde(default)]
    pub timeout: Option<f64>,
}

/// `post`.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Post {
    /// An object, or a file of the case.
    pub body: Value,
    /// Headers besides Content-Type.
    #[serde(default)]
    pub headers: Map<String, Value>,
    /// `/api/webhook` unless said.
    #[serde(default)]
    pub path: Option<String>,
    /// A signature header.
    #[serde(default)]
    pub sign: Option<Sign>,
    /// `applicationset` goes to Argo CD's ApplicationSet controller, which listens apart.
    #[serde(default)]
    pub endpoint: Option<String>,
    /// The expected answer's code.
    #[serde(default)]
    pub expect: Option<u16>,
}

/// How a webhook is signed.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Sign {
    /// The header.
    pub header: String,
    /// What stands before the hex digits.
    #[serde(default)]
    pub prefix: String,
    /// `sha1`, `sha256` or `sha512`.
    pub hash: String,
    /// The key.
    pub secret: String,
}

impl Case {
    /// Reads the case in `dir`; its files name repositories by `addresses`.
    pub fn load(dir: &Path, addresses: &Addresses) -> Result<Self> {
        let name = name_of(dir);
        let path = dir.join("case.yaml");
        let text = fs::read_to_string(&path).with_context(|| format!("cannot read {}", path.display()))?;
        let value = yaml::load(&addresses.substitute(&text)).with_context(|| name.clone())?;
        let spec = serde_json::from_value(value).with_context(|| format!("{name}: case.yaml"))?;
        Ok(Self { name, dir: dir.to_owned(), spec, addresses: addresses.clone() })
    }

    /// A file of the case, with the servers' addresses filled in.
    pub fn text(&self, file: &str) -> Result<String> {
        let path = self.dir.join(file);
        let text = fs::read_to_string(&path).with_context(|| format!("cannot read {}", path.display()))?;
        Ok(self.addresses.substitute(&text))
    }

    /// The objects in files of the case; a List stands for its items.
    pub fn documents(&self, files: &Files) -> Result<Vec<Value>> {
        let mut all = Vec::new();
        for file in files.names() {
            for mut document in yaml::load_all(&self.text(file)?).with_context(|| format!("{}/{file}", self.name))? {
                let is_list = document.get("kind").is_some_and(|kind| kind == "List");
                match document.get_mut("items").map(Value::take) {
                    Some(Value::Array(items)) if is_list => all.extend(items),
                    _ if is_list => bail!("{}/{file}: a List without items", self.name),
                    Some(items) => {
                        document["items"] = items;
                        all.push(document);
                    }
                    None => all.push(document),
                }
            }
        }
        Ok(all)
    }

    /// What Argo CD was recorded doing: `golden.yaml` and its variants, in order.
    pub fn goldens(&self) -> Result<Vec<Value>> {
        self.variants("golden")
    }

    /// What must be seen where Argo CD is wrong: `want.yaml` and its variants, in order.
    pub fn wants(&self) -> Result<Vec<Value>> {
        self.variants("want")
    }

    /// True when the goldens show what no one should copy.
    pub fn argocd_is_wrong(&self) -> bool {
        self.dir.join("want.md").exists()
    }

    /// The files `STEM.yaml`, `STEM.2.yaml` and so on.
    pub fn variant_files(&self, stem: &str) -> Result<Vec<PathBuf>> {
        let mut files = Vec::new();
        for entry in fs::read_dir(&self.dir)? {
            let path = entry?.path();
            let name = path.file_name().unwrap_or_default().to_string_lossy();
            if name.strip_prefix(stem).is_some_and(|rest| rest.starts_with('.') && rest.ends_with(".yaml")) {
                files.push(path);
            }
        }
        // `golden.yaml` is the first recorded, though `golden.2.yaml` sorts before it.
        files.sort_by_key(|path| (path.to_string_lossy().len(), path.clone()));
        Ok(files)
    }

    fn variants(&self, stem: &str) -> Result<Vec<Value>> {
        let read = |path: &PathBuf| {
            yaml::load(&fs::read_to_string(path)?).with_context(|| format!("cannot read {}", path.display()))
        };
        self.variant_files(stem)?.iter().map(read).collect()
    }
}

/// `area/name` of a case's folder.
pub fn name_of(dir: &Path) -> String {
    let mut parts: Vec<_> = dir.components().rev().take(2).map(|part| part.as_os_str().to_string_lossy()).collect();
    parts.reverse();
    parts.join("/")
}

/// The folders of the cases that `patterns` name (a case, an area, or a folder); all of them when there are none.
pub fn find(root: &Path, patterns: &[String]) -> Result<Vec<PathBuf>> {
    let mut found = Vec::new();
    if patterns.is_empty() {
        collect(root, &mut found)?;
    }
    for pattern in patterns {
        let known = root.join(pattern.trim_end_matches('/'));
        let dir = if known.exists() { known } else { PathBuf::from(pattern) };
        let before = found.len();
        let dir = dir.canonicalize().with_context(|| format!("there is no case {pattern}"))?;
        collect(&dir, &mut found)?;
        if found.len() == before {
            bail!("there is no case in {}", dir.display());
        }
    }
    found.sort();
    found.dedup();
    Ok(found)
}

fn collect(dir: &Path, found: &mut Vec<PathBuf>) -> Result<()> {
    if dir.join("case.yaml").exists() {
        found.push(dir.to_owned());
        return Ok(());
    }
    for entry in fs::read_dir(dir).with_context(|| format!("cannot read {}", dir.display()))? {
        let path = entry?.path();
        if path.is_dir() {
            collect(&path, found)?;
        }
    }
    Ok(())
}
