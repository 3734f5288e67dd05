//! Brings desired and live objects into a form in which only meaningful differences are left.
//!
//! In:  one object, or a desired and a live object that belong together.
//! Out: the normalised object.
//! Invariant: the input is never changed; an object that cannot be normalised comes out as it went in.
//! Source: DIFF-054 to DIFF-067 (`gitops-engine/pkg/diff/diff.go` Normalize, `util/argo/normalizers`).

mod builtin;
mod known;
mod quantity;
mod remarshal;
mod scalar;
mod tracking;

use serde_json::Value;

use super::ignore::{Ignore, OwnRules};

#[cfg(test)]
pub use quantity::canonical as canonical_quantity;

pub(super) use builtin::secret;
pub use known::{KnownTypeField, KnownTypes};
pub use remarshal::{fits, numbers, remarshal};
pub use tracking::{TrackingRule, adopt_tracking};

/// What [`normalize`] applies, in this order: built-in rules, ignore rules, known types.
pub struct Normalizer {
    /// Rules that remove fields.
    pub ignore: Ignore,
    /// Fields of custom resources that hold built-in types.
    pub known: KnownTypes,
    /// Whether rules of aggregated roles are left out.
    pub ignore_aggregated_roles: bool,
}

impl Normalizer {
    /// Normalises one object; `own` are the rules that its desired side carries.
    pub fn normalize(&self, object: Value, own: &OwnRules) -> Value {
        let object = builtin::normalize(object, self.ignore_aggregated_roles);
        self.known.apply(self.ignore.apply_with(object, own))
    }
}

/// The part of normalisation that depends on the kind only; server-side diff applies it before it asks the server.
pub fn light(object: Value, ignore_aggregated_roles: bool) -> Value {
    builtin::normalize(object, ignore_aggregated_roles)
}
