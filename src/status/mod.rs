//! From what was found out to what is written on the Application, apart from its operation.
//!
//! In:  old and new typed status, live objects, the clock.
//! Out: conditions, summary, history, events, finalizer lists, and merge patches.
//! Invariant: a patch carries only what changed, so other writers' fields survive.
//! Source: APP-002, APP-003, APP-024 to APP-048, APP-099 to APP-102, APP-189 to APP-194, APP-246 to APP-251,
//! APP-259 to APP-268 (`controller/appcontroller.go`, `controller/state.go`).

mod conditions;
pub mod events;
pub mod finalizers;
mod history;
mod links;
mod normalize;
mod patch;
mod summary;

#[cfg(test)]
mod tests;

pub use conditions::set_conditions;
pub use history::{append, history_patch, is_recorded};
pub use links::urls;
pub use normalize::normalize_spec;
pub use patch::{merge_patch, oversize_patch, settle_health, status_patch};
pub use summary::{is_application, pod_images, summary};
