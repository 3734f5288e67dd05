//! Texts that reach the status: what an operation waits for, why it failed, what a result means.
//!
//! In:  tasks, results, states. Out: the exact wording of Argo CD.
//! Invariant: reasons are told once each, in a fixed order.
//! Source: SYNC-013, SYNC-023, SYNC-057, SYNC-110 to SYNC-115, SYNC-131 to SYNC-134
//! (`gitops-engine/pkg/sync/sync_context.go`, `util/argo/argo.go` `AugmentSyncMsg`).

use std::collections::BTreeSet;

use super::tasks::Task;
use super::words::OperationPhase;
use crate::api::operation::{ResourceResult, SyncOperation};
use crate::api::status::Condition;
use crate::api::{GroupKind, GroupVersionKind};

/// Message while a step runs (SYNC-117). It is stored only right before hooks are created; a process that finds it
/// stored took over in the middle of that.
pub(super) const STEP_RUNS: &str = "one or more tasks are running";

/// Why an operation cannot be carried out at all (SYNC-009).
pub const NO_OPERATION: &str = "Invalid operation request: no operation specified";

/// While a window holds the operation (SYNC-225). Only a running operation shows it (SYNC-226).
pub fn blocked_by_window(error: Option<&str>) -> String {
    const BLOCKED: &str = "Sync operation blocked by sync window";
    error.map_or_else(|| BLOCKED.to_owned(), |error| format!("{BLOCKED}: {error}"))
}

/// What the operation waits for (SYNC-110 to SYNC-112).
pub(super) fn waiting(tasks: &[&Task], for_deletion: bool, awaits_approval: impl Fn(&Task) -> bool) -> String {
    let Some(first) = tasks.iter().find(|task| task.hook).or(tasks.first()) else { return String::new() };
    let reason = match (for_deletion, first.hook) {
        (false, true) => "completion of hook",
        (false, false) => "healthy state of",
        (true, true) => "deletion of hook",
        (true, false) => "deletion of",
    };
    let noun = if tasks.iter().all(|task| task.hook) { "hooks" } else { "resources" };
    let held: Vec<&&Task> = tasks.iter().filter(|task| awaits_approval(task)).collect();
    let (reason, named, more) = match held.first() {
        Some(named) => ("pruning confirmation of", **named, held.len() - 1),
        None => (reason, *first, tasks.len() - 1),
    };
    let title = named.title();
    if more > 0 {
        format!("waiting for {reason} {title} and {more} more {noun}")
    } else {
        format!("waiting for {reason} {title}")
    }
}

/// Why the task list is not valid (SYNC-057).
pub(super) fn invalid_tasks(results: &[ResourceResult]) -> String {
    const BASE: &str = "one or more synchronization tasks are not valid";
    let failed = results.iter().filter(|entry| entry.status == "SyncFailed" && !entry.message.is_empty());
    let messages: BTreeSet<&str> = failed.map(|entry| entry.message.as_str()).collect();
    if messages.is_empty() { BASE.to_owned() } else { format!("{BASE}: {}", join(messages, "; ")) }
}

/// A base with the distinct messages behind it (SYNC-113). Argo CD's order is random; this one is alphabetical.
pub(super) fn with_reasons<'a>(base: &str, messages: impl Iterator<Item = &'a str>) -> String {
    let messages: BTreeSet<&str> = messages.collect();
    if messages.is_empty() { base.to_owned() } else { format!("{base}, reason: {}", join(messages, ",")) }
}

fn join(parts: BTreeSet<&str>, separator: &str) -> String {
    parts.into_iter().collect::<Vec<_>>().join(separator)
}

/// Why an operation is refused after its comparison: a shared object where the operation minds, or errors of the
/// comparison or the spec (SYNC-020, SYNC-023, SYNC-211).
pub fn refusal(sync: &SyncOperation, found: &[Condition]) -> Option<(OperationPhase, String)> {
    let minds_sharing = sync.sync_options.iter().any(|option| option == "FailOnSharedResource=true");
    let shared = found.iter().find(|condition| condition.r#type == "SharedResourceWarning");
    if let Some(shared) = shared.filter(|_| minds_sharing) {
        return Some((OperationPhase::Failed, format!("Shared resource found: {}", shared.message)));
    }
    let is_fatal =
        |condition: &&Condition| ["ComparisonError", "InvalidSpecError"].contains(&condition.r#type.as_str());
    let fatal: Vec<Condition> = found.iter().filter(is_fatal).cloned().collect();
    (!fatal.is_empty()).then(|| (OperationPhase::Error, conditions(&fatal)))
}

/// Conditions as an operation's message shows them (SYNC-023).
pub fn conditions(found: &[Condition]) -> String {
    found.iter().map(|condition| format!("{}: {}", condition.r#type, condition.message)).collect::<Vec<_>>().join(";")
}

/// The raw text of a group-version that discovery does not know (SYNC-134).
pub fn unknown_group_version(gvk: &GroupVersionKind) -> String {
    format!(
        "failed to discover server resources for group version {}: the server could not find the requested resource",
        gvk.api_version()
    )
}

/// The raw text of a kind that a known group-version does not have (SYNC-134).
pub fn unknown_kind(gvk: &GroupVersionKind) -> String {
    format!("{}.{} \"\" not found", gvk.kind, gvk.group)
}

/// The raw text of a kind without the verb `get` (SYNC-134).
pub fn cannot_get(gvk: &GroupVersionKind) -> String {
    format!("get is not supported on resources of kind \"{}.{}\"", gvk.kind, gvk.group)
}

/// Rewrites the messages of results that people would not understand (SYNC-131 to SYNC-133).
///
/// `installed` looks a kind up in the destination cluster: the same group first, else any group. The lookup is asked
/// only when a message needs it; `Err` (the cluster could not be asked) leaves the message alone.
pub fn augment(
    results: &mut [ResourceResult],
    installed: impl Fn(&GroupKind) -> Result<Option<GroupVersionKind>, String>,
) {
    for entry in results {
        if entry.message.contains("the server could not find the requested resource") {
            if let Ok(found) = installed(&GroupKind::new(&entry.group, &entry.kind)) {
                entry.message = not_found(entry, found.as_ref());
            }
        } else if entry.message.contains("metadata.annotations: Too long: must have at most 262144 bytes") {
            entry.message.push_str(TOO_LONG);
        }
    }
}

const TOO_LONG: &str = " \n -Additional Info: This error usually means that you are trying to add a large resource on client side. Consider using Server-side apply or syncing with replace enabled. Note: Syncing with Replace enabled is potentially destructive as it may cause resource deletion and re-creation.";

fn not_found(entry: &ResourceResult, installed: Option<&GroupVersionKind>) -> String {
    let ResourceResult { group, kind, namespace, name, version, .. } = entry;
    match installed {
        None => format!(
            "The Kubernetes API could not find {group}/{kind} for requested resource {namespace}/{name}. Make sure the \"{kind}\" CRD is installed on the destination cluster."
        ),
        Some(found) => format!(
            "The Kubernetes API could not find version \"{version}\" of {group}/{kind} for requested resource {namespace}/{name}. Version \"{}\" of {}/{} is installed on the destination cluster.",
            found.version, found.group, found.kind
        ),
    }
}
