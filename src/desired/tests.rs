//! Tests of this room, on repositories in temporary folders.

use std::collections::BTreeMap;
use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use serde_json::{Value, json};

use super::{Anew, ClusterFacts, Desired, Error, Inputs, Manifests, Options};
use crate::api::Application;
use crate::project::Project;
use crate::settings::{Parameters, Repositories, Settings};

/// A repository, a cache folder and an installation.
struct Scene {
    dir: tempfile::TempDir,
    repo: git2::Repository,
    options: Options,
    settings: BTreeMap<String, String>,
}

impl Scene {
    fn new() -> Self {
        let dir = tempfile::tempdir().unwrap();
        let repo = git2::Repository::init_bare(dir.path().join("app.git")).unwrap();
        repo.set_head("refs/heads/main").unwrap();
        Self { dir, repo, options: Options::from(&Parameters::default()), settings: BTreeMap::new() }
    }

    /// Makes the files the whole content of the main branch.
    fn commit(&self, files: &[(&str, &str)]) -> String {
        let mut index = git2::Index::new().unwrap();
        for (path, text) in files {
            let id = self.repo.blob(text.as_bytes()).unwrap();
            let (zero, time) = (0, git2::IndexTime::new(0, 0));
            index
                .add(&git2::IndexEntry {
                    ctime: time,
                    mtime: time,
                    dev: zero,
                    ino: zero,
                    mode: 0o100_644,
                    uid: zero,
                    gid: zero,
                    file_size: zero,
                    id,
                    flags: 0,
                    flags_extended: 0,
                    path: path.as_bytes().to_vec(),
                })
                .unwrap();
        }
        let tree = self.repo.find_tree(index.write_tree_to(&self.repo).unwrap()).unwrap();
        let who = git2::Signature::new("a", "a@example.com", &git2::Time::new(0, 0)).unwrap();
        let parent = self.repo.refname_to_id("refs/heads/main").ok().map(|id| self.repo.find_commit(id).unwrap());
        let parents: Vec<&git2::Commit<'_>> = parent.iter().collect();
        self.repo.commit(Some("refs/heads/main"), &who, &who, "a commit", &tree, &parents).unwrap().to_string()
    }

    fn url(&self) -> String {
        self.dir.path().join("app.git").display().to_string()
    }

    fn desired(&self) -> Desired {
        Desired::new(&self.dir.path().join("cache"), self.options.clone()).unwrap()
    }

    /// Files in the cache of rendered manifests.
    fn remembered(&self) -> usize {
        fs::read_dir(self.dir.path().join("cache/rendered")).unwrap().count()
    }

    fn app(&self, annotation: &str, synced: &str, source: Value) -> Application {
        let mut source = source;
        source["repoURL"] = self.url().into();
        serde_json::from_value(json!({
            "metadata": {"name": "a", "namespace": "argocd",
                         "annotations": {"argocd.argoproj.io/manifest-generate-paths": annotation}},
            "spec": {"project": "default", "source": source, "destination": {"namespace": "n"}},
            "status": {"sync": {"revision": synced}},
        }))
        .unwrap()
    }

    async fn manifests(&self, desired: &Desired, app: &Application, anew: Anew) -> Result<Manifests, Error> {
        let inputs = Inputs {
            app,
            instance: "a",
            sources: &app.spec.effective_sources(),
            revisions: &[],
            multi: app.spec.has_multiple_sources(),
            anew,
            project: &Project { name: "default".to_owned(), ..Project::default() },
            settings: &Settings::from_config_map(&self.settings).unwrap(),
            repositories: &Repositories::default(),
            cluster: &ClusterFacts::default(),
        };
        desired.manifests(&inputs).await
    }
}

const MAP: &str = "{apiVersion: v1, kind: ConfigMap, metadata: {name: m}}";

#[tokio::test]
async fn a_commit_elsewhere_moves_the_revision_and_renders_nothing() {
    let scene = Scene::new();
    let first = scene.commit(&[("app/m.yaml", MAP), ("other/x", "1")]);
    let desired = scene.desired();
    let source = json!({"path": "app", "targetRevision": "main"});
    let found = scene.manifests(&desired, &scene.app(".", "", source.clone()), Anew::Revisions).await.unwrap();
    assert!(found.may_have_changed && found.sources[0].revision == first);

    let second = scene.commit(&[("app/m.yaml", MAP), ("other/x", "2")]);
    let app = scene.app(".", &first, source.clone());
    let found = scene.manifests(&desired, &app, Anew::Revisions).await.unwrap();
    assert_eq!((found.may_have_changed, &found.sources[0].revision), (false, &second));
    assert_eq!(scene.remembered(), 1, "the rendering goes on under the new revision");

    let third = scene.commit(&[("app/m.yaml", MAP), ("app/n.yaml", &MAP.replace("m}", "n}")), ("other/x", "2")]);
    let app = scene.app(".", &second, source.clone());
    let found = scene.manifests(&desired, &app, Anew::Revisions).await.unwrap();
    assert_eq!((found.may_have_changed, &found.sources[0].revision), (true, &third));
    assert_eq!(found.sources[0].manifests.len(), 2);
    assert_eq!(scene.remembered(), 2);

    // Nothing is known of a revision that was never rendered here, so that it counts as changed.
    let fourth = scene.commit(&[("app/m.yaml", MAP), ("other/x", "4")]);
    scene.commit(&[("app/m.yaml", MAP), ("other/x", "5")]);
    let app = scene.app(".", &fourth, source);
    assert!(scene.manifests(&desired, &app, Anew::Revisions).await.unwrap().may_have_changed);
}

#[tokio::test]
async fn many_applications_of_one_repository_fetch_a_commit_once() {
    let scene = Scene::new();
    scene.commit(&[("app/m.yaml", MAP)]);
    let desired = scene.desired();
    let app = scene.app("", "", json!({"path": "app", "targetRevision": "main"}));
    let access = crate::repo::RepoAccess::anonymous(scene.url());
    for commits in 1..=2 {
        let all = (0..100).map(|_| scene.manifests(&desired, &app, Anew::Revisions));
        assert!(futures::future::join_all(all).await.iter().all(Result::is_ok));
        assert_eq!(desired.store.fetches(&access).await, commits);
        scene.commit(&[("app/m.yaml", MAP), ("app/x", &commits.to_string())]);
    }
}

#[tokio::test]
async fn what_is_not_there_is_told_where_it_is_noticed() {
    let scene = Scene::new();
    let first = scene.commit(&[("app/m.yaml", MAP)]);
    let desired = scene.desired();
    let source = json!({"path": "app", "targetRevision": "nope"});
    for (annotation, synced, expect) in [
        (
            "",
            "",
            "failed to generate manifest for source 1 of 1: rpc error: code = Unknown desc = unable to resolve 'nope' to a commit SHA",
        ),
        (
            ".",
            first.as_str(),
            "failed to evaluate revision changes for source 1 of 1: failed to update revision for paths: rpc error: code = Internal desc = unable to resolve git revision : unable to resolve 'nope' to a commit SHA",
        ),
    ] {
        let app = scene.app(annotation, synced, source.clone());
        assert_eq!(scene.manifests(&desired, &app, Anew::Revisions).await.unwrap_err().to_string(), expect);
    }
}

#[tokio::test]
async fn a_rendering_survives_a_restart_without_its_repository() {
    let scene = Scene::new();
    let commit = scene.commit(&[("app/m.yaml", MAP)]);
    let app = scene.app("", "", json!({"path": "app", "targetRevision": commit}));
    scene.manifests(&scene.desired(), &app, Anew::Nothing).await.unwrap();
    fs::remove_dir_all(scene.url()).unwrap();
    fs::remove_dir_all(scene.dir.path().join("cache/git")).unwrap();
    let desired = scene.desired();
    assert_eq!(scene.manifests(&desired, &app, Anew::Nothing).await.unwrap().sources[0].manifests.len(), 1);
    assert!(scene.manifests(&desired, &app, Anew::Manifests).await.is_err(), "a hard refresh renders anew");
}

#[tokio::test]
async fn after_three_failures_the_failure_is_repeated_until_a_hard_refresh() {
    let scene = Scene::new();
    scene.commit(&[("app/m.json", "{")]);
    let (desired, app) = (scene.desired(), scene.app("", "", json!({"path": "app", "targetRevision": "main"})));
    let mut texts = Vec::new();
    for anew in [Anew::Nothing, Anew::Nothing, Anew::Nothing, Anew::Nothing, Anew::Manifests] {
        texts.push(scene.manifests(&desired, &app, anew).await.unwrap_err().to_string());
    }
    let cached = texts.iter().map(|text| text.contains("Manifest generation error (cached): ")).collect::<Vec<_>>();
    assert_eq!(cached, [false, false, false, true, false], "{texts:#?}");
}

/// A kustomize that never ends and says who it is.
fn hung_kustomize(dir: &Path) -> (PathBuf, PathBuf) {
    let (script, pid) = (dir.join("kustomize"), dir.join("pid"));
    fs::write(&script, format!("#!/bin/sh\necho $$ > {}\nexec sleep 1000\n", pid.display())).unwrap();
    fs::set_permissions(&script, fs::Permissions::from_mode(0o755)).unwrap();
    (script, pid)
}

#[tokio::test]
async fn a_hung_renderer_holds_its_own_turn_only_and_is_killed() {
    let mut scene = Scene::new();
    let (script, pid) = hung_kustomize(scene.dir.path());
    scene.settings.insert("kustomize.path.hung".to_owned(), script.display().to_string());
    scene.options.limits.timeout = Duration::from_secs(1);
    scene.options.parallel = 2;
    scene.commit(&[("app/m.yaml", MAP), ("hung/kustomization.yaml", "resources: []")]);
    let desired = scene.desired();
    let hung = scene.app("", "", json!({"path": "hung", "targetRevision": "main", "kustomize": {"version": "hung"}}));
    let other = scene.app("", "", json!({"path": "app", "targetRevision": "main"}));
    let begun = Instant::now();
    let quick = async {
        // It is certain that the other one hangs by now.
        while fs::read_to_string(&pid).unwrap_or_default().is_empty() {
            tokio::time::sleep(Duration::from_millis(10)).await;
        }
        let found = scene.manifests(&desired, &other, Anew::Nothing).await;
        (found.is_ok(), begun.elapsed())
    };
    let (hung, (is_ok, took)) = tokio::join!(scene.manifests(&desired, &hung, Anew::Nothing), quick);
    assert!(is_ok && took < begun.elapsed(), "the other application is done first");
    let text = hung.unwrap_err().to_string();
    assert!(text.contains("failed timeout after 1s"), "{text}");
    let pid = fs::read_to_string(&pid).unwrap();
    assert!(!Path::new("/proc").join(pid.trim()).exists(), "the child is gone");
}

#[tokio::test(start_paused = true)]
async fn what_outlasts_its_turn_gives_its_place_to_others() {
    let mut scene = Scene::new();
    scene.options.parallel = 1;
    let desired = Desired::new(&scene.dir.path().join("cache"), scene.options.clone()).unwrap();
    let begun = tokio::time::Instant::now();
    let hung = desired.in_turn(tokio::time::sleep(Duration::from_secs(90)));
    let quick = async {
        tokio::task::yield_now().await;
        desired.in_turn(async { begun.elapsed() }).await
    };
    let ((), waited) = tokio::join!(hung, quick);
    assert_eq!(waited.as_secs(), super::LONGEST_TURN.as_secs());
    assert_eq!(begun.elapsed().as_secs(), 90);
}

#[tokio::test]
async fn links_out_of_a_folder_are_refused_as_those_of_a_commit_are() {
    for (link, target, is_refused) in [
        ("app/templates", "../../outside", true),
        ("app/values.yaml", "/etc/hostname", true),
        ("elsewhere", "..", true),
        ("app/m.yaml", "../shared.yaml", false),
    ] {
        let mut scene = Scene::new();
        let root = scene.dir.path().join("app.git");
        for folder in ["app", "../outside"] {
            fs::create_dir_all(root.join(folder)).unwrap();
        }
        fs::write(root.join("shared.yaml"), MAP).unwrap();
        std::os::unix::fs::symlink(target, root.join(link)).unwrap();
        let app = scene.app("", "", json!({"path": "app", "targetRevision": "main"}));
        for allowed in [false, true] {
            scene.options.store.allow_links_out = allowed;
            let mut locals = super::Locals::default();
            locals.add(&scene.url(), &root, true).unwrap();
            let outcome = scene.manifests(&scene.desired().with_locals(locals), &app, Anew::Nothing).await;
            let expect = format!("repository contains out-of-bounds symlinks. file: {link}");
            let said = outcome.err().map(|error| error.to_string());
            assert_eq!(
                said.as_ref().is_some_and(|said| said.contains(&expect)),
                is_refused && !allowed,
                "{link}: {said:?}"
            );
        }
    }
}
