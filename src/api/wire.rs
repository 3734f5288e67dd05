//! The macro that declares wire structs the way Go's struct tags do.
//!
//! In:  fields with their JSON name, one of three modes, and optionally `=> function` giving the field's schema where
//!      its Rust type does not say enough (formats, enums, patterns, free-form parts).
//! Out: a struct that serialises as Go's encoder would, accepts `null` for any field, and knows its own schema.
//! Invariant: `required` is written even when zero and the CRD demands it; `always` is written even when zero
//! (Go does not drop zero structs, APP-044); every other field is left out when zero.

use std::collections::BTreeMap;

use serde::{Deserialize, Deserializer};

/// Go's notion of a zero value, for `omitempty`.
pub trait Zero {
    /// Whether Go's `omitempty` would drop the value.
    fn is_zero(&self) -> bool;
}

impl Zero for String {
    fn is_zero(&self) -> bool {
        self.is_empty()
    }
}
impl Zero for bool {
    fn is_zero(&self) -> bool {
        !*self
    }
}
impl Zero for i64 {
    fn is_zero(&self) -> bool {
        *self == 0
    }
}
impl<T> Zero for Option<T> {
    fn is_zero(&self) -> bool {
        self.is_none()
    }
}
impl<T> Zero for Vec<T> {
    fn is_zero(&self) -> bool {
        self.is_empty()
    }
}
impl<K, V> Zero for BTreeMap<K, V> {
    fn is_zero(&self) -> bool {
        self.is_empty()
    }
}

/// Reads `null` as the type's zero value, as Go's decoder does.
pub fn null_is_zero<'de, D: Deserializer<'de>, T: Deserialize<'de> + Default>(de: D) -> Result<T, D::Error> {
    Ok(Option::<T>::deserialize(de)?.unwrap_or_default())
}

/// Declares wire structs; see the module's header.
macro_rules! wire {
    ($( $(#[$meta:meta])* pub struct $name:ident { $( $(#[$fmeta:meta])* $field:ident : $ty:ty = $json:literal $( $mode:ident )? $( => $schema:expr )? ; )* } )*) => { $(
        $(#[$meta])*
        #[derive(Debug, Clone, PartialEq, Default)]
        pub struct $name { $( $(#[$fmeta])* pub $field: $ty, )* }

        impl serde::Serialize for $name {
            fn serialize<S: serde::Serializer>(&self, ser: S) -> Result<S::Ok, S::Error> {
                use serde::ser::SerializeMap;
                let mut map = ser.serialize_map(None)?;
                $( if $crate::api::wire::wire!(@keep $( $mode )?) || !$crate::api::wire::Zero::is_zero(&self.$field) {
                    map.serialize_entry($json, &self.$field)?;
                } )*
                map.end()
            }
        }

        impl<'de> serde::Deserialize<'de> for $name {
            fn deserialize<D: serde::Deserializer<'de>>(de: D) -> Result<Self, D::Error> {
                #[derive(serde::Deserialize)]
                struct Shadow { $(
                    #[serde(rename = $json, default, deserialize_with = "crate::api::wire::null_is_zero")]
                    $field: $ty,
                )* }
                let Shadow { $( $field, )* } = Shadow::deserialize(de)?;
                Ok(Self { $( $field, )* })
            }
        }

        impl $crate::api::wire::Zero for $name {
            fn is_zero(&self) -> bool {
                true $( && $crate::api::wire::Zero::is_zero(&self.$field) )*
            }
        }

        impl $crate::api::schema::Schema for $name {
            fn schema() -> serde_json::Value {
                // A table of function pointers keeps the code of each struct small.
                const FIELDS: &[$crate::api::schema::Field] = &[ $( $crate::api::schema::Field {
                    name: $json,
                    required: $crate::api::wire::wire!(@demanded $( $mode )?),
                    schema: $crate::api::wire::wire!(@schema $ty $( , $schema )?),
                }, )* ];
                $crate::api::schema::object(FIELDS)
            }
        }
    )* };
    (@keep) => { false };
    (@keep required) => { true };
    (@keep always) => { true };
    (@demanded required) => { true };
    (@demanded $( always )?) => { false };
    (@schema $ty:ty) => { <$ty as $crate::api::schema::Schema>::schema };
    (@schema $ty:ty , $schema:expr) => { $schema };
}
pub(crate) use wire;
