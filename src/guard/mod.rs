//! Decides whether litecd may write, so that it never acts beside a running controller of Argo CD.
//!
//! In:  what was seen of Argo CD's controllers in the control plane's namespace (or that nothing could be seen), and
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

/// A controller of Argo CD whose work litecd does.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Controller {
    /// Of Applications.
    Applications,
    /// Of ApplicationSets.
    ApplicationSets,
}

impl Controller {
    /// Name that Argo CD's manifests give to it, and Helm charts end theirs with; also its binary's.
    fn name(self) -> &'static str {
        match self {
            Self::Applications => names::BINARY_MANAGER,
            Self::ApplicationSets => names::SETS_MANAGER,
        }
    }

    /// What people call it.
    fn title(self) -> &'static str {
        match self {
            Self::Applications => "Argo CD's application controller",
            Self::ApplicationSets => "Argo CD's ApplicationSet controller",
        }
    }
}

/// What was seen of a controller of Argo CD; all zero means it was looked for and is not there.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Presence {
    /// Wanted or existing replicas over all of its StatefulSets and Deployments, whichever is larger.
    pub replicas: i64,
    /// Its Pods that have not ended, terminating ones included: a terminating Pod can still write.
    pub pods: usize,
}

impl Presence {
    /// Folds observed objects into a presence; objects that do not run this controller do not count.
    pub fn from_objects<'a>(controller: Controller, objects: impl IntoIterator<Item = &'a Value>) -> Self {
        let mut seen = Self::default();
        for object in objects.into_iter().filter(|object| identifies(controller, object)) {
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
    if observe_mode {
        return Verdict::StandDown {
            reason: "observe mode: litecd compares and reports but does not write".to_owned(),
            is_present: false,
        };
    }
    judge(Controller::Applications, observed)
}

/// Who may work on ApplicationSets, given who may write at all: a set makes and deletes Applications, so that whoever
/// must leave Applications alone leaves sets alone too, and besides Argo CD's controller of sets must be absent.
pub fn decide_sets(applications: &Verdict, observed: Option<&Presence>) -> Verdict {
    match applications {
        Verdict::Write(_) => judge(Controller::ApplicationSets, observed),
        stand_down @ Verdict::StandDown { .. } => stand_down.clone(),
    }
}

fn judge(controller: Controller, observed: Option<&Presence>) -> Verdict {
    let title = controller.title();
    let stand_down = |reason: String, is_present| Verdict::StandDown { reason, is_present };
    match observed {
        None => stand_down(
            format!("it is not known whether {title} runs; litecd writes only once it is known to be absent"),
            false,
        ),
        Some(seen) if seen.replicas != 0 || seen.pods > 0 => {
            stand_down(format!("{title} is present ({seen}); scale it to zero to let litecd take over"), true)
        }
        Some(_) => Verdict::Write(Permit { _private: () }),
    }
}

const NAME_LABEL: &str = "app.kubernetes.io/name";
const PART_OF_LABEL: &str = "app.kubernetes.io/part-of";
const LITECD: &str = "litecd";

/// Whether an object runs one of Argo CD's controllers.
pub fn identifies_argocd_controller(object: &Value) -> bool {
    [Controller::Applications, Controller::ApplicationSets].iter().any(|controller| identifies(*controller, object))
}

/// Whether an object runs this controller.
///
/// It does when it is a StatefulSet, Deployment or Pod whose name starts with the controller's name, whose
/// `app.kubernetes.io/name` is the controller's name, or one of whose containers runs the controller's binary (which
/// catches charts that prefix the name and relabel). litecd may be installed under Argo CD's names so that dashboards
/// and RBAC keep working; it is told apart by `app.kubernetes.io/name: litecd` or `app.kubernetes.io/part-of: litecd`
/// and by these labels alone, because a label is set on purpose and a name may be left over.
pub fn identifies(controller: Controller, object: &Value) -> bool {
    if !matches!((object.group(), object.kind()), ("apps", "StatefulSet" | "Deployment") | ("", "Pod")) {
        return false;
    }
    if [NAME_LABEL, PART_OF_LABEL].iter().any(|label| object.label(label) == Some(LITECD)) {
        return false;
    }
    let name = controller.name();
    object.label(NAME_LABEL) == Some(name) || object.name().starts_with(name) || runs_binary(object, name)
}

fn runs_binary(object: &Value, name: &str) -> bool {
    let path = if object.kind() == "Pod" { "/spec/containers" } else { "/spec/template/spec/containers" };
    let containers = object.pointer(path).and_then(Value::as_array).map(Vec::as_slice).unwrap_or_default();
    containers.iter().any(|container| {
        ["command", "args"].iter().filter_map(|field| container.get(field)?.as_array()).flatten().any(|word| {
            // The binary may be called by path, so only the last part counts.
            word.as_str().and_then(|word| word.rsplit('/').next()) == Some(name)
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
