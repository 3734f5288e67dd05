//! Wire words of the Argo CD API and of Kubernetes objects: plain data, no behaviour that needs a cluster.
//!
//! In:  JSON read from the API server.
//! Out: typed views of what litecd acts on; fields it does not know survive because specs are never rewritten.
//! Source: `pkg/apis/application/v1alpha1/types.go`.

pub mod application;
pub mod appset;
pub mod crds;
pub mod hydrator;
pub mod names;
pub mod object;
pub mod operation;
pub mod project;
pub mod schema;
pub mod status;
pub mod wire;

#[cfg(test)]
mod tests;

pub use application::{Application, ApplicationSource, ApplicationSpec, Destination};
pub use crds::{crds, schema_of};
pub use object::{GroupKind, GroupVersionKind, ObjectExt, ResourceKey};
