//! Evaluates Jsonnet in children of the built program, as the controller does.
//!
//! In:  checkouts in temporary folders.
//! Out: what a directory with Jsonnet renders to; that a program without end ends its own child and nothing else.
//! Invariant: no network, no cluster.

use std::fs;
use std::path::PathBuf;
use std::time::{Duration, Instant};

use litecd::process::Limits;
use litecd::render::{self, Request};
use serde_json::{Value, json};

struct Checkout {
    dir: tempfile::TempDir,
}

impl Checkout {
    fn new(files: &[(&str, &str)]) -> Self {
        let checkout = Self { dir: tempfile::tempdir().unwrap() };
        for (path, text) in files {
            let path = checkout.root().join(path);
            fs::create_dir_all(path.parent().unwrap()).unwrap();
            fs::write(path, text).unwrap();
        }
        checkout
    }

    fn root(&self) -> PathBuf {
        fs::canonicalize(self.dir.path()).unwrap()
    }

    fn request(&self, source: Value) -> Request {
        Request {
            app_name: "web".to_owned(),
            namespace: "prod".to_owned(),
            project: "default".to_owned(),
            source: serde_json::from_value(source).unwrap(),
            repository_url: String::new(),
            requested_revision: "main".to_owned(),
            revision: "0123456789abcdef0123456789abcdef01234567".to_owned(),
            root: self.root(),
            refs: Default::default(),
            has_multiple_sources: false,
            kube_version: String::new(),
            api_versions: Vec::new(),
            tracking: Default::default(),
            enabled: Default::default(),
            kustomize: Default::default(),
            value_file_schemes: Vec::new(),
            helm_repositories: Default::default(),
            permitted_repositories: Vec::new(),
            git_environment: Default::default(),
            scratch: self.root(),
            limits: Limits { timeout: Duration::from_secs(20), ..Limits::default() },
            evaluator: env!("CARGO_BIN_EXE_litecd").into(),
            max_directory_bytes: 0,
        }
    }

    async fn render(&self, source: Value) -> Result<Vec<Value>, String> {
        let rendered = render::render(&self.request(source)).await;
        rendered.map(|rendered| rendered.manifests).map_err(|error| error.envelope())
    }
}

#[tokio::test]
async fn files_are_evaluated_in_their_place_between_others() {
    let checkout = Checkout::new(&[
        ("app/a.yaml", "kind: A\n"),
        (
            "app/b.jsonnet",
            "local l = import 'lib.libsonnet'; [{ kind: l.kind }, null, { kind: 'List', items: [{ kind: 'C' }] }]",
        ),
        ("app/c.json", "{\"kind\": \"D\"}"),
        ("app/d.jsonnet", "function(kind='E') { kind: kind, v: std.extVar('v'), who: std.extVar('who') }"),
        ("app/lib.libsonnet", "{ kind: 'B' }"),
    ]);
    let jsonnet = json!({
        "extVars": [{"name": "v", "value": "1 + 1", "code": true}, {"name": "who", "value": "$$$$ARGOCD_APP_NAME"}],
        "tlas": [{"name": "kind", "value": "$ARGOCD_APP_NAMESPACE"}],
    });
    let manifests = checkout.render(json!({"path": "app", "directory": {"jsonnet": jsonnet}})).await.unwrap();
    // The second file sees values that were substituted twice: `$$$$NAME`, then `$$NAME`, then `$NAME`.
    let last = json!({"kind": "prod", "v": 2, "who": "$ARGOCD_APP_NAME"});
    let expect = [json!({"kind": "A"}), json!({"kind": "B"}), json!({"kind": "C"}), json!({"kind": "D"}), last];
    assert_eq!(manifests, expect);
}

#[tokio::test]
async fn the_first_broken_file_is_reported() {
    let broken = "{ kind: 'A', x: error 'boom' }";
    let yaml = "apiVersion: v1\nkind: A\nmetadata: {\n";
    let failure =
        |files: &'static [(&'static str, &'static str)]| async move { Checkout::new(files).render(json!({})).await };
    let first_yaml = failure(&[
        ("a.yaml", "apiVersion: v1\nkind: A\nmetadata: {\n"),
        ("b.jsonnet", "{ kind: 'A', x: error 'boom' }"),
    ]);
    let text = first_yaml.await.unwrap_err();
    assert!(text.starts_with("rpc error: code = FailedPrecondition desc = Failed to unmarshal \"a.yaml\""), "{text}");
    let text = Checkout::new(&[("a.jsonnet", broken), ("b.yaml", yaml)]).render(json!({})).await.unwrap_err();
    let expect = "rpc error: code = FailedPrecondition desc = Failed to evaluate jsonnet \"a.jsonnet\": RUNTIME ERROR: boom\n\t<path to cached source>/a.jsonnet:1:17-29\tobject <anonymous>\n\tField \"x\"\t\n\tDuring manifestation\t\n";
    assert_eq!(text, expect);
}

#[tokio::test]
async fn a_program_without_end_is_stopped_and_holds_up_nobody() {
    let endless = Checkout::new(&[("a.jsonnet", "local f(x) = f(x + 1) tailstrict; f(0)")]);
    let quick = Checkout::new(&[("a.jsonnet", "{ kind: 'A' }")]);
    let mut request = endless.request(json!({}));
    request.limits.timeout = Duration::from_secs(2);
    let started = Instant::now();
    let other = async {
        let manifests = quick.render(json!({})).await.unwrap();
        assert!(started.elapsed() < Duration::from_secs(2), "the other render waited");
        manifests
    };
    let (stopped, other) = futures::join!(render::render(&request), other);
    assert_eq!(other, [json!({"kind": "A"})]);
    assert_eq!(stopped.unwrap_err().to_string(), "Failed to evaluate jsonnet \"a.jsonnet\": timeout after 2s");
    assert!(started.elapsed() < Duration::from_secs(10));
}

#[tokio::test]
async fn a_program_that_fills_the_memory_ends_alone() {
    let text = "local grow(s) = grow(s + s) tailstrict; grow('0123456789abcdef')";
    let failure = Checkout::new(&[("a.jsonnet", text)]).render(json!({})).await.unwrap_err();
    assert!(failure.contains("Failed to evaluate jsonnet \"a.jsonnet\": "), "{failure}");
    let deep = format!("{{ kind: 'A', x: {}1{} }}", "[".repeat(20_000), "]".repeat(20_000));
    let failure = Checkout::new(&[("a.jsonnet", &deep)]).render(json!({})).await.unwrap_err();
    assert!(failure.contains("Failed to evaluate jsonnet \"a.jsonnet\": "), "{failure}");
}

#[tokio::test]
async fn no_import_leaves_the_checkout() {
    let outside = Checkout::new(&[("secret.libsonnet", "'secret'")]);
    let path = outside.root().join("secret.libsonnet");
    let program = format!("{{ kind: 'A', x: import '{}' }}", path.display());
    let failure = Checkout::new(&[("a.jsonnet", &program)]).render(json!({})).await.unwrap_err();
    let expect = format!("couldn't open import {path:?}: no match locally or in the Jsonnet library paths");
    assert!(failure.contains(&expect), "{failure}");
}
