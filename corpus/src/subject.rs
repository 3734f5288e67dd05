//! litecd as it is installed and started for the corpus: with the configuration Argo CD had when the goldens were recorded.
//!
//! In:  the litecd binary and a cluster.  Out: a controller that answers `/readyz`.

use std::fs;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use anyhow::{Context as _, Result, bail};
use serde_json::{Value, json};
use tokio::time::sleep;

use crate::api::{ARGOCD, Cluster};
use crate::case::Reference;
use crate::child::{self, Process, Start};
use crate::tools::Tools;
use crate::web;
use crate::yaml;

/// How litecd is started.
#[derive(Debug, Clone)]
pub struct Subject<'a> {
    /// The litecd binary.
    pub litecd: &'a Path,
    /// The tools it finds in its PATH.
    pub tools: &'a Tools,
    /// The cluster.
    pub kubeconfig: &'a Path,
    /// Its logs and caches.
    pub dir: &'a Path,
    /// Its webhook, metrics and health.
    pub listen: String,
    /// Its webhook for ApplicationSets, where that listens apart.
    pub applicationset_listen: Option<String>,
}

/// A running litecd.
#[derive(Debug)]
pub struct Running {
    /// The process; its log is `litecd.log`.
    pub process: Vec<Process>,
    /// False when it reaches the cluster otherwise than it always does.
    pub is_usual: bool,
}

/// litecd in the hands of a case, which may end it and start it again.
#[derive(Debug)]
pub struct Switch<'a> {
    /// How it is started.
    pub subject: &'a Subject<'a>,
    /// What runs now.
    pub running: &'a mut Option<Running>,
}

impl Subject<'_> {
    /// Applies litecd's CRDs and the configuration of the goldens.
    pub async fn install(&self, cluster: &mut Cluster) -> Result<()> {
        self.install_crds(cluster).await?;
        for object in configuration() {
            cluster.force(object, Some(ARGOCD)).await?;
        }
        Ok(())
    }

    /// Applies litecd's CRDs and makes Argo CD's namespace.
    pub async fn install_crds(&self, cluster: &mut Cluster) -> Result<()> {
        let namespace = json!({"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": ARGOCD}});
        cluster.force(namespace, None).await?;
        let crds = child::run(self.litecd, &["crds"], Path::new("/")).await?;
        let crds = yaml::load_all(std::str::from_utf8(&crds)?).context("litecd crds")?;
        let places = crds.iter().map(Reference::to).collect::<Result<Vec<_>>>()?;
        for crd in crds {
            cluster.force(crd, None).await?;
        }
        for place in &places {
            established(cluster, place).await?;
        }
        cluster.discover().await
    }

    /// Starts the controller and waits until it is ready.
    pub async fn start(&self) -> Result<Running> {
        self.start_with(self.kubeconfig).await
    }

    /// Starts the controller with another kubeconfig and waits until it is ready.
    pub async fn start_with(&self, kubeconfig: &Path) -> Result<Running> {
        let temporary = self.dir.join("tmp");
        let cache = self.dir.join("cache");
        fs::create_dir_all(&temporary)?;
        let args = [
            ("--kubeconfig", kubeconfig.to_string_lossy()),
            ("--namespace", ARGOCD.into()),
            ("--cache-dir", cache.to_string_lossy()),
            ("--listen", self.listen.as_str().into()),
        ];
        let apart = self.applicationset_listen.as_deref().map(|address| ("--applicationset-listen", address.into()));
        let args = args.into_iter().chain(apart).flat_map(|(flag, value)| [flag.to_owned(), value.into_owned()]);
        let process = Process::start(Start {
            name: "litecd",
            dir: self.dir,
            program: self.litecd,
            args: std::iter::once("controller".to_owned()).chain(args).collect(),
            env: vec![("PATH", self.tools.search_path()), ("TMPDIR", temporary.to_string_lossy().into_owned())],
        })?;
        let mut running = Running { process: vec![process], is_usual: kubeconfig == self.kubeconfig };
        match self.until_ready(&mut running).await {
            Ok(()) => Ok(running),
            Err(error) => {
                running.stop().await;
                Err(error)
            }
        }
    }

    /// Writes a kubeconfig that differs from the cluster's own in one value; its path.
    pub fn kubeconfig_with(&self, name: &str, (pointer, value): (&str, Value)) -> Result<PathBuf> {
        let mut config: Value = serde_json::from_slice(&fs::read(self.kubeconfig)?)?;
        *config.pointer_mut(pointer).with_context(|| format!("a kubeconfig without {pointer}"))? = value;
        let path = self.dir.join(format!("kubeconfig-{name}"));
        fs::write(&path, config.to_string())?;
        Ok(path)
    }

    async fn until_ready(&self, running: &mut Running) -> Result<()> {
        let end = Instant::now() + Duration::from_secs(30);
        let address = format!("http://{}/readyz", self.listen);
        loop {
            if web::get(&address).await.is_ok_and(|answer| answer.code == 200) {
                return Ok(());
            }
            running.alive()?;
            if Instant::now() > end {
                let tail = running.process.first().map(Process::log_tail).unwrap_or_default();
                bail!("litecd was not ready after 30 seconds; its log ends with:\n{tail}");
            }
            sleep(Duration::from_millis(50)).await;
        }
    }
}

impl Running {
    /// An error when it has ended.
    pub fn alive(&mut self) -> Result<()> {
        match self.process.iter_mut().find_map(Process::ended) {
            Some(reason) => bail!(reason),
            None => Ok(()),
        }
    }

    /// Ends it.
    pub async fn stop(&mut self) {
        child::stop(&mut self.process).await;
    }
}

impl Switch<'_> {
    /// Ends litecd.
    pub async fn stop(&mut self) {
        if let Some(mut running) = self.running.take() {
            running.stop().await;
        }
    }

    /// Starts litecd, which must not be running, with a kubeconfig other than the cluster's own if one is given.
    pub async fn start(&mut self, kubeconfig: Option<&Path>) -> Result<()> {
        if self.running.is_some() {
            bail!("litecd is running already");
        }
        *self.running = Some(self.subject.start_with(kubeconfig.unwrap_or(self.subject.kubeconfig)).await?);
        Ok(())
    }

    /// The id of the process, while it runs.
    pub fn process_id(&self) -> Option<u32> {
        self.running.as_ref()?.process.first()?.id()
    }
}

async fn established(cluster: &mut Cluster, crd: &Reference) -> Result<()> {
    let end = Instant::now() + Duration::from_secs(30);
    while Instant::now() < end {
        let object = cluster.get(crd).await?.unwrap_or_default();
        let conditions = object.pointer("/status/conditions").and_then(Value::as_array);
        let is_established = |condition: &Value| condition["type"] == "Established" && condition["status"] == "True";
        if conditions.is_some_and(|all| all.iter().any(is_established)) {
            return Ok(());
        }
        sleep(Duration::from_millis(50)).await;
    }
    bail!("{} was not established after 30 seconds", crd.name)
}

/// What Argo CD was configured with when the goldens were recorded.
fn configuration() -> Vec<Value> {
    let part_of = |name: &str| json!({"app.kubernetes.io/part-of": "argocd", "app.kubernetes.io/name": name});
    let map = |name: &str, data: Value| json!({"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": name, "labels": part_of(name)}, "data": data});
    vec![
        map("argocd-cm", json!({"timeout.reconciliation": "3600s"})),
        map("argocd-rbac-cm", json!({})),
        map("argocd-ssh-known-hosts-cm", json!({})),
        map("argocd-tls-certs-cm", json!({})),
        map("argocd-gpg-keys-cm", json!({})),
        map(
            "argocd-cmd-params-cm",
            json!({"application.namespaces": "team-*", "applicationsetcontroller.enable.progressive.syncs": "true"}),
        ),
        json!({
            "apiVersion": "v1", "kind": "Secret", "metadata": {"name": "argocd-secret", "labels": part_of("argocd-secret")},
            "stringData": {
                "server.secretkey": "corpus-secret-key", "webhook.github.secret": "corpus-github",
                "webhook.gitlab.secret": "corpus-gitlab", "webhook.gogs.secret": "corpus-gogs",
                "webhook.bitbucketserver.secret": "corpus-bb",
            },
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

/// Where cargo leaves the litecd it builds for tests.
pub fn built() -> PathBuf {
    crate::target().join("debug/litecd")
}
