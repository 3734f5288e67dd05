//! Settings as they stand in ConfigMaps, Secrets and AppProjects, typed and replaced as a whole.
//!
//! In:  the objects of the control plane's namespace.
//! Out: one immutable [`Config`]; a reconcile uses the same one from start to end.
//! Source: APP-066, APP-210, APP-272 (`util/settings/settings.go`).

use std::collections::{BTreeMap, BTreeSet, HashMap};

use serde_json::Value;

use super::clock;
use crate::api::ObjectExt;
use crate::api::project::AppProject;
use crate::diff::{self, SystemRules};
use crate::gocompat::glob;
use crate::health;
use crate::settings::{Clusters, IgnoreRules, Overrides, Repositories, Secret, Settings, Trust, trust};
use crate::track::Tracking;
use crate::webhook;

/// All settings at one moment.
pub struct Config {
    /// `argocd-cm`; the error is why it cannot be used.
    pub settings: Result<InForce, String>,
    /// Destination clusters.
    pub clusters: Clusters,
    /// The Secrets that they were made of.
    pub cluster_secrets: Vec<Secret>,
    /// Repositories and credentials, and what their servers are checked against.
    pub repositories: Repositories,
    /// Projects.
    pub projects: Vec<AppProject>,
    /// What senders of webhooks sign with.
    pub webhook_secrets: webhook::Secrets,
}

/// `argocd-cm` in the words of the rooms that use it.
pub struct InForce {
    /// The settings themselves.
    pub settings: Settings,
    /// How objects are tracked.
    pub tracking: Tracking,
    /// The administrator's health scripts.
    pub health: health::Overrides,
    /// What comparisons leave out.
    pub diff: SystemRules,
    /// What live changes leave out before they count; `None` when every change counts.
    pub updates: Option<SystemRules>,
}

impl std::ops::Deref for InForce {
    type Target = Settings;
    fn deref(&self) -> &Settings {
        &self.settings
    }
}

impl InForce {
    fn new(settings: Settings) -> Self {
        let tracking = settings.tracking();
        let aggregated = settings.compare_options.ignore_aggregated_roles;
        let updates = settings.overrides.for_resource_updates(&settings.compare_options);
        Self {
            tracking,
            health: health_scripts(&settings.overrides),
            diff: rules(&settings.overrides, aggregated),
            updates: settings.ignore_resource_updates_enabled.then(|| rules(&updates, aggregated)),
            settings,
        }
    }
}

fn health_scripts(overrides: &Overrides) -> health::Overrides {
    health::Overrides::new(
        overrides.health_scripts(),
        |pattern, text| glob::matches(pattern, text, &[]),
        clock::script_clock(),
    )
}

fn rules(overrides: &Overrides, ignore_aggregated_roles: bool) -> SystemRules {
    let mut rules = SystemRules { ignore_aggregated_roles, ..SystemRules::default() };
    for (key, of_kind) in overrides.iter() {
        if of_kind.ignore_differences != IgnoreRules::default() {
            let ignored = &of_kind.ignore_differences;
            let ignored = diff::IgnoreRules {
                json_pointers: ignored.json_pointers.clone(),
                jq: ignored.jq_path_expressions.clone(),
                managers: ignored.managed_fields_managers.clone(),
            };
            rules.ignore.insert(key.to_owned(), ignored);
        }
        if !of_kind.known_type_fields.is_empty() {
            let known = of_kind.known_type_fields.iter();
            let known =
                known.map(|known| diff::KnownTypeField { field: known.field.clone(), ty: known.r#type.clone() });
            rules.known_types.insert(key.to_owned(), known.collect());
        }
    }
    rules
}

/// The objects that a [`Config`] is made of.
#[derive(Default)]
pub struct Raw {
    /// Data of `argocd-cm`.
    pub config_map: Option<BTreeMap<String, String>>,
    /// Secrets with a `secret-type` label, by name.
    pub secrets: BTreeMap<String, Secret>,
    /// `argocd-secret`.
    own_secret: Option<Secret>,
    /// Secrets that values of `argocd-secret` may point to, by name.
    pointed: BTreeMap<String, Secret>,
    /// Certificates, host keys and signing keys.
    trust: Trust,
    /// Projects by name.
    pub projects: BTreeMap<String, AppProject>,
    /// Names in the lists that run, by kind.
    seen: HashMap<&'static str, BTreeSet<String>>,
}

/// The ConfigMap of the settings.
const SETTINGS: &str = "argocd-cm";
/// The Secret of the control plane.
pub const OWN_SECRET: &str = "argocd-secret";
/// What the Secrets are called here that values of [`OWN_SECRET`] may point to.
pub const POINTED: &str = "Secret that is pointed to";
/// ConfigMaps that are watched one by one: each is its own kind here.
const TRUSTED: [&str; 3] = [trust::TLS_CERTIFICATES, trust::SSH_KNOWN_HOSTS, trust::GPG_KEYS];

impl Raw {
    /// Makes the typed settings.
    pub fn config(&self) -> Config {
        let settings = match &self.config_map {
            Some(data) => Settings::from_config_map(data).map(InForce::new).map_err(|error| error.to_string()),
            None => Err("configmap \"argocd-cm\" not found".to_owned()),
        };
        let in_cluster = settings.as_ref().map_or(true, |settings| settings.in_cluster_enabled);
        Config {
            settings,
            clusters: Clusters::from_secrets(self.secrets.values(), in_cluster),
            cluster_secrets: self.secrets.values().filter(|secret| secret.is_type("cluster")).cloned().collect(),
            repositories: Repositories::from_secrets(self.secrets.values()).trusting(self.trust.clone()),
            projects: self.projects.values().cloned().collect(),
            webhook_secrets: webhook::Secrets::read(self.own_secret.as_ref(), self.pointed.values()),
        }
    }

    /// A list of a kind begins.
    pub fn begin_list(&mut self, kind: &'static str) {
        self.seen.insert(kind, BTreeSet::new());
    }

    /// The list is complete: what was not in it is gone.
    pub fn end_list(&mut self, kind: &'static str) {
        let Some(seen) = self.seen.remove(kind) else { return };
        match kind {
            "ConfigMap" if !seen.contains(SETTINGS) => self.config_map = None,
            "Secret" => self.secrets.retain(|name, _| seen.contains(name)),
            POINTED => self.pointed.retain(|name, _| seen.contains(name)),
            OWN_SECRET if !seen.contains(OWN_SECRET) => self.own_secret = None,
            "AppProject" => self.projects.retain(|name, _| seen.contains(name)),
            trusted if TRUSTED.contains(&trusted) && !seen.contains(trusted) => {
                self.trust.set(trusted, BTreeMap::new());
            }
            _ => {}
        }
    }

    /// Takes an object in.
    pub fn put(&mut self, kind: &'static str, object: &Value) {
        if let Some(seen) = self.seen.get_mut(kind) {
            seen.insert(object.name().to_owned());
        }
        match kind {
            "ConfigMap" if object.name() == SETTINGS => {
                self.config_map = Some(serde_json::from_value(object["data"].clone()).unwrap_or_default());
            }
            "Secret" => self.put_secret(object),
            OWN_SECRET => self.own_secret = Secret::from_object(object),
            POINTED => {
                self.pointed.extend(Secret::from_object(object).map(|secret| (secret.name.clone(), secret)));
            }
            "AppProject" => self.put_project(object),
            trusted if trusted == object.name() => {
                self.trust.set(trusted, serde_json::from_value(object["data"].clone()).unwrap_or_default());
            }
            _ => {}
        }
    }

    /// An object is gone.
    pub fn remove(&mut self, kind: &'static str, name: &str) {
        match kind {
            "ConfigMap" if name == SETTINGS => self.config_map = None,
            "Secret" => drop(self.secrets.remove(name)),
            OWN_SECRET if name == OWN_SECRET => self.own_secret = None,
            POINTED => drop(self.pointed.remove(name)),
            "AppProject" => drop(self.projects.remove(name)),
            trusted if trusted == name => self.trust.set(trusted, BTreeMap::new()),
            _ => {}
        }
    }

    /// Takes a project in; a malformed one is reported and the last good one is kept.
    fn put_project(&mut self, object: &Value) {
        match serde_json::from_value::<AppProject>(object.clone()) {
            Ok(project) => {
                self.projects.insert(object.name().to_owned(), project);
            }
            Err(error) => tracing::warn!(project = object.name(), reason = %error, "Failed to read project"),
        }
    }

    /// Takes a Secret in.
    fn put_secret(&mut self, object: &Value) {
        let Some(secret) = Secret::from_object(object) else { return };
        self.secrets.insert(secret.name.clone(), secret);
    }
}
