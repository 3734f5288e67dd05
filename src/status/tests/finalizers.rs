use serde_json::json;

use super::texts;
use crate::status::finalizers::{
    Cascade, DeleteHooks, cascade, finalizers_patch, for_delete_hooks, is_cascade, is_delete_hook, remove_finalizers,
};

const CASCADE: &str = "resources-finalizer.argocd.argoproj.io";
const PRE: &str = "pre-delete-finalizer.argocd.argoproj.io";
const PRE_CLEANUP: &str = "pre-delete-finalizer.argocd.argoproj.io/cleanup";
const POST: &str = "post-delete-finalizer.argocd.argoproj.io";
const POST_CLEANUP: &str = "post-delete-finalizer.argocd.argoproj.io/cleanup";

fn check(before: &[&str], hooks: Option<DeleteHooks>, expected: Option<&[&str]>) {
    assert_eq!(for_delete_hooks(&texts(before), hooks), expected.map(texts), "{before:?} {hooks:?}");
}

#[test]
fn pairs_exist_exactly_when_there_are_such_hooks() {
    let hooks = |pre, post| Some(DeleteHooks { pre, post });
    check(&[CASCADE], hooks(false, false), None);
    check(&[CASCADE], hooks(true, false), Some(&[CASCADE, PRE, PRE_CLEANUP]));
    check(&[PRE], hooks(true, true), Some(&[PRE, PRE_CLEANUP, POST, POST_CLEANUP]));
    check(&[POST, POST_CLEANUP, CASCADE], hooks(false, false), Some(&[CASCADE]));
}

#[test]
fn failed_rendering_changes_nothing() {
    check(&[CASCADE, PRE, PRE_CLEANUP], None, None);
}

#[test]
fn removal_moves_the_last_one_into_the_hole() {
    let before = texts(&[PRE, "a", "b"]);
    assert_eq!(remove_finalizers(&before, is_delete_hook), Some(texts(&["b", "a"])));
    assert_eq!(remove_finalizers(&before, is_cascade), None);
    let before = texts(&[CASCADE, POST_CLEANUP, "a"]);
    let left = remove_finalizers(&before, |name| is_cascade(name) || is_delete_hook(name));
    assert_eq!(left, Some(texts(&["a"])));
    assert_eq!(finalizers_patch(&texts(&["a"])), json!({"metadata": {"finalizers": ["a"]}}));
}

#[test]
fn first_cascade_finalizer_decides() {
    let background = "resources-finalizer.argocd.argoproj.io/background";
    assert_eq!(cascade(&texts(&["a"])), None);
    assert_eq!(cascade(&texts(&["a", background, CASCADE])), Some(Cascade::Background));
    assert_eq!(cascade(&texts(&[CASCADE, background])), Some(Cascade::Foreground));
}
