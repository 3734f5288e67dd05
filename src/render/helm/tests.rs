//! Tests of this room.

use std::path::PathBuf;

use serde_json::json;

use super::command::escape_commas;
use super::{glob, values};
use crate::render::build_env::BuildEnv;
use crate::render::paths::Resolved;
use crate::render::tests::Tree;
use crate::render::{RefSource, Request};

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
