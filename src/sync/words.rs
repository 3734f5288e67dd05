//! The closed sets of words an operation is described with, and how they are stored.
//!
//! In:  stored text. Out: an enum, or `None` for a word that does not belong to the set.
//! Invariant: `as_str` is the exact stored spelling.
//! Source: SYNC-004, SYNC-030, SYNC-126 (`gitops-engine/pkg/sync/common/types.go`).

/// Phase of an operation, or of one object in it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum OperationPhase {
    /// Not ended yet.
    Running,
    /// Asked to end early.
    Terminating,
    /// Ended without success.
    Failed,
    /// Could not be carried out.
    Error,
    /// Ended with success.
    Succeeded,
}

impl OperationPhase {
    /// The stored spelling.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Running => "Running",
            Self::Terminating => "Terminating",
            Self::Failed => "Failed",
            Self::Error => "Error",
            Self::Succeeded => "Succeeded",
        }
    }
    /// Reads the stored spelling.
    pub fn parse(text: &str) -> Option<Self> {
        [Self::Running, Self::Terminating, Self::Failed, Self::Error, Self::Succeeded]
            .into_iter()
            .find(|phase| phase.as_str() == text)
    }
    /// Whether nothing more will happen.
    pub fn is_completed(self) -> bool {
        matches!(self, Self::Failed | Self::Error | Self::Succeeded)
    }
}

/// What became of one object.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ResultCode {
    /// Applied.
    Synced,
    /// Not applied, or found missing.
    SyncFailed,
    /// Deleted.
    Pruned,
    /// Would have been deleted.
    PruneSkipped,
}

impl ResultCode {
    /// The stored spelling.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Synced => "Synced",
            Self::SyncFailed => "SyncFailed",
            Self::Pruned => "Pruned",
            Self::PruneSkipped => "PruneSkipped",
        }
    }
    /// Reads the stored spelling.
    pub fn parse(text: &str) -> Option<Self> {
        [Self::Synced, Self::SyncFailed, Self::Pruned, Self::PruneSkipped]
            .into_iter()
            .find(|code| code.as_str() == text)
    }
    /// The object's phase right after the step that produced this code (SYNC-127).
    pub(super) fn phase(self) -> OperationPhase {
        match self {
            Self::Synced => OperationPhase::Running,
            Self::SyncFailed => OperationPhase::Failed,
            Self::Pruned | Self::PruneSkipped => OperationPhase::Succeeded,
        }
    }
}

/// When in a sync an object's turn comes; the order of the variants is the order of the phases (SYNC-030).
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum SyncPhase {
    /// Before the application's own objects.
    PreSync,
    /// The application's own objects, and hooks beside them.
    Sync,
    /// After all of them are healthy.
    PostSync,
    /// Only when the sync failed.
    SyncFail,
}

impl SyncPhase {
    /// The stored spelling.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::PreSync => "PreSync",
            Self::Sync => "Sync",
            Self::PostSync => "PostSync",
            Self::SyncFail => "SyncFail",
        }
    }
}
