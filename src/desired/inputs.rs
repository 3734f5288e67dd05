//! What a desired state is made from, as plain data.
//!
//! In:  an Application, its project, settings in force, and what is known of its destination.
//! Out: one value that the controller and `litecd render` fill in alike.
//! Source: REND-003, REND-013 (`controller/state.go` `GetRepoObjs`).

use std::rc::Rc;

use crate::api::{Application, ApplicationSource};
use crate::project::Project;
use crate::settings::{Repositories, Settings};

/// What is wanted, and everything it depends on.
#[derive(Clone, Copy)]
pub struct Inputs<'a> {
    /// The application.
    pub app: &'a Application,
    /// Its instance name.
    pub instance: &'a str,
    /// Its sources; a sync may have others than the spec.
    pub sources: &'a [ApplicationSource],
    /// Revision wanted per source; an empty or missing one means the source's own.
    pub revisions: &'a [String],
    /// Whether the application has several sources.
    pub multi: bool,
    /// What is made anew.
    pub anew: Anew,
    /// The application's project.
    pub project: &'a Project,
    /// `argocd-cm`.
    pub settings: &'a Settings,
    /// Repository Secrets.
    pub repositories: &'a Repositories,
    /// What is known of the destination.
    pub cluster: &'a ClusterFacts,
}

/// What is made anew although it is known.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Anew {
    /// Nothing: a listing of references may be a few seconds old.
    Nothing,
    /// Revisions are resolved anew, as for a refresh that a user asks for.
    Revisions,
    /// Manifests are rendered anew, as for a hard refresh.
    Manifests,
}

/// What charts can ask about the destination.
#[derive(Debug, Clone, Default)]
pub struct ClusterFacts {
    /// Version of the API server; empty when it is not known.
    pub version: String,
    /// `group/version` and `group/version/Kind` of everything that can be listed and watched.
    pub api_versions: Rc<[String]>,
}

impl<'a> Inputs<'a> {
    /// Revision that is wanted of a source.
    pub(super) fn requested(&self, index: usize) -> &'a str {
        let own = self.sources.get(index).map_or("", |source| &source.target_revision);
        self.revisions.get(index).map(String::as_str).filter(|text| !text.is_empty()).unwrap_or(own)
    }

    /// Whether a source only holds files for others.
    pub(super) fn is_only_referred_to(&self, source: &ApplicationSource) -> bool {
        self.multi && source.is_ref() && source.path.is_empty() && !source.is_oci() && !source.is_helm()
    }
}
