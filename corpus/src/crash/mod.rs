//! Kills litecd in the middle of a sync, or lets the API server fail, and looks whether all ends as if nothing had happened.
//!
//! In:  which write request of the sync is litecd's last one, or what fails from which part of the sync on.
//! Out: a verdict, one said line for each check.
//! Invariant: the trouble comes at a counted request and not after a time, so that a failure can be made again.
//!
//! `corpus/crash/five-waves` is killed at moments spread over its one sync and at its hooks, `corpus/crash/all-phases` at
//! every write of its two syncs, and faults hit every part of it.  `corpus/crash/manages-itself` replaces litecd's own
//! Deployment, whose pod is then asked to end in the middle of the sync.  A lane first lets a scene happen without a kill: that
//! counts the requests, must pass the same checks, and is the state that the others must end in.

mod checks;
mod fault;
mod play;
mod proxy;
mod scene;

use std::time::Instant;

use anyhow::{Context as _, Result};
use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::case::Case;
use crate::control_plane::ControlPlane;
use crate::lane::Job;
use crate::run::{Bench, Run};
use crate::subject::Switch;
use crate::verdict::Verdict;
pub use fault::{Harm, Part};
use play::{Outcome, Play, Trouble};
use proxy::{At, Ending};
use scene::Scene;

/// The tag of the cases about things that go away.
pub const TAG: &str = "crash";

/// The names of the hooks, or what they begin with.
const HOOKS: [&str; 3] = ["before", "behind", "again-"];

/// A scene with something going wrong in it.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Round {
    /// litecd is killed.
    Kill(Kill),
    /// The API server fails.
    Fault {
        /// How.
        harm: Harm,
        /// From the first write of this part on.
        part: Part,
    },
    /// litecd is asked to end by what its own sync applied.
    Replace {
        /// Whether the app syncs by itself.
        automated: bool,
    },
    /// Nothing: counts the writes of `corpus/crash/all-phases`.
    Count {
        /// Whether the app syncs by itself.
        automated: bool,
    },
}

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
    /// At the write of this number, from 1, of each sync of `corpus/crash/all-phases`.
    Call(usize),
}

/// What a lane knows of the scenes when nothing happens.
#[derive(Debug, Default)]
pub struct Measured {
    /// How many write requests the sync of five waves takes, by whether it is automated.
    manual: Option<usize>,
    automated: Option<usize>,
    /// How `corpus/crash/all-phases` ends.
    state: Option<Value>,
}

/// The rounds that kill litecd at `count` moments, and before and after the creation of each hook, and those in which it
/// replaces itself.
pub fn rounds(count: usize) -> Vec<Job> {
    let spread = (0..count).map(|round| Kill {
        moment: Moment::Spread(round, count),
        answered: round % 2 == 1,
        automated: round / 2 % 2 == 1,
    });
    let hooks = HOOKS.iter().flat_map(|hook| {
        [false, true].map(|answered| Kill { moment: Moment::Hook((*hook).to_owned()), answered, automated: answered })
    });
    let replaced = [false, true].map(|automated| Round::Replace { automated });
    spread.chain(hooks).map(Round::Kill).chain(replaced).map(Job::Crash).collect()
}

/// The rounds that count the writes of `corpus/crash/all-phases`; their verdicts have them.
pub fn counting() -> Vec<Job> {
    [false, true].map(|automated| Job::Crash(Round::Count { automated })).into()
}

/// The rounds that kill litecd before and after each `nth` write, of as many as were counted.
///
/// Before a write the app is synced by hand and after it by itself: then what is found undone is not its own doing.
pub fn every_call(counted: &[Verdict], nth: usize) -> Vec<Job> {
    let most = |automated: bool| {
        let name = Round::Count { automated }.name();
        let counts = counted.iter().filter(|verdict| verdict.case == name).flat_map(|verdict| &verdict.writes);
        counts.copied().max().unwrap_or_default()
    };
    let kills = |answered: bool| {
        let calls = (1..=most(answered)).step_by(nth.max(1));
        calls.map(move |call| Kill { moment: Moment::Call(call), answered, automated: answered })
    };
    let mut all: Vec<Kill> = [false, true].into_iter().flat_map(kills).collect();
    all.sort_by_key(|kill| match kill.moment {
        Moment::Call(call) => call,
        _ => 0,
    });
    all.into_iter().map(Round::Kill).map(Job::Crash).collect()
}

/// The rounds in which the API server fails in each way in each part of the sync.
pub fn faults() -> Vec<Job> {
    let of = |harm: Harm| Part::ALL.map(|part| Job::Crash(Round::Fault { harm, part }));
    Harm::ALL.into_iter().flat_map(of).collect()
}

impl Round {
    /// What its verdict is called.
    pub fn name(&self) -> String {
        match self {
            Self::Kill(kill) => kill.name(),
            Self::Fault { harm, part } => format!("crash/fault-{}-{}", harm.as_str(), part.as_str()),
            Self::Replace { automated: false } => "crash/manages-itself-manual".to_owned(),
            Self::Replace { automated: true } => "crash/manages-itself-automated".to_owned(),
            Self::Count { automated: false } => "crash/count-manual".to_owned(),
            Self::Count { automated: true } => "crash/count-automated".to_owned(),
        }
    }

    fn scene(&self) -> &'static Scene {
        match self {
            Self::Kill(Kill { moment: Moment::Spread(..) | Moment::Hook(_), .. }) => &scene::FIVE_WAVES,
            Self::Replace { .. } => &scene::MANAGES_ITSELF,
            _ => &scene::ALL_PHASES,
        }
    }

    fn is_automated(&self) -> bool {
        match self {
            Self::Kill(kill) => kill.automated,
            Self::Fault { .. } => false,
            Self::Count { automated } | Self::Replace { automated } => *automated,
        }
    }
}

impl Kill {
    /// What its verdict is called.
    pub fn name(&self) -> String {
        let policy = if self.automated { "automated" } else { "manual" };
        let when = if self.answered { "answered" } else { "unsent" };
        match &self.moment {
            Moment::Spread(round, _) => format!("crash/kill-{round}-{when}-{policy}"),
            Moment::Call(call) => format!("crash/kill-call-{call}-{when}-{policy}"),
            Moment::Hook(hook) => format!("crash/kill-hook-{}-{when}-{policy}", hook.trim_end_matches('-')),
        }
    }
}

/// The request to kill at, of `writes` ones, counted from 1: the first round takes the first, the last the last.
pub(crate) fn point(round: usize, rounds: usize, writes: usize) -> usize {
    1 + round * writes.saturating_sub(1) / rounds.saturating_sub(1).max(1)
}

/// Where a round happens.
pub struct Stand<'s, 'b> {
    /// The cluster and what belongs to it.
    pub bench: &'s mut Bench<'b>,
    /// The cluster's processes.
    pub control_plane: &'s mut ControlPlane,
    /// What is known from earlier rounds.
    pub measured: &'s mut Measured,
    /// Hears a line for each check.
    pub say: &'s mut dyn FnMut(String),
}

/// Runs one round.
pub async fn judge(round: &Round, mut stand: Stand<'_, '_>) -> Verdict {
    let started = Instant::now();
    let mut verdict = Verdict::new(round.name());
    if let Err(error) = stand.disturbed(round, &mut verdict).await {
        verdict.fail(format!("{error:#}"));
    }
    verdict.seconds = started.elapsed().as_secs_f64();
    verdict
}

impl Stand<'_, '_> {
    async fn disturbed(&mut self, round: &Round, verdict: &mut Verdict) -> Result<()> {
        let is_phases = round.scene().name == scene::ALL_PHASES.name;
        let trouble = self.trouble(round, verdict).await?;
        let is_undisturbed = matches!(trouble, Trouble::Nothing);
        if is_phases && !is_undisturbed && self.measured.state.is_none() {
            self.measured.state = self.once(round, Trouble::Nothing, verdict).await?.1;
        }
        let (writes, state) = self.once(round, trouble, verdict).await?;
        match (&self.measured.state, state) {
            (known, Some(state)) if is_phases && !is_undisturbed && verdict.ok => {
                if let Some(difference) = known.as_ref().and_then(|known| difference("", known, &state)) {
                    verdict.fail(format!("it ended differently than an undisturbed one: {difference}"));
                }
            }
            _ => {}
        }
        if is_undisturbed {
            verdict.writes = writes;
        }
        Ok(())
    }

    /// What goes wrong, which for some rounds is known only when the writes have been counted.
    async fn trouble(&mut self, round: &Round, verdict: &mut Verdict) -> Result<Trouble> {
        let kill = match round {
            Round::Kill(kill) => kill,
            Round::Fault { harm, part } => return Ok(Trouble::Fail(*harm, *part)),
            Round::Replace { .. } => {
                let (kind, name) = scene::ITSELF;
                return Ok(Trouble::End { at: At::Object(kind, name), ending: Ending::Terminated });
            }
            Round::Count { .. } => return Ok(Trouble::Nothing),
        };
        let at = match &kill.moment {
            Moment::Hook(name) => At::Creation(name.clone()),
            Moment::Call(call) => At::Write(*call),
            Moment::Spread(number, rounds) => {
                let known = if kill.automated { self.measured.automated } else { self.measured.manual };
                let writes = match known {
                    Some(writes) => writes,
                    None => self.once(round, Trouble::Nothing, verdict).await?.0.first().copied().unwrap_or(1),
                };
                let slot = if kill.automated { &mut self.measured.automated } else { &mut self.measured.manual };
                At::Write(point(*number, *rounds, *slot.insert(writes)))
            }
        };
        Ok(Trouble::End { at, ending: if kill.answered { Ending::Unanswered } else { Ending::Unsent } })
    }

    /// Syncs the scene; how many writes each sync took, and the state at the end.
    async fn once(
        &mut self,
        round: &Round,
        trouble: Trouble,
        verdict: &mut Verdict,
    ) -> Result<(Vec<usize>, Option<Value>)> {
        let scene = round.scene();
        let title = title(&trouble);
        let bench = reborrow(self.bench);
        let case = Case::load(&crate::root().join("crash").join(scene.name), &bench.servers.addresses)?;
        let mut mute = |_: String| {};
        let mut run = Run::new(bench, &case, &mut mute);
        let automated = round.is_automated();
        let play = Play { scene, automated, trouble, run: &mut run, control_plane: &mut *self.control_plane };
        let outcome = play.all().await;
        let cleanup = run.cleanup().await.context("cleaning up");
        let (outcomes, state) = outcome.context(title.clone())?;
        cleanup?;
        for (number, outcome) in outcomes.iter().enumerate() {
            self.tell(&format!("{title}, sync {}", number + 1), outcome, verdict);
        }
        Ok((outcomes.iter().map(|outcome| outcome.count).collect(), Some(state)))
    }

    fn tell(&mut self, title: &str, outcome: &Outcome, verdict: &mut Verdict) {
        let all = &outcome.checks;
        let passed = all.iter().filter(|check| check.problem.is_none()).count();
        let is_long = verdict.case.contains("call") || verdict.case.contains("fault");
        (self.say)(format!("  {}: {title}: {passed} of {} checks hold", verdict.case, all.len()));
        for check in all {
            match &check.problem {
                // One line is enough of a round that is one of hundreds.
                None if is_long => {}
                None => (self.say)(format!("    ok   {}", check.name)),
                Some(problem) => {
                    (self.say)(format!("    FAIL {}", check.name));
                    verdict.fail(format!("{title}: {}: {problem}", check.name));
                }
            }
        }
        if passed < all.len() {
            let writes = outcome.writes.iter().enumerate();
            verdict.lines.extend(writes.map(|(i, write)| format!("write {}: {write}", i + 1)));
        }
    }
}

fn title(trouble: &Trouble) -> String {
    match trouble {
        Trouble::Nothing => "not disturbed".to_owned(),
        Trouble::Fail(harm, part) => format!("{} from the first write of {} on", harm.as_str(), part.as_str()),
        Trouble::End { at, ending } => {
            let how = match ending {
                Ending::Unsent => "killed before the API server got",
                Ending::Unanswered => "killed before the answer was read of",
                Ending::Terminated => "asked to end after the answer to",
            };
            match at {
                At::Write(number) => format!("{how} write {number}"),
                At::Creation(name) => format!("{how} the creation of {name}"),
                At::Object(kind, name) => format!("{how} the write of {kind} {name}"),
                At::Part(part) => format!("{how} the first write of {}", part.as_str()),
            }
        }
    }
}

fn reborrow<'b>(bench: &'b mut Bench<'_>) -> Bench<'b> {
    let litecd = bench.litecd.as_mut().map(|litecd| Switch { subject: litecd.subject, running: &mut *litecd.running });
    Bench { cluster: &mut *bench.cluster, servers: bench.servers, endpoints: bench.endpoints, litecd }
}

/// Where two values differ first.
fn difference(path: &str, want: &Value, got: &Value) -> Option<String> {
    match (want, got) {
        (Value::Object(a), Value::Object(b)) => {
            let keys = a.keys().chain(b.keys().filter(|key| !a.contains_key(*key)));
            let null = Value::Null;
            let at = |key: &String| (a.get(key).unwrap_or(&null), b.get(key).unwrap_or(&null));
            keys.into_iter().find_map(|key| {
                let (want, got) = at(key);
                difference(&format!("{path}/{key}"), want, got)
            })
        }
        (Value::Array(a), Value::Array(b)) if a.len() == b.len() => {
            a.iter().zip(b).enumerate().find_map(|(i, (want, got))| difference(&format!("{path}/{i}"), want, got))
        }
        _ => (want != got).then(|| format!("{path} is {got}, not {want}")),
    }
}
