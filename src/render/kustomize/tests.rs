//! Tests of this room.

use std::os::unix::fs::PermissionsExt;

use serde_json::{Value, json};

use super::confine;
use crate::render::Request;
use crate::render::tests::Tree;
use crate::repo::Environment;

/// Stands for kustomize: writes its arguments, directory and some of its environment to `calls`, and prints one object.
const RECORDER: &str = r#"#!/bin/sh
{ printf '%s' "$(basename "$PWD"):"; for word in "$@"; do printf ' %s' "$word"; done
  printf ' [%s|%s]\n' "$ARGOCD_APP_NAME" "$GIT_CONFIG_KEY_0"; } >> "$(dirname "$0")/calls"
[ "$1" = build ] && printf 'kind: A\nmetadata: {name: a}\n'
exit 0
"#;

/// Runs a Kustomize source with the recorder; the calls, with the folder of the render as `<root>`.
async fn calls(options: Value, adjust: impl FnOnce(&mut Request)) -> Result<Vec<String>, String> {
    let tree = Tree::new(&[("app/kustomization.yaml", "resources: []\n"), ("base/kustomization.yaml", "")]);
    let tools = tempfile::tempdir().unwrap();
    let binary = tools.path().join("kustomize");
    std::fs::write(&binary, RECORDER).unwrap();
    std::fs::set_permissions(&binary, std::fs::Permissions::from_mode(0o755)).unwrap();
    let mut options = options;
    options["version"] = "v9".into();
    let mut request = tree.request(json!({"path": "app", "repoURL": "https://h/r", "kustomize": options}));
    request.kustomize.binaries.insert("v9".to_owned(), binary.to_string_lossy().into_owned());
    adjust(&mut request);
    crate::render::render(&request).await.map_err(|error| error.to_string())?;
    let calls = std::fs::read_to_string(tools.path().join("calls")).unwrap();
    let without_root = |line: &str| match line.split_once(" build ") {
        Some((_, rest)) => format!("root: build {}", &rest[rest.find("/app").unwrap()..]),
        None => line.to_owned(),
    };
    Ok(calls.lines().map(without_root).collect())
}

#[tokio::test]
async fn edits_run_in_order_and_only_if_set() {
    let options = json!({
        "namePrefix": "-p", "nameSuffix": "s-", "images": ["a=b:$ARGOCD_APP_REVISION_SHORT", "c"],
        "replicas": [{"name": "x", "count": 2}, {"name": "y", "count": "3"}],
        "commonLabels": {"l": "$ARGOCD_APP_NAME"}, "commonAnnotations": {"n": "$ARGOCD_APP_NAME"},
        "namespace": "ns", "components": ["../base"],
    });
    let expect = [
        "app: edit set nameprefix -- -p [|]",
        "app: edit set namesuffix -- s- [|]",
        "app: edit set image a=b:0123456 c [|]",
        "app: edit set replicas x=2 y=3 [|]",
        "app: edit add label l:team_web [|]",
        "app: edit add annotation n:$ARGOCD_APP_NAME [|]",
        "app: edit set namespace -- ns [|]",
        "app: edit add component ../base [team_web|]",
        "root: build /app [team_web|]",
    ];
    assert_eq!(calls(options, |_| {}).await.unwrap(), expect);
    assert_eq!(calls(json!({}), |_| {}).await.unwrap(), ["root: build /app [team_web|]"]);
}

#[tokio::test]
async fn labels_and_annotations_have_their_switches() {
    let options = json!({
        "commonLabels": {"a": "1", "b": "2"}, "forceCommonLabels": true, "labelWithoutSelector": true, "labelIncludeTemplates": true,
        "commonAnnotations": {"n": "$ARGOCD_APP_NAMESPACE"}, "forceCommonAnnotations": true, "commonAnnotationsEnvsubst": true,
    });
    let expect = [
        "app: edit add label --force --without-selector --include-templates a:1 b:2 [|]",
        "app: edit add annotation --force n:prod [|]",
        "root: build /app [team_web|]",
    ];
    assert_eq!(calls(options, |_| {}).await.unwrap(), expect);
}

#[tokio::test]
async fn build_options_are_split_and_charts_get_the_cluster() {
    let adjust = |request: &mut Request| {
        request.kustomize.build_options = "--enable-helm  --load-restrictor LoadRestrictionsNone".to_owned();
        request.api_versions = vec!["v1".to_owned(), "apps/v1".to_owned()];
        request.git_environment =
            Some(Environment::of(vec![("GIT_CONFIG_KEY_0".to_owned(), "http.x".to_owned())]).into());
    };
    let flags = "--enable-helm --load-restrictor LoadRestrictionsNone --helm-kube-version";
    let expect =
        format!("root: build /app {flags} 1.36.3 --helm-api-versions v1 --helm-api-versions apps/v1 [team_web|http.x]");
    assert_eq!(calls(json!({}), adjust).await.unwrap(), [expect]);
    let own = json!({"kubeVersion": "v1.30.2+k3s1", "apiVersions": ["own/v1"]});
    let expect = format!("root: build /app {flags} 1.30.2 --helm-api-versions own/v1 [team_web|http.x]");
    assert_eq!(calls(own, adjust).await.unwrap(), [expect]);
}

#[tokio::test]
async fn wrong_options_read_as_in_argo_cd() {
    let failure = |options: Value| async { calls(options, |_| {}).await.unwrap_err() };
    let expect = "expected integer value for count. Received: many";
    assert_eq!(failure(json!({"replicas": [{"name": "x", "count": "many"}]})).await, expect);
    let tree = Tree::new(&[("kustomization.yaml", "")]);
    let unknown = crate::render::render(&tree.request(json!({"kustomize": {"version": "v1"}}))).await.unwrap_err();
    let expect = "error getting kustomize binary path: kustomize version v1 is not registered";
    assert_eq!(unknown.to_string(), expect);
}

#[tokio::test]
async fn the_same_failure_reads_the_same_each_time() {
    let failure = || async {
        let tree = Tree::new(&[("app/kustomization.yaml", "")]);
        let tools = tempfile::tempdir().unwrap();
        let binary = tools.path().join("kustomize");
        // As kustomize tells of a path outside, of the checkout and of a clone.
        let script = "#!/bin/sh\necho \"no '$PWD/../none' in '$PWD' at /tmp/kustomize-$$/base: no my/kustomize-9\" >&2\nexit 1\n";
        std::fs::write(&binary, script).unwrap();
        std::fs::set_permissions(&binary, std::fs::Permissions::from_mode(0o755)).unwrap();
        let mut request = tree.request(json!({"path": "app", "kustomize": {"version": "v9"}}));
        request.kustomize.binaries.insert("v9".to_owned(), binary.to_string_lossy().into_owned());
        let text = crate::render::render(&request).await.unwrap_err().to_string();
        text.replace(&*tools.path().to_string_lossy(), "<tools>")
    };
    let expect = "`<tools>/kustomize build <path to cached source>/app` failed exit status 1: \
        no '<path to cached source>/../none' in '<path to cached source>' at <dir>/base: no my/kustomize-9";
    assert_eq!(failure().await, expect);
    assert_eq!(failure().await, expect);
}

#[tokio::test]
async fn missing_components_are_left_out_when_asked() {
    let options = json!({"components": ["../base", "../none", "../../scratch", "https://h/remote"], "ignoreMissingComponents": true});
    assert_eq!(calls(options, |_| {}).await.unwrap()[0], "app: edit add component ../base [team_web|]");
}

#[tokio::test]
async fn a_render_that_is_given_up_leaves_neither_processes_nor_files() {
    let tree = Tree::new(&[("app/kustomization.yaml", "")]);
    let tools = tempfile::tempdir().unwrap();
    let (binary, mark) = (tools.path().join("kustomize"), tools.path().join("mark"));
    let script = format!("#!/bin/sh\ntouch {0}.started\n(sleep 2; touch {0}) &\nwait\n", mark.display());
    std::fs::write(&binary, script).unwrap();
    std::fs::set_permissions(&binary, std::fs::Permissions::from_mode(0o755)).unwrap();
    let mut request = tree.request(json!({"path": "app", "kustomize": {"version": "v9", "namePrefix": "x-"}}));
    request.kustomize.binaries.insert("v9".to_owned(), binary.to_string_lossy().into_owned());
    let given_up = tokio::time::timeout(std::time::Duration::from_millis(1000), crate::render::render(&request)).await;
    assert!(given_up.is_err());
    request.limits.timeout = std::time::Duration::from_millis(1000);
    let stopped = crate::render::render(&request).await.unwrap_err().to_string();
    assert!(stopped.ends_with("kustomize edit set nameprefix -- x-` failed timeout after 1s"), "{stopped}");
    assert!(tools.path().join("mark.started").exists());
    tokio::time::sleep(std::time::Duration::from_millis(2500)).await;
    assert!(!mark.exists(), "a grandchild lived on");
    assert_eq!(std::fs::read_dir(&request.scratch).unwrap().count(), 0, "copies lie about");
}

#[test]
fn a_kustomization_stays_in_its_checkout() {
    let outside = tempfile::tempdir().unwrap();
    std::fs::write(outside.path().join("kustomization.yaml"), "").unwrap();
    std::fs::write(outside.path().join("secret.yaml"), "kind: Secret\n").unwrap();
    let (folder, file) =
        (outside.path().display().to_string(), outside.path().join("secret.yaml").display().to_string());
    for (text, entry) in [
        (format!("resources: [{folder}]"), &folder),
        (format!("resources: [{file}]"), &file),
        (format!("bases: [{folder}]"), &folder),
        (format!("components: [{folder}]"), &folder),
        (format!("patches: [{{path: {file}}}]"), &file),
        (format!("patchesStrategicMerge: [{file}]"), &file),
        (format!("patchesJson6902: [{{path: {file}}}]"), &file),
        (format!("replacements: [{{path: {file}}}]"), &file),
        (format!("configMapGenerator: [{{files: ['k={file}']}}]"), &format!("k={file}")),
        (format!("secretGenerator: [{{envs: [{file}]}}]"), &file),
        (format!("generators: [{file}]"), &file),
        (format!("transformers: [{folder}]"), &folder),
        (format!("openapi: {{path: {file}}}"), &file),
        (format!("helmCharts: [{{valuesFile: {file}}}]"), &file),
        (format!("helmGlobals: {{chartHome: {folder}}}"), &folder),
    ] {
        let expect = format!("file '{entry}' resolved to outside repository root");
        let direct = Tree::new(&[("app/kustomization.yaml", &text)]);
        let refusal = confine::check(&direct.root(), &direct.root().join("app")).unwrap_err();
        assert_eq!(refusal.to_string(), expect, "{text}");
        let through_base =
            Tree::new(&[("app/kustomization.yaml", "resources: [../base]"), ("base/Kustomization", &text)]);
        let refusal = confine::check(&through_base.root(), &through_base.root().join("app")).unwrap_err();
        assert_eq!(refusal.to_string(), expect, "{text} in a base");
    }
    let up = Tree::new(&[("app/kustomization.yaml", "resources: [../../scratch]")]);
    assert!(confine::check(&up.root(), &up.root().join("app")).is_err());
    let fine = "resources: [../base, https://github.com/a/b//c?ref=v1, missing.yaml, 'git@h:o/r']\nconfigMapGenerator: [{literals: ['dir=/tmp']}]\n";
    let fine = Tree::new(&[("app/kustomization.yaml", fine), ("base/kustomization.yaml", "resources: [../app]")]);
    assert_eq!(confine::check(&fine.root(), &fine.root().join("app")), Ok(()));
}

#[test]
fn patches_are_added_behind_those_of_the_file() {
    let patch = |name: &str| serde_json::from_value(json!({"patch": name, "target": {"kind": "A"}})).unwrap();
    let append = |file: &str, text: &str| {
        let tree = Tree::new(&[(file, text)]);
        super::patches::append(&tree.root(), &[patch("one"), patch("two")]).map_err(|error| error.to_string())?;
        let written = std::fs::read_to_string(tree.root().join(file)).unwrap();
        Ok::<Value, String>(serde_json::from_str(&written).unwrap())
    };
    let ours = [json!({"patch": "one", "target": {"kind": "A"}}), json!({"patch": "two", "target": {"kind": "A"}})];
    assert_eq!(append("kustomization.yml", "namePrefix: yes\n").unwrap(), json!({"namePrefix": true, "patches": ours}));
    let with_own = append("Kustomization", "patches: [{path: own.yaml}]\n").unwrap();
    assert_eq!(with_own["patches"], json!([{"path": "own.yaml"}, ours[0], ours[1]]));
    for (file, text, expect) in [
        ("other.yaml", "", "kustomization file not found in the path"),
        (
            "kustomization.yaml",
            "patches: x\n",
            "expected 'patches' field in kustomization.yaml to be []any, but got string",
        ),
        (
            "kustomization.yaml",
            "patches: {}\n",
            "expected 'patches' field in kustomization.yaml to be []any, but got map[string]interface {}",
        ),
        (
            "kustomization.yaml",
            "patches:\n",
            "expected 'patches' field in kustomization.yaml to be []any, but got <nil>",
        ),
        (
            "kustomization.yaml",
            "- a\n",
            "expected kustomization.yaml to be type map[string]any, but got map[string]interface {}",
        ),
        (
            "kustomization.yaml",
            "a: [\n",
            "failed to unmarshal kustomization.yaml: error converting YAML to JSON: yaml: line 1: did not find expected node content",
        ),
    ] {
        assert_eq!(append(file, text).unwrap_err(), expect, "{text}");
    }
}
