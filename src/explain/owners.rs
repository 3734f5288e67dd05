//! Says who owns a field of a live object, and since when.
//!
//! In:  the live object with its managedFields; the steps to a place in it.
//! Out: the managers that own the place, or something in it.
//! Source: structured-merge-diff 6.4.0 `fieldpath`.

use serde::Serialize;
use serde_json::Value;

use super::changes::Step;

/// A manager that owns a place.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct OwnerReport {
    /// Its name.
    pub manager: String,
    /// `Apply` or `Update`.
    pub operation: String,
    /// Subresource it wrote, empty for the object itself.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub subresource: String,
    /// When it last changed something of what it owns, RFC 3339.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub since: String,
}

/// Who owns the place, or something in it.
pub fn owners_of(live: &Value, steps: &[Step]) -> Vec<OwnerReport> {
    let entries = live.pointer("/metadata/managedFields").and_then(Value::as_array).into_iter().flatten();
    let owning = entries.filter(|entry| entry.get("fieldsV1").is_some_and(|fields| owns(fields, steps)));
    owning.map(OwnerReport::read).collect()
}

impl OwnerReport {
    fn read(entry: &Value) -> Self {
        let text = |field: &str| entry.get(field).and_then(Value::as_str).unwrap_or_default().to_owned();
        Self {
            manager: text("manager"),
            operation: text("operation"),
            subresource: text("subresource"),
            since: text("time"),
        }
    }
}

/// FieldsV1 as it is written tells `{}`, a value owned with everything in it, from `{".": {}}`, a map owned without its
/// entries.
fn owns(fields: &Value, steps: &[Step]) -> bool {
    let Some((step, rest)) = steps.split_first() else { return true };
    let Some(below) = fields.as_object() else { return false };
    below.is_empty() || below.iter().any(|(name, below)| leads_to(name, step) && owns(below, rest))
}

/// Whether a step of managedFields leads where ours does.
fn leads_to(name: &str, step: &Step) -> bool {
    match step {
        Step::Field(field) => name.strip_prefix("f:") == Some(field),
        Step::Item { index, item, .. } => {
            is_item(name, item) || name.strip_prefix("i:").is_some_and(|text| text == index.to_string())
        }
    }
}

/// Whether a `k:` or `v:` step names this item; a key field that the item leaves out may have been defaulted.
pub fn is_item(name: &str, item: &Value) -> bool {
    let parsed = |prefix: &str| name.strip_prefix(prefix).and_then(|text| serde_json::from_str::<Value>(text).ok());
    if let Some(Value::Object(key)) = parsed("k:") {
        return item.is_object() && key.iter().all(|(field, value)| item.get(field).is_none_or(|own| own == value));
    }
    parsed("v:").is_some_and(|value| value == *item)
}
