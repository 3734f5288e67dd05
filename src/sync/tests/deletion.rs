//! The stages of an application's deletion.

use super::super::deletion::*;
use super::super::hooks::DeleteHook::{PostDelete, PreDelete};
use super::*;
use crate::api::application::SyncPolicy;
use crate::api::names::*;
use crate::api::status::ResourceStatus;
use crate::api::{Application, ResourceKey};

fn names(list: &[&str]) -> Vec<String> {
    list.iter().map(|name| (*name).to_owned()).collect()
}

fn app() -> Application {
    let mut app = Application::default();
    app.metadata.uid = "app-uid".into();
    app.metadata.deletion_timestamp = Some(START.into());
    app.metadata.finalizers = names(&[RESOURCES_FINALIZER]);
    app.spec.destination.namespace = "demo".into();
    app
}

/// No other application lists anything.
fn alone(_: &ResourceKey) -> bool {
    false
}

fn delete_hook(name: &str, kind: &str, health: &str) -> Value {
    let mut made = hook(name, kind);
    made["status"] = json!({"health": health});
    made
}

fn deleted(plan: &Cascade) -> Vec<&str> {
    match plan {
        Cascade::Delete(objects, _) => objects.iter().map(|object| object.name.as_str()).collect(),
        other => panic!("{other:?}"),
    }
}

#[test]
fn app_196_stages_follow_one_another() {
    let mut left = names(&[
        POST_DELETE_CLEANUP_FINALIZER,
        POST_DELETE_FINALIZER,
        PRE_DELETE_CLEANUP_FINALIZER,
        "foreign",
        BACKGROUND_FINALIZER,
        PRE_DELETE_FINALIZER,
    ]);
    let mut seen = Vec::new();
    while stage(&left) != Stage::Finished {
        seen.push(stage(&left));
        left = after(stage(&left), &left);
    }
    let expected = [
        Stage::Hooks(PreDelete),
        Stage::Cascade,
        Stage::Hooks(PostDelete),
        Stage::Cleanup(PreDelete),
        Stage::Cleanup(PostDelete),
    ];
    assert_eq!((seen.as_slice(), left), (expected.as_slice(), names(&["foreign"])));
}

#[test]
fn app_194_a_removed_finalizer_is_replaced_by_the_last() {
    let list = names(&[RESOURCES_FINALIZER, "b", "c"]);
    assert_eq!(after(Stage::Cascade, &list), names(&["c", "b"]));
}

#[test]
fn app_198_an_undefined_destination_drops_all_of_ours() {
    let list = names(&[RESOURCES_FINALIZER, PRE_DELETE_FINALIZER, "foreign", POST_DELETE_CLEANUP_FINALIZER]);
    assert_eq!(give_up(&list), names(&["foreign"]));
}

#[test]
fn sync_187_the_highest_wave_goes_first() {
    let live = vec![config_map("a"), wave(config_map("b"), 2), wave(config_map("c"), 2), wave(config_map("d"), -1)];
    assert_eq!(deleted(&cascade(&app(), &live, &alone)), ["b", "c"]);
    assert_eq!(cascade(&app(), &[], &alone), Cascade::Done);
}

#[test]
fn app_200_a_wave_waits_for_objects_that_are_still_going() {
    let mut going = config_map("a");
    going.metadata_mut().insert("deletionTimestamp".into(), START.into());
    assert_eq!(cascade(&app(), &[going, config_map("b")], &alone), Cascade::Wait);
}

#[test]
fn sync_188_what_stays() {
    let mut itself = object("argoproj.io/v1alpha1", "Application", "");
    itself["metadata"] = json!({"uid": "app-uid"});
    let mut kept = config_map("kept");
    kept.set_annotation("helm.sh/resource-policy", "keep");
    let protected = with(config_map("protected"), "sync-options", "Delete=false");
    let live = vec![crd(), itself, kept, protected];
    assert!(is_gone(&app(), &live, &alone));
    assert_eq!(cascade(&app(), &live, &alone), Cascade::Done);
    assert!(!is_gone(&app(), &[with(config_map("a"), "sync-options", "Prune=false")], &alone));
}

#[test]
fn sync_195_the_annotation_wins_over_the_spec() {
    let mut app = app();
    app.spec.sync_policy = Some(SyncPolicy { sync_options: vec!["Delete=false".into()], ..SyncPolicy::default() });
    let live = vec![config_map("stays"), with(config_map("goes"), "sync-options", "Delete=true")];
    assert_eq!(deleted(&cascade(&app, &live, &alone)), ["goes"]);
}

#[test]
fn app_201_an_unapproved_object_blocks_everything() {
    let mut app = app();
    let status = ResourceStatus {
        kind: "ConfigMap".into(),
        name: "b".into(),
        namespace: "demo".into(),
        requires_deletion_confirmation: true,
        ..ResourceStatus::default()
    };
    app.status.resources.push(status);
    let live = vec![config_map("a"), config_map("b")];
    assert_eq!(cascade(&app, &live, &alone), Cascade::AwaitApproval(live[1].key()));
    app.metadata.annotations.insert(DELETION_APPROVED.into(), "2024-04-05T19:35:44Z".into());
    assert_eq!(cascade(&app, &live, &alone), Cascade::AwaitApproval(live[1].key()));
    app.metadata.annotations.insert(DELETION_APPROVED.into(), START.into());
    assert_eq!(deleted(&cascade(&app, &live, &alone)), ["a", "b"]);
}

#[test]
fn app_192_the_first_cascade_finalizer_decides_the_propagation() {
    let propagation = |finalizers: &[&str]| {
        let mut app = app();
        app.metadata.finalizers = names(finalizers);
        let Cascade::Delete(_, propagation) = cascade(&app, &[config_map("a")], &alone) else { panic!() };
        propagation
    };
    assert_eq!(propagation(&[RESOURCES_FINALIZER, BACKGROUND_FINALIZER]), Propagation::Foreground);
    assert_eq!(propagation(&["x", BACKGROUND_FINALIZER]), Propagation::Background);
}

#[test]
fn a_namespace_that_another_application_lists_stays() {
    let namespace = json!({"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": "common"}});
    let is_shared = |key: &ResourceKey| key.kind == "Namespace";
    assert_eq!(deleted(&cascade(&app(), &[namespace.clone(), config_map("a")], &is_shared)), ["a"]);
    assert!(is_gone(&app(), &[namespace], &is_shared));
}

#[test]
fn sync_183_hooks_that_exist_are_not_created_again() {
    let mut bare = hook("new", "PreDelete,PreSync");
    bare.metadata_mut().remove("namespace");
    let targets = vec![bare, hook("there", "PreDelete"), hook("other", "PostDelete"), config_map("a")];
    let created = hooks_to_create(PreDelete, &app(), targets, &[hook("there", "PreDelete")]);
    assert_eq!(created.iter().map(ObjectExt::key).collect::<Vec<_>>(), [hook("new", "").key()]);
}

#[test]
fn a_delete_hook_with_a_name_prefix_is_created_once() {
    let mut generated = hook("", "PostDelete");
    generated.metadata_mut().remove("name");
    generated.metadata_mut().insert("generateName".into(), "bye-".into());
    let created = hooks_to_create(PostDelete, &app(), vec![generated.clone()], &[]);
    assert_eq!(created[0].name(), "bye-postdelete-1712345745");
    assert_eq!(hooks_to_create(PostDelete, &app(), vec![generated], &created), Vec::<Value>::new());
}

#[test]
fn app_205_failed_hooks_are_named_and_deleted() {
    let live = vec![
        delete_hook("bad", "PreDelete", "Degraded"),
        delete_hook("slow", "PreDelete", "Progressing"),
        delete_hook("worse", "PreDelete", "Degraded"),
    ];
    let HookStage::Failed { delete, text } = judge_hooks(PreDelete, &live, &health).unwrap() else { panic!() };
    assert_eq!((delete.len(), text.as_str()), (2, "PreDelete hook(s) failed: demo/bad, demo/worse"));
    let shown = stage(&names(&[PRE_DELETE_FINALIZER])).error(Trouble::Working, &text);
    assert_eq!(shown, "error executing pre-delete hooks: PreDelete hook(s) failed: demo/bad, demo/worse");
    assert_eq!(Stage::Hooks(PostDelete).error(Trouble::Working, "x"), "x");
}

#[test]
fn app_205_progressing_waits_and_all_else_is_done() {
    let judge =
        |health_code: &str| judge_hooks(PostDelete, &[delete_hook("a", "PostDelete", health_code)], &health).unwrap();
    assert_eq!(
        [judge("Progressing"), judge("Suspended"), judge("Healthy")],
        [HookStage::Wait, HookStage::Done, HookStage::Done]
    );
    assert_eq!(judge_hooks(PostDelete, &[delete_hook("a", "PreDelete", "Degraded")], &health), Ok(HookStage::Done));
    assert!(judge_hooks(PostDelete, &[delete_hook("a", "PostDelete", "broken")], &health).is_err());
}

#[test]
fn app_206_cleanup_holds_policies_against_the_worst_health() {
    let policy = |name: &str, policy: &str, code: &str| {
        with(delete_hook(name, "PostDelete", code), "hook-delete-policy", policy)
    };
    let plan = |live: &[Value]| match clean_up(PostDelete, live, &health).unwrap() {
        Cleanup::Done => vec!["done".to_owned()],
        Cleanup::Wait(objects) => objects.into_iter().map(|object| object.name).collect(),
    };
    let good = policy("good", "HookSucceeded", "Healthy");
    assert_eq!(plan(std::slice::from_ref(&good)), ["good"]);
    assert_eq!(plan(&[good, policy("bad", "HookFailed", "Degraded")]), ["bad"]);
    assert_eq!(plan(&[delete_hook("bare", "PostDelete", "Healthy")]), ["done"]);
    let mut going = policy("going", "HookSucceeded", "Healthy");
    going.metadata_mut().insert("deletionTimestamp".into(), START.into());
    assert_eq!(clean_up(PostDelete, &[going], &health), Ok(Cleanup::Wait(vec![])));
}
