//! Syncs a scene through the proxy, with something going wrong in each sync.
//!
//! In:  the scene, how its app syncs, what goes wrong.  Out: what was written, and the checks of each sync.
//! Invariant: what is to go wrong did, or the round fails: a disturbance that never comes proves nothing.

use std::path::Path;
use std::time::{Duration, Instant};

use anyhow::{Context as _, Result, bail, ensure};
use serde_json::{Value, json};
use tokio::time::{sleep, timeout};

use super::checks::{self, Check, Killed};
use super::fault::{Fault, Harm, Part};
use super::proxy::{At, Ending, Proxy, Snare, Trap, Write};
use super::scene::{Scene, Stage};
use crate::api::ARGOCD;
use crate::case::{Files, Reference, Settle, Step, Sync};
use crate::control_plane::ControlPlane;
use crate::run::Run;

/// How long an operation may take on a busy machine; it needs twenty seconds.
const PATIENCE: Duration = Duration::from_secs(180);

/// What goes wrong in each sync.
#[derive(Debug, Clone)]
pub(super) enum Trouble {
    /// Nothing.
    Nothing,
    /// litecd ends and is started again.
    End {
        /// When.
        at: At,
        /// How.
        ending: Ending,
    },
    /// The API server fails, in the syncs that have this part.
    Fail(Harm, Part),
}

/// One scene, about to be synced.
pub(super) struct Play<'p, 'r> {
    pub scene: &'static Scene,
    /// Whether the app syncs by itself.
    pub automated: bool,
    pub trouble: Trouble,
    pub run: &'p mut Run<'r>,
    pub control_plane: &'p mut ControlPlane,
}

/// What came of one sync.
pub(super) struct Outcome {
    /// How many writes it took until the operation had ended.
    pub count: usize,
    /// What was written, in order.
    pub writes: Vec<Write>,
    /// What held and what did not.
    pub checks: Vec<Check>,
}

impl Play<'_, '_> {
    /// Brings the app through all its syncs; stops at the first that leaves something wrong.
    pub(super) async fn all(mut self) -> Result<(Vec<Outcome>, Value)> {
        self.run.steps().await?;
        let litecd = self.run.litecd()?;
        let proxy = Proxy::start(litecd.subject.kubeconfig).await?;
        let server = ("/clusters/0/cluster/server", json!(proxy.address));
        let kubeconfig = litecd.subject.kubeconfig_with("proxied", server)?;
        litecd.stop().await;
        litecd.start(Some(&kubeconfig)).await?;
        let mut outcomes = Vec::new();
        for (number, stage) in self.scene.stages.iter().enumerate() {
            let count = self.sync(&proxy, (number, stage), &kubeconfig).await;
            let count = count.with_context(|| format!("sync {}", number + 1))?;
            let writes = proxy.writes();
            let checks = checks::all(self.run, (self.scene, number), (&writes, self.killed())).await?;
            let is_good = checks.iter().all(|check| check.problem.is_none());
            outcomes.push(Outcome { count, writes, checks });
            if !is_good {
                break;
            }
        }
        let state = checks::state(self.run, self.scene).await?;
        Ok((outcomes, state))
    }

    fn killed(&self) -> Option<Killed> {
        match &self.trouble {
            Trouble::End { at: At::Write(number), ending: Ending::Unsent } => {
                Some(Killed { done: number.saturating_sub(1) })
            }
            Trouble::End { at: At::Write(number), .. } => Some(Killed { done: *number }),
            _ => None,
        }
    }

    /// One sync; how many writes it took until the operation had ended.
    async fn sync(&mut self, proxy: &Proxy, (number, stage): (usize, &Stage), kubeconfig: &Path) -> Result<usize> {
        if let Some(folder) = stage.commit {
            let commit = serde_json::from_value(json!({"repo": "app", "from": folder}))?;
            self.run.step(&Step::Commit(commit)).await?;
        }
        let snare = self.snare(stage)?;
        let is_set = snare.is_some();
        self.trigger(proxy, number, snare).await?;
        if is_set {
            self.suffer(proxy, kubeconfig).await?;
        }
        self.until(|app| has_ended(app, number)).await?;
        ensure!(
            !(is_set && matches!(self.trouble, Trouble::Fail(harm, _) if harm != Harm::Restart)) || proxy.struck() > 0,
            "the fault struck nothing"
        );
        let count = proxy.writes().iter().position(Write::is_end).map_or(1, |end| end + 1);
        // A refresh, and then some quiet in which nothing may be started again.
        let settle = Settle { timeout: Some(90.0), quiet: Some(4.0), refresh: None };
        self.run.step(&Step::Settle(Some(settle))).await?;
        if let Some(note) = self.run.notes.pop() {
            bail!(note);
        }
        Ok(count)
    }

    fn snare(&mut self, stage: &Stage) -> Result<Option<Snare>> {
        let has = |part| part != Part::Prune || !stage.pruned.is_empty();
        Ok(match &self.trouble {
            Trouble::End { at, ending } => {
                let pid = self.run.litecd()?.process_id().context("litecd has no process")?;
                Some(Snare::Trap(Trap { at: at.clone(), ending: *ending, pid }))
            }
            Trouble::Fail(Harm::Restart, part) if has(*part) => {
                let pid = self.control_plane.api_server_id().context("the API server has no process")?;
                Some(Snare::Trap(Trap { at: At::Part(*part), ending: Ending::Unsent, pid }))
            }
            Trouble::Fail(harm, part) if has(*part) => Some(Snare::Fault(Fault::new(*harm, *part))),
            Trouble::Nothing | Trouble::Fail(..) => None,
        })
    }

    /// Starts the operation, with the snare set before its first write.
    async fn trigger(&mut self, proxy: &Proxy, number: usize, snare: Option<Snare>) -> Result<()> {
        let mut app = self.run.case.documents(&Files::One("app.yaml".to_owned()))?.pop().context("no app")?;
        if self.automated {
            app["spec"]["syncPolicy"] = json!({"automated": {"prune": true, "selfHeal": true}});
            app["metadata"]["annotations"] = json!({"argocd.argoproj.io/refresh": "normal"});
            proxy.arm(snare);
            return self.run.cluster.apply(app, None).await;
        }
        if number == 0 {
            self.run.cluster.apply(app, None).await?;
            self.until(|app| app.pointer("/status/sync/status").is_some()).await?;
        }
        proxy.arm(snare);
        let fields = json!({"revision": "main", "prune": true, "syncStrategy": {"hook": {}}});
        let fields = fields.as_object().cloned().unwrap_or_default();
        self.run.sync(&Sync { app: self.scene.name.to_owned(), fields }).await
    }

    /// Waits for what ends a process, and starts that again.
    async fn suffer(&mut self, proxy: &Proxy, kubeconfig: &Path) -> Result<()> {
        let fired =
            async { timeout(PATIENCE, proxy.fired()).await.ok().context("the sync never came to the write to end at") };
        match self.trouble {
            Trouble::End { .. } => {
                fired.await?;
                let litecd = self.run.litecd()?;
                litecd.stop().await;
                litecd.start(Some(kubeconfig)).await
            }
            Trouble::Fail(Harm::Restart, _) => {
                fired.await?;
                self.control_plane.restart_api_server().await
            }
            Trouble::Nothing | Trouble::Fail(..) => Ok(()),
        }
    }

    async fn until(&mut self, is_reached: impl Fn(&Value) -> bool) -> Result<()> {
        let end = Instant::now() + PATIENCE;
        let place = Reference::argocd("Application", ARGOCD, self.scene.name);
        let mut last = Value::Null;
        while Instant::now() < end {
            last = self.run.cluster.get(&place).await?.unwrap_or_default();
            if is_reached(&last) {
                return Ok(());
            }
            sleep(Duration::from_millis(100)).await;
        }
        bail!("nothing more after {} seconds; the app's status is {}", PATIENCE.as_secs(), last["status"])
    }
}

/// Whether the operation of the sync of that number has ended: with success, once there is a history entry for it.
fn has_ended(app: &Value, number: usize) -> bool {
    let phase = app.pointer("/status/operationState/phase").and_then(Value::as_str);
    let entries = app.pointer("/status/history").and_then(Value::as_array).map_or(0, Vec::len);
    let is_over = match phase {
        Some("Succeeded") => entries > number,
        Some("Failed" | "Error") => true,
        _ => false,
    };
    app.get("operation").is_none() && is_over
}
