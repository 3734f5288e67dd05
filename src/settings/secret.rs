//! A Kubernetes Secret as settings read it.
//!
//! In:  name, labels, annotations and decoded data.
//! Out: texts and values of keys.
//! Invariant: `Debug` prints no data.

use std::collections::BTreeMap;
use std::fmt;

use base64::Engine;
use serde_json::Value;

use crate::gocompat::strconv;

/// Label that says what a Secret is for.
pub const SECRET_TYPE: &str = "argocd.argoproj.io/secret-type";

/// A Secret with decoded data.
#[derive(Clone, PartialEq, Eq, Default)]
pub struct Secret {
    /// Object name.
    pub name: String,
    /// Labels.
    pub labels: BTreeMap<String, String>,
    /// Annotations.
    pub annotations: BTreeMap<String, String>,
    /// Data, base64 already decoded.
    pub data: BTreeMap<String, Vec<u8>>,
}

impl fmt::Debug for Secret {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Secret").field("name", &self.name).field("keys", &self.data.len()).finish_non_exhaustive()
    }
}

impl Secret {
    /// Reads a Secret object; a value that is no base64 is left out, and so is an object without a name.
    pub fn from_object(object: &Value) -> Option<Self> {
        let meta = object.get("metadata")?;
        let map =
            |field: &str| serde_json::from_value(meta.get(field).cloned().unwrap_or_default()).unwrap_or_default();
        let entries = |field: &str| object.get(field).and_then(Value::as_object).into_iter().flatten();
        let text = |value: &Value| value.as_str().unwrap_or_default().to_owned();
        let decoded = entries("data").filter_map(|(key, value)| {
            Some((key.clone(), base64::engine::general_purpose::STANDARD.decode(text(value)).ok()?))
        });
        // Only files have texts besides; an API server has merged them into the data.
        let plain = entries("stringData").map(|(key, value)| (key.clone(), text(value).into_bytes()));
        Some(Self {
            name: meta.get("name")?.as_str()?.to_owned(),
            labels: map("labels"),
            annotations: map("annotations"),
            data: decoded.chain(plain).collect(),
        })
    }

    /// Whether the Secret is labelled as one of this type, such as `cluster`.
    pub fn is_type(&self, secret_type: &str) -> bool {
        self.labels.get(SECRET_TYPE).is_some_and(|label| label == secret_type)
    }

    /// A key's text, empty when absent.
    pub fn text(&self, key: &str) -> String {
        self.data.get(key).map(|data| String::from_utf8_lossy(data).into_owned()).unwrap_or_default()
    }

    /// A key's boolean in Go's words, false when absent.
    ///
    /// # Errors
    /// A key that is present but no boolean, an empty one included.
    pub fn flag(&self, key: &str) -> Result<bool, strconv::Error> {
        if self.data.contains_key(key) { strconv::parse_bool(&self.text(key)) } else { Ok(false) }
    }

    /// A key's number, 0 when absent.
    ///
    /// # Errors
    /// A key that is present but no number, an empty one included.
    pub fn number(&self, key: &str) -> Result<i64, strconv::Error> {
        if self.data.contains_key(key) { strconv::parse_int(&self.text(key), "ParseInt") } else { Ok(0) }
    }
}
