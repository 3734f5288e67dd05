//! What must hold after a sync, whether litecd was killed in it or not.
//!
//! In:  the cluster, and all that litecd wrote.  Out: the checks, each with its problem if it has one.
//! Invariant: objects are counted where they are made, in the API server's answers, and not only found there later.

use std::collections::{BTreeMap, BTreeSet};

use anyhow::{Context as _, Result};
use serde_json::{Value, json};

use super::proxy::Write;
use super::scene::{GENERATED, Named, Scene, Stage};
use crate::api::ARGOCD;
use crate::case::Reference;
use crate::run::{Run, name_of};

/// One check.
#[derive(Debug)]
pub(super) struct Check {
    /// What must hold.
    pub name: &'static str,
    /// What does not.
    pub problem: Option<String>,
}

/// When litecd was killed.
#[derive(Debug, Clone, Copy)]
pub(super) struct Killed {
    /// How many writes had reached the API server.
    pub done: usize,
}

fn check(name: &'static str, problems: Vec<String>) -> Check {
    Check { name, problem: (!problems.is_empty()).then(|| problems.join("; ")) }
}

/// `KIND/NAME`, with nothing of a generated name that is made up.
fn key(kind: &str, name: &str) -> String {
    format!("{kind}/{}", if name.starts_with(GENERATED) { GENERATED } else { name })
}

fn equal(what: &str, got: &str, want: &str) -> Vec<String> {
    if got == want { Vec::new() } else { vec![format!("{what} is {got:?}, not {want:?}")] }
}

/// Checks the app, its objects and what was written, after the sync of that number.
pub(super) async fn all(
    run: &mut Run<'_>,
    (scene, number): (&Scene, usize),
    (writes, killed): (&[Write], Option<Killed>),
) -> Result<Vec<Check>> {
    let stage = scene.stages.get(number).context("no such sync")?;
    let place = Reference::argocd("Application", ARGOCD, scene.name);
    let app = run.cluster.get(&place).await?.context("the app is gone")?;
    let word = |pointer: &str| app.pointer(pointer).and_then(Value::as_str).unwrap_or_default();
    let made = made(scene, writes);
    let uids = uids(run, scene).await?;
    let starts = starts(writes);
    let completions = completions(run, scene).await?;
    let several = |count: usize, what: &str, is_wrong: bool| {
        if is_wrong { vec![format!("there are {count} {what}")] } else { Vec::new() }
    };
    Ok(vec![
        check("the operation succeeded", {
            let phase = word("/status/operationState/phase");
            equal("the phase", phase, "Succeeded")
        }),
        check("the app is Synced", equal("it", word("/status/sync/status"), "Synced")),
        check("the app is Healthy", equal("it", word("/status/health/status"), "Healthy")),
        check("every object was created once", once(stage.made, &made, &uids)),
        check("every hook was created once", once(scene.hooks, &made, &uids)),
        check("what was there is there still", still_there(stage, &made, &uids)),
        check("nothing is there that Git does not hold", strangers((scene, stage), &uids)),
        check("nothing was deleted that Git holds", deleted((scene, number), writes)),
        check("the history has one entry for each sync", history(&app, number + 1)),
        check("one operation was started", several(starts.len(), "starts", starts.len() != 1)),
        check(
            "the operation's result holds each object once",
            results(
                (scene, stage),
                app.pointer("/status/operationState/syncResult/resources"),
                &untold(stage, writes, killed),
            ),
        ),
        check(
            "each completion was told once at most",
            several(completions, "OperationCompleted", completions > number + 1),
        ),
    ])
}

/// The uids of what the API server created in the app's namespace, by `KIND/NAME`.
fn made(scene: &Scene, writes: &[Write]) -> BTreeMap<String, Vec<String>> {
    let mut made: BTreeMap<String, Vec<String>> = BTreeMap::new();
    for write in writes.iter().filter(|write| write.code == Some(201) && !write.path.contains("dryRun")) {
        let word = |pointer: &str| write.answer.pointer(pointer).and_then(Value::as_str).unwrap_or_default();
        if word("/metadata/namespace") == scene.namespace && word("/kind") != "Event" {
            made.entry(key(word("/kind"), word("/metadata/name"))).or_default().push(word("/metadata/uid").to_owned());
        }
    }
    made
}

/// The uids of what is in the app's namespace and was not made by the cluster, by `KIND/NAME`.
async fn uids(run: &mut Run<'_>, scene: &Scene) -> Result<BTreeMap<String, Vec<String>>> {
    let mut uids: BTreeMap<String, Vec<String>> = BTreeMap::new();
    for kind in ["ConfigMap", "Secret", "Deployment", "Service", "Role", "Job"] {
        let found = run.cluster.kind(kind, None).await?;
        for object in run.cluster.list(&found, Some(scene.namespace)).await? {
            let uid = object.pointer("/metadata/uid").and_then(Value::as_str).unwrap_or_default();
            uids.entry(key(kind, name_of(&object))).or_default().push(uid.to_owned());
        }
    }
    uids.remove("ConfigMap/kube-root-ca.crt");
    Ok(uids)
}

fn once(expected: &[Named], made: &BTreeMap<String, Vec<String>>, uids: &BTreeMap<String, Vec<String>>) -> Vec<String> {
    let names = expected.iter().map(|(kind, name)| format!("{kind}/{name}"));
    let none = Vec::new();
    let problem = |name: String| {
        let (made, found) = (made.get(&name).unwrap_or(&none), uids.get(&name).unwrap_or(&none));
        match (made.as_slice(), found.as_slice()) {
            ([made], [found]) if made == found => None,
            ([_], [_]) => Some(format!("{name} is another one than litecd created")),
            _ => Some(format!("{name} was created {} times and is there {} times", made.len(), found.len())),
        }
    };
    names.filter_map(problem).collect()
}

fn still_there(
    stage: &Stage,
    made: &BTreeMap<String, Vec<String>>,
    uids: &BTreeMap<String, Vec<String>>,
) -> Vec<String> {
    let kept = stage.kept.iter().map(|(kind, name)| format!("{kind}/{name}"));
    kept.filter(|name| made.contains_key(name) || !uids.contains_key(name)).collect()
}

fn strangers((scene, stage): (&Scene, &Stage), uids: &BTreeMap<String, Vec<String>>) -> Vec<String> {
    let expected: BTreeSet<String> =
        stage.present().chain(scene.hooks).map(|(kind, name)| format!("{kind}/{name}")).collect();
    uids.keys().filter(|name| !expected.contains(*name)).cloned().collect()
}

/// What was deleted besides what left Git, and besides the hooks of the sync before.
fn deleted((scene, number): (&Scene, usize), writes: &[Write]) -> Vec<String> {
    let pruned = scene.stages.get(number).map_or(&[][..], |stage| stage.pruned);
    let old_hooks = if number == 0 { &[][..] } else { scene.hooks };
    let may_go = |write: &Write| pruned.iter().chain(old_hooks).any(|(kind, name)| write.is_about(kind, name));
    let place = format!("/namespaces/{}/", scene.namespace);
    let is_deletion = |write: &&Write| write.method == http::Method::DELETE && write.path.contains(&place);
    writes.iter().filter(is_deletion).filter(|write| !may_go(write)).map(ToString::to_string).collect()
}

fn history(app: &Value, want: usize) -> Vec<String> {
    let entries = app.pointer("/status/history").and_then(Value::as_array).cloned().unwrap_or_default();
    let newest = entries.last().and_then(|entry| entry.get("revision"));
    let revisions: BTreeSet<String> = entries.iter().map(|entry| entry["revision"].to_string()).collect();
    let mut problems = Vec::new();
    if entries.len() != want || revisions.len() != want {
        problems.push(format!("there are {} entries with {} revisions", entries.len(), revisions.len()));
    }
    if newest != app.pointer("/status/sync/revision") {
        problems.push(format!("the newest is of {newest:?}"));
    }
    problems
}

/// The different starts of operations that reached the API server.
fn starts(writes: &[Write]) -> BTreeSet<&str> {
    let answered = writes.iter().filter(|write| write.code.is_some_and(|code| code < 300));
    answered.filter_map(|write| write.body.pointer("/status/operationState/startedAt")?.as_str()).collect()
}

/// The prunes that nobody can tell of any more: done by a process that was killed before it stored their results.  The next
/// one does not find the objects, and does not know who deleted them; Argo CD leaves them out of the result too.
fn untold(stage: &Stage, writes: &[Write], killed: Option<Killed>) -> Vec<String> {
    let Some(killed) = killed else { return Vec::new() };
    let done = writes.get(..killed.done.min(writes.len())).unwrap_or_default();
    let is_untold = |(kind, name): &&Named| {
        let is_it = |write: &Write| write.method == http::Method::DELETE && write.is_about(kind, name);
        let mut rest = done.iter().skip_while(|write| !is_it(write)).peekable();
        rest.peek().is_some() && !rest.any(|write| write.body.pointer("/status/operationState/syncResult").is_some())
    };
    stage.pruned.iter().filter(is_untold).map(|(kind, name)| format!("{kind}/{name}")).collect()
}

fn results((scene, stage): (&Scene, &Stage), results: Option<&Value>, untold: &[String]) -> Vec<String> {
    let mut seen: BTreeMap<String, usize> = BTreeMap::new();
    for result in results.and_then(Value::as_array).into_iter().flatten() {
        let word = |key: &str| result.get(key).and_then(Value::as_str).unwrap_or_default();
        *seen.entry(key(word("kind"), word("name"))).or_default() += 1;
    }
    let expected = stage.present().chain(stage.pruned).chain(scene.hooks).map(|(kind, name)| format!("{kind}/{name}"));
    let mut problems: Vec<String> = expected
        .filter_map(|name| match seen.remove(&name).unwrap_or_default() {
            1 => None,
            0 if untold.contains(&name) => None,
            count => Some(format!("{name} is there {count} times")),
        })
        .collect();
    problems.extend(seen.into_keys().map(|name| format!("{name} should not be there")));
    problems
}

/// How the app and its objects ended, without what differs from run to run: two syncs that ended the same are equal.
pub(super) async fn state(run: &mut Run<'_>, scene: &Scene) -> Result<Value> {
    let place = Reference::argocd("Application", ARGOCD, scene.name);
    let app = run.cluster.get(&place).await?.context("the app is gone")?;
    let at = |pointer: &str| app.pointer(pointer).cloned().unwrap_or_default();
    let mut results = at("/status/operationState/syncResult/resources");
    if let Some(results) = results.as_array_mut() {
        // Those are for `untold` to judge.
        results.retain(|result| result["status"] != "Pruned");
    }
    for result in results.as_array_mut().into_iter().flatten().filter_map(Value::as_object_mut) {
        // An apply that is made again finds done what the killed process could not tell about.
        result.remove("message");
        result.remove("images");
    }
    let history = at("/status/history");
    let history: Vec<Value> =
        history.as_array().into_iter().flatten().map(|e| json!([e["id"], e["revision"]])).collect();
    let mut objects = Vec::new();
    for kind in ["ConfigMap", "Secret", "Deployment"] {
        let found = run.cluster.kind(kind, None).await?;
        for object in run.cluster.list(&found, Some(scene.namespace)).await? {
            let meta = |key: &str| object["metadata"][key].clone();
            let mut annotations = meta("annotations");
            if let Some(annotations) = annotations.as_object_mut() {
                annotations.remove("deployment.kubernetes.io/revision");
            }
            objects.push(json!([kind, meta("name"), meta("labels"), annotations, object["data"], object["spec"]]));
        }
    }
    Ok(json!({
        "phase": at("/status/operationState/phase"), "results": results, "history": history, "sync": at("/status/sync"),
        "health": at("/status/health/status"), "resources": at("/status/resources"), "objects": objects,
    }))
}

async fn completions(run: &mut Run<'_>, scene: &Scene) -> Result<usize> {
    let kind = run.cluster.kind("Event", Some("")).await?;
    let events = run.cluster.list(&kind, Some(ARGOCD)).await?;
    let told = events.iter().filter(|event| {
        event.get("reason").is_some_and(|reason| reason == "OperationCompleted")
            && event.pointer("/involvedObject/name").is_some_and(|name| name == scene.name)
    });
    let counts = told.map(|event| event.get("count").and_then(Value::as_u64).unwrap_or(1));
    Ok(usize::try_from(counts.sum::<u64>())?)
}
