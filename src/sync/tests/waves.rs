//! Waves, their gates, prunes, the namespace and CRDs.

use super::*;

#[test]
fn sync_093_a_wave_waits_for_an_unhealthy_predecessor() {
    let mut world = World::new(vec![deployment("first"), wave(config_map("second"), 1)]);
    world.pass().pass();
    world.expect("Running", "waiting for healthy state of apps/Deployment/first");
    assert!(!world.live.contains_key("ConfigMap/second"));
    world.becomes("Deployment/first", "Suspended", "paused");
    world.pass().expect("Running", "waiting for healthy state of apps/Deployment/first");
    world.becomes("Deployment/first", "Healthy", "");
    world.pass().expect("Succeeded", "successfully synced (all tasks run)");
}

#[test]
fn sync_090_a_degraded_object_of_an_earlier_wave_fails_the_operation() {
    let mut world = World::new(vec![deployment("first"), wave(config_map("second"), 1)]);
    world.pass().becomes("Deployment/first", "Degraded", "exceeded its progress deadline");
    world.pass().expect("Failed", "one or more synchronization tasks completed unsuccessfully");
    world.expect_results(&["Deployment/first Synced Failed Sync"]);
    assert_eq!(world.message_of("first"), "exceeded its progress deadline");
}

#[test]
fn sync_094_a_vanished_object_is_reported_then_fails_the_operation() {
    let mut world = World::new(vec![deployment("first"), wave(config_map("second"), 1)]);
    world.pass().live.remove("Deployment/first");
    world.pass().expect("Running", "waiting for healthy state of apps/Deployment/first");
    world.expect_results(&["Deployment/first SyncFailed Error Sync"]);
    let reason = "Resource apps/Deployment/first is missing, it might have been deleted";
    let base = "one or more synchronization tasks completed unsuccessfully, reason: ";
    world.pass().expect("Failed", &format!("{base}{reason}"));
}

#[test]
fn sync_037_prune_waves_are_mirrored() {
    let live = vec![wave(config_map("a"), 0), wave(config_map("b"), 1), wave(config_map("c"), 2)];
    let mut world = World::new(vec![]).with_live(live).pruning();
    world.pass().pass().pass().expect("Succeeded", "successfully synced (all tasks run)");
    let deletions: Vec<&str> = world.log.iter().filter(|line| line.starts_with("delete")).map(String::as_str).collect();
    assert_eq!(
        deletions,
        ["delete ConfigMap/c Foreground", "delete ConfigMap/b Foreground", "delete ConfigMap/a Foreground"]
    );
}

#[test]
fn sync_095_the_next_wave_waits_for_pruned_objects_to_go() {
    let live = vec![wave(config_map("a"), 0), wave(config_map("b"), 1)];
    let mut world = World::new(vec![]).with_live(live).pruning();
    world.slow_deletion = true;
    world.pass().pass().expect("Running", "waiting for deletion of /ConfigMap/b");
    world.live.remove("ConfigMap/b");
    world.pass().expect("Succeeded", "successfully synced (all tasks run)");
}

#[test]
fn sync_038_prune_last_comes_after_the_highest_wave() {
    let targets = vec![config_map("a"), wave(config_map("b"), 3)];
    let mut world = World::new(targets).with_live(vec![config_map("old")]).with_options(&["PruneLast=true"]).pruning();
    world.pass().pass().pass().expect("Succeeded", "successfully synced (all tasks run)");
    world.expect_results(&[
        "ConfigMap/a Synced Succeeded Sync",
        "ConfigMap/b Synced Succeeded Sync",
        "ConfigMap/old Pruned Succeeded Sync",
    ]);
}

#[test]
fn sync_044_a_failed_prune_stops_the_creates_of_its_wave() {
    let mut world = World::new(vec![config_map("new")]).with_live(vec![config_map("old")]).pruning();
    world.failing.insert("delete ConfigMap/old".into(), Failure::not_found("configmaps \"old\" not found"));
    world.pass().expect("Failed", "one or more objects failed to apply, reason: configmaps \"old\" not found");
    world.expect_results(&["ConfigMap/old SyncFailed Failed Sync"]);
    assert!(!world.live.contains_key("ConfigMap/new"));
}

#[test]
fn sync_194_an_unapproved_prune_holds_its_whole_wave() {
    let old = with(config_map("old"), "sync-options", "Prune=confirm");
    let mut world = World::new(vec![config_map("new")]).with_live(vec![old]).pruning();
    world.pass().expect("Running", "waiting for pruning confirmation of /ConfigMap/old");
    world.expect_log(&[]);
    world.approved = Time::parse("2024-04-05T19:35:44Z");
    world.pass().expect("Running", "waiting for pruning confirmation of /ConfigMap/old");
    world.approved = Time::parse(START);
    world.pass().expect("Succeeded", "successfully synced (all tasks run)");
    world.expect_log(&["delete ConfigMap/old Foreground", "apply ConfigMap/new"]);
}

#[test]
fn an_operation_that_would_prune_beyond_its_budget_does_nothing() {
    let mut world = World::new(vec![config_map("new")]).with_live(vec![config_map("one"), config_map("two")]).pruning();
    world.guard.budget = PruneBudget::in_force(Some("1"), None, &["abc".to_owned()]);
    world.pass();
    assert_eq!(world.state.phase, "Failed");
    assert!(world.state.message.starts_with("automated sync would prune 2 of 2 objects"), "{}", world.state.message);
    world.expect_log(&[]);
}

#[test]
fn an_operation_on_a_partial_rendering_prunes_no_claim_but_other_objects() {
    let mut claim = config_map("data");
    claim["kind"] = "PersistentVolumeClaim".into();
    let partial = || PartialRender::of(&[Some(1), Some(0)], None, &["a".to_owned(), "b".to_owned()]);
    let mut world = World::new(vec![config_map("new")]).with_live(vec![claim]).pruning();
    world.guard.partial = partial();
    world.pass();
    assert_eq!(world.state.phase, "Failed");
    assert!(world.state.message.contains(": PersistentVolumeClaim demo/data. To approve"), "{}", world.state.message);
    world.expect_log(&[]);
    let mut world = World::new(vec![]).with_live(vec![config_map("old")]).pruning();
    world.guard.partial = partial();
    world.pass().expect("Succeeded", "successfully synced (all tasks run)");
    world.expect_log(&["delete ConfigMap/old Foreground"]);
}

#[test]
fn what_an_operation_has_pruned_already_counts_too() {
    let both = || vec![wave(config_map("early"), 1), config_map("late")];
    let mut world = World::new(vec![]).with_live(both()).pruning();
    world.guard.budget = PruneBudget::in_force(Some("2"), None, &["abc".to_owned()]);
    world.pass().pass();
    world.expect_log(&["delete ConfigMap/early Foreground", "sleep 2s", "delete ConfigMap/late Foreground"]);
    let mut world = World::new(vec![]).with_live(both()).pruning();
    world.guard.budget = PruneBudget::in_force(Some("2"), None, &["abc".to_owned()]);
    world.pass();
    world.live.insert("ConfigMap/another".to_owned(), config_map("another"));
    world.pass();
    assert_eq!(world.state.phase, "Failed");
    world.expect_log(&["delete ConfigMap/early Foreground", "sleep 2s"]);
}

#[test]
fn sync_080_a_forbidden_resource_is_refused_although_its_crd_comes_with_it() {
    let mut world = World::new(vec![custom_resource("forbidden"), crd()]);
    world.pass().expect(
        "Failed",
        "one or more synchronization tasks are not valid: resource example.com:Widget is not permitted in project demo",
    );
    world.expect_log(&[]);
}

#[test]
fn sync_079_a_crd_and_its_resource_sync_together() {
    let mut world = World::new(vec![custom_resource("one"), crd()]);
    world.pass().expect("Succeeded", "successfully synced (all tasks run)");
    world.expect_log(&[
        "apply CustomResourceDefinition/widgets.example.com",
        "wait for crd widgets.example.com",
        "apply Widget/one",
    ]);
}

#[test]
fn sync_061_a_cluster_scoped_object_shows_the_destination_namespace() {
    let mut world = World::new(vec![crd()]);
    world.pass();
    assert_eq!(world.results()[0].namespace, "demo");
}

#[test]
fn sync_065_managed_namespace_metadata_arrives_by_server_side_apply() {
    let mut world = World::new(vec![config_map("a")]).with_options(&["CreateNamespace=true"]);
    let labels = [("team".to_owned(), "x".to_owned())].into();
    world.namespace_metadata = Some(ManagedNamespaceMetadata { labels, annotations: Default::default() });
    world.pass();
    assert_eq!(world.log[0], "server-side apply Namespace/demo");
    assert_eq!(world.live["Namespace/demo"].label("team"), Some("x"));
    world.expect("Running", "waiting for healthy state of /Namespace/demo");
}

#[test]
fn sync_064_a_namespace_that_cannot_be_read_fails_the_operation() {
    let mut world = World::new(vec![config_map("a")]).with_options(&["CreateNamespace=true"]);
    world.failing.insert("get Namespace/demo".into(), Failure::other("namespaces is forbidden"));
    let base = "one or more synchronization tasks completed unsuccessfully";
    world.pass().expect("Failed", &format!("{base}, reason: namespace auto creation failed: namespaces is forbidden"));
    world.expect_log(&[]);
}

#[test]
fn sync_068_a_namespace_that_cannot_be_created_fails_before_the_dry_run() {
    let mut world = World::new(vec![config_map("a")]).with_options(&["CreateNamespace=true"]);
    world.live.clear();
    let mut world = world.failing("Namespace/demo", "namespaces is forbidden");
    world.pass().expect("Failed", "the namespace failed to apply, reason: namespaces is forbidden");
    world.expect_results(&["Namespace/demo SyncFailed Failed PreSync"]);
}

#[test]
fn sync_028_an_object_with_a_copied_tracking_id_is_not_pruned() {
    let mut world = World::new(vec![config_map("a")]).with_live(vec![config_map("copy")]).pruning();
    world.foreign.push("ConfigMap/copy".into());
    world.pass().expect("Succeeded", "successfully synced (all tasks run)");
    world.expect_results(&["ConfigMap/a Synced Running Sync"]);
    assert!(world.live.contains_key("ConfigMap/copy"));
}
