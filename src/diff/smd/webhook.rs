//! Takes what admission webhooks changed out of the answer to a dry run.
//!
//! In:  the object a server-side apply would leave, with its managedFields, and the live object.
//! Out: the answer with every field that Argo CD's manager does not own as it is live.
//! Invariant: fields that identify list items stay, or the items could not be matched.
//! Source: DIFF-050, DIFF-051 (`gitops-engine/pkg/diff/diff.go` removeWebhookMutation).

use serde_json::{Map, Value};

use super::place::{Items, Place};
use super::{merge, prune};
use crate::api::names::FIELD_MANAGER;
use crate::api::object::ObjectExt;
use crate::diff::fields::{self, Fields, field_step};

/// Why the answer could not be used.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum WebhookError {
    /// The answer has no managedFields.
    #[error(
        "error removing non config mutations for resource {kind}/{name}: predictedLive for resource {kind}/{name} must \
         have the managedFields"
    )]
    NoManagedFields {
        /// Kind of the object.
        kind: String,
        /// Name of the object.
        name: String,
    },
    /// Argo CD's manager owns nothing in it.
    #[error(
        "error removing non config mutations for resource {kind}/{name}: no managed fields found for manager: {}",
        FIELD_MANAGER
    )]
    NotOurs {
        /// Kind of the object.
        kind: String,
        /// Name of the object.
        name: String,
    },
}

/// The answer without webhooks' changes.
pub fn without_webhook_changes(answer: &Value, live: &Value) -> Result<Value, WebhookError> {
    let (kind, name) = (answer.kind().to_owned(), answer.name().to_owned());
    let owners = fields::owners(answer);
    if owners.is_empty() {
        return Err(WebhookError::NoManagedFields { kind, name });
    }
    let (mut ours, mut all) = (Fields::default(), Fields::default());
    for owner in owners.iter().chain(&fields::owners(live)) {
        all.extend(&owner.fields);
    }
    owners.iter().filter(|owner| owner.manager == FIELD_MANAGER).for_each(|owner| ours.extend(&owner.fields));
    if ours.is_empty() {
        return Err(WebhookError::NotOurs { kind, name });
    }
    let root = Place::root(answer, &all);
    let owned = only_owned(answer, root, &ours, &[]);
    let merged = merge::merge(live, &owned, root);
    // Merging brought back what the answer no longer has.
    Ok(prune::prune(merged, root, &merge::field_set(live, root), Some(&merge::field_set(answer, root))))
}

/// The value reduced to owned fields; `keys` are the fields that identify it in its list.
fn only_owned(value: &Value, place: Place<'_>, ours: &Fields, keys: &[String]) -> Value {
    match value {
        Value::Object(map) if !place.is_atomic_map() => {
            let mut kept = Map::new();
            for (name, value) in map {
                let child = match (ours.children.get(&field_step(name)), place.field(name)) {
                    (Some(ours), Some(place)) => Some(only_owned(value, place, ours, &[])),
                    _ => keys.contains(name).then(|| value.clone()),
                };
                kept.extend(child.map(|child| (name.clone(), child)));
            }
            kept.into()
        }
        Value::Array(list) => {
            let items = place.items();
            let Some(steps) = place.steps(&items, list) else { return value.clone() };
            let keys = if let Items::Keyed(keys) = &items { keys.as_slice() } else { &[] };
            let kept = steps.iter().zip(list).filter_map(|(step, item)| {
                ours.children.get(step).map(|ours| only_owned(item, place.item(step), ours, keys))
            });
            kept.collect::<Vec<_>>().into()
        }
        other => other.clone(),
    }
}
