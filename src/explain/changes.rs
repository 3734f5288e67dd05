//! Finds the fields in which two objects differ.
//!
//! In:  a live and a desired tree.
//! Out: one [`Change`] per differing place, as deep as the trees are alike.
//! Invariant: items of a list are told apart by a key that all of them have, else by their place.

use serde_json::Value;

/// One step of a path.
#[derive(Debug, Clone, PartialEq)]
pub enum Step {
    /// Into a field.
    Field(String),
    /// Into an item of a list.
    Item {
        /// Its place, in the live list where it is there.
        index: usize,
        /// The key field that tells it apart, if there is one.
        key: Option<&'static str>,
        /// The item itself.
        item: Value,
    },
}

/// A place where two trees differ.
#[derive(Debug, Clone, PartialEq)]
pub struct Change {
    /// Where.
    pub steps: Vec<Step>,
    /// What the live side has.
    pub live: Option<Value>,
    /// What the desired side has.
    pub desired: Option<Value>,
}

/// Fields by which people tell the items of a list apart, the most telling first.
const KEYS: [&str; 9] = ["name", "mountPath", "containerPort", "port", "key", "ip", "topologyKey", "host", "type"];

/// The places where two trees differ.
pub fn changes(live: &Value, desired: &Value) -> Vec<Change> {
    let mut found = Vec::new();
    walk(Some(live), Some(desired), &mut Vec::new(), &mut found);
    found
}

fn walk(live: Option<&Value>, desired: Option<&Value>, steps: &mut Vec<Step>, found: &mut Vec<Change>) {
    match (live, desired) {
        (Some(live), Some(desired)) if live == desired => {}
        (Some(Value::Object(live)), Some(Value::Object(desired))) => {
            let only_desired = desired.keys().filter(|key| !live.contains_key(*key));
            for key in live.keys().chain(only_desired) {
                steps.push(Step::Field(key.clone()));
                walk(live.get(key), desired.get(key), steps, found);
                steps.pop();
            }
        }
        (Some(Value::Array(live)), Some(Value::Array(desired))) if has_objects(live) && has_objects(desired) => {
            walk_lists(live, desired, steps, found);
        }
        _ => found.push(Change { steps: steps.clone(), live: live.cloned(), desired: desired.cloned() }),
    }
}

/// Lists of plain values are read as a whole.
fn has_objects(items: &[Value]) -> bool {
    !items.is_empty() && items.iter().all(Value::is_object)
}

fn walk_lists(live: &[Value], desired: &[Value], steps: &mut Vec<Step>, found: &mut Vec<Change>) {
    let key = KEYS.into_iter().find(|key| tells_apart(live, key) && tells_apart(desired, key));
    let twin = |index: usize, item: &Value, others: &[Value]| match key {
        Some(key) => others.iter().position(|other| other.get(key) == item.get(key)),
        None => Some(index).filter(|index| *index < others.len()),
    };
    let mut visit = |index: usize, item: &Value, live: Option<&Value>, desired: Option<&Value>| {
        steps.push(Step::Item { index, key, item: item.clone() });
        walk(live, desired, steps, found);
        steps.pop();
    };
    for (index, item) in live.iter().enumerate() {
        let other = twin(index, item, desired).and_then(|place| desired.get(place));
        visit(index, item, Some(item), other);
    }
    for (index, item) in desired.iter().enumerate() {
        if twin(index, item, live).is_none() {
            visit(index, item, None, Some(item));
        }
    }
}

fn tells_apart(items: &[Value], key: &str) -> bool {
    let values: Vec<&Value> = items.iter().filter_map(|item| item.get(key)).collect();
    values.len() == items.len()
        && values.iter().enumerate().all(|(at, value)| !values.iter().skip(at + 1).any(|v| v == value))
}

/// A path as people read it: `spec.containers[name=web].image`.
pub fn path(steps: &[Step]) -> String {
    let mut text = String::new();
    for step in steps {
        match step {
            Step::Field(name) if name.chars().all(|c| c.is_ascii_alphanumeric() || c == '_' || c == '-') => {
                if !text.is_empty() {
                    text.push('.');
                }
                text.push_str(name);
            }
            Step::Field(name) => text.push_str(&format!("[{name:?}]")),
            Step::Item { index, key, item } => match key.and_then(|key| Some((key, item.get(key)?))) {
                Some((key, value)) => {
                    text.push_str(&format!("[{key}={}]", value.as_str().map_or(value.to_string(), str::to_owned)));
                }
                None => text.push_str(&format!("[{index}]")),
            },
        }
    }
    text
}

/// The path as a JSON pointer, as ignore rules take it.
pub fn pointer(steps: &[Step]) -> String {
    let part = |step: &Step| match step {
        Step::Field(name) => format!("/{}", name.replace('~', "~0").replace('/', "~1")),
        Step::Item { index, .. } => format!("/{index}"),
    };
    steps.iter().map(part).collect()
}
