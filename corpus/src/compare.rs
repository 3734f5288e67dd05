//! Compares what was seen with what Argo CD was recorded doing.
//!
//! In:  the goldens of a case (its variants) and the snapshots of a run.
//! Out: one line for each difference, with its path, from the nearest variant.
//! Invariant: only orders that are chance in Argo CD itself are sorted away.

use std::collections::{BTreeMap, BTreeSet, HashMap};

use serde_json::{Map, Value, json};

/// What differs between a run and the goldens.
#[derive(Debug, Default)]
pub struct Comparison {
    /// The differences that count, each with its path.
    pub lines: Vec<String>,
    /// How many differences each part of the snapshots has, whether they count or not.
    pub tiers: BTreeMap<&'static str, usize>,
}

const TIERS: [&str; 6] = ["applications", "applicationsets", "objects", "posts", "event kinds", "events"];

/// Compares `got` with the nearest of `goldens`, snapshot by snapshot and tier by tier.
/// The text of events counts only with `events`; their types and reasons always do.
pub fn compare(goldens: &[Value], got: &Value, events: bool) -> Comparison {
    let goldens: Vec<Value> = goldens.iter().cloned().map(canon).collect();
    let got = canon(got.clone());
    let mut found = Comparison::default();
    let names = goldens.first().and_then(Value::as_object).into_iter().flat_map(Map::keys);
    let names: Vec<&String> = names.collect();
    for tier in TIERS {
        for name in &names {
            let seen = part(got.get(name.as_str()), tier);
            let nearest = goldens
                .iter()
                .filter_map(|golden| golden.get(name.as_str()))
                .map(|golden| differences(&part(Some(golden), tier), &seen, &format!("{name}:{tier}")))
                .min_by_key(Vec::len)
                .unwrap_or_default();
            *found.tiers.entry(tier).or_default() += nearest.len();
            if tier != "events" || events {
                found.lines.extend(nearest);
            }
        }
    }
    found
}

fn part(snapshot: Option<&Value>, tier: &str) -> Value {
    let empty = || json!({});
    let Some(snapshot) = snapshot else { return empty() };
    if tier != "event kinds" {
        return snapshot.get(tier).cloned().unwrap_or_else(empty);
    }
    let events = snapshot.get("events").and_then(Value::as_object);
    let kinds = events.into_iter().flatten().map(|(subject, messages)| {
        let messages = messages.as_array().into_iter().flatten().filter_map(Value::as_str);
        let kinds: BTreeSet<&str> = messages.filter_map(|message| message.split(':').next()).collect();
        (subject.clone(), json!(kinds))
    });
    kinds.collect::<Map<_, _>>().into()
}

/// Every difference between two values, each as `~`, `-` (missing) or `+` (unexpected) with its path.
pub fn differences(want: &Value, got: &Value, path: &str) -> Vec<String> {
    let mut lines = Vec::new();
    collect(want, got, path, &mut lines);
    lines
}

fn collect(want: &Value, got: &Value, path: &str, lines: &mut Vec<String>) {
    match (want, got) {
        (Value::Object(want), Value::Object(got)) => {
            let keys: BTreeSet<&String> = want.keys().chain(got.keys()).collect();
            for key in keys {
                pair(want.get(key), got.get(key), &format!("{path}/{key}"), lines);
            }
        }
        (Value::Array(want), Value::Array(got)) => {
            for i in 0..want.len().max(got.len()) {
                pair(want.get(i), got.get(i), &format!("{path}[{i}]"), lines);
            }
        }
        _ if same(want, got) => {}
        _ => lines.push(format!("~ {path}: expected {}, got {}", short(want), short(got))),
    }
}

fn pair(want: Option<&Value>, got: Option<&Value>, path: &str, lines: &mut Vec<String>) {
    match (want, got) {
        (Some(want), Some(got)) => collect(want, got, path, lines),
        (Some(want), None) => lines.push(format!("- {path}: {}", short(want))),
        (None, Some(got)) => lines.push(format!("+ {path}: {}", short(got))),
        (None, None) => {}
    }
}

/// Equality in which `1` and `1.0` are one number.
pub fn same(want: &Value, got: &Value) -> bool {
    match (want, got) {
        (Value::Number(a), Value::Number(b)) => a == b || (a.is_f64() != b.is_f64() && a.as_f64() == b.as_f64()),
        _ => want == got,
    }
}

/// A value on one line, cut after 300 characters.
pub fn short(value: &Value) -> String {
    let text = value.to_string();
    match text.char_indices().nth(300) {
        Some((end, _)) => format!("{}…", text.get(..end).unwrap_or_default()),
        None => text,
    }
}

/// Sorts the sync results whose order is chance.
///
/// Argo CD applies the objects of one kind in one wave (and prunes of any kind) at the same time and lists
/// their results as they come in.
pub fn canon(mut snapshots: Value) -> Value {
    let snapshots_map = snapshots.as_object_mut().into_iter().flat_map(Map::values_mut);
    let apps = snapshots_map.filter_map(|snapshot| snapshot.get_mut("applications")?.as_object_mut());
    for app in apps.flat_map(Map::values_mut) {
        let waves: HashMap<[String; 4], i64> = app
            .pointer("/status/resources")
            .and_then(Value::as_array)
            .into_iter()
            .flatten()
            .map(|resource| (identity(resource), resource.get("syncWave").and_then(Value::as_i64).unwrap_or(0)))
            .collect();
        let results = app.pointer_mut("/status/operationState/syncResult/resources").and_then(Value::as_array_mut);
        if let Some(results) = results {
            for batch in results.chunk_by_mut(|a, b| batch(a, &waves) == batch(b, &waves)) {
                batch.sort_by_key(identity);
            }
        }
    }
    snapshots
}

fn identity(resource: &Value) -> [String; 4] {
    ["group", "kind", "namespace", "name"].map(|key| match resource.get(key) {
        Some(Value::String(text)) => text.clone(),
        _ => String::new(),
    })
}

/// What the results of one batch have in common: phase, and either "prune" or kind, hook type and wave.
fn batch(result: &Value, waves: &HashMap<[String; 4], i64>) -> (Value, Option<(Value, Value, i64)>) {
    let word = |key| result.get(key).cloned().unwrap_or_default();
    let is_prune = result.get("status").and_then(Value::as_str).is_some_and(|status| status.starts_with("Prune"));
    let wave = waves.get(&identity(result)).copied().unwrap_or(0);
    (word("syncPhase"), (!is_prune).then(|| (word("kind"), word("hookType"), wave)))
}
