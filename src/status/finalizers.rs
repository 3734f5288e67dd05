//! Edits of an Application's finalizer list.
//!
//! In:  the finalizers there are.
//! Out: the whole list to write, or nothing when it stays.
//! Invariant: the cascade finalizer is never added; delete-hook finalizers are never removed because a rendering failed.
//! Source: APP-192 to APP-194 (`controller/appcontroller.go` `processAppRefreshQueueItem`, `types.go` `setFinalizer`).

use serde_json::{Value, json};

use crate::api::names;

/// How a cascade deletes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Cascade {
    /// Owners wait for what they own.
    Foreground,
    /// What is owned is collected later.
    Background,
}

/// How deletion cascades; the first cascade finalizer decides, nothing means that resources stay.
pub fn cascade(finalizers: &[String]) -> Option<Cascade> {
    finalizers.iter().find_map(|name| match name.as_str() {
        names::RESOURCES_FINALIZER | names::FOREGROUND_FINALIZER => Some(Cascade::Foreground),
        names::BACKGROUND_FINALIZER => Some(Cascade::Background),
        _ => None,
    })
}

/// Whether a finalizer asks for a cascade.
pub fn is_cascade(name: &str) -> bool {
    matches!(name, names::RESOURCES_FINALIZER | names::FOREGROUND_FINALIZER | names::BACKGROUND_FINALIZER)
}

/// Whether a finalizer belongs to pre- or post-delete hooks, at any stage.
pub fn is_delete_hook(name: &str) -> bool {
    name.starts_with(names::PRE_DELETE_FINALIZER) || name.starts_with(names::POST_DELETE_FINALIZER)
}

/// What a rendering says about delete hooks.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct DeleteHooks {
    /// Whether there are PreDelete hooks.
    pub pre: bool,
    /// Whether there are PostDelete hooks.
    pub post: bool,
}

/// The list in which each pair of delete-hook finalizers exists exactly when there are such hooks (APP-193).
///
/// `hooks` is nothing when rendering failed: then nobody knows, and the list stays, where Argo CD takes a failed
/// rendering for one without hooks. Not to be asked while the Application is being deleted.
pub fn for_delete_hooks(finalizers: &[String], hooks: Option<DeleteHooks>) -> Option<Vec<String>> {
    let hooks = hooks?;
    let mut list = finalizers.to_vec();
    set(&mut list, names::PRE_DELETE_FINALIZER, hooks.pre);
    set(&mut list, names::PRE_DELETE_CLEANUP_FINALIZER, hooks.pre);
    set(&mut list, names::POST_DELETE_FINALIZER, hooks.post);
    set(&mut list, names::POST_DELETE_CLEANUP_FINALIZER, hooks.post);
    (list != finalizers).then_some(list)
}

/// The list without the finalizers that `is_removed` names; nothing when there are none.
pub fn remove_finalizers(finalizers: &[String], is_removed: impl Fn(&str) -> bool) -> Option<Vec<String>> {
    let mut list = finalizers.to_vec();
    for name in finalizers.iter().filter(|name| is_removed(name)) {
        set(&mut list, name, false);
    }
    (list.len() != finalizers.len()).then_some(list)
}

/// The merge patch that writes a list; it replaces the stored one.
pub fn finalizers_patch(finalizers: &[String]) -> Value {
    json!({"metadata": {"finalizers": finalizers}})
}

/// Adds at the end; removal moves the last one into the hole, as Argo CD does (APP-194).
fn set(list: &mut Vec<String>, name: &str, exists: bool) {
    match (list.iter().position(|present| present == name), exists) {
        (None, true) => list.push(name.to_owned()),
        (Some(index), false) => {
            list.swap_remove(index);
        }
        _ => {}
    }
}
