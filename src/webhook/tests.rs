use proptest::prelude::*;
use ring::hmac;
use serde_json::{Value, json};

use super::*;
use crate::api::appset::ApplicationSetSpec;
use crate::api::{Application, names};
use crate::settings::Secret;

const PUSH: &str = r#"{"ref": "refs/heads/feature/x", "repository": {"html_url": "https://git.example.com/o/r",
    "default_branch": "main"}, "commits": [{"added": ["a"], "modified": ["b"], "removed": ["c"]}, null]}"#;

fn secrets() -> Secrets {
    Secrets {
        github: "hub".to_owned(),
        gitlab: "lab".to_owned(),
        bitbucket_uuid: "{u}".to_owned(),
        bitbucket_server: "server".to_owned(),
        gogs: "gogs".to_owned(),
        azure_user: "user".to_owned(),
        azure_password: "pass".to_owned(),
    }
}

fn signed(secret: &str, body: &str) -> String {
    let tag = hmac::sign(&hmac::Key::new(hmac::HMAC_SHA256, secret.as_bytes()), body.as_bytes());
    tag.as_ref().iter().map(|byte| format!("{byte:02x}")).collect()
}

fn post(
    at: Endpoint,
    secrets: &Secrets,
    (method, headers, body): (&str, &[(&str, &str)], &[u8]),
) -> Result<Option<Event>, Answer> {
    let header = |name: &str| {
        let found = headers.iter().find(|(known, _)| known.eq_ignore_ascii_case(name));
        found.map_or(String::new(), |(_, value)| (*value).to_owned())
    };
    let refused = |refusal: Refusal| refusal.answer(at, method, 50 << 20);
    claim(at, secrets, method, &header).map_err(refused)?.read(Body::Whole(body)).map_err(refused)
}

/// What an endpoint answers, as `code text`.
fn said(at: Endpoint, secrets: &Secrets, request: (&str, &[(&str, &str)], &str)) -> String {
    match post(at, secrets, (request.0, request.1, request.2.as_bytes())) {
        Ok(_) => "200".to_owned(),
        Err(answer) => format!("{} {}", answer.code, answer.text),
    }
}

#[test]
fn a_signature_that_is_missing_old_or_wrong_is_refused() {
    let (at, secrets) = (Endpoint::Applications, secrets());
    let ok = "200";
    let failed = "400 Webhook processing failed";
    let sign = |secret: &str| format!("sha256={}", signed(secret, PUSH));
    let (good, bad) = (sign("hub"), sign("other"));
    let hub = ("X-GitHub-Event", "push");
    for (headers, expect) in [
        (&[hub][..], failed),
        (&[hub, ("X-Hub-Signature-256", &good)], ok),
        (&[hub, ("X-Hub-Signature-256", &good[7..])], ok),
        (&[hub, ("X-Hub-Signature-256", &bad)], failed),
        (&[hub, ("X-Hub-Signature", &good)], failed),
        (&[("X-GitHub-Event", "issues"), ("X-Hub-Signature-256", &good)], failed),
        (&[("X-Hub-Signature-256", &good)], "400 Unknown webhook event"),
        (&[hub, ("X-Gogs-Event", "push"), ("X-Hub-Signature-256", &good)], failed),
        (&[hub, ("X-Gogs-Event", "push"), ("X-Gogs-Signature", &signed("gogs", PUSH))], ok),
        (&[("X-Event-Key", "repo:refs_changed"), ("X-Hub-Signature", &sign("server"))], ok),
        (&[("X-Event-Key", "repo:refs_changed"), ("X-Hub-Signature", "short")], failed),
        (&[("X-Event-Key", "diagnostics:ping")], ok),
        (&[("X-Hook-UUID", "{u}"), ("X-Event-Key", "repo:push")], ok),
        (&[("X-Hook-UUID", "{v}"), ("X-Event-Key", "repo:push")], failed),
        (&[("X-Gitlab-Event", "Push Hook"), ("X-Gitlab-Token", "lab")], ok),
        (&[("X-Gitlab-Event", "Push Hook")], failed),
        (&[("X-GitHub-Event", "package")], "401 Unauthorized"),
        (&[("X-GitHub-Event", "package"), ("X-Hub-Signature-256", &good)], ok),
        (&[("X-GitHub-Event", "package"), ("X-Hub-Signature-256", &good[7..])], "401 Unauthorized"),
        (&[("X-Vss-Activityid", "1")], failed),
    ] {
        assert_eq!(said(at, &secrets, ("POST", headers, PUSH)), expect, "{headers:?}");
    }
    let azure = |password: &str, expect: &str| {
        use base64::Engine;
        let basic = format!("Basic {}", base64::engine::general_purpose::STANDARD.encode(format!("user:{password}")));
        let headers = [("X-Vss-Activityid", "1"), ("Authorization", basic.as_str())];
        assert_eq!(said(at, &secrets, ("POST", &headers, r#"{"eventType": "git.push"}"#)), expect);
    };
    azure("pass", ok);
    azure("word", failed);
}

#[test]
fn without_a_secret_only_gitlab_with_a_token_is_refused() {
    let (at, none) = (Endpoint::Applications, Secrets::default());
    assert_eq!(said(at, &none, ("POST", &[("X-GitHub-Event", "push")], PUSH)), "200");
    assert_eq!(said(at, &none, ("POST", &[("X-Gitlab-Event", "Push Hook")], PUSH)), "200");
    let token = [("X-Gitlab-Event", "Push Hook"), ("X-Gitlab-Token", "any")];
    assert_eq!(said(at, &none, ("POST", &token, PUSH)), "400 Webhook processing failed");
    let size = "400 Webhook processing failed: payload must be valid JSON under 50 MB";
    assert_eq!(said(at, &none, ("POST", &[("X-GitHub-Event", "push")], "")), size);
    assert_eq!(said(at, &none, ("GET", &[("X-GitHub-Event", "push")], PUSH)), "405 Webhook processing failed");
    assert_eq!(said(at, &none, ("GET", &[], "")), "400 Unknown webhook event");
}

#[test]
fn the_endpoint_of_sets_has_its_own_senders_and_says_why() {
    let (at, none) = (Endpoint::ApplicationSets, Secrets::default());
    assert_eq!(said(at, &none, ("POST", &[("X-GitHub-Event", "pull_request")], "{}")), "200");
    assert_eq!(said(at, &none, ("POST", &[("X-Gogs-Event", "push")], PUSH)), "400 Unknown webhook event");
    let issues = said(at, &none, ("POST", &[("X-GitHub-Event", "issues")], PUSH));
    assert_eq!(issues, "400 Webhook processing failed: event not defined to be parsed");
    let get = said(at, &none, ("GET", &[("X-GitHub-Event", "push")], PUSH));
    assert_eq!(get, "405 Webhook processing failed: invalid HTTP Method");
    let azure = said(at, &none, ("POST", &[("X-Vss-Activityid", "1")], r#"{"eventType": "<b>"}"#));
    assert_eq!(azure, "400 Webhook processing failed: unknown event &lt;b&gt;");
}

fn push_of(headers: &[(&str, &str)], body: &Value) -> Push {
    match post(Endpoint::Both, &Secrets::default(), ("POST", headers, body.to_string().as_bytes())) {
        Ok(Some(Event::Push(push))) => push,
        other => panic!("{other:?}"),
    }
}

#[test]
fn bodies_become_pushes() {
    let hub: Value = serde_json::from_str(PUSH).expect("JSON");
    let push = push_of(&[("X-GitHub-Event", "push")], &hub);
    assert_eq!((push.revision.as_str(), push.touched_head), ("feature/x", false));
    assert_eq!(push.files, ["a", "b", "c"]);
    let azure = json!({"eventType": "git.push", "resource": {"refUpdates": [{"name": "refs/heads/main"}],
        "repository": {"remoteUrl": "https://dev.azure.com/o/p/_git/r", "defaultBranch": "refs/heads/main"}}});
    let push = push_of(&[("X-Vss-Activityid", "1")], &azure);
    assert_eq!((push.revision.as_str(), push.touched_head, push.files.len()), ("main", true, 0));
    let server = json!({"repository": {"links": {"clone": [{"name": "ssh", "href": "ssh://h/r"}, 5, {"name": "x", "href": "no"},
        {"name": "http", "href": "http://h/r"}]}}, "changes": [{"ref": {"id": "refs/tags/v1"}}]});
    let push = push_of(&[("X-Event-Key", "repo:refs_changed")], &server);
    assert_eq!((push.urls.len(), push.revision.as_str(), push.touched_head), (2, "v1", true));
    let cloud = json!({"repository": {"links": {"html": {"href": "https://bitbucket.org/o/r"}}},
        "push": {"changes": [{"new": {"name": "feature/x"}}, {"new": null}]}});
    let push = push_of(&[("X-Hook-UUID", "u"), ("X-Event-Key", "repo:push")], &cloud);
    assert_eq!((push.urls, push.revision), (vec!["https://bitbucket.org/o/r".to_owned()], "feature/x".to_owned()));
    let system =
        json!({"event_name": "push", "ref": "refs/heads/main", "project": {"web_url": "u", "default_branch": "main"}});
    assert!(push_of(&[("X-Gitlab-Event", "System Hook")], &system).touched_head);
}

fn app(repo: &str, revision: &str, paths: &str) -> Application {
    let annotations = if paths.is_empty() { json!({}) } else { json!({names::MANIFEST_GENERATE_PATHS: paths}) };
    serde_json::from_value(json!({"metadata": {"name": "a", "namespace": "argocd", "annotations": annotations},
        "spec": {"project": "default", "destination": {}, "sources": [{"repoURL": "https://other/x", "targetRevision": revision},
            {"repoURL": repo, "path": "app", "targetRevision": revision}]}}))
    .expect("an application")
}

#[test]
fn a_push_concerns_applications_by_repository_revision_and_paths() {
    let push = |revision: &str, touched_head: bool, files: &[&str]| {
        let files = files.iter().map(|file| (*file).to_owned()).collect();
        let urls = vec!["https://git.example.com/o/r".to_owned()];
        Event::Push(Push { urls, revision: revision.to_owned(), touched_head, files, not_for_sets: false })
    };
    let repo = "git@git.example.com:o/r.git";
    for (event, revision, paths, expect) in [
        (push("main", true, &["x"]), "HEAD", "", true),
        (push("main", true, &[]), "", "", true),
        (push("side", false, &[]), "HEAD", "", false),
        (push("feature/x", false, &[]), "feature/x", "", true),
        (push("feature/x", false, &[]), "refs/heads/feature/x", "", true),
        (push("x", false, &[]), "feature/x", "", false),
        (push("1.2.0", false, &[]), "1.*", "", true),
        (push("2.0.0", false, &[]), "refs/tags/1.*", "", false),
        (push("main", true, &["other/x"]), "main", ".", false),
        (push("main", true, &["other/x", "app/y"]), "main", ".", true),
    ] {
        assert_eq!(concerns_app(&event, &app(repo, revision, paths)), expect, "{event:?} {revision} {paths}");
    }
    assert!(!concerns_app(&push("main", true, &[]), &app("https://git.example.com/o/s", "main", "")));
    let published = Event::Published(Published { repository: "ghcr.io/O/r".to_owned(), tag: "1.2.3".to_owned() });
    assert!(concerns_app(&published, &app("oci://ghcr.io/o/r/", "^1.0", "")));
    assert!(!concerns_app(&published, &app("oci://ghcr.io/o/r", "1.2.4", "")));
}

fn set(generator: Value) -> ApplicationSetSpec {
    serde_json::from_value(json!({"generators": [generator]})).expect("a set")
}

#[test]
fn an_event_concerns_sets_by_their_generators() {
    let urls = vec!["https://git.example.com/o/r".to_owned()];
    let main = Push { urls, revision: "main".to_owned(), touched_head: true, ..Push::default() };
    let event = Event::Push(main.clone());
    let git = |repo: &str, revision: &str| json!({"git": {"repoURL": format!("https://git.example.com/o/{repo}"), "revision": revision}});
    let list = json!({"list": {"elements": []}});
    let matrix = |first: &Value, second: &Value| json!({"matrix": {"generators": [first, second]}});
    let plugin = json!({"plugin": {"configMapRef": {"name": "p"}}});
    for (generator, expect) in [
        (git("r", "HEAD"), true),
        (git("r", "refs/heads/main"), true),
        (git("r", "side"), false),
        (git("s", "main"), false),
        (matrix(&git("r", "main"), &list), true),
        (matrix(&list, &git("r", "{{branch}}")), true),
        (matrix(&list, &git("s", "{{branch}}")), false),
        (matrix(&plugin, &list), false),
        (matrix(&list, &plugin), true),
        (plugin.clone(), true),
        (json!({"merge": {"mergeKeys": [], "generators": [list, matrix(&list, &git("r", "main"))]}}), true),
        (json!({"scmProvider": {"github": {"organization": "o"}}}), false),
    ] {
        assert_eq!(concerns_set(&event, &set(generator.clone())), expect, "{generator}");
    }
    assert!(!concerns_set(&Event::Push(Push { not_for_sets: true, ..main }), &set(plugin.clone())));
    let hub = MergeRequest::GitHub {
        owner: "O".to_owned(),
        repo: "r".to_owned(),
        api: "https://api.github.com/repos/O/r".to_owned(),
    };
    let of = |repo: &str| set(json!({"pullRequest": {"github": {"owner": "o", "repo": repo}}}));
    let event = Event::PullRequest(hub);
    assert!(concerns_set(&event, &of("R")) && !concerns_set(&event, &of("s")) && concerns_set(&event, &set(plugin)));
}

#[test]
fn waiting_pushes_of_one_branch_become_one_and_lose_no_file() {
    let push = |revision: &str, files: &[&str]| {
        let files = files.iter().map(|file| (*file).to_owned()).collect();
        Push { urls: vec!["u".to_owned()], revision: revision.to_owned(), files, ..Push::default() }
    };
    let mut inbox = Inbox::default();
    for waiting in [push("a", &["1"]), push("b", &[]), push("a", &["2", "1"]), push("b", &["3"])] {
        assert!(inbox.put(Event::Push(waiting)));
    }
    assert_eq!(inbox.take(), Some(Event::Push(push("a", &["1", "2"]))));
    assert_eq!(inbox.take(), Some(Event::Push(push("b", &[]))), "unknown files stay unknown");
    assert_eq!(inbox.take(), None);
}

#[test]
fn secrets_may_point_elsewhere() {
    let secret = |name: &str, data: &[(&str, &str)]| Secret {
        name: name.to_owned(),
        data: data.iter().map(|(key, value)| ((*key).to_owned(), value.as_bytes().to_vec())).collect(),
        ..Secret::default()
    };
    let own = [
        ("webhook.github.secret", "$mine"),
        ("mine", " a\n"),
        ("webhook.gitlab.secret", "$other:b"),
        ("webhook.gogs.secret", "$no"),
    ];
    let read = Secrets::read(Some(&secret("argocd-secret", &own)), [secret("other", &[("b", "c")])].iter());
    assert_eq!((read.github.as_str(), read.gitlab.as_str(), read.gogs.as_str()), ("a", "c", "$no"));
    assert!(!format!("{read:?}").contains('c') || !format!("{read:?}").contains("$no"));
}

/// Headers of every sender and event that is told apart.
const SENDERS: &[&[(&str, &str)]] = &[
    &[("X-Vss-Activityid", "1")],
    &[("X-Gogs-Event", "push")],
    &[("X-GitHub-Event", "push")],
    &[("X-GitHub-Event", "ping")],
    &[("X-GitHub-Event", "pull_request")],
    &[("X-GitHub-Event", "package")],
    &[("X-Gitlab-Event", "Push Hook")],
    &[("X-Gitlab-Event", "Tag Push Hook")],
    &[("X-Gitlab-Event", "System Hook")],
    &[("X-Gitlab-Event", "Merge Request Hook")],
    &[("X-Hook-UUID", "u"), ("X-Event-Key", "repo:push")],
    &[("X-Event-Key", "repo:refs_changed")],
];

/// Reads a body as every sender's, and looks whom the event concerns.
fn feed(body: &[u8]) {
    let mut inbox = Inbox::default();
    for (headers, at) in SENDERS
        .iter()
        .zip([Endpoint::Both, Endpoint::ApplicationSets, Endpoint::Applications].iter().cycle())
        .chain(SENDERS.iter().zip(std::iter::repeat(&Endpoint::Both)))
    {
        let Ok(Some(event)) = post(*at, &Secrets::default(), ("POST", headers, body)) else { continue };
        let _ = concerns_app(&event, &app("git@git.example.com:o/r.git", "^1", ".;/x/*"));
        let _ = concerns_set(&event, &set(json!({"git": {"repoURL": "https://h/r", "revision": "main"}})));
        assert!(inbox.put(event));
    }
    while inbox.take().is_some() {}
}

/// JSON with the names that bodies have, so that mutations reach past the first field.
fn any_body() -> impl Strategy<Value = Value> {
    let texts = prop_oneof![
        Just("refs/heads/main".to_owned()),
        Just("git.push".to_owned()),
        Just("push".to_owned()),
        Just("published".to_owned()),
        Just("https://git.example.com/o/r".to_owned()),
        Just("ssh://[::1%25x]:99/é?a#b".to_owned()),
        Just("http".to_owned()),
        Just("opened".to_owned()),
        Just("git.pullrequest.created".to_owned()),
        Just("container".to_owned()),
        ".{0,12}",
    ];
    let leaf = prop_oneof![
        Just(Value::Null),
        any::<bool>().prop_map(Value::from),
        any::<i64>().prop_map(Value::from),
        texts.prop_map(Value::from)
    ];
    let names = prop::sample::select(vec![
        "ref",
        "repository",
        "html_url",
        "default_branch",
        "commits",
        "added",
        "modified",
        "removed",
        "project",
        "web_url",
        "object_attributes",
        "action",
        "target_project_id",
        "object_kind",
        "event_name",
        "eventType",
        "resource",
        "refUpdates",
        "name",
        "remoteUrl",
        "defaultBranch",
        "links",
        "html",
        "href",
        "push",
        "changes",
        "new",
        "clone",
        "id",
        "package",
        "package_type",
        "owner",
        "login",
        "package_version",
        "container_metadata",
        "tag",
        "url",
    ]);
    leaf.prop_recursive(5, 60, 8, move |inner| {
        prop_oneof![
            prop::collection::vec(inner.clone(), 0..4).prop_map(Value::from),
            prop::collection::vec((names.clone(), inner), 0..8)
                .prop_map(|fields| fields.into_iter().map(|(name, value)| (name.to_owned(), value)).collect::<Value>()),
        ]
    })
}

proptest! {
    #[test]
    fn no_body_makes_it_panic(body in any_body(), cut in any::<prop::sample::Index>(), flip in any::<u8>()) {
        let mut bytes = body.to_string().into_bytes();
        feed(&bytes);
        let at = cut.index(bytes.len());
        bytes[at] ^= flip;
        feed(&bytes);
        feed(&bytes[..at]);
    }

    #[test]
    fn mutated_pushes_do_not_panic(cut in any::<prop::sample::Index>(), noise in prop::collection::vec(any::<u8>(), 0..6)) {
        let mut bytes = PUSH.as_bytes().to_vec();
        let at = cut.index(bytes.len());
        bytes.splice(at..at, noise);
        feed(&bytes);
    }
}
