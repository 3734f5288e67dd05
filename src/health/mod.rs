//! Health of one live object, and of an application as a whole.
//!
//! In:  a live object, the administrator's scripts.
//! Out: a code with a text, or nothing for kinds whose health nobody defines.
//! Invariant: an object that is being deleted is Progressing whatever a script says; a script ends the search.
//! Source: HEALTH-001 to HEALTH-079 (`gitops-engine/pkg/health`, `controller/health.go`, `util/lua`).

mod aggregate;
pub mod builtin;
mod folder;
pub mod library;
pub mod lua;
mod overrides;
mod read;

#[cfg(test)]
mod tests;

use std::fmt;

use serde_json::Value;

use crate::api::{ObjectExt, names};

pub use aggregate::{Item, Live, aggregate};
pub use folder::ScriptFolder;
pub use overrides::{Glob, Overrides, Run, Script, StartRun};

/// A health code; a greater one is worse (HEALTH-001).
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Default)]
pub enum Code {
    /// A script gave no code; counts as healthy.
    #[default]
    Unset,
    /// Works.
    Healthy,
    /// Paused on purpose.
    Suspended,
    /// On its way to healthy.
    Progressing,
    /// Not in the cluster.
    Missing,
    /// Failed, or did not become healthy in time.
    Degraded,
    /// Could not be found out.
    Unknown,
}

impl Code {
    /// Whether this code is worse than `other`; no code compares as `Healthy`.
    pub fn is_worse(self, other: Self) -> bool {
        self.max(Self::Healthy) > other.max(Self::Healthy)
    }

    /// As it stands in `.status`; empty for no code.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Unset => "",
            Self::Healthy => "Healthy",
            Self::Suspended => "Suspended",
            Self::Progressing => "Progressing",
            Self::Missing => "Missing",
            Self::Degraded => "Degraded",
            Self::Unknown => "Unknown",
        }
    }

    /// Reads a code exactly as scripts and `.status` spell it.
    pub fn parse(text: &str) -> Option<Self> {
        [Self::Healthy, Self::Suspended, Self::Progressing, Self::Missing, Self::Degraded, Self::Unknown]
            .into_iter()
            .find(|code| code.as_str() == text)
    }
}

impl fmt::Display for Code {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

/// Health of one object.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Health {
    /// The code.
    pub status: Code,
    /// Text for people.
    pub message: String,
}

impl Health {
    /// Builds from its parts.
    pub fn new(status: Code, message: impl Into<String>) -> Self {
        Self { status, message: message.into() }
    }
}

/// Why health could not be found out. The object then counts as `Unknown`, see [`Error::health`].
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// The administrator's script failed (HEALTH-003).
    #[error("failed to get resource health for {namespace}/{name}: {source}")]
    Script {
        /// Namespace of the object.
        namespace: String,
        /// Name of the object.
        name: String,
        /// What the script did.
        #[source]
        source: Box<lua::Error>,
    },
    /// The library's rule failed, as Argo CD's script for the kind does (HEALTH-003).
    #[error("failed to get resource health for {namespace}/{name}: {source}")]
    Library {
        /// Namespace of the object.
        namespace: String,
        /// Name of the object.
        name: String,
        /// What Argo CD's script says.
        #[source]
        source: library::Fault,
    },
    /// The check of a built-in kind failed.
    #[error(transparent)]
    Builtin(#[from] builtin::Error),
}

impl Error {
    /// The health of an object whose check failed: `Unknown` with the text of the cause (HEALTH-003).
    pub fn health(&self) -> Health {
        let text = match self {
            Self::Script { source, .. } => source.to_string(),
            Self::Library { source, .. } => source.to_string(),
            Self::Builtin(error) => error.to_string(),
        };
        Health::new(Code::Unknown, text)
    }

    /// Text of the ComparisonError condition that a failed check of `object` raises (HEALTH-059).
    pub fn condition(&self, object: &Value) -> String {
        format!(
            "error setting app health: failed to get resource health for {:?} with name {:?} in namespace {:?}: {self}",
            object.kind(),
            object.name(),
            object.namespace()
        )
    }
}

/// Health of a live object (HEALTH-002 to HEALTH-005, HEALTH-075).
///
/// The order is: pending deletion, the administrator's script, the library's rule, the built-in check.
///
/// # Errors
/// Fails when a script or a check fails; [`Error::health`] is then the object's health.
pub fn of(object: &Value, overrides: &Overrides) -> Result<Option<Health>, Error> {
    if object.is_deleting() && !object.finalizers().contains(&names::HOOK_FINALIZER) {
        return Ok(Some(Health::new(Code::Progressing, "Pending deletion")));
    }
    match by_rule(object, overrides)? {
        Some(health) => Ok(Some(health)),
        None => Ok(builtin::health(object)?),
    }
}

/// Health as the administrator's script or the library's rule alone sees it, which is what tests of scripts compare:
/// an object that is being deleted is no special case. Nothing for kinds that have neither.
///
/// # Errors
/// Fails when a script or a rule does.
pub fn by_rule(object: &Value, overrides: &Overrides) -> Result<Option<Health>, Error> {
    let key = overrides::key(object);
    if let Some(script) = overrides.script(&key) {
        return lua::health(object, script, overrides.start()).map(Some).map_err(|source| Error::Script {
            namespace: object.namespace().to_owned(),
            name: object.name().to_owned(),
            source: Box::new(source),
        });
    }
    library::health(&key, object).map_err(|source| Error::Library {
        namespace: object.namespace().to_owned(),
        name: object.name().to_owned(),
        source,
    })
}
