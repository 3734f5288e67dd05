//! Puts the answer to "why" together.
//!
//! In:  what is known after a comparison; perhaps the name of one object.
//! Out: a [`Report`], which [`Report::text`] writes for people and serde for scripts.
//! Invariant: values come from presentable sides only, in which Secrets are masked.

use serde::Serialize;
use serde_json::Value;

use super::changes::{changes, path, pointer};
use super::health::{Cause, causes};
use super::lost::lost;
use super::next::{Next, next};
use super::owners::{OwnerReport, owners_of};
use super::rules::{RuleNote, notes};
use super::shown::shown;
use super::{Facts, hold};
use crate::api::ResourceKey;
use crate::api::status::{Condition, ResourceStatus};
use crate::compare::Pair;
use crate::diff::{Difference, StartTimer, kept_data};

/// Why an application is what it is.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Report {
    /// Name of the Application.
    pub application: String,
    /// Its namespace.
    pub namespace: String,
    /// `Synced`, `OutOfSync` or `Unknown`.
    pub sync: String,
    /// What it was compared with.
    pub revisions: Vec<String>,
    /// Its health.
    pub health: String,
    /// The objects that make the health.
    pub health_causes: Vec<Cause>,
    /// What the comparison has to say.
    pub conditions: Vec<Condition>,
    /// What comes next, and what holds it.
    pub next: Next,
    /// Objects that are not as they should be, or those that were asked for.
    pub objects: Vec<ObjectReport>,
    /// How many objects there are in all.
    pub compared: usize,
}

/// One object.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct ObjectReport {
    /// API group, empty for core.
    pub group: String,
    /// Kind.
    pub kind: String,
    /// Namespace, empty for cluster-scoped objects.
    pub namespace: String,
    /// Name.
    pub name: String,
    /// `Synced`, `OutOfSync`, `Unknown`, or empty where hooks and the like have none.
    pub sync: String,
    /// One word: `same`, `differs`, `missing`, `extra`, or `unknown` when the application could not be compared.
    pub state: &'static str,
    /// Health code; empty where nobody defines one.
    pub health: String,
    /// What the health check says.
    pub health_message: String,
    /// Sync wave.
    pub wave: i64,
    /// Fields that differ.
    pub fields: Vec<FieldReport>,
    /// Ignore rules that concern the object.
    pub rules: Vec<RuleNote>,
    /// What lives on although it left the sources.
    pub lost: Vec<LostReport>,
    /// Data that the sources do not have and another field manager keeps.
    pub kept: Vec<KeptReport>,
}

/// The state of objects of which one side could not be loaded; what is absent then proves nothing.
const UNKNOWN: &str = "unknown";

/// A field that differs.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct FieldReport {
    /// Where, for people.
    pub path: String,
    /// Where, as an ignore rule takes it.
    pub pointer: String,
    /// What the sources want; absent when they do not want the field.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub desired: Option<Value>,
    /// What the cluster has; absent when it has no such field.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub live: Option<Value>,
    /// Who owns the live field.
    pub owners: Vec<OwnerReport>,
}

/// Something that lives on although it left the sources, because its owner was forgotten.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct LostReport {
    /// Where.
    pub path: String,
    /// What the API server calls the forgotten owner.
    pub manager: String,
    /// When what it stands for last changed.
    pub since: String,
}

/// Data that stays because another field manager owns it; the object is Synced beside it.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct KeptReport {
    /// Where.
    pub path: String,
    /// Who owns it.
    pub manager: String,
}

impl ObjectReport {
    /// The object's identity.
    pub fn key(&self) -> ResourceKey {
        ResourceKey {
            group: self.group.clone(),
            kind: self.kind.clone(),
            namespace: self.namespace.clone(),
            name: self.name.clone(),
        }
    }

    /// Whether there is anything to say about the object.
    fn is_remarkable(&self) -> bool {
        let stays = !self.lost.is_empty() || !self.kept.is_empty();
        self.state != UNKNOWN && (!matches!(self.sync.as_str(), "Synced" | "") || stays)
    }
}

/// Answers why; `wanted` names one object, such as `web`, `Deployment/web` or `apps/Deployment/shop/web`.
pub fn why(facts: &Facts, wanted: Option<&str>, timer: &StartTimer) -> Report {
    let status = &facts.status;
    let single = (!status.revision.is_empty()).then(|| status.revision.clone());
    let mut objects = Vec::new();
    for (index, (pair, entry)) in facts.paired.pairs.iter().zip(&facts.resources).enumerate() {
        if wanted.is_some_and(|wanted| !is_wanted(&entry.key(), wanted)) {
            continue;
        }
        let object = object(facts, (index, pair, entry), timer);
        if wanted.is_some() || object.is_remarkable() {
            objects.push(object);
        }
    }
    objects.sort_by_key(ObjectReport::key);
    let unquoted =
        |condition: &Condition| Condition { message: hold::unquoted(facts, &condition.message), ..condition.clone() };
    Report {
        application: facts.app.metadata.name.clone(),
        namespace: facts.app.metadata.namespace.clone(),
        sync: status.status.clone(),
        revisions: if status.revisions.is_empty() { single.into_iter().collect() } else { status.revisions.clone() },
        health: facts.health.clone(),
        health_causes: causes(facts),
        conditions: facts.conditions.iter().map(unquoted).collect(),
        next: next(facts),
        objects,
        compared: facts.resources.len(),
    }
}

/// Whether an object goes by a name. The last part is its name, those before are its kind, group or namespace.
fn is_wanted(key: &ResourceKey, wanted: &str) -> bool {
    let (rest, name) = wanted.rsplit_once('/').unwrap_or(("", wanted));
    let parts = [&key.group, &key.kind, &key.namespace];
    let is_part = |word: &str| word.is_empty() || parts.iter().any(|part| part.eq_ignore_ascii_case(word));
    key.name == name && rest.split('/').all(is_part)
}

fn object(facts: &Facts, (index, pair, entry): (usize, &Pair, &ResourceStatus), timer: &StartTimer) -> ObjectReport {
    let health = facts.healths.get(index).cloned().flatten().unwrap_or_default();
    let difference = facts.differences.get(index);
    let lost = match (&pair.target, &pair.live) {
        (Some(target), Some(live)) if facts.status.status != "Unknown" => lost(target, live),
        _ => Vec::new(),
    };
    let kept = match (&pair.target, &pair.live) {
        (Some(target), Some(live)) => kept_data(target, live),
        _ => Vec::new(),
    };
    let state = match (&pair.target, &pair.live) {
        _ if facts.status.status == "Unknown" => UNKNOWN,
        (None, _) => "extra",
        (_, None) => "missing",
        _ if difference.is_some_and(|difference| difference.modified) => "differs",
        _ => "same",
    };
    ObjectReport {
        group: entry.group.clone(),
        kind: entry.kind.clone(),
        namespace: entry.namespace.clone(),
        name: entry.name.clone(),
        sync: entry.status.clone(),
        state,
        health: health.status.to_string(),
        health_message: health.message,
        wave: entry.sync_wave,
        fields: difference.filter(|_| state == "differs").map(|d| fields(facts, d, pair)).unwrap_or_default(),
        rules: notes(pair, &facts.app.spec.ignore_differences, &facts.system, timer),
        lost: lost
            .into_iter()
            .map(|lost| LostReport { path: path(&lost.steps), manager: lost.manager, since: lost.since })
            .collect(),
        kept: kept.into_iter().map(|(path, manager)| KeptReport { path, manager }).collect(),
    }
}

/// The fields that differ. A Secret of a strange shape has none that can be shown.
fn fields(facts: &Facts, difference: &Difference, pair: &Pair) -> Vec<FieldReport> {
    let Ok(sides) = shown(difference, &facts.hidden) else { return Vec::new() };
    let (Some(live), Some(desired)) = (&sides.live, &sides.desired) else { return Vec::new() };
    let report = |change: super::changes::Change| FieldReport {
        path: path(&change.steps),
        pointer: pointer(&change.steps),
        owners: match (&change.live, &pair.live) {
            (Some(_), Some(live)) => owners_of(live, &change.steps),
            _ => Vec::new(),
        },
        desired: change.desired,
        live: change.live,
    };
    changes(live, desired).into_iter().map(report).collect()
}
