//! No value of a Secret reaches any output.

use std::collections::BTreeSet;

use base64::Engine;
use serde_json::{Value, json};

use super::{app, facts, live, pair, timer};
use crate::api::{ObjectExt, names};
use crate::compare::Pair;
use crate::explain::diff::{Input, Room, of};
use crate::explain::{Facts, why};

const CANARY: &str = "canary-of-the-cluster";
const OTHER: &str = "canary-of-the-sources";

fn base64(text: &str) -> String {
    base64::engine::general_purpose::STANDARD.encode(text)
}

fn secret(part: &str, data: Value) -> Value {
    json!({"apiVersion": "v1", "kind": "Secret", "metadata": {"name": "s", "namespace": "shop"}, part: data})
}

/// A Secret with a part that is indented one step too far.
fn indented(part: &str, data: Value) -> Value {
    let mut secret = secret("type", json!("Opaque"));
    secret.metadata_mut().insert(part.to_owned(), data);
    secret
}

/// Everything that can be printed about the facts.
fn outputs(facts: &Facts) -> String {
    let input = Input {
        app: &facts.app,
        status: &facts.status,
        resources: &facts.resources,
        differences: &facts.differences,
        pairs: &facts.paired.pairs,
        hidden: &facts.hidden,
    };
    let report = why(facts, Some("s"), &timer());
    let json = serde_json::to_string_pretty(&report).expect("JSON");
    format!("{}\n{}\n{json}", of(&input, Room::ENDLESS).text, report.text())
}

#[track_caller]
fn check(pairs: Vec<Pair>, extra: Value) -> String {
    let mut facts = facts(app(extra), pairs);
    facts.hidden = BTreeSet::from(["token".to_owned()]);
    let text = outputs(&facts);
    assert!(text.contains("Secret "), "{text}");
    for canary in [CANARY, OTHER] {
        for shape in [canary.to_owned(), base64(canary)] {
            assert!(!text.contains(&shape), "{shape} is in:\n{text}");
        }
    }
    text
}

#[test]
fn values_are_masked_and_equal_ones_look_equal() {
    let target = secret("stringData", json!({"changed": OTHER, "same": CANARY}));
    let mut there = live(secret("data", json!({"changed": base64(CANARY), "same": base64(CANARY)})), json!([]));
    let applied = secret("data", json!({"changed": base64(CANARY), "same": base64(CANARY)})).to_string();
    there.set_annotation(names::LAST_APPLIED, &applied);
    there.set_annotation("token", CANARY);
    let rules = json!([{"kind": "Secret", "jsonPointers": ["/data/same"]},
                       {"kind": "Secret", "jqPathExpressions": [".data.same"]}]);
    let text = check(vec![pair(Some(target), Some(there))], json!({"spec": {"ignoreDifferences": rules}}));
    assert!(text.contains("-  changed: ++++++++++++\n+  changed: ++++++++\n"), "{text}");
}

#[test]
fn secrets_that_come_or_go_are_masked_too() {
    check(vec![pair(Some(secret("stringData", json!({"k": CANARY}))), None)], json!({}));
    check(vec![pair(None, Some(live(secret("data", json!({"k": base64(CANARY)})), json!([]))))], json!({}));
}

#[test]
fn secrets_of_a_strange_shape_are_not_shown() {
    let there = live(secret("data", json!({"k": base64(OTHER)})), json!([]));
    for strange in [
        secret("data", json!(CANARY)),
        secret("stringData", json!(CANARY)),
        secret("stringdata", json!({"k": CANARY})),
        secret("data", json!({"k": {"nested": CANARY}})),
        secret("data", json!([CANARY])),
        secret("type", json!({"k": CANARY})),
        secret("metadata", json!(CANARY)),
        indented("data", json!({"k": CANARY})),
        indented("stringData", json!({"k": CANARY})),
        indented("password", json!(CANARY)),
        indented("labels", json!({"stringData": {"k": CANARY}})),
        indented("annotations", json!({"data": [CANARY]})),
        indented("name", json!({"k": CANARY})),
    ] {
        check(vec![pair(Some(strange.clone()), Some(there.clone()))], json!({}));
        check(vec![pair(Some(strange), None)], json!({}));
    }
    for uncomparable in [
        indented("finalizers", json!([{"k": CANARY}])),
        indented("ownerReferences", json!([{"name": "o", "data": {"k": CANARY}}, CANARY])),
    ] {
        check(vec![pair(Some(uncomparable), None)], json!({}));
    }
}

#[test]
fn known_metadata_of_a_secret_is_shown() {
    let mut target = secret("stringData", json!({"k": CANARY}));
    let owner = json!({"apiVersion": "v1", "kind": "Pod", "name": "owner-of-it", "uid": "u", "controller": true});
    for (part, data) in [
        ("labels", json!({"tier": "front"})),
        ("annotations", json!({"note": "read-me"})),
        ("finalizers", json!(["example.com/hold"])),
        ("ownerReferences", json!([owner])),
    ] {
        target.metadata_mut().insert(part.to_owned(), data);
    }
    let text = check(vec![pair(Some(target), None)], json!({}));
    for shown in ["tier: front", "note: read-me", "example.com/hold", "owner-of-it"] {
        assert!(text.contains(shown), "{shown} is not in:\n{text}");
    }
}

#[test]
fn what_the_api_server_quotes_of_a_refused_secret_is_not_repeated() {
    let message = format!("Secret \"s\" is invalid: patch: Invalid value: \"{{\\\"k\\\":\\\"{CANARY}\\\"}}\": no");
    let state = json!({"operation": {}, "phase": "Failed", "message": format!("one or more objects failed: {message}"),
        "startedAt": "2026-01-02T03:00:00Z", "finishedAt": "2026-01-02T03:04:00Z",
        "syncResult": {"revision": "4f2a1c9", "source": {"repoURL": "https://git.example.com/shop.git", "path": "."},
            "resources": [{"group": "", "version": "v1", "kind": "Secret", "namespace": "shop", "name": "s", "hookPhase": "Failed",
                           "status": "SyncFailed", "syncPhase": "Sync", "message": message}]}});
    let extra = json!({"spec": {"syncPolicy": {"automated": {}}}, "status": {"operationState": state}});
    let text = check(vec![pair(Some(secret("stringData", json!({"k": CANARY}))), None)], extra);
    assert!(text.contains("the sync failed on Secret shop/s"), "{text}");
}
