//! Certificates and secrets: cert-manager, external-secrets, sealed-secrets, 1Password, GKE.

use serde_json::Value;

use super::Kinds;
use super::rule::{READY, Step::*, Test::*, nothing};
use crate::health::Code::{Degraded, Healthy, Progressing};
use crate::health::Health;
use crate::health::read::{list, text};

pub(super) const KINDS: Kinds = &[
    (
        "cert-manager.io/Certificate",
        &[Walk(&[("Issuing=True", Progressing, "{message}")]), READY, Else(Progressing, "Waiting for certificate")],
    ),
    ("cert-manager.io/Issuer", &[READY, Else(Progressing, "Initializing issuer")]),
    ("cert-manager.io/ClusterIssuer", &[READY, Else(Progressing, "Initializing ClusterIssuer")]),
    ("certmanager.k8s.io/Certificate", &[READY, Else(Progressing, "Waiting for certificate")]),
    ("certmanager.k8s.io/Issuer", &[READY, Else(Progressing, "Initializing issuer")]),
    ("external-secrets.io/ExternalSecret", &[READY, Else(Progressing, "Waiting for ExternalSecret")]),
    ("external-secrets.io/PushSecret", &[READY, Else(Progressing, "Waiting for PushSecret")]),
    ("external-secrets.io/SecretStore", &[READY, Else(Progressing, "Waiting for SecretStore")]),
    ("external-secrets.io/ClusterSecretStore", &[READY, Else(Progressing, "Waiting for ClusterSecretStore")]),
    (
        "external-secrets.io/ClusterExternalSecret",
        &[
            Fails(&[Empty("status.conditions")], nothing!(6, "type")),
            Walk(&[("Ready=True", Healthy, "{message}")]),
            Walk(&[("PartiallyReady|NotReady=True", Degraded, "{message}")]),
            Else(Progressing, "Waiting for ClusterExternalSecret"),
        ],
    ),
    (
        "bitnami.com/SealedSecret",
        &[
            Walk(&[("Synced=False", Degraded, "{message}"), ("Synced=True", Healthy, "{message}")]),
            Else(Progressing, "Waiting for Sealed Secret to be decrypted"),
        ],
    ),
    ("onepassword.com/OnePasswordItem", &[READY, Else(Progressing, "Waiting for controller to report status")]),
    (
        "kubernetes-client.io/ExternalSecret",
        &[
            Fails(&[Has("status"), Lacks("status.status")], nothing!(6, "find")),
            When(&[Is("status.status", "SUCCESS")], Healthy, "Fetched ExternalSecret."),
            By(fetch_error),
            Else(Progressing, "Waiting for ExternalSecret."),
        ],
    ),
    (
        "networking.gke.io/ManagedCertificate",
        &[
            By(invisible_domain),
            When(&[Is("status.certificateStatus", "Active")], Healthy, "All certificates are active"),
            Else(Progressing, "At least one certificate is still being provisioned"),
        ],
    ),
];

fn fetch_error(object: &Value) -> Option<Health> {
    let status = text(object, "status.status");
    status.starts_with("ERROR").then(|| Health::new(Degraded, status.replace("ERROR, ", "")))
}

fn invisible_domain(object: &Value) -> Option<Health> {
    let is_invisible = |domain: &Value| text(domain, "status") == "FailedNotVisible";
    list(object, "status.domainStatus")
        .iter()
        .any(is_invisible)
        .then(|| Health::new(Degraded, "At least one certificate has failed to be provisioned"))
}
