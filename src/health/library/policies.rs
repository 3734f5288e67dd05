//! Policies, identities and service catalogues: Open Cluster Management, Kyverno, IAM manager, Keycloak, OLM, SAP.

use serde_json::Value;

use super::Kinds;
use super::rule::{Step, Step::*, Test::*, conditions, is_match, is_observed, nothing, unjoined};
use crate::health::Code::{Degraded, Healthy, Progressing};
use crate::health::Health;
use crate::health::read::{at, int, list, text};

const SAP: &[Step] = &[
    When(&[Has("metadata.deletionTimestamp")], Progressing, "Resource is being deleted"),
    By(sap_service),
    Else(Progressing, "Waiting for status"),
];

pub(super) const KINDS: Kinds = &[
    (
        "policy.open-cluster-management.io/CertificatePolicy",
        &[
            Match(
                "status.compliant",
                &[
                    ("Compliant", Healthy, "All certificates found comply with the policy"),
                    ("*", Degraded, "At least once certificate does not comply with the policy"),
                ],
            ),
            Else(Progressing, "Waiting for the status to be reported"),
        ],
    ),
    (
        "policy.open-cluster-management.io/ConfigurationPolicy",
        &[
            When(&[Lacks("status.compliant")], Progressing, "Waiting for the status to be reported"),
            By(configuration_policy),
            Else(Progressing, "Waiting for compliance"),
        ],
    ),
    (
        "policy.open-cluster-management.io/OperatorPolicy",
        &[
            When(&[Lacks("status.conditions")], Progressing, "Waiting for the status to be reported"),
            When(&[Stale("status.observedGeneration")], Progressing, "Waiting for the status to be updated"),
            Walk(&[("Compliant=True", Healthy, "{message}"), ("Compliant", Degraded, "{message}")]),
            Else(Progressing, "Waiting for the compliance condition"),
        ],
    ),
    (
        "policy.open-cluster-management.io/Policy",
        &[
            Fails(&[Lacks("spec")], nothing!(2, "disabled")),
            When(&[Is("spec.disabled", "true")], Healthy, "Policy is disabled"),
            When(
                &[Lacks("status.compliant"), Lacks("status.status"), NotEmpty("status.placement")],
                Healthy,
                "No clusters match this policy",
            ),
            When(&[Lacks("status.compliant")], Progressing, "Waiting for the status to be reported"),
            By(cluster_policy),
        ],
    ),
    ("kyverno.io/Policy", &[By(kyverno), Else(Progressing, "Waiting for Policy to be ready")]),
    (
        "iammanager.keikoproj.io/Iamrole",
        &[
            When(
                &[Is("status.state", "Ready")],
                Healthy,
                "Role '{.status.roleName|<none>}' exists with ARN '{.status.roleARN|<none>}' and ID \
                 '{.status.roleID|<none>}'.",
            ),
            By(iam_role),
            Else(Progressing, "Waiting for Iamrole to be reconciled"),
        ],
    ),
    ("k8s.keycloak.org/Keycloak", &[Fails(&[That(has_unsaid_errors)], unjoined!(33, "string and nil")), By(keycloak)]),
    (
        "operators.coreos.com/Subscription",
        &[
            Fails(&[Unsaid("*", "type")], unjoined!(29, "nil and string")),
            Fails(&[Unsaid("*", "status")], unjoined!(29, "nil and string")),
            By(subscription),
            Else(Progressing, "An install plan for a subscription is pending installation"),
        ],
    ),
    ("services.cloud.sap.com/ServiceBinding", SAP),
    ("services.cloud.sap.com/ServiceInstance", SAP),
];

fn configuration_policy(object: &Value) -> Option<Health> {
    if !is_observed(object, at(object, "status.lastEvaluatedGeneration")) {
        return Some(Health::new(Progressing, "Waiting for the status to be updated"));
    }
    let code = compliance(object);
    let details = at(object, "status.compliancyDetails").as_array()?;
    let messages: Vec<String> = details
        .iter()
        .flat_map(|detail| list(detail, "conditions"))
        .filter_map(|condition| {
            let (r#type, message) = (at(condition, "type").as_str()?, at(condition, "message").as_str()?);
            Some(format!("{} - {message}", r#type))
        })
        .collect();
    Some(Health::new(code, messages.join("; ")))
}

fn compliance(object: &Value) -> crate::health::Code {
    if text(object, "status.compliant") == "Compliant" { Healthy } else { Degraded }
}

/// A replicated policy names its templates, a root policy the clusters it went to.
fn cluster_policy(object: &Value) -> Option<Health> {
    let (what, path, name) = if at(object, "status.status").is_array() {
        ("clusters", "status.status", "clustername")
    } else {
        ("templates", "status.details", "templateMeta.name")
    };
    let Some(entries) = at(object, path).as_array() else {
        return Some(Health::new(compliance(object), ""));
    };
    let is_offender = |entry: &&Value| text(entry, "compliant") != "Compliant";
    let offenders: Vec<&str> =
        entries.iter().filter(is_offender).filter_map(|entry| at(entry, name).as_str()).collect();
    let message = if offenders.is_empty() {
        format!("All {what} are compliant")
    } else {
        format!("NonCompliant {what}: {}", offenders.join(", "))
    };
    Some(Health::new(compliance(object), message))
}

fn kyverno(object: &Value) -> Option<Health> {
    conditions(object)
        .iter()
        .any(|condition| is_match("Ready=True/Succeeded", condition) && text(condition, "message") == "Ready")
        .then(|| Health::new(Healthy, "Policy is ready"))
}

fn iam_role(object: &Value) -> Option<Health> {
    if !matches!(
        text(object, "status.state"),
        "Error" | "RolesMaxLimitReached" | "PolicyNotAllowed" | "RoleNameNotAvailable"
    ) {
        return None;
    }
    let word = |path: &str| at(object, path).as_str().unwrap_or("<none>").to_owned();
    let retries = int(object, "status.retryCount");
    let retry = if retries > 0 { format!("(retry {retries}) ") } else { String::new() };
    let reason = at(object, "status.errorDescription")
        .as_str()
        .map(|error| format!(" Reconciliation error was: {error}"))
        .unwrap_or_default();
    let message = format!(
        "Failed to reconcile the Iamrole {retry}for role '{}' with ARN '{}' and ID '{}'.{reason}",
        word("status.roleName"),
        word("status.roleARN"),
        word("status.roleID")
    );
    Some(Health::new(Degraded, message))
}

/// The oldest deciding condition counts; conditions without a time come last.
fn keycloak(object: &Value) -> Option<Health> {
    if at(object, "status.conditions").is_null() {
        return Some(Health::new(Progressing, "Waiting for Keycloak status conditions to exist"));
    }
    let mut sorted: Vec<&Value> = conditions(object).iter().collect();
    sorted.sort_by_key(|condition| {
        let time = at(condition, "lastTransitionTime").as_str();
        (time.is_none(), time)
    });
    let deciding = sorted.into_iter().find(|condition| is_match("Ready|HasErrors=True", condition));
    Some(match deciding {
        Some(ready) if text(ready, "type") == "Ready" => Health::new(Healthy, ""),
        Some(failed) => Health::new(Degraded, format!("Has Errors: {}", text(failed, "message"))),
        None => Health::new(Progressing, ""),
    })
}

/// Whether a Keycloak has errors and is not ready, and does not say which.
fn has_unsaid_errors(object: &Value) -> bool {
    let holds = |pattern| conditions(object).iter().find(|condition| is_match(pattern, condition));
    holds("Ready=True").is_none() && holds("HasErrors=True").is_some_and(|errors| at(errors, "message").is_null())
}

/// Whether an installed operator waits for a person to approve its upgrade, which is no trouble.
fn awaits_approval(object: &Value) -> bool {
    text(object, "spec.installPlanApproval") == "Manual"
        && !at(object, "status.installedCSV").is_null()
        && conditions(object).iter().any(|condition| is_match("InstallPlanPending=True/RequiresApproval", condition))
}

fn subscription(object: &Value) -> Option<Health> {
    if at(object, "status.conditions").is_null() {
        return None;
    }
    let awaits_approval = awaits_approval(object);
    let mut message = String::new();
    let (mut is_pending, mut is_degraded) = (false, false);
    for (index, condition) in conditions(object).iter().enumerate() {
        if awaits_approval && is_match("InstallPlanPending", condition) {
            continue;
        }
        let (r#type, status) = (text(condition, "type"), text(condition, "status"));
        message = format!("{message}{}: {} | {status}\n", index + 1, r#type);
        is_pending |= is_match("InstallPlanPending=True", condition);
        is_degraded |= is_match("InstallPlanMissing=*/!ReferencedInstallPlanNotFound", condition)
            || is_match("CatalogSourcesUnhealthy|InstallPlanFailed|ResolutionFailed=True", condition);
    }
    let state = at(object, "status.state").as_str();
    message.push_str(&match state {
        None => ".status.state not yet known\n".to_owned(),
        Some("UpgradePending") if awaits_approval => {
            ".status.state is 'UpgradePending' (manual InstallPlan approval pending; treated as healthy)\n".to_owned()
        }
        Some(state) => format!(".status.state is '{state}'\n"),
    });
    is_degraded |= state == Some("UpgradeFailed");
    is_pending |= match state {
        None | Some("" | "UpgradeAvailable") => true,
        Some("UpgradePending") => !awaits_approval,
        Some(_) => false,
    };
    let code = if is_degraded {
        Degraded
    } else if is_pending {
        Progressing
    } else {
        Healthy
    };
    Some(Health::new(code, message))
}

fn sap_service(object: &Value) -> Option<Health> {
    at(object, "status.conditions").as_array()?;
    for condition in conditions(object) {
        let observed = at(condition, "observedGeneration");
        if !observed.is_null() && !at(object, "metadata.generation").is_null() && !is_observed(object, observed) {
            return Some(Health::new(Progressing, "Waiting for spec update to be observed"));
        }
        if is_match("Succeeded=False", condition) || is_match("Failed=True", condition) {
            return Some(Health::new(Degraded, text(condition, "message")));
        }
    }
    Some(Health::new(Healthy, "Ready to use"))
}
