//! How an application is deleted: which stage is due, what it deletes or creates, when it is over.
//!
//! In:  the Application with its finalizers; the live objects its project permits; hook targets as rendered now.
//! Out: objects to delete or create, reasons to wait, the finalizers that remain.
//! Invariant: nothing is deleted while an earlier object of the cascade is still going, or before somebody approved
//! what needs approval; CRDs, the Application itself and protected objects stay.
//! Source: SYNC-180 to SYNC-188, APP-192 to APP-208 (`controller/appcontroller.go` `finalizeApplicationDeletion`,
//! `controller/hook.go`, `controller/sort_delete.go`).
//!
//! The caller asks [`stage`], carries out what the stage's function says and, once that says it is done, writes
//! [`after`]. Every stage but the first ends the pass there.

use serde_json::Value;

use super::hooks::{DeleteHook, delete_policies};
use super::io::ObjectRef;
use super::options::{Propagation, annotation_value, option_value};
use super::order;
use super::pass::HealthOf;
use crate::api::names::{
    BACKGROUND_FINALIZER, DELETION_APPROVED, FOREGROUND_FINALIZER, GROUP, HELM_RESOURCE_POLICY,
    POST_DELETE_CLEANUP_FINALIZER, POST_DELETE_FINALIZER, PRE_DELETE_CLEANUP_FINALIZER, PRE_DELETE_FINALIZER,
    RESOURCES_FINALIZER,
};
use crate::api::status::Time;
use crate::api::{Application, ObjectExt, ResourceKey};

/// Health codes from best to worst (APP-206).
const HEALTH_ORDER: [&str; 6] = ["Healthy", "Suspended", "Progressing", "Missing", "Degraded", "Unknown"];

/// What the deletion does next.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Stage {
    /// Runs hooks of a type.
    Hooks(DeleteHook),
    /// Deletes the application's objects.
    Cascade,
    /// Deletes hooks of a type by their policies.
    Cleanup(DeleteHook),
    /// Nothing of ours is left to do; objects that remain stay (APP-195).
    Finished,
}

/// Where an error of a stage arose; decides its wording (APP-207).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Trouble {
    /// The live objects could not be read.
    Reading,
    /// The stage's own work failed.
    Working,
    /// The finalizers could not be written.
    Finalizers,
}

impl Stage {
    /// Text of the condition `DeletionError` for a failure in this stage.
    pub fn error(self, trouble: Trouble, text: &str) -> String {
        let prefix = match (self, trouble) {
            (Self::Hooks(DeleteHook::PreDelete), Trouble::Reading) => "error getting permitted app live objects: ",
            (Self::Hooks(DeleteHook::PreDelete), Trouble::Working) => "error executing pre-delete hooks: ",
            (Self::Hooks(DeleteHook::PreDelete), Trouble::Finalizers) => "error updating pre-delete finalizers: ",
            (Self::Cleanup(DeleteHook::PreDelete), Trouble::Reading) => {
                "error getting permitted app live objects for pre-delete cleanup: "
            }
            (Self::Cleanup(DeleteHook::PreDelete), Trouble::Working) => "error cleaning up pre-delete hooks: ",
            _ => "",
        };
        format!("{prefix}{text}")
    }
    /// The finalizers that stand for this stage.
    fn finalizers(self) -> &'static [&'static str] {
        match self {
            Self::Hooks(DeleteHook::PreDelete) => &[PRE_DELETE_FINALIZER],
            Self::Cascade => &CASCADE,
            Self::Hooks(DeleteHook::PostDelete) => &[POST_DELETE_FINALIZER],
            Self::Cleanup(DeleteHook::PreDelete) => &[PRE_DELETE_CLEANUP_FINALIZER],
            Self::Cleanup(DeleteHook::PostDelete) => &[POST_DELETE_CLEANUP_FINALIZER],
            Self::Finished => &[],
        }
    }
}

const CASCADE: [&str; 3] = [RESOURCES_FINALIZER, FOREGROUND_FINALIZER, BACKGROUND_FINALIZER];

/// Stages in the order in which they run (SYNC-182).
const STAGES: [Stage; 5] = [
    Stage::Hooks(DeleteHook::PreDelete),
    Stage::Cascade,
    Stage::Hooks(DeleteHook::PostDelete),
    Stage::Cleanup(DeleteHook::PreDelete),
    Stage::Cleanup(DeleteHook::PostDelete),
];

/// The stage that is due, by the finalizers that are left.
pub fn stage(finalizers: &[String]) -> Stage {
    let is_due = |stage: &Stage| finalizers.iter().any(|name| stage.finalizers().contains(&name.as_str()));
    STAGES.into_iter().find(is_due).unwrap_or(Stage::Finished)
}

/// The finalizers once a stage is done.
pub fn after(stage: Stage, finalizers: &[String]) -> Vec<String> {
    without(finalizers, |name| stage.finalizers().contains(&name))
}

/// The finalizers when the destination is not defined any more: nothing can be done there, so all of ours go (APP-198).
pub fn give_up(finalizers: &[String]) -> Vec<String> {
    without(finalizers, |name| STAGES.iter().any(|stage| stage.finalizers().contains(&name)))
}

/// Removal puts the last element into the hole, as Argo CD does, so both controllers write the same order (APP-194).
fn without(finalizers: &[String], is_removed: impl Fn(&str) -> bool) -> Vec<String> {
    let mut list = finalizers.to_vec();
    while let Some(place) = list.iter().position(|name| is_removed(name)) {
        list.swap_remove(place);
    }
    list
}

/// What the cascade does in this pass.
#[derive(Debug, Clone, PartialEq)]
pub enum Cascade {
    /// Objects deleted earlier are still going (APP-200).
    Wait,
    /// Nothing is deleted until somebody approves this object's deletion (APP-201).
    AwaitApproval(ResourceKey),
    /// Delete these, all at once; then read again and ask [`is_gone`].
    Delete(Vec<ObjectRef>, Propagation),
    /// No object is left that would be deleted.
    Done,
}

/// Whether another application of the same destination lists the object among its own.
///
/// Argo CD deletes such an object all the same, a Namespace with everything that others have in it. Here it stays, for
/// the other application to take over.
pub type IsShared<'a> = &'a dyn Fn(&ResourceKey) -> bool;

/// Plans one pass of the cascade: only the highest wave that is left (SYNC-187).
pub fn cascade(app: &Application, live: &[Value], is_shared: IsShared<'_>) -> Cascade {
    if live.iter().any(ObjectExt::is_deleting) {
        return Cascade::Wait;
    }
    let doomed: Vec<&Value> = live.iter().filter(|object| goes(app, object, is_shared)).collect();
    let needs_approval = |object: &&&Value| requires_confirmation(app, &object.key());
    if !is_approved(app)
        && let Some(object) = doomed.iter().find(needs_approval)
    {
        return Cascade::AwaitApproval(object.key());
    }
    let Some(highest) = doomed.iter().map(|object| order::wave(object)).max() else { return Cascade::Done };
    let now = doomed.into_iter().filter(|object| order::wave(object) == highest).map(ObjectRef::live).collect();
    Cascade::Delete(now, propagation(app))
}

/// Whether the cascade has nothing left to delete (APP-202).
pub fn is_gone(app: &Application, live: &[Value], is_shared: IsShared<'_>) -> bool {
    !live.iter().any(|object| goes(app, object, is_shared))
}

fn goes(app: &Application, object: &Value, is_shared: IsShared<'_>) -> bool {
    is_deleted(app, object) && !is_shared(&object.key())
}

/// Whether the object goes with the application (SYNC-188).
pub fn is_deleted(app: &Application, object: &Value) -> bool {
    let option = annotation_value(object, "Delete").or_else(|| option_value(app.spec.sync_options(), "Delete"));
    let keeps = object.has_annotation_option(HELM_RESOURCE_POLICY, "keep");
    !order::is_crd(object) && !is_itself(app, object) && option != Some("false") && !keeps
}

fn is_itself(app: &Application, object: &Value) -> bool {
    object.uid() == app.metadata.uid
        && object.name() == app.metadata.name
        && object.namespace() == app.metadata.namespace
        && object.group() == GROUP
        && object.kind() == "Application"
}

fn requires_confirmation(app: &Application, key: &ResourceKey) -> bool {
    app.status.resources.iter().any(|resource| resource.requires_deletion_confirmation && resource.key() == *key)
}

/// The first cascade finalizer decides (APP-192).
fn propagation(app: &Application) -> Propagation {
    let mut ours = app.metadata.finalizers.iter().filter(|name| CASCADE.contains(&name.as_str()));
    match ours.next() {
        Some(name) if name == BACKGROUND_FINALIZER => Propagation::Background,
        _ => Propagation::Foreground,
    }
}

/// When prunes and deletions of the application were approved, if they were.
pub fn approved_at(app: &Application) -> Option<Time> {
    app.metadata.annotations.get(DELETION_APPROVED).and_then(|text| Time::parse(text))
}

fn is_approved(app: &Application) -> bool {
    let asked = app.metadata.deletion_timestamp.as_deref().and_then(Time::parse);
    matches!((approved_at(app), asked), (Some(approved), Some(asked)) if approved >= asked)
}

/// Hooks that do not exist yet and are to be created (SYNC-183). The caller adds tracking metadata, creates them with
/// plain POSTs, treats one that exists already as not created, and ends the pass if it created any.
pub fn hooks_to_create(kind: DeleteHook, app: &Application, targets: Vec<Value>, live: &[Value]) -> Vec<Value> {
    let exists = |key: &ResourceKey| live.iter().any(|object| kind.is_type_of(object) && object.key() == *key);
    let mut created: Vec<Value> = Vec::new();
    for mut target in targets.into_iter().filter(|target| kind.is_type_of(target)) {
        complete(kind, app, &mut target);
        let key = target.key();
        if !exists(&key) && !created.iter().any(|other| other.key() == key) {
            created.push(target);
        }
    }
    created
}

/// Fills in the destination namespace, and a name where only a prefix is given: with a name made by the API server the
/// hook would not be found again and a new one would be created in every pass.
fn complete(kind: DeleteHook, app: &Application, target: &mut Value) {
    let namespace = &app.spec.destination.namespace;
    if target.namespace().is_empty() && !namespace.is_empty() {
        target.metadata_mut().insert("namespace".to_owned(), namespace.as_str().into());
    }
    let prefix = target.meta_str("generateName");
    if target.name().is_empty() && !prefix.is_empty() {
        let since = app.metadata.deletion_timestamp.as_deref().and_then(Time::parse).unwrap_or_default();
        let name = format!("{prefix}{}-{}", kind.as_str().to_lowercase(), since.unix());
        target.metadata_mut().insert("name".to_owned(), name.into());
    }
}

/// How the hooks of a type stand.
#[derive(Debug, Clone, PartialEq)]
pub enum HookStage {
    /// Some still run.
    Wait,
    /// All are done.
    Done,
    /// Some failed: delete them, so that they can be tried again, and report the text (SYNC-184).
    Failed {
        /// The failed hooks.
        delete: Vec<ObjectRef>,
        /// What went wrong.
        text: String,
    },
}

/// Looks at the live hooks of a type; `Err` when the health of one cannot be told.
pub fn judge_hooks(kind: DeleteHook, live: &[Value], health: HealthOf<'_>) -> Result<HookStage, String> {
    let mut waits = false;
    let mut failed: Vec<&Value> = Vec::new();
    for hook in live.iter().filter(|object| kind.is_type_of(object)) {
        match health_code(hook, health)?.as_str() {
            "Progressing" => waits = true,
            "Degraded" => failed.push(hook),
            _ => {}
        }
    }
    if failed.is_empty() {
        return Ok(if waits { HookStage::Wait } else { HookStage::Done });
    }
    let names: Vec<String> = failed.iter().map(|hook| format!("{}/{}", hook.namespace(), hook.name())).collect();
    Ok(HookStage::Failed {
        delete: failed.into_iter().map(ObjectRef::live).collect(),
        text: format!("{} hook(s) failed: {}", kind.as_str(), names.join(", ")),
    })
}

fn health_code(object: &Value, health: HealthOf<'_>) -> Result<String, String> {
    Ok(health(object)?.map_or_else(|| "Healthy".to_owned(), |found| found.status))
}

/// What the cleanup of a type's hooks does in this pass.
#[derive(Debug, Clone, PartialEq)]
pub enum Cleanup {
    /// Nothing is left that its policy would delete.
    Done,
    /// Delete these (there may be none) and look again: hooks to be deleted are still there.
    Wait(Vec<ObjectRef>),
}

/// Plans the cleanup: policies are held against the worst health of all hooks of the type (SYNC-185). Hooks without a
/// policy for success or failure stay.
pub fn clean_up(kind: DeleteHook, live: &[Value], health: HealthOf<'_>) -> Result<Cleanup, String> {
    let hooks: Vec<&Value> = live.iter().filter(|object| kind.is_type_of(object)).collect();
    let rank = |code: &str| HEALTH_ORDER.iter().position(|known| *known == code).unwrap_or(0);
    let mut worst = 0;
    for hook in &hooks {
        worst = worst.max(rank(&health_code(hook, health)?));
    }
    let is_doomed = |hook: &&Value| {
        let policies = delete_policies(hook);
        (policies.on_failure && worst == rank("Degraded")) || (policies.on_success && worst == rank("Healthy"))
    };
    let doomed: Vec<&Value> = hooks.into_iter().filter(is_doomed).collect();
    if doomed.is_empty() {
        return Ok(Cleanup::Done);
    }
    Ok(Cleanup::Wait(doomed.into_iter().filter(|hook| !hook.is_deleting()).map(ObjectRef::live).collect()))
}
