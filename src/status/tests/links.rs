use serde_json::{Value, json};

use super::texts;
use crate::api::{Application, GroupKind};
use crate::status::{is_application, pod_images, summary, urls};

fn check(object: Value, expected: &[&str]) {
    let mut found = urls(&object);
    found.sort();
    found.dedup();
    assert_eq!(found, texts(expected), "{object}");
}

fn ingress(spec: Value, status: Value) -> Value {
    json!({"apiVersion": "networking.k8s.io/v1", "kind": "Ingress", "metadata": {"name": "i"}, "spec": spec,
           "status": status})
}

#[test]
fn ingress_paths_lose_their_star_and_tls_needs_a_secret() {
    let rules = json!([{"host": "a.example", "http": {"paths": [{"path": "/api/*"}, {"path": "/"}, {}]}}]);
    let expected = ["http://a.example", "http://a.example/", "http://a.example/api/"];
    check(ingress(json!({"rules": rules, "tls": [{"hosts": ["a.example"]}]}), json!({})), &expected);
    let expected = ["https://a.example", "https://a.example/", "https://a.example/api/"];
    check(ingress(json!({"rules": rules, "tls": [{"secretName": "s"}]}), json!({})), &expected);
    check(ingress(json!({"rules": rules, "tls": [{"host": "a.example"}]}), json!({})), &expected);
}

#[test]
fn rules_without_host_take_the_first_address_or_give_nothing() {
    let rules = json!([{"http": {"paths": [{"path": "/x"}]}}, {"host": "b.example"}]);
    check(ingress(json!({"rules": rules}), json!({})), &[]);
    let status = json!({"loadBalancer": {"ingress": [{"ip": "192.0.2.1"}, {"hostname": "lb.example"}]}});
    check(ingress(json!({"rules": rules}), status), &["http://192.0.2.1/x"]);
}

#[test]
fn default_links_can_be_turned_off_but_annotations_stay() {
    let rules = json!([{"host": "a.example", "http": {"paths": [{"path": "/"}]}}]);
    let mut object = ingress(json!({"rules": rules}), json!({}));
    object["metadata"]["annotations"] = json!({
        "argocd.argoproj.io/ignore-default-links": "true",
        "link.argocd.argoproj.io/a": "Docs|https://docs.example/x?y#z",
        "link.argocd.argoproj.io/b": "HTTP://plain.example:8080",
        "link.argocd.argoproj.io/c": "javascript:alert(1)",
        "link.argocd.argoproj.io/d": "not a url",
        "link.argocd.argoproj.io/e": "http://bad host/",
        "link.argocd.argoproj.io/f": "http://bad.example/%zz",
        "link.argocd.argoproj.io/g": "http://bad.example:port",
        "other": "https://other.example",
    });
    check(object.clone(), &["Docs|https://docs.example/x?y#z", "HTTP://plain.example:8080"]);
    object["metadata"]["annotations"] = json!({"argocd.argoproj.io/ignore-default-links": "yes"});
    check(object, &["http://a.example/"]);
}

#[test]
fn gateways_use_listener_hosts_or_addresses_and_name_odd_ports() {
    let gateway = json!({
        "apiVersion": "gateway.networking.k8s.io/v1", "kind": "Gateway", "metadata": {"name": "g"},
        "spec": {"listeners": [
            {"protocol": "HTTPS", "port": 443, "hostname": "a.example"},
            {"protocol": "TLS", "port": 8443, "hostname": "b.example"},
            {"protocol": "HTTP", "port": 80, "hostname": "*"},
        ]},
        "status": {"addresses": [{"value": "192.0.2.1"}, {"type": "Hostname", "value": "lb.example"},
                                 {"type": "NamedAddress", "value": "n"}]},
    });
    check(gateway, &["http://192.0.2.1", "http://lb.example", "https://a.example", "https://b.example:8443"]);
}

#[test]
fn load_balancer_services_give_no_url() {
    let service = json!({"apiVersion": "v1", "kind": "Service", "spec": {"type": "LoadBalancer"},
        "status": {"loadBalancer": {"ingress": [{"ip": "192.0.2.1"}]}}});
    check(service, &[]);
}

#[test]
fn summary_is_sorted_and_takes_the_apps_own_links_as_they_are() {
    let mut app = Application::default();
    app.metadata.annotations.insert("link.argocd.argoproj.io/x".to_owned(), "not a url".to_owned());
    let pod = json!({"spec": {"initContainers": [{"image": "i:2"}], "containers": [{"image": "w:1"}, {"image": "i:2"}],
        "ephemeralContainers": [{"image": "debug"}]}});
    let found = summary(&app, pod_images(&pod), texts(&["http://b", "http://a", "http://b"]), true);
    assert_eq!(found.images, texts(&["i:2", "w:1"]));
    assert_eq!(found.external_urls, texts(&["http://a", "http://b", "not a url"]));
    assert!(found.is_app_of_apps);
    assert!(is_application(&GroupKind::new("argoproj.io", "Application")));
    assert!(!is_application(&GroupKind::new("app.k8s.io", "Application")));
}
