//! Tests of what projects permit.

use std::collections::BTreeMap;

use jiff::Timestamp;
use serde_json::{Value, json};

use super::{Inputs, Project, Windows, effective, service_account, validate_spec};
use crate::api::project::{AppProject, AppProjectSpec, SyncWindow};
use crate::api::{Application, GroupKind};
use crate::settings::{Cluster, Clusters, GlobalProject, Impersonation, Repositories, Secret, secret};

fn project(spec: Value) -> Project {
    let spec: AppProjectSpec = serde_json::from_value(spec).unwrap();
    Project { name: "p".to_owned(), spec, clusters: Vec::new() }
}

fn app(spec: Value) -> Application {
    serde_json::from_value(json!({"metadata": {"name": "demo", "namespace": "argocd"}, "spec": spec})).unwrap()
}

fn cluster(name: &str, server: &str) -> Cluster {
    Cluster { name: name.to_owned(), server: server.to_owned(), ..Cluster::default() }
}

#[test]
fn source_globs_stop_at_slashes_and_ignore_spelling() {
    let project = project(json!({"sourceRepos": ["https://git.example/team/*.git", "git@host:org/repo"]}));
    assert!(project.source_permitted("https://GIT.example/team/app"));
    assert!(!project.source_permitted("https://git.example/team/sub/app"));
    assert!(project.source_permitted("ssh://git@host/org/repo.git"));
    assert!(!super::Project::default().source_permitted("https://any"));
}

#[test]
fn negated_source_refuses_its_match_and_allows_the_rest() {
    let project = project(json!({"sourceRepos": ["!https://git/secret"]}));
    assert!(!project.source_permitted("https://git/secret.git"));
    assert!(project.source_permitted("https://git/open"));
}

#[test]
fn destinations_match_by_server_or_name_and_namespace() {
    let project = project(json!({"destinations": [
        {"server": "https://a", "namespace": "team-*"}, {"name": "west", "namespace": "*"}
    ]}));
    assert!(project.destination_permitted(&cluster("x", "https://a"), "team-a"));
    assert!(!project.destination_permitted(&cluster("x", "https://a"), "other"));
    assert!(project.destination_permitted(&cluster("west", "https://w"), "other"));
}

#[test]
fn negated_destinations_refuse() {
    let project = project(json!({"destinations": [
        {"server": "*", "namespace": "*"}, {"server": "https://a", "namespace": "!kube-system"},
        {"server": "!https://prod", "namespace": "*"}
    ]}));
    assert!(project.destination_permitted(&cluster("", "https://a"), "x"));
    assert!(!project.destination_permitted(&cluster("", "https://a"), "kube-system"));
    assert!(!project.destination_permitted(&cluster("", "https://prod"), "x"));
}

#[test]
fn only_project_clusters_when_the_project_says_so() {
    let mut project = project(json!({
        "destinations": [{"server": "*", "namespace": "*"}], "permitOnlyProjectScopedClusters": true
    }));
    assert!(!project.destination_permitted(&cluster("a", "https://a"), "x"));
    project.clusters.push(("other".to_owned(), "https://a".to_owned()));
    assert!(project.destination_permitted(&cluster("a", "https://a"), "x"));
}

#[test]
fn absent_and_empty_kind_lists_differ_for_namespaced_kinds() {
    let kind = GroupKind::new("apps", "Deployment");
    let check = |spec: Value, namespaced, expect| {
        assert_eq!(project(spec.clone()).kind_permitted(&kind, "web", namespaced), expect, "{spec}");
    };
    check(json!({}), true, true);
    check(json!({"namespaceResourceWhitelist": []}), true, false);
    check(json!({"namespaceResourceWhitelist": [{"group": "app*", "kind": "*"}]}), true, true);
    check(json!({"namespaceResourceBlacklist": [{"group": "*", "kind": "Dep*"}]}), true, false);
    check(json!({}), false, false);
    check(json!({"clusterResourceWhitelist": [{"group": "*", "kind": "*"}]}), false, true);
    check(json!({"clusterResourceWhitelist": [{"group": "*", "kind": "*", "name": "w?b"}]}), false, true);
    check(json!({"clusterResourceWhitelist": [{"group": "*", "kind": "*", "name": "x*"}]}), false, false);
}

#[test]
fn denied_sync_tasks_have_argocds_texts() {
    let project = project(json!({"destinations": [{"server": "*", "namespace": "yes"}],
        "namespaceResourceBlacklist": [{"group": "", "kind": "Secret"}]}));
    let object = |kind: &str, namespace: &str| json!({"apiVersion": "v1", "kind": kind, "metadata": {"name": "x", "namespace": namespace}});
    let text = |object: Value, namespaced| {
        project.sync_permitted(&object, namespaced, &cluster("", "https://a")).map_err(|error| error.to_string())
    };
    let error = |text: &str| Err(text.to_owned());
    assert_eq!(text(object("ConfigMap", "yes"), Some(true)), Ok(()));
    assert_eq!(text(object("Secret", "yes"), Some(true)), error("resource :Secret is not permitted in project p"));
    assert_eq!(text(object("ConfigMap", "no"), Some(true)), error("namespace no is not permitted in project 'p'"));
    assert_eq!(
        text(object("Foo", "yes"), None),
        error("failed to get API resource info for /Foo: unable to verify permissions")
    );
}

fn messages(spec: Value, project_spec: Value) -> Vec<String> {
    let clusters = Clusters::from_secrets(&[], true);
    validate_spec(&app(spec).spec, &project(project_spec), &clusters)
        .into_iter()
        .map(|condition| format!("{}: {}", condition.r#type, condition.message))
        .collect()
}

fn open_project() -> Value {
    json!({"sourceRepos": ["*"], "destinations": [{"server": "*", "namespace": "*"}]})
}

fn here() -> Value {
    json!({"server": "https://kubernetes.default.svc", "namespace": "ns"})
}

#[test]
fn valid_specs_have_no_conditions() {
    let spec = json!({"source": {"repoURL": "https://x", "path": "."}, "destination": here()});
    assert_eq!(messages(spec, open_project()), Vec::<String>::new());
    let many = json!({"sources": [{"repoURL": "https://x", "ref": "values"}, {"repoURL": "https://x", "chart": "c",
        "targetRevision": "1"}], "destination": here()});
    assert_eq!(messages(many, open_project()), Vec::<String>::new());
}

#[test]
fn malformed_sources_hide_the_destination() {
    let check =
        |spec: Value, expect: &str| assert_eq!(messages(spec, json!({})), [format!("InvalidSpecError: {expect}")]);
    check(
        json!({"source": {"repoURL": "https://x"}}),
        "spec.source.repoURL and either spec.source.path or spec.source.chart are required",
    );
    check(
        json!({"source": {"repoURL": "https://x", "chart": "c"}}),
        "spec.source.targetRevision is required if the manifest source is a helm chart",
    );
    check(
        json!({"sources": [{"repoURL": "http://127.0.0.1:30080/git/app.git", "targetRevision": "main"}]}),
        "spec.source.repoURL and either source.path, source.chart, or source.ref are required for source \
         {http://127.0.0.1:30080/git/app.git  main nil nil nil nil    }",
    );
    check(
        json!({"sourceHydrator": {"drySource": {"repoURL": "https://x"}}}),
        "spec.sourceHydrator.syncSource.targetBranch is required",
    );
}

#[test]
fn forbidden_repositories_and_destinations_are_both_told() {
    let mut spec = json!({"source": {"repoURL": "https://x", "path": "."}, "destination": here()});
    assert_eq!(
        messages(spec.clone(), json!({})),
        [
            "InvalidSpecError: application repo https://x is not permitted in project 'p'",
            "InvalidSpecError: application destination server 'https://kubernetes.default.svc' and namespace 'ns' do not \
             match any of the allowed destinations in project 'p'"
        ]
    );
    spec["destination"] = json!({"name": "in-cluster", "namespace": "ns"});
    assert!(messages(spec.clone(), json!({}))[1].contains("destination server 'in-cluster' and"));
    spec["destination"] = json!({"name": "west"});
    assert_eq!(messages(spec, open_project()), ["InvalidSpecError: there are no clusters with this name: west"]);
}

fn labelled(name: &str, secret_type: &str, data: &[(&str, &str)]) -> Secret {
    Secret {
        name: name.to_owned(),
        labels: BTreeMap::from([(secret::SECRET_TYPE.to_owned(), secret_type.to_owned())]),
        data: data.iter().map(|(key, value)| ((*key).to_owned(), value.as_bytes().to_vec())).collect(),
        ..Secret::default()
    }
}

#[test]
fn effective_project_joins_own_secrets_and_global_projects() {
    let projects: Vec<AppProject> = serde_json::from_value(json!([
        {"metadata": {"name": "p", "labels": {"team": "x"}}, "spec": {"sourceRepos": ["https://own"]}},
        {"metadata": {"name": "global"}, "spec": {"sourceRepos": ["https://global"],
            "namespaceResourceWhitelist": [], "clusterResourceBlacklist": [{"group": "*", "kind": "Node"}]}}
    ]))
    .unwrap();
    let globals: Vec<GlobalProject> = serde_json::from_value(json!([
        {"projectName": "p", "labelSelector": {}},
        {"projectName": "global", "labelSelector": {"matchExpressions": [{"key": "team", "operator": "Exists"}]}}
    ]))
    .unwrap();
    let secrets = [
        labelled("r", "repository", &[("url", "https://scoped"), ("project", "p")]),
        labelled("c", "cluster", &[("server", "https://c"), ("project", "p"), ("namespaces", "a,b")]),
    ];
    let (repositories, clusters) = (Repositories::from_secrets(&secrets), Clusters::from_secrets(&secrets, true));
    let inputs =
        Inputs { projects: &projects, global_projects: &globals, repositories: &repositories, clusters: &clusters };
    let project = effective("p", &inputs).unwrap();
    assert_eq!(project.spec.source_repos, ["https://own", "https://scoped", "https://global"]);
    let namespaces: Vec<&str> = project.spec.destinations.iter().map(|to| to.namespace.as_str()).collect();
    assert_eq!(namespaces, ["a", "b"]);
    assert_eq!(project.clusters, [(String::new(), "https://c".to_owned())]);
    // An empty list of a global project adds nothing, so everything stays allowed.
    assert_eq!(project.spec.namespace_resource_whitelist, None);
    assert_eq!(project.spec.cluster_resource_blacklist.len(), 1);
    // Globals extend each other, but a project never extends itself.
    assert_eq!(effective("global", &inputs).unwrap().spec.source_repos, ["https://global", "https://own"]);
    assert_eq!(effective("missing", &inputs), None);
}

#[test]
fn app_namespaces_must_be_listed() {
    let project = project(json!({"sourceNamespaces": ["team-*", "/^x\\d$/"]}));
    for (namespace, expect) in [("argocd", true), ("", true), ("team-a", true), ("x1", true), ("x10", false)] {
        assert_eq!(project.app_namespace_permitted(namespace, "argocd"), expect, "{namespace}");
    }
}

#[test]
fn service_accounts_come_from_the_first_matching_entry() {
    let entries = json!({"destinationServiceAccounts": [
        {"server": "https://a", "namespace": "x*", "defaultServiceAccount": "deployer"},
        {"server": "https://a", "namespace": "y", "defaultServiceAccount": "other:robot"},
        {"server": "https://a", "namespace": "z", "defaultServiceAccount": "bad*"}
    ]});
    let run = |namespace: &str, enforced: bool| {
        let app = app(json!({"destination": {"server": "https://a", "namespace": namespace}}));
        let impersonation = Impersonation { enabled: true, enforced };
        service_account(&project(entries.clone()), &app, &cluster("", "https://a"), impersonation)
            .map_err(|error| error.to_string())
    };
    assert_eq!(run("x1", true), Ok(Some("system:serviceaccount:x1:deployer".to_owned())));
    assert_eq!(run("y", true), Ok(Some("system:serviceaccount:other:robot".to_owned())));
    assert_eq!(
        run("z", true),
        Err("failed to derive service account to impersonate: default service account contains invalid chars 'bad*'"
            .to_owned())
    );
    assert_eq!(
        run("w", true),
        Err("no matching service account found for destination server https://a and namespace w".to_owned())
    );
    assert_eq!(run("w", false), Ok(None));
}

fn window(kind: &str, schedule: &str, duration: &str) -> SyncWindow {
    SyncWindow {
        kind: kind.to_owned(),
        schedule: schedule.to_owned(),
        duration: duration.to_owned(),
        applications: vec!["*".to_owned()],
        ..SyncWindow::default()
    }
}

/// Noon of a Sunday.
fn noon() -> Timestamp {
    "2026-11-29T12:00:00Z".parse().unwrap()
}

fn can_sync(windows: &[SyncWindow], manual: bool, started_at: Option<&str>) -> Result<bool, String> {
    let app = app(json!({}));
    let started_at = started_at.map(|at| at.parse().unwrap());
    Windows::matching(windows, &app).can_sync(manual, noon(), started_at).map_err(|error| error.to_string())
}

#[test]
fn windows_allow_and_deny_by_time() {
    let (open, closed) = ("0 11 * * *", "0 1 * * *");
    assert_eq!(can_sync(&[], false, None), Ok(true));
    assert_eq!(can_sync(&[window("allow", open, "2h")], false, None), Ok(true));
    assert_eq!(can_sync(&[window("allow", closed, "2h")], false, None), Ok(false));
    assert_eq!(can_sync(&[window("deny", open, "2h")], false, None), Ok(false));
    assert_eq!(can_sync(&[window("deny", closed, "2h")], false, None), Ok(true));
    assert_eq!(can_sync(&[window("allow", open, "2h"), window("deny", open, "2h")], false, None), Ok(false));
    assert_eq!(can_sync(&[window("allow", open, "2h"), window("allow", closed, "2h")], false, None), Ok(true));
}

#[test]
fn manual_syncs_need_every_blocking_window_to_agree() {
    let deny = window("deny", "0 11 * * *", "2h");
    let lenient = SyncWindow { manual_sync: true, ..deny.clone() };
    assert_eq!(can_sync(std::slice::from_ref(&lenient), true, None), Ok(true));
    assert_eq!(can_sync(std::slice::from_ref(&lenient), false, None), Ok(false));
    assert_eq!(can_sync(&[lenient, deny], true, None), Ok(false));
}

#[test]
fn running_syncs_may_overrun_when_they_started_in_time() {
    let deny = SyncWindow { sync_overrun: true, ..window("deny", "0 11 * * *", "2h") };
    assert_eq!(can_sync(std::slice::from_ref(&deny), false, Some("2026-11-29T10:59:00Z")), Ok(true));
    assert_eq!(can_sync(std::slice::from_ref(&deny), false, Some("2026-11-29T11:30:00Z")), Ok(false));
    assert_eq!(can_sync(&[window("deny", "0 11 * * *", "2h")], false, Some("2026-11-29T10:59:00Z")), Ok(false));
    let allow = SyncWindow { sync_overrun: true, ..window("allow", "0 9 * * *", "2h") };
    assert_eq!(can_sync(std::slice::from_ref(&allow), false, Some("2026-11-29T10:30:00Z")), Ok(true));
}

#[test]
fn zones_shift_windows_and_unknown_zones_are_utc() {
    let at = |zone: &str| SyncWindow { time_zone: zone.to_owned(), ..window("allow", "0 21 * * *", "1h") };
    // Noon UTC is 21:00 in Tokyo, and a window is open only after its first instant.
    assert_eq!(
        can_sync(&[SyncWindow { schedule: "30 20 * * *".to_owned(), ..at("Asia/Tokyo") }], false, None),
        Ok(true)
    );
    assert_eq!(can_sync(&[at("Asia/Tokyo")], false, None), Ok(false));
    assert_eq!(can_sync(&[at("No/Where")], false, None), Ok(false));
}

#[test]
fn unreadable_windows_block_with_argocds_texts() {
    assert_eq!(
        can_sync(&[window("deny", "* * * *", "1h")], true, None),
        Err("invalid sync windows: cannot parse schedule '* * * *': expected exactly 5 fields, found 4: [* * * *]"
            .to_owned())
    );
    assert_eq!(
        can_sync(&[window("allow", "* * * * *", "1")], false, None),
        Err("invalid sync windows: cannot parse duration '1': time: missing unit in duration \"1\"".to_owned())
    );
}

#[test]
fn windows_match_any_list_or_all_of_them() {
    let app = app(json!({"destination": {"name": "west", "namespace": "ns"}}));
    let check = |window: Value, expect| {
        let window: SyncWindow = serde_json::from_value(window).unwrap();
        let windows = [window];
        assert_eq!(!Windows::matching(&windows, &app).is_empty(), expect, "{windows:?}");
    };
    check(json!({}), false);
    check(json!({"applications": ["de*"]}), true);
    check(json!({"applications": ["other"], "namespaces": ["ns"]}), true);
    check(json!({"applications": ["other"], "namespaces": ["ns"], "andOperator": true}), false);
    check(json!({"applications": ["demo"], "clusters": ["w*"], "namespaces": ["ns"], "andOperator": true}), true);
    check(json!({"clusters": ["https://*"]}), false);
    check(json!({"andOperator": true}), false);
}

#[test]
fn orphans_are_left_out_by_glob_and_an_empty_group_is_the_core_group() {
    let project = project(json!({
        "orphanedResources": {"ignore": [{"kind": "ConfigMap", "name": "cache-*"}, {"group": "apps"}, {"kind": "Widget"}]},
        "namespaceResourceBlacklist": [{"group": "", "kind": "Secret"}]}));
    let excludes = |group: &str, kind: &str, namespace: &str, name: &str| {
        let key = crate::api::ResourceKey {
            group: group.to_owned(),
            kind: kind.to_owned(),
            namespace: namespace.to_owned(),
            name: name.to_owned(),
        };
        project.excludes_orphan(&key)
    };
    assert!(project.monitors_orphans() && !project.warns_of_orphans(), "absent means no warning");
    assert!(excludes("", "ConfigMap", "n", "cache-one") && !excludes("", "ConfigMap", "n", "other"));
    assert!(excludes("apps", "Deployment", "n", "any"));
    assert!(!excludes("example.com", "Widget", "n", "w"), "the rule without group is for core kinds");
    assert!(excludes("", "Secret", "n", "s"), "a kind that the project forbids");
    assert!(excludes("", "ServiceAccount", "n", "default") && excludes("", "ConfigMap", "n", "kube-root-ca.crt"));
    assert!(excludes("", "Service", "default", "kubernetes") && !excludes("", "Service", "n", "kubernetes"));
}
