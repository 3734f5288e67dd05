//! Compares the library's rules with Argo CD's own scripts, on objects that are not as they should be.
//!
//! In:  `$LITECD_HEALTH_LIBRARY`, a folder laid out as Argo CD's `resource_customizations`, and
//!      `$LITECD_REFERENCE/health-cases/cases.jsonl`, one object a line; one of them unset, the test says that it did
//!      not run.
//! Out: on every object with parts of it taken away, a rule says what the script says, and fails where the script fails.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use jiff::Timestamp;
use litecd::api::ObjectExt;
use litecd::health::{self, Overrides, Run, ScriptFolder};
use serde_json::{Value, json};

/// Kinds whose rules read more than the script does: the script looks at the last condition only, and the order of
/// conditions must change no verdict.
const ORDERLESS: [&str; 1] = ["ClusterExternalSecret"];

/// Kinds whose scripts fail without a field that their schemas demand, where the rule reads it as empty.
const DEMANDED: [&str; 8] = [
    "BackendTLSPolicy",
    "CloneSet",
    "GRPCRoute",
    "HTTPRoute",
    "InferenceService",
    "Policy",
    "PromotionStrategy",
    "StatefulSet",
];

fn scripts(dir: &Path, name: &str, found: &mut Vec<(String, String)>) {
    for entry in std::fs::read_dir(dir).expect("a folder") {
        let path = entry.expect("an entry").path();
        let file = path.file_name().and_then(|file| file.to_str()).unwrap_or_default();
        if path.is_dir() && file != "testdata" {
            scripts(&path, &if name.is_empty() { file.to_owned() } else { format!("{name}/{file}") }, found);
        } else if file == "health.lua" {
            found.push((name.to_owned(), std::fs::read_to_string(&path).expect("readable")));
        }
    }
}

/// The object with one part of it taken away or put out of order, each with what was done.
fn disturbed(object: &Value) -> Vec<(String, Value)> {
    let mut all = vec![("as it is".to_owned(), object.clone())];
    let mut with = |what: String, change: &dyn Fn(&mut Value)| {
        let mut changed = object.clone();
        change(&mut changed);
        all.push((what, changed));
    };
    for part in ["status", "spec"] {
        with(format!("no {part}"), &|object| drop(object.as_object_mut().and_then(|map| map.remove(part))));
        with(format!("null {part}"), &|object| object[part] = Value::Null);
        with(format!("empty {part}"), &|object| object[part] = json!({}));
        let fields = object[part].as_object().into_iter().flatten();
        for (field, value) in fields {
            with(format!("no {part}.{field}"), &|object| {
                drop(object[part].as_object_mut().map(|map| map.remove(field)))
            });
            if value.is_array() {
                with(format!("empty {part}.{field}"), &|object| object[part][field] = json!([]));
            } else if value.is_string() {
                with(format!("odd {part}.{field}"), &|object| object[part][field] = json!("Odd"));
            }
        }
    }
    with("a newer generation".to_owned(), &|object| object["metadata"]["generation"] = json!(1_000));
    with("a deletion".to_owned(), &|object| object["metadata"]["deletionTimestamp"] = json!("2026-01-01T00:00:00Z"));
    with("no annotations".to_owned(), &|object| drop(object.metadata_mut().remove("annotations")));
    for index in 0..object["status"]["conditions"].as_array().map_or(0, Vec::len) {
        for field in ["reason", "message"] {
            with(format!("no {field} in condition {index}"), &|object| {
                drop(object["status"]["conditions"][index].as_object_mut().map(|map| map.remove(field)));
            });
        }
        for status in ["True", "False", "Unknown"] {
            with(format!("{status} in condition {index}"), &|object| {
                object["status"]["conditions"][index]["status"] = json!(status);
            });
        }
    }
    all
}

#[test]
fn rules_say_what_argo_cd_s_scripts_say() {
    let (Some(library), Some(reference)) =
        (std::env::var_os("LITECD_HEALTH_LIBRARY"), std::env::var_os("LITECD_REFERENCE"))
    else {
        println!("not run: LITECD_HEALTH_LIBRARY or LITECD_REFERENCE is not set");
        return;
    };
    let mut found = Vec::new();
    scripts(Path::new(&library), "", &mut found);
    let clock = Arc::new(|| Run { now: Timestamp::UNIX_EPOCH, expired: Box::new(|| false) });
    let with_scripts = Overrides::new([].into(), |_, _| false, clock).with_folder(ScriptFolder::new(found));
    let lines = std::fs::read_to_string(PathBuf::from(reference).join("health-cases/cases.jsonl")).expect("cases");
    let (mut checked, mut wrong) = (0, Vec::new());
    for line in lines.lines() {
        let case: Value = serde_json::from_str(line).expect("a case is JSON");
        for (what, object) in disturbed(&case["object"]) {
            let script = health::by_rule(&object, &with_scripts);
            let rule = health::by_rule(&object, &Overrides::none());
            let agrees = match (&script, &rule) {
                (Ok(script), Ok(rule)) => script == rule || ORDERLESS.contains(&object.kind()),
                (Err(_), Err(_)) => true,
                (Err(_), Ok(_)) => DEMANDED.contains(&object.kind()),
                (Ok(_), Err(_)) => false,
            };
            checked += 1;
            if !agrees {
                wrong
                    .push(format!("{} {}, {what}:\n  script {script:?}\n  rule   {rule:?}", case["dir"], case["case"]));
            }
        }
    }
    println!("{checked} objects");
    assert!(checked > 10_000, "only {checked} objects");
    assert!(wrong.is_empty(), "{} of {checked}:\n{}", wrong.len(), wrong.join("\n"));
}
