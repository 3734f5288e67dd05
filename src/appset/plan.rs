//! Which Applications of a set are created, changed and deleted.
//!
//! In:  the valid generated Applications, all that were generated, the stored ones, policy and rules.
//! Out: one change per Application, creations and updates by name first, then deletions by name.
//! Invariant: an Application is deleted only when every generator answered and none of them made it; the status and
//! what others wrote beside the generated fields is never part of a patch.
//! Source: SET-083 to SET-094 (`applicationset/controllers/applicationset_controller.go` `createOrUpdateInCluster`,
//! `deleteInCluster`; `applicationset/utils/createOrUpdate.go`).

use serde_json::Value;

/// One write.
#[derive(Debug, Clone, PartialEq)]
pub enum Change {
    /// Create this object.
    Create {
        /// Its name.
        name: String,
        /// The whole object.
        object: Value,
    },
    /// Patch the Application.
    Update {
        /// Its name.
        name: String,
        /// The patch.
        patch: Patch,
    },
    /// Delete the Application in the background; an absent one is no error.
    Delete {
        /// Its name.
        name: String,
        /// Only the object with this uid is meant.
        uid: String,
        /// Finalizers to leave it before it is deleted: its destination is no cluster that is known, so the cascade
        /// would never end.
        finalizers: Option<Vec<String>>,
    },
    /// Nothing is written: the Application belongs to somebody else.
    Refused {
        /// Its name.
        name: String,
        /// What the condition says.
        message: String,
    },
}

/// How an Application is changed.
#[derive(Debug, Clone, PartialEq)]
pub enum Patch {
    /// JSON merge patch.
    Merge(Value),
    /// JSON patch: a merge patch cannot say that a field shall be null, as Helm values may.
    Json(Value),
}

impl Change {
    /// Name of the Application.
    pub fn name(&self) -> &str {
        match self {
            Self::Create { name, .. } | Self::Update { name, .. } => name,
            Self::Delete { name, .. } | Self::Refused { name, .. } => name,
        }
    }
}
