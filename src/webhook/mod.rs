//! Webhooks of Git servers and registries: who may send them, what they say, and whom that concerns.
//!
//! In:  method, headers and body of a request; the secrets that senders sign with; Applications and ApplicationSets.
//! Out: the answer as Argo CD gives it, and an [`Event`]; whether an event concerns an Application or an ApplicationSet.
//! Invariant: a body is read only after its headers were found good, and nothing in it counts before its signature does.
//! Source: HOOK-001 to HOOK-022 (`util/webhook/`, `applicationset/webhook/webhook.go`).

mod answer;
mod apps;
mod claim;
mod inbox;
mod pattern;
mod payload;
mod secrets;
mod sets;
mod signature;
#[cfg(test)]
mod tests;

pub use answer::{Answer, Refusal};
pub use apps::concerns_app;
pub use claim::{Body, Claim, Endpoint, claim};
pub use inbox::Inbox;
pub use payload::MergeRequest;
pub use secrets::Secrets;
pub use sets::concerns_set;

/// What a sender tells.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Event {
    /// A branch or a tag moved.
    Push(Push),
    /// An artefact was published in a registry.
    Published(Published),
    /// A pull request changed; only ApplicationSets care.
    PullRequest(MergeRequest),
}

/// A branch or a tag moved.
#[derive(Debug, Clone, PartialEq, Eq, Default, PartialOrd, Ord)]
pub struct Push {
    /// Addresses of the repository's page, or of its clones.
    pub urls: Vec<String>,
    /// Name of the branch or tag, without `refs/heads/` or `refs/tags/`.
    pub revision: String,
    /// Whether it is the default branch.
    pub touched_head: bool,
    /// Files that changed, from the root of the repository; empty when the sender does not say.
    pub files: Vec<String>,
    /// Whether ApplicationSets pass it over (a tag of GitLab, HOOK-020).
    pub not_for_sets: bool,
}

/// An artefact was published in a registry.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub struct Published {
    /// Host and path of the repository.
    pub repository: String,
    /// Tag.
    pub tag: String,
}
