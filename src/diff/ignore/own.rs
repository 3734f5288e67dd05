//! The ignore rules that an object carries itself.
//!
//! In:  the desired object's annotation `argocd.argoproj.io/ignore-differences-json-pointers`.
//! Out: JSON pointers that are left out of this object's comparison, on both sides.
//! Invariant: the live object's annotation is not asked, lest whoever may edit it could hide what was changed.
//! Source: Argo CD after v3.5 (`docs/user-guide/annotations-and-labels.md`, `docs/user-guide/sync-options.md`): the
//! rules are merged with the application's; expressions and field managers cannot be named this way.

use serde_json::Value;

use crate::api::names::IGNORE_JSON_POINTERS;
use crate::api::object::ObjectExt;

/// Rules of one object.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct OwnRules(Vec<String>);

impl OwnRules {
    /// The rules of a desired object: a comma-separated list.
    pub fn of(target: &Value) -> Self {
        let list = target.annotation(IGNORE_JSON_POINTERS).unwrap_or_default();
        Self(list.split(',').map(str::trim).filter(|pointer| !pointer.is_empty()).map(str::to_owned).collect())
    }

    /// The pointers, in the order in which they apply.
    pub fn pointers(&self) -> &[String] {
        &self.0
    }
}
