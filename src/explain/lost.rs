//! Finds what left the sources and lives on because the API server forgot who put it there.
//!
//! In:  a desired and a live object.
//! Out: list items and map entries that only the live object has and that nobody owns any more.
//! Invariant: fields that the API server fills in by itself are not told from these, so only what has a name of its
//! own (an item with a key, an entry of a free map) is reported.
//! Source: apimachinery `managedfields/internal/{capmanagers,skipnonapplied}.go`: past ten updating managers the
//! oldest become `ancient-changes`; what existed before the first server-side apply belongs to `before-first-apply`.

use serde_json::Value;

use super::changes::Step;
use super::owners::{is_item, owners_of};
use crate::diff::fields::{self, Fields};

/// Names under which the API server keeps fields whose owner it does not know.
const FORGOTTEN: [&str; 2] = ["ancient-changes", "before-first-apply"];

/// Maps whose entries have names of their own, given by people.
const FREE_MAPS: [&str; 9] =
    ["annotations", "labels", "data", "stringData", "binaryData", "matchLabels", "nodeSelector", "limits", "requests"];

/// Something that lives on without an owner.
#[derive(Debug, Clone, PartialEq)]
pub struct Lost {
    /// Where.
    pub steps: Vec<Step>,
    /// The name that stands for the forgotten owner.
    pub manager: String,
    /// When what it stands for last changed.
    pub since: String,
}

/// What lives on in `live`, is not desired, and has no owner but a forgotten one.
pub fn lost(desired: &Value, live: &Value) -> Vec<Lost> {
    let mut found: Vec<Lost> = Vec::new();
    for owner in fields::owners(live) {
        if !FORGOTTEN.contains(&owner.manager.as_str()) || !owner.subresource.is_empty() {
            continue;
        }
        let mut places = Vec::new();
        walk(&owner.fields, (Some(desired), live), &mut Vec::new(), &mut places);
        for steps in places {
            let is_known = found.iter().any(|lost| lost.steps == steps);
            let is_owned = owners_of(live, &steps).iter().any(|other| !FORGOTTEN.contains(&other.manager.as_str()));
            if !is_known && !is_owned {
                found.push(Lost { steps, manager: owner.manager.clone(), since: owner.time.clone() });
            }
        }
    }
    found
}

fn walk(fields: &Fields, (desired, live): (Option<&Value>, &Value), steps: &mut Vec<Step>, found: &mut Vec<Vec<Step>>) {
    for (name, below) in &fields.children {
        match live {
            Value::Object(map) => {
                let Some(field) = name.strip_prefix("f:") else { continue };
                let Some(inner) = map.get(field).filter(|_| is_of_the_spec(field, steps)) else { continue };
                let twin = desired.and_then(|desired| desired.get(field));
                let is_entry = matches!(steps.last(), Some(Step::Field(map)) if FREE_MAPS.contains(&map.as_str()));
                steps.push(Step::Field(field.to_owned()));
                if is_entry && twin.is_none() {
                    found.push(steps.clone());
                } else {
                    walk(below, (twin, inner), steps, found);
                }
                steps.pop();
            }
            Value::Array(items) => {
                let Some((index, item)) = items.iter().enumerate().find(|(_, item)| is_item(name, item)) else {
                    continue;
                };
                let others = desired.and_then(Value::as_array).map(Vec::as_slice).unwrap_or_default();
                let twin = others.iter().find(|other| is_item(name, other));
                let key = item.get("name").map(|_| "name");
                steps.push(Step::Item { index, key, item: item.clone() });
                match twin {
                    None => found.push(steps.clone()),
                    Some(twin) => walk(below, (Some(twin), item), steps, found),
                }
                steps.pop();
            }
            _ => {}
        }
    }
}

/// Whether a field is people's: not the status, not what Kubernetes itself writes into metadata.
fn is_of_the_spec(field: &str, steps: &[Step]) -> bool {
    match steps {
        [] => field != "status",
        [Step::Field(root)] if root == "metadata" => matches!(field, "annotations" | "labels"),
        [Step::Field(root), Step::Field(_)] if root == "metadata" => {
            let domain = field.split_once('/').map_or("", |(domain, _)| domain);
            domain == "app.kubernetes.io" || !(domain.ends_with("kubernetes.io") || domain.ends_with("k8s.io"))
        }
        _ => true,
    }
}
