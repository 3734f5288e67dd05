//! Destination clusters, and which one a destination means.
//!
//! In:  Secrets labelled as clusters; whether the cluster of the control plane is a destination.
//! Out: clusters by server or name; the exact texts of destinations that cannot be resolved.
//! Source: APP-219 to APP-223, APP-228 to APP-231 (`util/db/cluster.go`, `util/settings/cluster_informer.go`).

use super::{ClusterConfig, Secret};
use crate::api::Destination;
use crate::api::names::{IN_CLUSTER_NAME, IN_CLUSTER_SERVER, REFRESH};
use crate::api::status::Time;
use crate::gocompat::strconv::quote;

/// A destination cluster.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Cluster {
    /// Name of the Secret; empty for the cluster of the control plane when no Secret describes it.
    pub secret_name: String,
    /// API server URL without slashes at its end.
    pub server: String,
    /// Name; a cluster without one can be addressed by server only.
    pub name: String,
    /// Namespaces that are managed; all when empty.
    pub namespaces: Vec<String>,
    /// Whether cluster-scoped objects are managed although namespaces are listed.
    pub cluster_resources: bool,
    /// Project whose own cluster this is; empty for everybody's.
    pub project: String,
    /// Shard that handles the cluster; without meaning for a single process.
    pub shard: Option<i64>,
    /// How to reach it.
    pub config: ClusterConfig,
    /// Since when what is known about the cluster counts as stale.
    pub refresh_requested_at: Option<Time>,
}

impl Cluster {
    /// Whether it is the cluster of the control plane.
    pub fn is_in_cluster(&self) -> bool {
        self.server == IN_CLUSTER_SERVER
    }

    /// Reads a cluster Secret.
    fn from_secret(secret: &Secret) -> Result<Self, String> {
        let config = match secret.data.get("config").filter(|config| !config.is_empty()) {
            None => ClusterConfig::default(),
            // The place is named, the text is not: it holds credentials.
            Some(config) => serde_json::from_slice(config).map_err(|error| {
                format!(
                    "failed to unmarshal cluster config: {:?} error at line {} column {}",
                    error.classify(),
                    error.line(),
                    error.column()
                )
            })?,
        };
        Ok(Self {
            secret_name: secret.name.clone(),
            server: trim_server(&secret.text("server")).to_owned(),
            name: secret.text("name"),
            namespaces: secret
                .text("namespaces")
                .split(',')
                .map(str::trim)
                .filter(|namespace| !namespace.is_empty())
                .map(str::to_owned)
                .collect(),
            cluster_resources: secret.text("clusterResources") == "true",
            project: secret.text("project"),
            shard: secret.text("shard").parse().ok(),
            config,
            refresh_requested_at: secret.annotations.get(REFRESH).and_then(|text| Time::parse(text)),
        })
    }
}

/// A cluster Secret that cannot be used.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Rejected {
    /// Name of the Secret.
    pub secret_name: String,
    /// Why, without any of its data.
    pub reason: String,
}

/// Why a destination means no cluster. `Display` is the message of the condition.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum DestinationError {
    /// Name and server are given.
    #[error("application destination can't have both name and server defined: {name} {server}")]
    NameAndServer {
        /// Name as written.
        name: String,
        /// Server as written.
        server: String,
    },
    /// No cluster has the name.
    #[error("there are no clusters with this name: {0}")]
    UnknownName(String),
    /// Several clusters have the name.
    #[error("there are {} clusters with the same name: [{}]", .0.len(), .0.join(" "))]
    AmbiguousName(Vec<String>),
    /// Neither name nor server is given.
    #[error("Destination server missing from app spec")]
    Missing,
    /// No cluster has the server URL.
    #[error("error getting cluster by server {}: rpc error: code = NotFound desc = cluster {} {state}", quote(.written), quote(.server))]
    UnknownServer {
        /// Server as written.
        written: String,
        /// Server without slashes at its end.
        server: String,
        /// `not found` or `is disabled`.
        state: &'static str,
    },
    /// A cluster with the name exists, but not under its own URL.
    #[error("error getting cluster by URL: rpc error: code = NotFound desc = cluster {} {state}", quote(.server))]
    UnknownUrl {
        /// Server URL of the named cluster.
        server: String,
        /// `not found` or `is disabled`.
        state: &'static str,
    },
}

/// All destination clusters.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Clusters {
    /// Sorted by the names of their Secrets, so that the same Secrets always give the same answer.
    clusters: Vec<Cluster>,
    /// What describes the cluster of the control plane when no Secret does.
    local: Cluster,
    in_cluster_enabled: bool,
    rejected: Vec<Rejected>,
}

impl Clusters {
    /// Reads the Secrets that are labelled as clusters; others are left out, unreadable ones are kept as rejected.
    pub fn from_secrets<'a>(secrets: impl IntoIterator<Item = &'a Secret>, in_cluster_enabled: bool) -> Self {
        let mut secrets: Vec<&Secret> = secrets.into_iter().filter(|secret| secret.is_type("cluster")).collect();
        secrets.sort_by(|left, right| left.name.cmp(&right.name));
        let mut clusters = Vec::new();
        let mut rejected = Vec::new();
        for secret in secrets {
            match Cluster::from_secret(secret) {
                Ok(cluster) => clusters.push(cluster),
                Err(reason) => rejected.push(Rejected { secret_name: secret.name.clone(), reason }),
            }
        }
        let local =
            Cluster { name: IN_CLUSTER_NAME.to_owned(), server: IN_CLUSTER_SERVER.to_owned(), ..Cluster::default() };
        Self { clusters, local, in_cluster_enabled, rejected }
    }

    /// Secrets that cannot be used, for the log.
    pub fn rejected(&self) -> &[Rejected] {
        &self.rejected
    }

    /// All clusters that applications may go to, that of the control plane last when no Secret describes it.
    pub fn iter(&self) -> impl Iterator<Item = &Cluster> {
        let described = self.clusters.iter().any(Cluster::is_in_cluster);
        let local = (self.in_cluster_enabled && !described).then_some(&self.local);
        self.clusters.iter().filter(|cluster| self.in_cluster_enabled || !cluster.is_in_cluster()).chain(local)
    }

    /// Clusters whose Secrets name the project.
    pub fn of_project(&self, project: &str) -> impl Iterator<Item = &Cluster> {
        self.clusters.iter().filter(move |cluster| !project.is_empty() && cluster.project == project)
    }

    /// The cluster that a destination means.
    ///
    /// # Errors
    /// The texts of APP-219 and APP-220.
    pub fn resolve(&self, destination: &Destination) -> Result<&Cluster, DestinationError> {
        let (name, written) = (&destination.name, &destination.server);
        match (name.is_empty(), written.is_empty()) {
            (false, false) => Err(DestinationError::NameAndServer { name: name.clone(), server: written.clone() }),
            (true, true) => Err(DestinationError::Missing),
            (true, false) => {
                let server = trim_server(written);
                self.by_server(server).map_err(|state| DestinationError::UnknownServer {
                    written: written.clone(),
                    server: server.to_owned(),
                    state,
                })
            }
            (false, true) => {
                let server = self.server_of(name)?;
                self.by_server(&server).map_err(|state| DestinationError::UnknownUrl { server: server.clone(), state })
            }
        }
    }

    fn server_of(&self, name: &str) -> Result<String, DestinationError> {
        let mut servers: Vec<String> =
            self.clusters.iter().filter(|cluster| cluster.name == name).map(|cluster| cluster.server.clone()).collect();
        if servers.is_empty() && name == IN_CLUSTER_NAME {
            servers.push(IN_CLUSTER_SERVER.to_owned());
        }
        servers.retain(|server| self.in_cluster_enabled || server != IN_CLUSTER_SERVER);
        match servers.len() {
            0 | 1 => servers.pop().ok_or_else(|| DestinationError::UnknownName(name.to_owned())),
            _ => Err(DestinationError::AmbiguousName(servers)),
        }
    }

    /// The cluster with a server URL, or how it is missing.
    fn by_server(&self, server: &str) -> Result<&Cluster, &'static str> {
        if server == IN_CLUSTER_SERVER && !self.in_cluster_enabled {
            return Err("is disabled");
        }
        match self.clusters.iter().find(|cluster| cluster.server == server) {
            Some(cluster) => Ok(cluster),
            None if server == IN_CLUSTER_SERVER => Ok(&self.local),
            None => Err("not found"),
        }
    }
}

fn trim_server(server: &str) -> &str {
    server.trim_end_matches('/')
}
