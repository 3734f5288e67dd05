//! What is refused before anything is rendered.

use std::path::PathBuf;

use clap::Parser;

use super::given::Given;
use super::{Args, locals, refused};

#[derive(Parser)]
struct Line {
    #[command(flatten)]
    args: Args,
}

const PROJECT: &str = "
apiVersion: argoproj.io/v1alpha1
kind: AppProject
metadata: {name: shop}
spec:
  sourceRepos: ['*']
  destinations: [{server: 'https://prod.example.com', namespace: shop}, {server: 'https://kubernetes.default.svc', namespace: shop}]
";

fn app(project: &str, destination: &str) -> String {
    format!(
        "apiVersion: argoproj.io/v1alpha1\nkind: Application\nmetadata: {{name: web}}\nspec:\n  project: {project}\n  \
         source: {{repoURL: 'https://git.example.com/shop.git', path: .}}\n  destination: {destination}\n"
    )
}

/// What was given in two files.
fn given(app: &str, settings: &str) -> anyhow::Result<Given> {
    let folder = tempfile::tempdir().expect("a folder");
    let write = |name: &str, text: &str| -> PathBuf {
        let path = folder.path().join(name);
        std::fs::write(&path, text).expect("written");
        path
    };
    Given::read(&[write("app.yaml", app)], &[write("settings.yaml", settings)])
}

/// Why the first Application is refused, when it is.
fn refusal(app: &str, settings: &str) -> Option<String> {
    let given = given(app, settings).expect("readable");
    let app = given.applications.first().expect("an Application");
    refused(app, &given.project(app.spec.project_name()), &given)
}

#[test]
fn destinations_are_held_against_the_project_that_is_given() {
    let denied = |server: &str, namespace: &str| {
        format!(
            "application destination server '{server}' and namespace '{namespace}' do not match any of the allowed \
             destinations in project 'shop'"
        )
    };
    for (destination, expect) in [
        ("{server: 'https://kubernetes.default.svc', namespace: shop}", None),
        (
            "{server: 'https://kubernetes.default.svc', namespace: bank}",
            Some(denied("https://kubernetes.default.svc", "bank")),
        ),
        // Without its Secret a cluster is known by its server all the same.
        ("{server: 'https://prod.example.com', namespace: shop}", None),
        ("{server: 'https://test.example.com', namespace: shop}", Some(denied("https://test.example.com", "shop"))),
        // Which server a name stands for is not known.
        ("{name: prod, namespace: bank}", None),
    ] {
        assert_eq!(refusal(&app("shop", destination), PROJECT), expect, "{destination}");
    }
    let cluster = format!(
        "{PROJECT}---\napiVersion: v1\nkind: Secret\nmetadata: {{name: c, labels: {{argocd.argoproj.io/secret-type: \
         cluster}}}}\nstringData: {{name: prod, server: 'https://prod.example.com'}}\n"
    );
    assert_eq!(refusal(&app("shop", "{name: prod, namespace: bank}"), &cluster), Some(denied("prod", "bank")));
    assert_eq!(refusal(&app("shop", "{name: prod, namespace: shop}"), &cluster), None);
}

#[test]
fn a_project_that_is_not_given_permits_everything() {
    assert_eq!(refusal(&app("other", "{server: 'https://prod.example.com', namespace: bank}"), PROJECT), None);
}

#[test]
fn application_sets_are_noted_and_not_expanded() {
    let set = "apiVersion: argoproj.io/v1alpha1\nkind: ApplicationSet\nmetadata: {name: all}\n";
    let both = format!("{set}---\n{}", app("shop", "{}"));
    let found = given(&both, "").expect("readable");
    assert_eq!((found.applications.len(), found.sets), (1, vec!["all".to_owned()]));
    let error = given(set, "").err().expect("no Application").to_string();
    assert!(error.starts_with("no Application in the files; ApplicationSets are not expanded"), "{error}");
}

#[test]
fn a_repository_that_no_source_uses_is_refused() {
    let found = given(&app("shop", "{}"), "").expect("readable");
    let check = |url: &str| {
        let folder = tempfile::tempdir().expect("a folder");
        let repository = format!("{url}={}", folder.path().display());
        let line = Line::parse_from(["render", "app.yaml", "--repo", &repository]);
        locals(&line.args, &found.applications).map(drop).map_err(|error| error.to_string())
    };
    assert_eq!(check("https://git.example.com/shop.git"), Ok(()));
    assert_eq!(check("https://git.example.com/shop"), Ok(()), "as repositories are told apart everywhere");
    let error = check("https://git.example.com/shopp.git").expect_err("misspelt");
    assert!(
        error.ends_with(
            "no source uses https://git.example.com/shopp.git; sources are https://git.example.com/shop.git"
        ),
        "{error}"
    );
}
