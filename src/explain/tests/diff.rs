//! The unified diff: what it shows, and what happens when there is no room.

use std::collections::BTreeSet;

use serde_json::{Value, json};

use super::{app, deployment, facts, live, pair};
use crate::explain::diff::{Input, Room, of};
use crate::explain::{Facts, published};

fn text(facts: &Facts, room: Room) -> String {
    let input = Input {
        app: &facts.app,
        status: &facts.status,
        resources: &facts.resources,
        differences: &facts.differences,
        pairs: &facts.paired.pairs,
        hidden: &BTreeSet::new(),
    };
    of(&input, room).text
}

fn config_map(name: &str, value: &str) -> Value {
    json!({"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": name, "namespace": "shop"}, "data": {"k": value}})
}

#[test]
fn each_object_has_a_heading_and_only_its_changed_lines() {
    let wanted = deployment("web", json!({"replicas": 3, "template": {"metadata": {"labels": {"a": "b"}}}}));
    let there =
        live(deployment("web", json!({"replicas": 5, "template": {"metadata": {"labels": {"a": "b"}}}})), json!([]));
    let left = live(config_map("old", "x"), json!([]));
    let facts = facts(
        app(json!({})),
        vec![
            pair(Some(wanted), Some(there)),
            pair(Some(config_map("new", "x")), None),
            pair(None, Some(left)),
            pair(Some(config_map("same", "x")), Some(config_map("same", "x"))),
        ],
    );
    assert_eq!(
        text(&facts, Room::ENDLESS),
        "\
# Application argocd/shop is OutOfSync with 4f2a1c9: 3 of 4 objects differ.
# - is what the cluster has, + is what the sources want. Secrets are masked: equal masks are equal values.

=== ConfigMap shop/new (to be created)
--- /dev/null
+++ desired/ConfigMap/shop/new
@@ -0,0 +1,7 @@
+apiVersion: v1
+data:
+  k: x
+kind: ConfigMap
+metadata:
+  name: new
+  namespace: shop

=== ConfigMap shop/old (to be pruned)
--- live/ConfigMap/shop/old
+++ /dev/null
@@ -1,7 +0,0 @@
-apiVersion: v1
-data:
-  k: x
-kind: ConfigMap
-metadata:
-  name: old
-  namespace: shop

=== apps/Deployment shop/web (differs)
--- live/apps/Deployment/shop/web
+++ desired/apps/Deployment/shop/web
@@ -5,7 +5,7 @@
   namespace: shop
 spec:
   progressDeadlineSeconds: 600
-  replicas: 5
+  replicas: 3
   revisionHistoryLimit: 10
   strategy:
     rollingUpdate:
"
    );
}

#[test]
fn what_does_not_fit_is_counted_and_named() {
    let lines = |name: &str| config_map(name, &"line\n".repeat(50));
    let facts = facts(app(json!({})), ["a", "b", "c"].map(|name| pair(Some(lines(name)), None)).into());
    let found = text(&facts, Room { all: 700, each: 300, ..Room::ENDLESS });
    assert!(found.contains("=== ConfigMap shop/a"), "{found}");
    assert!(found.contains("# cut here: "), "{found}");
    assert!(
        found.contains("# not shown for lack of room: 2 objects that differ too: ConfigMap shop/b, ConfigMap shop/c\n"),
        "{found}"
    );
    let whole = text(&facts, Room { each: 300, ..Room::ENDLESS });
    for section in whole.split("\n===").skip(1) {
        let (kept, more) = section.split_once("# cut here: ").expect("a cut section");
        let more: usize = more.split(' ').next().and_then(|count| count.parse().ok()).expect("a count");
        let all = text(&facts, Room::ENDLESS);
        let all = all.split("\n===").nth(1).expect("the section uncut").lines().count();
        assert_eq!(kept.lines().count() + more, all, "every line is shown or counted");
    }
}

#[test]
fn very_long_objects_are_not_compared_by_line() {
    let there = live(config_map("a", &"x\n".repeat(60)), json!([]));
    let facts = facts(app(json!({})), vec![pair(Some(config_map("a", "x")), Some(there))]);
    let found = text(&facts, Room { lines: 50, ..Room::ENDLESS });
    assert!(found.ends_with("(differs)\n# too long to be compared by line: 67 lines live, 7 desired\n"), "{found}");
}

#[test]
fn an_object_that_is_missing_is_shown_with_what_rules_ignore() {
    let rules = json!({"spec": {"ignoreDifferences": [{"kind": "ConfigMap", "jsonPointers": ["/data/k"]}]}});
    let facts = facts(app(rules), vec![pair(Some(config_map("new", "x")), None)]);
    let found = text(&facts, Room::ENDLESS);
    assert!(found.contains("(to be created)") && found.contains("\n+  k: x\n"), "{found}");
}

#[test]
fn nothing_differs_in_a_synced_application() {
    let facts = facts(app(json!({})), vec![pair(Some(config_map("a", "x")), Some(config_map("a", "x")))]);
    assert_eq!(
        text(&facts, Room::ENDLESS),
        "# Application argocd/shop is Synced with 4f2a1c9: 0 of 1 objects differ.\n"
    );
}

#[test]
fn the_secret_is_owned_by_the_application_and_argo_cd_takes_it_for_nobodys() {
    let app = app(json!({}));
    let secret = published::secret(&app, "text").expect("a name that fits");
    assert_eq!(secret["metadata"]["name"], "shop.diff");
    assert_eq!(secret["metadata"]["namespace"], "argocd");
    assert_eq!(secret["metadata"]["ownerReferences"][0]["uid"], "u1");
    assert!(published::is_ours(&secret));
    assert!(!published::is_ours(&json!({"type": "Opaque"})));
    assert_eq!(published::digest_of(&secret), published::digest("text"));
    let written = secret["metadata"].to_string();
    for taken in ["argocd.argoproj.io", "part-of", "app.kubernetes.io/instance"] {
        assert!(!written.contains(taken), "{taken} means something to Argo CD");
    }
    assert_eq!(published::name(&"a".repeat(249)), None);
    assert_eq!(published::application("shop.diff"), Some("shop"));
}
