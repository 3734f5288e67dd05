//! What comes next, and what holds it.

use serde_json::{Value, json};

use super::{app, deployment, facts, live, pair, report, timer};
use crate::api::GroupKind;
use crate::api::project::SyncWindow;
use crate::explain::{Facts, why};
use crate::guard;

fn out_of_sync(extra: Value) -> Facts {
    let there = live(deployment("web", json!({"replicas": 5})), json!([]));
    facts(app(extra), vec![pair(Some(deployment("web", json!({"replicas": 3}))), Some(there))])
}

fn automated(policy: Value) -> Value {
    json!({"spec": {"syncPolicy": {"automated": policy}}})
}

fn with(mut policy: Value, status: Value) -> Value {
    json_patch::merge(&mut policy, &json!({"status": {"operationState": status}}));
    policy
}

/// State of a sync of what is compared.
fn state(phase: &str, message: &str) -> Value {
    json!({"operation": {"sync": {"revision": "4f2a1c9"}, "initiatedBy": {"automated": true}}, "phase": phase, "message": message,
           "startedAt": "2026-01-02T03:00:00Z", "finishedAt": "2026-01-02T03:04:00Z",
           "syncResult": {"revision": "4f2a1c9", "source": {"repoURL": "https://git.example.com/shop.git", "path": "."}}})
}

#[track_caller]
fn check(facts: &Facts, action: &str, hold: &str) {
    let next = report(facts).next;
    assert!(next.action.contains(action), "{next:?}");
    if hold.is_empty() {
        assert!(next.holds.is_empty(), "{next:?}");
    } else {
        assert!(next.holds.iter().any(|text| text.contains(hold)), "{next:?}");
    }
}

#[test]
fn an_application_out_of_sync_is_synced_unless_something_holds_it() {
    check(&out_of_sync(automated(json!({}))), "Initiated automated sync to '4f2a1c9'", "");
    check(&out_of_sync(json!({})), "somebody has to start a sync", "automated sync is off");
    let command = "start one with kubectl -n argocd patch applications.argoproj.io shop --type merge -p ";
    check(&out_of_sync(json!({})), "", &format!("{command}'{{\"operation\":{{\"sync\":{{}}}}}}'"));
    let options = json!({"spec": {"syncPolicy": {"syncOptions": ["CreateNamespace=true"]}}});
    check(&out_of_sync(options), "", "'{\"operation\":{\"sync\":{\"syncOptions\":[\"CreateNamespace=true\"]}}}'");
    let succeeded = with(automated(json!({})), state("Succeeded", "all good"));
    check(&out_of_sync(succeeded), "nothing by itself", "selfHeal is off");
    let failed = with(automated(json!({"selfHeal": true})), state("Failed", "no quota"));
    check(&out_of_sync(failed), "nothing until the revision", "Failed last sync attempt to [4f2a1c9]: no quota");
}

#[test]
fn a_repair_waits_for_its_backoff() {
    let mut state = state("Succeeded", "");
    state["operation"]["sync"]["autoHealAttemptsCount"] = json!(3);
    state["finishedAt"] = json!("2026-01-02T03:04:00Z");
    let facts = out_of_sync(with(automated(json!({"selfHeal": true})), state));
    check(&facts, "a repair of the live change at 2026-01-02T03:04:18Z, in 13 s", "spaced");
}

#[test]
fn windows_hold_automated_syncs_and_say_so() {
    let mut facts = out_of_sync(automated(json!({})));
    facts.windows = vec![SyncWindow {
        kind: "deny".to_owned(),
        schedule: "0 3 * * *".to_owned(),
        duration: "1h".to_owned(),
        applications: vec!["*".to_owned()],
        manual_sync: true,
        ..SyncWindow::default()
    }];
    check(&facts, "once no window holds it", "a sync window denies syncs at \"0 3 * * *\" for 1h UTC; a person may");
    facts.windows[0].schedule = "0 5 * * *".to_owned();
    check(&facts, "Initiated automated sync", "");
    facts.windows[0].schedule = "nonsense".to_owned();
    check(&facts, "once no window holds it", "cannot parse schedule 'nonsense'");
}

#[test]
fn objects_can_be_in_the_way() {
    let mut facts = out_of_sync(automated(json!({})));
    facts.unknown_kinds.insert(GroupKind::new("apps", "Deployment"));
    check(&facts, "automated sync", "does not know apps/Deployment: its CustomResourceDefinition is missing");

    let left = live(deployment("old", json!({})), json!([]));
    let extra = |policy, live: Value| super::facts(app(automated(policy)), vec![pair(None, Some(live))]);
    let stays = "apps/Deployment shop/old left the sources and stays: automated syncs do not prune \
                 (spec.syncPolicy.automated.prune); only a sync with prune removes it";
    check(&extra(json!({}), left.clone()), "nothing by itself", stays);
    let by_hand = super::facts(app(json!({})), vec![pair(None, Some(left.clone()))]);
    check(&by_hand, "nothing by itself", "left the sources and stays: only a sync with prune removes it");
    let mut kept = left.clone();
    kept["metadata"]["annotations"] = json!({"argocd.argoproj.io/sync-options": "Prune=false"});
    check(
        &extra(json!({"prune": true, "allowEmpty": true}), kept),
        "automated sync",
        "kept by its sync option Prune=false",
    );
    let mut asked = left;
    asked["metadata"]["annotations"] = json!({"argocd.argoproj.io/sync-options": "Prune=confirm"});
    check(&extra(json!({"prune": true, "allowEmpty": true}), asked), "automated sync", "waits for approval");
}

#[test]
fn a_running_sync_says_what_it_waits_for() {
    let mut running = state("Running", "waiting for completion of hook batch/Job/seed");
    running["finishedAt"] = Value::Null;
    running["syncResult"]["resources"] = json!([{
        "group": "batch", "version": "v1", "kind": "Job", "namespace": "shop", "name": "seed",
        "hookType": "PreSync", "hookPhase": "Running", "syncPhase": "PreSync", "message": "job is running"}]);
    let mut app = with(automated(json!({})), running);
    app["operation"] = json!({"sync": {"revision": "4f2a1c9"}});
    let facts = out_of_sync(app);
    check(&facts, "the sync that runs since 2026-01-02T03:00:00Z goes on", "waiting for completion of hook");
    check(&facts, "goes on", "the sync waits for batch/Job shop/seed (PreSync hook): job is running");
}

#[test]
fn a_retry_says_when() {
    let mut retry = state("Running", "boom. Retrying attempt #2 at 3:05AM.");
    retry["retryCount"] = json!(1);
    let mut app = with(automated(json!({})), retry);
    app["operation"] =
        json!({"sync": {"revision": "4f2a1c9"}, "initiatedBy": {"automated": true}, "retry": {"limit": 5}});
    app["status"]["operationState"]["operation"]["retry"] = json!({"limit": 5});
    check(&out_of_sync(app), "attempt #1 of the sync at 2026-01-02T03:04:10Z, in 5 s", "boom");
}

#[test]
fn nothing_is_decided_without_a_comparison_or_leave_to_write() {
    let mut facts = out_of_sync(automated(json!({})));
    facts.verdict = guard::decide(None, false);
    check(&facts, "automated sync", "litecd stands down: it is not known");
    facts.status.status = "Unknown".to_owned();
    facts.conditions.push(crate::api::status::Condition::new("ComparisonError", "no such branch"));
    check(&facts, "nothing until the comparison works", "ComparisonError: no such branch");
    assert!(report(&facts).objects.is_empty(), "what is absent proves nothing when a side could not be loaded");
    assert_eq!(why(&facts, Some("web"), &timer()).objects[0].state, "unknown");
}
