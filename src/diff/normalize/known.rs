//! Rewrites fields of custom resources that are declared to hold built-in types.
//!
//! In:  declarations `{field, type}` per kind, an object.
//! Out: the object with those fields as Go would write them: unknown fields dropped, empty required ones added.
//! Invariant: when one field does not fit its type, fields declared before it stay rewritten, the rest is untouched.
//! Source: DIFF-065 to DIFF-067 (`util/argo/normalizers/knowntypes_normalizer.go`).

use std::collections::BTreeMap;

use serde_json::Value;

use super::remarshal::{Misfit, Unknown, decode};
use super::scalar;
use crate::api::object::{GroupKind, ObjectExt};
use crate::diff::ignore::override_key;
use crate::diff::schema::{self, Shape};

/// One declaration of `resource.customizations.knownTypeFields`.
#[derive(Debug, Clone, Default, PartialEq, Eq, Hash)]
pub struct KnownTypeField {
    /// Dotted path; lists are walked through.
    pub field: String,
    /// Type, such as `core/v1/PodSpec` or `core/Quantity`.
    pub ty: String,
}

/// Declarations per kind.
pub struct KnownTypes(BTreeMap<GroupKind, Vec<(Vec<String>, Shape)>>);

impl KnownTypes {
    /// Reads the declarations; keys are `group/Kind` or `Kind`. Unsupported types are logged and left out.
    pub fn new(declared: &BTreeMap<String, Vec<KnownTypeField>>) -> Self {
        let mut kinds: BTreeMap<GroupKind, Vec<_>> = BTreeMap::new();
        for (key, fields) in declared {
            for field in fields {
                let Some(shape) = shape_of(&field.ty) else {
                    tracing::warn!("Failed to configure known field normalizer: type '{}' is not supported", field.ty);
                    continue;
                };
                let path = field.field.split('.').map(str::to_owned).collect();
                kinds.entry(override_key(key)).or_default().push((path, shape));
            }
        }
        let rollout = kinds.entry(GroupKind::new("argoproj.io", "Rollout")).or_default();
        if let (true, Some(spec)) = (rollout.is_empty(), shape_of("core/v1/PodSpec")) {
            rollout.push((["spec", "template", "spec"].map(str::to_owned).to_vec(), spec));
        }
        Self(kinds)
    }

    /// Rewrites the declared fields.
    pub fn apply(&self, mut object: Value) -> Value {
        let Some(fields) = self.0.get(&object.group_kind()) else { return object };
        for (path, shape) in fields {
            if rewrite(&mut object, path, *shape).is_err() {
                tracing::error!(kind = object.kind(), name = object.name(), "Failed to normalize known type fields");
                break;
            }
        }
        object
    }
}

fn shape_of(name: &str) -> Option<Shape> {
    match name {
        "core/Quantity" => Some(Shape::Quantity),
        "meta/v1/Duration" => Some(Shape::Duration),
        // The one declarable type that is a map: this field has it.
        "core/v1/ResourceList" => Some(schema::core_struct("ResourceRequirements")?.field("limits")?.ty.shape()),
        _ => schema::core_struct(name.strip_prefix("core/v1/")?).map(Shape::Struct),
    }
}

fn rewrite(value: &mut Value, path: &[String], shape: Shape) -> Result<(), Misfit> {
    let Some((first, rest)) = path.split_first() else {
        *value = match shape {
            Shape::Struct(_) | Shape::Map(_) => decode(value, shape, Unknown::Dropped)?,
            _ if value.is_null() => return Ok(()),
            _ => scalar::canonical(value, shape).ok_or(Misfit)?,
        };
        return Ok(());
    };
    match value.get_mut(first) {
        Some(Value::Array(items)) => {
            for item in items.iter_mut().filter(|item| item.is_object()) {
                rewrite(item, rest, shape)?;
            }
            Ok(())
        }
        Some(next) => rewrite(next, rest, shape),
        None => Ok(()),
    }
}
