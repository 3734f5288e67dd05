//! Kinds of Flux.
//!
//! Argo CD's rules count conditions: an object is Healthy or Progressing when enough of them say so, else Degraded.

use serde_json::Value;

use super::Kinds;
use super::rule::{Step, Step::*, Test::*, conditions, is_match, nothing};
use crate::health::Code::{Degraded, Healthy, Progressing, Suspended};
use crate::health::Health;
use crate::health::read::{at, text};

const IS_SUSPENDED: Step = When(&[Is("spec.suspend", "true")], Suspended, "{.kind} is suspended");
const NO_SPEC: Step = Fails(&[Lacks("spec")], nothing!(2, "suspend"));
const NO_STATUS: Step = Else(Progressing, "Status unknown");
const SOURCE: &[Step] = &[NO_SPEC, IS_SUSPENDED, By(source), NO_STATUS];

pub(super) const KINDS: Kinds = &[
    ("helm.toolkit.fluxcd.io/HelmRelease", &[NO_SPEC, IS_SUSPENDED, By(helm_release), NO_STATUS]),
    ("kustomize.toolkit.fluxcd.io/Kustomization", &[NO_SPEC, IS_SUSPENDED, By(applied), NO_STATUS]),
    ("image.toolkit.fluxcd.io/ImageUpdateAutomation", &[NO_SPEC, IS_SUSPENDED, By(applied), NO_STATUS]),
    ("image.toolkit.fluxcd.io/ImageRepository", &[NO_SPEC, IS_SUSPENDED, By(image_repository), NO_STATUS]),
    ("image.toolkit.fluxcd.io/ImagePolicy", &[By(image_policy), NO_STATUS]),
    ("notification.toolkit.fluxcd.io/Receiver", &[NO_SPEC, IS_SUSPENDED, By(receiver), NO_STATUS]),
    ("source.toolkit.fluxcd.io/GitRepository", SOURCE),
    ("source.toolkit.fluxcd.io/OCIRepository", SOURCE),
    ("source.toolkit.fluxcd.io/Bucket", SOURCE),
    ("source.toolkit.fluxcd.io/HelmChart", SOURCE),
    (
        "source.toolkit.fluxcd.io/HelmRepository",
        &[
            NO_SPEC,
            IS_SUSPENDED,
            When(
                &[Is("spec.type", "oci")],
                Healthy,
                "Helm repositories of type 'oci' do not contain any information in the status.",
            ),
            By(source),
            NO_STATUS,
        ],
    ),
];

/// What a kind counts.
struct Count {
    /// Conditions that speak for progress; two are needed.
    progress: &'static [&'static str],
    /// Conditions that speak for success.
    success: &'static [&'static str],
    /// How many of them are needed.
    needed: usize,
}

/// The verdict, with the reason of `Ready` as its text.
fn count(object: &Value, count: &Count) -> Option<Health> {
    if at(object, "status.conditions").is_null() {
        return None;
    }
    let votes = |patterns: &[&str]| {
        conditions(object).iter().filter(|found| patterns.iter().any(|pattern| is_match(pattern, found))).count()
    };
    let code = if votes(count.progress) == 2 {
        Progressing
    } else if votes(count.success) == count.needed {
        Healthy
    } else {
        Degraded
    };
    Some(Health::new(code, reason(object)))
}

/// The reason of `Ready`, followed by why a source's artifact is out of date.
fn reason(object: &Value) -> String {
    let mut out = String::new();
    for condition in conditions(object) {
        if is_match("Ready", condition) {
            out = text(condition, "reason").to_owned();
        } else if is_match("ArtifactOutdated=True", condition) {
            out = format!("{out} {}", text(condition, "reason"));
        }
    }
    out
}

fn helm_release(object: &Value) -> Option<Health> {
    let votes = Count {
        progress: &["Ready=Unknown", "Reconciling=True"],
        success: &["Ready=True", "Released|TestSuccess=True"],
        needed: 2,
    };
    count(object, &votes)
}

fn applied(object: &Value) -> Option<Health> {
    let votes = Count { progress: &["Ready=Unknown", "Reconciling=True"], success: &["Ready=True"], needed: 1 };
    count(object, &votes)
}

fn source(object: &Value) -> Option<Health> {
    let votes = Count {
        progress: &["Ready=Unknown", "Reconciling=True"],
        success: &["Ready=True", "ArtifactInStorage=True"],
        needed: 2,
    };
    count(object, &votes)
}

fn image_repository(object: &Value) -> Option<Health> {
    let votes = Count {
        progress: &["Ready=False", "Reconciling=True/NewGeneration|Scanning"],
        success: &["Ready=True"],
        needed: 1,
    };
    count(object, &votes)
}

fn image_policy(object: &Value) -> Option<Health> {
    let votes = Count {
        progress: &["Ready=False", "Reconciling=True/NewGeneration|AccessingRepository|ApplyingPolicy"],
        success: &["Ready=True"],
        needed: 1,
    };
    count(object, &votes)
}

/// Receivers are never Progressing once they have conditions.
fn receiver(object: &Value) -> Option<Health> {
    count(object, &Count { progress: &[], success: &["Ready=True"], needed: 1 })
}
