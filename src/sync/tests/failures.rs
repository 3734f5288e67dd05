//! Dry-run failures, apply failures and SyncFail hooks.

use super::*;

#[test]
fn sync_077_a_dry_run_failure_applies_nothing_and_gives_no_reason() {
    let targets = vec![config_map("a"), deployment("b")];
    let hooks = vec![hook("notify", "SyncFail")];
    let mut world = World::new(targets).with_hooks(hooks).failing("Deployment/b", "dry: invalid");
    world.pass().expect("Failed", "one or more objects failed to apply (dry run)").expect_log(&[]);
    world.expect_results(&["Deployment/b SyncFailed Failed Sync"]);
}

#[test]
fn sync_075_a_resumed_operation_repeats_no_dry_run() {
    let mut world = World::new(vec![config_map("a"), wave(deployment("b"), 1)]);
    world.pass();
    world.failing.insert("Deployment/b".into(), Failure::other("dry: invalid"));
    world.pass().expect("Failed", "one or more objects failed to apply, reason: dry: invalid");
}

#[test]
fn sync_103_a_lone_failure_is_told_with_its_reason() {
    let mut world = World::new(vec![config_map("a")]).failing("ConfigMap/a", "forbidden");
    world.pass().expect("Failed", "one or more objects failed to apply, reason: forbidden");
}

#[test]
fn sync_102_a_failure_beside_applied_objects_ends_a_pass_later() {
    let mut world = World::new(vec![config_map("a"), deployment("b")]).failing("Deployment/b", "forbidden");
    world.pass().expect("Running", "waiting for healthy state of /ConfigMap/a");
    world.pass().expect("Failed", "one or more synchronization tasks completed unsuccessfully, reason: forbidden");
    world.expect_results(&["ConfigMap/a Synced Succeeded Sync", "Deployment/b SyncFailed Failed Sync"]);
}

#[test]
fn sync_113_reasons_are_told_once_each() {
    let targets = vec![config_map("a"), config_map("b"), deployment("c")];
    let world = World::new(targets).failing("ConfigMap/a", "x").failing("ConfigMap/b", "x");
    let mut world = world.failing("Deployment/c", "w");
    world.pass().expect("Failed", "one or more objects failed to apply, reason: w,x");
}

#[test]
fn sync_116_sync_fail_hooks_run_together_before_the_operation_fails() {
    let hooks = vec![wave(hook("late", "SyncFail"), 5), hook("early", "SyncFail")];
    let mut world = World::new(vec![config_map("a")]).with_hooks(hooks).failing("ConfigMap/a", "forbidden");
    world.pass().expect("Running", "waiting for completion of hook batch/Job/early and 1 more hooks");
    world.expect_log(&["apply Job/early", "apply Job/late"]);
    world.becomes("Job/early", "Healthy", "");
    world.pass().expect("Running", "waiting for completion of hook batch/Job/late");
    world.becomes("Job/late", "Healthy", "");
    let base = "one or more synchronization tasks completed unsuccessfully";
    world.pass().expect("Failed", &format!("{base}, reason: forbidden"));
}

#[test]
fn sync_115_a_sync_fail_hook_that_cannot_run_is_told_too() {
    let world = World::new(vec![config_map("a")]).with_hooks(vec![hook("notify", "SyncFail")]);
    let mut world = world.failing("ConfigMap/a", "forbidden").failing("Job/notify", "no quota");
    world.pass().expect("Running", "waiting for completion of hook batch/Job/notify");
    let base = "one or more synchronization tasks completed unsuccessfully, reason: forbidden";
    let more = "one or more SyncFail hooks failed, reason: no quota";
    world.pass().expect("Failed", &format!("{base}\n{more}"));
}

#[test]
fn sync_057_several_invalid_tasks_are_told_sorted() {
    let role = object("rbac.authorization.k8s.io/v1", "ClusterRole", "all");
    let mut world = World::new(vec![role, custom_resource("one")]);
    world.pass();
    let reasons = "failed to discover server resources for group version example.com/v1: the server could not find the requested resource; resource rbac.authorization.k8s.io:ClusterRole is not permitted in project demo";
    world.expect("Failed", &format!("one or more synchronization tasks are not valid: {reasons}"));
}

#[test]
fn an_unanswered_action_is_a_failure_not_a_success() {
    let (operation, state) = (SyncOperation::default(), World::new(vec![]).state);
    let mut pass = Pass::new(Input {
        operation: &operation,
        state: &state,
        resources: vec![Resource { target: Some(config_map("a")), live: None, modified: true, self_referenced: true }],
        hooks: Vec::new(),
        namespace: "demo",
        managed_namespace_metadata: None,
        revision: "",
        prune_guard: PruneGuard::default(),
        deletion_approved: None,
        migration_manager: None,
        now: at(START),
        wave_delay: Duration::ZERO,
        health: &health,
        permit: &permit,
    });
    assert!(matches!(pass.next(Vec::new()), Next::Do(actions) if actions.len() == 1));
    let Next::Done(update) = pass.next(Vec::new()) else { panic!("the pass goes on with nothing known") };
    assert_eq!(update.phase, OperationPhase::Failed);
    assert_eq!(pass.next(Vec::new()), Next::Done(update));
}

#[test]
fn sync_020_what_the_comparison_found_may_refuse_the_operation() {
    use crate::api::status::Condition;
    let shared = Condition::new("SharedResourceWarning", "ConfigMap/a is part of applications argocd/x and y");
    let broken = [Condition::new("ComparisonError", "no repo"), Condition::new("InvalidSpecError", "no source")];
    let all = [vec![shared], broken.to_vec()].concat();
    let mut sync = SyncOperation::default();
    let errors = Some((OperationPhase::Error, "ComparisonError: no repo;InvalidSpecError: no source".to_owned()));
    assert_eq!((text::refusal(&sync, &all), text::refusal(&sync, &all[..1])), (errors, None));
    sync.sync_options.push("FailOnSharedResource=true".into());
    let sharing = "Shared resource found: ConfigMap/a is part of applications argocd/x and y".to_owned();
    assert_eq!(text::refusal(&sync, &all), Some((OperationPhase::Failed, sharing)));
}

#[test]
fn sync_116_the_operation_fails_only_when_every_sync_fail_hook_is_completed() {
    let mut old = hook("broken", "SyncFail");
    old.metadata_mut().insert("finalizers".into(), json!([crate::api::names::HOOK_FINALIZER]));
    let hooks = vec![hook("broken", "SyncFail"), hook("notify", "SyncFail")];
    let mut world = World::new(vec![config_map("a")]).with_hooks(hooks).with_live(vec![old]);
    world.failing.insert("finalizers Job/broken".into(), Failure::other("forbidden"));
    let mut world = world.failing("ConfigMap/a", "denied");
    world.pass();
    assert!(!world.live.contains_key("Job/notify"), "the old hook holds the whole step back");
    world.pass().expect("Running", "waiting for completion of hook batch/Job/notify");
    assert!(world.live.contains_key("Job/notify"));
}
