//! Compares desired with live objects, and makes the patches that bring live objects to the desired state.
//!
//! In:  a desired and a live object, rules of the application and of `argocd-cm`.
//! Out: whether they differ, with both sides normalised; patches for client-side apply.
//! Invariant: no input is changed and nothing is kept between comparisons; a comparison that fails says so and is
//! never taken for "equal".
//! Source: DIFF-033 to DIFF-088, SYNC-142, SYNC-210 (`gitops-engine/pkg/diff`, `util/argo/diff`).

mod apply;
mod compare;
mod defaults;
pub mod fields;
mod foreign;
mod ignore;
mod jq;
mod jsonmerge;
mod mask;
mod normalize;
mod respect;
mod schema;
mod smd;
mod strategic;
mod system;
mod threeway;

#[cfg(test)]
mod tests;

use serde_json::{Map, Value};

use crate::api::object::{GroupVersionKind, ObjectExt};

pub use apply::{Patch, PatchKind, client_side_patch, with_last_applied};
pub use compare::{Comparer, Dropped, DryRun, Settings, Webhooks};
pub use foreign::kept_data;
pub use ignore::{Ignore, IgnoreRules, StartTimer};
pub use jsonmerge::{create_merge_patch, merge_patch};
pub use mask::{MaskError, mask_secret};
pub use normalize::{KnownTypeField, TrackingRule};
pub use respect::respect_ignored;
pub use system::{StatusField, SystemRules};

/// What a comparison found.
#[derive(Debug, Clone, PartialEq)]
pub struct Difference {
    /// Whether the sides differ.
    pub modified: bool,
    /// The live object, normalised; null when there is none.
    pub live: Value,
    /// What the live object would be after applying the desired one; null when nothing is desired.
    pub predicted: Value,
}

impl Difference {
    /// No difference, of an object that is as it should be.
    pub fn none(live: &Value) -> Self {
        Self { modified: false, live: live.clone(), predicted: live.clone() }
    }

    fn between(live: Value, predicted: Value) -> Self {
        Self { modified: live != predicted, live, predicted }
    }
}

/// Why a comparison or a patch could not be made. Each fails the whole comparison of an application (DIFF-010).
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// A jq expression of a rule does not compile (DIFF-079).
    #[error("failed to create diff normalizer: {0}")]
    Expression(#[from] jq::CompileError),
    /// Neither a desired nor a live object was given (DIFF-043).
    #[error("failed to calculate diff: both live and config are null objects")]
    Nothing,
    /// The predicted object could not be computed.
    #[error("failed to calculate diff: {0}")]
    ThreeWay(#[from] threeway::Error),
    /// The object does not fit its type (DIFF-046).
    #[error("failed to calculate diff: error calculating structured merge diff: {0}")]
    StructuredMerge(#[from] smd::Error),
    /// The API server refused the dry run, or could not be asked (DIFF-051). The caller brings the server's text.
    #[error(
        "failed to calculate diff: error calculating server side diff: serverSideDiff error: error running server side \
         apply in dryrun mode for resource {kind}/{name}: {text}"
    )]
    DryRun {
        /// Kind of the object.
        kind: String,
        /// Name of the object.
        name: String,
        /// What the server said.
        text: String,
    },
    /// The dry run's answer does not tell who owns what (DIFF-051).
    #[error("failed to calculate diff: error calculating server side diff: serverSideDiff error: {0}")]
    ServerSide(#[from] smd::WebhookError),
    /// A strategic merge patch could not be made or applied.
    #[error(transparent)]
    Strategic(#[from] strategic::Error),
    /// A JSON merge patch could not be made.
    #[error(transparent)]
    Json(#[from] jsonmerge::Error),
    /// The desired object is another one than the live object.
    #[error("At least one of apiVersion, kind and name was changed")]
    IdentityChanged,
    /// An object is no JSON object.
    #[error("expected an object")]
    NotAnObject,
}

/// Applies a strategic merge patch to an object of a built-in kind, and a JSON merge patch to any other.
pub fn apply_strategic(original: &Value, patch: &Value, gvk: &GroupVersionKind) -> Result<Value, Error> {
    let Some(entry) = schema::builtin(gvk) else { return Ok(merge_patch(original, patch)) };
    Ok(strategic::apply(object(original)?, object(patch)?, entry.root)?.into())
}

fn object(value: &Value) -> Result<Map<String, Value>, Error> {
    value.as_object().cloned().ok_or(Error::NotAnObject)
}

/// Whether `argocd.argoproj.io/sync-options` of the object contains the option.
fn has_sync_option(object: &Value, option: &str) -> bool {
    object.has_annotation_option(crate::api::names::SYNC_OPTIONS, option)
}
