//! Finds which pairs of a comparison differ, here or by asking the API server.
//!
//! In:  pairs, the application's and the settings' rules.
//! Out: the difference of each pair, and the comparer for what a sync needs of it.
//! Invariant: one pair that cannot be compared fails them all; a failed dry run is never remembered.
//! Source: DIFF-010, DIFF-033, DIFF-047 to DIFF-053, DIFF-118 (`controller/state.go` `CompareAppState`).

use std::hash::{DefaultHasher, Hash, Hasher};

use futures::stream::{self, StreamExt};
use serde_json::Value;

use super::clock;
use super::config::InForce;
use super::context::Context;
use super::destination::Destination;
use super::dry_runs::Unchanged;
use super::queue::AppKey;
use crate::api::{Application, ObjectExt, names};
use crate::compare::{Pair, Paired};
use crate::diff::{self, Comparer, Difference, Dropped, DryRun, Error, TrackingRule, Webhooks};
use crate::track::Method;

/// How many dry runs of one application are under way at a time.
const AT_A_TIME: usize = 8;

/// Who asks, and where.
pub struct Asking<'a> {
    /// Shared state.
    pub ctx: &'a Context,
    /// Settings in force.
    pub settings: &'a InForce,
    /// The application.
    pub app: &'a Application,
    /// Where its objects are.
    pub destination: &'a Destination,
}

/// The difference of each pair.
pub async fn find(asking: &Asking<'_>, paired: &Paired) -> Result<(Comparer, Vec<Difference>), Error> {
    let comparer = comparer(asking)?;
    let differences = if by_server(asking) {
        asking.ask(&comparer, paired).await?
    } else {
        asking.ctx.dry_runs.forget(&AppKey::of(asking.app));
        paired.pairs.iter().map(|pair| locally(&comparer, pair)).collect::<Result<_, _>>()?
    };
    Ok((comparer, differences))
}

fn comparer(asking: &Asking<'_>) -> Result<Comparer, Error> {
    let (app, tracking) = (asking.app, &asking.settings.tracking);
    Comparer::new(diff::Settings {
        app_rules: &app.spec.ignore_differences,
        system: &asking.settings.diff,
        tracking: TrackingRule {
            by_annotation: tracking.method != Method::Label,
            label_key: tracking.label_key.clone(),
        },
        server_side_apply: app.spec.sync_options().iter().any(|option| option == "ServerSideApply=true"),
        timer: clock::jq_timer(),
    })
}

fn locally(comparer: &Comparer, pair: &Pair) -> Result<Difference, Error> {
    comparer.compare(pair.target.as_ref(), pair.live.as_ref())
}

/// Whether the API server predicts: by parameter or annotation, and never when the annotation says no (DIFF-047).
fn by_server(asking: &Asking<'_>) -> bool {
    let wanted = asking.ctx.parameters.server_side_diff || has_option(asking.app, "ServerSideDiff=true");
    wanted && !has_option(asking.app, "ServerSideDiff=false")
}

fn has_option(app: &Application, option: &str) -> bool {
    let options = app.metadata.annotations.get(names::COMPARE_OPTIONS);
    options.is_some_and(|options| options.split(',').any(|found| found.trim() == option))
}

impl Asking<'_> {
    /// Asks for each pair that differs or changed since the last comparison; a requested refresh asks for all.
    async fn ask(&self, comparer: &Comparer, paired: &Paired) -> Result<Vec<Difference>, Error> {
        let key = AppKey::of(self.app);
        let fresh = self.app.metadata.annotations.contains_key(names::REFRESH);
        let known = if fresh { Unchanged::new() } else { self.ctx.dry_runs.of(&key) };
        let webhooks =
            if has_option(self.app, "IncludeMutationWebhook=true") { Webhooks::Kept } else { Webhooks::Undone };
        let spec = &self.app.spec;
        let dropped = self.dropped();
        let rules = digest((
            dropped == Dropped::Removed,
            &self.settings.diff,
            serde_json::to_string(&spec.ignore_differences).ok(),
            spec.sync_options(),
            format!("{:?}", self.settings.tracking),
        ));
        let answers: Vec<_> = stream::iter(&paired.pairs)
            .map(|pair| async {
                let (Some(target), Some(live)) = (&pair.target, &pair.live) else {
                    return locally(comparer, pair).map(|difference| (None, difference));
                };
                let (object, asked) =
                    (digest(target.key()), question(target, live, (rules, webhooks == Webhooks::Kept)));
                let difference = if known.get(&object) == Some(&asked) {
                    Difference::none(live)
                } else {
                    self.dry_run(comparer, (target, live), (webhooks, dropped)).await?
                };
                Ok(((!difference.modified).then_some((object, asked)), difference))
            })
            .buffered(AT_A_TIME)
            .collect()
            .await;
        // What was answered is kept although another answer failed: the next attempt asks for the rest only.
        let unchanged = answers.iter().filter_map(|answer: &Result<_, Error>| answer.as_ref().ok()?.0);
        self.ctx.dry_runs.keep(&key, unchanged.collect());
        answers.into_iter().map(|answer| answer.map(|(_, difference)| difference)).collect()
    }

    /// Argo CD calls an object Synced that holds fields which git dropped, and so never removes them. An application that
    /// syncs by itself is told, and removes them; one that is synced by hand has Argo CD's verdict.
    fn dropped(&self) -> Dropped {
        if self.app.spec.automated().is_some() { Dropped::Removed } else { Dropped::Left }
    }

    async fn dry_run(
        &self,
        comparer: &Comparer,
        (target, live): (&Value, &Value),
        (webhooks, dropped): (Webhooks, Dropped),
    ) -> Result<Difference, Error> {
        let object = comparer.dry_run_object(target, live);
        let answer = self.destination.cluster.predict(&object, names::FIELD_MANAGER).await;
        let answer = answer.map_err(|error| Error::DryRun {
            kind: target.kind().to_owned(),
            name: target.name().to_owned(),
            text: error.to_string(),
        })?;
        comparer.compare_dry_run(target, live, &DryRun { answer: &answer, webhooks, dropped })
    }
}

/// Digest of everything an answer depends on, but for what admission decides.
fn question(target: &Value, live: &Value, rules: (u64, bool)) -> u64 {
    digest((target.to_string(), live.uid(), live.resource_version(), rules))
}

fn digest(of: impl Hash) -> u64 {
    let mut hasher = DefaultHasher::new();
    of.hash(&mut hasher);
    hasher.finish()
}
