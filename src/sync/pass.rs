//! One pass over a running operation, as a state machine that the caller drives.
//!
//! In:  [`Input`]: the operation, its state so far, the comparison; then answers to the actions asked for.
//! Out: groups of [`Action`]s, and at last one [`OperationUpdate`].
//! Invariant: the same input and the same answers give the same actions and the same update; nothing is remembered
//! between passes but what the update stores.
//! Source: SYNC-001, SYNC-020 to SYNC-028, SYNC-039 to SYNC-044 (`gitops-engine/pkg/sync/sync_context.go`).
//!
//! The steps are written as straight-line code that suspends wherever it needs an answer: the compiler builds the
//! state machine from it. No runtime is involved; [`Pass::next`] polls the code once per group.

use std::future::Future;
use std::pin::Pin;
use std::task::{Context, Poll, Waker};
use std::time::Duration;

use jiff::Timestamp;
use serde_json::Value;

use super::engine::Engine;
use super::io::{Action, Answer, Mailbox, Scope};
use super::prune_guard::PruneGuard;
use super::words::OperationPhase;
use crate::api::ApplicationSpec;
use crate::api::application::ManagedNamespaceMetadata;
use crate::api::operation::{OperationState, ResourceResult, SyncOperation};
use crate::api::status::Time;

/// Health of one object: a code such as `Healthy`, and a text.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Health {
    /// Health code.
    pub status: String,
    /// Text for people, may be empty.
    pub message: String,
}

/// Health of a live object; `Ok(None)` when its kind has no health check.
pub type HealthOf<'a> = &'a dyn Fn(&Value) -> Result<Option<Health>, String>;
/// Whether the project permits an object of that scope; the error is the text to show (SYNC-215).
pub type PermitOf<'a> = &'a dyn Fn(&Value, Scope) -> Result<(), String>;

/// One compared object.
#[derive(Debug, Clone, PartialEq)]
pub struct Resource {
    /// The wanted object; none when it left the sources.
    pub target: Option<Value>,
    /// The object in the cluster, in the target's version, with `managedFields`.
    pub live: Option<Value>,
    /// Whether the comparison found a difference.
    pub modified: bool,
    /// Whether the live object is not merely a copy that carries another object's tracking id (SYNC-028); true when
    /// there is no live object.
    pub self_referenced: bool,
}

/// Everything one pass needs to know.
pub struct Input<'a> {
    /// What to do; see [`super::lifecycle::Attempt::operation`].
    pub operation: &'a SyncOperation,
    /// How far it has come; the results so far are in its `syncResult.resources`.
    pub state: &'a OperationState,
    /// Compared objects, without hook targets; live hooks are among them, as objects without a target.
    pub resources: Vec<Resource>,
    /// Hook targets.
    pub hooks: Vec<Value>,
    /// `spec.destination.namespace`.
    pub namespace: &'a str,
    /// Metadata of the destination namespace, when the spec manages it.
    pub managed_namespace_metadata: Option<&'a ManagedNamespaceMetadata>,
    /// Resolved revision of a single source; empty for several (SYNC-173).
    pub revision: &'a str,
    /// What the operation may not prune.
    pub prune_guard: PruneGuard,
    /// The Application's `deletion-approved` time.
    pub deletion_approved: Option<Time>,
    /// Field manager whose fields a first server-side apply takes over; `None` means kubectl's (SYNC-206).
    pub migration_manager: Option<&'a str>,
    /// The time of this pass.
    pub now: Timestamp,
    /// Pause between waves.
    pub wave_delay: Duration,
    /// Health of live objects.
    pub health: HealthOf<'a>,
    /// What the project permits.
    pub permit: PermitOf<'a>,
}

/// What a pass wants next.
#[derive(Debug, Clone, PartialEq)]
pub enum Next {
    /// Carry these out, in any order or at once, and answer in this order.
    Do(Vec<Action>),
    /// The pass is over.
    Done(OperationUpdate),
}

/// The operation after a pass.
#[derive(Debug, Clone, PartialEq)]
pub struct OperationUpdate {
    /// Phase of the operation.
    pub phase: OperationPhase,
    /// Message of the operation.
    pub message: String,
    /// All results, in stored order; their messages are not augmented yet (SYNC-131).
    pub resources: Vec<ResourceResult>,
}

impl OperationUpdate {
    /// Writes the update into the state (SYNC-017).
    pub fn store(self, state: &mut OperationState, spec: &ApplicationSpec) {
        self.phase.as_str().clone_into(&mut state.phase);
        state.message = self.message;
        let result = state.sync_result.get_or_insert_default();
        result.resources = self.resources;
        if let Some(policy) = &spec.sync_policy {
            result.managed_namespace_metadata = policy.managed_namespace_metadata.clone();
        }
    }
}

type Steps<'a> = Pin<Box<dyn Future<Output = OperationUpdate> + 'a>>;

/// A pass under way.
pub struct Pass<'a> {
    mailbox: Mailbox,
    progress: Progress<'a>,
}

enum Progress<'a> {
    Running(Steps<'a>),
    Ended(OperationUpdate),
}

impl<'a> Pass<'a> {
    /// Prepares a pass; nothing happens before the first [`Pass::next`]. A state in phase `Terminating` is terminated,
    /// any other is synced (SYNC-241).
    pub fn new(input: Input<'a>) -> Self {
        let mailbox = Mailbox::default();
        let terminating = input.state.phase == OperationPhase::Terminating.as_str();
        let mut engine = Engine::new(input, mailbox.clone());
        let steps = async move {
            if terminating {
                engine.terminate().await;
            } else {
                engine.sync().await;
            }
            engine.into_update()
        };
        Self { mailbox, progress: Progress::Running(Box::pin(steps)) }
    }

    /// Hands in the answers to the last group (none at first) and goes on to the next group or the end.
    pub fn next(&mut self, answers: Vec<Answer>) -> Next {
        let steps = match &mut self.progress {
            Progress::Ended(update) => return Next::Done(update.clone()),
            Progress::Running(steps) => steps,
        };
        self.mailbox.deliver(answers);
        match steps.as_mut().poll(&mut Context::from_waker(Waker::noop())) {
            Poll::Pending => Next::Do(self.mailbox.take_actions()),
            Poll::Ready(update) => {
                self.progress = Progress::Ended(update.clone());
                Next::Done(update)
            }
        }
    }
}
