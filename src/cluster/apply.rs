//! Applies one manifest as Argo CD's sync does, by whichever way the options choose.
//!
//! In:  the manifest, the live object it was compared with, the options.
//! Out: the message for the sync result and the object as the server left it.
//! Invariant: a client-side dry run sends nothing but reads.
//! Source: SYNC-082, SYNC-140 to SYNC-152, SYNC-199 to SYNC-207 (`sync_context.go` `applyObject`,
//! `resource_ops.go`). `Validate` has no field here: with servers that validate fields themselves (all supported ones)
//! kubectl's own check is skipped and no parameter is sent (SYNC-153), so the option changes nothing.

use std::time::Duration;

use serde_json::Value;
use tokio::time::Instant;

use super::manifest::Manifest;
use super::patch::DRY_RUN_ALL;
use super::text::{self, Output};
use super::{Cluster, Error};
use crate::api::ObjectExt;
use crate::guard::Permit;

/// How long a new CRD is waited for, and how often it is looked at (SYNC-082).
const CRD_PATIENCE: Duration = Duration::from_secs(3);
const CRD_PAUSE: Duration = Duration::from_millis(100);

/// Whether anything is written.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum DryRun {
    /// It is.
    #[default]
    None,
    /// Nothing is sent; the outcome is worked out here.
    Client,
    /// The server works the outcome out and persists nothing.
    Server,
}

impl DryRun {
    /// What kubectl prints behind the verb.
    fn suffix(self) -> &'static str {
        match self {
            Self::None => "",
            Self::Client => " (dry run)",
            Self::Server => " (server dry run)",
        }
    }

    /// The `dryRun` parameter.
    pub(super) fn parameter(self) -> &'static str {
        if self == Self::Server { DRY_RUN_ALL } else { "" }
    }
}

/// What to apply, and how.
#[derive(Debug, Clone, Copy)]
pub struct Apply<'a> {
    /// The manifest, with the destination namespace filled in.
    pub object: &'a Value,
    /// The live object of the comparison, if there was one; only `replace` looks at it.
    pub live: Option<&'a Value>,
    /// Whether to write.
    pub dry_run: DryRun,
    /// Let the server merge (SYNC-205); conflicts are always forced.
    pub server_side: bool,
    /// Delete and create where a patch is refused, or always with `replace` (SYNC-201).
    pub force: bool,
    /// Put the whole manifest in place of the object (SYNC-199); wins over `server_side`.
    pub replace: bool,
    /// Field manager of applies; other ways record Argo CD's binary name (SYNC-144).
    pub manager: &'a str,
}

/// What came of it.
#[derive(Debug, Clone, PartialEq)]
pub struct Applied {
    /// kubectl's text, such as `deployment.apps/web configured`.
    pub message: String,
    /// The object as the server answered it; `None` in client dry runs.
    pub object: Option<Value>,
}

/// Why it failed.
#[derive(Debug, thiserror::Error)]
#[error("{text}")]
pub struct ApplyError {
    /// The message for the sync result.
    pub text: String,
    /// The request that failed, where one did.
    #[source]
    pub cause: Option<Box<Error>>,
}

impl ApplyError {
    pub(super) fn new(text: String, cause: Error) -> Self {
        Self { text, cause: Some(Box::new(cause)) }
    }

    /// Nothing was sent.
    pub(super) fn refused(text: String) -> Self {
        Self { text, cause: None }
    }
}

/// An error that kubectl hands on without naming a file.
impl From<Error> for ApplyError {
    fn from(error: Error) -> Self {
        Self::new(text::clean(&error.to_string()), error)
    }
}

/// Everything one apply works with.
pub(super) struct Work<'a> {
    pub cluster: &'a Cluster,
    pub permit: Permit,
    pub ask: &'a Apply<'a>,
    pub manifest: Manifest,
    pub output: Output,
}

impl Work<'_> {
    /// Prints the verb for the object and ends the work.
    pub fn done(mut self, verb: &str, object: Value) -> Applied {
        self.output.print(&object, &format!("{verb}{}", self.ask.dry_run.suffix()));
        let object = (self.ask.dry_run != DryRun::Client).then_some(object);
        Applied { message: self.output.message(), object }
    }
}

impl Cluster {
    /// Applies the manifest. After a CRD, waits a moment for it to be established and forgets discovery.
    pub async fn apply(&self, permit: Permit, ask: &Apply<'_>) -> Result<Applied, ApplyError> {
        let applied = if ask.replace {
            self.apply_by_replacing(permit, ask).await?
        } else {
            self.apply_by_merging(permit, ask).await?
        };
        if ask.dry_run == DryRun::None {
            self.follow_up(ask.object).await;
        }
        Ok(applied)
    }

    pub(super) async fn work<'a>(&'a self, permit: Permit, ask: &'a Apply<'a>) -> Result<Work<'a>, ApplyError> {
        let manifest = self.read_manifest(ask.object).await?;
        Ok(Work { cluster: self, permit, ask, manifest, output: Output::default() })
    }

    async fn apply_by_merging(&self, permit: Permit, ask: &Apply<'_>) -> Result<Applied, ApplyError> {
        let reconciled = if !ask.server_side && ask.object.api_version() == "rbac.authorization.k8s.io/v1" {
            self.reconcile_rbac(permit, ask).await.map_err(|error| ApplyError {
                text: format!("error running kubectl auth reconcile: {}", error.text),
                cause: error.cause,
            })?
        } else {
            String::new()
        };
        if let Some(conflict) = incompatible(ask) {
            return Err(ApplyError::refused(format!("error validating options: {conflict}")));
        }
        let mut work = self.work(permit, ask).await?;
        // Argo CD writes the first command's message into the second one's output, without a separator (SYNC-150).
        work.output.stdout = reconciled;
        let object = &work.manifest.object;
        let generate_name = object.meta_str("generateName");
        if object.name().is_empty() && !generate_name.is_empty() {
            return Err(ApplyError::refused(format!("from {generate_name}: cannot use generate name with apply")));
        }
        if ask.server_side { work.server_side().await } else { work.client_side().await }
    }

    async fn follow_up(&self, applied: &Value) {
        match (applied.group(), applied.kind()) {
            ("apiextensions.k8s.io", "CustomResourceDefinition") => {
                self.await_established(applied).await;
                self.forget_discovery();
            }
            ("apiregistration.k8s.io", "APIService") => self.forget_discovery(),
            _ => {}
        }
    }

    /// Looks at the CRD until its names are served; running out of patience is not an error (SYNC-082).
    async fn await_established(&self, crd: &Value) {
        let Ok(manifest) = self.read_manifest(crd).await else { return };
        let started = Instant::now();
        while started.elapsed() < CRD_PATIENCE {
            match self.fetch(&manifest.target()).await {
                Ok(live) if is_established(&live) => return,
                Ok(_) => tokio::time::sleep(CRD_PAUSE).await,
                Err(error) => {
                    tracing::error!(name = crd.name(), error = %error, "failed to ensure that CRD is ready");
                    return;
                }
            }
        }
        tracing::error!(name = crd.name(), "CRD is not established yet");
    }
}

/// Combinations kubectl refuses (SYNC-204).
fn incompatible(ask: &Apply<'_>) -> Option<&'static str> {
    match (ask.dry_run, ask.server_side, ask.force) {
        (DryRun::Client, true, _) => {
            Some("--dry-run=client doesn't work with --server-side (did you mean --dry-run=server instead?)")
        }
        (_, true, true) => Some("--force cannot be used with --server-side"),
        (DryRun::Server, _, true) => Some("--dry-run=server cannot be used with --force"),
        _ => None,
    }
}

fn is_established(crd: &Value) -> bool {
    let conditions = crd.pointer("/status/conditions").and_then(Value::as_array);
    conditions.into_iter().flatten().any(|condition| {
        let text = |field| condition.get(field).and_then(Value::as_str);
        text("type") == Some("Established") && text("status") == Some("True")
    })
}
