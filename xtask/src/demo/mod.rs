//! `cargo xtask demo`: a cluster on this machine, litecd on it, and the examples it deploys.
//!
//! In:  `examples/`.  Out: a live table of the applications, until all are synced and healthy and then until Ctrl-C.
//! Invariant: what was started ends with the demo; on a cluster that was there, nothing that was there is changed.

mod apps;
mod stage;
mod watch;

use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use anyhow::{Context as _, Result};
use clap::{Args, ValueEnum};
use corpus::subject;
use tokio::time::sleep;

use self::apps::App;
use self::stage::Stage;
use self::watch::Watch;
use crate::cargo;

/// How the demo runs.
#[derive(Args)]
pub struct Options {
    /// End when every application is synced and healthy, with an error when that takes too long.
    #[arg(long)]
    once: bool,
    /// The cluster that litecd works on.
    #[arg(long, value_enum, default_value_t = Where::Local)]
    cluster: Where,
    /// Seconds that the applications get to become healthy.
    #[arg(long, default_value_t = 300, value_name = "SECONDS")]
    timeout: u64,
    /// The litecd to run [default: built from this workspace].
    #[arg(long, value_name = "FILE")]
    litecd: Option<PathBuf>,
}

/// What the table shows.
const COLUMNS: &str = "
SYNC       whether the cluster is what Git says
HEALTH     whether the objects work
OPERATION  how the last sync went, or that one runs
REVISION   the commit that was compared";

/// Where the demo runs.
#[derive(Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum Where {
    /// A cluster started for the demo, with pretended pods.
    Local,
    /// The cluster of the current kubeconfig.
    Current,
}

/// Runs the demo; false when the applications did not become healthy.
pub fn run(options: &Options) -> Result<bool> {
    // Looked for first: building takes minutes.
    let kubeconfig = match options.cluster {
        Where::Current => Some(stage::current_kubeconfig()?),
        Where::Local => None,
    };
    let litecd = match &options.litecd {
        Some(path) => path.clone(),
        None => {
            println!("building litecd");
            cargo(&["build", "--package", "litecd", "--bin", "litecd"], &[])?;
            subject::built()
        }
    };
    let litecd = litecd.canonicalize().with_context(|| format!("there is no {}", litecd.display()))?;
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
    runtime.block_on(async {
        let mut stage = None;
        let outcome = tokio::select! {
            outcome = play(options, (&litecd, kubeconfig), &mut stage) => outcome,
            _ = tokio::signal::ctrl_c() => {
                println!("\nstopping; files remain in {}", stage::folder().display());
                Ok(!options.once)
            }
        };
        if let Some(stage) = stage {
            stage.end().await;
        }
        outcome
    })
}

async fn play(
    options: &Options,
    (litecd, kubeconfig): (&Path, Option<PathBuf>),
    place: &mut Option<Stage>,
) -> Result<bool> {
    let stage = Stage::set(kubeconfig, litecd, place).await?;
    println!("{COLUMNS}");
    let expected = apps::expected()?;
    let started = Instant::now();
    let deadline = started + Duration::from_secs(options.timeout);
    let mut table = apps::Table::default();
    let mut watch = Watch::new()?;
    let mut repairs = apps::Repairs::default();
    let mut is_announced = false;
    loop {
        let apps = stage.apps().await?;
        table.show(&apps);
        let news = repairs.since(&apps);
        if is_announced {
            news.iter().for_each(|line| table.say(line));
        }
        stage.alive()?;
        let is_done =
            expected.iter().all(|name| apps.iter().any(|app| app.name == *name)) && apps.iter().all(App::is_well);
        if is_done && !is_announced {
            table.say(&format!(
                "Every application is synced and healthy after {:.0} s.",
                started.elapsed().as_secs_f64()
            ));
            if options.once {
                return Ok(true);
            }
            table.say(&stage.how_to_go_on());
            is_announced = true;
        }
        if !is_announced && Instant::now() > deadline {
            table.say(&format!("Not every application was synced and healthy after {} s:", options.timeout));
            for line in reasons(&expected, &apps) {
                table.say(&line);
            }
            table.say(&format!("litecd's log: {}", stage.log().display()));
            return Ok(false);
        }
        if let Some(files) = watch.changed()? {
            let message = format!("Edit {}", files.join(", "));
            stage.commit(&message).await?;
            table.say(&format!("committed: {message}"));
        }
        sleep(Duration::from_millis(500)).await;
    }
}

/// Why the demo is not done: what is missing, and what each application that is not well says of itself.
fn reasons(expected: &[String], apps: &[App]) -> Vec<String> {
    let missing = expected.iter().filter(|name| !apps.iter().any(|app| app.name == **name));
    let missing = missing.map(|name| format!("  {name}: there is no such application"));
    let unwell = apps.iter().filter(|app| !app.is_well()).flat_map(App::reasons);
    missing.chain(unwell).collect()
}
