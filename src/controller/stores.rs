//! Applications as they are stored: compact bytes, newest version, parsed on use.
//!
//! In:  watch events and the answers to litecd's own patches.
//! Out: typed and raw views of one Application.
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
    json: Box<[u8]>,
}

/// All Applications of the allowed namespaces; clones share them.
#[derive(Clone, Default)]
pub struct Apps {
    inner: Rc<RefCell<BTreeMap<AppKey, Stored>>>,
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

impl Apps {
    /// Takes an object in; returns what it replaced, or `None` inside when it is new, or `Err` when it says nothing new.
    pub fn put(&self, object: &Value) -> Result<Option<Value>, ()> {
        let version = object.resource_version().parse().unwrap_or(0);
        let mut inner = self.inner.borrow_mut();
        let key = key_of(object);
        if inner.get(&key).is_some_and(|known| known.version >= version && same_uid(&known.json, object)) {
            return Err(());
        }
        // managedFields are as long as the rest and nobody reads an Application's.
        let mut kept = object.clone();
        kept.metadata_mut().remove("managedFields");
        let json = serde_json::to_vec(&kept).unwrap_or_default().into_boxed_slice();
        let is_pressing = object.is_deleting() || object.get("operation").is_some_and(|operation| !operation.is_null());
        let before = inner.insert(key, Stored { version, is_pressing, json });
        Ok(before.and_then(|stored| serde_json::from_slice(&stored.json).ok()))
    }

    /// Forgets an Application.
    pub fn remove(&self, key: &AppKey) {
        self.inner.borrow_mut().remove(key);
    }

    /// One Application.
    pub fn get(&self, key: &AppKey) -> Result<Option<StoredApp>, Malformed> {
        let inner = self.inner.borrow();
        let Some(stored) = inner.get(key) else { return Ok(None) };
        let raw: Value = serde_json::from_slice(&stored.json).unwrap_or_default();
        StoredApp::from_value(raw).map(Some).map_err(|source| Malformed { key: key.clone(), source })
    }

    /// All names.
    pub fn keys(&self) -> Vec<AppKey> {
        self.inner.borrow().keys().cloned().collect()
    }

    /// Whether an Application exists.
    pub fn contains(&self, key: &AppKey) -> bool {
        self.inner.borrow().contains_key(key)
    }

    /// Whether an Application has an operation or a deletion to get on with.
    pub fn is_pressing(&self, key: &AppKey) -> bool {
        self.inner.borrow().get(key).is_some_and(|stored| stored.is_pressing)
    }

    /// Forgets everything that is not among `keep`; returns what went.
    pub fn retain(&self, keep: &std::collections::HashSet<AppKey>) -> Vec<AppKey> {
        let mut inner = self.inner.borrow_mut();
        let gone: Vec<AppKey> = inner.keys().filter(|key| !keep.contains(key)).cloned().collect();
        for key in &gone {
            inner.remove(key);
        }
        gone
    }
}

fn same_uid(json: &[u8], object: &Value) -> bool {
    let known: Value = serde_json::from_slice(json).unwrap_or_default();
    known.uid() == object.uid()
}
