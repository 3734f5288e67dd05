//! Tests of this room.

use std::path::PathBuf;

use serde_json::json;

use super::command::{Home, escape_commas, without_api_versions};
use super::dependencies::{check_places, source};
use super::{glob, prepare, values};
use crate::render::build_env::BuildEnv;
use crate::render::paths::Resolved;
use crate::render::tests::Tree;
use crate::render::{HelmRepositories, RefSource, Request};
use crate::settings::{Repository, RepositoryCredentials};

#[test]
fn commas_are_escaped_once() {
    for (value, expect) in [("a,b", "a\\,b"), ("a\\,b", "a\\,b"), ("{a,b}", "{a,b}"), ("a", "a"), (",", "\\,")] {
        assert_eq!(escape_commas(value), expect);
    }
}

/// The value files of a request, relative to the checkout; or the failure.
fn files(request: &Request) -> Result<Vec<String>, String> {
    let env = BuildEnv::of(request);
    let files = values::files(request, &request.root.join("chart"), &env).map_err(|error| error.to_string())?;
    let shown = |file: &Resolved| match file {
        Resolved::Local(path) => path.strip_prefix(&request.root).unwrap_or(path).to_string_lossy().into_owned(),
        Resolved::Remote(url) => url.clone(),
    };
    Ok(files.iter().map(shown).collect())
}

#[test]
fn value_files_keep_their_order_and_stay_inside() {
    let paths = ["chart/a.yaml", "chart/b.yaml", "chart/c.yaml", "shared/d.yaml", "shared/deep/e.yaml"];
    let tree = Tree::new(&paths.map(|path| (path, "")));
    let check = |listed: &[&str], expect: Result<&[&str], &str>| {
        let request = tree.request(json!({"path": "chart", "helm": {"valueFiles": listed}}));
        let expect = expect.map(|files| files.iter().map(|file| (*file).to_owned()).collect::<Vec<_>>());
        assert_eq!(files(&request), expect.map_err(str::to_owned), "{listed:?}");
    };
    check(&["b.yaml", "../shared/d.yaml", "/chart/a.yaml"], Ok(&["chart/b.yaml", "shared/d.yaml", "chart/a.yaml"]));
    check(&["*.yaml", "a.yaml"], Ok(&["chart/b.yaml", "chart/c.yaml", "chart/a.yaml"]));
    check(&["/shared/**/*.yaml"], Ok(&["shared/d.yaml", "shared/deep/e.yaml"]));
    check(&["a.yaml", "a.yaml", "missing.yaml"], Ok(&["chart/a.yaml", "chart/missing.yaml"]));
    check(&["https://h/v.yaml"], Ok(&["https://h/v.yaml"]));
    check(&["FTP://h/v.yaml"], Err("error resolving value file path: the URL scheme 'ftp' is not allowed"));
    let outside = "error resolving value file path: file '../../x.yaml' resolved to outside repository root";
    check(&["../../x.yaml"], Err(outside));
    check(&["none/*.yaml"], Err("values file glob \"none/*.yaml\" matched no files"));
}

#[test]
fn links_do_not_lead_value_files_out() {
    let tree = Tree::new(&[("chart/a.yaml", "")]);
    std::os::unix::fs::symlink("/etc/hosts", tree.root().join("chart/link.yaml")).unwrap();
    let request = tree.request(json!({"path": "chart", "helm": {"valueFiles": ["link.yaml"]}}));
    let expect = "error resolving value file path: file 'link.yaml' resolved to outside repository root";
    assert_eq!(files(&request), Err(expect.to_owned()));
    let request = tree.request(json!({"path": "chart", "helm": {"valueFiles": ["l*.yaml"]}}));
    assert!(files(&request).unwrap_err().contains("resolved to outside repository root"));
}

#[test]
fn values_of_other_sources_are_read_from_their_root() {
    let (tree, other) = (Tree::new(&[("chart/a.yaml", "")]), Tree::new(&[("env/team_web.yaml", "")]));
    let mut request =
        tree.request(json!({"path": "chart", "helm": {"valueFiles": ["$values/env/$ARGOCD_APP_NAME.yaml"]}}));
    let source = RefSource { repo_url: "https://h/values".to_owned(), root: other.root(), ..RefSource::default() };
    request.refs.insert("$values".to_owned(), source);
    request.has_multiple_sources = true;
    let expect = other.root().join("env/team_web.yaml").to_string_lossy().into_owned();
    assert_eq!(files(&request), Ok(vec![expect]));
}

#[test]
fn components_match_as_in_doublestar() {
    for (pattern, name, expect) in [
        ("*.yaml", "a.yaml", true),
        ("a?c", "abc", true),
        ("[a-c]x", "bx", true),
        ("[!a-c]x", "bx", false),
        ("{one,two}.yaml", "two.yaml", true),
        ("\\*", "*", true),
        ("[", "[", false),
    ] {
        assert_eq!(glob::component_matches(pattern, name), expect, "{pattern} {name}");
    }
    assert_eq!(glob::expand(&PathBuf::from("/nowhere/*")), Vec::<PathBuf>::new());
}

#[test]
fn inline_values_are_written_so_that_no_reader_misreads_them() {
    let tree = Tree::new(&[]);
    let of = |helm: serde_json::Value| values::inline(&tree.request(json!({"helm": helm})).source.helm.unwrap());
    assert_eq!(of(json!({"values": "a: yes\n"})), "a: yes\n");
    assert_eq!(
        of(json!({"values": "a: 1", "valuesObject": {"on": "yes", "n": "0644"}})),
        "{\"n\":\"0644\",\"on\":\"yes\"}\n"
    );
    assert_eq!(of(json!({"valuesObject": {}})), "{}\n");
    assert_eq!(of(json!({})), "");
}

/// The command line of a request, the checkout as `<root>` and helm's home as `<home>`.
fn args(request: &Request) -> Result<String, String> {
    let home = Home::new(&request.scratch).unwrap();
    let options = request.source.helm.clone().unwrap_or_default();
    let env = BuildEnv::of(request);
    let template = prepare(request, &request.root.join("chart"), (&options, &env, &home));
    let line = template.map_err(|error| error.to_string())?.args().join(" ");
    let line = line.replace(&*request.root.to_string_lossy(), "<root>");
    let scratch = request.scratch.to_string_lossy().into_owned();
    Ok(match line.split_once(&*scratch) {
        Some((before, after)) => format!("{before}<home>{}", &after[after.rfind("/values.yaml").unwrap()..]),
        None => line,
    })
}

#[test]
fn every_option_has_its_place_on_the_command_line() {
    let tree = Tree::new(&[("chart/a.yaml", ""), ("chart/f.txt", "")]);
    let check = |helm: serde_json::Value, expect: &str| {
        let mut request = tree.request(json!({"path": "chart", "helm": helm}));
        request.api_versions = vec!["v1".to_owned(), "v1/Pod".to_owned()];
        assert_eq!(args(&request).unwrap(), expect);
    };
    let plain = "--kube-version 1.36.3 --api-versions v1 --api-versions v1/Pod --include-crds";
    let start = "template . --name-template web --namespace prod";
    check(json!({}), &format!("{start} {plain}"));
    check(
        json!({"releaseName": "r", "namespace": "own"}),
        &format!("template . --name-template r --namespace own {plain}"),
    );
    let switches = json!({"skipCrds": true, "skipSchemaValidation": true, "skipTests": true});
    let expect = "--kube-version 1.36.3 --api-versions v1 --api-versions v1/Pod --skip-schema-validation --skip-tests";
    check(switches, &format!("{start} {expect}"));
    let cluster = json!({"kubeVersion": "v1.30", "apiVersions": ["own/v1"]});
    check(cluster, &format!("{start} --kube-version 1.30 --api-versions own/v1 --include-crds"));
    let values = json!({
        "parameters": [
            {"name": "a", "value": "1,2"}, {"name": "s", "value": "$ARGOCD_APP_NAME", "forceString": true},
            {"name": "a", "value": "last"}, {"name": "list", "value": "{x,y}"},
        ],
        "fileParameters": [{"name": "f", "path": "f.txt"}],
        "valueFiles": ["a.yaml"], "values": "x: 1",
    });
    let expect = "--kube-version 1.36.3 --set a=last --set list={x,y} --set-string s=team_web --set-file f=<root>/chart/f.txt \
         --values <root>/chart/a.yaml --values <home>/values.yaml --api-versions v1 --api-versions v1/Pod --include-crds";
    check(values, &format!("{start} {expect}"));
}

#[test]
fn files_for_parameters_stay_inside() {
    let tree = Tree::new(&[("chart/a.yaml", "")]);
    std::os::unix::fs::symlink("/etc/hosts", tree.root().join("chart/link")).unwrap();
    std::os::unix::fs::symlink("loop", tree.root().join("chart/loop")).unwrap();
    let hidden = "internal error: failed to resolve path. Check logs for more details";
    for (path, expect) in [
        ("../../x", "file '../../x' resolved to outside repository root"),
        ("../..", "file '../..' resolved to outside repository root"),
        ("/../x", "file '/../x' resolved to outside repository root"),
        ("link", "file 'link' resolved to outside repository root"),
        ("a/../../../x", "file 'a/../../../x' resolved to outside repository root"),
        ("/", hidden),
        ("..", hidden),
        ("loop", hidden),
        ("ftp://h/x", "the URL scheme 'ftp' is not allowed"),
        ("http://h/x", "the URL scheme 'http' is not allowed"),
        ("file:///etc/hosts", "the URL scheme 'file' is not allowed"),
    ] {
        let parameter = json!({"path": "chart", "helm": {"fileParameters": [{"name": "f", "path": path}]}});
        let expect_parameter = format!("error resolving helm value file path: {expect}");
        assert_eq!(args(&tree.request(parameter)).unwrap_err(), expect_parameter, "{path}");
        let file = json!({"path": "chart", "helm": {"valueFiles": [path]}});
        let expect_file = format!("error resolving helm value files: error resolving value file path: {expect}");
        assert_eq!(args(&tree.request(file)).unwrap_err(), expect_file, "{path}");
    }
}

#[test]
fn references_do_not_leave_their_repository() {
    let (tree, other) = (Tree::new(&[("chart/a.yaml", "")]), Tree::new(&[("v.yaml", "")]));
    std::os::unix::fs::symlink("/etc", other.root().join("etc")).unwrap();
    let refused = |helm: serde_json::Value| {
        let mut request = tree.request(json!({"path": "chart", "helm": helm}));
        let source = RefSource { repo_url: "https://h/v".to_owned(), root: other.root(), ..RefSource::default() };
        request.refs.insert("$v".to_owned(), source);
        request.has_multiple_sources = true;
        args(&request).unwrap_err()
    };
    let file = "error resolving helm value files: error resolving value file path: error resolving value file path: file '/../x' resolved to outside repository root";
    assert_eq!(refused(json!({"valueFiles": ["$v/../x"]})), file);
    let glob = refused(json!({"valueFiles": ["$v/etc/host*"]}));
    assert!(glob.ends_with("resolved to outside repository root"), "{glob}");
    let parameter = "error resolving set-file path: error resolving value file path: file '/../x' resolved to outside repository root";
    assert_eq!(refused(json!({"fileParameters": [{"name": "f", "path": "$v/../x"}]})), parameter);
}

#[tokio::test]
async fn unknown_versions_and_missing_charts_read_as_in_argo_cd() {
    let tree = Tree::new(&[("chart/Chart.yaml", "name: c\n"), ("none/x", "")]);
    let failure = |source: serde_json::Value| async {
        crate::render::render(&tree.request(source)).await.unwrap_err().to_string()
    };
    let expect =
        "error initializing helm app object: failed to create new helm command: helm version 'v2' is not supported";
    assert_eq!(failure(json!({"path": "chart", "helm": {"version": "v2"}})).await, expect);
    let file = "<path to cached source>/none/Chart.yaml";
    let expect = format!(
        "error getting helm repos: error retrieving helm dependency repos: error reading helm chart from {file}: open {file}: no such file or directory"
    );
    assert_eq!(failure(json!({"path": "none", "helm": {"releaseName": "r"}})).await, expect);
    let expect = "could not parse kubernetes version new: could not parse \"new\" as version";
    assert_eq!(failure(json!({"path": "chart", "helm": {"kubeVersion": "new"}})).await, expect);
}

#[test]
fn api_versions_are_left_out_of_errors() {
    let text = "`helm template . --api-versions v1 --api-versions v1/Pod --include-crds` failed";
    assert_eq!(without_api_versions(text), "`helm template . <api versions removed> --include-crds` failed");
}

/// A repository as a Secret describes it.
fn repository(name: &str, url: &str, kind: &str, user: &str) -> Repository {
    let mut repository = Repository { name: name.to_owned(), ..Repository::anonymous(url) };
    repository.credentials.r#type = kind.to_owned();
    repository.credentials.username = user.to_owned();
    repository.credentials.enable_oci = kind == "helm" && !url.contains("://");
    repository
}

fn credentials(url: &str, kind: &str, user: &str) -> RepositoryCredentials {
    let repository = repository("", url, kind, user);
    RepositoryCredentials { url: url.to_owned(), credentials: repository.credentials }
}

#[test]
fn local_dependencies_stay_inside() {
    let check = |file: &str, url: &str, is_inside: bool| {
        let text = format!("apiVersion: v2\nname: c\nDependencies:\n- name: lib\n  repository: '{url}'\n");
        let tree = Tree::new(&[("team/c/Chart.yaml", "name: c\n"), (&format!("team/c/{file}"), &text), ("lib/x", "")]);
        std::os::unix::fs::symlink("/etc", tree.root().join("out")).unwrap();
        std::os::unix::fs::symlink("team/c", tree.root().join("short")).unwrap();
        let refusal =
            format!("error building helm chart dependencies: file '{url}' resolved to outside repository root");
        let expect = if is_inside { Ok(()) } else { Err(refusal) };
        for chart in ["team/c", "short"] {
            let outcome = check_places(&tree.root(), &tree.root().join(chart)).map_err(|error| error.to_string());
            assert_eq!(outcome, expect, "{file} {url} in {chart}");
        }
    };
    for file in ["Chart.yaml", "Chart.lock", "requirements.yaml", "requirements.lock"] {
        check(file, "file://../../lib", true);
        check(file, "file://charts/lib", true);
        check(file, "https://h/../../../..", true);
        check(file, "file://../../..", false);
        check(file, "file://../../../other/lib", false);
        check(file, "file:///etc", false);
        check(file, "file://../../out", false);
        check(file, "file://../../out/passwd", false);
        check(file, "file:///nowhere/that/is/there", false);
    }
}

#[test]
fn dependencies_find_their_credentials_in_order() {
    let known = HelmRepositories {
        repositories: vec![
            repository("team", "https://charts.example.com/team", "helm", "team"),
            repository("ghcr", "ghcr.io/org", "helm", "ghcr"),
            repository("", "oci://quay.io/org/app", "oci", "quay"),
        ],
        credentials: vec![
            credentials("https://charts.example.com", "helm", "first"),
            credentials("https://charts.example.com/other", "helm", "longer"),
            credentials("oci://harbor.example.com", "oci", "harbor"),
        ],
        ..HelmRepositories::default()
    };
    let check = |url: &str, expect: Option<(&str, &str, &str, bool)>| {
        let found = source(url, &known);
        let found = found.as_ref().map(|found| {
            let from = &found.repository;
            (found.name.as_str(), from.url.as_str(), from.credentials.username.as_str(), found.is_oci)
        });
        assert_eq!(found, expect, "{url}");
    };
    check("@team", Some(("team", "https://charts.example.com/team", "team", false)));
    check("alias:team", Some(("team", "https://charts.example.com/team", "team", false)));
    check("@nobody", Some(("nobody", "", "", false)));
    check("https://charts.example.com/team", Some(("team", "https://charts.example.com/team", "team", false)));
    let other = "https://charts.example.com/other";
    check(other, Some(("https:--charts.example.com-other", other, "first", false)));
    check("https://else.where", Some(("https:--else.where", "https://else.where", "", false)));
    check("oci://ghcr.io/org", Some(("ghcr", "ghcr.io/org", "ghcr", true)));
    check("oci://ghcr.io/org/charts", Some(("oci:--ghcr.io-org-charts", "ghcr.io/org/charts", "ghcr", true)));
    check("oci://quay.io/org", Some(("oci:--quay.io-org", "quay.io/org", "quay", true)));
    check("oci://harbor.example.com/x", Some(("oci:--harbor.example.com-x", "harbor.example.com/x", "harbor", true)));
    check("oci://unknown.example.com/x", Some(("oci:--unknown.example.com-x", "unknown.example.com/x", "", true)));
    for unneeded in ["http://plain.example.com", "file://../lib", ""] {
        check(unneeded, None);
    }
}
