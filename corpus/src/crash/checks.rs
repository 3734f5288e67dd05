//! What must hold after a sync, whether litecd was killed in it or not.
//!
//! In:  the cluster, and all that litecd wrote.  Out: the checks, each with its problem if it has one.
//! Invariant: objects are counted where they are made, in the API server's answers, and not only found there later.

use std::collections::{BTreeMap, BTreeSet};

use anyhow::{Context as _, Result};
use serde_json::Value;

use super::proxy::Write;
use crate::api::ARGOCD;
use crate::case::Reference;
use crate::run::{Run, name_of};

/// The app of `corpus/crash/five-waves`.
pub(super) const APP: &str = "five-waves";

const NAMESPACE: &str = "demo-crash";

/// The hooks, as kind and name.
const HOOKS: [(&str, &str); 3] = [("Job", "before"), ("Job", "behind"), ("Job", GENERATED)];

/// What the name of one hook begins with; the rest is made up by whoever creates it.
const GENERATED: &str = "again-";

/// The other objects, as kind and name.
const OBJECTS: [(&str, &str); 10] = [
    ("ConfigMap", "one"),
    ("Secret", "one"),
    ("ConfigMap", "two"),
    ("Deployment", "two"),
    ("ConfigMap", "three"),
    ("Service", "three"),
    ("ConfigMap", "four"),
    ("Deployment", "four"),
    ("ConfigMap", "five"),
    ("Role", "five"),
];

/// One check.
#[derive(Debug)]
pub(super) struct Check {
    /// What must hold.
    pub name: &'static str,
    /// What does not.
    pub problem: Option<String>,
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

/// Checks the app, its objects and what was written.
pub(super) async fn all(run: &mut Run<'_>, writes: &[Write]) -> Result<Vec<Check>> {
    let app = run.cluster.get(&Reference::argocd("Application", ARGOCD, APP)).await?.context("the app is gone")?;
    let word = |pointer: &str| app.pointer(pointer).and_then(Value::as_str).unwrap_or_default();
    let made = made(writes);
    let uids = uids(run).await?;
    let history = app.pointer("/status/history").and_then(Value::as_array).map_or(0, Vec::len);
    let starts = starts(writes);
    let completions = completions(run).await?;
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
        check("every object was created once", once(&OBJECTS, &made, &uids)),
        check("every hook was created once", once(&HOOKS, &made, &uids)),
        check("nothing is there that Git does not hold", strangers(&uids)),
        check("nothing was deleted", deleted(writes)),
        check("the history has one entry", several(history, "entries", history != 1)),
        check("one operation was started", several(starts.len(), "starts", starts.len() != 1)),
        check(
            "the operation's result holds each object once",
            results(app.pointer("/status/operationState/syncResult/resources")),
        ),
        check("the completion was told once at most", several(completions, "OperationCompleted", completions > 1)),
    ])
}

/// The uids of what the API server created in the app's namespace, by `KIND/NAME`.
fn made(writes: &[Write]) -> BTreeMap<String, Vec<String>> {
    let mut made: BTreeMap<String, Vec<String>> = BTreeMap::new();
    for write in writes.iter().filter(|write| write.code == Some(201) && !write.path.contains("dryRun")) {
        let word = |pointer: &str| write.answer.pointer(pointer).and_then(Value::as_str).unwrap_or_default();
        if word("/metadata/namespace") == NAMESPACE && word("/kind") != "Event" {
            made.entry(key(word("/kind"), word("/metadata/name"))).or_default().push(word("/metadata/uid").to_owned());
        }
    }
    made
}

/// The uids of what is in the app's namespace and was not made by the cluster, by `KIND/NAME`.
async fn uids(run: &mut Run<'_>) -> Result<BTreeMap<String, Vec<String>>> {
    let mut uids: BTreeMap<String, Vec<String>> = BTreeMap::new();
    for kind in ["ConfigMap", "Secret", "Deployment", "Service", "Role", "Job"] {
        let found = run.cluster.kind(kind, None).await?;
        for object in run.cluster.list(&found, Some(NAMESPACE)).await? {
            let uid = object.pointer("/metadata/uid").and_then(Value::as_str).unwrap_or_default();
            uids.entry(key(kind, name_of(&object))).or_default().push(uid.to_owned());
        }
    }
    uids.remove("ConfigMap/kube-root-ca.crt");
    Ok(uids)
}

fn once(
    expected: &[(&str, &str)],
    made: &BTreeMap<String, Vec<String>>,
    uids: &BTreeMap<String, Vec<String>>,
) -> Vec<String> {
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

fn strangers(uids: &BTreeMap<String, Vec<String>>) -> Vec<String> {
    let expected: BTreeSet<String> =
        OBJECTS.iter().chain(&HOOKS).map(|(kind, name)| format!("{kind}/{name}")).collect();
    uids.keys().filter(|name| !expected.contains(*name)).cloned().collect()
}

fn deleted(writes: &[Write]) -> Vec<String> {
    let place = format!("/namespaces/{NAMESPACE}/");
    let is_deletion = |write: &&Write| write.method == http::Method::DELETE && write.path.contains(&place);
    writes.iter().filter(is_deletion).map(ToString::to_string).collect()
}

/// The different starts of operations that reached the API server.
fn starts(writes: &[Write]) -> BTreeSet<&str> {
    let answered = writes.iter().filter(|write| write.code.is_some_and(|code| code < 300));
    answered.filter_map(|write| write.body.pointer("/status/operationState/startedAt")?.as_str()).collect()
}

fn results(results: Option<&Value>) -> Vec<String> {
    let mut seen: BTreeMap<String, usize> = BTreeMap::new();
    for result in results.and_then(Value::as_array).into_iter().flatten() {
        let word = |key: &str| result.get(key).and_then(Value::as_str).unwrap_or_default();
        *seen.entry(key(word("kind"), word("name"))).or_default() += 1;
    }
    let expected = OBJECTS.iter().chain(&HOOKS).map(|(kind, name)| format!("{kind}/{name}"));
    let mut problems: Vec<String> = expected
        .filter_map(|name| match seen.remove(&name).unwrap_or_default() {
            1 => None,
            count => Some(format!("{name} is there {count} times")),
        })
        .collect();
    problems.extend(seen.into_keys().map(|name| format!("{name} should not be there")));
    problems
}

async fn completions(run: &mut Run<'_>) -> Result<usize> {
    let kind = run.cluster.kind("Event", Some("")).await?;
    let events = run.cluster.list(&kind, Some(ARGOCD)).await?;
    let told = events.iter().filter(|event| {
        event.get("reason").is_some_and(|reason| reason == "OperationCompleted")
            && event.pointer("/involvedObject/name").is_some_and(|name| name == APP)
    });
    let counts = told.map(|event| event.get("count").and_then(Value::as_u64).unwrap_or(1));
    Ok(usize::try_from(counts.sum::<u64>())?)
}
