//! Takes out of observed objects what differs between two runs of the same thing.
//!
//! In:  objects as the API server gives them.  Out: what a golden holds.
//! Invariant: normalising what is normalised already changes nothing.

use std::collections::BTreeSet;
use std::sync::LazyLock;

use regex::Regex;
use serde_json::{Map, Value, json};

/// Metadata that the API server makes up anew for each object.
const MADE_BY_SERVER: [&str; 7] = [
    "uid",
    "resourceVersion",
    "generation",
    "creationTimestamp",
    "managedFields",
    "selfLink",
    "deletionGracePeriodSeconds",
];

/// Field managers that are part of the cluster, not of the controller under test.
const CLUSTER_MANAGERS: [&str; 4] = ["kube-controller-manager", "kwok", "kube-scheduler", "kube-apiserver"];

const LAST_APPLIED: &str = "kubectl.kubernetes.io/last-applied-configuration";

/// What is replaced in every text, in this order: a later pattern must not see what an earlier one has named.
static REPLACEMENTS: LazyLock<[(Regex, &str); 5]> = LazyLock::new(|| {
    [
        (r"--destination [^\s`]+", "--destination <dir>"),
        (r#""/(?:dev/shm|tmp)/[0-9]+""#, "\"<file>\""),
        (r"(?-u:\b)[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}(?-u:\b)", "<uid>"),
        (r"[0-9]{4}-[0-9]{2}-[0-9]{2}T[0-9]{2}:[0-9]{2}:[0-9]{2}(?:\.[0-9]+)?Z", "<time>"),
        (r"(?-u:\b)1[789][0-9]{8}(?-u:\b)", "<epoch>"),
    ]
    .map(|(source, name)| (Regex::new(source).expect("a constant pattern is valid"), name))
});

/// Replaces times, uids, epochs and temporary file names in one text.
pub fn clean_text(text: &str) -> String {
    let mut text = text.to_owned();
    for (pattern, name) in REPLACEMENTS.iter() {
        text = pattern.replace_all(&text, *name).into_owned();
    }
    text
}

/// Replaces times, uids, epochs and temporary file names in every text, and drops every `uid`.
pub fn clean(value: &Value) -> Value {
    match value {
        Value::Object(map) => map
            .iter()
            .filter(|(key, inner)| !(key.as_str() == "uid" && inner.as_str().is_some_and(is_uid)))
            .map(|(key, inner)| (key.clone(), clean(inner)))
            .collect::<Map<_, _>>()
            .into(),
        Value::Array(items) => items.iter().map(clean).collect(),
        Value::String(text) => clean_text(text).into(),
        other => other.clone(),
    }
}

fn is_uid(text: &str) -> bool {
    text.len() == 36 && text.bytes().all(|byte| matches!(byte, b'0'..=b'9' | b'a'..=b'f' | b'-'))
}

/// A managed object as a golden holds it: no status, and its field managers under `~managers`.
pub fn object(mut object: Value) -> Value {
    let managers = managers(&object);
    object = without_server_metadata(object);
    if let Some(last) = object.pointer_mut("/metadata/annotations").and_then(|all| all.get_mut(LAST_APPLIED))
        && let Some(parsed) = last.as_str().and_then(|text| serde_json::from_str(text).ok())
    {
        // As a value, so that the order of its keys does not count.
        *last = parsed;
    }
    if let Some(map) = object.as_object_mut() {
        map.remove("status");
    }
    match object.get("kind").and_then(Value::as_str) {
        Some("PersistentVolume") => remove(&mut object, "/spec/claimRef", "resourceVersion"),
        Some("Service") => service(&mut object),
        Some("Job") => job(&mut object),
        _ => {}
    }
    let mut object = clean(&object);
    if let Some(map) = object.as_object_mut() {
        map.insert("~managers".to_owned(), managers);
    }
    object
}

/// The object without the metadata that the API server makes up anew for each object.
pub fn without_server_metadata(mut object: Value) -> Value {
    if let Some(metadata) = object.get_mut("metadata").and_then(Value::as_object_mut) {
        for key in MADE_BY_SERVER {
            metadata.remove(key);
        }
    }
    object
}

fn managers(object: &Value) -> Value {
    let entries = object.pointer("/metadata/managedFields").and_then(Value::as_array).into_iter().flatten();
    let names: BTreeSet<String> = entries
        .filter_map(|entry| {
            let word = |key| entry.get(key).and_then(Value::as_str).filter(|text: &&str| !text.is_empty());
            let manager = word("manager").unwrap_or("None");
            if CLUSTER_MANAGERS.contains(&manager) {
                return None;
            }
            let subresource = word("subresource").map(|name| format!(":{name}")).unwrap_or_default();
            Some(format!("{manager}:{}{subresource}", word("operation").unwrap_or_default()))
        })
        .collect();
    names.into_iter().collect()
}

fn remove(object: &mut Value, parent: &str, key: &str) {
    if let Some(map) = object.pointer_mut(parent).and_then(Value::as_object_mut) {
        map.remove(key);
    }
}

/// Addresses and node ports are the cluster's choice.
fn service(object: &mut Value) {
    let Some(spec) = object.get_mut("spec").and_then(Value::as_object_mut) else { return };
    for key in ["clusterIP", "clusterIPs"] {
        if let Some(address) = spec.get_mut(key)
            && ![Value::Null, json!("None"), json!(["None"])].contains(address)
        {
            *address = json!("<ip>");
        }
    }
    for port in spec.get_mut("ports").and_then(Value::as_array_mut).into_iter().flatten() {
        if let Some(node_port) = port.get_mut("nodePort") {
            *node_port = json!("<port>");
        }
    }
}

/// The job controller stamps the Job's own uid on its labels.
fn job(object: &mut Value) {
    for labels in ["/metadata/labels", "/spec/template/metadata/labels", "/spec/selector/matchLabels"] {
        for key in ["controller-uid", "batch.kubernetes.io/controller-uid"] {
            if let Some(uid) = object.pointer_mut(labels).and_then(|all| all.get_mut(key)) {
                *uid = json!("<uid>");
            }
        }
    }
    remove(object, "/spec/template/metadata", "creationTimestamp");
}

/// An Application (or ApplicationSet) as a golden holds it: the metadata that users see, spec, status and a pending operation.
pub fn application(app: &Value) -> Value {
    let metadata = app.get("metadata").cloned().unwrap_or_default();
    let mut annotations = metadata.get("annotations").cloned().unwrap_or_default();
    if let Some(map) = annotations.as_object_mut() {
        map.retain(|key, _| !key.starts_with("kubectl.kubernetes.io/"));
    }
    let owners: Vec<String> = metadata
        .get("ownerReferences")
        .and_then(Value::as_array)
        .into_iter()
        .flatten()
        .map(|owner| format!("{}/{}", text(owner, "kind"), text(owner, "name")))
        .collect();
    let shown = [
        ("labels", metadata.get("labels").cloned().unwrap_or_default()),
        ("annotations", annotations),
        ("finalizers", metadata.get("finalizers").cloned().unwrap_or_default()),
        ("ownerReferences", json!(owners)),
        ("deleting", if metadata.get("deletionTimestamp").is_some() { json!(true) } else { Value::Null }),
    ];
    let shown: Map<String, Value> =
        shown.into_iter().filter(|(_, value)| !is_empty(value)).map(|(key, value)| (key.to_owned(), value)).collect();
    let status = app.get("status").filter(|status| !status.is_null()).cloned().unwrap_or(json!({}));
    let mut out = json!({ "metadata": shown, "spec": app.get("spec"), "status": status });
    if let Some(operation) = app.get("operation").filter(|operation| !is_empty(operation))
        && let Some(map) = out.as_object_mut()
    {
        map.insert("operation".to_owned(), operation.clone());
    }
    let mut out = clean(&out);
    for condition in out.pointer_mut("/status/conditions").and_then(Value::as_array_mut).into_iter().flatten() {
        if let Some(map) = condition.as_object_mut() {
            map.remove("lastTransitionTime");
        }
    }
    out
}

fn text<'v>(value: &'v Value, key: &str) -> &'v str {
    value.get(key).and_then(Value::as_str).unwrap_or_default()
}

/// True for what Go would leave out of JSON.
pub fn is_empty(value: &Value) -> bool {
    match value {
        Value::Null | Value::Bool(false) => true,
        Value::String(text) => text.is_empty(),
        Value::Array(items) => items.is_empty(),
        Value::Object(map) => map.is_empty(),
        _ => false,
    }
}
