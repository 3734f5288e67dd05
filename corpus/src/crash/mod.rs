//! Kills litecd in the middle of a sync and looks whether the next one goes on as if nothing had happened.
//!
//! In:  which write request of the sync is the last one that litecd makes.  Out: a verdict, one said line for each check.
//! Invariant: the kill comes at a counted request and not after a time, so that a failure can be made again.
//!
//! The sync (`corpus/crash/five-waves`) has five waves between a PreSync and a PostSync hook.  Round 0 of a lane kills
//! nothing: it counts the requests, and must pass the same checks.

mod checks;
mod proxy;

use std::time::{Duration, Instant};

use anyhow::{Context as _, Result, bail};
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};
use tokio::time::{sleep, timeout};

use crate::case::{Case, Reference, Settle, Sync};
use crate::lane::Job;
use crate::run::{Bench, Run};
use crate::subject::Switch;
use crate::verdict::Verdict;
use proxy::{Proxy, Trap};

/// The tag of the cases about things that go away.
pub const TAG: &str = "crash";

/// How long an operation may take on a busy machine; it needs twenty seconds.
const PATIENCE: Duration = Duration::from_secs(180);

/// One kill.
#[derive(Debug, Clone, Copy, Serialize, Deserialize)]
pub struct Kill {
    /// Counted from 0.
    pub round: usize,
    /// How many rounds there are: they divide the sync evenly.
    pub rounds: usize,
}

/// How many write requests the sync takes when nothing happens, by whether it is automated.
#[derive(Debug, Default)]
pub struct Measured {
    manual: Option<usize>,
    automated: Option<usize>,
}

/// The rounds that kill litecd at `count` moments.
pub fn rounds(count: usize) -> Vec<Job> {
    (0..count).map(|round| Job::Kill(Kill { round, rounds: count })).collect()
}

impl Kill {
    /// What its verdict is called.
    pub fn name(&self) -> String {
        let when = if self.is_answered() { "after" } else { "before" };
        let policy = if self.is_automated() { "automated" } else { "manual" };
        format!("crash/kill-{}-{when}-{policy}", self.round)
    }

    /// Whether the API server does what the last request asks, and only the answer is lost.
    fn is_answered(&self) -> bool {
        self.round % 2 == 1
    }

    fn is_automated(&self) -> bool {
        self.round / 2 % 2 == 1
    }

    /// The request to kill at, of `writes` ones, counted from 1.
    fn point(&self, writes: usize) -> usize {
        1 + self.round * writes.saturating_sub(1) / self.rounds.saturating_sub(1).max(1)
    }
}

/// Runs one round; `say` hears a line for each check.
pub async fn judge(
    kill: &Kill,
    bench: &mut Bench<'_>,
    measured: &mut Measured,
    say: &mut dyn FnMut(String),
) -> Verdict {
    let started = Instant::now();
    let mut verdict = Verdict::new(kill.name());
    if let Err(error) = rounds_of(kill, bench, (measured, &mut *say), &mut verdict).await {
        verdict.fail(format!("{error:#}"));
    }
    verdict.seconds = started.elapsed().as_secs_f64();
    verdict
}

async fn rounds_of(
    kill: &Kill,
    bench: &mut Bench<'_>,
    (measured, say): (&mut Measured, &mut dyn FnMut(String)),
    verdict: &mut Verdict,
) -> Result<()> {
    let is_automated = kill.is_automated();
    let known = if is_automated { &mut measured.automated } else { &mut measured.manual };
    let writes = match *known {
        Some(writes) => writes,
        None => *known.insert(round(is_automated, None, reborrow(bench), (&mut *say, &mut *verdict)).await?),
    };
    let point = Point { at: kill.point(writes), answered: kill.is_answered() };
    round(is_automated, Some(point), reborrow(bench), (say, verdict)).await.map(drop)
}

fn reborrow<'b>(bench: &'b mut Bench<'_>) -> Bench<'b> {
    let litecd = bench.litecd.as_mut().map(|litecd| Switch { subject: litecd.subject, running: &mut *litecd.running });
    Bench { cluster: &mut *bench.cluster, servers: bench.servers, endpoints: bench.endpoints, litecd }
}

/// Where litecd is killed.
#[derive(Debug, Clone, Copy)]
struct Point {
    at: usize,
    answered: bool,
}

/// Syncs once, killed at `point` if there is one; how many write requests it took until the operation had ended.
async fn round(
    is_automated: bool,
    point: Option<Point>,
    bench: Bench<'_>,
    (say, verdict): (&mut dyn FnMut(String), &mut Verdict),
) -> Result<usize> {
    let case = Case::load(&crate::root().join("crash/five-waves"), &bench.servers.addresses)?;
    let mut mute = |_: String| {};
    let mut run = Run::new(bench, &case, &mut mute);
    let title = match point {
        None => "not killed".to_owned(),
        Some(Point { at, answered: false }) => format!("killed before write {at} reached the API server"),
        Some(Point { at, answered: true }) => format!("killed before the answer to write {at} was read"),
    };
    let outcome = synced(is_automated, point, &mut run).await;
    let outcome = match outcome {
        Ok((proxy, writes)) => {
            let checked = checks::all(&mut run, &proxy.writes()).await;
            checked.map(|all| (all, proxy, writes))
        }
        Err(error) => Err(error),
    };
    let cleanup = run.cleanup().await.context("cleaning up");
    let (all, proxy, writes) = outcome.context(title.clone())?;
    cleanup?;
    let passed = all.iter().filter(|check| check.problem.is_none()).count();
    say(format!("  {}: {title}: {passed} of {} checks hold", verdict.case, all.len()));
    for check in &all {
        match &check.problem {
            None => say(format!("    ok   {}", check.name)),
            Some(problem) => {
                say(format!("    FAIL {}", check.name));
                verdict.fail(format!("{title}: {}: {problem}", check.name));
            }
        }
    }
    if passed < all.len() {
        verdict.lines.extend(proxy.writes().iter().enumerate().map(|(i, write)| format!("write {}: {write}", i + 1)));
    }
    Ok(writes)
}

/// Brings the app to its end, through a kill if there is to be one.
async fn synced(is_automated: bool, point: Option<Point>, run: &mut Run<'_>) -> Result<(Proxy, usize)> {
    run.steps().await?;
    let litecd = run.litecd()?;
    let proxy = Proxy::start(litecd.subject.kubeconfig).await?;
    let kubeconfig = litecd.subject.kubeconfig_with("proxied", ("/clusters/0/cluster/server", json!(proxy.address)))?;
    litecd.stop().await;
    litecd.start(Some(&kubeconfig)).await?;
    let pid = litecd.process_id().context("litecd has no process")?;
    let trap = point.map(|Point { at, answered }| Trap { at, answered, pid });
    let mut app = run.case.documents(&crate::case::Files::One("app.yaml".to_owned()))?.pop().context("no app")?;
    if is_automated {
        app["spec"]["syncPolicy"] = json!({"automated": {"prune": true, "selfHeal": true}});
        proxy.arm(trap);
        run.cluster.apply(app, None).await?;
    } else {
        run.cluster.apply(app, None).await?;
        until(run, |app| app.pointer("/status/sync/status").is_some()).await?;
        proxy.arm(trap);
        let fields = json!({"revision": "main", "prune": true, "syncStrategy": {"hook": {}}});
        let fields = fields.as_object().cloned().unwrap_or_default();
        run.sync(&Sync { app: checks::APP.to_owned(), fields }).await?;
    }
    if point.is_some() {
        timeout(PATIENCE, proxy.fired()).await.ok().context("the sync never came to the write to be killed at")?;
        let litecd = run.litecd()?;
        litecd.stop().await;
        litecd.start(Some(&kubeconfig)).await?;
    }
    until(run, has_ended).await?;
    let writes = proxy.writes().len();
    // A refresh, and then some quiet in which nothing may be started again.
    run.step(&crate::case::Step::Settle(Some(Settle { timeout: Some(90.0), quiet: Some(4.0), refresh: None }))).await?;
    if let Some(note) = run.notes.pop() {
        bail!(note);
    }
    Ok((proxy, writes))
}

fn has_ended(app: &Value) -> bool {
    let phase = app.pointer("/status/operationState/phase").and_then(Value::as_str);
    app.get("operation").is_none() && matches!(phase, Some("Succeeded" | "Failed" | "Error"))
}

async fn until(run: &mut Run<'_>, is_reached: impl Fn(&Value) -> bool) -> Result<()> {
    let end = Instant::now() + PATIENCE;
    let place = Reference::argocd("Application", crate::api::ARGOCD, checks::APP);
    let mut last = Value::Null;
    while Instant::now() < end {
        last = run.cluster.get(&place).await?.unwrap_or_default();
        if is_reached(&last) {
            return Ok(());
        }
        sleep(Duration::from_millis(100)).await;
    }
    bail!("nothing more after {} seconds; the app's status is {}", PATIENCE.as_secs(), last["status"])
}
