//! OCI registries: charts and artefacts by tag, digest and constraint, however the registry authenticates.

use std::time::Duration;

use litecd::charts::{ChartAccess, Options, Store};
use serde_json::{Value, json};

use crate::world::{
    CANARY, CHART_CONFIG, CHART_LAYER, LAYER, World, access, assert_no_canary, chart, packed, user, wanted,
};

/// A registry's configuration with one chart in several versions, and one artefact.
fn images(world: &World, mut config: Value) -> Value {
    let manifests = world.layer("manifests.tgz", &packed(&[("cm.yaml", "kind: ConfigMap\n"), ("sub/x.yaml", "")]));
    let mut images = vec![json!({
        "repository": "org/app", "tags": ["1.0.0", "stable"], "config": "application/vnd.oci.empty.v1+json",
        "layers": [{"mediaType": LAYER, "file": manifests}],
    })];
    for version in ["1.0.0", "1.2.0", "1.2.10", "2.0.0-rc.1", "1.3.0+build"] {
        let file = world.layer(&format!("{version}.tgz"), &chart("shelf", version));
        images.push(json!({
            "repository": "org/shelf", "tags": [version.replace('+', "_")], "config": CHART_CONFIG,
            "layers": [{"mediaType": CHART_LAYER, "file": file}],
        }));
    }
    config["images"] = images.into();
    config
}

#[tokio::test]
async fn charts_come_from_registries_however_they_authenticate() {
    for (auth, tls) in [("", false), ("basic", false), ("token", false), ("token", true)] {
        let world = World::new();
        let config = json!({"auth": auth, "user": "reader", "password": CANARY, "pageSize": 2, "tls": tls, "redirectBlobs": true});
        let server = world.serve("registry", images(&world, config));
        let plain = if tls { "false" } else { "true" };
        let keys = [user(CANARY), vec![("enableOCI", "true"), ("insecureOCIForceHttp", plain)]].concat();
        let url = format!("{}/org", server.say("/host"));
        let right = access(&url, &keys, server.say("/authority"));
        assert!(right.is_registry());
        for (revision, version) in [("1.2.x", "1.2.10"), ("*", "1.3.0+build"), (">=2.0.0-0", "2.0.0-rc.1")] {
            let found = world.store.resolve(&right, ("shelf", revision), Duration::MAX).await;
            assert_eq!(found.as_deref(), Ok(version), "{auth} {revision}");
            let folder = world.fetch(&right, version).await.unwrap();
            let text = std::fs::read_to_string(folder.root.join("Chart.yaml")).unwrap();
            assert!(text.ends_with(&format!("version: {version}\n")), "{text}");
        }
        assert!(world.journal().contains(" 200"), "{}", world.journal());
        assert!(world.journal().matches("/v2/org/shelf/tags/list").count() >= 3, "{}", world.journal());
        let error = world.fetch(&right, "9.9.9").await.unwrap_err().to_string();
        let host = server.say("/host");
        let missing = format!("failed to perform \"FetchReference\" on source: {host}/org/shelf:9.9.9: not found");
        assert!(
            error.starts_with(
                "error pulling OCI chart: failed to pull OCI chart: failed running helm: `helm pull oci://"
            ),
            "{error}"
        );
        assert!(error.ends_with(&missing), "{error}");
        if !auth.is_empty() {
            let keys = [user("wr0ng-5ecret"), keys[3..].to_vec()].concat();
            let wrong = access(&url, &keys, server.say("/authority"));
            let error = world.store.resolve(&wrong, ("shelf", "1.x"), Duration::ZERO).await.unwrap_err().to_string();
            assert!(error.starts_with("unable to get tags: failed to get tags: GET \"http"), "{error}");
            assert!(error.ends_with("response status code 401: unauthorized: authentication required"), "{error}");
            let error = world.fetch(&wrong, "1.0.0").await.unwrap_err().to_string();
            let start = "error logging into OCI registry: failed to login to registry: failed running helm: `helm registry login ";
            assert!(error.starts_with(start) && error.contains("--username ****** --password-stdin"), "{error}");
            assert!(!error.contains("wr0ng") && !error.contains(CANARY), "{error}");
        }
        assert_no_canary(&world.dir.path().join("cache"));
    }
}

#[tokio::test]
async fn artefacts_are_sources_by_tag_digest_and_constraint() {
    let world = World::new();
    let config = json!({"auth": "token", "user": "reader", "password": CANARY, "pageSize": 2});
    let server = world.serve("registry", images(&world, config));
    let host = server.say("/host");
    let keys = [user(CANARY), vec![("insecureOCIForceHttp", "true")]].concat();
    let app = access(&format!("oci://{host}/org/app"), &keys, "");
    let digest = server.say("/digests/org~1app:1.0.0");
    for revision in ["1.0.0", "stable", "1.x", digest] {
        let found = world.store.resolve_oci(&app, revision, Duration::ZERO).await;
        assert_eq!(found.as_deref(), Ok(digest), "{revision}");
    }
    let folder = world.store.fetch_oci(&app, wanted("", digest)).await.unwrap();
    assert_eq!(std::fs::read_to_string(folder.root.join("cm.yaml")).unwrap(), "kind: ConfigMap\n");
    let shelf = access(&format!("oci://{host}/org/shelf"), &keys, "");
    let digest = world.store.resolve_oci(&shelf, "1.3.x", Duration::ZERO).await.unwrap();
    let folder = world.store.fetch_oci(&shelf, wanted("", &digest)).await.unwrap();
    assert!(folder.root.join("Chart.yaml").is_file(), "a chart's only folder is the root");
    let fail = async |access: &ChartAccess, revision: &str| {
        world.store.resolve_oci(access, revision, Duration::ZERO).await.unwrap_err().to_string()
    };
    let failed = format!(
        "failed to resolve revision \"nope\": cannot get digest for revision nope: {host}/org/app:nope: not found"
    );
    assert_eq!(fail(&app, "nope").await, failed);
    assert_eq!(
        fail(&app, "9.x").await,
        "failed to resolve revision \"9.x\": no version for constraints: version matching constraint not found in 2 tags"
    );
    let unknown = format!("sha256:{}", "0".repeat(64));
    let error = world.store.fetch_oci(&app, wanted("", &unknown)).await.unwrap_err();
    assert_eq!(
        error.to_string(),
        format!("error resolving oci manifest for digest {unknown}: {host}/org/app@{unknown}: not found")
    );
    assert_no_canary(&world.dir.path().join("cache"));
}

#[tokio::test]
async fn what_a_registry_gives_is_checked() {
    let world = World::new();
    let server = world.serve("registry", images(&world, json!({"corruptBlobs": true})));
    let url = format!("oci://{}/org/app", server.say("/host"));
    let app = access(&url, &[("insecureOCIForceHttp", "true")], "");
    let digest = world.store.resolve_oci(&app, "stable", Duration::ZERO).await.unwrap();
    let error = world.store.fetch_oci(&app, wanted("", &digest)).await.unwrap_err();
    assert!(error.to_string().ends_with("mismatched digest"), "{error}");
    let server = world.serve("registry", images(&world, json!({})));
    let app = access(&format!("oci://{}/org/app", server.say("/host")), &[("insecureOCIForceHttp", "true")], "");
    let small = Store::new(
        &world.dir.path().join("cache"),
        &world.dir.path().join("cache/scratch"),
        Options { max_oci_bytes: Some(40), max_chart_bytes: Some(40), ..Options::default() },
    );
    let error = small.unwrap().fetch_oci(&app, wanted("", &digest)).await.unwrap_err().to_string();
    assert!(error.contains("is larger than the limit of 40 bytes"), "{error}");
}
