//! What the pairs say: status per object, status of the application, health.
//!
//! In:  pairs with their differences.
//! Out: an [`Assessment`], the pure part of a comparison.
//! Source: APP-083 to APP-095, DIFF-102 to DIFF-110, HEALTH-055 to HEALTH-061 (`controller/state.go`, `controller/health.go`).

use serde_json::Value;

use super::{Namespaced, Paired};
use crate::api::application::{Application, ManagedNamespaceMetadata};
use crate::api::operation::OperationState;
use crate::api::status::{Condition, HealthStatus, ResourceStatus};
use crate::api::{GroupKind, ObjectExt, names};
use crate::diff::Difference;
use crate::health::{self, Code, Health, Item, Live};
use crate::sync::{self, hooks, order};
use crate::track::{self, Tracking};

/// Everything an assessment looks at.
pub struct Inputs<'a> {
    /// The application as stored.
    pub app: &'a Application,
    /// Pairs and hooks.
    pub paired: &'a Paired,
    /// One per pair; `None` when nothing was diffed.
    pub differences: Option<&'a [Difference]>,
    /// Whether either side could not be loaded, or the diff failed.
    pub failed: bool,
    /// How objects are tracked.
    pub tracking: &'a Tracking,
    /// Scope of kinds.
    pub namespaced: Namespaced<'a>,
    /// Whether the project permits a kind and name in a scope (`true` is namespaced).
    pub permits: &'a dyn Fn(&GroupKind, &str, bool) -> bool,
    /// Health of a live object.
    pub health: &'a dyn Fn(&Value) -> Result<Option<Health>, String>,
    /// Whether health is written per object.
    pub persist_health: bool,
}

/// The verdict on all pairs.
#[derive(Debug, Clone, Default)]
pub struct Assessment {
    /// `Synced`, `OutOfSync` or `Unknown`.
    pub sync: String,
    /// Health of the application.
    pub health: Code,
    /// One entry per pair, in pair order.
    pub resources: Vec<ResourceStatus>,
    /// Whether each pair's live object is this application's own, in pair order.
    pub self_referenced: Vec<bool>,
    /// What is to be said.
    pub conditions: Vec<Condition>,
}

/// Assesses all pairs.
pub fn assess(inputs: &Inputs<'_>) -> Assessment {
    let mut verdict = Assessment { sync: "Synced".to_owned(), ..Assessment::default() };
    for index in 0..inputs.paired.pairs.len() {
        assess_pair(inputs, index, &mut verdict);
    }
    if inputs.failed {
        verdict.sync = "Unknown".to_owned();
    } else if namespace_metadata_changed(inputs.app) {
        verdict.sync = "OutOfSync".to_owned();
    }
    assess_health(inputs, &mut verdict);
    verdict
}

fn assess_pair(inputs: &Inputs<'_>, index: usize, verdict: &mut Assessment) {
    let Some(pair) = inputs.paired.pairs.get(index) else { return };
    let Some(object) = pair.object() else { return };
    let (target, live) = (pair.target.as_ref(), pair.live.as_ref());
    let gvk = object.gvk();
    let scope = (inputs.namespaced)(&gvk.group_kind());
    let own = live.is_none_or(|live| track::is_self_referenced(live, target, inputs.tracking));
    let mut entry = ResourceStatus {
        group: gvk.group.clone(),
        version: gvk.version.clone(),
        kind: gvk.kind.clone(),
        namespace: object.namespace().to_owned(),
        name: object.name().to_owned(),
        hook: hooks::is_any_hook(object),
        requires_pruning: target.is_none() && live.is_some() && own,
        requires_deletion_confirmation: [target, live].into_iter().flatten().any(|o| needs_confirmation(o, inputs.app)),
        ..ResourceStatus::default()
    };
    entry.sync_wave = wave(inputs, target, &entry);
    let modified = inputs.differences.and_then(|list| list.get(index)).is_some_and(|difference| difference.modified);
    let untold = entry.hook || hooks::is_ignored(object) || target.is_some_and(hooks::is_skipped) || !own;
    let pending_namespace = live.is_none() && target.is_some_and(|t| is_managed_namespace(t, inputs.app));
    if untold {
        // Hooks, skipped objects and copies of another object's tracking id have no sync status.
    } else if !pending_namespace && (modified || target.is_none() || live.is_none()) {
        entry.status = "OutOfSync".to_owned();
        let extraneous = target.is_none() && object.has_annotation_option(names::COMPARE_OPTIONS, "IgnoreExtraneous");
        if !extraneous {
            verdict.sync = "OutOfSync".to_owned();
        }
    } else {
        entry.status = "Synced".to_owned();
    }
    // A kind that the cluster does not know is looked up as cluster-scoped (APP-088).
    if !(inputs.permits)(&gvk.group_kind(), object.name(), scope == Some(true)) || inputs.failed {
        entry.status = "Unknown".to_owned();
    }
    if scope == Some(true) && object.namespace().is_empty() {
        let text = format!("Namespace for {} {gvk} is missing.", object.name());
        verdict.conditions.push(Condition::new("InvalidSpecError", text));
    }
    verdict.resources.push(entry);
    verdict.self_referenced.push(own);
}

fn wave(inputs: &Inputs<'_>, target: Option<&Value>, entry: &ResourceStatus) -> i64 {
    if let Some(target) = target {
        return order::wave(target);
    }
    let same =
        |hook: &&Value| hook.name() == entry.name && hook.kind() == entry.kind && hook.namespace() == entry.namespace;
    if entry.hook { inputs.paired.hooks.iter().find(same).map_or(0, order::wave) } else { 0 }
}

/// Whether pruning or deletion of the object waits for approval (APP-094).
fn needs_confirmation(object: &Value, app: &Application) -> bool {
    ["Delete", "Prune"].into_iter().any(|key| {
        sync::object_option(object, key).or_else(|| sync::option_value(app.spec.sync_options(), key)) == Some("confirm")
    })
}

fn is_managed_namespace(object: &Value, app: &Application) -> bool {
    object.kind() == "Namespace"
        && object.name() == app.spec.destination.namespace
        && app.spec.managed_namespace_metadata().is_some()
}

/// Whether the namespace's wanted metadata differs from what the last sync applied (DIFF-117).
pub fn namespace_metadata_changed(app: &Application) -> bool {
    let applied = app.status.operation_state.as_ref().and_then(|state: &OperationState| state.sync_result.as_ref());
    let Some(applied) = applied else { return false };
    let wanted: Option<&ManagedNamespaceMetadata> = app.spec.managed_namespace_metadata();
    wanted.is_some() && wanted != applied.managed_namespace_metadata.as_ref()
}

fn assess_health(inputs: &Inputs<'_>, verdict: &mut Assessment) {
    let mut failure = None;
    let mut items = Vec::with_capacity(inputs.paired.pairs.len());
    for (pair, entry) in inputs.paired.pairs.iter().zip(&mut verdict.resources) {
        let live = pair.live.as_ref();
        let mut item = Item {
            is_skipped: pair.target.as_ref().is_some_and(hooks::is_skipped),
            is_hook: live.is_some_and(hooks::is_hook),
            is_ignored: live.is_some_and(hooks::is_ignored),
            live: live.map(|live| Live {
                ignores_healthcheck: live.annotation(names::IGNORE_HEALTHCHECK) == Some("true"),
                is_self: is_itself(live, inputs.app),
                is_application: live.kind() == "Application" && live.group() == names::GROUP,
                health: None,
            }),
        };
        let mut message = String::new();
        if let (true, Some(live), Some(known)) = (item.counts(), live, item.live.as_mut())
            && !known.ignores_healthcheck
            && !known.is_self
            && let Some(found) = health_of(inputs, live, &mut failure)
        {
            known.health = Some(found.status);
            message = found.message;
        }
        if inputs.persist_health {
            let own = item.own_health();
            entry.health =
                own.map(|code| HealthStatus { status: code.to_string(), message, last_transition_time: None });
        }
        items.push(item);
    }
    verdict.health = health::aggregate(&items);
    if let Some(text) = failure {
        verdict.conditions.push(Condition::new("ComparisonError", format!("error setting app health: {text}")));
    }
}

/// Health of one live object; the first failure is kept for the condition, and the object counts as `Unknown`.
fn health_of(inputs: &Inputs<'_>, live: &Value, failure: &mut Option<String>) -> Option<Health> {
    match (inputs.health)(live) {
        Ok(found) => found,
        Err(text) => {
            let (kind, name, namespace) = (live.kind(), live.name(), live.namespace());
            failure.get_or_insert_with(|| {
                format!(
                    "failed to get resource health for {kind:?} with name {name:?} in namespace {namespace:?}: {text}"
                )
            });
            Some(Health::new(Code::Unknown, text))
        }
    }
}

/// Whether a live object is the application itself.
fn is_itself(live: &Value, app: &Application) -> bool {
    live.group() == names::GROUP
        && live.kind() == "Application"
        && live.uid() == app.metadata.uid
        && live.name() == app.metadata.name
        && live.namespace() == app.metadata.namespace
}
