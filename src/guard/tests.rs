//! Tests of who may write.

use serde_json::{Value, json};

use super::{Controller, Presence, Verdict, decide, decide_sets, identifies};

fn check(observed: Option<Presence>, observe_mode: bool, reason_part: Option<&str>) {
    match (decide(observed.as_ref(), observe_mode), reason_part) {
        (Verdict::Write(_), None) => {}
        (Verdict::StandDown { reason, is_present }, Some(part)) => {
            assert!(reason.contains(part), "{reason}");
            assert_eq!(is_present, part.contains("present") || part.contains("replicas"), "{reason}");
        }
        (verdict, expected) => panic!("{verdict:?}, expected {expected:?}"),
    }
}

#[test]
fn writes_only_when_the_controller_is_known_to_be_absent() {
    check(Some(Presence::default()), false, None);
    check(None, false, Some("not known"));
}

#[test]
fn any_replica_or_pod_stands_down() {
    check(Some(Presence { replicas: 1, pods: 0 }), false, Some("replicas: 1, pods: 0"));
    check(Some(Presence { replicas: 0, pods: 2 }), false, Some("replicas: 0, pods: 2"));
    check(Some(Presence { replicas: -1, pods: 0 }), false, Some("present"));
}

#[test]
fn observe_mode_never_writes() {
    check(Some(Presence::default()), true, Some("observe mode"));
    check(None, true, Some("observe mode"));
}

fn workload(kind: &str, name: &str, labels: Value) -> Value {
    let api = if kind == "Pod" || kind == "ConfigMap" { "v1" } else { "apps/v1" };
    json!({"apiVersion": api, "kind": kind, "metadata": {"name": name, "labels": labels}})
}

#[test]
fn controller_is_found_by_name_label_or_binary() {
    let claims = |object: &Value| identifies(Controller::Applications, object);
    assert!(claims(&workload("StatefulSet", "argocd-application-controller", json!({}))));
    assert!(claims(&workload("Deployment", "argocd-application-controller", json!({}))));
    assert!(claims(&workload("Pod", "argocd-application-controller-0", json!({}))));
    let label = json!({"app.kubernetes.io/name": "argocd-application-controller"});
    assert!(claims(&workload("StatefulSet", "argo-cd-argocd-application-controller", label)));
    let mut chart = workload("StatefulSet", "cd-controller", json!({}));
    chart["spec"]["template"]["spec"]["containers"] =
        json!([{"args": ["/usr/local/bin/argocd-application-controller", "--loglevel=info"]}]);
    assert!(claims(&chart));
}

#[test]
fn other_objects_are_not_the_controller() {
    let claims = |object: &Value| identifies(Controller::Applications, object);
    assert!(!claims(&workload("Deployment", "argocd-server", json!({}))));
    assert!(!claims(&workload("Deployment", "argocd-applicationset-controller", json!({}))));
    assert!(!claims(&workload("ConfigMap", "argocd-application-controller", json!({}))));
    assert!(!claims(&Value::Null));
}

#[test]
fn litecd_never_stands_down_for_itself() {
    for label in ["app.kubernetes.io/name", "app.kubernetes.io/part-of"] {
        let own = workload("Deployment", "argocd-application-controller", json!({label: "litecd"}));
        assert!(!identifies(Controller::Applications, &own));
    }
}

#[test]
fn presence_counts_wanted_and_existing_replicas_and_live_pods() {
    let name = "argocd-application-controller";
    let mut scaled_down = workload("StatefulSet", name, json!({}));
    scaled_down["spec"] = json!({"replicas": 0});
    let mut stopping = scaled_down.clone();
    stopping["status"] = json!({"replicas": 1});
    let defaulted = workload("Deployment", name, json!({}));
    let pod = workload("Pod", "argocd-application-controller-0", json!({}));
    let mut ended = pod.clone();
    ended["status"] = json!({"phase": "Succeeded"});
    let seen = |objects: &[&Value]| Presence::from_objects(Controller::Applications, objects.iter().copied());
    assert_eq!(seen(&[&scaled_down, &ended]), Presence::default());
    assert_eq!(seen(&[&stopping, &defaulted]), Presence { replicas: 2, pods: 0 });
    assert_eq!(seen(&[&pod, &ended]), Presence { replicas: 0, pods: 1 });
}

#[test]
fn sets_are_left_alone_while_either_controller_is_there() {
    let (free, gone) = (decide(Some(&Presence::default()), false), Presence::default());
    assert!(decide_sets(&free, Some(&gone)).permit().is_some());
    let of_sets = decide_sets(&free, Some(&Presence { replicas: 1, pods: 1 }));
    assert!(of_sets.is_present() && of_sets.permit().is_none());
    assert!(decide_sets(&free, None).permit().is_none(), "who does not know does not write");
    for held in [decide(Some(&Presence { replicas: 1, pods: 0 }), false), decide(Some(&gone), true)] {
        assert_eq!(decide_sets(&held, Some(&gone)), held);
    }
}

#[test]
fn the_controller_of_sets_is_told_apart_from_the_other() {
    let name = "argocd-applicationset-controller";
    let deployment = workload("Deployment", name, json!({}));
    assert!(identifies(Controller::ApplicationSets, &deployment));
    assert!(!identifies(Controller::Applications, &deployment));
    assert!(identifies(Controller::ApplicationSets, &workload("Pod", "cd-x", json!({"app.kubernetes.io/name": name}))));
    assert!(!identifies(
        Controller::ApplicationSets,
        &workload("Deployment", name, json!({"app.kubernetes.io/name": "litecd"}))
    ));
    assert!(!identifies(Controller::ApplicationSets, &workload("Pod", "argocd-application-controller-0", json!({}))));
}
