//! Applications and ApplicationSets as they are stored: compact bytes, newest version, parsed on use.
//!
//! In:  watch events and the answers to litecd's own patches.
//! Out: typed and raw views of one object.
//! Invariant: an older version never replaces a newer one, so a reconcile sees its own last write.

use std::cell::RefCell;
use std::collections::BTreeMap;
use std::rc::Rc;

use serde_json::Value;

use super::queue::AppKey;
use crate::api::{Application, ObjectExt};

struct Stored {
    version: u64,
    /// Whether it has an operation or is being deleted.
    is_pressing: bool,
    /// Name of the ApplicationSet that made it.
    set: Option<Box<str>>,
    json: Box<[u8]>,
}

/// Objects of one kind by namespace and name; clones share them.
#[derive(Clone, Default)]
pub struct Objects {
    inner: Rc<RefCell<BTreeMap<AppKey, Stored>>>,
}

/// All Applications of the allowed namespaces; clones share them.
#[derive(Clone, Default)]
pub struct Apps {
    objects: Objects,
}

impl std::ops::Deref for Apps {
    type Target = Objects;
    fn deref(&self) -> &Objects {
        &self.objects
    }
}

/// One Application, as stored and as litecd reads it.
#[derive(Debug, Clone)]
pub struct StoredApp {
    /// The whole object.
    pub raw: Value,
    /// The fields that litecd knows.
    pub app: Application,
}

/// Why an Application cannot be worked on.
#[derive(Debug, thiserror::Error)]
#[error("failed to read application {key}: {source}")]
pub struct Malformed {
    key: AppKey,
    source: serde_json::Error,
}

impl StoredApp {
    /// Reads a whole object.
    pub fn from_value(raw: Value) -> Result<Self, serde_json::Error> {
        let app = serde_json::from_value(raw.clone())?;
        Ok(Self { raw, app })
    }
    /// Namespace and name.
    pub fn key(&self) -> AppKey {
        AppKey::of(&self.app)
    }
}

/// Namespace and name of an object.
pub fn key_of(object: &Value) -> AppKey {
    AppKey { namespace: object.namespace().to_owned(), name: object.name().to_owned() }
}

/// The ApplicationSet that made an Application: Argo CD goes by the controlling owner's name (SET-092).
pub fn set_of(app: &Value) -> Option<&str> {
    let owners = app.pointer("/metadata/ownerReferences")?.as_array()?;
    let owner = owners.iter().find(|owner| owner["controller"] == Value::Bool(true))?;
    (owner["apiVersion"] == "argoproj.io/v1alpha1" && owner["kind"] == "ApplicationSet").then_some(())?;
    owner["name"].as_str()
}

impl Objects {
    /// Takes an object in; returns what it replaced, or `None` inside when it is new, or `Err` when it says nothing new.
    pub fn put(&self, object: &Value) -> Result<Option<Value>, ()> {
        let version = object.resource_version().parse().unwrap_or(0);
        let mut inner = self.inner.borrow_mut();
        let key = key_of(object);
        if inner.get(&key).is_some_and(|known| known.version >= version && same_uid(&known.json, object)) {
            return Err(());
        }
        // managedFields are as long as the rest and nobody reads them.
        let mut kept = object.clone();
        kept.metadata_mut().remove("managedFields");
        let json = serde_json::to_vec(&kept).unwrap_or_default().into_boxed_slice();
        let is_pressing = object.is_deleting() || object.get("operation").is_some_and(|operation| !operation.is_null());
        let set = set_of(object).map(Box::from);
        let before = inner.insert(key, Stored { version, is_pressing, set, json });
        Ok(before.and_then(|stored| serde_json::from_slice(&stored.json).ok()))
    }

    /// Forgets an object.
    pub fn remove(&self, key: &AppKey) {
        self.inner.borrow_mut().remove(key);
    }

    /// One object.
    pub fn raw(&self, key: &AppKey) -> Option<Value> {
        let inner = self.inner.borrow();
        serde_json::from_slice(&inner.get(key)?.json).ok()
    }

    /// All names.
    pub fn keys(&self) -> Vec<AppKey> {
        self.inner.borrow().keys().cloned().collect()
    }

    /// Whether an object exists.
    pub fn contains(&self, key: &AppKey) -> bool {
        self.inner.borrow().contains_key(key)
    }

    /// Those that are not among `keep`.
    pub fn besides(&self, keep: &std::collections::HashSet<AppKey>) -> Vec<AppKey> {
        self.inner.borrow().keys().filter(|key| !keep.contains(key)).cloned().collect()
    }
}

impl Apps {
    /// One Application.
    pub fn get(&self, key: &AppKey) -> Result<Option<StoredApp>, Malformed> {
        let Some(raw) = self.raw(key) else { return Ok(None) };
        StoredApp::from_value(raw).map(Some).map_err(|source| Malformed { key: key.clone(), source })
    }

    /// Whether an Application has an operation or a deletion to get on with.
    pub fn is_pressing(&self, key: &AppKey) -> bool {
        self.inner.borrow().get(key).is_some_and(|stored| stored.is_pressing)
    }

    /// The ApplicationSet that made an Application.
    pub fn set_of(&self, key: &AppKey) -> Option<AppKey> {
        let inner = self.inner.borrow();
        let name = inner.get(key)?.set.as_deref()?.to_owned();
        Some(AppKey { namespace: key.namespace.clone(), name })
    }

    /// The Applications that an ApplicationSet made, by name.
    pub fn of_set(&self, set: &AppKey) -> Vec<AppKey> {
        let inner = self.inner.borrow();
        let made = inner
            .iter()
            .filter(|(key, stored)| key.namespace == set.namespace && stored.set.as_deref() == Some(set.name.as_str()));
        made.map(|(key, _)| key.clone()).collect()
    }
}

fn same_uid(json: &[u8], object: &Value) -> bool {
    let known: Value = serde_json::from_slice(json).unwrap_or_default();
    known.uid() == object.uid()
}
