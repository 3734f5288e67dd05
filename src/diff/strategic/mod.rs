//! Strategic merge patch: how Kubernetes patches built-in types, with lists merged by key.
//!
//! In:  JSON objects and the struct they are of.
//! Out: patches and patched objects, directive for directive as kubectl and the API server make them.
//! Invariant: inputs are never changed; a key order never depends on hashing.
//! Source: DIFF-037, SYNC-142 (apimachinery 0.36.1 `pkg/util/strategicpatch/patch.go`).

mod diff;
mod lists;
mod merge;

use serde_json::{Map, Value};

use super::schema::{Shape, Struct};

use diff::Options;

/// Marks an item or map of a patch as deleted or replaced.
const DIRECTIVE: &str = "$patch";
/// Lists the keys that stay in a map.
const RETAIN_KEYS: &str = "$retainKeys";
/// Prefix of the list of scalars to delete.
const DELETE_LIST: &str = "$deleteFromPrimitiveList";
/// Prefix of the list that orders another.
const SET_ORDER: &str = "$setElementOrder";

/// A JSON object.
pub type Object = Map<String, Value>;

/// Why a patch could not be made or applied; the texts are apimachinery's.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum Error {
    /// A field that the struct lacks holds differing objects or lists.
    #[error("unable to find api field in struct {name} for the json field {field:?}")]
    UnknownField {
        /// Go name of the struct, where the table keeps it.
        name: String,
        /// JSON field.
        field: String,
    },
    /// An object stands where the type has a scalar.
    #[error("merging an object in json but data type is not struct, instead is: {0}")]
    NotStruct(&'static str),
    /// A list stands where the type has none.
    #[error("expected slice or array type, but got: {0}")]
    NotList(&'static str),
    /// An item of a list that merges by key lacks the key.
    /// The text leaves out the item's values, which apimachinery's shows: they may be secret.
    #[error("map with {fields} does not contain declared merge key: {key}")]
    NoMergeKey {
        /// Names of the item's fields.
        fields: String,
        /// The key.
        key: String,
    },
    /// An item of a list that merges by key is no object.
    #[error("expected a map, but received a {0}")]
    NotMap(&'static str),
    /// List items are of several types.
    #[error("list element types are not identical")]
    MixedList,
    /// Neither list has an item.
    #[error("no elements in any of the given slices")]
    EmptyLists,
    /// Lists of lists cannot be merged.
    #[error("Lists of lists are not supported")]
    ListOfLists,
    /// A list of objects merges but no key says how.
    #[error("cannot merge lists without merge key")]
    NoKey,
    /// An unknown value of `$patch`.
    #[error("unknown patch type {0}")]
    BadDirective(String),
    /// `$retainKeys` is malformed or contradicts the patch.
    #[error("invalid patch format of retainKeys")]
    BadRetainKeys,
    /// `$setElementOrder` is malformed or contradicts the patch.
    #[error("invalid patch format of setElementOrder list")]
    BadSetOrder,
    /// `$deleteFromPrimitiveList` is malformed.
    #[error("invalid patch format of primitive list")]
    BadDeleteList,
}

/// The three-way patch: what `current` lacks of `modified`, less what `original` had and `modified` dropped.
pub fn three_way(original: &Object, modified: &Object, current: &Object, root: Struct) -> Result<Object, Error> {
    let ty = root.as_type();
    let delta = Options { set_order: true, ignore_deletions: true, ..Options::default() };
    let delta = diff::maps(current, modified, ty, delta)?;
    let dropped = Options { set_order: true, ignore_additions: true, ..Options::default() };
    let deletions = diff::maps(original, modified, ty, dropped)?;
    merge::maps(deletions, delta, ty, merge::Mode::Patches)
}

/// The patch that removes what `original` had and `modified` dropped.
pub fn deletions(original: &Object, modified: &Object, root: Struct) -> Result<Object, Error> {
    diff::maps(original, modified, root.as_type(), Options { ignore_additions: true, ..Options::default() })
}

/// Applies a patch, directives included.
pub fn apply(original: Object, patch: Object, root: Struct) -> Result<Object, Error> {
    merge::maps(original, patch, root.as_type(), merge::Mode::Apply)
}

/// How the value of one field merges.
#[derive(Debug, Clone, Copy)]
struct Rule {
    /// Type of the value, or of the items when the value is a list.
    ty: Shape,
    merge_key: Option<&'static str>,
    replace: bool,
    retain_keys: bool,
}

/// The rule for an object in field `key` of a value of type `ty`.
fn map_rule(ty: Shape, key: &str) -> Result<Rule, Error> {
    let plain = |ty| Rule { ty, merge_key: None, replace: false, retain_keys: false };
    match ty {
        Shape::Struct(found) => {
            let unknown = || Error::UnknownField { name: found.name().to_owned(), field: key.to_owned() };
            let field = found.field_folded(key).ok_or_else(unknown)?;
            Ok(Rule {
                ty: field.ty.shape(),
                merge_key: field.merge_key(),
                replace: field.replaces(),
                retain_keys: field.retains_keys(),
            })
        }
        Shape::Map(value) => Ok(plain(value.shape())),
        Shape::Any => Ok(plain(Shape::Any)),
        Shape::Raw => Err(Error::UnknownField { name: "RawExtension".to_owned(), field: key.to_owned() }),
        Shape::List(_) => Err(Error::NotStruct("slice")),
        _ => Err(Error::NotStruct("string")),
    }
}

/// The rule for a list in field `key` of a value of type `ty`.
fn list_rule(ty: Shape, key: &str) -> Result<Rule, Error> {
    let rule = map_rule(ty, key)?;
    match rule.ty {
        Shape::List(item) => Ok(Rule { ty: item.shape(), ..rule }),
        Shape::Any => Ok(rule),
        Shape::Map(_) => Err(Error::NotList("map")),
        Shape::Struct(_) | Shape::Raw => Err(Error::NotList("struct")),
        _ => Err(Error::NotList("string")),
    }
}

/// JSON types as Go's decoder tells them apart.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Kind {
    Null,
    Bool,
    Int,
    Float,
    String,
    List,
    Map,
}

fn kind(value: &Value) -> Kind {
    match value {
        Value::Null => Kind::Null,
        Value::Bool(_) => Kind::Bool,
        Value::Number(number) if number.is_f64() => Kind::Float,
        Value::Number(_) => Kind::Int,
        Value::String(_) => Kind::String,
        Value::Array(_) => Kind::List,
        Value::Object(_) => Kind::Map,
    }
}

/// The name Go gives to a kind in error texts.
fn kind_name(value: &Value) -> &'static str {
    match kind(value) {
        Kind::Null => "nil",
        Kind::Bool => "bool",
        Kind::Int => "int64",
        Kind::Float => "float64",
        Kind::String => "string",
        Kind::List => "slice",
        Kind::Map => "map",
    }
}

/// The text by which Go sorts scalars and merge keys.
fn text(value: Option<&Value>) -> String {
    match value {
        None | Some(Value::Null) => "<nil>".to_owned(),
        Some(Value::String(text)) => text.clone(),
        Some(other) => other.to_string(),
    }
}
