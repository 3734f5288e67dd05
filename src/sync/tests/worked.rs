//! The worked results of the specification: the final status a golden shows.

use super::*;

#[test]
fn sync_270_one_wave_ends_in_one_pass_and_does_not_wait_for_health() {
    let mut world = World::new(vec![deployment("web"), object("v1", "Service", "web")]);
    world.pass().expect("Succeeded", "successfully synced (all tasks run)");
    world.expect_results(&["Service/web Synced Running Sync", "Deployment/web Synced Running Sync"]);
    assert_eq!(world.results()[0].message, "service/web created");
    assert_eq!(world.results()[1].message, "deployment.apps/web created");
    assert_eq!(world.results()[1].images, ["app:1", "side:2"]);
}

#[test]
fn sync_271_a_missing_namespace_is_created_in_a_pass_of_its_own() {
    let mut world = World::new(vec![deployment("web")]).with_options(&["CreateNamespace=true"]);
    world.live.clear();
    world.pass().expect("Running", "waiting for healthy state of /Namespace/demo");
    world.live.get_mut("Namespace/demo").unwrap().metadata_mut().insert("uid".into(), "untracked".into());
    world.pass().expect("Succeeded", "successfully synced (all tasks run)");
    world.expect_results(&["Namespace/demo Synced Running PreSync", "Deployment/web Synced Running Sync"]);
    assert_eq!((world.results()[0].namespace.as_str(), world.message_of("demo")), ("", "namespace/demo created"));
}

#[test]
fn sync_272_a_presync_hook_completes_before_the_rest_is_applied() {
    let mut world = World::new(vec![deployment("web")]).with_hooks(vec![hook("migrate", "PreSync")]);
    world.pass().expect("Running", "waiting for completion of hook batch/Job/migrate");
    world.expect_log(&["apply Job/migrate", "sleep 2s"]);
    world.pass().expect("Running", "waiting for completion of hook batch/Job/migrate");
    world.becomes("Job/migrate", "Healthy", "Reached expected number of succeeded pods");
    world.pass().expect("Succeeded", "successfully synced (all tasks run)");
    world.expect_results(&["Job/migrate Synced Succeeded PreSync", "Deployment/web Synced Running Sync"]);
    assert_eq!(world.message_of("migrate"), "Reached expected number of succeeded pods");
    assert_eq!(world.results()[0].hook_type, "PreSync");
}

#[test]
fn sync_273_before_a_postsync_hook_health_is_waited_for() {
    let mut world = World::new(vec![deployment("web")]).with_hooks(vec![hook("smoke", "PostSync")]);
    world.pass().expect("Running", "waiting for healthy state of apps/Deployment/web");
    world.pass().expect("Running", "waiting for healthy state of apps/Deployment/web");
    world.becomes("Deployment/web", "Healthy", "");
    world.pass().expect("Running", "waiting for completion of hook batch/Job/smoke");
    world.becomes("Job/smoke", "Healthy", "");
    world.pass().expect("Succeeded", "successfully synced (no more tasks)");
    world.expect_results(&["Deployment/web Synced Succeeded Sync", "Job/smoke Synced Succeeded PostSync"]);
    assert_eq!(world.message_of("web"), "deployment.apps/web created");
}

#[test]
fn sync_274_the_second_wave_stays_running_in_the_final_status() {
    let mut world = World::new(vec![wave(config_map("late"), 1), config_map("early")]);
    world.pass().expect("Running", "waiting for healthy state of /ConfigMap/early");
    world.pass().expect("Succeeded", "successfully synced (all tasks run)");
    world.expect_results(&["ConfigMap/early Synced Succeeded Sync", "ConfigMap/late Synced Running Sync"]);
    world.expect_log(&["apply ConfigMap/early", "sleep 2s", "apply ConfigMap/late"]);
}

#[test]
fn sync_275_a_failing_presync_hook_fails_the_operation_without_a_reason() {
    let mut world = World::new(vec![deployment("web")]).with_hooks(vec![hook("migrate", "PreSync")]);
    world.pass().becomes("Job/migrate", "Degraded", "Job has reached the specified backoff limit");
    world.pass().expect("Failed", "one or more synchronization tasks completed unsuccessfully");
    world.expect_results(&["Job/migrate Synced Failed PreSync"]);
    assert_eq!(world.message_of("migrate"), "Job has reached the specified backoff limit");
    assert!(!world.live.contains_key("Deployment/web"));
}

#[test]
fn sync_276_without_prune_an_extra_object_is_left_and_named() {
    let mut world = World::new(vec![config_map("kept")]).with_live(vec![config_map("extra")]);
    world.pass().expect("Succeeded", "successfully synced (all tasks run)");
    world.expect_results(&["ConfigMap/extra PruneSkipped Succeeded Sync", "ConfigMap/kept Synced Running Sync"]);
    assert_eq!(world.message_of("extra"), "ignored (requires pruning)");
    assert!(world.live.contains_key("ConfigMap/extra"));
}

#[test]
fn sync_277_prunes_come_before_the_creates_of_their_wave() {
    let mut world = World::new(vec![config_map("kept")]).with_live(vec![object("v1", "Service", "old")]).pruning();
    world.pass().expect("Succeeded", "successfully synced (all tasks run)");
    world.expect_results(&["Service/old Pruned Succeeded Sync", "ConfigMap/kept Synced Running Sync"]);
    world.expect_log(&["delete Service/old Foreground", "apply ConfigMap/kept"]);
}

#[test]
fn sync_278_a_forbidden_kind_stops_everything() {
    let role = object("rbac.authorization.k8s.io/v1", "ClusterRole", "all");
    let mut world = World::new(vec![config_map("web"), role]);
    let reason = "resource rbac.authorization.k8s.io:ClusterRole is not permitted in project demo";
    world.pass().expect("Failed", &format!("one or more synchronization tasks are not valid: {reason}"));
    world.expect_results(&["ClusterRole/all SyncFailed  Sync"]).expect_log(&[]);
}

#[test]
fn sync_279_a_resource_without_its_crd_is_named_with_the_missing_kind() {
    let mut world = World::new(vec![custom_resource("one")]);
    let reason = "failed to discover server resources for group version example.com/v1: the server could not find the requested resource";
    world.pass().expect("Failed", &format!("one or more synchronization tasks are not valid: {reason}"));
    let mut entries = world.results().to_vec();
    text::augment(&mut entries, |_| Ok(None));
    assert_eq!(
        entries[0].message,
        "The Kubernetes API could not find example.com/Widget for requested resource demo/one. Make sure the \"Widget\" CRD is installed on the destination cluster."
    );
}

#[test]
fn sync_098_an_empty_application_succeeds() {
    World::new(vec![]).pass().expect("Succeeded", "successfully synced (no more tasks)").expect_results(&[]);
}

#[test]
fn the_same_input_and_answers_give_the_same_actions() {
    let run = || {
        let mut world =
            World::new(vec![wave(deployment("b"), 1), config_map("a")]).with_hooks(vec![hook("h", "PreSync,PostSync")]);
        world.pass().pass();
        (world.log.clone(), world.state.to_value())
    };
    assert_eq!(run(), run());
}
