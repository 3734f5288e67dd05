//! Settings as they stand in ConfigMaps, Secrets and AppProjects, typed and replaced as a whole.
//!
//! In:  the objects of the control plane's namespace.
//! Out: one immutable [`Config`]; a reconcile uses the same one from start to end.
//! Source: APP-066, APP-210, APP-272 (`util/settings/settings.go`).

use std::collections::BTreeMap;
use std::rc::Rc;

use serde_json::Value;

use crate::api::project::AppProject;
use crate::api::ObjectExt;
use crate::settings::{Clusters, Repositories, Settings};

/// All settings at one moment.
pub struct Config {
    /// `argocd-cm`; the error is why it cannot be used.
    pub settings: Result<Settings, String>,
    /// Destination clusters.
    pub clusters: Clusters,
    /// Repositories and credentials.
    pub repositories: Repositories,
    /// Projects by name.
    pub projects: BTreeMap<String, Rc<AppProject>>,
}

/// The objects that a [`Config`] is made of.
#[derive(Default)]
pub struct Raw {
    /// Data of `argocd-cm`.
    pub config_map: Option<BTreeMap<String, String>>,
    /// Secrets with a `secret-type` label, by name.
    pub secrets: BTreeMap<String, crate::settings::Secret>,
    /// Projects by name.
    pub projects: BTreeMap<String, Rc<AppProject>>,
}

impl Raw {
    /// Makes the typed settings.
    pub fn config(&self) -> Config {
        let settings = match &self.config_map {
            Some(data) => Settings::from_config_map(data).map_err(|error| error.to_string()),
            None => Err("configmap \"argocd-cm\" not found".to_owned()),
        };
        let in_cluster = settings.as_ref().map_or(true, |settings| settings.in_cluster_enabled);
        let secrets: Vec<crate::settings::Secret> = self.secrets.values().cloned().collect();
        Config {
            settings,
            clusters: Clusters::from_secrets(&secrets, in_cluster),
            repositories: Repositories::from_secrets(&secrets),
            projects: self.projects.clone(),
        }
    }

    /// Takes a project in; a malformed one is reported and the last good one is kept.
    pub fn put_project(&mut self, object: &Value) {
        match serde_json::from_value::<AppProject>(object.clone()) {
            Ok(project) => {
                self.projects.insert(object.name().to_owned(), Rc::new(project));
            }
            Err(error) => tracing::warn!(project = object.name(), reason = %error, "Failed to read project"),
        }
    }
}
