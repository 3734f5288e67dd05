//! Argo Rollouts' Rollout.
//!
//! Releases since 1.0 state their phase; the rest is for Rollouts that have none.

use serde_json::Value;

use super::Kinds;
use super::rule::{Step::*, Test::*, nothing};
use crate::api::ObjectExt;
use crate::health::Code::{Degraded, Healthy, Progressing, Suspended, Unknown};
use crate::health::read::{at, flag, int, list, plain, text};
use crate::health::{Code, Health};

/// Which generation of a referenced workload the Rollout belongs to.
const WORKLOAD_GENERATION: &str = "rollout.argoproj.io/workload-generation";

pub(super) const KINDS: Kinds = &[(
    "argoproj.io/Rollout",
    &[
        Fails(&[That(is_without_generation)], "<string>:62: attempt to compare nil with number"),
        Fails(&[That(is_generation_observed), Lacks("spec")], nothing!(72, "workloadRef")),
        By(unobserved),
        By(phase),
        Fails(&[Lacks("status.conditions")], "<string>:100: bad argument #1 to ipairs (table expected, got nil)"),
        Walk(&[
            ("InvalidSpec", Degraded, "{message}"),
            ("Progressing=*/RolloutAborted|ProgressDeadlineExceeded", Degraded, "{message}"),
        ]),
        By(paused),
        When(
            &[Lacks("status.currentPodHash")],
            Progressing,
            "Waiting for rollout to finish: status has not been reconciled.",
        ),
        By(replicas),
        Fails(&[Lacks("spec.strategy")], nothing!(137, "blueGreen")),
        By(strategy),
        Else(Healthy, ""),
    ],
)];

fn unobserved(object: &Value) -> Option<Health> {
    let is_observed = is_generation_observed(object) && is_workload_observed(object);
    (!is_observed).then(|| Health::new(Progressing, "Waiting for rollout spec update to be observed"))
}

/// Whether an observed generation has none to be compared with.
fn is_without_generation(object: &Value) -> bool {
    let observed = plain(at(object, "status.observedGeneration"));
    observed.parse::<f64>().is_ok() && at(object, "metadata.generation").is_null()
}

/// Old Rollouts keep a hash instead of a number and count as observed.
fn is_generation_observed(object: &Value) -> bool {
    if at(object, "status").is_null() {
        return false;
    }
    let observed: Option<i64> = plain(at(object, "status.observedGeneration")).parse().ok();
    observed.is_none_or(|observed| observed >= int(object, "metadata.generation"))
}

fn is_workload_observed(object: &Value) -> bool {
    if at(object, "spec.workloadRef").is_null() || at(object, "metadata.annotations").is_null() {
        return true;
    }
    let wanted: Option<i64> = object.annotation(WORKLOAD_GENERATION).and_then(|text| text.parse().ok());
    let observed: Option<i64> = plain(at(object, "status.workloadObservedGeneration")).parse().ok();
    wanted == observed
}

fn phase(object: &Value) -> Option<Health> {
    let phase = at(object, "status.phase").as_str()?;
    let message = text(object, "status.message");
    Some(match (phase, Code::parse(phase)) {
        ("Paused", _) => Health::new(Suspended, message),
        (_, Some(code)) => Health::new(code, message),
        (_, None) => Health::new(Unknown, crate::health::lua::INVALID_STATUS),
    })
}

fn paused(object: &Value) -> Option<Health> {
    let is_paused = !list(object, "status.pauseConditions").is_empty() || flag(object, "spec.paused");
    is_paused.then(|| Health::new(Suspended, "Rollout is paused"))
}

fn replicas(object: &Value) -> Option<Health> {
    let desired = at(object, "spec.replicas").as_i64().unwrap_or(1);
    let updated = int(object, "status.updatedReplicas");
    if updated < desired {
        return Some(Health::new(Progressing, "Waiting for roll out to finish: More replicas need to be updated"));
    }
    (int(object, "status.availableReplicas") < updated).then(|| {
        Health::new(Progressing, "Waiting for roll out to finish: updated replicas are still becoming available")
    })
}

fn strategy(object: &Value) -> Option<Health> {
    let current = text(object, "status.currentPodHash");
    let stable = match at(object, "status.stableRS") {
        Value::Null => text(object, "status.canary.stableRS"),
        stable => stable.as_str().unwrap_or_default(),
    };
    let waits = |text: &str| Some(Health::new(Progressing, text));
    if at(object, "spec.strategy.blueGreen").is_object() {
        if text(object, "status.blueGreen.activeSelector") != current {
            return waits("active service cutover pending");
        }
        if !stable.is_empty() && stable != current {
            return waits("waiting for analysis to complete");
        }
    } else if at(object, "spec.strategy.canary").is_object() {
        if int(object, "status.replicas") > int(object, "status.updatedReplicas") {
            return waits("Waiting for roll out to finish: old replicas are pending termination");
        }
        if stable.is_empty() || stable != current {
            return waits("Waiting for rollout to finish steps");
        }
    }
    None
}
