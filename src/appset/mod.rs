//! Everything that the controller of ApplicationSets decides.
//!
//! In:  a set, the controller's options, what is known of the cluster, answers to the generators' questions, the
//! stored Applications, the time.
//! Out: questions that are still open; the Applications that shall be; writes; the set's status.
//! Invariant: nothing is written on half an expansion: a question without an answer, a generator that fails and a
//! generator that is not known stop the whole set before any change.
//! Source: SET-001 to SET-144 (`applicationset/`).
//!
//! A pass over a set, as its caller runs it:
//!
//! 1. A set that is being deleted: `deletion::step(&set, &options, &live, now) -> deletion::Step`, until it says
//!    `Release`.
//! 2. `expand(&set, &options, &world, &answers) -> Expansion`: asked again with more answers while it needs some.
//!    A failure goes to `failed(&set, &failure, now) -> ApplicationSetStatus`, and the set is looked at again after
//!    `RETRY`.
//! 3. `pass(&set, &options, &world, applications, &live, timer, now) -> Result<Pass, String>`: validation, rolling
//!    sync and writes. Its `status` may be stored at once.
//! 4. After the writes `conclude(&set, &options, &pass, &live_after, write_error, now) -> ApplicationSetStatus`.
//! 5. `requeue_after(&set, &options, &pass)` says when the set is looked at again without an event;
//!    `triggers::set_changed(old, new, options)` and `triggers::application_changed(old, new, options)` which events
//!    count.

pub mod deletion;
mod expand;
mod generators;
pub mod globs;
mod interpolate;
pub mod live;
mod names;
pub mod options;
mod params;
mod pass;
pub mod plan;
pub mod query;
mod render;
pub mod rollout;
mod selector;
mod slug;
pub mod status;
mod text;
pub mod triggers;
mod validate;
mod yaml;

use std::collections::BTreeMap;

use crate::api::Application;
use crate::api::appset::ApplicationSetStatus;

pub use expand::expand;
pub use live::{Live, Observed};
pub use options::{Options, Policy, World};
pub use pass::{RETRY, pass, requeue_after};
pub use plan::{Change, Patch};
pub use query::{Answer, Answers, Globbing, PluginQuery, PullRequest, Query, QueryError, Repository, Stage};
pub use status::{conclude, failed};

/// What the generators of a set make of what is known.
#[derive(Debug, Clone, PartialEq)]
pub enum Expansion {
    /// These questions must be answered first; others may follow from the answers.
    Needs(Vec<Query>),
    /// The Applications that shall be, in the order of the generators.
    Done(Vec<Application>),
    /// Nothing may be concluded.
    Failed(Failure),
}

/// Why a set has no Applications to go by.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Failure {
    /// Reason of the condition `ErrorOccurred`.
    pub reason: &'static str,
    /// Its message.
    pub message: String,
}

/// What a pass over an expanded set decided.
#[derive(Debug, Clone, PartialEq)]
pub struct Pass {
    /// The set's status before anything is written: rolling sync and validation are in it.
    pub status: ApplicationSetStatus,
    /// The writes, in their order. One that fails does not stop the others.
    pub changes: Vec<Change>,
    /// What is wrong with which generated Application; these are neither created nor changed nor deleted.
    pub invalid: BTreeMap<String, String>,
}

/// The first write, in the order of names, that did not succeed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct WriteError {
    /// Which kind of write.
    pub stage: WriteStage,
    /// What the API server said.
    pub message: String,
}

/// Kinds of writes; those of a later stage are not begun when one of an earlier fails.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum WriteStage {
    /// Creations, updates and refusals.
    Apply,
    /// Deletions.
    Delete,
    /// Removing the annotation that asked for a refresh.
    Refresh,
}
