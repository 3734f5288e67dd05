//! Tests of scanning, locating and reporting.

use serde_json::json;

use super::{Part, Report, Support, documents, locate, rows, scan};

const APPLICATION: &str = "\
apiVersion: argoproj.io/v1alpha1
kind: Application
metadata:
  name: web
  annotations:
    argocd.argoproj.io/sync-wave: '2'
    example.com/other: x
  finalizers: [resources-finalizer.argocd.argoproj.io]
spec:
  project: default
  source:
    repoURL: https://example.com/a.git
    path: apps
    helm:
      valueFiles:
        - a.yaml
  destination:
    server: https://kubernetes.default.svc
  syncPolicy:
    automated: {}
    syncOptions:
      - CreateNamespace=true
";

fn part(text: &str) -> Part {
    scan("a.yaml", text).expect("readable")
}

/// Ids with lines of all uses.
fn uses(text: &str) -> Vec<(String, u64)> {
    part(text).uses.iter().map(|each| (each.feature.id.to_owned(), each.line)).collect()
}

/// Whether a feature is used, at which line.
fn line_of(text: &str, id: &str) -> Option<u64> {
    uses(text).into_iter().find(|(found, _)| found == id).map(|(_, line)| line)
}

fn spec(extra: &str) -> String {
    format!("apiVersion: argoproj.io/v1alpha1\nkind: Application\nspec:\n{extra}")
}

/// An Application that the API server would store.
fn whole(extra: &str) -> String {
    spec(extra) + "  project: a\n  destination: {}\nmetadata: {name: a}\n"
}

fn report(texts: &[&str]) -> Report {
    let mut report = Report::default();
    for (text, name) in texts.iter().zip('a'..) {
        report.add(scan(&format!("{name}.yaml"), text));
    }
    report
}

#[test]
fn every_used_feature_is_found_at_its_line() {
    for (id, line) in [
        ("application.project", 10),
        ("source.repository", 12),
        ("helm.value-files", 15),
        ("destination.server", 18),
        ("sync.automated", 20),
        ("sync.options", 21),
        ("sync-option.create-namespace", 22),
        ("annotation.sync-wave", 6),
        ("finalizer.cascade", 8),
    ] {
        assert_eq!(line_of(APPLICATION, id), Some(line), "{id}");
    }
    assert_eq!(line_of(APPLICATION, "unknown"), None);
    assert_eq!(report(&[APPLICATION]).exit_code(), 0);
}

#[test]
fn an_unknown_field_is_reported_with_its_path() {
    let part = part(&spec("  sources:\n  - repoURL: x\n    helm:\n      valuesFiles: [a]\n"));
    let unknown: Vec<(&str, u64)> = part
        .uses
        .iter()
        .filter(|each| each.feature.id == "unknown")
        .map(|each| (each.what.as_str(), each.line))
        .collect();
    assert_eq!(unknown, [("spec.sources[0].helm.valuesFiles", 7)]);
}

#[test]
fn an_unknown_sync_option_or_annotation_is_reported() {
    assert_eq!(line_of(&spec("  syncPolicy:\n    syncOptions: [CreateNamespaces=true]\n"), "unknown"), Some(5));
    let pod = "apiVersion: v1\nkind: Pod\nmetadata:\n  annotations:\n    argocd.argoproj.io/sync-waves: '1'\n";
    assert_eq!(line_of(pod, "unknown"), Some(5));
}

#[test]
fn other_kinds_are_ignored_but_for_annotations_of_argo_cd() {
    let text = "apiVersion: apps/v1\nkind: Deployment\nmetadata:\n  annotations:\n    argocd.argoproj.io/hook: PreSync\nspec:\n  project: 1\n";
    assert_eq!(uses(text), [("annotation.hook".to_owned(), 5), ("hook.sync".to_owned(), 5)]);
    assert!(part(text).objects.is_empty());
    assert_eq!(uses("apiVersion: argoproj.io/v1alpha1\nkind: Rollout\nspec: {strategy: {}}\n"), []);
}

#[test]
fn applications_in_a_list_are_found() {
    let text = "apiVersion: v1\nkind: List\nitems:\n- apiVersion: argoproj.io/v1alpha1\n  kind: Application\n  spec:\n    project: a\n";
    assert_eq!(line_of(text, "application.project"), Some(7));
    assert_eq!(part(text).objects["Application"], 1);
}

#[test]
fn every_document_of_a_file_counts() {
    let text = format!("{APPLICATION}---\n{APPLICATION}");
    assert_eq!(part(&text).objects["Application"], 2);
    let lines: Vec<u64> = uses(&text).iter().filter(|(id, _)| id == "application.project").map(|(_, l)| *l).collect();
    assert_eq!(lines, [10, 33]);
}

#[test]
fn a_file_may_end_in_the_middle_of_a_block() {
    assert_eq!(line_of(&spec("  source:\n    helm:\n      values: |-\n        a: b"), "helm.values"), Some(6));
}

#[test]
fn json_is_read_too() {
    let text = r#"{"apiVersion": "argoproj.io/v1alpha1", "kind": "Application",
        "spec": {"project": "default",
        "source": {"repoURL": "https://a", "chart": "x"}}}"#;
    assert_eq!(line_of(text, "source.chart"), Some(3));
}

#[test]
fn values_decide_some_features() {
    let source = |url: &str| spec(&format!("  source:\n    repoURL: {url}\n"));
    assert_eq!(line_of(&source("oci://registry/a"), "source.oci"), Some(5));
    assert_eq!(line_of(&source("git@example.com:a/b.git"), "source.ssh"), Some(5));
    assert_eq!(line_of(&source("ssh://git@example.com/a"), "source.ssh"), Some(5));
    assert_eq!(line_of(&source("https://user@example.com/a"), "source.ssh"), None);
    let remote = whole("").replace("destination: {}", "destination: {name: prod}");
    assert_eq!(line_of(&remote, "destination.remote"), Some(5));
    assert_eq!(report(&[&remote]).exit_code(), 0, "its Secret says whether the cluster can be reached");
    assert_eq!(line_of(&spec("  destination:\n    name: in-cluster\n"), "destination.remote"), None);
}

#[test]
fn empty_values_use_nothing_but_an_empty_automated_does() {
    assert_eq!(line_of(&spec("  sources: []\n"), "application.multi-source"), None);
    assert_eq!(line_of(&spec("  source: {chart: '', helm: {passCredentials: false}}\n"), "source.chart"), None);
    assert_eq!(line_of(&spec("  source: {kustomize: {version: ''}}\n"), "kustomize.version"), None);
    assert_eq!(line_of(&spec("  source: {kustomize: {version: v5}}\n"), "kustomize.version"), Some(4));
    assert_eq!(line_of(&spec("  sourceHydrator: null\n"), "application.source-hydrator"), None);
    assert_eq!(line_of(&spec("  syncPolicy: {automated: {}}\n"), "sync.automated"), Some(4));
}

#[test]
fn several_fields_of_one_feature_are_one_use_per_map() {
    let count = |text: &str, id: &str| uses(text).iter().filter(|(found, _)| found == id).count();
    let text = spec("  source: {kustomize: {namePrefix: a, nameSuffix: b}}\n");
    assert_eq!(count(&text, "kustomize.names"), 1);
    let rules = spec("  ignoreDifferences:\n  - {group: apps, kind: Deployment}\n  - {group: apps, kind: DaemonSet}\n");
    assert_eq!(count(&rules, "ignore.json-pointers"), 2);
    assert_eq!(count(APPLICATION, "object.identity"), 0);
}

#[test]
fn templates_of_application_sets_are_read_as_applications() {
    let text = "\
apiVersion: argoproj.io/v1alpha1
kind: ApplicationSet
spec:
  generators:
  - matrix:
      generators:
      - git: {repoURL: https://a, revision: main, directories: [{path: '*'}]}
      - clusters: {}
  template:
    metadata: {name: '{{name}}'}
    spec:
      project: '{{project}}'
      destination: {server: '{{server}}'}
      syncPolicy: {syncOptions: ['{{option}}', Replace=true]}
";
    for (id, line) in [
        ("appset.matrix", 5),
        ("appset.git.directories", 7),
        ("appset.clusters", 8),
        ("application.project", 12),
        ("sync-option.replace", 14),
    ] {
        assert_eq!(line_of(text, id), Some(line), "{id}");
    }
    assert_eq!(line_of(text, "unknown"), None);
    assert_eq!(line_of(text, "destination.remote"), None);
}

#[test]
fn settings_are_read_by_key_and_switched_off_ones_do_not_count() {
    let text = "\
apiVersion: v1
kind: ConfigMap
metadata: {name: argocd-cm}
data:
  timeout.reconciliation: 60s
  exec.enabled: 'false'
  resource.customizations.health.argoproj.io_Application: |
    return {}
  timeout.reconcilation: 60s
";
    assert_eq!(line_of(text, "settings.timeouts"), Some(5));
    assert_eq!(line_of(text, "settings.web-interface"), None);
    assert_eq!(line_of(text, "settings.health-scripts"), Some(7));
    assert_eq!(line_of(text, "unknown"), Some(9));
    let other = text.replace("argocd-cm", "mine");
    assert_eq!(uses(&other), []);
}

#[test]
fn secrets_of_argo_cd_are_recognised_by_their_label() {
    let text = "kind: Secret\napiVersion: v1\nmetadata:\n  labels:\n    argocd.argoproj.io/secret-type: repo-creds\n";
    assert_eq!(line_of(text, "secret.repository"), Some(5));
    assert_eq!(uses("kind: Secret\napiVersion: v1\nmetadata: {name: a}\n"), []);
}

#[test]
fn secrets_use_what_their_data_says() {
    let secret = |kind: &str, data: &str| {
        format!(
            "kind: Secret\napiVersion: v1\nmetadata: {{labels: {{argocd.argoproj.io/secret-type: {kind}}}}}\n{data}"
        )
    };
    let plain = secret("repository", "stringData:\n  url: https://a\n  password: b\n  enableLfs: 'false'\n");
    assert_eq!(uses(&plain), [("secret.repository".to_owned(), 3)]);
    assert_eq!(report(&[&plain]).exit_code(), 0);
    assert_eq!(line_of(&secret("repository", "stringData:\n  type: helm\n"), "secret.helm-repository"), Some(5));
    assert_eq!(line_of(&secret("repository", "data:\n  type: aGVsbQ==\n"), "secret.helm-repository"), Some(5));
    let git = secret("repository", "data:\n  type: Z2l0\n  sshPrivateKey: YQ==\n");
    assert_eq!(uses(&git), [("secret.repository".to_owned(), 3), ("secret.ssh".to_owned(), 6)]);
    let cluster = |config: &str| secret("cluster", &format!("stringData:\n  config: '{config}'\n"));
    assert_eq!(uses(&cluster(r#"{"bearerToken": "a"}"#)), [("secret.cluster".to_owned(), 3)]);
    assert_eq!(line_of(&cluster(r#"{"execProviderConfig": {"command": "a"}}"#), "secret.cluster-identity"), Some(5));
    let narrow = |data: &str| secret("cluster", &format!("stringData:\n  server: https://a\n{data}"));
    assert_eq!(line_of(&narrow("  namespaces: a,b\n"), "secret.cluster-namespaces"), Some(6));
    assert_eq!(report(&[&narrow("  namespaces: a,b\n  clusterResources: 'true'\n")]).exit_code(), 1);
    // Without namespaces the whole cluster is managed anyway.
    assert_eq!(report(&[&narrow("  namespaces: ''\n  clusterResources: 'true'\n")]).exit_code(), 0);
}

#[test]
fn webhook_secrets_count_with_and_without_a_label() {
    let secret = |labels: &str, data: &str| {
        format!("apiVersion: v1\nkind: Secret\nmetadata: {{name: argocd-secret, labels: {labels}}}\ndata:\n{data}")
    };
    let webhook = "  admin.password: YQ==\n  webhook.github.secret: YQ==\n";
    for labels in ["{}", "{app.kubernetes.io/part-of: argocd}"] {
        assert_eq!(uses(&secret(labels, webhook)), [("secret.webhook".to_owned(), 6)], "{labels}");
    }
    assert_eq!(report(&[&secret("{}", webhook)]).exit_code(), 0);
    assert_eq!(report(&[&secret("{}", "  webhook.github.secret: ''\n")]).exit_code(), 0);
    assert_eq!(uses(&secret("{}", webhook).replace("argocd-secret", "mine")), []);
}

/// `argocd-cm` or `argocd-cmd-params-cm` with a line of data.
fn config_map(name: &str, data: &str) -> String {
    let labels = "labels: {app.kubernetes.io/part-of: argocd}";
    format!("apiVersion: v1\nkind: ConfigMap\nmetadata: {{name: {name}, {labels}}}\ndata:\n  {data}\n")
}

#[test]
fn a_setting_that_cannot_be_read_is_a_problem_at_its_line() {
    let check = |name: &str, data: &str, expect: &str| {
        let found: Vec<(u64, String)> =
            part(&config_map(name, data)).problems.into_iter().map(|problem| (problem.line, problem.message)).collect();
        match expect {
            "" => assert_eq!(found, [], "{data}"),
            _ => {
                assert_eq!(found.len(), 1, "{data}: {found:?}");
                assert!(found[0].0 == 5 && found[0].1.contains(expect), "{data}: {found:?}");
                assert_eq!(report(&[&config_map(name, data)]).exit_code(), 2);
            }
        }
    };
    check("argocd-cm", "timeout.reconciliation: 60s", "");
    check("argocd-cm", "timeout.reconciliation: banana", "timeout.reconciliation: \"banana\" is no duration");
    check("argocd-cm", "timeout.hard.reconciliation: -1s", "timeout.hard.reconciliation: \"-1s\"");
    check("argocd-cm", "timeout.hard.reconciliation: '0'", "");
    check("argocd-cm", "timeout.reconciliation: '{{ .Values.period }}'", "");
    check("argocd-cm", "resource.respectRBAC: loose", "invalid value for resource.respectRBAC: loose");
    check("argocd-cm", "resource.exclusions: '['", "resource.exclusions: ");
    check("argocd-cm", "application.resourceTrackingMethod: labels", "\"labels\" is neither annotation");
    check("argocd-cm", "dex.config: anything", "");
    check("argocd-cmd-params-cm", "controller.status.processors: '50'", "");
    check("argocd-cmd-params-cm", "controller.status.processors: many", "\"many\" for controller.status.processors");
    check("argocd-cmd-params-cm", "server.insecure: 'true'", "");
}

#[test]
fn argocd_cm_without_its_label_is_seen_by_nobody() {
    let text = config_map("argocd-cm", "timeout.reconciliation: 60s").replace("part-of: argocd", "part-of: other");
    let table = report(&[&text]).to_table();
    assert!(
        table.contains("error: a.yaml:3: ConfigMap argocd-cm: without the label app.kubernetes.io/part-of"),
        "{table}"
    );
    assert!(table.ends_with("1 file, 1 argocd-cm: settings cannot be used (1 error above)\n"), "{table}");
    assert_eq!(report(&[&text]).exit_code(), 2);
    assert_eq!(report(&[&text]).to_json()["problems"][0]["kind"], "setting");
    assert_eq!(part(&text.replace("argocd-cm", "argocd-cmd-params-cm")).problems, []);
    // A patch of Argo CD's own manifests, which have the label.
    let mut patched = report(&["kind: ConfigMap\n"]);
    patched.add(scan("kustomization.yaml", "patches: [{path: cm.yaml}]\n"));
    patched.add(scan("cm.yaml", &text));
    assert_eq!(patched.exit_code(), 0);
}

#[test]
fn a_cluster_whose_config_cannot_be_read_is_a_problem_without_its_value() {
    let secret = "kind: Secret\napiVersion: v1\nmetadata: {name: c, labels: {argocd.argoproj.io/secret-type: cluster}}\n\
                  stringData:\n  server: https://a\n  config: '{\"bearerToken\": canary'\n";
    let problems = part(secret).problems;
    let [problem] = problems.as_slice() else { panic!("{problems:?}") };
    assert_eq!(problem.line, 6);
    assert!(problem.message.starts_with("Secret c: failed to unmarshal cluster config"), "{problem}");
    assert!(!problem.message.contains("canary"), "{problem}");
}

#[test]
fn what_other_programs_of_argo_cd_do_is_shown_and_does_not_count() {
    let text = config_map("argocd-cm", "url: https://argocd.example.com");
    let report = report(&[&text]);
    assert_eq!(report.exit_code(), 0);
    let json = report.to_json();
    assert_eq!(
        (&json["features"][0]["id"], &json["features"][0]["support"]),
        (&json!("settings.web-interface"), &json!("other"))
    );
    let table = report.to_table();
    assert!(table.contains("\nother    Web interface"), "{table}");
    assert!(
        table.contains("settings.web-interface: Argo CD's own API server and web interface go on reading it\n"),
        "{table}"
    );
    assert!(table.ends_with(": all features are supported, or stay with Argo CD's other programs\n"), "{table}");
    assert_eq!(uses(&config_map("argocd-cm", "exec.enabled: 'false'")), []);
}

/// The README lists the ids of what is missing, so that it cannot say anything else than `check` does.
#[test]
fn the_readme_lists_what_is_not_there() {
    let readme = include_str!("../../README.md");
    let (_, rest) = readme.split_once("## What is not there yet").expect("a section");
    let (section, _) = rest.split_once("\n## ").expect("another section");
    let named: Vec<&str> = section.split('`').skip(1).step_by(2).filter(|word| !word.contains(['/', ' '])).collect();
    let is_named = |id: &str| {
        named.iter().any(|name| name.strip_suffix('*').map_or(*name == id, |beginning| id.starts_with(beginning)))
    };
    let is_missing = |support: Support| matches!(support, Support::No(_) | Support::Partial(_));
    for row in rows() {
        let (id, support) = (row.feature.id, row.feature.support);
        assert_eq!(is_named(id), is_missing(support), "README.md and the table disagree on {id}");
    }
    for name in named {
        let beginning = name.trim_end_matches('*');
        assert!(rows().any(|row| row.feature.id.starts_with(beginning)), "README.md names {name}, which is no feature");
    }
}

#[test]
fn broken_yaml_is_a_problem_only_where_it_can_concern_argo_cd() {
    let broken = "apiVersion: argoproj.io/v1alpha1\nkind: Application\nspec:\n  project: [\n";
    let problem = scan("bad.yaml", broken).expect_err("broken");
    assert_eq!((problem.file.as_str(), problem.line), ("bad.yaml", 5));
    assert_eq!(report(&[broken]).exit_code(), 2);

    let template = "apiVersion: argoproj.io/v1alpha1\n{{- if .Values.on }}\nkind: Application\n{{- end }}\n";
    assert_eq!(part(template).notes.len(), 1);
    assert_eq!(report(&[template]).exit_code(), 0);

    assert_eq!(part("a: [\n").notes.len(), 1);
}

#[test]
fn a_template_in_a_key_is_no_yaml() {
    assert_eq!(part("apiVersion: argoproj.io/v1alpha1\nkind: Application\nspec: {{ .Values.spec }}\n").notes.len(), 1);
}

#[test]
fn exit_code_tells_what_was_found() {
    let plugin = whole("  source: {repoURL: https://a, plugin: {name: b}}\n");
    assert_eq!(report(&[APPLICATION]).exit_code(), 0);
    assert_eq!(report(&[APPLICATION, &plugin]).exit_code(), 1);
    assert_eq!(report(&[&plugin, "argoproj.io: [\n"]).exit_code(), 2);
    assert_eq!(report(&[]).exit_code(), 0);
}

#[test]
fn summary_counts_and_puts_the_unsupported_first() {
    let plugin = spec("  source: {repoURL: https://a, plugin: {name: b}}\n");
    let report = report(&[APPLICATION, &plugin, &plugin, &plugin, &plugin]);
    let summary = report.summary();
    let first = summary.first().expect("an entry");
    assert_eq!((first.feature.id, first.count, first.first.len()), ("source.plugin", 8, 3));
    assert!(matches!(first.feature.support, Support::No(_)));
    assert!(summary.iter().skip(1).all(|entry| entry.feature.support == Support::Yes));
}

#[test]
fn json_and_table_say_the_same() {
    let plugin = whole("  source: {repoURL: https://a, plugin: {name: b}}\n");
    let report = report(&[&plugin]);
    let value = report.to_json();
    assert_eq!(value["features"][0]["id"], "source.plugin");
    assert_eq!(value["features"][0]["support"], "no");
    assert_eq!(value["features"][0]["first"][0], json!({"file": "a.yaml", "line": 4, "what": "spec.source.plugin"}));
    assert_eq!(value["objects"], json!({"Application": 1}));
    let table = report.to_table();
    let row = table.lines().nth(1).expect("a row");
    assert!(row.starts_with("no ") && row.contains("Config management plugin") && row.ends_with("a.yaml:4"), "{table}");
    assert!(table.ends_with("1 file, 1 Application: some features are not supported, or only in part\n"), "{table}");
}

#[test]
fn files_passed_over_share_a_line() {
    let table = report(&["{{ a }}: [\n", "{{ b }}: [\n"]).to_table();
    assert!(
        table.contains("passed over, 2 files, a template that is no YAML before it is rendered: a.yaml, b.yaml\n"),
        "{table}"
    );
}

#[test]
fn nothing_found_is_said_with_what_was_not_examined() {
    assert_eq!(report(&[]).to_table(), "nothing of Argo CD was found in 0 files\n");
    let mut templates = report(&["{{ a }}: [\n", "kind: ConfigMap\n"]);
    templates.skipped = 2;
    let table = templates.to_table();
    assert!(table.ends_with("nothing of Argo CD was found in 1 file (3 files not examined)\n"), "{table}");
    assert_eq!(templates.exit_code(), 0);
    assert_eq!(templates.to_json()["filesNotExamined"], 3);
}

#[test]
fn several_uses_on_one_line_are_one_place() {
    let text = spec("  ignoreDifferences: [{group: apps, kind: A}, {group: apps, kind: B}]\n");
    let report = report(&[&text]);
    let summary = report.summary();
    let rule = summary.iter().find(|entry| entry.feature.id == "ignore.json-pointers").expect("a use");
    assert_eq!((rule.count, rule.places, rule.first.len()), (2, 1, 1));
    assert!(!report.to_table().contains("a.yaml:4, a.yaml:4"));
}

#[test]
fn what_the_api_server_would_refuse_is_a_problem_at_its_line() {
    let problems = |text: &str| -> Vec<(u64, String)> {
        part(text).problems.into_iter().map(|problem| (problem.line, problem.message)).collect()
    };
    assert_eq!(problems(APPLICATION), []);
    let text = whole("  source:\n    repoURL: https://a\n    targetRevision: 1.0\n");
    let expected = "Application a: spec.source.targetRevision: Invalid value: 1.0: spec.source.targetRevision in body must be of type string";
    assert_eq!(problems(&text), [(6, expected.to_owned())]);
    assert_eq!(report(&[&text]).exit_code(), 2);
    let text = whole("  sources:\n  - repoURL: https://a\n  - path: a\n");
    assert_eq!(problems(&text), [(6, "Application a: spec.sources[1].repoURL: Required value".to_owned())]);
    let text = "apiVersion: argoproj.io/v1alpha1\nkind: Application\nmetadata: {name: a}\n";
    assert_eq!(problems(text), [(1, "Application a: spec: Required value".to_owned())]);
    let table = report(&[text]).to_table();
    assert!(table.contains("error: a.yaml:1: Application a: spec: Required value\n"), "{table}");
    assert!(table.ends_with("1 file, 1 Application: the API server would refuse this (1 error above)\n"), "{table}");
}

#[test]
fn a_value_that_a_template_fills_in_is_no_problem() {
    let text = whole("  syncPolicy:\n    automated: {prune: '{{ .Values.prune }}'}\n");
    assert_eq!(part(&text).problems, []);
    assert_eq!(part(&text.replace("{{ .Values.prune }}", "yes")).problems.len(), 1);
}

#[test]
fn a_patch_need_not_be_whole_but_must_be_of_the_right_types() {
    let kustomization = "patches:\n- path: ../patch.yaml\n- patch: '[]'\npatchesStrategicMerge: [other.yaml]\n";
    let patch = "apiVersion: argoproj.io/v1alpha1\nkind: Application\nmetadata: {name: a}\nspec: {project: b}\n";
    let code = |text: &str, file: &str| {
        let mut report = Report::default();
        report.add(scan("./dev/kustomization.yaml", kustomization));
        report.add(scan(file, text));
        report.exit_code()
    };
    assert_eq!(code(patch, "./patch.yaml"), 0);
    assert_eq!(code(patch, "./dev/other.yaml"), 0);
    assert_eq!(code(patch, "./dev/patch.yaml"), 2);
    assert_eq!(code(&patch.replace("project: b", "project: [b]"), "./patch.yaml"), 2);
}

#[test]
fn two_unknown_things_are_two_entries() {
    let text = spec("  one: 1\n  two: 2\n");
    let report = report(&[&text]);
    let unknown: Vec<usize> =
        report.summary().iter().filter(|entry| entry.feature.id == "unknown").map(|entry| entry.count).collect();
    assert_eq!(unknown, [1, 1]);
}

#[test]
fn a_field_is_located_by_its_pointer() {
    let found = documents(APPLICATION).expect("readable");
    let root = found.first().expect("a document");
    assert_eq!(locate(root, ""), Some(1));
    assert_eq!(locate(root, "/spec/source/helm/valueFiles/0"), Some(16));
    assert_eq!(locate(root, "/metadata/annotations/argocd.argoproj.io~1sync-wave"), Some(6));
    assert_eq!(locate(root, "/spec/nowhere"), None);
}

#[test]
fn aliases_and_merge_keys_are_followed() {
    let text = "base: &b {a: 1, b: 2}\nlist: [*b]\nmore: {<<: *b, a: 3}\n";
    let found = documents(text).expect("readable");
    let value = found.first().expect("a document").to_value();
    assert_eq!(value["list"][0], json!({"a": 1, "b": 2}));
    assert_eq!(value["more"], json!({"a": 3, "b": 2}));
}

#[test]
fn aliases_cannot_exhaust_memory() {
    let mut text = String::from("a0: &a0 [x, x, x, x, x, x, x, x, x, x]\n");
    for level in 1..9 {
        let below = level - 1;
        let many = vec![format!("*a{below}"); 10].join(", ");
        text += &format!("a{level}: &a{level} [{many}]\n");
    }
    assert_eq!(documents(&text).expect_err("too large").message, "too many values");
}

#[test]
fn nesting_cannot_exhaust_the_stack() {
    let text = "[".repeat(5000);
    assert_eq!(documents(&text).expect_err("too deep").message, "nested too deeply");
}
