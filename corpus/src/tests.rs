//! Tests of what needs no cluster: reading cases, normalising, comparing.

use std::fs;

use serde_json::{Value, json};

use crate::case::{self, Case};
use crate::compare::{canon, compare, differences};
use crate::run::matches;
use crate::servers::{Addresses, PORT};
use crate::{crash, expected, normal, root, want, yaml};

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
    assert!(compare(std::slice::from_ref(&golden), &got, false).lines.is_empty());
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
    let got = json!({"s": {"apps": {"one": {"n": 1, "text": "it is not found", "list": [{"type": "A", "x": 1}, {"type": "B"}], "null": null}}}});
    let golden = json!({"s": {"apps": {"one": {"n": 2, "text": "it is not found", "list": [{"type": "A", "x": 1}, {"type": "B"}], "null": null}}}});
    let unmet = |wants: &[Value]| want::unmet(wants, std::slice::from_ref(&golden), &got).len();
    let check = |one: Value, expect: usize| assert_eq!(unmet(&[json!({"s": {"apps": {"one": one}}})]), expect, "{one}");
    check(json!({"n": 1}), 0);
    check(json!({"n": 2, "m": 1}), 2);
    check(json!({"m": "<absent>", "n": "<present>", "null": null}), 0);
    check(json!({"n": "<absent>", "m": "<present>", "none": null}), 3);
    check(json!({"list": {"<has>": [{"type": "A"}], "<lacks>": [{"type": "C"}]}}), 0);
    check(json!({"list": {"<has>": [{"type": "C"}], "<lacks>": [{"type": "A"}]}}), 2);
    check(json!({"list": [{"type": "A"}]}), 1);
    check(json!({"text": {"<contains>": ["not found", "is"]}}), 0);
    check(json!({"text": {"<contains>": ["not found", "was"]}}), 1);
    check(json!({"n": {"<contains>": ["1"]}}), 1);
    check(json!({"list": "<golden>"}), 0);
    check(json!({"n": "<golden>"}), 1);
    check(json!({"n": 1, "<others>": "<golden>"}), 0);
    check(json!({"list": "<present>", "<others>": "<golden>"}), 1);
    assert_eq!(unmet(&[json!({"x": 1}), json!({"s": {}})]), 0);
    assert_eq!(unmet(&[]), 1);
}

/// Whether nothing is wanted but what the goldens show.
fn is_golden(want: &Value) -> bool {
    match want {
        Value::Object(map) => map.values().all(is_golden),
        value => value == "<golden>",
    }
}

#[test]
fn the_golden_does_not_meet_what_is_wanted_instead_of_it() {
    for case in cases() {
        let (goldens, wants) = (case.goldens().unwrap(), case.wants().unwrap());
        assert!(wants.is_empty() || case.argocd_is_wrong(), "{}: want.yaml without want.md", case.name);
        // Where all is wanted as recorded, what Argo CD lacks is not in the cluster, and want.md says where it is tested.
        for golden in goldens.iter().filter(|_| !wants.iter().all(is_golden)) {
            assert_ne!(want::unmet(&wants, &goldens, golden), Vec::<String>::new(), "{}", case.name);
        }
    }
}

#[test]
fn steps_name_what_they_stop_and_start() {
    let read = |text: &str| serde_json::from_value::<case::Step>(yaml::load(text).unwrap());
    assert!(matches!(read("stop: git").unwrap(), case::Step::Stop(case::Part::Git)));
    assert!(matches!(read("start: litecd").unwrap(), case::Step::Start(case::Start::Usual(case::Part::Litecd))));
    let limited = read("start: {serviceAccount: argocd/limited}").unwrap();
    assert!(
        matches!(limited, case::Step::Start(case::Start::Limited { service_account }) if service_account == "argocd/limited")
    );
    for text in ["stop: etcd", "start: {serviceaccount: argocd/limited}", "start:"] {
        assert!(read(text).is_err(), "{text}");
    }
}

#[test]
fn kills_are_spread_over_the_sync_and_come_on_both_sides_of_each_request() {
    let kills: Vec<_> = crash::rounds(10).into_iter().map(|job| job.name()).collect();
    assert_eq!(kills.len(), 18);
    for kind in ["-answered-manual", "-unsent-manual", "-answered-automated", "-unsent-automated"] {
        assert!(kills.iter().take(10).filter(|name| name.ends_with(kind)).count() >= 2, "{kind} in {kills:?}");
    }
    let names: std::collections::BTreeSet<_> = kills.iter().collect();
    assert_eq!(names.len(), kills.len(), "{kills:?}");
    let points: Vec<_> = (0..10).map(|round| crash::point(round, 10, 36)).collect();
    assert_eq!((points.first(), points.last()), (Some(&1), Some(&36)));
    assert!(points.is_sorted_by(|a, b| a < b), "{points:?}");
    assert_eq!(crash::point(0, 1, 36), 1);
}

#[test]
fn every_write_is_killed_at_from_both_sides_and_every_part_fails_in_every_way() {
    let counted = [("crash/count-manual", [27, 32]), ("crash/count-automated", [31, 36])].map(|(name, writes)| {
        let mut verdict = crate::verdict::Verdict::new(name.to_owned());
        verdict.writes = writes.into();
        verdict
    });
    let names = |jobs: Vec<crate::lane::Job>| jobs.iter().map(crate::lane::Job::name).collect::<Vec<_>>();
    let all = names(crash::every_call(&counted, 1));
    assert_eq!(all.len(), 32 + 36);
    assert!(all.contains(&"crash/kill-call-32-unsent-manual".to_owned()), "{all:?}");
    assert!(all.contains(&"crash/kill-call-36-answered-automated".to_owned()), "{all:?}");
    assert_eq!(crash::every_call(&counted, 5).len(), 7 + 8);
    assert_eq!(crash::every_call(&[], 1).len(), 0);
    assert_eq!(names(crash::faults()).into_iter().collect::<std::collections::BTreeSet<_>>().len(), 28);
}

#[test]
fn the_cases_about_things_that_go_away_are_found_by_their_tag() {
    let found = case::tagged(&root().join("cases"), crash::TAG).unwrap();
    assert!(found.iter().any(|dir| dir.ends_with("app/git-server-gone")), "{found:?}");
    assert!(!found.iter().any(|dir| dir.ends_with("sync/wave-order")));
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
