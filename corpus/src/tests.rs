//! Tests of what needs no cluster: reading cases, normalising, comparing.

use std::fs;

use serde_json::{Value, json};

use crate::case::{self, Case};
use crate::compare::{canon, compare, differences};
use crate::run::matches;
use crate::servers::{Addresses, PORT};
use crate::{expected, normal, root, want, yaml};

fn cases() -> Vec<Case> {
    let folders = case::find(&root().join("cases"), &[]).unwrap();
    folders.iter().map(|dir| Case::load(dir, &Addresses::on(PORT)).unwrap()).collect()
}

#[test]
fn every_case_reads_and_names_files_that_are_there() {
    let all = cases();
    assert!(all.len() > 100, "only {} cases", all.len());
    for case in &all {
        case.documents(&case.spec.cluster).unwrap();
        for step in &case.spec.steps {
            if let case::Step::Apply(files) = step {
                assert!(!case.documents(files).unwrap().is_empty(), "{}: {files:?}", case.name);
            }
        }
        assert!(case.argocd_is_wrong() || !case.goldens().unwrap().is_empty(), "{} has no golden", case.name);
    }
}

#[test]
fn a_case_where_argocd_is_wrong_says_what_is_wanted_or_is_listed() {
    let listed = expected::read(&root().join("expected-failures.txt"), &root().join("cases")).unwrap();
    for case in cases().iter().filter(|case| case.argocd_is_wrong()) {
        assert!(!case.wants().unwrap().is_empty() || listed.contains_key(&case.name), "{}", case.name);
    }
}

#[test]
fn normalising_a_golden_changes_nothing() {
    for case in cases() {
        for golden in case.goldens().unwrap() {
            for (name, snapshot) in golden.as_object().unwrap() {
                // Manifests are kept as they were rendered.
                for tier in ["applications", "applicationsets", "objects", "events", "posts"] {
                    let want = snapshot.get(tier).cloned().unwrap_or_default();
                    assert_eq!(differences(&want, &normal::clean(&want), name), [""; 0], "{} {tier}", case.name);
                }
                for (subject, object) in snapshot["objects"].as_object().unwrap() {
                    let mut again = normal::object(object.clone());
                    again["~managers"] = object["~managers"].clone();
                    assert_eq!(&again, object, "{} {name} {subject}", case.name);
                }
                for (subject, app) in snapshot["applications"].as_object().unwrap() {
                    let mut app = app.clone();
                    // These are made from what a golden no longer has.
                    let metadata = app["metadata"].as_object_mut().unwrap();
                    metadata.remove("ownerReferences");
                    metadata.remove("deleting");
                    assert_eq!(normal::application(&app), app, "{} {name} {subject}", case.name);
                }
            }
        }
    }
}

#[test]
fn a_golden_equals_itself_and_survives_writing() {
    for case in cases() {
        let goldens = case.goldens().unwrap();
        for golden in &goldens {
            let again = yaml::load(&yaml::dump(golden)).unwrap();
            assert_eq!(&again, golden, "{}", case.name);
            assert_eq!(compare(&goldens, golden, true).lines, Vec::<String>::new(), "{}", case.name);
        }
    }
}

fn snapshot(name: &str, app: Value) -> Value {
    json!({name: {"applications": {"one": app}, "objects": {}, "events": {"Application/one": ["Normal Synced: a"]}}})
}

#[test]
fn differences_name_their_path_and_come_from_the_nearest_variant() {
    let goldens = [snapshot("s", json!({"a": 1, "b": [1, 2], "c": "x"})), snapshot("s", json!({"a": 9}))];
    let got = snapshot("s", json!({"a": 1.0, "b": [1], "d": true}));
    assert_eq!(
        compare(&goldens, &got, false).lines,
        ["- s:applications/one/b[1]: 2", "- s:applications/one/c: \"x\"", "+ s:applications/one/d: true",]
    );
}

#[test]
fn a_missing_snapshot_is_a_difference() {
    let goldens = [snapshot("s", json!({}))];
    assert_eq!(
        compare(&goldens, &json!({}), false).lines,
        ["- s:applications/one: {}", "- s:event kinds/Application/one: [\"Normal Synced\"]",]
    );
}

#[test]
fn the_text_of_events_counts_only_when_asked_for() {
    let golden = snapshot("s", json!({}));
    let mut got = golden.clone();
    got["s"]["events"]["Application/one"] = json!(["Normal Synced: b"]);
    assert!(compare(&[golden.clone()], &got, false).lines.is_empty());
    assert_eq!(compare(&[golden], &got, true).lines.len(), 1);
}

#[test]
fn only_results_of_one_batch_are_sorted() {
    let result = |kind: &str, name: &str, status: &str| json!({"kind": kind, "name": name, "status": status});
    let app = |results: Value| {
        json!({"status": {
            "resources": [{"kind": "ConfigMap", "name": "late", "syncWave": 1}],
            "operationState": {"syncResult": {"resources": results}},
        }})
    };
    let got = canon(snapshot(
        "s",
        app(json!([
            result("ConfigMap", "b", "Synced"),
            result("ConfigMap", "a", "Synced"),
            result("ConfigMap", "late", "Synced"),
            result("Secret", "z", "Synced"),
            result("Service", "y", "Pruned"),
            result("ConfigMap", "x", "Pruned"),
        ])),
    ));
    let names = got["s"]["applications"]["one"]["status"]["operationState"]["syncResult"]["resources"].clone();
    let names: Vec<&str> = names.as_array().unwrap().iter().map(|result| result["name"].as_str().unwrap()).collect();
    assert_eq!(names, ["a", "b", "late", "z", "x", "y"]);
}

#[test]
fn what_differs_between_two_runs_is_taken_out() {
    let job = json!({
        "apiVersion": "batch/v1", "kind": "Job",
        "metadata": {
            "name": "hook-1790000000", "uid": "x", "resourceVersion": "1",
            "labels": {"controller-uid": "0"}, "annotations": {"at": "2026-01-01T00:00:00.5Z"},
            "managedFields": [
                {"manager": "corpus", "operation": "Update", "subresource": "status"},
                {"manager": "corpus", "operation": "Apply"},
                {"manager": "kwok", "operation": "Update"},
            ],
        },
        "spec": {"ref": {"uid": "0f8fad5b-d9cb-469f-a165-70867728950e", "n": 1}, "text": "is 0f8fad5b-d9cb-469f-a165-70867728950e"},
        "status": {"active": 1},
    });
    assert_eq!(
        normal::object(job),
        json!({
            "apiVersion": "batch/v1", "kind": "Job",
            "metadata": {"name": "hook-<epoch>", "labels": {"controller-uid": "<uid>"}, "annotations": {"at": "<time>"}},
            "spec": {"ref": {"n": 1}, "text": "is <uid>"},
            "~managers": ["corpus:Apply", "corpus:Update:status"],
        })
    );
    let service = json!({"kind": "Service", "metadata": {}, "spec": {"clusterIP": "10.0.0.1", "clusterIPs": ["None"], "ports": [{"nodePort": 1}]}});
    assert_eq!(
        normal::object(service)["spec"],
        json!({"clusterIP": "<ip>", "clusterIPs": ["None"], "ports": [{"nodePort": "<port>"}]})
    );
}

#[test]
fn a_wait_looks_at_dotted_paths() {
    let object = json!({"a": {"list": [{"x": 1}], "none": null}});
    for (path, want, expect) in [
        ("a.list.0.x", json!(1), true),
        ("a.list.1.x", json!("<absent>"), true),
        ("a.none", json!("<absent>"), true),
        ("a.list", json!("<present>"), true),
        ("a.list.0.x", json!(2), false),
        ("b", json!("<present>"), false),
    ] {
        assert_eq!(matches(&object, path, &want), expect, "{path} {want}");
    }
}

#[test]
fn wants_are_partial_and_the_nearest_variant_counts() {
    let got = json!({"s": {"apps": {"one": {"n": 1, "list": [{"type": "A", "x": 1}, {"type": "B"}]}}}});
    let check = |want: Value, unmet: usize| assert_eq!(want::unmet(&[want.clone()], &got).len(), unmet, "{want}");
    check(json!({"s": {"apps": {"one": {"n": 1}}}}), 0);
    check(json!({"s": {"apps": {"one": {"n": 2, "m": 1}}}}), 2);
    check(json!({"s": {"apps": {"two": "<absent>", "one": "<present>"}}}), 0);
    check(json!({"s": {"apps": {"one": "<absent>"}}}), 1);
    check(json!({"s": {"apps": {"one": {"list": {"<has>": [{"type": "A"}], "<lacks>": [{"type": "C"}]}}}}}), 0);
    check(json!({"s": {"apps": {"one": {"list": {"<has>": [{"type": "C"}], "<lacks>": [{"type": "A"}]}}}}}), 2);
    check(json!({"s": {"apps": {"one": {"list": [{"type": "A"}]}}}}), 1);
    assert!(want::unmet(&[json!({"x": 1}), json!({"s": {}})], &got).is_empty());
    assert_eq!(want::unmet(&[], &got).len(), 1);
}

#[test]
fn the_list_of_expected_failures_names_cases_and_reasons() {
    expected::read(&root().join("expected-failures.txt"), &root().join("cases")).unwrap();
    let file = tempfile::NamedTempFile::new().unwrap();
    for line in ["no/such: reason", "sync/adopt-existing", "sync/adopt-existing: "] {
        fs::write(file.path(), line).unwrap();
        assert!(expected::read(file.path(), &root().join("cases")).is_err(), "{line}");
    }
}
