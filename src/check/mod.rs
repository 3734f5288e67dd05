//! Says which features manifests use and whether this build supports each.
//!
//! In:  texts of files, YAML or JSON, one at a time.
//! Out: uses with file and line, problems, and a report over all files.
//! Invariant: what the table does not know is reported as unknown, never passed over; a file that cannot be read and
//! names Argo CD's group is a problem, never silence, and so is an object that the API server would refuse and a
//! setting that cannot be read.
//! Source: the CRDs' fields (APP-001 to APP-021), annotations (APP-022, APP-023), sync options (SYNC-190 to SYNC-209),
//! settings (APP-273 to APP-302).

mod document;
mod patches;
mod report;
mod secret;
mod table;
mod valid;
mod values;
mod walk;

#[cfg(test)]
mod tests;

use std::collections::BTreeMap;

pub use document::{Content, Entry, Fault, Node, documents, locate};
pub use report::{FeatureSummary, Report};
pub use table::{Row, UNKNOWN, rows, rows_for_field, rows_for_name};

/// Whether this build does what a feature promises.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Support {
    /// As Argo CD does it, or accepted where it has no effect in one process.
    Yes,
    /// Some of it; the text says what is missing.
    Partial(&'static str),
    /// Not at all; the text says why.
    No(&'static str),
    /// No work of the controller: another of Argo CD's programs does it, and goes on doing it beside litecd; the text
    /// says which.
    Other(&'static str),
}

/// Which part of the work a feature belongs to.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Phase {
    /// Making Applications from an ApplicationSet.
    Generate,
    /// Deciding what an Application may do.
    Permit,
    /// Turning sources into objects.
    Render,
    /// Holding rendered objects against live ones.
    Compare,
    /// Changing the cluster.
    Sync,
    /// Removing an Application with its objects.
    Delete,
    /// Status, health, events, metrics and logs.
    Report,
    /// Settings of the controller itself.
    Configure,
    /// Argo CD's API server, web interface and other programs beside the controller.
    Serve,
}

/// Something a manifest can ask for.
#[derive(Debug, PartialEq, Eq)]
pub struct Feature {
    /// Stable id, dotted, for scripts.
    pub id: &'static str,
    /// Short name for people.
    pub name: &'static str,
    /// One sentence.
    pub description: &'static str,
    /// Whether this build has it.
    pub support: Support,
    /// Which part of the work it belongs to.
    pub phase: Phase,
}

/// A place where a feature is used.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Use {
    /// The feature.
    pub feature: &'static Feature,
    /// File as given to [`scan`].
    pub file: String,
    /// Line, counted from 1.
    pub line: u64,
    /// What stands there: a field's path, an annotation, an option or a setting.
    pub what: String,
}

/// Something about a file that a reader should know and that is no error.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Note {
    /// File as given to [`scan`].
    pub file: String,
    /// One sentence.
    pub text: String,
}

/// Something that keeps a file or an object from being used at all.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{file}:{line}: {message}")]
pub struct Problem {
    /// File as given to [`scan`].
    pub file: String,
    /// Line, counted from 1.
    pub line: u64,
    /// What is wrong.
    pub message: String,
    /// What sort of problem it is.
    pub kind: ProblemKind,
}

/// What sort of problem a [`Problem`] is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ProblemKind {
    /// The file cannot be read although it names Argo CD's group.
    Unreadable,
    /// The API server would refuse the object.
    Invalid,
    /// A field that the API server demands is missing, which is as it should be in a patch.
    Incomplete,
    /// A setting that neither Argo CD nor litecd can read.
    Unusable,
    /// A label is missing without which the object is not seen, which is as it should be in a patch.
    Unlabelled,
}

/// What one file holds.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Part {
    /// Objects of Argo CD's kinds, and its settings, by kind.
    pub objects: BTreeMap<String, usize>,
    /// Uses, in the order of the file.
    pub uses: Vec<Use>,
    /// Why the file, or a part of it, was passed over.
    pub notes: Vec<Note>,
    /// Objects that the API server would refuse.
    pub problems: Vec<Problem>,
    /// Files that a kustomization takes as patches, with the folder of the kustomization before them.
    pub patches: Vec<String>,
}

/// Scans one file: Applications, AppProjects and ApplicationSets, also inside lists; Argo CD's two ConfigMaps,
/// `argocd-secret` and its labelled Secrets; and Argo CD's and Helm's annotations on any object. Objects of Argo CD's kinds are held against the
/// schemas of the CRDs.
///
/// Text that is no YAML is passed over with a note where it looks like a template, and where nothing of it can concern
/// Argo CD.
pub fn scan(file: &str, text: &str) -> Result<Part, Problem> {
    match documents(text) {
        Ok(found) => Ok(walk::objects(file, &found)),
        Err(_) if text.contains("{{") => Ok(passed_over(file, "a template that is no YAML before it is rendered")),
        Err(_) if !text.contains(crate::api::names::GROUP) => {
            Ok(passed_over(file, "no readable YAML, and naming nothing of Argo CD"))
        }
        Err(fault) => Err(Problem {
            file: file.to_owned(),
            line: fault.line,
            message: fault.message,
            kind: ProblemKind::Unreadable,
        }),
    }
}

fn passed_over(file: &str, text: &str) -> Part {
    Part { notes: vec![Note { file: file.to_owned(), text: text.to_owned() }], ..Part::default() }
}
