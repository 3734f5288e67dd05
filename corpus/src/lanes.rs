//! Several lanes at once, fed from one queue of jobs.
//!
//! In:  jobs and how many lanes.  Out: verdicts as they come.
//! Invariant: every job gets a verdict; no lane outlives the call.

use std::collections::VecDeque;
use std::path::Path;
use std::process::Stdio;
use std::sync::Mutex;
use std::time::Duration;

use anyhow::{Context as _, Result, bail};
use tokio::io::{AsyncBufReadExt as _, AsyncWriteExt as _, BufReader, Lines};
use tokio::process::{Child, ChildStdin, ChildStdout, Command};
use tokio::time::timeout;

use crate::kernel;
use crate::lane::{Job, Lane, Message};
use crate::verdict::Verdict;

/// How often a lane may fail to start in a row before the run is given up.
const STARTS: usize = 2;

/// What a reader of the run hears.
#[derive(Debug)]
pub enum Event {
    /// A line from the lane of that number.
    Said(usize, String),
    /// A job is done.
    Done(Verdict),
}

/// Does every job; `hear` gets what happens.  `lane` is the first lane; others differ in their folder.
pub async fn run(jobs: Vec<Job>, count: usize, lane: &Lane, hear: &mut (dyn FnMut(Event) + Send)) -> Result<()> {
    let unshare = unshare().await;
    let count = match &unshare {
        Ok(_) => count.clamp(1, jobs.len().max(1)),
        Err(reason) => {
            hear(Event::Said(0, format!("one lane, on this machine's own ports: {reason:#}")));
            1
        }
    };
    let unshare = unshare.ok();
    let queue = Mutex::new(VecDeque::from(jobs));
    let hear = Mutex::new(hear);
    let lanes = (0..count).map(|number| {
        let lane = Lane { dir: lane.dir.join(format!("lane-{number}")), ..lane.clone() };
        let feed = Feed { number, lane, unshare: unshare.as_deref(), queue: &queue, hear: &hear };
        async move { feed.run().await }
    });
    // The others go on when one does not start; what it leaves is theirs.
    let ends = futures::future::join_all(lanes).await;
    let is_done = queue.into_inner().expect("no lane panics").is_empty();
    if is_done { Ok(()) } else { ends.into_iter().collect() }
}

/// The unshare command that works here, with its arguments.
///
/// Only root may make a network namespace; everybody else may in a user namespace of their own.  Some containers forbid
/// mounting /proc; then processes in a lane see the outer one, which only changes the ids they read there.
async fn unshare() -> Result<Vec<&'static str>> {
    let user: &[&str] = if kernel::is_root() { &[] } else { &["--user", "--map-root-user"] };
    let mut reason = String::new();
    for proc in [&["--mount-proc"][..], &[]] {
        let args: Vec<&str> = [user, &["--net", "--pid", "--fork", "--kill-child"], proc].concat();
        let mut trial = Command::new("unshare");
        match trial.args(&args).arg("true").stdin(Stdio::null()).output().await {
            Ok(output) if output.status.success() => return Ok(args),
            Ok(output) => reason = String::from_utf8_lossy(&output.stderr).trim().to_owned(),
            Err(error) => reason = error.to_string(),
        }
    }
    bail!("unshare cannot make a network namespace here: {reason}")
}

/// One lane as seen from outside.
struct Feed<'a, 'h> {
    number: usize,
    lane: Lane,
    unshare: Option<&'a [&'static str]>,
    queue: &'a Mutex<VecDeque<Job>>,
    hear: &'a Mutex<&'h mut (dyn FnMut(Event) + Send)>,
}

struct Talk {
    child: Child,
    input: ChildStdin,
    output: Lines<BufReader<ChildStdout>>,
}

impl Feed<'_, '_> {
    async fn run(&self) -> Result<()> {
        let mut starts = 0;
        while !self.queue.lock().expect("no lane panics").is_empty() {
            let mut talk = self.start()?;
            let outcome = self.talk(&mut talk, &mut starts).await;
            end(talk).await;
            if let Err(error) = outcome {
                starts += 1;
                self.say(format!("lane {} ended: {error:#}", self.number));
                if starts >= STARTS {
                    return Err(error.context(format!("lane {} does not start", self.number)));
                }
            }
        }
        Ok(())
    }

    fn start(&self) -> Result<Talk> {
        let lane = &self.lane;
        let this = std::env::current_exe()?;
        let mut command = match self.unshare {
            Some(args) => {
                let mut command = kernel::dying_with_parent("unshare");
                command.args(args).arg("--").arg(this).arg("lane");
                command
            }
            None => {
                let mut command = kernel::dying_with_parent(this);
                command.args(["lane", "--bare"]);
                command
            }
        };
        command.arg("--dir").arg(&lane.dir).arg("--bin").arg(lane.tools.dir()).arg("--litecd").arg(&lane.litecd);
        if lane.judge.events {
            command.arg("--events");
        }
        if lane.verbose {
            command.arg("--verbose");
        }
        // The lane's own helm must be the one of the goldens, as litecd's is.
        command.env("PATH", lane.tools.search_path());
        command.stdin(Stdio::piped()).stdout(Stdio::piped()).process_group(0).kill_on_drop(true);
        let mut child = command.spawn().context("cannot start a lane")?;
        let input = child.stdin.take().context("a lane without input")?;
        let output = BufReader::new(child.stdout.take().context("a lane without output")?).lines();
        Ok(Talk { child, input, output })
    }

    /// Feeds jobs to a running lane until there are none.
    async fn talk(&self, talk: &mut Talk, starts: &mut usize) -> Result<()> {
        let mut current: Option<Job> = None;
        let outcome = loop {
            match next(talk).await {
                Ok(Message::Say(text)) => self.say(text),
                Ok(Message::Done(verdict)) => {
                    current = None;
                    self.done(*verdict);
                }
                Ok(Message::Failed(reason)) => break Err(anyhow::anyhow!(reason)),
                Ok(Message::Ready) => {
                    *starts = 0;
                    current = self.queue.lock().expect("no lane panics").pop_front();
                    let Some(job) = &current else { break Ok(()) };
                    talk.input.write_all(format!("{}\n", serde_json::to_string(job)?).as_bytes()).await?;
                }
                Err(error) => break Err(error),
            }
        };
        if let (Some(job), Err(error)) = (current, &outcome) {
            let mut verdict = Verdict::new(job.name());
            verdict.fail(format!("the lane ended: {error:#}"));
            self.done(verdict);
        }
        outcome
    }

    fn say(&self, text: String) {
        (self.hear.lock().expect("no lane panics"))(Event::Said(self.number, text));
    }

    fn done(&self, verdict: Verdict) {
        (self.hear.lock().expect("no lane panics"))(Event::Done(verdict));
    }
}

async fn next(talk: &mut Talk) -> Result<Message> {
    let line = talk.output.next_line().await?.context("it closed its output")?;
    serde_json::from_str(&line).with_context(|| format!("it said {line:?}"))
}

/// Lets the lane end what it started; the kernel ends it all when that takes too long.
async fn end(mut talk: Talk) {
    drop(talk.input);
    if timeout(Duration::from_secs(10), talk.child.wait()).await.is_err() {
        let _ = talk.child.kill().await;
    }
}

/// How many lanes this machine carries: a lane's cluster needs a gigabyte, and mostly waits.
pub fn sensible_count() -> usize {
    let cpus = std::thread::available_parallelism().map_or(1, usize::from);
    let memory = std::fs::read_to_string(Path::new("/proc/meminfo")).unwrap_or_default();
    let available =
        memory.lines().find_map(|line| line.strip_prefix("MemAvailable:")?.split_whitespace().next()?.parse().ok());
    let gigabytes: usize = available.map_or(2, |kilobytes: usize| kilobytes / 1_000_000);
    (cpus * 2).min(gigabytes / 2).clamp(1, 8)
}
