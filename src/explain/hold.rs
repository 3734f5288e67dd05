//! What can hold a sync, each found by itself.
//!
//! In:  the Application after a comparison.
//! Out: sentences about windows, objects and results that are in a sync's way.
//! Invariant: what the API server quotes of a Secret is not repeated.

use std::collections::BTreeSet;

use jiff::Timestamp;

use super::{Facts, heading};
use crate::api::operation::{OperationState, ResourceResult};
use crate::api::project::SyncWindow;
use crate::api::{GroupKind, ObjectExt, ResourceKey, names};
use crate::project::Windows;
use crate::sync;

/// Objects that are named in one sentence.
const NAMED: usize = 5;

/// Adds what windows say; whether they hold a sync that was asked for by a person or not, and that runs since a time.
pub fn windows(facts: &Facts, (manual, since): (bool, Option<Timestamp>), holds: &mut Vec<String>) -> bool {
    let windows = Windows::matching(&facts.windows, &facts.app);
    let held = match windows.can_sync(manual, facts.now, since) {
        Ok(true) => return false,
        Ok(false) => windows.holding(facts.now),
        Err(error) => Err(error),
    };
    match held {
        Ok(held) => holds.extend(held.into_iter().map(window)),
        Err(error) => holds.push(error.to_string()),
    }
    true
}

fn window(window: &SyncWindow) -> String {
    let zone = if window.time_zone.is_empty() { "UTC" } else { &window.time_zone };
    let what = match window.kind.as_str() {
        "allow" => "no sync window is open; syncs are allowed",
        _ => "a sync window denies syncs",
    };
    let by_hand = if window.manual_sync { "; a person may sync all the same" } else { "" };
    let about = if window.description.is_empty() { String::new() } else { format!(" ({})", window.description) };
    format!("{what} at {:?} for {} {zone}{about}{by_hand}", window.schedule, window.duration)
}

/// Adds what objects say: unknown kinds, kinds that the project forbids, prunes that are not allowed.
pub fn objects(facts: &Facts, holds: &mut Vec<String>) {
    unknown_kinds(facts, holds);
    let of = |what: &dyn Fn(usize) -> bool| -> Vec<ResourceKey> {
        let entries = facts.resources.iter().enumerate().filter(|(index, _)| what(*index));
        entries.map(|(_, entry)| entry.key()).collect()
    };
    let entry = |index: usize| facts.resources.get(index);
    let live = |index: usize| facts.paired.pairs.get(index).and_then(|pair| pair.live.as_ref());
    let forbidden = of(&|index| entry(index).is_some_and(|entry| entry.status == "Unknown"));
    if !forbidden.is_empty() && facts.status.status != "Unknown" {
        holds.push(format!("the project {} does not permit {}", facts.app.spec.project_name(), list(&forbidden)));
    }
    // Hooks are deleted by their own policies.
    let is_prune = |index: usize| entry(index).is_some_and(|entry| entry.requires_pruning && !entry.hook);
    let option = |index: usize| {
        let live = live(index)?;
        sync::object_option(live, "Prune").or_else(|| sync::option_value(facts.app.spec.sync_options(), "Prune"))
    };
    let prunes = of(&|index| is_prune(index) && option(index) != Some("false"));
    let why = match facts.app.spec.automated() {
        Some(automated) if automated.prune == Some(true) => None,
        Some(_) => Some("automated syncs do not prune (spec.syncPolicy.automated.prune); "),
        None => Some(""),
    };
    if let Some(why) = why.filter(|_| !prunes.is_empty()) {
        let names = list(&prunes);
        holds.push(format!("{names} left the sources and stays: {why}only a sync with prune removes it"));
    }
    let kept = of(&|index| is_prune(index) && option(index) == Some("false"));
    if !kept.is_empty() {
        holds.push(format!("{} left the sources and is kept by its sync option Prune=false", list(&kept)));
    }
    let asked = of(&|index| is_prune(index) && option(index) == Some("confirm"));
    if !asked.is_empty() && !facts.app.metadata.annotations.contains_key(names::DELETION_APPROVED) {
        let how = format!("annotation {} on the Application", names::DELETION_APPROVED);
        holds.push(format!("pruning {} waits for approval: {how}", list(&asked)));
    }
}

fn unknown_kinds(facts: &Facts, holds: &mut Vec<String>) {
    let targets = facts.paired.pairs.iter().filter_map(|pair| pair.target.as_ref());
    let missing: BTreeSet<GroupKind> =
        targets.map(ObjectExt::group_kind).filter(|kind| facts.unknown_kinds.contains(kind)).collect();
    for GroupKind { group, kind } in missing {
        let name = if group.is_empty() { kind } else { format!("{group}/{kind}") };
        holds.push(format!("the cluster does not know {name}: its CustomResourceDefinition is missing"));
    }
}

/// Adds the objects that a sync waits for or failed on, by the state of their results.
pub fn results(facts: &Facts, state: &OperationState, phase: &str, holds: &mut Vec<String>) {
    let results = state.sync_result.iter().flat_map(|result| &result.resources);
    for result in results.filter(|result| result.hook_phase == phase) {
        let key = key_of(result);
        let wave = facts.resources.iter().find(|entry| entry.key() == key).map_or(0, |entry| entry.sync_wave);
        let kind = if result.hook_type.is_empty() {
            format!("wave {wave} of {}", result.sync_phase)
        } else {
            format!("{} hook", result.hook_type)
        };
        let verb = if phase == "Running" { "waits for" } else { "failed on" };
        let message = unquoted(facts, &result.message);
        let message = if message.is_empty() { String::new() } else { format!(": {message}") };
        holds.push(format!("the sync {verb} {} ({kind}){message}", heading(&key)));
    }
}

fn key_of(result: &ResourceResult) -> ResourceKey {
    ResourceKey {
        group: result.group.clone(),
        kind: result.kind.clone(),
        namespace: result.namespace.clone(),
        name: result.name.clone(),
    }
}

/// What the API server quotes when it refuses an object stands behind these words.
const QUOTES: &str = "Invalid value";

/// A message without what the API server quotes, where a Secret may be quoted.
pub fn unquoted(facts: &Facts, message: &str) -> String {
    let state = facts.app.status.operation_state.as_ref();
    let results = state.and_then(|state| state.sync_result.as_ref()).map(|result| &result.resources);
    let is_secret = |result: &ResourceResult| result.group.is_empty() && result.kind == "Secret";
    let has_secret = results.is_some_and(|results| results.iter().any(is_secret))
        || facts.resources.iter().any(|entry| entry.group.is_empty() && entry.kind == "Secret");
    match message.split_once(QUOTES) {
        Some((before, _)) if has_secret => format!("{before}{QUOTES} (hidden, it may quote a Secret)"),
        _ => message.to_owned(),
    }
}

fn list(keys: &[ResourceKey]) -> String {
    let named = keys.iter().take(NAMED).map(heading).collect::<Vec<_>>().join(", ");
    match keys.len().saturating_sub(NAMED) {
        0 => named,
        more => format!("{named} and {more} more"),
    }
}
