//! Tests of settings.

use std::collections::BTreeMap;

use jiff::SignedDuration;

use super::clusters::DestinationError;
use super::{
    Clusters, Error, IgnoreStatus, Parameters, Repositories, RespectRbac, Secret, Settings, TrackingMethod, secret,
};
use crate::api::Destination;

fn config_map(pairs: &[(&str, &str)]) -> BTreeMap<String, String> {
    pairs.iter().map(|(key, value)| ((*key).to_owned(), (*value).to_owned())).collect()
}

fn settings(pairs: &[(&str, &str)]) -> Settings {
    Settings::from_config_map(&config_map(pairs)).unwrap()
}

fn secret(name: &str, secret_type: &str, data: &[(&str, &str)]) -> Secret {
    Secret {
        name: name.to_owned(),
        labels: config_map(&[(secret::SECRET_TYPE, secret_type)]),
        annotations: BTreeMap::new(),
        data: data.iter().map(|(key, value)| ((*key).to_owned(), value.as_bytes().to_vec())).collect(),
    }
}

#[test]
fn empty_config_map_gives_argocd_defaults() {
    let settings = settings(&[]);
    assert_eq!(settings.tracking_method, TrackingMethod::Annotation);
    assert_eq!(settings.instance_label_key, "app.kubernetes.io/instance");
    assert_eq!(settings.installation_id, None);
    assert!(settings.in_cluster_enabled && settings.ignore_resource_updates_enabled);
    assert!(!settings.impersonation.enabled && settings.impersonation.enforced);
    assert_eq!(settings.tools.helm_values_file_schemes, ["https", "http"]);
    assert_eq!(settings.timeouts.reconciliation, SignedDuration::from_secs(120));
    assert_eq!(settings.timeouts.jitter, SignedDuration::from_secs(60));
    assert_eq!(settings.respect_rbac, RespectRbac::Off);
    assert_eq!(settings.overrides.get("*/*").unwrap().ignore_differences.json_pointers, ["/status"]);
}

#[test]
fn tracking_methods_other_than_argocds_are_kept_apart() {
    for (text, expect) in [
        ("label", TrackingMethod::Label),
        ("annotation+label", TrackingMethod::AnnotationAndLabel),
        ("", TrackingMethod::Annotation),
        ("Label", TrackingMethod::Other("Label".to_owned())),
    ] {
        assert_eq!(settings(&[("application.resourceTrackingMethod", text)]).tracking_method, expect);
    }
}

#[test]
fn timeouts_take_days_and_refuse_bare_numbers() {
    let seconds = |text| settings(&[("timeout.reconciliation", text)]).timeouts.reconciliation.as_secs();
    assert_eq!(seconds("1d"), 86_400);
    assert_eq!(seconds("3m"), 180);
    assert_eq!(seconds("0"), 0);
    assert_eq!(seconds("300"), 120);
    assert_eq!(seconds("-5s"), 120);
}

#[test]
fn some_kinds_are_excluded_whatever_the_settings_say() {
    let filter = settings(&[("resource.inclusions", "- apiGroups: ['*']\n  kinds: ['*']\n")]).resource_filter;
    assert!(filter.is_excluded("", "Event", "https://a"));
    assert!(filter.is_excluded("events.k8s.io", "Event", "https://a"));
    assert!(filter.is_excluded("coordination.k8s.io", "Lease", "https://a"));
    assert!(!filter.is_excluded("apps", "Deployment", "https://a"));
}

#[test]
fn exclusions_win_over_inclusions_and_inclusions_exclude_the_rest_of_their_clusters() {
    let filter = settings(&[
        (
            "resource.exclusions",
            "- apiGroups: ['*.io']\n  kinds: [Secret]\n- kinds: [ConfigMap]\n  clusters: ['https://b*']\n",
        ),
        ("resource.inclusions", "- apiGroups: ['']\n  kinds: [ConfigMap]\n  clusters: ['https://a']\n"),
    ])
    .resource_filter;
    let check =
        |group, kind, server, expect| assert_eq!(filter.is_excluded(group, kind, server), expect, "{kind} {server}");
    check("x.io", "Secret", "https://c", true);
    check("", "Secret", "https://c", false);
    check("", "ConfigMap", "https://a", false);
    check("", "Secret", "https://a", true);
    check("", "ConfigMap", "https://bb", true);
}

#[test]
fn split_keys_replace_single_attributes_of_the_map_form() {
    let overrides = settings(&[
        (
            "resource.customizations",
            "apps/Deployment:\n  health.lua: old\n  ignoreDifferences: |\n    jsonPointers: [/a]\n",
        ),
        ("resource.customizations.health.apps_Deployment", "new"),
        ("resource.customizations.useOpenLibs.apps_Deployment", "true"),
        ("resource.customizations.ignoreDifferences.all", "jqPathExpressions: [.x]\nmanagedFieldsManagers: [m]\n"),
        ("resource.customizations.health.cert-manager.io_Certificate", "cert"),
        ("resource.customizations.knownTypeFields.Foo", "- field: spec\n  type: core/v1/PodSpec\n"),
        ("resource.customizations.health", "skipped"),
    ])
    .overrides;
    let deployment = overrides.get("apps/Deployment").unwrap();
    assert_eq!(deployment.health_lua, "new");
    assert!(deployment.use_open_libs);
    assert_eq!(deployment.ignore_differences.json_pointers, ["/a"]);
    let all = &overrides.get("*/*").unwrap().ignore_differences;
    assert_eq!(all.jq_path_expressions, [".x"]);
    assert_eq!(all.json_pointers, ["/status"]);
    assert_eq!(overrides.get("cert-manager.io/Certificate").unwrap().health_lua, "cert");
    assert_eq!(overrides.get("Foo").unwrap().known_type_fields[0].r#type, "core/v1/PodSpec");
    assert_eq!(overrides.iter().count(), 4);
}

#[test]
fn settings_that_cannot_be_read_are_errors() {
    let error = |key, text| Settings::from_config_map(&config_map(&[(key, text)])).unwrap_err();
    let text = |key, value| error(key, value).to_string();
    assert_eq!(
        text("resource.customizations.foo.apps_Deployment", ""),
        "resource customization type foo not supported"
    );
    assert!(text("resource.customizations.health.a_b_c", "").ends_with("got group kind: 'a_b_c'"));
    assert_eq!(text("resource.respectRBAC", "x"), "invalid value for resource.respectRBAC: x");
    assert!(matches!(error("resource.exclusions", "a: ["), Error::Yaml { .. }));
    assert!(matches!(error("resource.exclusions", "a: b"), Error::Shape { .. }));
    assert!(matches!(error("resource.ignoreResourceUpdatesEnabled", "yes"), Error::Flag { .. }));
    assert!(matches!(error("resource.customizations.useOpenLibs.Pod", ""), Error::Flag { .. }));
}

#[test]
fn status_field_setting_accepts_unquoted_off() {
    let status = |text| settings(&[("resource.compareoptions", text)]).compare_options.ignore_resource_status_field;
    assert_eq!(status("ignoreResourceStatusField: off"), IgnoreStatus::None);
    assert_eq!(status("ignoreResourceStatusField: none"), IgnoreStatus::None);
    assert_eq!(status("ignoreResourceStatusField: crd"), IgnoreStatus::Crd);
    assert_eq!(status("ignoreResourceStatusField: typo"), IgnoreStatus::All);
    let options = settings(&[("resource.compareoptions", "ignoreAggregatedRoles: true")]).compare_options;
    assert!(options.ignore_aggregated_roles && options.ignore_differences_on_resource_updates);
}

#[test]
fn update_rules_join_both_lists_and_fixed_fields() {
    let read = settings(&[
        ("resource.customizations.ignoreResourceUpdates.Pod", "jsonPointers: [/u]"),
        ("resource.customizations.ignoreDifferences.Pod", "jsonPointers: [/d]"),
    ]);
    let updates = read.overrides.for_resource_updates(&read.compare_options);
    assert_eq!(updates.get("Pod").unwrap().ignore_differences.json_pointers, ["/u", "/d"]);
    assert_eq!(
        updates.get("*/*").unwrap().ignore_differences.json_pointers,
        ["/status", "/metadata/resourceVersion", "/metadata/generation", "/metadata/managedFields"]
    );
}

#[test]
fn tools_are_disabled_by_any_text_but_true() {
    let tools = settings(&[("helm.enable", "no"), ("kustomize.enable", ""), ("helm.valuesFileSchemes", "")]).tools;
    assert!(!tools.helm_enabled && tools.kustomize_enabled && tools.jsonnet_enabled);
    assert!(tools.helm_values_file_schemes.is_empty());
}

#[test]
fn kustomize_versions_have_paths_and_options_of_their_own() {
    let kustomize = settings(&[
        ("kustomize.buildOptions", "--a"),
        ("kustomize.buildOptions.v4", "--b"),
        ("kustomize.path.v4", "/bin/k4"),
        ("kustomize.version.v5", "/bin/k5"),
    ])
    .tools
    .kustomize;
    assert_eq!(kustomize.build_options, "--a");
    assert_eq!(
        (kustomize.versions["v4"].path.as_str(), kustomize.versions["v4"].build_options.as_str()),
        ("/bin/k4", "--b")
    );
    assert_eq!(kustomize.versions["v5"].path, "/bin/k5");
    let twice = config_map(&[("kustomize.path.v4", "a"), ("kustomize.version.v4", "b")]);
    let text = Settings::from_config_map(&twice).unwrap_err().to_string();
    assert!(text.ends_with("found duplicate kustomize version: v4"), "{text}");
}

#[test]
fn limits_of_charts_are_quantities() {
    let data = config_map(&[
        ("reposerver.helm.manifest.max.extracted.size", "1.5Gi"),
        ("reposerver.disable.oci.manifest.max.extracted.size", "true"),
        ("reposerver.oci.manifest.max.extracted.size", "much"),
        ("reposerver.oci.layer.media.types", "a/b, c/d.tar"),
    ]);
    let (parameters, problems) = Parameters::from_config_map(&data);
    let of = parameters.repo_server;
    assert_eq!((of.helm_max_bytes, of.helm_unlimited), (3 << 29, false));
    assert_eq!((of.oci_max_bytes, of.oci_unlimited), (1_000_000_000, true));
    assert_eq!(of.oci_media_types, ["a/b", "c/d.tar"]);
    assert_eq!(problems.len(), 1);
}

#[test]
fn parameters_read_keys_and_flags_win() {
    let data = config_map(&[
        ("application.namespaces", "team-*, /^apps-[ab]$/"),
        ("controller.status.processors", "7"),
        ("controller.operation.processors", "many"),
        ("controller.repo.error.grace.period.seconds", "60"),
        ("controller.sync.wave.delay.seconds", "5"),
        ("controller.diff.server.side", "True"),
        ("redis.server", "ignored"),
    ]);
    let (mut parameters, problems) = Parameters::from_config_map(&data);
    assert_eq!(parameters.status_processors, 7);
    assert_eq!(parameters.operation_processors, 10);
    assert_eq!(parameters.repo_error_grace_period, SignedDuration::from_secs(180));
    assert_eq!(parameters.sync_wave_delay, SignedDuration::from_secs(5));
    assert!(parameters.server_side_diff);
    assert_eq!(problems.len(), 2);
    parameters.set_flag("status-processors", "3").unwrap();
    parameters.set_flag("app-resync", "90").unwrap();
    assert_eq!((parameters.status_processors, parameters.app_resync), (3, Some(SignedDuration::from_secs(90))));
    assert!(parameters.set_flag("status-processors", "x").is_err());
    assert!(parameters.set_flag("no-such-flag", "1").is_err());
    for (namespace, expect) in
        [("argocd", true), ("team-x", true), ("apps-a", true), ("apps-c", false), ("other", false)]
    {
        assert_eq!(parameters.is_app_namespace_allowed(namespace, "argocd"), expect, "{namespace}");
    }
}

fn destination(name: &str, server: &str) -> Destination {
    Destination { name: name.to_owned(), server: server.to_owned(), namespace: String::new() }
}

fn clusters() -> Clusters {
    let secrets = [
        secret(
            "a",
            "cluster",
            &[("name", "west"), ("server", "https://w/"), ("namespaces", " x , y,"), ("project", "p")],
        ),
        secret("b", "cluster", &[("name", "dup"), ("server", "https://d1")]),
        secret("c", "cluster", &[("name", "dup"), ("server", "https://d2"), ("config", "{\"bearerToken\":\"hush\"}")]),
        secret("d", "cluster", &[("name", "bad"), ("server", "https://bad"), ("config", "{\"bearerToken\":5}")]),
        secret("e", "repository", &[("url", "https://r")]),
    ];
    Clusters::from_secrets(&secrets, true)
}

#[test]
fn destinations_resolve_by_server_or_name() {
    let clusters = clusters();
    let west = clusters.resolve(&destination("west", "")).unwrap();
    assert_eq!((west.server.as_str(), west.namespaces.len()), ("https://w", 2));
    assert_eq!(clusters.resolve(&destination("", "https://w//")).unwrap(), west);
    assert!(clusters.resolve(&destination("in-cluster", "")).unwrap().is_in_cluster());
    assert_eq!(clusters.iter().count(), 4);
    assert_eq!(clusters.of_project("p").count(), 1);
    assert_eq!(clusters.rejected().len(), 1);
}

#[test]
fn unresolved_destinations_have_argocds_texts() {
    let clusters = clusters();
    let check = |name: &str, server: &str, expect: &str| {
        assert_eq!(clusters.resolve(&destination(name, server)).unwrap_err().to_string(), expect);
    };
    check("a", "b", "application destination can't have both name and server defined: a b");
    check("", "", "Destination server missing from app spec");
    check("east", "", "there are no clusters with this name: east");
    check("dup", "", "there are 2 clusters with the same name: [https://d1 https://d2]");
    check(
        "",
        "https://x/",
        "error getting cluster by server \"https://x/\": rpc error: code = NotFound desc = cluster \"https://x\" not found",
    );
}

#[test]
fn disabled_in_cluster_is_no_destination() {
    let clusters = Clusters::from_secrets(&[], false);
    let by_server = clusters.resolve(&destination("", "https://kubernetes.default.svc")).unwrap_err();
    assert!(by_server.to_string().ends_with("cluster \"https://kubernetes.default.svc\" is disabled"));
    let by_name = clusters.resolve(&destination("in-cluster", "")).unwrap_err();
    assert_eq!(by_name, DestinationError::UnknownName("in-cluster".to_owned()));
    assert_eq!(clusters.iter().count(), 0);
}

#[test]
fn a_secret_for_the_in_cluster_server_replaces_its_settings_but_not_its_name() {
    let own = secret("own", "cluster", &[("name", "prod"), ("server", "https://kubernetes.default.svc")]);
    let clusters = Clusters::from_secrets([&own], true);
    for name in ["prod", "in-cluster"] {
        assert_eq!(clusters.resolve(&destination(name, "")).unwrap().name, "prod");
    }
    assert_eq!(clusters.iter().count(), 1);
}

fn repositories() -> Repositories {
    Repositories::from_secrets(&[
        secret("a", "repository", &[("url", "https://git/x.git"), ("project", "p"), ("password", "own")]),
        secret("b", "repository", &[("url", "https://git/x")]),
        secret("c", "repository", &[("url", "https://git/bad"), ("insecure", "maybe")]),
        secret(
            "d",
            "repo-creds",
            &[("url", "https://git"), ("username", "u"), ("password", "short"), ("enableOCI", "true")],
        ),
        secret("e", "repo-creds", &[("url", "https://git/x"), ("username", "u"), ("password", "long")]),
        secret("f", "repository", &[("url", "https://charts"), ("type", "helm"), ("name", "charts")]),
        secret("g", "repository", &[("url", "https://nameless"), ("type", "helm")]),
        secret("h", "repository-write", &[("url", "https://git/x"), ("password", "push")]),
        secret("i", "repo-creds", &[("url", "https://helm"), ("type", "Helm")]),
    ])
}

#[test]
fn repositories_prefer_the_projects_own_secret_then_everybodys() {
    let repositories = repositories();
    let own = repositories.get("https://GIT/x", "p").unwrap();
    assert_eq!((own.credentials.password.as_str(), own.inherited_credentials), ("own", false));
    let shared = repositories.get("https://git/x", "other").unwrap();
    assert_eq!((shared.credentials.password.as_str(), shared.inherited_credentials), ("long", true));
    assert_eq!(repositories.get_for_writing("https://git/x", "").unwrap().credentials.password, "push");
    assert_eq!(repositories.urls_of_project("p").collect::<Vec<_>>(), ["https://git/x.git"]);
}

#[test]
fn prefix_credentials_need_no_path_boundary_and_do_not_reach_other_hosts() {
    let repositories = repositories();
    let longer = repositories.get("https://github.example/y", "").unwrap();
    assert_eq!(longer.credentials.password, "short");
    assert!(longer.credentials.enable_oci);
    assert!(!repositories.get("https://elsewhere/y", "").unwrap().has_credentials());
}

#[test]
fn a_malformed_repository_fails_only_its_own_look_up() {
    let repositories = repositories();
    let text = repositories.get("https://git/bad", "").unwrap_err().to_string();
    assert_eq!(
        text,
        "unable to get repository \"https://git/bad\": unable to get repository \"https://git/bad\" from secrets backend: \
         strconv.ParseBool: parsing \"maybe\": invalid syntax"
    );
    assert_eq!(repositories.helm_repositories().map(|repository| repository.name).collect::<Vec<_>>(), ["charts"]);
    assert_eq!(repositories.credentials_of_type("helm").count(), 1);
}

#[test]
fn debug_and_errors_show_no_secrets() {
    let shown = format!("{:?} {:?}", clusters(), repositories());
    for hidden in ["hush", "own\"", "long", "short", "push"] {
        assert!(!shown.contains(hidden), "{hidden} in {shown}");
    }
}
