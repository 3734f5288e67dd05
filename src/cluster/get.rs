//! Reads objects: one by name, or all of a kind page by page.
//!
//! In:  a discovered kind, namespace, name or selector.
//! Out: JSON trees that carry `apiVersion` and `kind`, which lists leave out on the wire.
//! Invariant: a list is complete or an error; an expired continuation starts over rather than returning a part.
//! Source: client-go v0.36.1 `tools/pager/pager.go`, `kube.go` `GetResource`.

use serde_json::{Map, Value};

use super::request::Call;
use super::{Cluster, Error, Resource, Target};

/// Objects per page; keeps the largest answer at a few megabytes.
const PAGE: &str = "250";
const METADATA: &str = "application/json;as=PartialObjectMetadataList;g=meta.k8s.io;v=v1";

/// All objects of a kind at one moment.
#[derive(Debug, Clone, Default)]
pub struct List {
    /// The objects.
    pub items: Vec<Value>,
    /// Version of the whole list, where a watch can start.
    pub resource_version: String,
}

impl Cluster {
    /// The object, or `None` when it or its kind does not exist.
    pub async fn get(&self, resource: &Resource, namespace: &str, name: &str) -> Result<Option<Value>, Error> {
        match self.fetch(&Target::new(resource, namespace, name)).await {
            Ok(object) => Ok(Some(object)),
            Err(error) if error.is_not_found() => Ok(None),
            Err(error) => Err(error),
        }
    }

    /// The object; its absence is an error, with the server's text.
    pub async fn fetch(&self, target: &Target<'_>) -> Result<Value, Error> {
        self.send(Call::get(target.path()?).about(target.about())).await
    }

    /// All objects, of one namespace or of all, matching a label selector (empty: all).
    pub async fn list(&self, resource: &Resource, namespace: Option<&str>, selector: &str) -> Result<List, Error> {
        self.list_as("application/json", resource, namespace, selector).await
    }

    /// As [`Cluster::list`], but only `metadata` of each object.
    pub async fn list_metadata(
        &self,
        resource: &Resource,
        namespace: Option<&str>,
        selector: &str,
    ) -> Result<List, Error> {
        self.list_as(METADATA, resource, namespace, selector).await
    }

    async fn list_as(
        &self,
        accept: &'static str,
        resource: &Resource,
        namespace: Option<&str>,
        selector: &str,
    ) -> Result<List, Error> {
        let path = resource.collection(namespace.unwrap_or_default());
        let mut list = List::default();
        let (mut next, mut limit) = (String::new(), PAGE);
        loop {
            let mut call = Call::get(path.clone())
                .about(resource.qualified())
                .query("labelSelector", selector)
                .query("limit", limit)
                .query("continue", std::mem::take(&mut next));
            call.accept = accept;
            let mut page = match self.send(call).await {
                // The continuation outlived the history the server keeps; an unpaged list cannot expire.
                Err(Error::Expired(_)) if !limit.is_empty() => {
                    list = List::default();
                    limit = "";
                    continue;
                }
                answer => answer?,
            };
            let of_list = |field: &str| page.pointer(&format!("/metadata/{field}")).and_then(Value::as_str);
            next = of_list("continue").unwrap_or_default().to_owned();
            list.resource_version = of_list("resourceVersion").unwrap_or_default().to_owned();
            list.items.extend(items(resource, &mut page));
            if next.is_empty() {
                return Ok(list);
            }
        }
    }
}

fn items(resource: &Resource, page: &mut Value) -> Vec<Value> {
    let Some(Value::Array(items)) = page.get_mut("items").map(Value::take) else { return Vec::new() };
    let (api_version, kind) = (Value::from(resource.api_version()), Value::from(resource.kind.as_str()));
    let named = |item: Value| {
        let mut object: Map<String, Value> = match item {
            Value::Object(object) => object,
            _ => Map::new(),
        };
        object.insert("apiVersion".to_owned(), api_version.clone());
        object.insert("kind".to_owned(), kind.clone());
        Value::Object(object)
    };
    items.into_iter().map(named).collect()
}
