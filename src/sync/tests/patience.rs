//! Actions that are asked for again.

use std::sync::Arc;

use serde_json::json;

use super::super::patience::{pause, settled};
use super::super::{Answer, Apply, Failure, FailureKind, Method, ObjectRef, Propagation};
use super::*;

const KINDS: [FailureKind; 5] =
    [FailureKind::Unreachable, FailureKind::Internal, FailureKind::Conflict, FailureKind::NotFound, FailureKind::Other];

fn answer(kind: FailureKind) -> Answer {
    Answer::Done(Err(Failure { kind, message: "no".into() }))
}

/// How often the action is asked again after each kind of failure, in the order of `KINDS`.
#[track_caller]
fn check(action: &Action, expect: [usize; 5]) {
    let count = |kind| (0..100).take_while(|asked| pause(action, &answer(kind), *asked).is_some()).count();
    assert_eq!(KINDS.map(count), expect, "{action:?}");
}

fn apply(method: Method) -> Action {
    let object = Arc::new(json!({"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "one"}}));
    Action::Apply(Apply { object, method, dry_run: false, force: false, validate: true })
}

fn object(uid: &str) -> ObjectRef {
    ObjectRef::live(&json!({"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "one", "uid": uid}}))
}

fn delete(uid: &str) -> Action {
    Action::Delete { object: object(uid), propagation: Propagation::Foreground }
}

#[test]
fn an_apply_is_asked_again_and_a_plain_creation_or_replacement_is_not() {
    check(&apply(Method::ClientSide), [8, 4, 4, 0, 0]);
    check(&apply(Method::ServerSide), [8, 4, 4, 0, 0]);
    check(&apply(Method::Create), [0; 5]);
    check(&apply(Method::Replace), [0; 5]);
    check(&apply(Method::Update { resource_version: "7".into() }), [0; 5]);
}

#[test]
fn a_deletion_is_asked_again_only_of_the_object_that_was_seen() {
    check(&delete("a"), [8, 4, 4, 0, 0]);
    check(&delete(""), [0; 5]);
}

#[test]
fn a_conflict_over_finalizers_is_left_to_the_pass() {
    let set = Action::SetFinalizers { object: object("a"), finalizers: vec![], resource_version: "7".into() };
    check(&set, [8, 4, 0, 0, 0]);
    check(&Action::Announce("one".into()), [8, 4, 4, 0, 0]);
    check(&Action::Sleep(std::time::Duration::ZERO), [0; 5]);
}

#[test]
fn a_success_stands() {
    assert_eq!(pause(&delete("a"), &Answer::Done(Ok(())), 0), None);
}

#[test]
fn a_deletion_asked_again_that_finds_nothing_was_done_before() {
    let gone = || answer(FailureKind::NotFound);
    assert_eq!(settled(&delete("a"), gone(), 0), gone());
    assert_eq!(settled(&delete("a"), gone(), 1), Answer::Done(Ok(())));
    assert_eq!(settled(&Action::Get(object("a")), gone(), 1), gone());
}
