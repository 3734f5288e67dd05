//! The feature table against everything Argo CD has, and `check` over the corpus.

use std::collections::BTreeSet;

use litecd::check::{self, Report, Row};
use serde_json::Value;

use crate::{files_below, reference_crds, reference_folder};

/// Every name Argo CD v3.5.1 gives a meaning: keys of its ConfigMaps, annotations, options, hooks, finalizers.
const NAMES: &str = include_str!("names.txt");

/// Paths of a CRD: lists and map keys left out. Leaves are what has no fields of its own.
struct Paths {
    all: BTreeSet<String>,
    leaves: BTreeSet<String>,
}

fn collect(schema: &Value, path: &str, paths: &mut Paths) {
    paths.all.insert(path.to_owned());
    let inner = [&schema["items"], &schema["additionalProperties"]].into_iter().find(|inner| inner.is_object());
    if let Some(fields) = schema["properties"].as_object() {
        for (name, field) in fields {
            collect(field, &format!("{path}.{name}"), paths);
        }
    } else if let Some(inner) = inner {
        collect(inner, path, paths);
    } else {
        paths.leaves.insert(path.to_owned());
    }
}

/// Paths of the given CRDs.
fn paths_of(crds: &[Value]) -> Paths {
    let mut paths = Paths { all: BTreeSet::new(), leaves: BTreeSet::new() };
    for crd in crds {
        let kind = crd["spec"]["names"]["kind"].as_str().expect("a kind");
        collect(&crd["spec"]["versions"][0]["schema"]["openAPIV3Schema"], kind, &mut paths);
    }
    paths
}

fn assert_one_row(address: &str, found: &[&Row]) {
    let ids: Vec<&str> = found.iter().map(|row| row.feature.id).collect();
    assert_eq!(ids.len(), 1, "{address}: {ids:?}");
}

#[test]
fn every_leaf_of_every_crd_has_exactly_one_row() {
    let paths = paths_of(&litecd::api::crds());
    assert!(paths.leaves.len() > 5000, "{} leaves", paths.leaves.len());
    for leaf in &paths.leaves {
        assert_one_row(leaf, &check::rows_for_field(leaf));
    }
}

#[test]
fn every_leaf_of_argo_cds_crds_has_exactly_one_row() {
    let Some(folder) = reference_folder() else { return };
    for leaf in &paths_of(reference_crds(&folder)).leaves {
        assert_one_row(leaf, &check::rows_for_field(leaf));
    }
}

#[test]
fn every_name_has_exactly_one_row() {
    for name in NAMES.lines() {
        assert_one_row(name, &check::rows_for_name(name));
    }
}

#[test]
fn no_address_is_dead_or_given_twice() {
    let fields = paths_of(&litecd::api::crds()).all;
    let mut seen = BTreeSet::new();
    for row in check::rows() {
        assert!(!row.addresses.is_empty(), "{} has no address", row.feature.id);
        for address in row.addresses {
            assert!(seen.insert(*address), "{address} is given twice");
            let alive = if address.contains(':') {
                NAMES.lines().any(|name| match address.strip_suffix('*') {
                    Some(beginning) => name.starts_with(beginning),
                    None => name == *address,
                })
            } else {
                fields.contains(&as_in_a_crd(address.trim_end_matches(".**")))
            };
            assert!(alive, "{}: {address} speaks of nothing", row.feature.id);
        }
    }
}

/// Shapes that stand at several places are written once in the table; this names one of the places.
fn as_in_a_crd(address: &str) -> String {
    let first = address.split('.').next().unwrap_or_default();
    let place = match first {
        "Source" => "Application.spec.source",
        "Generator" => "ApplicationSet.spec.generators",
        other => other,
    };
    format!("{place}{}", address.trim_start_matches(first))
}

#[test]
fn ids_are_given_once() {
    let mut seen = BTreeSet::new();
    for row in check::rows() {
        assert!(seen.insert(row.feature.id), "{} is given twice", row.feature.id);
        assert!(row.feature.description.ends_with('.'), "{}", row.feature.id);
    }
}

#[test]
fn an_address_never_lies_below_one_that_takes_everything() {
    let addresses: Vec<&str> = check::rows().flat_map(|row| row.addresses.iter().copied()).collect();
    for whole in addresses.iter().filter_map(|address| address.strip_suffix(".**")) {
        let below =
            addresses.iter().find(|address| address.starts_with(&format!("{whole}.")) && !address.ends_with(".**"));
        assert_eq!(below, None, "below {whole}");
    }
}

#[test]
fn the_corpus_is_read_and_known() {
    let Some(folder) = reference_folder() else { return };
    let mut report = Report::default();
    for path in files_below(&folder.join("corpus")) {
        let name = path.file_name().unwrap_or_default().to_string_lossy().into_owned();
        if !name.ends_with(".yaml") || name.starts_with("golden") || name == "case.yaml" {
            continue;
        }
        let Ok(text) = std::fs::read_to_string(&path) else { continue };
        report.add(check::scan(&path.display().to_string(), &text));
    }
    // One case gives a cluster a config that is no JSON on purpose.
    let problems: Vec<&str> = report.problems().into_iter().map(|problem| problem.message.as_str()).collect();
    let broken = "Secret cluster-broken: failed to unmarshal cluster config: Syntax error at line 1 column 17";
    assert_eq!(problems, [broken]);
    assert!(report.objects["Application"] > 400, "{:?}", report.objects);
    let unknown: BTreeSet<&str> =
        report.uses.iter().filter(|each| each.feature.id == "unknown").map(|each| each.what.as_str()).collect();
    // One case misspells a hook on purpose; Argo CD takes that object for an ordinary one.
    assert_eq!(unknown, BTreeSet::from(["Presync"]));
}
