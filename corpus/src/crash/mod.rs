//! Kills litecd in the middle of a sync and looks whether the next one goes on as if nothing had happened.
//!
//! In:  which write request of the sync is litecd's last one.  Out: a verdict, one said line for each check.
//! Invariant: the kill comes at a counted request and not after a time, so that a failure can be made again.
//!
//! The sync (`corpus/crash/five-waves`) has five waves between a PreSync hook and two PostSync hooks.  A lane first lets it
//! happen without a kill: that counts the requests, and must pass the same checks.

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
use proxy::{At, Proxy, Trap, Write};

/// The tag of the cases about things that go away.
pub const TAG: &str = "crash";

/// How long an operation may take on a busy machine; it needs twenty seconds.
const PATIENCE: Duration = Duration::from_secs(180);

/// The names of the hooks, or what they begin with.
const HOOKS: [&str; 3] = ["before", "behind", "again-"];

/// One kill.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct Kill {
    /// When.
    pub moment: Moment,
    /// Whether the API server does what the last request asks, and only the answer is lost.
    pub answered: bool,
    /// Whether the app syncs by itself.
    pub automated: bool,
}

/// When litecd is killed.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Moment {
    /// At one of moments that divide the sync evenly: its number, from 0, and how many there are.
    Spread(usize, usize),
    /// When the hook is created whose name begins so.
    Hook(String),
}

/// How many write requests the sync takes when nothing happens, by whether it is automated.
#[derive(Debug, Default)]
pub struct Measured {
    manual: Option<usize>,
    automated: Option<usize>,
}

/// The rounds that kill litecd at `count` moments, and before and after the creation of each hook.
pub fn rounds(count: usize) -> Vec<Job> {
    let spread = (0..count).map(|round| Kill {
        moment: Moment::Spread(round, count),
        answered: round % 2 == 1,
        automated: round / 2 % 2 == 1,
    });
    let hooks = HOOKS.iter().flat_map(|hook| {
        [false, true].map(|answered| Kill { moment: Moment::Hook((*hook).to_owned()), answered, automated: answered })
    });
    spread.chain(hooks).map(Job::Kill).collect()
}

impl Kill {
    /// What its verdict is called.
    pub fn name(&self) -> String {
        let policy = if self.automated { "automated" } else { "manual" };
        let when = if self.answered { "answered" } else { "unsent" };
        match &self.moment {
            Moment::Spread(round, _) => format!("crash/kill-{round}-{when}-{policy}"),
            Moment::Hook(hook) => format!("crash/kill-hook-{}-{when}-{policy}", hook.trim_end_matches('-')),
        }
    }
}

/// The request to kill at, of `writes` ones, counted from 1: the first round takes the first, the last the last.
pub(crate) fn point(round: usize, rounds: usize, writes: usize) -> usize {
    1 + round * writes.saturating_sub(1) / rounds.saturating_sub(1).max(1)
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
    if let Err(error) = killed(kill, bench, (measured, &mut *say), &mut verdict).await {
        verdict.fail(format!("{error:#}"));
    }
    verdict.seconds = started.elapsed().as_secs_f64();
    verdict
}

async fn killed(
    kill: &Kill,
    bench: &mut Bench<'_>,
    (measured, say): (&mut Measured, &mut dyn FnMut(String)),
    verdict: &mut Verdict,
) -> Result<()> {
    let at = match &kill.moment {
        Moment::Hook(name) => At::Creation(name.clone()),
        Moment::Spread(round_number, rounds) => {
            let known = if kill.automated { &mut measured.automated } else { &mut measured.manual };
            let writes = match *known {
                Some(writes) => writes,
                None => *known.insert(round((kill, None), reborrow(bench), &mut *say, &mut *verdict).await?),
            };
            At::Write(point(*round_number, *rounds, writes))
        }
    };
    round((kill, Some(at)), reborrow(bench), say, verdict).await.map(drop)
}

fn reborrow<'b>(bench: &'b mut Bench<'_>) -> Bench<'b> {
    let litecd = bench.litecd.as_mut().map(|litecd| Switch { subject: litecd.subject, running: &mut *litecd.running });
    Bench { cluster: &mut *bench.cluster, servers: bench.servers, endpoints: bench.endpoints, litecd }
}

/// Syncs once, with the kill if `at` says when; how many write requests it took until the operation had ended.
async fn round(
    (kill, at): (&Kill, Option<At>),
    bench: Bench<'_>,
    say: &mut dyn FnMut(String),
    verdict: &mut Verdict,
) -> Result<usize> {
    let case = Case::load(&crate::root().join("crash/five-waves"), &bench.servers.addresses)?;
    let mut mute = |_: String| {};
    let mut run = Run::new(bench, &case, &mut mute);
    let when = if kill.answered { "before the answer was read of" } else { "before the API server got" };
    let title = match &at {
        None => "not killed".to_owned(),
        Some(At::Write(number)) => format!("killed {when} write {number}"),
        Some(At::Creation(name)) => format!("killed {when} the creation of {name}"),
    };
    let outcome = synced(kill, at, &mut run).await;
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
async fn synced(kill: &Kill, at: Option<At>, run: &mut Run<'_>) -> Result<(Proxy, usize)> {
    run.steps().await?;
    let litecd = run.litecd()?;
    let proxy = Proxy::start(litecd.subject.kubeconfig).await?;
    let kubeconfig = litecd.subject.kubeconfig_with("proxied", ("/clusters/0/cluster/server", json!(proxy.address)))?;
    litecd.stop().await;
    litecd.start(Some(&kubeconfig)).await?;
    let pid = litecd.process_id().context("litecd has no process")?;
    let is_killed = at.is_some();
    let trap = at.map(|at| Trap { at, answered: kill.answered, pid });
    let mut app = run.case.documents(&crate::case::Files::One("app.yaml".to_owned()))?.pop().context("no app")?;
    if kill.automated {
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
    if is_killed {
        timeout(PATIENCE, proxy.fired()).await.ok().context("the sync never came to the write to be killed at")?;
        let litecd = run.litecd()?;
        litecd.stop().await;
        litecd.start(Some(&kubeconfig)).await?;
    }
    until(run, has_ended).await?;
    let writes = proxy.writes().iter().position(Write::is_end).map_or(1, |end| end + 1);
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
