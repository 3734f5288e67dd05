//! Brings rendered manifests into the form that is compared.
//!
//! In:  manifests in source order.
//! Out: one target per key, with namespaces and tracking as they will be applied, and warnings.
//! Source: APP-075 to APP-078, DIFF-011 to DIFF-019 (`controller/state.go` `NormalizeTargetObjects`).

use std::collections::HashMap;

use serde_json::Value;

use super::Namespaced;
use crate::api::status::Condition;
use crate::api::{ObjectExt, ResourceKey};
use crate::settings::ResourceFilter;
use crate::sync::hooks::{self, DeleteHook};
use crate::track::{self, Tracking};

/// What targets are normalised with.
pub struct Context<'a> {
    /// Instance name of the application.
    pub instance: &'a str,
    /// `spec.destination.namespace`.
    pub namespace: &'a str,
    /// How objects are tracked.
    pub tracking: &'a Tracking,
    /// Scope of kinds.
    pub namespaced: Namespaced<'a>,
    /// Kinds left out by the settings.
    pub filter: &'a ResourceFilter,
    /// API server URL of the destination, for the filter.
    pub server: &'a str,
}

/// Targets and what is to be said about them.
#[derive(Debug, Default)]
pub struct Normalized {
    /// One target per key.
    pub targets: Vec<Value>,
    /// `RepeatedResourceWarning`s and `ExcludedResourceWarning`s.
    pub conditions: Vec<Condition>,
}

/// Defaults namespaces, keeps the last of equal keys, and drops excluded kinds.
pub fn normalize(manifests: Vec<Value>, context: &Context<'_>) -> Normalized {
    let mut problems = Vec::new();
    let mut order: Vec<ResourceKey> = Vec::with_capacity(manifests.len());
    let mut by_key: HashMap<ResourceKey, (Value, usize)> = HashMap::with_capacity(manifests.len());
    for (index, mut target) in manifests.into_iter().enumerate() {
        default_namespace(&mut target, context, &mut problems);
        let mut key = target.key();
        if key.name.is_empty() {
            key.name = format!("{}{index}", target.meta_str("generateName"));
        }
        match by_key.get_mut(&key) {
            Some((kept, count)) => {
                *kept = target;
                *count += 1;
            }
            None => {
                order.push(key.clone());
                by_key.insert(key, (target, 1));
            }
        }
    }
    let mut normalized = Normalized::default();
    normalized.conditions.extend(problems.into_iter().map(|text| Condition::new("ComparisonError", text)));
    for key in order {
        let Some((target, count)) = by_key.remove(&key) else { continue };
        if count > 1 {
            let text = format!("Resource {key} appeared {count} times among application resources.");
            normalized.conditions.push(Condition::new("RepeatedResourceWarning", text));
        }
        if context.filter.is_excluded(&key.group, &key.kind, context.server) {
            let text = format!("Resource {}/{} {} is excluded in the settings", key.group, key.kind, target.name());
            normalized.conditions.push(Condition::new("ExcludedResourceWarning", text));
        } else {
            normalized.targets.push(target);
        }
    }
    normalized
}

fn default_namespace(target: &mut Value, context: &Context<'_>, problems: &mut Vec<String>) {
    let namespaced = (context.namespaced)(&target.group_kind()).unwrap_or(true);
    if !namespaced {
        if target.namespace().is_empty() {
            return;
        }
        target.metadata_mut().remove("namespace");
    } else if target.namespace().is_empty() && !context.namespace.is_empty() {
        target.metadata_mut().insert("namespace".to_owned(), context.namespace.into());
    } else {
        return;
    }
    // The tracking id holds the namespace.
    if let Err(error) = track::set(target, context.tracking, context.instance, context.namespace) {
        problems.push(format!("Failed to normalize target state: {error}"));
    }
}

/// Targets without those that only run at deletion, and whether such hooks exist `(pre-delete, post-delete)`.
pub fn split_delete_hooks(targets: Vec<Value>) -> (Vec<Value>, bool, bool) {
    let (mut pre, mut post) = (false, false);
    let kept = targets
        .into_iter()
        .filter(|target| {
            let (is_pre, is_post) =
                (DeleteHook::PreDelete.is_type_of(target), DeleteHook::PostDelete.is_type_of(target));
            pre |= is_pre;
            post |= is_post;
            !(is_pre || is_post) || hooks::has_sync_phase(target)
        })
        .collect();
    (kept, pre, post)
}
