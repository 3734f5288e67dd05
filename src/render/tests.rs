//! Tests of this room.

mod files;
mod pipeline;

use std::fs;
use std::path::{Path, PathBuf};

use serde_json::{Value, json};

use super::build_env::BuildEnv;
use super::documents::{self, Reader};
use super::{Error, Request, directory, json_syntax, kube_version, paths, refs};
use crate::api::ApplicationSource;

/// A request for a checkout with the given files.
pub struct Tree {
    dir: tempfile::TempDir,
}

impl Tree {
    pub fn new(files: &[(&str, &str)]) -> Self {
        let tree = Self { dir: tempfile::tempdir().unwrap() };
        fs::create_dir(tree.dir.path().join("scratch")).unwrap();
        fs::create_dir(tree.root()).unwrap();
        for (path, text) in files {
            let path = tree.root().join(path);
            fs::create_dir_all(path.parent().unwrap()).unwrap();
            fs::write(path, text).unwrap();
        }
        tree
    }
    pub fn root(&self) -> PathBuf {
        fs::canonicalize(self.dir.path()).unwrap().join("tree")
    }
    pub fn request(&self, source: Value) -> Request {
        Request {
            app_name: "team_web".to_owned(),
            namespace: "prod".to_owned(),
            project: "default".to_owned(),
            source: serde_json::from_value(source).unwrap(),
            repository_url: String::new(),
            requested_revision: "main".to_owned(),
            revision: "0123456789abcdef0123456789abcdef01234567".to_owned(),
            root: self.root(),
            refs: Default::default(),
            has_multiple_sources: false,
            kube_version: "v1.36.3+k3s1".to_owned(),
            api_versions: vec!["v1".to_owned()],
            tracking: Default::default(),
            enabled: Default::default(),
            kustomize: Default::default(),
            value_file_schemes: vec!["https".to_owned()],
            helm_repositories: Default::default(),
            permitted_repositories: Vec::new(),
            git_environment: None,
            scratch: self.dir.path().join("scratch"),
            limits: Default::default(),
            evaluator: "litecd".into(),
            max_directory_bytes: 0,
        }
    }
}

/// Renders a source and gives the names of its objects, or the text of its failure.
async fn names(tree: &Tree, source: Value) -> String {
    match super::render(&tree.request(source)).await {
        Ok(rendered) => {
            let name =
                |object: &Value| object.pointer("/metadata/name").and_then(Value::as_str).unwrap_or("?").to_owned();
            rendered.manifests.iter().map(name).collect::<Vec<_>>().join(" ")
        }
        Err(error) => error.to_string(),
    }
}

fn config_map(name: &str) -> String {
    format!("apiVersion: v1\nkind: ConfigMap\nmetadata: {{name: {name}}}\n")
}

#[tokio::test]
async fn directory_takes_the_files_that_its_globs_admit() {
    let (a, b, c) = (config_map("a"), config_map("b"), config_map("c"));
    let skipped = format!("# +argocd:skip-file-rendering\n{}", config_map("skipped"));
    let files = [
        ("app/a.yaml", &*a),
        ("app/b.yml", &b),
        ("app/deep/c.yaml", &c),
        ("app/notes.txt", "x"),
        ("app/s.yaml", &skipped),
    ];
    let tree = Tree::new(&files);
    for (directory, expect) in [
        (json!({}), "a b"),
        (json!({"recurse": true}), "a b c"),
        (json!({"recurse": true, "include": "*.yaml"}), "a c"),
        (json!({"recurse": true, "exclude": "{a,deep/*}.yaml"}), "b"),
        (json!({"include": "[a"}), ""),
    ] {
        assert_eq!(names(&tree, json!({"path": "app", "directory": directory})).await, expect, "{directory}");
    }
}

#[tokio::test]
async fn directory_is_bounded_in_size() {
    let (a, b) = (config_map("a"), config_map("b"));
    let tree = Tree::new(&[("a.yaml", &a), ("b.yaml", &b)]);
    let mut request = tree.request(json!({}));
    request.max_directory_bytes = 100;
    let error = super::render(&request).await.unwrap_err();
    assert_eq!(
        error.to_string(),
        "failed to get potentially valid manifests: exceeded max combined manifest file size"
    );
}

#[tokio::test]
async fn broken_file_fails_only_when_it_looks_like_a_manifest() {
    let broken = "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: x\n";
    for (text, expect) in [
        ("values: {a: [\n", ""),
        (
            broken,
            "Failed to unmarshal \"f.yaml\": failed to unmarshal manifest: error converting YAML to JSON: yaml: line 3: did not find expected ',' or '}'",
        ),
        (
            "kind: A\n---\nfoo: bar\n",
            "Failed to unmarshal \"f.yaml\": failed to unmarshal manifest: error unmarshaling JSON: while decoding JSON: Object 'Kind' is missing in '{\"foo\":\"bar\"}'",
        ),
        (
            "kind: A\n---\nfoo: <b> & c\n",
            "Failed to unmarshal \"f.yaml\": failed to unmarshal manifest: error unmarshaling JSON: while decoding JSON: Object 'Kind' is missing in '{\"foo\":\"\\u003cb\\u003e \\u0026 c\"}'",
        ),
    ] {
        assert_eq!(names(&Tree::new(&[("f.yaml", text)]), json!({})).await, expect, "{text}");
    }
}

#[tokio::test]
async fn lists_are_taken_apart_and_marked() {
    let list = json!({"kind": "List", "items": [{"apiVersion": "v1", "kind": "Secret", "metadata": {"name": "s"}}]});
    let null_list = json!({"kind": "SecretList", "items": null});
    let crd =
        json!({"apiVersion": "apiextensions.k8s.io/v1", "kind": "CustomResourceDefinition", "metadata": {"name": "c"}});
    let text = [list, null_list, crd].map(|object| object.to_string()).join("\n---\n");
    let tree = Tree::new(&[("all.yaml", &text)]);
    let mut request = tree.request(json!({}));
    request.tracking.label_key = "app.kubernetes.io/instance".to_owned();
    let manifests = super::render(&request).await.unwrap().manifests;
    let id = |object: &Value| object.pointer("/metadata/annotations/argocd.argoproj.io~1tracking-id").cloned();
    let ids: Vec<Option<Value>> = manifests.iter().map(id).collect();
    assert_eq!(ids, [Some(json!("team_web:/Secret:prod/s")), None]);
}

#[tokio::test]
async fn overrides_add_and_never_remove() {
    let tree = Tree::new(&[
        ("app/.argocd-source.yaml", "path: elsewhere\ndirectory: {recurse: true, exclude: null}\n"),
        ("app/deep/a.yaml", &config_map("a")),
        ("app/b.yaml", &config_map("b")),
        ("bad/.argocd-source.yaml", "helm: {parameters: [{name: on, value: x}]}\n"),
        ("void/.argocd-source.yaml", "# nothing\n"),
    ]);
    assert_eq!(names(&tree, json!({"path": "app", "directory": {"exclude": "b.*"}})).await, "a");
    let expect = "error getting app source type: error while parsing source parameters: <path to cached source>/bad/.argocd-source.yaml: json: cannot unmarshal bool into Go struct field HelmParameter.helm.parameters.name of type string";
    assert_eq!(names(&tree, json!({"path": "bad"})).await, expect);
    let expect = "error getting app source type: error while parsing source parameters: <path to cached source>/void/.argocd-source.yaml: Invalid JSON Patch";
    assert_eq!(names(&tree, json!({"path": "void"})).await, expect);
    let both = json!({"path": "app", "helm": {}, "kustomize": {}});
    let expect = "error getting app source type: multiple application sources defined: Kustomize,Helm,Directory";
    assert_eq!(names(&tree, both).await, expect);
}

#[tokio::test]
async fn an_unpacked_chart_is_rendered_at_its_root() {
    let tree = Tree::new(&[("a.yaml", &config_map("a"))]);
    assert_eq!(names(&tree, json!({"chart": "c", "path": "ignored"})).await, "a");
}

#[test]
fn application_path_stays_in_the_checkout() {
    let tree = Tree::new(&[("app/file", "")]);
    for (path, expect) in [
        ("/etc", "/etc: app path is absolute"),
        ("../scratch", "../scratch: app path outside root"),
        ("app/../../tree-2", "app/../../tree-2: app path outside root"),
        ("none", "none: app path does not exist"),
        ("app/file", "app/file: app path is not a directory"),
    ] {
        assert_eq!(paths::app_path(&tree.root(), path), Err(Error::Failed(expect.to_owned())));
    }
    assert_eq!(paths::app_path(&tree.root(), "app/./x/.."), Ok(tree.root().join("app")));
    assert_eq!(paths::app_path(&tree.root(), ""), Ok(tree.root()));
}

#[test]
fn variables_expand_as_in_go() {
    let env = BuildEnv::of(&Tree::new(&[]).request(json!({"path": "p"})));
    for (text, expect) in [
        ("$ARGOCD_APP_NAME-${ARGOCD_APP_REVISION_SHORT}", "team_web-0123456"),
        ("$$HOME $HOME", "$HOME "),
        ("a$1b$*c$", "abc$"),
        ("${ARGOCD_APP", "ARGOCD_APP"),
        ("${}x $-y", "x y"),
        ("10$ é$.", "10$ é$."),
    ] {
        assert_eq!(env.substitute(text), expect, "{text}");
    }
}

#[test]
fn streams_split_at_separator_lines() {
    let read = |text: &str| {
        let (objects, failure) = documents::read(text, Reader::Files);
        (
            objects.iter().map(|o| o["kind"].as_str().unwrap().to_owned()).collect::<String>(),
            failure.unwrap_or_default(),
        )
    };
    let check = |text: &str, kinds: &str, failure: &str| {
        assert_eq!(read(text), (kinds.to_owned(), failure.to_owned()), "{text}")
    };
    check("---\nkind: A\n--- # next\nkind: B\n---\n---\n# only words\n---\nnull\n", "AB", "");
    check("kind: A\n--- second\nkind: B\n", "", "invalid Yaml document separator: second");
    // Only the start of a line separates; this is one document in which the second key wins.
    check("kind: A\n  ---\nkind: B", "B", "");
    check("{\"kind\": \"A\"}\n{\"kind\": \"B\"} {\"kind\": \"C\"}", "ABC", "");
    check("{\"kind\": \"A\"}\n---\nkind: B\n", "AB", "");
    check("{\"a\": 1}", "", "Object 'Kind' is missing in '{\"a\": 1}'");
    check("{kind: A}", "A", "");
    check(
        "- a\n",
        "",
        "error unmarshaling JSON: while decoding JSON: json: cannot unmarshal array into Go value of type map[string]interface {}",
    );
}

#[test]
fn json_null_is_an_object_without_a_kind() {
    assert_eq!(directory::read_json("null\n", "f.json").unwrap(), json!({}));
    assert!(directory::read_json("[]", "f.json").is_err());
}

#[test]
fn json_problems_read_as_in_go() {
    for (text, expect) in [
        ("{\"a\": 1,}", "invalid character '}' looking for beginning of object key string"),
        ("{a}", "invalid character 'a' looking for beginning of object key string"),
        ("[1 2]", "invalid character '2' after array element"),
        ("{\"a\" 1}", "invalid character '1' after object key"),
        ("{\"a\": 1 \"b\"}", "invalid character '\"' after object key:value pair"),
        ("{\"a\": tru}", "invalid character '}' in literal true (expecting 'e')"),
        ("{\"a\": \"\n\"}", "invalid character '\\n' in string literal"),
        ("{\"a\": 1.x}", "invalid character 'x' after decimal point in numeric literal"),
        ("{\"a\":", "unexpected EOF"),
    ] {
        assert_eq!(json_syntax::value_end(text).unwrap_err().text, expect, "{text}");
    }
    let value = "{\"a\": [1, -2.5e3, \"\\u00e9\", {}, []]}";
    assert_eq!(json_syntax::value_end(&format!("{value} rest")), Ok(value.len()));
}

#[test]
fn kubernetes_version_keeps_its_numbers() {
    let tree = Tree::new(&[]);
    assert_eq!(kube_version::of(&tree.request(json!({}))), Ok("1.36.3".to_owned()));
    let own = |version: &str| kube_version::of(&tree.request(json!({"helm": {"kubeVersion": version}})));
    assert_eq!(own("1.30"), Ok("1.30".to_owned()));
    let expect = "could not parse kubernetes version new: could not parse \"new\" as version";
    assert_eq!(own("new").unwrap_err().to_string(), expect);
}

#[test]
fn references_name_their_first_use_of_a_repository() {
    let source = |value: Value| serde_json::from_value::<ApplicationSource>(value).unwrap();
    let sources = [
        source(json!({"repoURL": "https://h/values.git", "ref": "a"})),
        source(json!({"repoURL": "https://H/values", "ref": "b"})),
        source(json!({"repoURL": "https://h/charts", "chart": "c", "ref": "chart"})),
    ];
    let targets = refs::targets(&sources).unwrap();
    let needed = |files: &[&str]| {
        let user = source(json!({"repoURL": "https://h/app", "helm": {"valueFiles": files}}));
        refs::needed(&user, &targets).map_err(|error| error.to_string())
    };
    assert_eq!(
        needed(&["$b/x.yaml", "$a/y.yaml", "$b/z.yaml", "plain.yaml"]),
        Ok(vec!["$b".to_owned(), "$a".to_owned()])
    );
    let expect = "source referenced \"$c\", which is not one of the available sources ($a, $b, $chart)";
    assert_eq!(needed(&["$c/x.yaml"]), Err(expect.to_owned()));
    assert!(needed(&["$chart/x.yaml"]).unwrap_err().starts_with("source has a 'chart' field defined"));
    let bad = refs::targets(&[source(json!({"repoURL": "u", "ref": "a.b"}))]).unwrap_err();
    assert!(bad.to_string().contains("sources.ref a.b cannot contain any special characters"));
}

#[test]
fn failures_carry_their_code_also_from_the_cache() {
    let broken = Error::BrokenManifest("x".to_owned());
    assert_eq!(broken.envelope(), "rpc error: code = FailedPrecondition desc = x");
    let cached = "rpc error: code = Unknown desc = Manifest generation error (cached): rpc error: code = FailedPrecondition desc = x";
    assert_eq!(broken.cached_envelope(), cached);
    let missing = Error::NoValueFile("x".to_owned());
    let cached = "rpc error: code = Unknown desc = Manifest generation error (cached): x";
    assert_eq!(missing.cached_envelope(), cached);
}

#[tokio::test]
async fn a_private_copy_leaves_the_checkout_alone() {
    let tree = Tree::new(&[("app/k.yaml", "old"), ("base/b.yaml", "base")]);
    let copy =
        super::workspace::Workspace::copy(&tree.root(), &tree.root().join("app"), &tree.request(json!({})).scratch)
            .unwrap();
    fs::write(copy.app().join("k.yaml"), "new").unwrap();
    let read = |root: &Path, path: &str| fs::read_to_string(root.join(path)).unwrap();
    assert_eq!(read(&tree.root(), "app/k.yaml"), "old");
    assert_eq!(read(copy.root(), "base/b.yaml"), "base");
}
