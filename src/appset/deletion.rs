//! What happens to the Applications of a set that is being deleted.
//!
//! In:  the set, its stored Applications, policy, the time.
//! Out: the next step.
//! Invariant: the set's finalizer goes last, and an Application that may not be deleted has lost its owner before.
//! Source: SET-095, SET-132 (`applicationset/controllers/applicationset_controller.go`,
//! `applicationset/progressivesync/progressive_sync.go` `PerformReverseDeletion`).

use jiff::SignedDuration;

/// What comes next in the deletion of a set.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Step {
    /// Take all owner references from these Applications, then ask again.
    Disown(Vec<String>),
    /// Delete this Application, then ask again after [`WAIT`].
    Delete {
        /// Its name.
        name: String,
        /// Only the object with this uid is meant.
        uid: String,
    },
    /// An Application is on its way out: ask again after [`WAIT`].
    Wait,
    /// An Application has been on its way out for more than [`PATIENCE`]: read it from the API server; when it is gone,
    /// ask again without it, else retry later with this error.
    Stuck {
        /// Its name.
        name: String,
        /// Text for the log.
        error: String,
    },
    /// Take `resources-finalizer.argocd.argoproj.io` from the set.
    Release,
}

/// Time between looks while Applications go one after the other.
pub const WAIT: SignedDuration = SignedDuration::from_secs(10);

/// How long an Application may take to go.
pub const PATIENCE: SignedDuration = SignedDuration::from_mins(2);
