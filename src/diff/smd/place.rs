//! Where in an object a value stands, and how values merge there.
//!
//! In:  the type table, and what managedFields show of the object.
//! Out: for a value: its children with their steps; for a list: how its items are told apart.
//! Source: DIFF-045 (structured-merge-diff 6.4.0 `schema`, `typed/helpers.go`).

use serde_json::{Map, Value};

use crate::api::object::ObjectExt;
use crate::diff::fields::{Fields, Step, field_step, key_names, key_step, value_step};
use crate::diff::schema::{self, ListKind, Shape};

/// How the items of a list are told apart.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Items {
    /// They are not: the list is one value.
    Atomic,
    /// By their own value.
    Set,
    /// By these key fields.
    Keyed(Vec<String>),
}

/// A place in an object.
#[derive(Debug, Clone, Copy)]
pub struct Place<'a> {
    /// Type of the value here; [`Shape::Any`] where it is unknown.
    pub shape: Shape,
    field: Option<schema::Field>,
    shown: Option<&'a Fields>,
}

impl<'a> Place<'a> {
    /// The top of an object.
    pub fn root(object: &Value, shown: &'a Fields) -> Self {
        let shape = schema::registered(&object.gvk()).map_or(Shape::Any, Shape::Struct);
        Self { shape, field: None, shown: Some(shown) }
    }

    fn below(self, step: &str, shape: Shape, field: Option<schema::Field>) -> Self {
        Self { shape, field, shown: self.shown.and_then(|shown| shown.children.get(step)) }
    }

    /// The place of a field or map entry; nothing when the struct here has no such field.
    pub fn field(self, name: &str) -> Option<Self> {
        let step = field_step(name);
        match self.shape {
            Shape::Struct(ty) => {
                let field = ty.field(name)?;
                Some(self.below(&step, field.ty.shape(), Some(field)))
            }
            Shape::Map(value) => Some(self.below(&step, value.shape(), None)),
            _ => Some(self.below(&step, Shape::Any, None)),
        }
    }

    /// The place of a list item.
    pub fn item(self, step: &str) -> Self {
        let shape = match self.shape {
            Shape::List(item) => item.shape(),
            _ => Shape::Any,
        };
        self.below(step, shape, None)
    }

    /// Whether an object here is one value.
    pub fn is_atomic_map(self) -> bool {
        let by_type = match self.shape {
            Shape::Struct(ty) => ty.atomic(),
            Shape::Raw => true,
            _ => false,
        };
        by_type || self.field.is_some_and(|field| field.atomic())
    }

    /// Whether entries of an object here are no declared fields.
    pub fn is_open_map(self) -> bool {
        !matches!(self.shape, Shape::Struct(_))
    }

    /// How items of a list here are told apart.
    pub fn items(self) -> Items {
        if let Some(field) = self.field.filter(|_| matches!(self.shape, Shape::List(_))) {
            return match field.list_kind() {
                ListKind::Atomic => Items::Atomic,
                ListKind::Set => Items::Set,
                ListKind::Keyed(keys) => Items::Keyed(keys.into_iter().map(str::to_owned).collect()),
            };
        }
        if self.shape != Shape::Any {
            return Items::Atomic;
        }
        let steps = self.shown.map(|shown| &shown.children);
        let shown = steps.and_then(|steps| steps.keys().find(|step| step.starts_with("k:") || step.starts_with("v:")));
        match shown {
            Some(step) => key_names(step).map_or(Items::Set, Items::Keyed),
            None => Items::Atomic,
        }
    }

    /// The step to an item, or nothing when the item lacks all its keys.
    pub fn step(self, items: &Items, item: &Value) -> Option<Step> {
        match items {
            Items::Atomic => None,
            Items::Set => Some(value_step(item)),
            Items::Keyed(keys) => {
                let mut key = Map::new();
                for name in keys {
                    let value = item.get(name).cloned().or_else(|| self.key_default(name));
                    key.extend(value.map(|value| (name.clone(), value)));
                }
                (!key.is_empty()).then(|| key_step(&key))
            }
        }
    }

    fn key_default(self, name: &str) -> Option<Value> {
        let Shape::List(item) = self.shape else { return None };
        let Shape::Struct(ty) = item.shape() else { return None };
        ty.field(name)?.key_default().map(Value::from)
    }

    /// The steps to all items of a list, where each has one.
    pub fn steps(self, items: &Items, list: &[Value]) -> Option<Vec<Step>> {
        list.iter().map(|item| self.step(items, item)).collect()
    }
}
