//! Kind order, waves and dependencies inside a wave.

use super::super::order::{kind_weight, wave as wave_of};
use super::*;

fn applied(world: &World) -> Vec<&str> {
    world.log.iter().filter_map(|line| line.strip_prefix("apply ")).collect()
}

#[test]
fn sync_034_the_table_orders_kinds_and_others_come_last() {
    assert_eq!((kind_weight("Namespace"), kind_weight("APIService"), kind_weight("Widget")), (0, 34, 35));
    assert!(kind_weight("CustomResourceDefinition") < kind_weight("ClusterRole"));
    assert!(kind_weight("Service") < kind_weight("Deployment"));
}

#[test]
fn sync_032_kinds_then_names() {
    let service = object("v1", "Service", "a");
    let odd = object("example.org/v1", "Thing", "a");
    let mut world = World::new(vec![odd, deployment("b"), deployment("a"), service, config_map("z")]);
    world.pass();
    assert_eq!(applied(&world), ["ConfigMap/z", "Service/a", "Deployment/a", "Deployment/b", "Thing/a"]);
}

#[test]
fn sync_031_the_sync_wave_wins_over_the_hook_weight_if_it_is_a_number() {
    let weighted = |wave: &str| {
        let mut made = with(config_map("a"), "sync-wave", wave);
        made.set_annotation("helm.sh/hook-weight", "7");
        wave_of(&made)
    };
    assert_eq!((weighted("-3"), weighted("first"), wave_of(&config_map("a"))), (-3, 7, 0));
}

#[test]
fn sync_035_a_namespace_comes_before_what_lives_in_it_whatever_its_wave() {
    let namespace = wave(json!({"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": "other"}}), 9);
    let mut inside = config_map("inside");
    inside.metadata_mut().insert("namespace".into(), "other".into());
    let mut world = World::new(vec![inside, namespace]);
    world.pass().expect("Succeeded", "successfully synced (all tasks run)");
    assert_eq!(applied(&world), ["Namespace/other", "ConfigMap/inside"]);
}

#[test]
fn sync_036_a_crd_is_drawn_into_the_phase_of_its_resource() {
    let early = with(custom_resource("early"), "hook", "PreSync");
    let mut world = World::new(vec![wave(crd(), 4)]).with_hooks(vec![early]);
    world.pass();
    assert_eq!(applied(&world), ["CustomResourceDefinition/widgets.example.com", "Widget/early"]);
    assert_eq!(world.results()[0].sync_phase, "PreSync");
}

#[test]
fn sync_129_images_are_those_of_the_first_container_list() {
    let pod = json!({"spec": {"containers": [{"image": "b"}, {"name": "none"}, {"image": "a"}], "initContainers": [{"image": "i"}]}});
    assert_eq!(super::super::results::images(&pod), ["b", "a"]);
    let cron = json!({"spec": {"jobTemplate": {"spec": {"template": {"spec": {"containers": [{"image": "c"}]}}}}}});
    assert_eq!(super::super::results::images(&cron), ["c"]);
    assert!(super::super::results::images(&json!({"spec": 1})).is_empty());
}
