//! Schemas of wire structs, and the check of an object against one.
//!
//! In:  the fields of a struct declared with `wire!`, in the words of OpenAPI v3 as Kubernetes uses them.
//! Out: the structural schema that a CRD carries.
//! Invariant: a schema says exactly what Argo CD's CRD says of the same field, descriptions aside.
//! Source: APP-001, `manifests/crds/*.yaml`.

mod validate;

use std::collections::BTreeMap;

use serde_json::{Map, Value, json};

pub use validate::validate;

use super::status::Time;

/// A type that knows the schema of its JSON form.
pub trait Schema {
    /// The structural schema.
    fn schema() -> Value;
}

/// A field of a wire struct.
pub struct Field {
    /// JSON name.
    pub name: &'static str,
    /// Whether the CRD demands it.
    pub required: bool,
    /// Makes its schema.
    pub schema: fn() -> Value,
}

/// The schema of an object with these fields.
pub fn object(fields: &[Field]) -> Value {
    let properties: Map<String, Value> = fields.iter().map(|field| (field.name.to_owned(), (field.schema)())).collect();
    let mut required: Vec<&str> = fields.iter().filter(|field| field.required).map(|field| field.name).collect();
    required.sort_unstable();
    let mut schema = json!({"type": "object", "properties": properties});
    if let (false, Value::Object(map)) = (required.is_empty(), &mut schema) {
        map.insert("required".to_owned(), json!(required));
    }
    schema
}

impl Schema for String {
    fn schema() -> Value {
        json!({"type": "string"})
    }
}
impl Schema for bool {
    fn schema() -> Value {
        json!({"type": "boolean"})
    }
}
impl Schema for i64 {
    fn schema() -> Value {
        json!({"type": "integer", "format": "int64"})
    }
}
impl Schema for Time {
    fn schema() -> Value {
        json!({"type": "string", "format": "date-time"})
    }
}
/// Any JSON at all.
impl Schema for Value {
    fn schema() -> Value {
        json!({"x-kubernetes-preserve-unknown-fields": true})
    }
}
impl<T: Schema> Schema for Option<T> {
    fn schema() -> Value {
        T::schema()
    }
}
impl<T: Schema> Schema for Vec<T> {
    fn schema() -> Value {
        json!({"type": "array", "items": T::schema()})
    }
}
impl<T: Schema> Schema for BTreeMap<String, T> {
    fn schema() -> Value {
        json!({"type": "object", "additionalProperties": T::schema()})
    }
}

/// A list whose Rust field keeps plain JSON.
pub fn list_of<T: Schema>() -> Value {
    Vec::<T>::schema()
}

/// A list that server-side apply replaces as a whole.
pub fn atomic_list<T: Schema>() -> Value {
    let mut schema = list_of::<T>();
    mark(&mut schema, "x-kubernetes-list-type", "atomic");
    schema
}

/// An object that server-side apply replaces as a whole.
pub fn atomic_object<T: Schema>() -> Value {
    let mut schema = T::schema();
    mark(&mut schema, "x-kubernetes-map-type", "atomic");
    schema
}

/// An object whose fields the API server keeps by itself (`metadata`).
pub fn any_object() -> Value {
    json!({"type": "object"})
}

/// An object of any fields.
pub fn free_object() -> Value {
    json!({"type": "object", "x-kubernetes-preserve-unknown-fields": true})
}

/// A number, or text that holds one or a percentage.
pub fn int_or_string() -> Value {
    json!({"anyOf": [{"type": "integer"}, {"type": "string"}], "x-kubernetes-int-or-string": true})
}

/// One of some words.
pub fn one_of(words: &[&str]) -> Value {
    json!({"type": "string", "enum": words})
}

/// A directory below the repository's root, so neither empty nor `.` nor `/`.
pub fn relative_path() -> Value {
    json!({"type": "string", "minLength": 1, "pattern": "^.{2,}|[^./]$"})
}

/// Text of at most 255 characters.
pub fn short_text() -> Value {
    json!({"type": "string", "maxLength": 255})
}

fn mark(schema: &mut Value, name: &str, value: &str) {
    if let Value::Object(map) = schema {
        map.insert(name.to_owned(), value.into());
    }
}
