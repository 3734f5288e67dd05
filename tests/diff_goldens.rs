//! Compares manifests with live objects from recorded Argo CD runs and expects Argo CD's verdicts.
//!
//! In:  `corpus/cases/*/*/golden*.yaml` (or the folder that `LITECD_CORPUS` names): rendered manifests, live objects,
//!      `status.resources`, and for some cases both sides of each modified object.
//! Out: a list of objects on which this room and Argo CD differ.
//! Invariant: recordings carry no managedFields, so applications that compare by ownership are left out.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use litecd::api::application::ResourceIgnoreDifferences;
use litecd::api::object::ObjectExt;
use litecd::diff::{Comparer, IgnoreRules, KnownTypeField, Settings, StatusField, SystemRules, TrackingRule};
use serde_json::{Value, json};

const LAST_APPLIED: &str = "kubectl.kubernetes.io/last-applied-configuration";

fn corpus() -> PathBuf {
    std::env::var_os("LITECD_CORPUS")
        .map_or_else(|| Path::new(env!("CARGO_MANIFEST_DIR")).join("corpus/cases"), PathBuf::from)
}

fn folders(root: &Path) -> Vec<PathBuf> {
    let mut found: Vec<_> = std::fs::read_dir(root)
        .unwrap_or_else(|error| panic!("{}: {error}", root.display()))
        .map(|entry| entry.unwrap().path())
        .filter(|path| path.is_dir())
        .collect();
    found.sort();
    found
}

fn yaml(path: &Path) -> Value {
    serde_yaml::from_str(&std::fs::read_to_string(path).unwrap())
        .unwrap_or_else(|error| panic!("{}: {error}", path.display()))
}

fn text<'a>(value: &'a Value, pointer: &str) -> &'a str {
    value.pointer(pointer).and_then(Value::as_str).unwrap_or_default()
}

/// A recorded object as the API server returned it: the annotation is text again.
fn live_object(recorded: &Value) -> Value {
    let mut object = recorded.clone();
    object.as_object_mut().unwrap().remove("~managers");
    if let Some(slot) = object.pointer_mut("/metadata/annotations").and_then(|map| map.get_mut(LAST_APPLIED))
        && !slot.is_string()
    {
        *slot = format!("{slot}\n").into();
    }
    if let Some(ips) = object.pointer_mut("/spec/clusterIPs").filter(|ips| ips.is_string()) {
        *ips = json!([ips]);
    }
    object
}

/// The parts of `argocd-cm` that a case sets and that matter here.
fn system_rules(config: &Value) -> SystemRules {
    let mut rules = SystemRules::default();
    let mut status = StatusField::All;
    let parsed = |text: &Value| serde_yaml::from_str::<Value>(text.as_str().unwrap_or_default()).unwrap();
    for (name, text) in config.as_object().into_iter().flatten() {
        if name == "resource.compareoptions" {
            let options = parsed(text);
            rules.ignore_aggregated_roles = options["ignoreAggregatedRoles"] == true;
            status = StatusField::parse(options["ignoreResourceStatusField"].as_str().unwrap_or("all")).unwrap();
        } else if let Some(target) = name.strip_prefix("resource.customizations.ignoreDifferences.") {
            let key = if target == "all" { "*/*".to_owned() } else { target.replace('_', "/") };
            rules.ignore.entry(key).or_default().extend(&ignore_rules(&parsed(text)));
        } else if let Some(target) = name.strip_prefix("resource.customizations.knownTypeFields.") {
            let known = parsed(text).as_array().cloned().unwrap_or_default().into_iter().map(|known| KnownTypeField {
                field: known["field"].as_str().unwrap_or_default().to_owned(),
                ty: known["type"].as_str().unwrap_or_default().to_owned(),
            });
            rules.known_types.insert(target.replace('_', "/"), known.collect());
        } else if name == "resource.customizations" {
            for (key, rule) in parsed(text).as_object().unwrap() {
                let rule = ignore_rules(&parsed(&rule["ignoreDifferences"]));
                rules.ignore.entry(key.clone()).or_default().extend(&rule);
            }
        }
    }
    rules.ignore_status(status);
    rules
}

fn ignore_rules(rule: &Value) -> IgnoreRules {
    let list = |name: &str| serde_json::from_value(rule[name].clone()).unwrap_or_default();
    IgnoreRules { json_pointers: list("jsonPointers"), jq: list("jqPathExpressions"), managers: Vec::new() }
}

/// `group/Kind namespace/name`, as recordings name objects.
fn key(object: &Value, namespace: &str) -> String {
    format!("{}/{} {namespace}/{}", object.group(), object.kind(), object.name())
}

struct Recorded<'a> {
    app: &'a Value,
    config: &'a Value,
    live: BTreeMap<String, Value>,
    manifests: Vec<Value>,
    diffs: Option<&'a Value>,
}

impl Recorded<'_> {
    fn comparer(&self) -> Option<Comparer> {
        let mut rules: Vec<ResourceIgnoreDifferences> = Vec::new();
        for rule in self.app.pointer("/spec/ignoreDifferences").and_then(Value::as_array).into_iter().flatten() {
            rules.push(serde_json::from_value(rule.clone()).unwrap());
        }
        let system = system_rules(self.config);
        let annotations = self.app.pointer("/metadata/annotations").map(Value::to_string).unwrap_or_default();
        let options = self.app.pointer("/spec/syncPolicy/syncOptions").map(Value::to_string).unwrap_or_default();
        let by_ownership = options.contains("ServerSideApply=true")
            || annotations.contains("ServerSideDiff=true")
            || rules.iter().any(|rule| !rule.managed_fields_managers.is_empty());
        if by_ownership {
            return None;
        }
        Comparer::new(Settings {
            app_rules: &rules,
            system: &system,
            tracking: TrackingRule {
                by_annotation: self.manifests.iter().any(|object| object.to_string().contains("/tracking-id")),
                label_key: self.config["application.instanceLabelKey"]
                    .as_str()
                    .unwrap_or("app.kubernetes.io/instance")
                    .to_owned(),
            },
            server_side_apply: false,
            timer: Arc::new(|| Box::new(|| false)),
        })
        .ok()
    }

    /// Checks every object that has both sides; returns how many were checked and what was wrong.
    fn check(&self, place: &str) -> (usize, Vec<String>) {
        let Some(comparer) = self.comparer() else { return (0, Vec::new()) };
        let (mut checked, mut wrong) = (0, Vec::new());
        let default = text(self.app, "/spec/destination/namespace");
        let statuses = self.app.pointer("/status/resources").and_then(Value::as_array);
        for manifest in &self.manifests {
            let given = if manifest.namespace().is_empty() { default } else { manifest.namespace() };
            let namespaced = key(manifest, given);
            let (name, live) = match (self.live.get(&namespaced), self.live.get(&key(manifest, ""))) {
                (Some(live), _) => (namespaced, live),
                (None, Some(live)) => (key(manifest, ""), live),
                (None, None) => continue,
            };
            if OBJECTS_LEFT_OUT.iter().any(|(object, _)| *object == name) {
                continue;
            }
            let shown = manifest.to_string();
            let moved = !manifest.namespace().is_empty() && live.namespace().is_empty();
            let converted = manifest.api_version() != live.api_version();
            if shown.contains("ServerSideApply=true") || shown.contains("++++++++") || moved || converted {
                continue;
            }
            let status = statuses.into_iter().flatten().find(|status| {
                text(status, "/kind") == manifest.kind()
                    && text(status, "/name") == manifest.name()
                    && text(status, "/group") == manifest.group()
                    && text(status, "/namespace") == live.namespace()
            });
            let expected = status.map(|status| text(status, "/status")).unwrap_or_default();
            if !matches!(expected, "Synced" | "OutOfSync") {
                continue;
            }
            let mut target = manifest.clone();
            if !live.namespace().is_empty() {
                target["metadata"]["namespace"] = live.namespace().into();
            }
            let found = match comparer.compare(Some(&target), Some(live)) {
                Ok(found) => found,
                Err(error) => {
                    wrong.push(format!("{place} {name}: {error}"));
                    continue;
                }
            };
            checked += 1;
            if found.modified != (expected == "OutOfSync") {
                let patch = litecd::diff::create_merge_patch(&found.live, &found.predicted);
                wrong.push(format!("{place} {name}: Argo CD says {expected}; {}", patch.unwrap_or_default()));
            }
            if let Some(recorded) = self.diffs.and_then(|diffs| diffs.get(&name)) {
                for (side, ours) in [("live", &found.live), ("predicted", &found.predicted)] {
                    let theirs = without_server_fields(&recorded[side]);
                    let ours = without_server_fields(ours);
                    if ours != theirs {
                        let patch = litecd::diff::create_merge_patch(&theirs, &ours);
                        wrong.push(format!("{place} {name} {side}: {}", patch.unwrap_or_default()));
                    }
                }
            }
        }
        (checked, wrong)
    }
}

/// Without what recordings drop, and without the last-applied text, whose form recordings do not keep.
fn without_server_fields(object: &Value) -> Value {
    let mut object = object.clone();
    if let Some(Value::Object(annotations)) = object.pointer_mut("/metadata/annotations") {
        annotations.remove(LAST_APPLIED);
        annotations.remove("deployment.kubernetes.io/revision");
    }
    if let Some(Value::Object(strategy)) = object.pointer_mut("/spec/strategy") {
        // A directive of the patch that Argo CD leaves in the predicted state; it is no field of a Deployment.
        strategy.remove("$retainKeys");
    }
    if let Some(Value::Object(spec)) = object.get_mut("spec") {
        spec.remove("clusterIP");
        spec.remove("clusterIPs");
    }
    if let Some(Value::Object(metadata)) = object.get_mut("metadata") {
        for name in ["managedFields", "resourceVersion", "uid", "generation", "creationTimestamp", "selfLink"] {
            metadata.remove(name);
        }
    }
    object
}

/// Cases whose compared state the recording does not hold, and why.
const LEFT_OUT: [(&str, &str); 2] = [
    ("render/multi-source-conflicts", "a data key `n` of the manifests is printed differently from the live one"),
    ("sync/dry-run-and-partial-operations", "local manifests are compared, the recorded ones are git's"),
];

/// Objects whose compared state the recording does not hold, and why.
const OBJECTS_LEFT_OUT: [(&str, &str); 3] = [
    ("copt.example.com/Widget demo-copt/agreeing", "recorded objects have no status, and here it is compared"),
    ("copt.example.com/Widget demo-copt/told", "recorded objects have no status, and here it is compared"),
    ("/ConfigMap demo-isys/everywhere", "ignored by field manager, and recorded objects have no managedFields"),
];

#[test]
fn verdicts_and_sides_equal_the_recordings() {
    let (mut checked, mut wrong) = (0, Vec::new());
    let empty = json!({});
    for area in folders(&corpus()) {
        for case in folders(&area) {
            let golden = case.join("golden.yaml");
            if !golden.exists() {
                continue;
            }
            let name = case.strip_prefix(corpus()).unwrap().display().to_string();
            if LEFT_OUT.iter().any(|(case, _)| *case == name) {
                continue;
            }
            let config = yaml(&case.join("case.yaml"))["config"]["cm"].clone();
            for (snapshot, content) in yaml(&golden).as_object().unwrap() {
                for (app_name, app) in content["applications"].as_object().into_iter().flatten() {
                    let Some(manifests) = content["manifests"].get(app_name).and_then(Value::as_array) else {
                        continue;
                    };
                    let live = content["objects"].as_object().unwrap_or(empty.as_object().unwrap());
                    let mut last: BTreeMap<String, Value> = BTreeMap::new();
                    for manifest in manifests {
                        let default = text(app, "/spec/destination/namespace");
                        let given = if manifest.namespace().is_empty() { default } else { manifest.namespace() };
                        last.insert(key(manifest, given), manifest.clone());
                    }
                    let recorded = Recorded {
                        app,
                        config: &config,
                        live: live.values().map(live_object).map(|live| (key(&live, live.namespace()), live)).collect(),
                        manifests: last.into_values().collect(),
                        diffs: content["diffs"].get(app_name),
                    };
                    let (count, found) = recorded.check(&format!("{name}#{snapshot}"));
                    checked += count;
                    wrong.extend(found);
                }
            }
        }
    }
    assert!(checked > 500, "only {checked} objects were compared");
    assert!(wrong.is_empty(), "{} of {checked} differ:\n{}", wrong.len(), wrong.join("\n"));
}
