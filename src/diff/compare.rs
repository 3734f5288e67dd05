//! Compares one desired with one live object.
//!
//! In:  the settings of a comparison, compiled once; then pairs of objects.
//! Out: a [`Difference`] per pair.
//! Invariant: both sides go through the same normalisation.
//! Source: DIFF-033, DIFF-043, DIFF-054 (`util/argo/diff/diff.go`, `gitops-engine/pkg/diff/diff.go` Diff).

use serde_json::Value;

use super::ignore::{Ignore, OwnRules, StartTimer};
use super::normalize::{self, KnownTypes, Normalizer, TrackingRule, adopt_tracking, remarshal};
use super::system::SystemRules;
use super::{Difference, Error, has_sync_option, smd, threeway};
use crate::api::application::ResourceIgnoreDifferences;
use crate::api::names::LAST_APPLIED;
use crate::api::object::ObjectExt;

/// What a comparer is made from.
pub struct Settings<'a> {
    /// The application's `spec.ignoreDifferences`.
    pub app_rules: &'a [ResourceIgnoreDifferences],
    /// Rules of `argocd-cm`.
    pub system: &'a SystemRules,
    /// How objects are tracked.
    pub tracking: TrackingRule,
    /// Whether the application has the sync option `ServerSideApply=true`.
    pub server_side_apply: bool,
    /// Starts the time limit of each jq run.
    pub timer: StartTimer,
}

/// The answer to a dry run of a server-side apply.
#[derive(Debug, Clone, Copy)]
pub struct DryRun<'a> {
    /// The object as it would be, managedFields included.
    pub answer: &'a Value,
    /// What becomes of fields that admission webhooks changed.
    pub webhooks: Webhooks,
    /// What becomes of fields that git dropped and that only client-side applies wrote.
    pub dropped: Dropped,
}

/// What becomes of fields that git dropped and that only client-side applies wrote: a dry run of a server-side apply
/// leaves them alone, the client-side apply of a sync removes them.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Dropped {
    /// They are gone in the prediction, so that a sync is due.
    Removed,
    /// They stay, as Argo CD has it.
    Left,
}

/// What becomes of fields that admission webhooks changed (DIFF-050).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Webhooks {
    /// They count (`IncludeMutationWebhook=true`).
    Kept,
    /// They are taken as live has them.
    Undone,
}

fn without_server_fields(mut object: Value) -> Value {
    let metadata = object.metadata_mut();
    metadata.remove("managedFields");
    metadata.remove("resourceVersion");
    if let Some(Value::Object(annotations)) = metadata.get_mut("annotations") {
        annotations.remove(LAST_APPLIED);
    }
    object
}

/// Compares the pairs of one comparison.
pub struct Comparer {
    pub(super) normalizer: Normalizer,
    tracking: TrackingRule,
    server_side_apply: bool,
}

impl Comparer {
    /// Compiles the rules; an expression that does not compile is an error.
    pub fn new(settings: Settings<'_>) -> Result<Self, Error> {
        Ok(Self {
            normalizer: Normalizer {
                ignore: Ignore::new(settings.app_rules, &settings.system.ignore, settings.timer)?,
                known: KnownTypes::new(&settings.system.known_types),
                ignore_aggregated_roles: settings.system.ignore_aggregated_roles,
            },
            tracking: settings.tracking,
            server_side_apply: settings.server_side_apply,
        })
    }

    /// Compares a desired with a live object; one of them may be absent.
    pub fn compare(&self, target: Option<&Value>, live: Option<&Value>) -> Result<Difference, Error> {
        let own = target.map(OwnRules::of).unwrap_or_default();
        let ready = |object: &Value| self.normalizer.normalize(remarshal(object), &own);
        match (target, live) {
            (None, None) => Err(Error::Nothing),
            (None, Some(live)) => Ok(Difference { modified: false, live: ready(live), predicted: Value::Null }),
            (Some(target), None) => Ok(Difference { modified: true, live: Value::Null, predicted: ready(target) }),
            (Some(target), Some(live)) => {
                let (target, live) = self.prepare(target, live);
                self.predict(&ready(&target), &ready(&live), &own)
            }
        }
    }

    /// The object to send as a dry run of a server-side apply: ignored fields stay in, for the server must see them.
    pub fn dry_run_object(&self, target: &Value, live: &Value) -> Value {
        let (target, _) = self.prepare(target, live);
        normalize::light(remarshal(&target), self.normalizer.ignore_aggregated_roles)
    }

    /// Compares the live object with the answer to [`Self::dry_run_object`].
    ///
    pub fn compare_dry_run(&self, target: &Value, live: &Value, run: &DryRun<'_>) -> Result<Difference, Error> {
        let own = OwnRules::of(target);
        let (target, live) = self.prepare(target, live);
        let light = |object: Value| normalize::light(object, self.normalizer.ignore_aggregated_roles);
        let live = light(remarshal(&live));
        let mut predicted = match run.webhooks {
            Webhooks::Kept => run.answer.clone(),
            Webhooks::Undone => smd::without_webhook_changes(run.answer, &live)?,
        };
        if run.dropped == Dropped::Removed
            && let Some(original) = threeway::last_applied(&live)
        {
            let original = light(normalize::numbers(&original));
            predicted = threeway::without_dropped(&original, &light(remarshal(&target)), predicted)?;
        }
        let ready = |object: Value| without_server_fields(self.normalizer.normalize(object, &own));
        Ok(Difference::between(ready(live), ready(remarshal(&predicted))))
    }

    /// Tracking and field managers: what depends on both sides and comes before everything else.
    pub(super) fn prepare(&self, target: &Value, live: &Value) -> (Value, Value) {
        let live = adopt_tracking(target, live.clone(), &self.tracking);
        let managers = self.normalizer.ignore.managers(target);
        if managers.is_empty() {
            return (target.clone(), live);
        }
        smd::without_managed(target, &live, &managers)
    }

    fn predict(&self, target: &Value, live: &Value, own: &OwnRules) -> Result<Difference, Error> {
        if self.server_side_apply || has_sync_option(target, "ServerSideApply=true") {
            return Ok(smd::compare(target, live)?);
        }
        let original = threeway::last_applied(live);
        let original = original.map(|original| self.normalizer.normalize(normalize::numbers(&original), own));
        Ok(threeway::compare(original.as_ref(), target, live)?)
    }
}
