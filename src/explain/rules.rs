//! Says which ignore rules concern an object, and what they do to it.
//!
//! In:  one pair; the application's rules and those of `argocd-cm`.
//! Out: a note per rule that matches, or that matches but for one of group, name and namespace.
//! Invariant: notes hold paths, never values.
//! Source: DIFF-073 to DIFF-085 (`util/argo/normalizers/diff_normalizer.go`).

use std::collections::{BTreeMap, BTreeSet};

use serde::Serialize;
use serde_json::Value;

use super::changes::{changes, path};
use crate::api::ObjectExt;
use crate::api::application::ResourceIgnoreDifferences;
use crate::compare::Pair;
use crate::diff::{Ignore, StartTimer, SystemRules, fields};
use crate::gocompat::glob;

/// What a rule does to an object.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub enum Effect {
    /// It hides these fields.
    Hides(Vec<String>),
    /// It hides what a manager changed, where both sides have the field.
    HidesWhatManagerChanged(String),
    /// It matches the object, but the field it names is on neither side.
    NoSuchField,
    /// It matches the object, but the manager it names owns nothing of it.
    ManagerOwnsNothing(String),
    /// It is meant for such a kind, but does not match this object.
    DoesNotMatch(String),
    /// It cannot be read, which makes every comparison fail.
    Unreadable(String),
}

/// A rule and what it does.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct RuleNote {
    /// Where the rule stands.
    pub origin: String,
    /// What it names.
    pub rule: String,
    /// What it does.
    pub effect: Effect,
}

/// Notes on all rules that concern the pair.
pub fn notes(
    pair: &Pair,
    app: &[ResourceIgnoreDifferences],
    system: &SystemRules,
    timer: &StartTimer,
) -> Vec<RuleNote> {
    let Some(object) = pair.object() else { return Vec::new() };
    let mut found = Vec::new();
    for (index, rule) in app.iter().enumerate() {
        let origin = format!("spec.ignoreDifferences[{index}]");
        if !glob::matches(&rule.kind, object.kind(), &[]) {
            continue;
        }
        let missed = mismatch(rule, object);
        for single in singles(rule) {
            let effect = match &missed {
                Some(reason) => Effect::DoesNotMatch(reason.clone()),
                None => effect(&single, pair, timer),
            };
            found.push(RuleNote { origin: origin.clone(), rule: named(&single), effect });
        }
    }
    found.extend(system_notes(pair, object, system, timer));
    found
}

/// Rules of `argocd-cm` that do something to the object; those for all kinds are too many to be named otherwise.
fn system_notes(pair: &Pair, object: &Value, system: &SystemRules, timer: &StartTimer) -> Vec<RuleNote> {
    let mut found = Vec::new();
    for (key, rules) in &system.ignore {
        let (group, kind) = key.split_once('/').unwrap_or(("", key));
        if !glob::matches(group, object.group(), &[]) || !glob::matches(kind, object.kind(), &[]) {
            continue;
        }
        let rule = ResourceIgnoreDifferences {
            group: group.to_owned(),
            kind: kind.to_owned(),
            json_pointers: rules.json_pointers.clone(),
            jq_path_expressions: rules.jq.clone(),
            managed_fields_managers: rules.managers.clone(),
            ..ResourceIgnoreDifferences::default()
        };
        for single in singles(&rule) {
            // Everybody's status is left out; that is no news.
            let is_status = single.json_pointers == ["/status"];
            let effect = effect(&single, pair, timer);
            let is_idle = matches!(effect, Effect::NoSuchField | Effect::ManagerOwnsNothing(_)) && key == "*/*";
            if !is_status && !is_idle {
                found.push(RuleNote { origin: format!("argocd-cm, {key}"), rule: named(&single), effect });
            }
        }
    }
    found
}

/// Why a rule for this kind does not match the object.
fn mismatch(rule: &ResourceIgnoreDifferences, object: &Value) -> Option<String> {
    let differs = |what: &str, wanted: &str, own: &str| format!("{what} {wanted:?} is wanted, the object's is {own:?}");
    if !glob::matches(&rule.group, object.group(), &[]) {
        return Some(differs("group", &rule.group, object.group()));
    }
    if !rule.namespace.is_empty() && rule.namespace != object.namespace() {
        return Some(differs("namespace", &rule.namespace, object.namespace()));
    }
    (!rule.name.is_empty() && rule.name != object.name()).then(|| differs("name", &rule.name, object.name()))
}

/// The rule taken apart, so that each part's effect shows.
fn singles(rule: &ResourceIgnoreDifferences) -> Vec<ResourceIgnoreDifferences> {
    let bare = ResourceIgnoreDifferences {
        json_pointers: Vec::new(),
        jq_path_expressions: Vec::new(),
        managed_fields_managers: Vec::new(),
        ..rule.clone()
    };
    let pointers = rule.json_pointers.iter().map(|text| vec![text.clone()]);
    let pointers = pointers.map(|json_pointers| ResourceIgnoreDifferences { json_pointers, ..bare.clone() });
    let jq = rule.jq_path_expressions.iter().map(|text| vec![text.clone()]);
    let jq = jq.map(|jq_path_expressions| ResourceIgnoreDifferences { jq_path_expressions, ..bare.clone() });
    let managers = rule.managed_fields_managers.iter().map(|text| vec![text.clone()]);
    let managers =
        managers.map(|managed_fields_managers| ResourceIgnoreDifferences { managed_fields_managers, ..bare.clone() });
    pointers.chain(jq).chain(managers).collect()
}

fn named(single: &ResourceIgnoreDifferences) -> String {
    let parts = [
        ("jsonPointers", &single.json_pointers),
        ("jqPathExpressions", &single.jq_path_expressions),
        ("managedFieldsManagers", &single.managed_fields_managers),
    ];
    let texts = parts.iter().filter_map(|(name, list)| Some(format!("{name} {}", list.first()?)));
    texts.collect::<Vec<_>>().join(", ")
}

fn effect(single: &ResourceIgnoreDifferences, pair: &Pair, timer: &StartTimer) -> Effect {
    if let Some(manager) = single.managed_fields_managers.first() {
        let owners = pair.live.as_ref().map(fields::owners).unwrap_or_default();
        return if owners.iter().any(|owner| owner.manager == *manager) {
            Effect::HidesWhatManagerChanged(manager.clone())
        } else {
            Effect::ManagerOwnsNothing(manager.clone())
        };
    }
    let ignore = match Ignore::new(std::slice::from_ref(single), &BTreeMap::new(), timer.clone()) {
        Ok(ignore) => ignore,
        Err(error) => return Effect::Unreadable(error.to_string()),
    };
    let mut hidden = BTreeSet::new();
    for object in [&pair.live, &pair.target].into_iter().flatten() {
        let after = ignore.apply(object.clone());
        hidden.extend(changes(object, &after).iter().map(|change| path(&change.steps)));
    }
    if hidden.is_empty() { Effect::NoSuchField } else { Effect::Hides(hidden.into_iter().collect()) }
}
