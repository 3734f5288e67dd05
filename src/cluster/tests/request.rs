//! When a request is repeated, and what it carries.

use serde_json::json;

use super::server::{Server, on};
use crate::cluster::{Error, Propagation, Resource, Target};

fn pods() -> Resource {
    Resource {
        version: "v1".into(),
        kind: "Pod".into(),
        plural: "pods".into(),
        namespaced: true,
        ..Resource::default()
    }
}

fn failure(code: u16, reason: &str) -> serde_json::Value {
    json!({"kind": "Status", "status": "Failure", "code": code, "reason": reason, "message": reason})
}

#[tokio::test]
async fn the_server_may_ask_for_patience() {
    let busy =
        || on("GET /api/v1/namespaces/n/pods/p", 429, &failure(429, "TooManyRequests")).header("retry-after", "0");
    let ready = on("GET /api/v1/namespaces/n/pods/p", 200, &json!({"kind": "Pod"}));
    let server = Server::playing([busy(), busy(), ready]).await;
    assert!(server.cluster.get(&pods(), "n", "p").await.unwrap().is_some());
    server.finish();
}

#[tokio::test]
async fn refusals_without_a_wait_are_reported_at_once() {
    let server = Server::playing([on("GET /api/v1/namespaces/n/pods/p", 503, &json!({})).text("down")]).await;
    let error = server.cluster.get(&pods(), "n", "p").await.unwrap_err();
    assert_eq!(error.to_string(), "the server is currently unable to handle the request (get pods p)");
    assert!(error.is_transient());
    server.finish();
}

#[tokio::test]
async fn absence_is_no_error_but_refusal_is() {
    let gone = on("GET /api/v1/namespaces/n/pods/p", 404, &failure(404, "NotFound"));
    let forbidden = on("GET /api/v1/namespaces/n/pods/p", 403, &failure(403, "Forbidden"));
    let server = Server::playing([gone, forbidden]).await;
    assert_eq!(server.cluster.get(&pods(), "n", "p").await.unwrap(), None);
    assert!(matches!(server.cluster.get(&pods(), "n", "p").await, Err(Error::Forbidden(_))));
    server.finish();
}

#[tokio::test]
async fn incomplete_identities_are_never_sent() {
    let server = Server::playing([]).await;
    let refused = async |namespace, name| {
        let pods = pods();
        let target = Target::new(&pods, namespace, name);
        server.cluster.delete(server.permit, &target, Propagation::Foreground, None).await.unwrap_err().to_string()
    };
    assert_eq!(refused("n", "").await, "resource name may not be empty");
    assert_eq!(refused("n", "a/b").await, "invalid resource name \"a/b\": [may not contain '/']");
    assert_eq!(refused("..", "a").await, "invalid namespace \"..\": [may not be '..']");
    assert_eq!(refused("", "p").await, "an empty namespace may not be set when a resource name is provided");
    server.finish();
}

#[tokio::test]
async fn an_expired_continuation_starts_the_list_over() {
    let page = json!({"metadata": {"continue": "c/1"}, "items": [{"metadata": {"name": "old"}}]});
    let whole = json!({"metadata": {"resourceVersion": "9"}, "items": [{"metadata": {"name": "new"}}]});
    let server = Server::playing([
        on("GET /api/v1/pods?labelSelector=a%3Db&limit=250", 200, &page),
        on("GET /api/v1/pods?labelSelector=a%3Db&limit=250&continue=c%2F1", 410, &failure(410, "Expired")),
        on("GET /api/v1/pods?labelSelector=a%3Db", 200, &whole),
    ])
    .await;
    let list = server.cluster.list(&pods(), None, "a=b").await.unwrap();
    assert_eq!(list.items, [json!({"apiVersion": "v1", "kind": "Pod", "metadata": {"name": "new"}})]);
    assert_eq!(list.resource_version, "9");
    server.finish();
}

#[tokio::test]
async fn impersonation_is_sent_with_every_request() {
    let step = || on("GET /api/v1/namespaces/n/pods/p", 200, &json!({}));
    let server = Server::playing([step(), step()]).await;
    let user = "system:serviceaccount:n:deployer";
    server.cluster.as_user(user).unwrap().get(&pods(), "n", "p").await.unwrap();
    server.cluster.get(&pods(), "n", "p").await.unwrap();
    let sent: Vec<_> = server.finish().iter().map(|headers| headers.get("impersonate-user").cloned()).collect();
    assert_eq!(sent, [Some(user.parse().unwrap()), None]);
    assert!(server.cluster.as_user("line\nbreak").is_err());
}

#[tokio::test]
async fn a_refused_connection_reads_as_in_go() {
    let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap();
    let address = listener.local_addr().unwrap();
    drop(listener);
    let config = kube::Config::new(format!("http://{address}").parse().unwrap());
    let cluster = crate::cluster::Cluster::connect(config, String::new()).unwrap();
    assert_eq!(
        cluster.version().await.unwrap_err().to_string(),
        format!("Get \"http://{address}/version?timeout=32s\": dial tcp {address}: connect: connection refused")
    );
}
