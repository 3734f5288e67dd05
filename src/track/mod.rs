//! Whose object is this: writes and reads the label or annotation that ties an object to its application.
//!
//! In:  an object, the tracking settings of the installation, the application's instance name.
//! Out: the object with its tracking metadata, or the instance name that an object carries.
//! Invariant: reading and writing agree on the installation id, so two installations never share an object.
//! Source: APP-234 to APP-243, DIFF-031 (`util/argo/resource_tracking.go`).

mod id;
mod mark;
mod text;

#[cfg(test)]
mod tests;

pub use id::{TrackingId, instance_to_key, is_self_referenced, owner, parse_id};
pub use mark::{Error, set};

/// How objects are tied to applications (`application.resourceTrackingMethod`).
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Method {
    /// By the tracking-id annotation; the default.
    #[default]
    Annotation,
    /// By the instance label.
    Label,
    /// By the annotation, with the label written for other tools.
    AnnotationAndLabel,
    /// A value Argo CD does not know: reads and writes the annotation but never looks for copied ids (APP-235).
    Other,
}

impl Method {
    /// Reads the setting; empty means the default.
    pub fn parse(text: &str) -> Self {
        match text {
            "" | "annotation" => Self::Annotation,
            "label" => Self::Label,
            "annotation+label" => Self::AnnotationAndLabel,
            _ => Self::Other,
        }
    }
}

/// Tracking settings of one installation.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Tracking {
    /// How objects are tied to applications.
    pub method: Method,
    /// Label of label tracking, `app.kubernetes.io/instance` by default.
    pub label_key: String,
    /// Identity of this installation among several that share a cluster; empty counts as none.
    pub installation_id: Option<String>,
}

impl Tracking {
    /// The installation id, empty when none is set.
    fn installation(&self) -> &str {
        self.installation_id.as_deref().unwrap_or_default()
    }
}
