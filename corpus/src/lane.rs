//! A lane: one cluster, one server of repositories and one litecd, running one case after the other.
//!
//! In:  jobs, one a line on standard input.  Out: messages, one JSON object a line on standard output.
//! Invariant: everything ends with the lane; the lane ends when its input does.
//!
//! A lane is a process in a network and process namespace of its own, so that every lane has the same ports (and with
//! them the same repository addresses and commit hashes), and so that the kernel ends all that the lane started.

use std::fs;
use std::path::{Path, PathBuf};
use std::time::Instant;

use anyhow::{Context as _, Result};
use serde::{Deserialize, Serialize};
use tokio::signal::unix::{SignalKind, signal};
use tokio::sync::mpsc::{UnboundedReceiver, unbounded_channel};
use tokio::sync::watch;

use crate::api::Cluster;
use crate::case::{Case, name_of};
use crate::compare::canon;
use crate::control_plane::{ControlPlane, Ports};
use crate::crash::{self, Round, Stand};
use crate::kernel;
use crate::run::{Bench, Endpoints, Run};
use crate::servers::{PORT, Servers};
use crate::subject::{Running, Subject, Switch};
use crate::tools::Tools;
use crate::verdict::{Judge, Verdict};
use crate::yaml;

/// What a lane needs.
#[derive(Debug, Clone)]
pub struct Lane {
    /// Its logs, caches and data.
    pub dir: PathBuf,
    /// The binaries of the cluster.
    pub tools: Tools,
    /// The litecd under test.
    pub litecd: PathBuf,
    /// How cases are judged.
    pub judge: Judge,
    /// Whether each step is said.
    pub verbose: bool,
}

/// What a lane is given to do.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Job {
    /// Runs the case in a folder.
    Case(PathBuf),
    /// Disturbs a sync.
    Crash(Round),
}

impl Job {
    /// What its verdict is called.
    pub fn name(&self) -> String {
        match self {
            Self::Case(dir) => name_of(dir),
            Self::Crash(round) => round.name(),
        }
    }
}

/// What a lane says.
#[derive(Debug, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Message {
    /// The lane waits for a job.
    Ready,
    /// Something for the reader.
    Say(String),
    /// A job is done.
    Done(Box<Verdict>),
    /// The lane cannot go on.
    Failed(String),
}

fn tell(message: &Message) {
    println!("{}", serde_json::to_string(message).unwrap_or_default());
}

/// Does jobs until the input ends or a signal comes; a `bare` lane has no namespace of its own.
pub async fn serve(lane: Lane, bare: bool) -> Result<()> {
    if !bare {
        kernel::loopback_up().context("cannot bring the loopback interface up")?;
    }
    let mut terminate = signal(SignalKind::terminate())?;
    let mut interrupt = signal(SignalKind::interrupt())?;
    let mut stage = None;
    let (input, mut closed) = input();
    let work = async {
        if let Err(error) = jobs(&lane, &mut stage, input).await {
            tell(&Message::Failed(format!("{error:#}")));
        }
    };
    tokio::select! {
        () = work => {}
        // Whoever started the lane is gone, perhaps in the middle of a case.
        _ = closed.changed() => {}
        _ = terminate.recv() => {}
        _ = interrupt.recv() => {}
    }
    if let Some(mut stage) = stage {
        stage.stop().await;
    }
    Ok(())
}

/// What runs in a lane.
struct Stage {
    control_plane: ControlPlane,
    litecd: Option<Running>,
}

impl Stage {
    async fn stop(&mut self) {
        if let Some(litecd) = &mut self.litecd {
            litecd.stop().await;
        }
        self.control_plane.stop().await;
    }
}

/// The lines of standard input, and a sign that it was closed.
///
/// Read by a thread of its own: it must notice the end while a case runs.
fn input() -> (UnboundedReceiver<String>, watch::Receiver<()>) {
    let (send, lines) = unbounded_channel();
    let (close, closed) = watch::channel(());
    std::thread::spawn(move || {
        for line in std::io::stdin().lines().map_while(Result::ok) {
            if send.send(line).is_err() {
                break;
            }
        }
        drop(close);
    });
    (lines, closed)
}

async fn jobs(lane: &Lane, stage: &mut Option<Stage>, mut input: UnboundedReceiver<String>) -> Result<()> {
    let control_plane = ControlPlane::start(&lane.tools, &lane.dir, Ports::default()).await?;
    let kubeconfig = control_plane.kubeconfig.clone();
    let stage = stage.insert(Stage { control_plane, litecd: None });
    let subject = Subject {
        litecd: &lane.litecd,
        tools: &lane.tools,
        kubeconfig: &kubeconfig,
        dir: &lane.dir,
        listen: "127.0.0.1:8080".to_owned(),
        applicationset_listen: Some("127.0.0.1:7000".to_owned()),
    };
    let mut cluster = Cluster::connect(&kubeconfig).await?;
    subject.install(&mut cluster).await?;
    stage.litecd = Some(subject.start().await?);
    let servers = Servers::start(lane.dir.join("repositories"), PORT).await?;
    let endpoints = Endpoints {
        webhook: format!("http://{}", subject.listen),
        appset_webhook: subject.applicationset_listen.as_ref().map(|address| format!("http://{address}")),
        api: None,
    };
    let mut measured = crash::Measured::default();
    tell(&Message::Ready);
    while let Some(line) = input.recv().await {
        let job: Job = serde_json::from_str(&line).with_context(|| format!("{line:?} is no job"))?;
        let mut say = |text: String| tell(&Message::Say(text));
        let litecd = Switch { subject: &subject, running: &mut stage.litecd };
        let mut bench = Bench { cluster: &mut cluster, servers: &servers, endpoints: &endpoints, litecd: Some(litecd) };
        let mut verdict = match &job {
            Job::Case(dir) => judge_case(dir, bench, (&lane.judge, lane.verbose), &mut say).await,
            Job::Crash(round) => {
                let control_plane = &mut stage.control_plane;
                let stand = Stand { bench: &mut bench, control_plane, measured: &mut measured, say: &mut say };
                crash::judge(round, stand).await
            }
        };
        stage.control_plane.alive()?;
        as_before(&subject, &mut stage.litecd, &mut verdict).await?;
        tell(&Message::Done(Box::new(verdict)));
        tell(&Message::Ready);
    }
    Ok(())
}

/// Sees to it that litecd runs as it does at the start of every job; the verdict fails when it ended by itself.
async fn as_before(subject: &Subject<'_>, litecd: &mut Option<Running>, verdict: &mut Verdict) -> Result<()> {
    let ended = litecd.as_mut().and_then(|litecd| litecd.alive().err());
    if let Some(reason) = &ended {
        verdict.fail(format!("{reason:#}"));
    }
    if ended.is_none() && litecd.as_ref().is_some_and(|litecd| litecd.is_usual) {
        return Ok(());
    }
    if let Some(mut litecd) = litecd.take() {
        litecd.stop().await;
    }
    if !verdict.ok {
        // The reader of a failure wants its log apart from those of later jobs.
        let log = subject.dir.join("litecd.log");
        let _ = fs::rename(log, subject.dir.join(format!("litecd-{}.log", verdict.file_name())));
    }
    *litecd = Some(subject.start().await?);
    Ok(())
}

/// Runs one case and compares it with its goldens.
pub async fn judge_case(
    dir: &Path,
    bench: Bench<'_>,
    (judge, verbose): (&Judge, bool),
    say: &mut dyn FnMut(String),
) -> Verdict {
    let started = Instant::now();
    let mut verdict = Verdict::new(name_of(dir));
    let servers = bench.servers;
    let outcome = async {
        let case = Case::load(dir, &servers.addresses)?;
        let mut run = Run::new(bench, &case, say).verbose(verbose);
        let snapshots = run.snapshots().await;
        verdict.notes = std::mem::take(&mut run.notes);
        let snapshots = snapshots?;
        judge.judge(&case, &snapshots, &mut verdict)?;
        if !verdict.ok {
            // For the reader of a failure; nothing reads it back.
            let seen = servers.root.with_file_name(format!("seen-{}.yaml", verdict.file_name()));
            let _ = fs::write(&seen, yaml::dump(&canon(snapshots)));
            verdict.seen = Some(seen);
        }
        anyhow::Ok(())
    };
    if let Err(error) = outcome.await {
        verdict.fail(format!("{error:#}"));
    }
    verdict.seconds = started.elapsed().as_secs_f64();
    verdict
}
