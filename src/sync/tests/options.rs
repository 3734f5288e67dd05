//! What sync options change.

use super::*;
use crate::api::operation::{SyncOperationResource, SyncStrategy, SyncStrategyApply};

fn option(made: Value, option: &str) -> Value {
    with(made, "sync-options", option)
}

fn live_of(mut made: Value) -> Value {
    made["metadata"]["resourceVersion"] = "7".into();
    made
}

#[track_caller]
fn check_log(mut world: World, expected: &[&str]) {
    world.pass().expect_log(expected);
}

#[test]
fn sync_199_replace_creates_what_is_missing_and_replaces_the_rest() {
    let world = World::new(vec![config_map("a"), config_map("b")]).with_live(vec![live_of(config_map("b"))]);
    check_log(
        world.with_options(&["Replace=true", "ServerSideApply=true"]),
        &["create ConfigMap/a", "replace ConfigMap/b"],
    );
    let by_annotation = World::new(vec![option(config_map("a"), "Replace=true")]).with_live(vec![config_map("a")]);
    check_log(by_annotation, &["replace ConfigMap/a"]);
}

#[test]
fn sync_200_crds_and_namespaces_are_never_replaced_but_updated() {
    let mut world = World::new(vec![crd()]).with_live(vec![live_of(crd())]).with_options(&["Replace=true"]);
    world.pass();
    assert_eq!(world.log[0], "update CustomResourceDefinition/widgets.example.com");
    assert_eq!(world.message_of("widgets.example.com"), "CustomResourceDefinition/widgets.example.com updated");
}

#[test]
fn sync_201_force_comes_from_the_strategy_or_an_annotation() {
    check_log(World::new(vec![option(config_map("a"), "Force=true")]), &["apply ConfigMap/a by force"]);
    check_log(World::new(vec![config_map("a")]).with_options(&["Force=true"]), &["apply ConfigMap/a"]);
    let mut world = World::new(vec![config_map("a")]);
    let hook = Some(SyncStrategyApply { force: true });
    world.operation.sync_strategy = Some(SyncStrategy { apply: None, hook });
    check_log(world, &["apply ConfigMap/a by force"]);
}

#[test]
fn sync_205_an_annotation_can_turn_server_side_apply_on_and_off() {
    let targets = vec![option(config_map("a"), "ServerSideApply=false"), config_map("b")];
    check_log(
        World::new(targets).with_options(&["ServerSideApply=true"]),
        &["apply ConfigMap/a", "server-side apply ConfigMap/b"],
    );
    check_log(World::new(vec![option(config_map("a"), "ServerSideApply=true")]), &["server-side apply ConfigMap/a"]);
}

#[test]
fn sync_206_fields_of_client_side_apply_are_taken_over_first() {
    let mut live = config_map("a");
    live["metadata"]["managedFields"] = json!([{"manager": "kubectl-client-side-apply", "operation": "Update"}]);
    let world =
        |options: &[&str]| World::new(vec![config_map("a")]).with_live(vec![live.clone()]).with_options(options);
    let migrate = "migrate ConfigMap/a from kubectl-client-side-apply";
    check_log(world(&["ServerSideApply=true"]), &[migrate, "server-side apply ConfigMap/a"]);
    let off = ["ServerSideApply=true", "ClientSideApplyMigration=false"];
    check_log(world(&off), &["server-side apply ConfigMap/a"]);
    check_log(world(&[]), &["apply ConfigMap/a"]);
}

#[test]
fn sync_193_prune_false_keeps_an_object_and_another_value_lifts_the_option() {
    let live = vec![
        option(config_map("kept"), "Prune=false"),
        option(config_map("lifted"), "Prune=true"),
        config_map("plain"),
    ];
    let mut world = World::new(vec![]).with_live(live).pruning().with_options(&["Prune=false"]);
    world.pass().expect_log(&["delete ConfigMap/lifted Foreground"]);
    assert_eq!((world.message_of("kept"), world.message_of("plain")), ("ignored (no prune)", "ignored (no prune)"));
    assert_eq!(world.message_of("lifted"), "pruned");
}

#[test]
fn sync_197_of_several_propagation_policies_a_fixed_order_decides() {
    let world = World::new(vec![]).with_live(vec![config_map("a")]).pruning();
    let options = ["PrunePropagationPolicy=orphan", "PrunePropagationPolicy=background"];
    check_log(world.with_options(&options), &["delete ConfigMap/a Background"]);
}

#[test]
fn sync_198_apply_out_of_sync_only_leaves_equal_objects_out() {
    let world = World::new(vec![deployment("same"), config_map("new")]).with_live(vec![deployment("same")]);
    let mut world = world.with_options(&["ApplyOutOfSyncOnly=true"]).failing("Deployment/same", "dry: never asked");
    world.pass().expect("Succeeded", "successfully synced (all tasks run)").expect_log(&["apply ConfigMap/new"]);
    let all = World::new(vec![deployment("same")]).with_live(vec![deployment("same")]);
    let mut all = all.with_options(&["ApplyOutOfSyncOnly=true"]);
    all.pass().expect("Succeeded", "successfully synced (no more tasks)").expect_log(&[]);
}

#[test]
fn sync_252_a_dry_run_operation_changes_nothing_and_records_everything() {
    let mut world = World::new(vec![config_map("a")]).with_live(vec![config_map("old")]).pruning();
    world.operation.dry_run = true;
    world.pass().expect("Succeeded", "successfully synced (no more tasks)").expect_log(&[]);
    world.expect_results(&["ConfigMap/old Pruned Succeeded Sync", "ConfigMap/a Synced Succeeded Sync"]);
    assert_eq!((world.message_of("old"), world.message_of("a")), ("pruned (dry run)", "configmap/a created (dry run)"));
}

#[test]
fn sync_250_named_resources_only_and_no_hooks() {
    let mut world =
        World::new(vec![config_map("a"), config_map("b"), deployment("a")]).with_hooks(vec![hook("h", "PreSync")]);
    let named =
        SyncOperationResource { kind: "ConfigMap".into(), name: "b".into(), ..SyncOperationResource::default() };
    world.operation.resources = vec![named];
    world.pass().expect("Succeeded", "successfully synced (all tasks run)").expect_log(&["apply ConfigMap/b"]);
    world.operation.resources[0].namespace = "elsewhere".into();
    world.state.sync_result = None;
    world.pass().expect("Succeeded", "successfully synced (no more tasks)");
}

#[test]
fn sync_052_the_apply_strategy_runs_no_hooks() {
    let mut world = World::new(vec![config_map("a")]).with_hooks(vec![hook("h", "PreSync")]);
    world.operation.sync_strategy = Some(SyncStrategy { apply: Some(SyncStrategyApply::default()), hook: None });
    check_log(world, &["apply ConfigMap/a"]);
}

#[test]
fn sync_079_a_missing_kind_may_be_skipped_in_the_dry_run() {
    let world = World::new(vec![option(custom_resource("one"), "SkipDryRunOnMissingResource=true")]);
    let mut world = world.failing("Widget/one", "dry: no matches for kind \"Widget\"");
    world.pass().expect("Failed", "one or more objects failed to apply, reason: dry: no matches for kind \"Widget\"");
}

#[test]
fn sync_051_a_skipped_object_is_neither_applied_nor_pruned() {
    let skipped = with(config_map("skipped"), "hook", "Skip");
    let mut world =
        World::new(vec![skipped.clone()]).with_live(vec![with(config_map("old"), "hook", "Skip")]).pruning();
    world.pass().expect("Succeeded", "successfully synced (no more tasks)").expect_log(&[]);
}

#[test]
fn sync_132_a_kind_of_another_version_is_named() {
    let mut entries = vec![ResourceResult {
        group: "example.com".into(),
        version: "v1".into(),
        kind: "Widget".into(),
        namespace: "demo".into(),
        name: "one".into(),
        message: "x: the server could not find the requested resource".into(),
        ..ResourceResult::default()
    }];
    let mut failed = entries.clone();
    text::augment(&mut failed, |_| Err("unreachable".into()));
    assert_eq!(failed, entries);
    text::augment(&mut entries, |_| {
        Ok(Some(crate::api::GroupVersionKind::from_api_version("example.com/v2", "Widget")))
    });
    assert_eq!(
        entries[0].message,
        "The Kubernetes API could not find version \"v1\" of example.com/Widget for requested resource demo/one. Version \"v2\" of example.com/Widget is installed on the destination cluster."
    );
}

#[test]
fn sync_133_a_too_long_annotation_is_explained() {
    let message = "metadata.annotations: Too long: must have at most 262144 bytes";
    let mut entries = vec![ResourceResult { message: message.into(), ..ResourceResult::default() }];
    text::augment(&mut entries, |_| Ok(None));
    assert!(entries[0].message.starts_with(&format!("{message} \n -Additional Info: This error usually means")));
}
