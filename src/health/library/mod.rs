//! Health of well-known custom kinds, written as tables.
//!
//! In:  a live object and its key, `group/Kind`.
//! Out: its health when the library knows the kind.
//! Invariant: what an object does not say reads as absent. A rule fails only where Argo CD's script for the kind does,
//! such as on an object without status or spec, and in the same words: they stand in the application's condition.
//! Source: HEALTH-052, HEALTH-077, HEALTH-088, HEALTH-089; the texts are Argo CD's, the rules are litecd's own and are
//! checked against Argo CD's test data (`tests/health_cases.rs`).

mod api_gateways;
mod argo;
mod capabilities;
mod clusters;
mod compute;
mod crossplane;
mod databases;
mod flux;
mod gateway_api;
mod kubernetes;
mod messaging;
mod numaproj;
mod observability;
mod policies;
mod promoter;
mod promotion;
mod rollout;
mod rule;
mod search;
mod secrets;
mod serverless;
mod storage;
mod workloads;

use serde_json::Value;

use super::Health;
use rule::Rule;

pub use rule::Fault;

/// What one file of the library knows: keys with their rules.
type Kinds = &'static [(&'static str, Rule)];

/// Kinds by exact key.
const EXACT: &[Kinds] = &[
    kubernetes::KINDS,
    gateway_api::KINDS,
    argo::KINDS,
    rollout::KINDS,
    secrets::KINDS,
    flux::KINDS,
    crossplane::KINDS,
    observability::KINDS,
    messaging::KINDS,
    databases::KINDS,
    search::KINDS,
    storage::KINDS,
    serverless::KINDS,
    workloads::KINDS,
    compute::KINDS,
    clusters::KINDS,
    api_gateways::KINDS,
    policies::KINDS,
    promoter::KINDS,
    numaproj::KINDS,
    capabilities::KINDS,
];

/// Kinds by wildcard, looked at in this order when no exact key is found; `*` stands for any text without `/`.
const WILDCARD: &[Kinds] = &[crossplane::WILDCARDS, observability::WILDCARDS];

/// Health of an object whose kind the library knows.
///
/// # Errors
/// Fails where Argo CD's script for the kind fails.
pub fn health(key: &str, object: &Value) -> Result<Option<Health>, Fault> {
    let Some(rule) = rule(key) else { return Ok(None) };
    rule.iter().map(|step| step.health(object)).find(|found| !matches!(found, Ok(None))).unwrap_or(Ok(None))
}

/// Whether the library knows the kind.
pub fn knows(key: &str) -> bool {
    rule(key).is_some()
}

fn rule(key: &str) -> Option<Rule> {
    let find = |kinds: &[Kinds], matches: fn(&str, &str) -> bool| {
        kinds.iter().flat_map(|kinds| kinds.iter()).find(|(pattern, _)| matches(pattern, key)).map(|(_, rule)| *rule)
    };
    find(EXACT, |known, key| known == key).or_else(|| find(WILDCARD, matches_wildcard))
}

/// Matches `group/Kind` against a pattern whose group may start with `*` and whose kind is `*`.
fn matches_wildcard(pattern: &str, key: &str) -> bool {
    let (Some((group_pattern, _)), Some((group, _))) = (pattern.split_once('/'), key.split_once('/')) else {
        return false;
    };
    match group_pattern.strip_prefix('*') {
        Some(suffix) => group.ends_with(suffix),
        None => group == group_pattern,
    }
}
