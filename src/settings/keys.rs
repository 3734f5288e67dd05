//! Reads single keys of a ConfigMap.
//!
//! In:  the ConfigMap's data and a key.
//! Out: a boolean, or YAML in a type's form.

use std::collections::BTreeMap;

use serde::de::DeserializeOwned;

use super::Error;
use crate::gocompat::{strconv, yaml};

/// A boolean in Go's words; absent or empty gives the default.
pub(super) fn flag(data: &BTreeMap<String, String>, key: &str, default: bool) -> Result<bool, Error> {
    match data.get(key).map(String::as_str).unwrap_or_default() {
        "" => Ok(default),
        text => strconv::parse_bool(text).map_err(|source| Error::Flag { key: key.to_owned(), source }),
    }
}

/// YAML in a type's form; an empty text or `null` gives the type's default, as Go leaves the value untouched.
pub(super) fn from_yaml<T: DeserializeOwned + Default>(key: &str, text: &str) -> Result<T, Error> {
    let value = yaml::parse(text).map_err(|source| Error::Yaml { key: key.to_owned(), source })?;
    if value.is_null() {
        return Ok(T::default());
    }
    T::deserialize(value).map_err(|error| Error::Shape { key: key.to_owned(), problem: error.to_string() })
}
