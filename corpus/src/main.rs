//! The `corpus` command: runs cases, and records them where real Argo CD answers.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::process::ExitCode;

use anyhow::{Context as _, Result, bail};
use clap::{Args, Parser, Subcommand};
use corpus::api::Cluster;
use corpus::control_plane::{ControlPlane, Ports};
use corpus::crash;
use corpus::lane::{self, Job, Lane};
use corpus::lanes::{self, Event};
use corpus::run::{Bench, Endpoints};
use corpus::servers::{PORT, Servers};
use corpus::tools::{Need, Tools};
use corpus::verdict::{Judge, Verdict};
use corpus::{case, expected, subject, web};
use serde_json::{Value, json};

/// The Argo CD that the goldens are recorded from.
const RECORDED: &str = "v3.5.1";

#[derive(Parser)]
#[command(about = "The cases litecd is held to")]
struct Cli {
    #[command(subcommand)]
    command: Command,
}

#[derive(Subcommand)]
enum Command {
    /// Runs cases and compares them with their goldens.
    Run(Box<RunArgs>),
    /// Kills litecd in the middle of syncs, and runs the cases about things that go away.
    Crash(CrashArgs),
    /// Builds the binaries of the cluster under test.
    Tools,
    /// Runs a command beside a cluster of its own, which `LITECD_TEST_KUBECONFIG` names for it.
    Cluster {
        /// The command and its arguments.
        #[arg(required = true, trailing_var_arg = true, allow_hyphen_values = true)]
        command: Vec<String>,
    },
    /// Serves cases in this very namespace; started by `run`.
    #[command(hide = true)]
    Lane(LaneArgs),
}

#[derive(Args)]
struct RunArgs {
    /// Cases (AREA/NAME), areas or folders; every case that is expected to pass when none is named.
    cases: Vec<String>,
    /// Run also the cases listed in expected-failures.txt.
    #[arg(long)]
    all: bool,
    /// Clusters at once; what the machine carries unless said.
    #[arg(long)]
    lanes: Option<usize>,
    /// The litecd under test; target/debug/litecd unless said.
    #[arg(long)]
    litecd: Option<PathBuf>,
    /// Run on this cluster, where a controller is running already, instead of in lanes.
    #[arg(long)]
    kubeconfig: Option<PathBuf>,
    /// The running controller's webhook, with --kubeconfig.
    #[arg(long, default_value = "http://127.0.0.1:8080")]
    webhook: String,
    /// The address of Argo CD's API, with --record.
    #[arg(long)]
    api: Option<String>,
    /// Write what Argo CD does as goldens, with --kubeconfig and --api.
    #[arg(long, requires = "kubeconfig", requires = "api")]
    record: bool,
    /// The text of events counts too, not only types and reasons.
    #[arg(long)]
    events: bool,
    /// Write every verdict to a JSON file.
    #[arg(long)]
    report: Option<PathBuf>,
    /// Differences shown of each case.
    #[arg(long, default_value_t = 12)]
    show: usize,
    /// Say each step.
    #[arg(short, long)]
    verbose: bool,
}

#[derive(Args)]
struct CrashArgs {
    /// How often litecd is killed in the course of the sync, besides six times at its hooks.
    #[arg(long, default_value_t = 10)]
    rounds: usize,
    /// Clusters at once; what the machine carries unless said.
    #[arg(long)]
    lanes: Option<usize>,
    /// The litecd under test; target/debug/litecd unless said.
    #[arg(long)]
    litecd: Option<PathBuf>,
    /// Only kill, without the cases.
    #[arg(long)]
    only_kill: bool,
    /// Instead, kill litecd before and after every single write of two syncs.
    #[arg(long)]
    every_call: bool,
    /// Only every Nth of these writes.
    #[arg(long, value_name = "N", default_value_t = 1)]
    every_nth: usize,
    /// Instead, let the API server fail in every way in every part of a sync.
    #[arg(long)]
    faults: bool,
    /// Only the rounds whose name holds this.
    #[arg(long, value_name = "TEXT")]
    only: Option<String>,
    /// Say each step of the cases.
    #[arg(short, long)]
    verbose: bool,
}

#[derive(Args)]
struct LaneArgs {
    #[arg(long)]
    dir: PathBuf,
    #[arg(long)]
    bin: PathBuf,
    #[arg(long)]
    litecd: PathBuf,
    #[arg(long)]
    events: bool,
    #[arg(long)]
    verbose: bool,
    /// Not in a namespace.
    #[arg(long)]
    bare: bool,
}

fn main() -> ExitCode {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build();
    let outcome = runtime.context("no runtime").and_then(|runtime| runtime.block_on(dispatch(Cli::parse().command)));
    match outcome {
        Ok(true) => ExitCode::SUCCESS,
        Ok(false) => ExitCode::FAILURE,
        Err(error) => {
            eprintln!("error: {error:#}");
            ExitCode::FAILURE
        }
    }
}

async fn dispatch(command: Command) -> Result<bool> {
    match command {
        Command::Run(args) => run(*args).await,
        Command::Crash(args) => crash(&args).await,
        Command::Tools => {
            let tools = find_tools()?;
            println!("{}", tools.dir().display());
            Ok(true)
        }
        Command::Cluster { command } => beside_cluster(&command).await,
        Command::Lane(args) => {
            let judge = Judge { events: args.events, record: false };
            let tools = Tools::at(&args.bin);
            let lane = Lane { dir: args.dir, tools, litecd: args.litecd, judge, verbose: args.verbose };
            lane::serve(lane, args.bare).await?;
            Ok(true)
        }
    }
}

async fn beside_cluster(command: &[String]) -> Result<bool> {
    let free = || Ok::<_, anyhow::Error>(std::net::TcpListener::bind("127.0.0.1:0")?.local_addr()?.port());
    let (program, args) = command.split_first().context("there is no command")?;
    let folder = tempfile::tempdir()?;
    let ports = Ports { api: free()?, etcd: free()?, kwok: free()? };
    let mut cluster = ControlPlane::start(&find_tools()?, &folder.path().join("cluster"), ports).await?;
    let mut child = tokio::process::Command::new(program);
    let status = child.args(args).env("LITECD_TEST_KUBECONFIG", &cluster.kubeconfig).status().await;
    cluster.stop().await;
    Ok(status.with_context(|| format!("cannot start {program}"))?.success())
}

fn find_tools() -> Result<Tools> {
    Tools::find_or_build(Need::Cluster, &mut |text| eprintln!("{text}"))
}

async fn run(args: RunArgs) -> Result<bool> {
    let root = corpus::root().join("cases");
    let listed = expected::read(&corpus::root().join("expected-failures.txt"), &root)?;
    let mut cases = case::find(&root, &args.cases)?;
    if args.cases.is_empty() && !args.all && !args.record {
        cases.retain(|dir| !listed.contains_key(&case::name_of(dir)));
    }
    if args.kubeconfig.is_some() && args.cases.is_empty() {
        // These stop the controller, which is not ours to stop there.
        let stopping = case::tagged(&root, crash::TAG)?;
        cases.retain(|dir| !stopping.contains(dir));
    }
    let count = cases.len();
    let mut tally =
        Tally { listed, show: args.show, forgive: args.cases.is_empty(), verdicts: Vec::new(), second: Vec::new() };
    let outcome = tokio::select! {
        outcome = all(cases, &args, &mut tally) => outcome,
        _ = tokio::signal::ctrl_c() => Err(anyhow::anyhow!("interrupted")),
    };
    if let Some(path) = &args.report {
        std::fs::write(path, serde_json::to_string_pretty(&tally.report())?)
            .with_context(|| format!("cannot write {}", path.display()))?;
    }
    if let Err(error) = outcome {
        eprintln!("error: {error:#}");
    }
    Ok(tally.sum_up(count))
}

async fn all(cases: Vec<PathBuf>, args: &RunArgs, tally: &mut Tally) -> Result<()> {
    let judge = Judge { events: args.events, record: args.record };
    if let Some(kubeconfig) = &args.kubeconfig {
        return here(&cases, kubeconfig, (args, &judge), tally).await;
    }
    let lane = first_lane(args.litecd.as_deref(), judge, args.verbose)?;
    let count = args.lanes.unwrap_or_else(lanes::sensible_count);
    in_lanes(cases.into_iter().map(Job::Case).collect(), Some(count), &lane, tally).await?;
    let again = tally.take_for_second_try();
    if !again.is_empty() {
        // Cases run into their time limits where the machine is busy; on their own they show what they are.
        println!("again, on fewer lanes: {}", again.iter().map(|dir| case::name_of(dir)).collect::<Vec<_>>().join(" "));
        in_lanes(again.into_iter().map(Job::Case).collect(), Some(count.min(2)), &lane, tally).await?;
    }
    Ok(())
}

fn first_lane(litecd: Option<&Path>, judge: Judge, verbose: bool) -> Result<Lane> {
    let tools = find_tools()?;
    let litecd = litecd.map_or_else(subject::built, Path::to_owned);
    let litecd = litecd.canonicalize().with_context(|| format!("there is no {}", litecd.display()))?;
    let dir = corpus::target().join("corpus");
    std::fs::create_dir_all(&dir)?;
    Ok(Lane { dir: dir.canonicalize()?, tools, litecd, judge, verbose })
}

async fn in_lanes(jobs: Vec<Job>, count: Option<usize>, lane: &Lane, tally: &mut Tally) -> Result<()> {
    let count = count.unwrap_or_else(lanes::sensible_count);
    lanes::run(jobs, count, lane, &mut |event| match event {
        Event::Said(number, text) if count > 1 => println!("[{number}] {text}"),
        Event::Said(_, text) => println!("{text}"),
        Event::Done(verdict) => tally.add(verdict),
    })
    .await
}

async fn crash(args: &CrashArgs) -> Result<bool> {
    let root = corpus::root().join("cases");
    let listed = expected::read(&corpus::root().join("expected-failures.txt"), &root)?;
    let lane = first_lane(args.litecd.as_deref(), Judge::default(), args.verbose)?;
    let mut tally = Tally { listed, show: usize::MAX, forgive: true, verdicts: Vec::new(), second: Vec::new() };
    let mut count = 0;
    let outcome = tokio::select! {
        outcome = crash_rounds(args, &lane, (&mut tally, &mut count)) => outcome,
        _ = tokio::signal::ctrl_c() => Err(anyhow::anyhow!("interrupted")),
    };
    let passed = tally.sum_up(count);
    outcome.map(|()| passed)
}

async fn crash_rounds(args: &CrashArgs, lane: &Lane, (tally, count): (&mut Tally, &mut usize)) -> Result<()> {
    let mut jobs = Vec::new();
    if args.faults {
        jobs.extend(crash::faults());
    }
    if args.every_call || args.every_nth > 1 {
        let counting = crash::counting();
        *count += counting.len();
        in_lanes(counting, args.lanes, lane, tally).await?;
        jobs.extend(crash::every_call(&tally.verdicts, args.every_nth));
    } else if !args.faults {
        jobs.extend(crash::rounds(args.rounds));
        if !args.only_kill {
            let root = corpus::root().join("cases");
            jobs.extend(case::tagged(&root, crash::TAG)?.into_iter().map(Job::Case));
        }
    }
    if let Some(text) = &args.only {
        jobs.retain(|job| job.name().contains(text));
    }
    *count += jobs.len();
    println!("{} rounds", jobs.len());
    in_lanes(jobs, args.lanes, lane, tally).await
}

/// Runs the cases on a cluster that is there, one after the other.
async fn here(
    cases: &[PathBuf],
    kubeconfig: &Path,
    (args, judge): (&RunArgs, &Judge),
    tally: &mut Tally,
) -> Result<()> {
    if judge.record {
        must_be_argocd(args.api.as_deref().context("--record needs --api")?).await?;
    }
    let endpoints = Endpoints {
        webhook: args.webhook.clone(),
        appset_webhook: std::env::var("CORPUS_APPSET_WEBHOOK").ok(),
        api: args.api.clone(),
    };
    let mut cluster = Cluster::connect(kubeconfig).await?;
    let folder = tempfile::tempdir()?;
    let servers = Servers::start(folder.path().to_owned(), PORT).await?;
    for dir in cases {
        if judge.record {
            forget_caches().await;
        }
        let bench = Bench { cluster: &mut cluster, servers: &servers, endpoints: &endpoints, litecd: None };
        let mut say = |text: String| println!("{text}");
        tally.add(lane::judge_case(dir, bench, (judge, args.verbose), &mut say).await);
    }
    Ok(())
}

/// Goldens show what Argo CD does; nothing else may write them.
async fn must_be_argocd(api: &str) -> Result<()> {
    let answer = web::get(&format!("{api}/api/version")).await.context("--record needs a running Argo CD")?;
    let version: Value = serde_json::from_str(&answer.text).unwrap_or_default();
    let version = version.get("Version").and_then(Value::as_str).unwrap_or_default();
    // A release carries its commit after a plus sign.
    if version.split('+').next() != Some(RECORDED) {
        bail!(
            "--record needs Argo CD {RECORDED}; {api} answers {:?}",
            answer.text.chars().take(80).collect::<String>()
        );
    }
    Ok(())
}

/// Argo CD's caches outlive a case, and cases share repository addresses; its Redis, where there is one, is emptied.
async fn forget_caches() {
    use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
    if let Ok(mut redis) = tokio::net::TcpStream::connect("127.0.0.1:6379").await
        && redis.write_all(b"FLUSHALL\r\n").await.is_ok()
    {
        let _ = redis.read(&mut [0; 16]).await;
    }
}

/// Counts verdicts and prints them.
struct Tally {
    listed: BTreeMap<String, String>,
    show: usize,
    /// A listed case may fail; not when it was asked for by name.
    forgive: bool,
    verdicts: Vec<Verdict>,
    /// Cases that failed once and get a second try.
    second: Vec<String>,
}

/// More failures than this are no accident.
const SECOND_TRIES: usize = 10;

impl Tally {
    /// Takes the failures back that may be accidents; they are judged by their second try alone.
    fn take_for_second_try(&mut self) -> Vec<PathBuf> {
        let failed = |tally: &Self, verdict: &Verdict| {
            !verdict.ok && !tally.is_forgiven(verdict) && !tally.listed.contains_key(&verdict.case)
        };
        self.second = self.verdicts.iter().filter(|v| failed(self, v)).map(|v| v.case.clone()).collect();
        if !self.forgive || self.second.len() > SECOND_TRIES {
            self.second.clear();
        }
        self.verdicts.retain(|verdict| !self.second.contains(&verdict.case));
        self.second.iter().map(|name| corpus::root().join("cases").join(name)).collect()
    }

    fn add(&mut self, mut verdict: Verdict) {
        let reason = self.listed.get(&verdict.case);
        if verdict.ok && reason.is_some() {
            verdict.fail("it passes: take it off expected-failures.txt".to_owned());
        }
        let word = match (verdict.ok, reason) {
            (true, _) => "ok  ",
            (false, Some(_)) if self.is_forgiven(&verdict) => "known",
            (false, _) => "FAIL",
        };
        let counts: Vec<String> =
            verdict.differences.iter().filter(|(_, n)| **n > 0).map(|(tier, n)| format!("{tier} {n}")).collect();
        let counts = if counts.is_empty() { String::new() } else { format!(" ({})", counts.join(", ")) };
        println!("{word} {} {:.1}s{counts}", verdict.case, verdict.seconds);
        if !verdict.writes.is_empty() {
            println!("    its syncs took {:?} writes", verdict.writes);
        }
        if word == "known" {
            println!("    {}", reason.map(String::as_str).unwrap_or_default());
        } else {
            for line in verdict.lines.iter().take(self.show) {
                println!("    {line}");
            }
            if verdict.lines.len() > self.show {
                println!("    … and {} more", verdict.lines.len() - self.show);
            }
            if let Some(seen) = verdict.seen.as_ref().filter(|_| self.show > 0) {
                println!("    seen: {}", seen.display());
            }
        }
        self.verdicts.push(verdict);
    }

    fn is_forgiven(&self, verdict: &Verdict) -> bool {
        let passes = verdict.lines.first().is_some_and(|line| line.starts_with("! it passes"));
        self.forgive && !verdict.ok && !passes && self.listed.contains_key(&verdict.case)
    }

    fn report(&self) -> Value {
        self.verdicts
            .iter()
            .map(|verdict| (verdict.case.clone(), json!(verdict)))
            .collect::<serde_json::Map<_, _>>()
            .into()
    }

    /// Prints the last line; true when no case of `count` failed that should pass, or was not run.
    fn sum_up(&self, count: usize) -> bool {
        let known = self.verdicts.iter().filter(|verdict| self.is_forgiven(verdict)).count();
        let passed = self.verdicts.iter().filter(|verdict| verdict.ok).count();
        let not_run = count.saturating_sub(self.verdicts.len());
        let failed = self.verdicts.len() - passed - known + not_run;
        let second: Vec<&str> =
            self.verdicts.iter().filter(|v| v.ok && self.second.contains(&v.case)).map(|v| v.case.as_str()).collect();
        if !second.is_empty() {
            println!("passed at the second try only: {}", second.join(" "));
        }
        if not_run > 0 {
            println!("{not_run} were not run, which counts as failed");
        }
        if known > 0 {
            println!("{known} failed as expected-failures.txt says");
        }
        println!("{passed} passed, {failed} failed");
        failed == 0
    }
}
