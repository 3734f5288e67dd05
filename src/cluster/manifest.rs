//! Reads a manifest the way kubectl's resource builder does before it acts on it.
//!
//! In:  an object to apply.
//! Out: the object with its resource, its namespace made to fit the kind's scope.
//! Source: SYNC-083; cli-runtime v0.36.1 `pkg/resource/{mapper.go,visitor.go}`.

use std::sync::Arc;

use serde_json::Value;

use super::apply::ApplyError;
use super::text;
use super::{Cluster, Resource, Target};
use crate::api::ObjectExt;

/// A manifest ready to be acted on.
pub(super) struct Manifest {
    pub resource: Arc<Resource>,
    pub object: Value,
    /// See [`text::file_of`].
    pub file: String,
}

impl Manifest {
    pub fn target(&self) -> Target<'_> {
        Target::new(&self.resource, self.object.namespace(), self.object.name())
    }

    /// An error of a step on this manifest, in kubectl's wrapping and Argo CD's cleaning.
    pub fn failed(&self, verb: &str, error: super::Error) -> ApplyError {
        let text = text::while_doing(verb, &self.file, &error.to_string());
        ApplyError::new(text::clean(&text), error)
    }
}

impl Cluster {
    /// Finds the manifest's kind. Cluster-scoped objects lose the namespace Argo CD puts into every manifest.
    pub(super) async fn read_manifest(&self, object: &Value) -> Result<Manifest, ApplyError> {
        let gvk = object.gvk();
        let file = text::file_of(object);
        if let Some(problem) = super::metadata::problem(object) {
            return Err(ApplyError::refused(text::clean(&format!("unable to decode {file:?}: {problem}"))));
        }
        let resource = self.resource(&gvk).await.map_err(|error| {
            let text = if error.not_found {
                let (name, namespace) = (object.name(), object.namespace());
                format!(
                    "resource mapping not found for name: {name:?} namespace: {namespace:?} from {file:?}: no matches for \
                     kind {:?} in version {:?}\nensure CRDs are installed first",
                    gvk.kind,
                    gvk.api_version()
                )
            } else {
                format!("unable to recognize {file:?}: {error}")
            };
            ApplyError::refused(text::clean(&text))
        })?;
        let mut object = object.clone();
        if !resource.namespaced {
            object.metadata_mut().remove("namespace");
        }
        Ok(Manifest { resource, object, file })
    }
}
