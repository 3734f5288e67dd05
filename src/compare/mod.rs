//! Desired state against live state: which objects belong together, and what the pairs say about the application.
//!
//! In:  rendered manifests, live objects, and what the settings and the project say about both.
//! Out: a [`Comparison`]: sync status, one entry per object, conditions, and the pairs that a sync works on.
//! Invariant: when either side could not be loaded every status is `Unknown`, and nothing may be pruned on it.
//! Source: APP-075 to APP-098, DIFF-001 to DIFF-031 (`controller/state.go` `CompareAppState`).

mod assess;
mod pair;
pub mod paths;
mod targets;
mod when;

pub use assess::{Assessment, Inputs, assess, namespace_metadata_changed};
pub use pair::{Pair, Paired, managed_namespace, namespace_manifest, pair};
pub use targets::{Context, Normalized, normalize, split_delete_hooks};
pub use when::{Due, Level, Periods, due, remaining};

use crate::api::GroupKind;

#[cfg(test)]
mod tests;

/// Whether a kind is namespaced; `None` when the cluster does not know the kind.
pub type Namespaced<'a> = &'a dyn Fn(&GroupKind) -> Option<bool>;
