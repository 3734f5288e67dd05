//! Takes away what a case left behind.
//!
//! In:  the case that ran.  Out: a cluster as before it, but for argocd-cm, which the next case sets.
//! Invariant: nothing is waited for that a controller under test would have to do; finalizers are removed by hand.

use std::collections::BTreeSet;

use anyhow::Result;
use serde_json::{Value, json};

use crate::api::{self, ARGOCD, Kind, Patch};
use crate::case::Reference;
use crate::run::{Run, name_of};

/// Kinds that go with their namespace without help.
const GO_BY_THEMSELVES: [&str; 6] = ["Event", "Pod", "Endpoints", "EndpointSlice", "ReplicaSet", "Lease"];

impl Run<'_> {
    /// Removes Applications and what else the case made.
    pub(crate) async fn cleanup(&mut self) -> Result<()> {
        let case = self.case;
        for name in ["ApplicationSet", "Application", "AppProject"] {
            let kind = self.cluster.kind(name, Some("argoproj.io")).await?;
            for namespace in std::iter::once(ARGOCD).chain(case.spec.app_namespaces.iter().map(String::as_str)) {
                for object in self.cluster.list(&kind, Some(namespace)).await? {
                    if !(name == "AppProject" && name_of(&object) == "default") {
                        self.remove(&object).await?;
                    }
                }
            }
        }
        let secrets = self.cluster.kind("Secret", None).await?;
        for secret in self.cluster.list(&secrets, Some(ARGOCD)).await? {
            if !matches!(name_of(&secret), "argocd-secret" | "argocd-redis") {
                self.cluster.delete(&Reference::to(&secret)?, "background").await?;
            }
        }
        for document in case.documents(&case.spec.cluster)? {
            self.cluster.delete(&Reference::to(&document)?, "background").await?;
        }
        for reference in &case.spec.cluster_objects {
            self.cluster.delete(reference, "background").await?;
        }
        self.remove_namespaces().await?;
        let events = self.cluster.kind("Event", Some("")).await?;
        self.cluster.call(http::Method::DELETE, &events.path(Some(ARGOCD), None), None).await?;
        Ok(())
    }

    async fn remove(&mut self, object: &Value) -> Result<()> {
        let place = Reference::to(object)?;
        if object.pointer("/metadata/finalizers").is_some() {
            self.free(&place).await?;
        }
        match self.cluster.delete(&place, "background").await {
            Err(error) if api::code(&error) != 409 => Err(error),
            _ => Ok(()),
        }
    }

    /// Removes an object's finalizers; it may be gone already.
    async fn free(&mut self, place: &Reference) -> Result<()> {
        let body = json!({"metadata": {"finalizers": null}});
        match self.cluster.patch(place, Patch::merge(&body)).await {
            Err(error) if ![404, 409].contains(&api::code(&error)) => Err(error),
            _ => Ok(()),
        }
    }

    async fn remove_namespaces(&mut self) -> Result<()> {
        let spec = &self.case.spec;
        let all = spec.namespaces.iter().chain(&spec.create_namespaces).chain(&spec.app_namespaces);
        let all: BTreeSet<String> =
            all.filter(|name| !["default", "kube-system", ARGOCD].contains(&name.as_str())).cloned().collect();
        let kinds: Vec<Kind> = self.cluster.kinds().to_vec();
        for namespace in &all {
            for kind in kinds.iter().filter(|kind| kind.namespaced && kind.listable) {
                if GO_BY_THEMSELVES.contains(&kind.kind.as_str()) {
                    continue;
                }
                for object in self.cluster.list(kind, Some(namespace)).await.unwrap_or_default() {
                    if object.pointer("/metadata/finalizers").is_some() {
                        // Some objects refuse; what then keeps the namespace shows below.
                        let _ = self.free(&Reference::to(&object)?).await;
                    }
                }
            }
            self.cluster.delete(&Reference::new("Namespace", None, namespace), "background").await?;
        }
        for namespace in &all {
            if !self.gone(&Reference::new("Namespace", None, namespace), 60.0).await? {
                self.notes.push(format!("namespace {namespace} was still there after a minute"));
            }
        }
        Ok(())
    }
}
