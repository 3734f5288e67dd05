//! Rewrites an object as Go would after reading it into its own type: canonical scalars, empty fields dropped.
//!
//! In:  an object of any kind.
//! Out: the object with canonical numbers and, for kinds client-go registers, canonical values. An object that does
//!      not fit its type exactly keeps its fields as they are.
//! Invariant: no field is added that the input lacks.
//! Source: DIFF-055 to DIFF-058 (`gitops-engine/pkg/diff/diff.go` remarshal).

use serde_json::{Map, Number, Value};

use super::scalar;
use crate::diff::jsonmerge;
use crate::diff::schema::{self, Field, Shape, Struct};

/// The value does not fit the type; what exactly does not matter, since the object is then left as it is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Misfit;

/// Remarshals an object.
pub fn remarshal(object: &Value) -> Value {
    let object = numbers(object);
    let Some(root) = schema::registered(&crate::api::object::ObjectExt::gvk(&object)) else { return object };
    match decode_struct(&object, root, Unknown::Refused) {
        Ok(typed) => jsonmerge::reduce(&object, &typed),
        Err(Misfit) => object,
    }
}

/// Whether an object can be read into its type, unknown fields aside.
pub fn fits(object: &Value, ty: Struct) -> bool {
    decode_struct(object, ty, Unknown::Dropped).is_ok()
}

/// Floats that hold a whole number become integers, as they do on the way through Go's JSON.
pub fn numbers(value: &Value) -> Value {
    match value {
        Value::Number(number) => Value::Number(whole(number)),
        Value::Array(items) => items.iter().map(numbers).collect(),
        Value::Object(map) => Value::Object(map.iter().map(|(key, value)| (key.clone(), numbers(value))).collect()),
        other => other.clone(),
    }
}

fn whole(number: &Number) -> Number {
    let Some(float) = number.as_f64().filter(|_| number.is_f64()) else { return number.clone() };
    // Go writes floats below 1e21 without an exponent, and such text reads back as an integer when 64 bits hold it.
    if float.fract() != 0.0 || float.abs() >= 9.2e18 {
        return number.clone();
    }
    format!("{float:.0}").parse::<i64>().map_or_else(|_| number.clone(), Number::from)
}

/// What becomes of fields that the type lacks.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Unknown {
    /// The whole value is refused.
    Refused,
    /// They are dropped.
    Dropped,
}

/// Reads a value into a struct and writes it again, with every field that Go writes even when empty.
pub fn decode_struct(value: &Value, ty: Struct, unknown: Unknown) -> Result<Value, Misfit> {
    let map = match value {
        Value::Null => &Map::new(),
        Value::Object(map) => map,
        _ => return Err(Misfit),
    };
    for key in map.keys() {
        if unknown == Unknown::Refused && ty.field_folded(key).is_none() {
            return Err(Misfit);
        }
    }
    let mut out = Map::new();
    for field in ty.fields() {
        let given = map
            .get(field.name)
            .or_else(|| map.iter().find(|(key, _)| key.eq_ignore_ascii_case(field.name)).map(|(_, value)| value));
        if let Some(value) = decode_field(given.unwrap_or(&Value::Null), &field, unknown)? {
            out.insert(field.name.to_owned(), value);
        }
    }
    Ok(out.into())
}

/// The field as Go writes it; nothing where Go leaves the field out.
fn decode_field(value: &Value, field: &Field, unknown: Unknown) -> Result<Option<Value>, Misfit> {
    if value.is_null() && field.ty.is_pointer() {
        return Ok(field.always.then_some(Value::Null));
    }
    let decoded = decode(value, field.ty.shape(), unknown)?;
    if field.always || field.ty.is_pointer() || !is_empty(&decoded, field.ty.shape()) {
        return Ok(Some(decoded));
    }
    Ok(None)
}

/// Whether Go's `omitempty` leaves the value out. Structs are never empty to it; times are written as null.
fn is_empty(value: &Value, shape: Shape) -> bool {
    match value {
        Value::Null => true,
        Value::Bool(flag) => !flag,
        Value::Number(number) => shape != Shape::IntOrString && shape != Shape::Any && number.as_f64() == Some(0.0),
        Value::String(text) => shape != Shape::IntOrString && shape != Shape::Quantity && text.is_empty(),
        Value::Array(items) => items.is_empty(),
        Value::Object(map) => matches!(shape, Shape::Map(_)) && map.is_empty(),
    }
}

/// Reads a value of any type and writes it again; null becomes what Go writes for a value that was never set.
pub fn decode(value: &Value, shape: Shape, unknown: Unknown) -> Result<Value, Misfit> {
    if value.is_null() {
        return zero(shape, unknown);
    }
    match (shape, value) {
        (Shape::List(item), Value::Array(items)) => {
            items.iter().map(|value| element(value, item, unknown)).collect::<Result<Vec<_>, _>>().map(Value::Array)
        }
        (Shape::Map(item), Value::Object(map)) => map
            .iter()
            .map(|(key, value)| Ok((key.clone(), element(value, item, unknown)?)))
            .collect::<Result<Map<_, _>, _>>()
            .map(Value::Object),
        (Shape::Struct(ty), _) => decode_struct(value, ty, unknown),
        (Shape::List(_) | Shape::Map(_), _) => Err(Misfit),
        _ => scalar::canonical(value, shape).ok_or(Misfit),
    }
}

fn element(value: &Value, ty: schema::Type, unknown: Unknown) -> Result<Value, Misfit> {
    if value.is_null() && ty.is_pointer() { Ok(Value::Null) } else { decode(value, ty.shape(), unknown) }
}

/// What Go writes for a value that was never set.
fn zero(shape: Shape, unknown: Unknown) -> Result<Value, Misfit> {
    Ok(match shape {
        Shape::String => "".into(),
        Shape::Bool => false.into(),
        Shape::Int32 | Shape::Int64 | Shape::Float | Shape::IntOrString => 0.into(),
        Shape::Quantity => "0".into(),
        Shape::Duration => "0s".into(),
        Shape::Struct(ty) => decode_struct(&Value::Null, ty, unknown)?,
        _ => Value::Null,
    })
}
