//! The answers of the Go libraries (`corpus/golib/diff.jsonl`) are ours.

use serde_json::{Map, Value};

use crate::api::object::ObjectExt;
use crate::diff::normalize::{canonical_quantity, remarshal};
use crate::diff::{jq, jsonmerge, merge_patch, schema, smd, strategic};

const TABLE: &str = include_str!("../../../corpus/golib/diff.jsonl");

fn questions(kind: &str) -> Vec<Value> {
    let all = TABLE.lines().map(|line| serde_json::from_str::<Value>(line).unwrap());
    let found: Vec<Value> = all.filter(|entry| entry["question"] == kind).collect();
    assert!(!found.is_empty(), "no question of kind {kind}");
    found
}

fn map(entry: &Value, name: &str) -> Map<String, Value> {
    entry[name].as_object().unwrap().clone()
}

#[test]
fn strategic_patches_equal_apimachinery() {
    for entry in questions("strategic") {
        let (original, modified, current) = (map(&entry, "original"), map(&entry, "modified"), map(&entry, "current"));
        let root = schema::registered(&entry["original"].gvk()).unwrap();
        let patch = strategic::three_way(&original, &modified, &current, root);
        let expected = &entry["patch"];
        assert_eq!(patch.is_err(), expected.get("error").is_some(), "{patch:?}\n{entry}");
        let Ok(patch) = patch else { continue };
        assert_eq!(Value::Object(patch.clone()), expected["value"], "{entry}");
        let applied = strategic::apply(current, patch, root);
        assert_eq!(applied.is_err(), entry["applied"].get("error").is_some(), "{applied:?}\n{entry}");
        if let Ok(applied) = applied {
            assert_eq!(Value::Object(applied), entry["applied"]["value"], "{entry}");
        }
    }
}

#[test]
fn json_merge_patches_equal_apimachinery() {
    for entry in questions("jsonMerge") {
        let (original, modified, current) = (map(&entry, "original"), map(&entry, "modified"), map(&entry, "current"));
        let patch = jsonmerge::three_way(&original, &modified, &current);
        assert_eq!(patch.is_err(), entry["patch"].get("error").is_some(), "{patch:?}\n{entry}");
        let Ok(patch) = patch else { continue };
        assert_eq!(Value::Object(patch.clone()), entry["patch"]["value"], "{entry}");
        assert_eq!(merge_patch(&entry["current"], &patch.into()), entry["applied"]["value"], "{entry}");
    }
}

#[test]
fn server_side_apply_equals_structured_merge_diff() {
    for entry in questions("ownership") {
        let (target, mut live) = (&entry["target"], entry["live"].clone());
        let managed = entry["managedFields"].clone();
        if managed.is_array() {
            live["metadata"]["managedFields"] = managed.clone();
        }
        let expected = &entry["merged"];
        let merged = smd::apply(target, &live);
        if let Some(error) = expected.get("error").and_then(Value::as_str) {
            let ours = merged.unwrap_err().to_string();
            let ours = ours.split_once("resource: ").unwrap().1;
            assert_eq!(ours, error, "{entry}");
            continue;
        }
        let mut merged = merged.unwrap();
        merged["metadata"].as_object_mut().unwrap().remove("managedFields");
        let expected = if expected["value"].is_null() { &entry["live"] } else { &expected["value"] };
        assert_eq!(&merged, expected, "managed {managed}\ntarget {target}\nlive {}", entry["live"]);
    }
}

#[test]
fn quantities_are_written_as_kubernetes_stores_them() {
    let mut wrong = Vec::new();
    for entry in questions("quantity") {
        let text = entry["text"].as_str().unwrap();
        // The text comes out of JSON, where Go trims spaces first.
        if text.trim() != text {
            continue;
        }
        let ours = canonical_quantity(text);
        if ours.as_deref() != entry["canonical"].as_str() {
            wrong.push(format!("{text:?}: {ours:?}, Go {}", entry["canonical"]));
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
fn typed_pass_equals_go() {
    for entry in questions("canonical") {
        assert_eq!(remarshal(&entry["object"]), entry["canonical"], "{}", entry["object"]);
    }
}

/// Expressions that jaq understands otherwise than gojq, and what the difference is.
const JQ_DIFFERENCES: [&str; 0] = [];

#[test]
fn jq_expressions_delete_what_gojq_deletes() {
    let mut wrong = Vec::new();
    for entry in questions("jq") {
        let text = entry["expression"].as_str().unwrap();
        if JQ_DIFFERENCES.contains(&text) {
            continue;
        }
        let program = jq::Program::deleting(text);
        if let Some(error) = entry["compile"].as_str() {
            match program {
                Err(ours) if ours.to_string() == error => {}
                Err(ours) => wrong.push(format!("{text}: {ours}, gojq {error}")),
                Ok(_) => wrong.push(format!("{text}: compiles, gojq {error}")),
            }
            continue;
        }
        let output = match program {
            Ok(program) => program.run(&entry["input"], &|| false),
            Err(error) => {
                wrong.push(format!("{text}: {error}, gojq compiles"));
                continue;
            }
        };
        let expected = entry.get("output").filter(|output| output.is_object());
        if output.as_ref().ok() != expected {
            wrong.push(format!("{text}: {output:?}\n   gojq {expected:?}"));
        }
    }
    assert!(wrong.is_empty(), "{} differ\n{}", wrong.len(), wrong.join("\n"));
}
