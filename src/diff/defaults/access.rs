//! Sets fields that have no value yet.
//!
//! In:  an object.
//! Out: the same object, filled.
//! Invariant: null, the empty text and zero count as "no value" exactly where Go's types cannot tell them apart.
//! Source: DIFF-041.

use serde_json::{Map, Value};

/// An object being filled.
pub struct Fill<'a>(&'a mut Map<String, Value>);

impl<'a> Fill<'a> {
    /// Fills this object.
    pub fn new(map: &'a mut Map<String, Value>) -> Self {
        Self(map)
    }

    /// Whether a field has a value: not absent, null, or an empty text.
    pub fn has(&self, name: &str) -> bool {
        self.0.get(name).is_some_and(|value| !value.is_null() && value.as_str() != Some(""))
    }

    /// Sets a field that has no value.
    pub fn set(&mut self, name: &str, value: impl Into<Value>) {
        if !self.has(name) {
            self.0.insert(name.to_owned(), value.into());
        }
    }

    /// Sets a field, whatever its value.
    pub fn replace(&mut self, name: &str, value: impl Into<Value>) {
        self.0.insert(name.to_owned(), value.into());
    }

    /// Removes a field.
    pub fn remove(&mut self, name: &str) {
        self.0.remove(name);
    }

    /// Sets fields that have no value.
    pub fn set_all(&mut self, values: &[(&str, &str)]) {
        values.iter().for_each(|(name, value)| self.set(name, *value));
    }

    /// Sets an integer that Go keeps as a plain number, so that zero counts as no value.
    pub fn set_nonzero(&mut self, name: &str, value: i64) {
        if self.int(name).unwrap_or_default() == 0 {
            self.0.insert(name.to_owned(), value.into());
        }
    }

    /// Text of a field, empty where there is none.
    pub fn text(&self, name: &str) -> &str {
        self.0.get(name).and_then(Value::as_str).unwrap_or_default()
    }

    /// A whole number.
    pub fn int(&self, name: &str) -> Option<i64> {
        self.0.get(name).and_then(Value::as_i64)
    }

    /// The field's value.
    pub fn get(&self, name: &str) -> Option<&Value> {
        self.0.get(name)
    }

    /// Whether a list has items.
    pub fn has_items(&self, name: &str) -> bool {
        self.0.get(name).and_then(Value::as_array).is_some_and(|items| !items.is_empty())
    }

    /// An object field that exists.
    pub fn child(&mut self, name: &str) -> Option<Fill<'_>> {
        match self.0.get_mut(name) {
            Some(Value::Object(map)) => Some(Fill(map)),
            _ => None,
        }
    }

    /// An object field, created where it is missing.
    pub fn make(&mut self, name: &str) -> Option<Fill<'_>> {
        self.set(name, Map::new());
        self.child(name)
    }

    /// Visits the objects of a list.
    pub fn each(&mut self, name: &str, mut visit: impl FnMut(&mut Fill<'_>)) {
        if let Some(Value::Array(items)) = self.0.get_mut(name) {
            items.iter_mut().filter_map(Value::as_object_mut).for_each(|item| visit(&mut Fill(item)));
        }
    }

    /// Visits the object in a field, where there is one.
    pub fn within(&mut self, name: &str, visit: impl FnOnce(&mut Fill<'_>)) {
        if let Some(mut child) = self.child(name) {
            visit(&mut child);
        }
    }
}
