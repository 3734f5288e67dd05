//! What an AppProject permits its applications to do, and when.
//!
//! In:  AppProjects, settings, clusters, repositories, an Application, now.
//! Out: verdicts, conditions with Argo CD's exact texts, and sync windows.
//! Invariant: decides from what it is given; a project that is missing permits nothing.
//! Source: sections 6, 9 and 12 of the application controller's inventory
//! (`pkg/apis/application/v1alpha1/app_project_types.go`, `util/argo/argo.go`).

mod effective;
mod orphans;
mod permits;
mod service_account;
mod source_text;
#[cfg(test)]
mod tests;
mod validate;
pub mod windows;

use crate::api::project::AppProjectSpec;

pub use effective::{Inputs, effective};
pub use permits::SyncDenied;
pub use service_account::{ImpersonationError, service_account};
pub use validate::{missing_project, namespace_not_permitted, project_unknown, validate_spec};
pub use windows::{Windows, WindowsError};

/// A project as the controller enforces it: its own rules, those of its global projects, and its own repositories and
/// clusters.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Project {
    /// Name.
    pub name: String,
    /// Rules, merged.
    pub spec: AppProjectSpec,
    /// Name and server of the clusters whose Secrets name the project.
    pub clusters: Vec<(String, String)>,
}
