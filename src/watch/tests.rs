//! Tests of what is kept, forgotten and told.

use std::collections::BTreeSet;

use serde_json::{Value, json};

use super::children::Children;
use super::kept::{Kept, Record};

fn record(uid: &str, version: u64) -> Record {
    Record { owner: "app".into(), uid: uid.into(), version, digest: version, json: b"{}".as_slice().into() }
}

#[test]
fn an_older_version_never_replaces_a_newer_one() {
    let mut kept = Kept::default();
    assert!(kept.keep("ns", "web", record("u1", 7)).is_ok());
    assert!(kept.keep("ns", "web", record("u1", 6)).is_err(), "a lagging event");
    assert_eq!(kept.get("ns", "web").map(|known| known.version), Some(7));
    assert!(kept.keep("ns", "web", record("u2", 3)).is_ok(), "a new object of the same name starts over");
}

#[test]
fn a_deleted_object_does_not_come_back_with_a_late_event() {
    let mut kept = Kept::default();
    assert!(kept.keep("ns", "web", record("u1", 7)).is_ok());
    assert!(kept.forget("ns", "web", "u1").is_some());
    assert!(kept.keep("ns", "web", record("u1", 8)).is_err());
    assert!(kept.get("ns", "web").is_none());
    assert!(kept.keep("ns", "web", record("u2", 9)).is_ok());
}

#[test]
fn a_deletion_of_the_predecessor_leaves_the_successor() {
    let mut kept = Kept::default();
    assert!(kept.keep("ns", "web", record("u2", 9)).is_ok());
    assert!(kept.forget("ns", "web", "u1").is_none());
    assert!(kept.get("ns", "web").is_some());
}

#[test]
fn what_a_complete_list_does_not_hold_is_gone() {
    let mut kept = Kept::default();
    assert!(kept.keep("ns", "old", record("u1", 1)).is_ok());
    kept.note_foreign("ns", "taken", ("u9", 9));
    kept.begin_list();
    assert!(kept.keep("ns", "new", record("u2", 2)).is_ok());
    let gone = kept.end_list();
    assert_eq!(gone.iter().map(|(place, _)| &*place.1).collect::<Vec<_>>(), ["old"]);
    assert!(!kept.is_foreign("ns", "taken"));
    assert!(kept.get("ns", "new").is_some());
}

#[test]
fn a_name_is_remembered_of_a_foreign_object() {
    let mut kept = Kept::default();
    assert!(kept.keep("ns", "web", record("u1", 1)).is_ok());
    assert!(kept.note_foreign("ns", "web", ("u1", 2)).is_some(), "an object that lost its tracking is no longer kept");
    assert!(kept.is_foreign("ns", "web"));
    assert!(!kept.is_foreign("other", "web"));
}

fn owned(kind: &str, uid: &str, owner: &str, image: &str) -> Value {
    json!({"apiVersion": "v1", "kind": kind, "metadata": {"name": uid, "namespace": "ns", "uid": uid,
        "ownerReferences": [{"uid": owner, "kind": "X", "name": "x"}]},
        "spec": {"containers": [{"image": image}], "initContainers": [{"image": "init:1"}]}})
}

#[test]
fn images_of_pods_are_found_through_the_chain_of_owners() {
    let mut children = Children::default();
    assert!(children.note(&owned("Pod", "pod", "rs", "web:1")), "a pod may arrive before its owner");
    assert!(children.note(&owned("ReplicaSet", "rs", "deployment", "template:1")));
    let mut images = BTreeSet::new();
    children.images_below("deployment", &mut images);
    assert_eq!(images.into_iter().collect::<Vec<_>>(), ["init:1", "web:1"], "templates do not count");
    assert_eq!(children.root("pod"), "deployment");
}

#[test]
fn a_forgotten_child_gives_no_images_and_an_equal_one_tells_nothing() {
    let mut children = Children::default();
    assert!(children.note(&owned("Pod", "pod", "job", "task:1")));
    assert!(!children.note(&owned("Pod", "pod", "job", "task:1")));
    assert!(children.note(&owned("Pod", "pod", "job", "task:2")));
    assert!(children.forget("pod"));
    let mut images = BTreeSet::new();
    children.images_below("job", &mut images);
    assert!(images.is_empty());
}

#[test]
fn a_loop_of_owners_ends() {
    let mut children = Children::default();
    children.note(&owned("ReplicaSet", "a", "b", ""));
    children.note(&owned("ReplicaSet", "b", "a", ""));
    let _ = children.root("a");
    children.images_below("a", &mut BTreeSet::new());
}
