//! The cluster under test: etcd, API server, controller manager, scheduler, and kwok in place of kubelets.
//!
//! In:  the binaries, a folder, ports.  Out: a cluster with one ready node, and its kubeconfig.
//! Invariant: it ends with its handle.

use std::fs;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use anyhow::{Context as _, Result, bail};
use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use ring::rand::SystemRandom;
use ring::signature::{ECDSA_P256_SHA256_ASN1_SIGNING, EcdsaKeyPair, KeyPair as _};
use serde_json::{Value, json};
use tokio::time::sleep;

use crate::api::{Cluster, Patch};
use crate::case::Reference;
use crate::child::{self, Process, Start};
use crate::tools::Tools;

/// The ports a cluster listens on, all of them on the loopback interface.
#[derive(Debug, Clone, Copy)]
pub struct Ports {
    /// The API server's.
    pub api: u16,
    /// etcd's.
    pub etcd: u16,
    /// kwok's own server's.
    pub kwok: u16,
}

impl Default for Ports {
    fn default() -> Self {
        Self { api: 6443, etcd: 2379, kwok: 10247 }
    }
}

/// A running cluster.
#[derive(Debug)]
pub struct ControlPlane {
    /// Grants everything.
    pub kubeconfig: PathBuf,
    processes: Vec<Process>,
    program: PathBuf,
    dir: PathBuf,
    ports: Ports,
}

/// The API server's name among the processes.
const API_SERVER: &str = "kube-apiserver";

const TOKEN: &str = "admintoken";

impl ControlPlane {
    /// Starts a cluster that keeps its files in `dir`, which is emptied first.
    pub async fn start(tools: &Tools, dir: &Path, ports: Ports) -> Result<Self> {
        let _ = fs::remove_dir_all(dir);
        fs::create_dir_all(dir)?;
        let dir = dir.canonicalize()?;
        let kubeconfig = dir.join("kubeconfig");
        write_files(&dir, &kubeconfig, ports)?;
        let program = tools.path("testcluster");
        let mut this = Self { kubeconfig, processes: Vec::new(), program, dir: dir.clone(), ports };
        match this.bring_up(tools, &dir, ports).await {
            Ok(()) => Ok(this),
            Err(error) => {
                this.stop().await;
                Err(error)
            }
        }
    }

    async fn bring_up(&mut self, tools: &Tools, dir: &Path, ports: Ports) -> Result<()> {
        let control_plane = tools.path("testcluster");
        let mut start = |name: &str, program: &Path, args: Vec<String>| {
            self.processes.push(Process::start(Start { name, dir, program, args, env: Vec::new() })?);
            anyhow::Ok(())
        };
        start("etcd", &control_plane, vec!["etcd".into(), "etcd".into(), ports.etcd.to_string()])?;
        start(API_SERVER, &control_plane, api_server(ports))?;
        let mut cluster = Cluster::connect(&self.kubeconfig).await?;
        self.until_ready(&cluster).await?;
        let mut start = |name: &str, program: &Path, args: Vec<String>| {
            self.processes.push(Process::start(Start { name, dir, program, args, env: Vec::new() })?);
            anyhow::Ok(())
        };
        start("kube-controller-manager", &control_plane, controller_manager())?;
        start(
            "kube-scheduler",
            &control_plane,
            words("kube-scheduler --kubeconfig=kubeconfig --secure-port=0 --leader-elect=false"),
        )?;
        let stages = crate::root().join("cluster/stages.yaml");
        let kwok = vec![
            "--kubeconfig=kubeconfig".to_owned(),
            "--manage-all-nodes=true".to_owned(),
            format!("--config={}", stages.display()),
            format!("--server-address=127.0.0.1:{}", ports.kwok),
        ];
        start("kwok", &tools.path("kwok"), kwok)?;
        self.add_node(&mut cluster).await
    }

    async fn until_ready(&mut self, cluster: &Cluster) -> Result<()> {
        let end = Instant::now() + Duration::from_secs(60);
        loop {
            if cluster.raw("/readyz").await.is_ok_and(|answer| answer == "ok") {
                return Ok(());
            }
            self.alive()?;
            if Instant::now() > end {
                bail!("the API server was not ready after a minute");
            }
            sleep(Duration::from_millis(50)).await;
        }
    }

    /// Adds one node and takes the taint off it that nobody else would: the node lifecycle controller is off.
    async fn add_node(&mut self, cluster: &mut Cluster) -> Result<()> {
        let node = json!({
            "apiVersion": "v1", "kind": "Node",
            "metadata": {
                "name": "node-0",
                "labels": {"kubernetes.io/hostname": "node-0", "kubernetes.io/os": "linux"},
                "annotations": {"kwok.x-k8s.io/node": "fake"},
            },
        });
        cluster.apply(node, None).await?;
        let place = Reference::new("Node", None, "node-0");
        cluster.patch(&place, Patch::merge(&json!({"spec": {"taints": null}}))).await?;
        let end = Instant::now() + Duration::from_secs(30);
        loop {
            let node = cluster.get(&place).await?.unwrap_or_default();
            let conditions = node.pointer("/status/conditions").and_then(Value::as_array);
            let is_ready = |condition: &Value| condition["type"] == "Ready" && condition["status"] == "True";
            if conditions.is_some_and(|all| all.iter().any(is_ready)) {
                return Ok(());
            }
            self.alive()?;
            if Instant::now() > end {
                bail!("the node was not ready after 30 seconds");
            }
            sleep(Duration::from_millis(50)).await;
        }
    }

    /// An error when a part of the cluster has ended.
    pub fn alive(&mut self) -> Result<()> {
        match self.processes.iter_mut().find_map(Process::ended) {
            Some(reason) => bail!(reason),
            None => Ok(()),
        }
    }

    /// The id of the API server's process.
    pub fn api_server_id(&self) -> Option<u32> {
        self.processes.iter().find(|process| process.name == API_SERVER)?.id()
    }

    /// Ends the API server, unless something else has, and starts it again; back when it is ready.
    pub async fn restart_api_server(&mut self) -> Result<()> {
        let place = self.processes.iter().position(|process| process.name == API_SERVER);
        let old = self.processes.remove(place.context("there is no API server")?);
        child::stop(&mut vec![old]).await;
        let (dir, args) = (self.dir.clone(), api_server(self.ports));
        let start = Start { name: API_SERVER, dir: &dir, program: &self.program, args, env: Vec::new() };
        self.processes.push(Process::start(start)?);
        let cluster = Cluster::connect(&self.kubeconfig).await?;
        self.until_ready(&cluster).await
    }

    /// Ends the cluster.
    pub async fn stop(&mut self) {
        child::stop(&mut self.processes).await;
    }
}

fn words(text: &str) -> Vec<String> {
    text.split_whitespace().map(str::to_owned).collect()
}

fn api_server(ports: Ports) -> Vec<String> {
    let mut args = words(
        "kube-apiserver --bind-address=127.0.0.1 --advertise-address=127.0.0.1 --cert-dir=certs \
         --service-account-issuer=https://kubernetes.default.svc --service-account-key-file=sa.pub \
         --service-account-signing-key-file=sa.key --authorization-mode=RBAC --token-auth-file=tokens.csv \
         --service-cluster-ip-range=10.96.0.0/16 --allow-privileged=true",
    );
    args.push(format!("--etcd-servers=http://127.0.0.1:{}", ports.etcd));
    args.push(format!("--secure-port={}", ports.api));
    args
}

fn controller_manager() -> Vec<String> {
    words(
        "kube-controller-manager --kubeconfig=kubeconfig --service-account-private-key-file=sa.key \
         --use-service-account-credentials=true --secure-port=0 --leader-elect=false --kube-api-qps=500 \
         --kube-api-burst=1000 \
         --controllers=*,-nodeipam,-node-route-controller,-cloud-node-lifecycle-controller,-node-lifecycle-controller",
    )
}

fn write_files(dir: &Path, kubeconfig: &Path, ports: Ports) -> Result<()> {
    let (private, public) = service_account_key()?;
    fs::write(dir.join("sa.key"), private)?;
    fs::write(dir.join("sa.pub"), public)?;
    fs::write(dir.join("tokens.csv"), format!("{TOKEN},admin,admin,system:masters\n"))?;
    let config = json!({
        "apiVersion": "v1", "kind": "Config", "current-context": "test",
        "clusters": [{"name": "test", "cluster": {
            "server": format!("https://127.0.0.1:{}", ports.api), "insecure-skip-tls-verify": true}}],
        "users": [{"name": "admin", "user": {"token": TOKEN}}],
        "contexts": [{"name": "test", "context": {"cluster": "test", "user": "admin"}}],
    });
    fs::write(kubeconfig, serde_json::to_string_pretty(&config)?)?;
    Ok(())
}

/// The key that signs service account tokens, private and public, as PEM.
fn service_account_key() -> Result<(String, String)> {
    let random = SystemRandom::new();
    let algorithm = &ECDSA_P256_SHA256_ASN1_SIGNING;
    let private = EcdsaKeyPair::generate_pkcs8(algorithm, &random).ok().context("no randomness")?;
    let pair = EcdsaKeyPair::from_pkcs8(algorithm, private.as_ref(), &random).ok().context("an unusable key")?;
    // The fixed beginning of every P-256 SubjectPublicKeyInfo; the point follows.
    let mut public = vec![
        0x30, 0x59, 0x30, 0x13, 0x06, 0x07, 0x2a, 0x86, 0x48, 0xce, 0x3d, 0x02, 0x01, 0x06, 0x08, 0x2a, 0x86, 0x48,
        0xce, 0x3d, 0x03, 0x01, 0x07, 0x03, 0x42, 0x00,
    ];
    public.extend_from_slice(pair.public_key().as_ref());
    Ok((pem("PRIVATE KEY", private.as_ref()), pem("PUBLIC KEY", &public)))
}

fn pem(label: &str, bytes: &[u8]) -> String {
    let text = STANDARD.encode(bytes);
    let lines: Vec<&str> = text.as_bytes().chunks(64).filter_map(|line| std::str::from_utf8(line).ok()).collect();
    format!("-----BEGIN {label}-----\n{}\n-----END {label}-----\n", lines.join("\n"))
}
