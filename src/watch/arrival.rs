//! One object as it arrives from a list or a watch: its identity and its JSON as bytes.
//!
//! In:  the API server's JSON.
//! Out: bytes; the parsed tree lives only while one object is read, since it is eight times as big.

use std::borrow::Cow;

use k8s_openapi::apimachinery::pkg::apis::meta::v1::ObjectMeta;
use kube::core::{ApiResource, DynamicResourceScope};
use serde::{Deserialize, Deserializer};
use serde_json::Value;

use crate::api::ObjectExt;

/// An object on arrival.
#[derive(Debug, Clone)]
pub struct Arrival {
    meta: ObjectMeta,
    json: Box<[u8]>,
}

impl Arrival {
    /// The object's JSON; items of a list carry neither `apiVersion` nor `kind`.
    pub fn json(&self) -> &[u8] {
        &self.json
    }
    /// Namespace, empty for cluster-scoped objects.
    pub fn namespace(&self) -> &str {
        self.meta.namespace.as_deref().unwrap_or_default()
    }
    /// Name.
    pub fn name(&self) -> &str {
        self.meta.name.as_deref().unwrap_or_default()
    }
    /// Parses the object and gives it the identity that list items lack.
    pub fn parse(&self, api_version: &str, kind: &str) -> Value {
        let mut object: Value = serde_json::from_slice(&self.json).unwrap_or_default();
        if let Some(map) = object.as_object_mut() {
            map.entry("apiVersion").or_insert_with(|| api_version.into());
            map.entry("kind").or_insert_with(|| kind.into());
        }
        object
    }
}

impl<'de> Deserialize<'de> for Arrival {
    fn deserialize<D: Deserializer<'de>>(de: D) -> Result<Self, D::Error> {
        let object = Value::deserialize(de)?;
        let text = |field: &str| Some(object.meta_str(field).to_owned()).filter(|text| !text.is_empty());
        let meta = ObjectMeta {
            name: text("name"),
            namespace: text("namespace"),
            uid: text("uid"),
            resource_version: text("resourceVersion"),
            ..ObjectMeta::default()
        };
        let json = serde_json::to_vec(&object).map_err(serde::de::Error::custom)?;
        Ok(Self { meta, json: json.into_boxed_slice() })
    }
}

impl kube::Resource for Arrival {
    type DynamicType = ApiResource;
    type Scope = DynamicResourceScope;

    fn kind(resource: &ApiResource) -> Cow<'_, str> {
        resource.kind.as_str().into()
    }
    fn group(resource: &ApiResource) -> Cow<'_, str> {
        resource.group.as_str().into()
    }
    fn version(resource: &ApiResource) -> Cow<'_, str> {
        resource.version.as_str().into()
    }
    fn api_version(resource: &ApiResource) -> Cow<'_, str> {
        resource.api_version.as_str().into()
    }
    fn plural(resource: &ApiResource) -> Cow<'_, str> {
        resource.plural.as_str().into()
    }
    fn meta(&self) -> &ObjectMeta {
        &self.meta
    }
    fn meta_mut(&mut self) -> &mut ObjectMeta {
        &mut self.meta
    }
}
