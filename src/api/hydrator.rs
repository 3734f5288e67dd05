//! Status of the source hydrator, kept as it is found.
//!
//! In:  `status.sourceHydrator` of an Application that names dry and hydrated sources.
//! Out: its shape, for the CRD; no part of litecd writes it.
//! Invariant: the phase is one of three words; anything else is refused by the API server.
//! Source: APP-270 (`pkg/apis/application/v1alpha1/types.go` `SourceHydratorStatus`).

use super::application::SourceHydrator;
use super::schema::one_of;
use super::status::Time;
use super::wire::wire;

wire! {
    /// Status of the source hydrator.
    pub struct SourceHydratorStatus {
        /// Last hydration that succeeded.
        last_successful_operation: Option<SuccessfulHydrateOperation> = "lastSuccessfulOperation";
        /// Running or last hydration.
        current_operation: Option<HydrateOperation> = "currentOperation";
        /// Dry revision that was compared last.
        last_compared_dry_revision: String = "lastComparedDryRevision";
    }

    /// A running or finished hydration.
    pub struct HydrateOperation {
        /// When it started.
        started_at: Option<Time> = "startedAt";
        /// When it ended.
        finished_at: Option<Time> = "finishedAt";
        /// `Hydrating`, `Failed` or `Hydrated`.
        phase: String = "phase" required => || one_of(&["Hydrating", "Failed", "Hydrated"]);
        /// Text for people.
        message: String = "message" required;
        /// Commit that was hydrated.
        dry_sha: String = "drySHA";
        /// Commit that holds the result.
        hydrated_sha: String = "hydratedSHA";
        /// Settings that were used.
        source_hydrator: SourceHydrator = "sourceHydrator" always;
    }

    /// A hydration that succeeded.
    pub struct SuccessfulHydrateOperation {
        /// Commit that was hydrated.
        dry_sha: String = "drySHA";
        /// Commit that holds the result.
        hydrated_sha: String = "hydratedSHA";
        /// Settings that were used.
        source_hydrator: SourceHydrator = "sourceHydrator" always;
    }
}
