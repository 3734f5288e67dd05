//! One sync operation, from the request to its end, decided without touching a cluster.
//!
//! In:  an operation with its state so far, compared objects, hooks, rules about health and permission, the time.
//! Out: groups of actions for the caller to carry out, and in the end the operation's new phase, message and results.
//! Invariant: nothing here does IO or reads a clock; the state of a running operation is `.status.operationState` alone.
//! Source: SYNC-001 to SYNC-279 (`gitops-engine/pkg/sync`, `controller/sync.go`, `controller/appcontroller.go`).
//!
//! The life of an operation: [`auto`] asks for one, [`lifecycle`] says what is due (start, resume, wait for a retry,
//! terminate), [`Pass`] carries one step out, [`lifecycle`] again turns the step's end into the stored state, with
//! [`retry`] naming the time of the next attempt. [`deletion`] runs the stages that remove an application.

mod apply;
pub mod auto;
pub mod budget;
mod build;
pub mod deletion;
mod engine;
mod fail;
mod finalizers;
pub mod hooks;
mod io;
pub mod lifecycle;
mod options;
pub mod order;
pub mod partial;
mod pass;
pub mod patience;
pub mod prune_guard;
mod results;
pub mod retry;
mod run;
mod state_patch;
mod step;
mod tasks;
mod terminate;
pub mod text;
mod words;

pub use io::{Action, Answer, Apply, Failure, FailureKind, Method, ObjectRef, Scope};
pub use options::{Options, Propagation, annotation_value as object_option, option_value};
pub use pass::{Health, HealthOf, Input, Next, OperationUpdate, Pass, PermitOf, Resource};
pub use words::{OperationPhase, ResultCode, SyncPhase};

#[cfg(test)]
mod tests;
