//! Discovery documents and the cache over them.

use serde_json::{Value, json};

use super::server::{Server, Step, on};
use crate::api::{GroupKind, GroupVersionKind};

fn kind(kind: &str, plural: &str, scope: &str, verbs: Value) -> Value {
    json!({"resource": plural, "responseKind": {"kind": kind}, "scope": scope, "verbs": verbs, "singularResource": ""})
}

fn groups(items: Value) -> Value {
    json!({"kind": "APIGroupDiscoveryList", "items": items})
}

fn core() -> Value {
    let pods = kind("Pod", "pods", "Namespaced", json!(["get", "list", "watch"]));
    let bindings = kind("Binding", "bindings", "Namespaced", json!(["create"]));
    let parent = json!({"resource": "parentonly", "scope": "Namespaced", "verbs": []});
    groups(json!([{"metadata": {"name": ""}, "versions": [{"version": "v1", "resources": [pods, bindings, parent]}]}]))
}

fn others() -> Value {
    let widgets = || kind("Widget", "widgets", "Cluster", json!(["get", "list", "watch"]));
    let gears = kind("Gear", "gears", "Namespaced", json!(["get", "list", "watch"]));
    groups(json!([
        {"metadata": {"name": "b.example"}, "versions": [
            {"version": "v2", "freshness": "Current", "resources": [widgets()]},
            {"version": "v1", "freshness": "Current", "resources": [widgets(), gears]},
        ]},
        {"metadata": {"name": "a.example"}, "versions": [{"version": "v1", "freshness": "Stale"}]},
    ]))
}

fn everything() -> [Step; 3] {
    [
        on("GET /api", 200, &core()),
        on("GET /apis", 200, &others()),
        on("GET /version?timeout=32s", 200, &json!({"gitVersion": "v1.36.3-gke.1"})),
    ]
}

fn gvk(api_version: &str, kind: &str) -> GroupVersionKind {
    GroupVersionKind::from_api_version(api_version, kind)
}

#[tokio::test]
async fn one_reading_answers_everything() {
    let server = Server::playing(everything()).await;
    let cluster = &server.cluster;
    let pod = gvk("v1", "Pod");
    let (pod, version) = tokio::join!(cluster.resource_with_verb(&pod, "list"), cluster.version());
    assert_eq!((pod.unwrap().plural.as_str(), version.unwrap().as_str()), ("pods", "v1.36.3"));
    assert_eq!(cluster.preferred(&GroupKind::new("b.example", "Widget")).await.unwrap().version, "v2");
    assert_eq!(cluster.preferred(&GroupKind::new("b.example", "Gear")).await.unwrap().version, "v1");
    assert_eq!(cluster.namespaced(&GroupKind::new("b.example", "Widget")).await, Some(false));
    assert_eq!(cluster.resource(&gvk("b.example/v1", "Widget")).await.unwrap().version, "v1");
    assert_eq!(
        cluster.api_versions().await.unwrap(),
        [
            "b.example/v1",
            "b.example/v1/Gear",
            "b.example/v1/Widget",
            "b.example/v2",
            "b.example/v2/Widget",
            "v1",
            "v1/Pod"
        ]
    );
    let listable = cluster.all_listable().await.unwrap();
    let listable: Vec<_> = listable.iter().map(|r| format!("{}/{}", r.api_version(), r.plural)).collect();
    assert_eq!(listable, ["v1/pods", "b.example/v1/gears", "b.example/v2/widgets"]);
    assert_eq!(cluster.unreadable_versions().await.unwrap(), ["a.example/v1"]);
    server.finish();
}

#[tokio::test]
async fn an_unknown_kind_is_asked_about_directly() {
    let found = json!({"resources": [
        {"name": "fresh/status", "kind": "Fresh", "namespaced": true, "verbs": ["get"]},
        {"name": "fresh", "kind": "Fresh", "namespaced": true, "verbs": ["create"]},
    ]});
    let mut steps = Vec::from(everything());
    steps.push(on("GET /apis/b.example/v1", 200, &found));
    steps.extend(everything());
    steps.push(on("GET /apis/b.example/v1", 200, &found));
    let server = Server::playing(steps).await;
    let fresh = server.cluster.resource(&gvk("b.example/v1", "Fresh")).await.unwrap();
    assert_eq!((fresh.plural.as_str(), fresh.namespaced), ("fresh", true));
    // The answer showed that the cache is behind, so everything is read again.
    let error = server.cluster.resource_with_verb(&gvk("b.example/v1", "Fresh"), "get").await.unwrap_err();
    assert_eq!(error.to_string(), "get is not supported on resources of kind \"Fresh.b.example\"");
    assert!(!error.not_found);
    server.finish();
}

#[tokio::test]
async fn absence_and_ignorance_are_told_apart() {
    let mut steps = Vec::from(everything());
    steps.push(on("GET /apis/c.example/v1", 404, &json!({})).text("404 page not found\n"));
    steps.push(on("GET /apis/a.example/v1", 503, &json!({})).text("service unavailable"));
    steps.push(on("GET /apis/b.example/v1", 200, &json!({"resources": []})));
    let server = Server::playing(steps).await;
    let ask = async |api_version: &str| {
        let error = server.cluster.resource(&gvk(api_version, "X")).await.unwrap_err();
        (error.not_found, error.text)
    };
    let failed = |gv: &str, why: &str| format!("failed to discover server resources for group version {gv}: {why}");
    assert_eq!(
        ask("c.example/v1").await,
        (true, failed("c.example/v1", "the server could not find the requested resource"))
    );
    assert_eq!(
        ask("a.example/v1").await,
        (false, failed("a.example/v1", "the server is currently unable to handle the request"))
    );
    assert_eq!(ask("b.example/v1").await, (true, "X.b.example \"\" not found".to_owned()));
    server.finish();
}

#[tokio::test]
async fn an_unknown_scope_does_not_reload_every_time() {
    let server = Server::playing(everything()).await;
    for _ in 0..3 {
        assert_eq!(server.cluster.namespaced(&GroupKind::new("c.example", "X")).await, None);
    }
    server.finish();
}

#[tokio::test]
async fn what_was_known_survives_a_failed_reload() {
    let mut steps = Vec::from(everything());
    steps.push(on("GET /api", 500, &json!({})).text("boom"));
    let server = Server::playing(steps).await;
    server.cluster.version().await.unwrap();
    server.cluster.forget_discovery();
    assert_eq!(server.cluster.version().await.unwrap(), "v1.36.3");
    assert_eq!(server.cluster.version().await.unwrap(), "v1.36.3");
    server.finish();
}

#[tokio::test]
async fn what_the_server_calls_current_is_not_read_again() {
    let mut steps = Vec::from(everything());
    steps[0] = on("GET /api", 200, &core()).header("etag", "\"c1\"");
    steps[1] = on("GET /apis", 200, &others()).header("etag", "\"o1\"");
    steps.push(on("GET /api", 304, &json!({})));
    steps.push(on("GET /apis", 304, &json!({})));
    // A kind came: both documents are read anew.
    steps.push(on("GET /api", 304, &json!({})));
    steps.push(on("GET /apis", 200, &others()).header("etag", "\"o2\""));
    steps.extend(everything());
    let server = Server::playing(steps).await;
    for _ in 0..3 {
        assert_eq!(server.cluster.version().await.unwrap(), "v1.36.3");
        server.cluster.forget_discovery();
    }
    server.finish();
}

#[tokio::test]
async fn nothing_known_is_an_error_not_an_empty_answer() {
    let down = || on("GET /api", 500, &json!({})).text("boom");
    let server = Server::playing([down(), down()]).await;
    assert!(server.cluster.api_versions().await.is_err());
    assert!(server.cluster.all_listable().await.is_err());
    server.finish();
}

#[tokio::test]
async fn older_servers_are_read_group_by_group() {
    let group = json!({"name": "apps", "versions": [{"version": "v1beta1"}, {"version": "v1"}], "preferredVersion": {"version": "v1"}});
    let list = |version: &str| json!({"resources": [{"name": "deployments", "kind": "Deployment", "namespaced": true, "verbs": ["list", "watch"]}], "groupVersion": version});
    let server = Server::playing([
        on("GET /api", 200, &json!({"kind": "APIVersions", "versions": ["v1"]})),
        on("GET /api/v1", 200, &json!({"resources": []})),
        on("GET /apis", 200, &json!({"kind": "APIGroupList", "groups": [group]})),
        on("GET /apis/apps/v1", 200, &list("apps/v1")),
        on("GET /apis/apps/v1beta1", 503, &json!({})).text(""),
        on("GET /version?timeout=32s", 200, &json!({"gitVersion": "v1.24.17+k3s1"})),
    ])
    .await;
    assert_eq!(server.cluster.preferred(&GroupKind::new("apps", "Deployment")).await.unwrap().version, "v1");
    assert_eq!(server.cluster.unreadable_versions().await.unwrap(), ["apps/v1beta1"]);
    assert_eq!(server.cluster.version().await.unwrap(), "v1.24.17");
    server.finish();
}
