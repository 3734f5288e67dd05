use serde_json::{Value, json};

use super::*;

fn tracking(method: Method, installation: Option<&str>) -> Tracking {
    Tracking {
        method,
        label_key: "app.kubernetes.io/instance".to_owned(),
        installation_id: installation.map(str::to_owned),
    }
}

fn config_map() -> Value {
    json!({"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "x", "namespace": "ns"}})
}

fn marked(mut object: Value, tracking: &Tracking, instance: &str) -> Value {
    set(&mut object, tracking, instance, "destns").expect("well-formed");
    object
}

#[test]
fn annotation_names_the_object_and_core_has_an_empty_group() {
    let object = marked(config_map(), &tracking(Method::Annotation, None), "app");
    assert_eq!(object["metadata"]["annotations"], json!({"argocd.argoproj.io/tracking-id": "app:/ConfigMap:ns/x"}));
    assert!(object["metadata"].get("labels").is_none());
}

#[test]
fn cluster_scoped_ids_carry_the_destination_namespace() {
    let role =
        json!({"apiVersion": "rbac.authorization.k8s.io/v1", "kind": "ClusterRole", "metadata": {"name": "a:b"}});
    let settings = tracking(Method::Annotation, None);
    let object = marked(role, &settings, "app");
    let id = object["metadata"]["annotations"]["argocd.argoproj.io/tracking-id"].as_str().unwrap();
    assert_eq!(id, "app:rbac.authorization.k8s.io/ClusterRole:destns/a:b");
    assert_eq!(parse_id(id).unwrap().name, "a:b");
    assert!(is_self_referenced(&object, None, &settings));
}

#[test]
fn installation_id_is_written_read_and_removed() {
    let with = tracking(Method::Annotation, Some("one"));
    let without = tracking(Method::Annotation, None);
    let object = marked(config_map(), &with, "app");
    assert_eq!(object["metadata"]["annotations"]["argocd.argoproj.io/installation-id"], "one");
    assert_eq!(owner(&object, &with).as_deref(), Some("app"));
    assert_eq!(owner(&object, &without), None);
    assert_eq!(owner(&object, &tracking(Method::Annotation, Some("two"))), None);
    let object = marked(object, &without, "app");
    assert!(object["metadata"]["annotations"].get("argocd.argoproj.io/installation-id").is_none());
    assert_eq!(owner(&object, &without).as_deref(), Some("app"));
    assert_eq!(owner(&object, &tracking(Method::Annotation, Some(""))).as_deref(), Some("app"));
}

#[test]
fn label_is_cut_only_beside_the_annotation() {
    let long = format!("{}--{}", "a".repeat(61), "b".repeat(9));
    let both = marked(config_map(), &tracking(Method::AnnotationAndLabel, None), &long);
    assert_eq!(both["metadata"]["labels"]["app.kubernetes.io/instance"], "a".repeat(61));
    assert_eq!(owner(&both, &tracking(Method::AnnotationAndLabel, None)).as_deref(), Some(long.as_str()));
    let label = marked(config_map(), &tracking(Method::Label, Some("one")), &long);
    assert_eq!(label["metadata"]["labels"]["app.kubernetes.io/instance"], long);
    assert!(label["metadata"].get("annotations").is_none());
    assert_eq!(owner(&label, &tracking(Method::Label, None)).as_deref(), Some(long.as_str()));
}

#[test]
fn definitions_get_nothing() {
    let crd =
        json!({"apiVersion": "apiextensions.k8s.io/v1", "kind": "CustomResourceDefinition", "metadata": {"name": "x"}});
    assert_eq!(marked(crd.clone(), &tracking(Method::AnnotationAndLabel, None), "app"), crd);
}

#[test]
fn malformed_ids_belong_to_nobody() {
    for text in
        ["", "app", "app:/ConfigMap", "app:ConfigMap:ns/x", "app:/ConfigMap:x", "app:a/b/c:ns/x", "app:/C:a/b/c"]
    {
        assert_eq!(parse_id(text), None, "{text}");
    }
}

#[test]
fn copied_ids_are_noticed_unless_tracking_is_by_label() {
    let mut copy = marked(config_map(), &tracking(Method::Annotation, None), "app");
    copy["metadata"]["name"] = json!("other");
    assert!(!is_self_referenced(&copy, None, &tracking(Method::Annotation, None)));
    assert!(!is_self_referenced(&copy, None, &tracking(Method::AnnotationAndLabel, None)));
    assert!(is_self_referenced(&copy, None, &tracking(Method::Label, None)));
    assert!(is_self_referenced(&copy, None, &tracking(Method::Other, None)));
    assert_eq!(owner(&copy, &tracking(Method::Other, None)).as_deref(), Some("app"));
}

#[test]
fn target_decides_before_the_annotation() {
    let settings = tracking(Method::Annotation, None);
    let mut live = marked(config_map(), &settings, "app");
    live["metadata"]["annotations"]["argocd.argoproj.io/tracking-id"] = json!("app:extensions/Ingress:ns/x");
    assert!(!is_self_referenced(&live, None, &settings));
    assert!(is_self_referenced(&live, Some(&config_map()), &settings));
}

#[test]
fn annotations_that_are_no_strings_stop_rendering_with_the_accessors_words() {
    let mut object = config_map();
    object["metadata"]["annotations"] = json!({"a": "b", "n": 1});
    let error = set(&mut object, &tracking(Method::Annotation, None), "app", "destns").unwrap_err();
    assert_eq!(
        error.to_string(),
        "failed to get annotations for /v1, Kind=ConfigMap ns/x: .metadata.annotations accessor error: \
         contains non-string value in the map under key \"n\": 1 is of the type int64, expected string"
    );
}

#[test]
fn legacy_label_reaches_pods_but_not_a_defaulted_selector() {
    let settings =
        Tracking { label_key: "applications.argoproj.io/app-name".to_owned(), ..tracking(Method::Label, None) };
    let deployment = |version: &str| {
        json!({"apiVersion": version, "kind": "Deployment", "metadata": {"name": "x"},
               "spec": {"template": {"metadata": {"labels": {"a": "b"}}}}})
    };
    let current = marked(deployment("apps/v1"), &settings, "app");
    assert_eq!(current["spec"]["template"]["metadata"]["labels"]["applications.argoproj.io/app-name"], "app");
    let old = marked(deployment("apps/v1beta1"), &settings, "app");
    assert_eq!(old["spec"]["selector"]["matchLabels"], json!({"a": "b"}));
    assert_eq!(old["spec"]["template"]["metadata"]["labels"]["applications.argoproj.io/app-name"], "app");
}

#[test]
fn instance_names_become_keys() {
    assert_eq!(instance_to_key("ns_name"), "ns/name");
    assert_eq!(instance_to_key("name"), "name");
    assert_eq!(Method::parse(""), Method::Annotation);
    assert_eq!(Method::parse("annotation+label"), Method::AnnotationAndLabel);
    assert_eq!(Method::parse("other"), Method::Other);
}
