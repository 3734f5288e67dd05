//! What runs in the demo: a cluster, a server of repositories, litecd.
//!
//! In:  which cluster.  Out: the applications on it, and commits to what they are made from.
//! Invariant: settings that a cluster has already are left as they are.

use std::fs;
use std::net::{Ipv4Addr, TcpListener};
use std::path::{Path, PathBuf};
use std::time::{SystemTime, UNIX_EPOCH};

use anyhow::{Context as _, Result, bail};
use corpus::api::{ARGOCD, Cluster};
use corpus::case::{Commit, Reference};
use corpus::child::Process;
use corpus::control_plane::{ControlPlane, Ports};
use corpus::servers::{PORT, Servers};
use corpus::subject::{Running, Subject};
use corpus::tools::{Need, Tools};
use corpus::yaml;
use serde_json::{Value, json};

use super::apps::App;
use crate::workspace;

/// How often litecd looks for new commits; Argo CD's two minutes are long when one watches.
const POLL: &str = "10s";

/// How soon a commit shows: after a look, and a listing of references that may be as old as the pause between looks.
const PICK_UP: &str = "20 s";

/// What was started.
#[derive(Default)]
pub struct Stage {
    dir: PathBuf,
    kubeconfig: PathBuf,
    control_plane: Option<ControlPlane>,
    cluster: Option<Cluster>,
    servers: Option<Servers>,
    litecd: Option<Running>,
}

impl Stage {
    /// Starts all there is to start.  What was started is in `place` also when something fails.
    ///
    /// `kubeconfig` names a cluster that is there; one is made without it.
    pub async fn set<'p>(
        kubeconfig: Option<PathBuf>,
        litecd: &Path,
        place: &'p mut Option<Self>,
    ) -> Result<&'p mut Self> {
        let dir = folder();
        fs::create_dir_all(&dir)?;
        let stage = place.insert(Self { dir: dir.canonicalize()?, ..Self::default() });
        let need = if kubeconfig.is_none() { Need::Cluster } else { Need::Renderers };
        let tools = Tools::find_or_build(need, &mut |text| println!("{text}"))?;
        stage.cluster(kubeconfig, &tools).await?;
        stage.repositories().await?;
        stage.controller((litecd, &tools)).await?;
        Ok(stage)
    }

    async fn cluster(&mut self, kubeconfig: Option<PathBuf>, tools: &Tools) -> Result<()> {
        if let Some(kubeconfig) = kubeconfig {
            println!("using the cluster of {}", kubeconfig.display());
            self.kubeconfig = kubeconfig;
        } else {
            println!("starting a cluster");
            let known = Ports::default();
            let ports = Ports { api: free(known.api)?, etcd: free(known.etcd)?, kwok: free(known.kwok)? };
            let control_plane =
                self.control_plane.insert(ControlPlane::start(tools, &self.dir.join("cluster"), ports).await?);
            self.kubeconfig = control_plane.kubeconfig.clone();
        }
        self.cluster = Some(Cluster::connect(&self.kubeconfig).await?);
        Ok(())
    }

    async fn repositories(&mut self) -> Result<()> {
        let servers = Servers::start(self.dir.join("repositories"), free(PORT)?).await?;
        servers.reset().await?;
        println!("serving examples/ as {}/examples.git", servers.addresses.git);
        self.servers = Some(servers);
        self.commit("Add the examples").await
    }

    /// Commits the examples as they are now.
    pub async fn commit(&self, message: &str) -> Result<()> {
        let servers = self.servers.as_ref().context("no server of repositories")?;
        let commit = Commit {
            repo: "examples".to_owned(),
            from: "examples".to_owned(),
            branch: None,
            tag: None,
            message: Some(message.to_owned()),
        };
        let seconds = SystemTime::now().duration_since(UNIX_EPOCH)?.as_secs();
        servers.commit(workspace(), &commit, &format!("@{seconds} +0000")).await
    }

    async fn controller(&mut self, (litecd, tools): (&Path, &Tools)) -> Result<()> {
        let dir = self.dir.join("litecd");
        fs::create_dir_all(&dir)?;
        // A log continues the one that is there; here it would be that of another cluster.
        let _ = fs::remove_file(dir.join("litecd.log"));
        let listen = format!("127.0.0.1:{}", free(8080)?);
        let subject =
            Subject { litecd, tools, kubeconfig: &self.kubeconfig, dir: &dir, listen, applicationset_listen: None };
        let cluster = self.cluster.as_mut().context("no cluster")?;
        if self.control_plane.is_none() {
            must_be_without_argocd(cluster).await?;
        }
        subject.install_crds(cluster).await?;
        for object in settings() {
            let object_place = Reference { namespace: Some(ARGOCD.to_owned()), ..Reference::to(&object)? };
            if cluster.get(&object_place).await?.is_none() {
                cluster.apply(object, Some(ARGOCD)).await?;
            }
        }
        println!("starting litecd on {}", subject.listen);
        self.litecd = Some(subject.start().await?);
        let root = fs::read_to_string(workspace().join("examples/root.yaml"))?;
        let addresses = &self.servers.as_ref().context("no server of repositories")?.addresses;
        for object in yaml::load_all(&addresses.substitute(&root))? {
            cluster.apply(object, Some(ARGOCD)).await?;
        }
        Ok(())
    }

    /// Every application, by name.
    pub async fn apps(&mut self) -> Result<Vec<App>> {
        let cluster = self.cluster.as_mut().context("no cluster")?;
        let kind = cluster.kind("Application", Some("argoproj.io")).await?;
        let mut apps: Vec<App> = cluster.list(&kind, Some(ARGOCD)).await?.iter().map(App::of).collect();
        apps.sort_by(|a, b| a.name.cmp(&b.name));
        Ok(apps)
    }

    /// An error when something that should run has ended.
    pub fn alive(&mut self) -> Result<()> {
        if let Some(control_plane) = &mut self.control_plane {
            control_plane.alive()?;
        }
        self.litecd.as_mut().map_or(Ok(()), Running::alive)
    }

    /// litecd's log.
    pub fn log(&self) -> &Path {
        let process = self.litecd.as_ref().and_then(|litecd| litecd.process.first());
        process.map_or(Path::new("-"), |process: &Process| &process.log)
    }

    /// What a reader can try now.
    pub fn how_to_go_on(&self) -> String {
        let kubeconfig = self.kubeconfig.display();
        let examples = workspace().join("examples");
        let examples = examples.display();
        let log = self.log().display();
        let on_leaving = match self.control_plane {
            Some(_) => "ends the demo and its cluster",
            None => "ends litecd; the applications and what they deployed stay",
        };
        format!(
            "
  In a second terminal:
    export KUBECONFIG={kubeconfig}
    kubectl -n guestbook-helm get deployment guestbook-helm --watch

  In a third, see a drift healed:
    export KUBECONFIG={kubeconfig}
    kubectl -n guestbook-helm scale deployment guestbook-helm --replicas=5

  See a commit picked up within {PICK_UP}; the demo commits what you save:
    edit {examples}/guestbook-helm/values.yaml
    edit {examples}/guestbook-kustomize/overlays/production/kustomization.yaml
    (`git checkout examples` undoes your edits)

  litecd's log: {log}
  Ctrl-C {on_leaving}."
        )
    }

    /// Ends all that was started.
    pub async fn end(mut self) {
        if let Some(litecd) = &mut self.litecd {
            litecd.stop().await;
        }
        if let Some(control_plane) = &mut self.control_plane {
            control_plane.stop().await;
        }
    }
}

/// `port` if nothing listens on it, or another that is free.
fn free(port: u16) -> Result<u16> {
    for candidate in [port, 0] {
        if let Ok(listener) = TcpListener::bind((Ipv4Addr::LOCALHOST, candidate)) {
            return Ok(listener.local_addr()?.port());
        }
    }
    bail!("no port is free")
}

/// The demo's files.
pub fn folder() -> PathBuf {
    corpus::target().join("demo")
}

/// The first file of KUBECONFIG, or the one in the home folder.
pub fn current_kubeconfig() -> Result<PathBuf> {
    let named = std::env::var_os("KUBECONFIG").filter(|value| !value.is_empty());
    let path = match named.as_ref().and_then(|value| std::env::split_paths(value).next()) {
        Some(path) => path,
        None => {
            PathBuf::from(std::env::var_os("HOME").context("neither KUBECONFIG nor HOME is set")?).join(".kube/config")
        }
    };
    path.canonicalize().with_context(|| format!("there is no kubeconfig {}", path.display()))
}

/// Two controllers must not work on the same applications.
async fn must_be_without_argocd(cluster: &mut Cluster) -> Result<()> {
    for kind in ["StatefulSet", "Deployment"] {
        let place = Reference::new(kind, Some(ARGOCD), "argocd-application-controller");
        if cluster.get(&place).await?.is_some() {
            bail!("Argo CD runs on this cluster (argocd/argocd-application-controller): the demo leaves it alone");
        }
    }
    Ok(())
}

/// The least that Applications need.
fn settings() -> Vec<Value> {
    let labels = json!({"app.kubernetes.io/part-of": "argocd", "app.kubernetes.io/name": "argocd-cm"});
    vec![
        json!({
            "apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "argocd-cm", "labels": labels},
            "data": {"timeout.reconciliation": POLL, "timeout.reconciliation.jitter": "0s"},
        }),
        json!({
            "apiVersion": "argoproj.io/v1alpha1", "kind": "AppProject", "metadata": {"name": "default"},
            "spec": {
                "clusterResourceWhitelist": [{"group": "*", "kind": "*"}],
                "destinations": [{"namespace": "*", "server": "*"}], "sourceRepos": ["*"],
            },
        }),
    ]
}
