//! From the source to its renderer, and from objects to manifests.

use futures::future::BoxFuture;
use serde_json::{Value, json};

use super::super::{BuildEnv, Job, Rendered, Renderer, render, render_with};
use super::{Error, Tree, config_map, names};

#[tokio::test]
async fn a_source_that_is_only_referred_to_renders_nothing() {
    let tree = Tree::new(&[("a.yaml", &config_map("a"))]);
    let mut request = tree.request(json!({"ref": "values"}));
    assert_eq!(render(&request).await.unwrap().manifests.len(), 1, "a single source without path is the root");
    request.has_multiple_sources = true;
    assert_eq!(render(&request).await, Ok(Rendered::default()));
}

#[tokio::test]
async fn the_last_name_in_byte_order_decides_the_type() {
    let found = |files: &'static [&'static str]| async move {
        let files: Vec<(&str, &str)> = files.iter().map(|file| (*file, "")).collect();
        let tree = Tree::new(&files);
        let request = tree.request(json!({}));
        let env = Default::default();
        super::super::source_type::detect(&request.source, &tree.root(), "x", env).map(|(_, kind)| kind.name())
    };
    assert_eq!(found(&["a.yaml"]).await, Ok("Directory"));
    assert_eq!(found(&["Chart.yaml"]).await, Ok("Helm"));
    assert_eq!(found(&["my-Chart.yaml"]).await, Ok("Helm"));
    assert_eq!(found(&["Chart.yaml", "kustomization.yaml"]).await, Ok("Kustomize"));
    assert_eq!(found(&["Kustomization", "Chart.yaml"]).await, Ok("Kustomize"));
    assert_eq!(found(&["kustomization.yml", "zChart.yaml"]).await, Ok("Helm"));
    assert_eq!(found(&["sub/Chart.yaml", "chart.yaml"]).await, Ok("Directory"));
    assert_eq!(found(&["Chart.yaml/x", "a.yaml"]).await, Ok("Directory"));
}

#[tokio::test]
async fn a_tool_that_is_off_leaves_a_directory() {
    let tree = Tree::new(&[("Chart.yaml", "kind: A\nmetadata: {name: chart}\n"), ("main.jsonnet", "error 'x'")]);
    let mut request = tree.request(json!({"helm": {"releaseName": "x"}}));
    request.enabled.helm = false;
    request.enabled.jsonnet = false;
    let rendered = render(&request).await.unwrap();
    assert_eq!((rendered.source_type, rendered.manifests.len()), ("Directory", 1));
}

#[tokio::test]
async fn overrides_of_the_instance_come_last() {
    let tree = Tree::new(&[
        (".argocd-source.yaml", "directory: {include: 'b.yaml'}\n"),
        (".argocd-source-team_web.yaml", "directory: {include: 'a.yaml'}\n"),
        (".argocd-source-web.yaml", "directory: {include: 'none'}\n"),
        ("a.yaml", &config_map("a")),
        ("b.yaml", &config_map("b")),
    ]);
    assert_eq!(names(&tree, json!({})).await, "a");
    std::fs::write(tree.root().join(".argocd-source.yaml"), b"a: \xFF\n").unwrap();
    let expect = "error getting app source type: error while parsing source parameters: <path to cached source>/.argocd-source.yaml: yaml: invalid leading UTF-8 octet";
    assert_eq!(names(&tree, json!({})).await, expect);
}

#[test]
fn the_build_environment_is_complete() {
    let tree = Tree::new(&[]);
    let mut request = tree.request(json!({"path": "p", "repoURL": "https://h/r", "targetRevision": "main"}));
    let values = |request: &_| -> Vec<String> {
        BuildEnv::of(request).iter().map(|(name, value)| format!("{name}={value}")).collect()
    };
    let expect = [
        "ARGOCD_APP_NAME=team_web",
        "ARGOCD_APP_NAMESPACE=prod",
        "ARGOCD_APP_PROJECT_NAME=default",
        "ARGOCD_APP_REVISION=0123456789abcdef0123456789abcdef01234567",
        "ARGOCD_APP_REVISION_SHORT=0123456",
        "ARGOCD_APP_REVISION_SHORT_8=01234567",
        "ARGOCD_APP_SOURCE_REPO_URL=https://h/r",
        "ARGOCD_APP_SOURCE_PATH=p",
        "ARGOCD_APP_SOURCE_TARGET_REVISION=main",
    ];
    assert_eq!(values(&request), expect);
    request.repository_url = "https://h/r.git".to_owned();
    request.revision = "1.2".to_owned();
    let values = values(&request);
    assert!(values.contains(&"ARGOCD_APP_SOURCE_REPO_URL=https://h/r.git".to_owned()));
    assert!(values.contains(&"ARGOCD_APP_REVISION_SHORT=1.2".to_owned()));
}

/// A plugin that answers with what it was asked.
struct Echo;

impl Renderer for Echo {
    fn objects<'a>(&'a self, job: &'a Job) -> BoxFuture<'a, Result<Vec<Value>, Error>> {
        let name = job.request.source.plugin.as_ref().map(|plugin| plugin.name.clone()).unwrap_or_default();
        let object = json!({"kind": "A", "metadata": {"name": name}, "in": job.app.ends_with("app")});
        let list = json!({"kind": "List", "items": [object]});
        Box::pin(std::future::ready(Ok(vec![list])))
    }
}

#[tokio::test]
async fn a_plugin_is_one_more_renderer() {
    let tree = Tree::new(&[("app/x", "")]);
    let request = tree.request(json!({"path": "app", "plugin": {"name": "echo"}}));
    let rendered = render_with(&request, &Echo).await.unwrap();
    assert_eq!(rendered.source_type, "Plugin");
    assert_eq!(rendered.manifests, [json!({"kind": "A", "metadata": {"name": "echo"}, "in": true})]);
    let refused = render(&request).await.unwrap_err().to_string();
    assert!(refused.starts_with("CMP processing failed for application \"team_web\": "), "{refused}");
}

#[tokio::test]
async fn annotations_must_be_text() {
    let text = "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: a, namespace: n, annotations: {k: 1}}\n";
    let tree = Tree::new(&[("a.yaml", text)]);
    let mut request = tree.request(json!({}));
    request.tracking.label_key = "app.kubernetes.io/instance".to_owned();
    let expect = "failed to set app instance tracking info on manifest: failed to get annotations from target object /v1, Kind=ConfigMap n/a: .metadata.annotations accessor error: contains non-string value in the map under key \"k\": 1 is of the type int64, expected string";
    let failure = render(&request).await.unwrap_err().to_string();
    assert!(
        failure
            .ends_with("contains non-string value in the map under key \"k\": 1 is of the type int64, expected string"),
        "{failure}\n{expect}"
    );
}

#[tokio::test]
async fn lists_are_taken_apart_one_level_deep_and_nothing_else_changes() {
    let text =
        "kind: Anything\nitems:\n- {kind: A, metadata: {name: x}, status: {}, empty: {}, none: null, items: [1]}\n";
    let rendered = render(&Tree::new(&[("a.yaml", text)]).request(json!({}))).await.unwrap();
    let expect = json!({"kind": "A", "metadata": {"name": "x"}, "status": {}, "empty": {}, "none": null, "items": [1]});
    assert_eq!(rendered.manifests, [expect]);
    let failure = names(&Tree::new(&[("a.yaml", "kind: A\nitems: [1]\n")]), json!({})).await;
    assert_eq!(failure, "items member is not an object: map[string]interface {}");
    for (text, count) in [
        ("kind: A\nitems: null\n", 0),
        ("kind: A\nitems: null\nspec: {}\n", 1),
        ("kind: A\nitems: null\nstatus: {}\n", 1),
        ("kind: A\nitems: {}\n", 1),
        ("kind: A\nitems: []\n", 0),
    ] {
        let rendered = render(&Tree::new(&[("a.yaml", text)]).request(json!({}))).await.unwrap();
        assert_eq!(rendered.manifests.len(), count, "{text}");
    }
}

#[tokio::test]
async fn a_private_copy_owns_what_links_lead_to() {
    use std::os::unix::fs::symlink;
    let tree = Tree::new(&[("shared/kustomization.yaml", "old"), ("app/x", "")]);
    symlink("../shared/kustomization.yaml", tree.root().join("app/kustomization.yaml")).unwrap();
    symlink("shared", tree.root().join("linked")).unwrap();
    let scratch = tree.request(json!({})).scratch;
    for app in ["app", "linked"] {
        let copy = super::super::workspace::Workspace::copy(&tree.root(), &tree.root().join(app), &scratch).unwrap();
        std::fs::write(copy.app().join("kustomization.yaml"), "new").unwrap();
        let kept = std::fs::read_to_string(tree.root().join("shared/kustomization.yaml")).unwrap();
        assert_eq!(kept, "old", "{app}");
    }
    assert_eq!(std::fs::read_dir(&scratch).unwrap().count(), 0, "copies go away");
}
