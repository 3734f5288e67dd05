//! What writes send: parameters, bodies, repetitions.

use serde_json::{Value, json};

use super::server::{Server, Step, on};
use crate::api::names;
use crate::cluster::{Apply, DryRun, Propagation, Resource, Target};

fn config_map(data: Value) -> Value {
    json!({"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "c", "namespace": "n"}, "data": data})
}

fn discovery() -> [Step; 3] {
    let resource = json!({"resource": "configmaps", "responseKind": {"kind": "ConfigMap"}, "scope": "Namespaced", "verbs": ["get"]});
    let group = json!({"metadata": {"name": ""}, "versions": [{"version": "v1", "resources": [resource]}]});
    [
        on("GET /api", 200, &json!({"kind": "APIGroupDiscoveryList", "items": [group]})),
        on("GET /apis", 200, &json!({"kind": "APIGroupDiscoveryList"})),
        on("GET /version?timeout=32s", 200, &json!({"gitVersion": "v1.36.3"})),
    ]
}

fn ask(object: &Value) -> Apply<'_> {
    Apply {
        object,
        live: None,
        dry_run: DryRun::None,
        server_side: false,
        force: false,
        replace: false,
        manager: names::FIELD_MANAGER,
    }
}

fn failure(code: u16, reason: &str) -> Value {
    json!({"kind": "Status", "status": "Failure", "code": code, "reason": reason, "message": reason})
}

const ONE: &str = "/api/v1/namespaces/n/configmaps/c";
const ALL: &str = "/api/v1/namespaces/n/configmaps";

async fn playing(steps: impl IntoIterator<Item = Step>) -> Server {
    Server::playing(discovery().into_iter().chain(steps)).await
}

#[tokio::test]
async fn creation_drops_nulls_but_the_annotation_keeps_them() {
    let object = config_map(json!({"a": "1", "b": null}));
    let annotation = "{\"apiVersion\":\"v1\",\"data\":{\"a\":\"1\",\"b\":null},\"kind\":\"ConfigMap\",\"metadata\":\
        {\"annotations\":{},\"name\":\"c\",\"namespace\":\"n\"}}\n";
    let mut sent = config_map(json!({"a": "1"}));
    sent["metadata"]["annotations"] = json!({names::LAST_APPLIED: annotation});
    let server = playing([
        on(&format!("GET {ONE}"), 404, &failure(404, "NotFound")),
        on(&format!("POST {ALL}?fieldManager=argocd-controller"), 201, &object).sent(sent),
    ])
    .await;
    let applied = server.cluster.apply(server.permit, &ask(&object)).await.unwrap();
    assert_eq!(applied.message, "configmap/c created");
    server.finish();
}

#[tokio::test]
async fn a_conflicting_patch_is_made_anew_from_the_new_state() {
    let object = config_map(json!({"a": "2"}));
    let first = config_map(json!({"a": "1"}));
    let second = config_map(json!({"a": "0", "other": "x"}));
    let patch = |status, answer: &Value| on(&format!("PATCH {ONE}?fieldManager=argocd-controller"), status, answer);
    let server = playing([
        on(&format!("GET {ONE}"), 200, &first),
        patch(409, &failure(409, "Conflict")),
        on(&format!("GET {ONE}"), 200, &second),
        patch(200, &object),
    ])
    .await;
    let applied = server.cluster.apply(server.permit, &ask(&object)).await.unwrap();
    assert!(applied.message.starts_with("configmap/c configured. Warning: "), "{}", applied.message);
    server.finish();
}

#[tokio::test]
async fn client_dry_runs_only_read() {
    let object = config_map(json!({"a": "2"}));
    let server = playing([on(&format!("GET {ONE}"), 404, &failure(404, "NotFound"))]).await;
    let dry = Apply { dry_run: DryRun::Client, ..ask(&object) };
    assert_eq!(server.cluster.apply(server.permit, &dry).await.unwrap().message, "configmap/c created (dry run)");
    let live = config_map(json!({}));
    let replace = Apply { replace: true, live: Some(&live), ..dry };
    assert_eq!(server.cluster.apply(server.permit, &replace).await.unwrap().message, "configmap/c replaced (dry run)");
    let create = Apply { replace: true, ..dry };
    assert_eq!(server.cluster.apply(server.permit, &create).await.unwrap().message, "configmap/c created (dry run)");
    server.finish();
}

#[tokio::test]
async fn a_forced_successor_that_is_refused_brings_the_old_object_back() {
    let object = config_map(json!({"a": "2"}));
    let live = config_map(json!({"a": "1"}));
    let post = |status, answer: &Value| on(&format!("POST {ALL}?fieldManager=argocd-controller"), status, answer);
    let server = playing([
        on(&format!("GET {ONE}"), 200, &live),
        on(&format!("PATCH {ONE}?fieldManager=argocd-controller"), 422, &failure(422, "Invalid")),
        on(&format!("DELETE {ONE}"), 200, &json!({"kind": "Status", "apiVersion": "v1", "status": "Success"})),
        on(&format!("GET {ONE}"), 404, &failure(404, "NotFound")),
        post(403, &failure(403, "Forbidden")),
        post(201, &live).sent(live.clone()),
    ])
    .await;
    let error = server.cluster.apply(server.permit, &Apply { force: true, ..ask(&object) }).await.unwrap_err();
    assert_eq!(error.text, "Forbidden");
    server.finish();
}

#[tokio::test]
async fn server_side_apply_forces_conflicts_and_names_the_manager() {
    let object = config_map(json!({"a": "1"}));
    let line = format!("PATCH {ONE}?fieldManager=argocd-controller&force=true");
    let dry = format!("PATCH {ONE}?dryRun=All&fieldManager=argocd-controller&force=true");
    let server = playing([on(&line, 200, &object).sent(object.clone()), on(&dry, 200, &object)]).await;
    let applied = server.cluster.apply(server.permit, &Apply { server_side: true, ..ask(&object) }).await.unwrap();
    assert_eq!(applied.message, "configmap/c serverside-applied");
    server.cluster.predict(&object, names::FIELD_MANAGER).await.unwrap();
    let headers = server.finish();
    assert_eq!(headers.last().unwrap()["content-type"], "application/apply-patch+yaml");
}

#[tokio::test]
async fn a_failed_migration_is_only_a_warning() {
    let mut applied = config_map(json!({"a": "1"}));
    applied["metadata"]["managedFields"] = json!([{
        "manager": "argocd-controller", "operation": "Update", "apiVersion": "v1",
        "fieldsV1": {"f:metadata": {"f:annotations": {(format!("f:{}", names::LAST_APPLIED)): {}}}},
    }]);
    let object = config_map(json!({"a": "1"}));
    let server = playing([
        on(&format!("PATCH {ONE}?fieldManager=argocd-controller&force=true"), 200, &applied),
        on(&format!("PATCH {ONE}?fieldManager=argocd-controller"), 422, &failure(422, "Invalid")),
    ])
    .await;
    let done = server.cluster.apply(server.permit, &Apply { server_side: true, ..ask(&object) }).await.unwrap();
    assert_eq!(
        done.message,
        "configmap/c serverside-applied. Warning: server rejected managed fields migration to Server-Side Apply. This is \
         non-fatal and will be retried next time you apply. Error: Invalid"
    );
    server.finish();
}

#[tokio::test]
async fn patches_and_deletes_name_what_they_need() {
    let apps = Resource {
        group: "argoproj.io".into(),
        version: "v1alpha1".into(),
        kind: "ApplicationSet".into(),
        plural: "applicationsets".into(),
        namespaced: true,
        ..Resource::default()
    };
    let path = "/apis/argoproj.io/v1alpha1/namespaces/argocd/applicationsets/all";
    let body = json!({"status": {"x": null}});
    let options = json!({"apiVersion": "v1", "kind": "DeleteOptions", "propagationPolicy": "Orphan", "preconditions": {"uid": "u"}});
    let server = Server::playing([
        on(&format!("PATCH {path}/status?fieldManager=m"), 200, &json!({"ok": 1})).sent(body.clone()),
        on(&format!("DELETE {path}"), 200, &json!({"kind": "ApplicationSet"})).sent(options),
    ])
    .await;
    let target = Target::new(&apps, "argocd", "all");
    let status = Target { subresource: "status", ..target };
    let patched = server.cluster.merge_patch(server.permit, &status, &body, "m").await.unwrap();
    assert_eq!(patched, json!({"ok": 1}));
    let left = server.cluster.delete(server.permit, &target, Propagation::Orphan, Some("u")).await.unwrap();
    assert_eq!(left, Some(json!({"kind": "ApplicationSet"})));
    let headers = server.finish();
    assert_eq!(headers[0]["content-type"], "application/merge-patch+json");
}
