//! Decides whether litecd may write, so that it never acts beside a running Argo CD application controller.
//!
//! In:  what was seen of Argo CD's controller in the control plane's namespace (or that nothing could be seen), and
//!      whether litecd only observes.
//! Out: a [`Verdict`]; a write needs the [`Permit`] inside it, which nothing outside this room can make.
//! Invariant: what is not known to be absent counts as present.
//! Source: litecd's own rule; Argo CD has no second writer.

use std::fmt;

use serde_json::Value;

use crate::api::{ObjectExt, names};

#[cfg(test)]
mod tests;

/// Leave to write for one step of work; take it from a fresh [`decide`] rather than keeping it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Permit {
    _private: (),
}

/// Whether litecd may write now.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Verdict {
    /// Nobody else manages the applications.
    Write(Permit),
    /// Somebody else does, or nobody knows, or the user asked for observation only.
    StandDown {
        /// One sentence for the log and for `litecd why`.
        reason: String,
        /// Whether somebody else was seen, so that writing later is taking over.
        is_present: bool,
    },
}

impl Verdict {
    /// The permit, where there is one.
    pub fn permit(&self) -> Option<Permit> {
        match self {
            Self::Write(permit) => Some(*permit),
            Self::StandDown { .. } => None,
        }
    }

    /// Whether somebody else was seen who manages the applications.
    pub fn is_present(&self) -> bool {
        matches!(self, Self::StandDown { is_present: true, .. })
    }
}

/// What was seen of Argo CD's application controller; all zero means it was looked for and is not there.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Presence {
    /// Wanted or existing replicas over all of its StatefulSets and Deployments, whichever is larger.
    pub replicas: i64,
    /// Its Pods that have not ended, terminating ones included: a terminating Pod can still write.
    pub pods: usize,
}

impl Presence {
    /// Folds observed objects into a presence; objects that are not Argo CD's controller do not count.
    pub fn from_objects<'a>(objects: impl IntoIterator<Item = &'a Value>) -> Self {
        let mut seen = Self::default();
        for object in objects.into_iter().filter(|object| identifies_argocd_controller(object)) {
            if object.kind() == "Pod" {
                seen.pods = seen.pods.saturating_add(usize::from(may_still_run(object)));
            } else {
                seen.replicas = seen.replicas.saturating_add(replicas(object));
            }
        }
        seen
    }
}

impl fmt::Display for Presence {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "replicas: {}, pods: {}", self.replicas, self.pods)
    }
}

/// Who may write, given what was observed; `None` means that it could not be found out.
///
/// Observe mode is looked at first because it holds whatever else is true.
pub fn decide(observed: Option<&Presence>, observe_mode: bool) -> Verdict {
    let stand_down = |reason: String, is_present| Verdict::StandDown { reason, is_present };
    if observe_mode {
        return stand_down("observe mode: litecd compares and reports but does not write".to_owned(), false);
    }
    match observed {
        None => stand_down(
            "it is not known whether Argo CD's application controller runs; litecd writes only once it is known to be absent"
                .to_owned(),
            false,
        ),
        Some(seen) if seen.replicas != 0 || seen.pods > 0 => stand_down(
            format!("Argo CD's application controller is present ({seen}); scale it to zero to let litecd take over"),
            true,
        ),
        Some(_) => Verdict::Write(Permit { _private: () }),
    }
}

/// Name that Argo CD's manifests give to its controller, and Helm charts end theirs with.
const CONTROLLER_NAME: &str = names::BINARY_MANAGER;
const NAME_LABEL: &str = "app.kubernetes.io/name";
const PART_OF_LABEL: &str = "app.kubernetes.io/part-of";
const LITECD: &str = "litecd";

/// Whether an object runs Argo CD's application controller.
///
/// It does when it is a StatefulSet, Deployment or Pod whose name starts with the controller's name, whose
/// `app.kubernetes.io/name` is the controller's name, or one of whose containers runs the controller's binary (which
/// catches charts that prefix the name and relabel). litecd may be installed under Argo CD's names so that dashboards
/// and RBAC keep working; it is told apart by `app.kubernetes.io/name: litecd` or `app.kubernetes.io/part-of: litecd`
/// and by these labels alone, because a label is set on purpose and a name may be left over.
pub fn identifies_argocd_controller(object: &Value) -> bool {
    if !matches!((object.group(), object.kind()), ("apps", "StatefulSet" | "Deployment") | ("", "Pod")) {
        return false;
    }
    if [NAME_LABEL, PART_OF_LABEL].iter().any(|label| object.label(label) == Some(LITECD)) {
        return false;
    }
    object.label(NAME_LABEL) == Some(CONTROLLER_NAME)
        || object.name().starts_with(CONTROLLER_NAME)
        || runs_controller_binary(object)
}

fn runs_controller_binary(object: &Value) -> bool {
    let path = if object.kind() == "Pod" { "/spec/containers" } else { "/spec/template/spec/containers" };
    let containers = object.pointer(path).and_then(Value::as_array).map(Vec::as_slice).unwrap_or_default();
    containers.iter().any(|container| {
        ["command", "args"].iter().filter_map(|field| container.get(field)?.as_array()).flatten().any(|word| {
            // The binary may be called by path, so only the last part counts.
            word.as_str().and_then(|word| word.rsplit('/').next()) == Some(CONTROLLER_NAME)
        })
    })
}

/// Wanted and existing replicas, whichever is more: scaling down is over only when both are zero. Kubernetes defaults
/// an absent `spec.replicas` to 1.
fn replicas(object: &Value) -> i64 {
    let wanted = object.pointer("/spec/replicas").and_then(Value::as_i64).unwrap_or(1);
    let existing = object.pointer("/status/replicas").and_then(Value::as_i64).unwrap_or(0);
    wanted.max(existing)
}

fn may_still_run(pod: &Value) -> bool {
    !matches!(pod.pointer("/status/phase").and_then(Value::as_str), Some("Succeeded" | "Failed"))
}
