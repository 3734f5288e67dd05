//! What is given to `litecd render`: Applications, and the objects that hold an installation's settings.

use std::collections::BTreeMap;
use std::io::Read;
use std::path::PathBuf;

use anyhow::{Context, bail};
use serde_json::Value;

use crate::api::project::{AppProject, AppProjectSpec};
use crate::api::{Application, Destination, ObjectExt, names};
use crate::gocompat::yaml;
use crate::project::{self, Project};
use crate::settings::secret::SECRET_TYPE;
use crate::settings::{Clusters, DestinationError, Parameters, Repositories, Secret, Settings};
use crate::status;

/// Everything that was given.
pub struct Given {
    /// Applications, in the order of the files.
    pub applications: Vec<Application>,
    /// `argocd-cm`.
    pub settings: Settings,
    /// `argocd-cmd-params-cm`.
    pub parameters: Parameters,
    /// Repository Secrets.
    pub repositories: Repositories,
    /// Names of ApplicationSets, which are not expanded.
    pub sets: Vec<String>,
    clusters: Vec<Secret>,
    projects: Vec<AppProject>,
}

/// The objects of the files, sorted by what they are for.
#[derive(Default)]
struct Objects {
    applications: Vec<Application>,
    config_maps: BTreeMap<String, BTreeMap<String, String>>,
    secrets: Vec<Secret>,
    projects: Vec<AppProject>,
    sets: Vec<String>,
}

impl Given {
    /// Reads the files.
    pub fn read(files: &[PathBuf], settings: &[PathBuf]) -> anyhow::Result<Self> {
        let mut objects = Objects::default();
        for path in files.iter().chain(settings) {
            let text = if path.as_os_str() == "-" {
                let mut text = String::new();
                std::io::stdin().read_to_string(&mut text).context("cannot read standard input")?;
                text
            } else {
                std::fs::read_to_string(path).with_context(|| format!("cannot read {}", path.display()))?
            };
            let documents = yaml::parse_all(&text).with_context(|| format!("cannot read {}", path.display()))?;
            for document in documents {
                objects.put(document).with_context(|| format!("cannot read {}", path.display()))?;
            }
        }
        if objects.applications.is_empty() {
            let sets = objects.sets.join(", ");
            bail!("no Application in the files{}", if sets.is_empty() { sets } else { not_expanded(&sets) });
        }
        let none = BTreeMap::new();
        let map = |name: &str| objects.config_maps.get(name).unwrap_or(&none);
        let settings = Settings::from_config_map(map("argocd-cm")).context("cannot use argocd-cm")?;
        let (parameters, problems) = Parameters::from_config_map(map("argocd-cmd-params-cm"));
        if let Some(problem) = problems.first() {
            bail!("cannot use argocd-cmd-params-cm: {problem}");
        }
        Ok(Self {
            settings,
            parameters,
            repositories: Repositories::from_secrets(&objects.secrets),
            clusters: objects.secrets.into_iter().filter(|secret| secret.is_type("cluster")).collect(),
            sets: objects.sets,
            applications: objects.applications,
            projects: objects.projects,
        })
    }

    /// The destinations that are known; one that no Secret describes counts as a cluster of its own, since settings
    /// need not be given. `None` where only a name is given: without a Secret its server is unknown.
    pub fn clusters(&self, destination: &Destination) -> Option<Clusters> {
        let clusters = self.known_clusters();
        match clusters.resolve(destination) {
            Ok(_) => Some(clusters),
            Err(DestinationError::UnknownServer { server, .. }) if server != names::IN_CLUSTER_SERVER => {
                let guessed = Secret {
                    labels: BTreeMap::from([(SECRET_TYPE.to_owned(), "cluster".to_owned())]),
                    data: BTreeMap::from([("server".to_owned(), server.into_bytes())]),
                    ..Secret::default()
                };
                Some(Clusters::from_secrets(self.clusters.iter().chain([&guessed]), true))
            }
            Err(_) => None,
        }
    }

    fn known_clusters(&self) -> Clusters {
        Clusters::from_secrets(&self.clusters, self.settings.in_cluster_enabled)
    }

    /// The project of this name; one that is not given permits every repository and destination.
    pub fn project(&self, name: &str) -> Project {
        let clusters = self.known_clusters();
        let inputs = project::Inputs {
            projects: &self.projects,
            global_projects: &self.settings.global_projects,
            repositories: &self.repositories,
            clusters: &clusters,
        };
        project::effective(name, &inputs).unwrap_or_else(|| Project {
            name: name.to_owned(),
            spec: AppProjectSpec {
                source_repos: vec!["*".to_owned()],
                destinations: vec![anywhere()],
                ..AppProjectSpec::default()
            },
            clusters: Vec::new(),
        })
    }
}

impl Objects {
    fn put(&mut self, object: Value) -> anyhow::Result<()> {
        if let Some(Value::Array(items)) = object.get("items") {
            return items.iter().try_for_each(|item| self.put(item.clone()));
        }
        match (object.group(), object.kind()) {
            ("argoproj.io", "Application") => self.applications.push(application(object)?),
            ("argoproj.io", "AppProject") => {
                let name = object.name().to_owned();
                self.projects.push(serde_json::from_value(object).with_context(|| format!("AppProject {name}"))?);
            }
            ("", "ConfigMap") => {
                let data = object.get("data").cloned().unwrap_or_default();
                let name = object.name().to_owned();
                let data = if data.is_null() { Ok(BTreeMap::new()) } else { serde_json::from_value(data) };
                self.config_maps.insert(name.clone(), data.with_context(|| format!("ConfigMap {name}"))?);
            }
            ("", "Secret") => self.secrets.extend(Secret::from_object(&object)),
            ("argoproj.io", "ApplicationSet") => self.sets.push(object.name().to_owned()),
            _ => {}
        }
        Ok(())
    }
}

/// What is said of ApplicationSets.
pub fn not_expanded(names: &str) -> String {
    format!("; ApplicationSets are not expanded, give their Applications instead: {names}")
}

/// Every namespace of every cluster.
pub fn anywhere() -> Destination {
    Destination { server: "*".to_owned(), namespace: "*".to_owned(), name: String::new() }
}

/// An Application in the form that the controller gives it before it works on it (APP-002).
fn application(mut object: Value) -> anyhow::Result<Application> {
    if let Some(patch) = status::normalize_spec(&object) {
        json_patch::merge(&mut object, &patch);
    }
    let name = object.name().to_owned();
    serde_json::from_value(object).with_context(|| format!("Application {name}"))
}
