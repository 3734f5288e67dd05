//! Hook types, names, delete policies and finalizers.

use super::super::hooks::{self, HookType};
use super::*;
use crate::api::names::HOOK_FINALIZER;

fn annotated(pairs: &[(&str, &str)]) -> Value {
    let mut made = object("batch/v1", "Job", "job");
    for (name, value) in pairs {
        made.set_annotation(name, value);
    }
    made
}

#[track_caller]
fn check_phases(pairs: &[(&str, &str)], expected: &[SyncPhase]) {
    assert_eq!(hooks::sync_phases(&annotated(pairs)), expected, "{pairs:?}");
}

const ARGO: &str = "argocd.argoproj.io/hook";
const HELM: &str = "helm.sh/hook";

#[test]
fn sync_162_types_are_a_trimmed_distinct_case_sensitive_list() {
    check_phases(&[], &[SyncPhase::Sync]);
    check_phases(&[(ARGO, " PostSync , PreSync,PreSync")], &[SyncPhase::PreSync, SyncPhase::PostSync]);
    check_phases(&[(ARGO, "presync")], &[]);
    assert!(hooks::is_ignored(&annotated(&[(ARGO, "presync")])));
}

#[test]
fn sync_163_skip_acts_only_alone() {
    let skipped = annotated(&[(ARGO, "Skip")]);
    assert!(hooks::is_skipped(&skipped) && !hooks::is_hook(&skipped) && hooks::sync_phases(&skipped).is_empty());
    check_phases(&[(ARGO, "Skip,PreSync")], &[SyncPhase::PreSync]);
}

#[test]
fn sync_165_helm_types_count_when_argo_cd_gives_none() {
    check_phases(&[(HELM, "pre-install,pre-upgrade")], &[SyncPhase::PreSync]);
    check_phases(&[(HELM, "post-upgrade")], &[SyncPhase::PostSync]);
    check_phases(&[(ARGO, "Sync"), (HELM, "pre-install")], &[SyncPhase::Sync]);
    check_phases(&[(ARGO, "Snyc"), (HELM, "pre-install")], &[SyncPhase::PreSync]);
    check_phases(&[(HELM, "crd-install")], &[SyncPhase::Sync]);
    assert!(hooks::is_ignored(&annotated(&[(HELM, "test-success")])));
}

#[test]
fn sync_180_delete_hooks_take_part_in_a_sync_only_with_a_sync_type() {
    assert!(hooks::is_delete_hook_only(&annotated(&[(ARGO, "PostDelete")])));
    assert!(hooks::is_delete_hook_only(&annotated(&[(HELM, "pre-delete,post-delete")])));
    assert!(!hooks::is_delete_hook_only(&annotated(&[(ARGO, "PreSync, PostDelete")])));
    assert_eq!(hooks::types(&annotated(&[(ARGO, "PreSync, PostDelete")])), [HookType::Phase(SyncPhase::PreSync)]);
}

#[test]
fn sync_167_without_a_valid_policy_a_hook_is_deleted_before_creation() {
    let policies = |pairs: &[(&str, &str)]| {
        let found = hooks::delete_policies(&annotated(pairs));
        (found.before_creation, found.on_success, found.on_failure)
    };
    assert_eq!(policies(&[]), (true, false, false));
    assert_eq!(policies(&[("argocd.argoproj.io/hook-delete-policy", "Whenever")]), (true, false, false));
    assert_eq!(policies(&[("argocd.argoproj.io/hook-delete-policy", "HookSucceeded")]), (false, true, false));
    let both = [
        ("argocd.argoproj.io/hook-delete-policy", "HookSucceeded, BeforeHookCreation"),
        ("helm.sh/hook-delete-policy", "hook-failed"),
    ];
    assert_eq!(policies(&both), (true, true, true));
}

#[test]
fn sync_172_a_generated_name_has_revision_phase_and_start() {
    let name = |revision| hooks::generated_name("migrate-", revision, SyncPhase::PreSync, 1_712_345_678);
    assert_eq!(name("0a1b2c3d4e"), "migrate-0a1b2c3-presync-1712345678");
    assert_eq!(name("V1.2"), "migrate-v1.2-presync-1712345678");
    assert_eq!(name("1234567"), "migrate-1234567-presync-1712345678");
    assert_eq!(name(""), "migrate--presync-1712345678");
}

#[test]
fn sync_172_a_hook_with_a_name_prefix_is_found_again_by_its_name() {
    let mut generated = hook("", "PreSync");
    generated.metadata_mut().remove("name");
    generated.metadata_mut().insert("generateName".into(), "migrate-".into());
    let mut world = World::new(vec![config_map("a")]).with_hooks(vec![generated]);
    world.pass().expect("Running", "waiting for completion of hook batch/Job/migrate-0a1b2c3-presync-1712345745");
    world.becomes("Job/migrate-0a1b2c3-presync-1712345745", "Healthy", "");
    world.pass().expect("Succeeded", "successfully synced (all tasks run)");
}

#[test]
fn sync_053_a_hook_is_created_with_its_finalizer_and_loses_it_when_done() {
    let mut world = World::new(vec![]).with_hooks(vec![hook("job", "Sync")]);
    world.pass();
    assert_eq!(world.live["Job/job"].finalizers(), [HOOK_FINALIZER]);
    world.becomes("Job/job", "Healthy", "");
    world.pass().expect("Succeeded", "successfully synced (no more tasks)");
    assert!(world.live["Job/job"].finalizers().is_empty());
}

#[test]
fn sync_168_an_old_hook_goes_before_the_new_one_is_created() {
    let mut world = World::new(vec![config_map("a")]).with_hooks(vec![hook("job", "PreSync")]);
    let mut world = {
        world.live.insert("Job/job".into(), hook("job", "PreSync"));
        world
    };
    world.slow_deletion = true;
    world.pass().expect("Running", "waiting for deletion of hook batch/Job/job").expect_results(&[]);
    world.pass().expect("Running", "waiting for deletion of hook batch/Job/job");
    assert_eq!(world.log.iter().filter(|line| *line == "delete Job/job Foreground").count(), 2);
    world.live.remove("Job/job");
    world.pass().expect("Running", "waiting for completion of hook batch/Job/job");
}

#[test]
fn sync_168_an_old_hook_that_is_gone_already_holds_nothing() {
    let mut world = World::new(vec![]).with_hooks(vec![hook("job", "PreSync")]).with_live(vec![hook("job", "PreSync")]);
    world.failing.insert("delete Job/job".into(), Failure::not_found("jobs.batch \"job\" not found"));
    world.pass().expect("Running", "waiting for completion of hook batch/Job/job");
}

#[test]
fn a_hook_created_before_a_crash_is_not_run_again() {
    let mut world =
        World::new(vec![config_map("a")]).with_hooks(vec![hook("job", "PreSync"), hook("late", "PostSync")]);
    world.pass();
    assert_eq!(world.announced, ["one or more tasks are running"]);
    // The hook was created, and the process ended before it could store that.
    world.state.sync_result = None;
    world.state.message = world.announced.remove(0);
    world.live.insert("Job/late".into(), hook("late", "PostSync"));
    world.log.clear();
    world.pass().expect("Running", "waiting for completion of hook batch/Job/job");
    assert!(world.live.contains_key("Job/job"));
    assert!(
        !world.log.iter().any(|line| line.starts_with("delete") || line.starts_with("finalizers")),
        "{:?}",
        world.log
    );
    // What was announced concerns that step alone: an old hook of a later phase still goes first.
    world.becomes("Job/job", "Healthy", "");
    world.slow_deletion = true;
    world.pass().pass();
    assert!(world.log.contains(&"delete Job/late Foreground".to_owned()), "{:?}", world.log);
}

#[test]
fn nothing_is_announced_where_no_hook_is_created() {
    let mut world = World::new(vec![config_map("a")]);
    world.pass().expect("Succeeded", "successfully synced (all tasks run)");
    assert!(world.announced.is_empty());
}

#[test]
fn sync_169_hook_succeeded_deletes_at_the_end_of_the_operation() {
    let job = with(hook("job", "PreSync"), "hook-delete-policy", "HookSucceeded");
    let mut world = World::new(vec![config_map("a")]).with_hooks(vec![job, hook("after", "PostSync")]);
    world.pass().becomes("Job/job", "Healthy", "");
    world.pass();
    assert!(world.live.contains_key("Job/job"));
    world.pass().becomes("Job/after", "Healthy", "");
    world.pass().expect("Succeeded", "successfully synced (no more tasks)");
    assert!(!world.live.contains_key("Job/job") && world.live.contains_key("Job/after"));
}

#[test]
fn sync_169_hook_failed_deletes_even_hooks_that_succeeded() {
    let good = with(hook("good", "PreSync"), "hook-delete-policy", "HookFailed");
    let mut world = World::new(vec![]).with_hooks(vec![good, hook("bad", "PreSync")]);
    world.pass();
    world.becomes("Job/good", "Healthy", "");
    world.becomes("Job/bad", "Degraded", "no luck");
    world.pass().expect("Failed", "one or more synchronization tasks completed unsuccessfully");
    assert!(!world.live.contains_key("Job/good") && world.live.contains_key("Job/bad"));
}

#[test]
fn sync_171_without_before_hook_creation_an_existing_hook_is_applied_again() {
    let job = with(hook("job", "PreSync"), "hook-delete-policy", "HookSucceeded");
    let mut old = job.clone();
    old.metadata_mut().insert("finalizers".into(), json!([HOOK_FINALIZER]));
    let mut world = World::new(vec![]).with_hooks(vec![job]).with_live(vec![old]);
    world.pass().expect_log(&["finalizers Job/job []", "apply Job/job"]);
}

#[test]
fn sync_160_a_hook_without_health_check_is_done_at_once() {
    let marker = with(config_map("marker"), "hook", "PreSync");
    let mut world = World::new(vec![]).with_hooks(vec![marker]);
    world.pass().pass().expect("Succeeded", "successfully synced (no more tasks)");
    assert_eq!(world.message_of("marker"), "marker created");
}

#[test]
fn sync_160_a_hook_whose_health_fails_is_an_error() {
    let mut world = World::new(vec![]).with_hooks(vec![hook("job", "Sync")]);
    world.pass().becomes("Job/job", "broken", "");
    world.pass().expect("Failed", "one or more synchronization tasks completed unsuccessfully");
    let text = "failed to get resource health: failed to get resource health: script failed";
    assert_eq!(world.message_of("job"), text);
}

#[test]
fn a_hook_that_vanished_ends_the_operation() {
    let mut world = World::new(vec![config_map("a")]).with_hooks(vec![hook("job", "PreSync")]);
    world.pass().live.remove("Job/job");
    world.pass().expect_results(&["Job/job SyncFailed Error PreSync"]);
    let reason = "Resource batch/Job/job is missing, it might have been deleted";
    world
        .pass()
        .expect("Failed", &format!("one or more synchronization tasks completed unsuccessfully, reason: {reason}"));
}

#[test]
fn a_deleted_hook_kept_by_its_finalizer_is_given_up_after_five_minutes() {
    let mut world = World::new(vec![config_map("a")]).with_hooks(vec![hook("job", "PreSync")]);
    world.pass();
    world
        .live
        .get_mut("Job/job")
        .unwrap()
        .metadata_mut()
        .insert("deletionTimestamp".into(), "2024-04-05T19:36:00Z".into());
    world.now = at("2024-04-05T19:41:00Z");
    world.pass().expect("Running", "waiting for completion of hook batch/Job/job");
    world.now = at("2024-04-05T19:41:01Z");
    world.pass();
    assert_eq!(world.state.phase, "Failed");
    assert!(!world.live.contains_key("Job/job"), "the finalizer is gone, so is the hook");
}

#[test]
fn sync_175_a_finalizer_that_cannot_be_removed_stops_the_step() {
    let mut old = hook("job", "PreSync");
    old.metadata_mut().insert("finalizers".into(), json!([HOOK_FINALIZER]));
    let mut world = World::new(vec![]).with_hooks(vec![hook("job", "PreSync")]).with_live(vec![old]);
    world.failing.insert("finalizers Job/job".into(), Failure::other("forbidden"));
    world.pass().expect("Failed", "one or more objects failed to apply").expect_log(&[]);
    let text = "failed to remove hook finalizer: failed to update resource: failed to update resource: forbidden";
    assert_eq!(world.message_of("job"), text);
}

#[test]
fn sync_096_a_conflict_on_the_finalizer_is_retried_on_the_newest_object() {
    let mut world = World::new(vec![]).with_hooks(vec![hook("job", "Sync")]);
    world.pass().becomes("Job/job", "Healthy", "");
    let before = world.resources();
    world.live.get_mut("Job/job").unwrap().metadata_mut().insert("resourceVersion".into(), "99".into());
    assert_ne!(before, world.resources());
    world.pass().expect("Succeeded", "successfully synced (no more tasks)");
}

#[test]
fn a_hook_of_a_kind_that_nobody_watches_completes() {
    let mut world = World::new(vec![config_map("a")]).with_hooks(vec![hook("job", "PreSync")]);
    world.unwatched.push("Job/job".into());
    world.pass().pass().expect("Running", "waiting for completion of hook batch/Job/job");
    world.becomes("Job/job", "Healthy", "");
    world.pass().pass().expect("Succeeded", "successfully synced (all tasks run)");
}

#[test]
fn an_old_hook_beside_a_failing_object_does_not_hold_the_operation() {
    for phase in ["Sync", "SyncFail", "PreSync", "PostSync"] {
        let old = hook("again", phase);
        let world = World::new(vec![config_map("bad")]).with_hooks(vec![hook("again", phase)]).with_live(vec![old]);
        let mut world = world.failing("ConfigMap/bad", "forbidden");
        for _ in 0..8 {
            world.pass();
            if world.live.contains_key("Job/again") {
                world.becomes("Job/again", "Healthy", "");
            }
            if world.state.phase != "Running" {
                break;
            }
        }
        assert_eq!(world.state.phase, "Failed", "{phase}: {}", world.state.message);
    }
}
