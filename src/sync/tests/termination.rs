//! Terminating an operation.

use super::*;
use crate::api::names::HOOK_FINALIZER;

/// An operation whose PreSync hook runs, terminated.
fn terminated() -> World {
    let mut world = World::new(vec![config_map("a")]).with_hooks(vec![hook("job", "PreSync")]);
    world.pass();
    world.state.phase = "Terminating".into();
    world.log.clear();
    world
}

#[test]
fn sync_242_a_running_hook_is_stopped() {
    let mut world = terminated();
    world.pass().expect("Failed", "Operation terminated");
    world.expect_log(&["finalizers Job/job []", "delete Job/job Foreground"]);
    world.expect_results(&["Job/job Synced Failed PreSync"]);
    assert_eq!(world.message_of("job"), "Terminated");
    assert!(!world.live.contains_key("Job/job") && !world.live.contains_key("ConfigMap/a"));
}

#[test]
fn sync_242_a_hook_that_completed_keeps_its_result_and_stays() {
    let mut world = terminated();
    world.becomes("Job/job", "Healthy", "all done");
    world.pass().expect("Failed", "Operation terminated").expect_results(&["Job/job Synced Succeeded PreSync"]);
    assert_eq!(world.message_of("job"), "all done");
    assert!(world.live.contains_key("Job/job"));
}

#[test]
fn sync_242_a_hook_that_is_gone_counts_as_stopped() {
    let mut world = terminated();
    world.live.remove("Job/job");
    world.pass().expect("Failed", "Operation terminated").expect_results(&["Job/job Synced Succeeded PreSync"]);
    assert_eq!(world.message_of("job"), "Terminated");
}

#[test]
fn sync_243_a_hook_that_cannot_be_deleted_is_an_error() {
    let mut world = terminated();
    world.failing.insert("delete Job/job".into(), Failure::other("forbidden"));
    world.pass().expect("Error", "Operation termination had errors");
    assert_eq!(world.message_of("job"), "Failed to delete: failed to delete resource: forbidden");
}

#[test]
fn sync_243_a_hook_that_cannot_be_read_is_an_error() {
    let mut world = terminated();
    world.live.remove("Job/job");
    world.failing.insert("get Job/job".into(), Failure::other("timeout"));
    world.pass().expect("Error", "Operation termination had errors");
    assert_eq!(world.message_of("job"), "Failed to get live resource: failed to get resource: timeout");
}

#[test]
fn sync_242_a_hook_of_unknown_health_is_stopped_and_keeps_the_error() {
    let mut world = terminated();
    world.becomes("Job/job", "broken", "");
    world.pass().expect("Failed", "Operation terminated");
    assert_eq!(world.message_of("job"), "Failed to get hook health: failed to get resource health: script failed");
    assert!(!world.live.contains_key("Job/job"));
}

#[test]
fn sync_243_no_sync_fail_hook_runs_and_finished_hooks_are_released() {
    let mut world = World::new(vec![config_map("a")]).with_hooks(vec![
        hook("one", "PreSync"),
        hook("two", "PreSync"),
        hook("notify", "SyncFail"),
    ]);
    world.pass().becomes("Job/one", "Healthy", "");
    world.pass();
    world.state.phase = "Terminating".into();
    assert_eq!(world.live["Job/one"].finalizers(), [HOOK_FINALIZER]);
    world.pass().expect("Failed", "Operation terminated");
    assert!(world.live["Job/one"].finalizers().is_empty());
    assert!(!world.live.contains_key("Job/notify"));
}
