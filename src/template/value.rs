//! Values of a running template, with the Go types that error texts and `printf` show.

use std::cell::RefCell;
use std::collections::BTreeMap;
use std::rc::Rc;

use crate::gocompat::semver::Version;

/// What the elements of a list or map are declared as.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Elem {
    Any,
    Str,
    Int,
}

/// The entries of a map, which `set` and `unset` change in place.
pub(super) type Entries = Rc<RefCell<BTreeMap<String, Value>>>;

/// A value.
#[derive(Debug, Clone)]
pub(super) enum Value {
    /// No value at all: Go's zero `reflect.Value`.
    Invalid,
    /// A nil interface.
    Nil,
    Bool(bool),
    Int(i64),
    Int64(i64),
    Float(f64),
    Str(Rc<str>),
    List(Elem, Rc<Vec<Value>>),
    Map(Elem, Entries),
    Version(Rc<SemVer>),
}

/// What `semver` gives.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct SemVer {
    pub version: Version,
    metadata: String,
    original: String,
}

impl SemVer {
    pub(super) fn parse(text: &str) -> Result<Self, String> {
        let version = Version::parse(text).map_err(|error| error.to_string())?;
        let metadata = text.split_once('+').map_or("", |(_, metadata)| metadata).to_owned();
        Ok(Self { version, metadata, original: text.to_owned() })
    }

    /// The methods without arguments.
    pub(super) fn method(&self, name: &str) -> Option<Value> {
        let number = |number: u64| Some(Value::Int(i64::try_from(number).unwrap_or(i64::MAX)));
        match name {
            "Major" => number(self.version.major),
            "Minor" => number(self.version.minor),
            "Patch" => number(self.version.patch),
            "Prerelease" => Some(Value::str(&self.version.pre)),
            "Metadata" => Some(Value::str(&self.metadata)),
            "Original" => Some(Value::str(&self.original)),
            "String" => Some(Value::str(self.to_string())),
            _ => None,
        }
    }
}

impl std::fmt::Display for SemVer {
    fn fmt(&self, out: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let Version { major, minor, patch, pre } = &self.version;
        write!(out, "{major}.{minor}.{patch}")?;
        if !pre.is_empty() {
            write!(out, "-{pre}")?;
        }
        if self.metadata.is_empty() { Ok(()) } else { write!(out, "+{}", self.metadata) }
    }
}

impl Value {
    pub(super) fn str(text: impl AsRef<str>) -> Self {
        Self::Str(Rc::from(text.as_ref()))
    }

    pub(super) fn list(items: Vec<Value>) -> Self {
        Self::List(Elem::Any, Rc::new(items))
    }

    pub(super) fn strings(items: impl IntoIterator<Item = String>) -> Self {
        Self::List(Elem::Str, Rc::new(items.into_iter().map(Value::str).collect()))
    }

    pub(super) fn map(elem: Elem, entries: BTreeMap<String, Value>) -> Self {
        Self::Map(elem, Rc::new(RefCell::new(entries)))
    }

    /// Parameters are JSON to Argo CD, so every number is a `float64`.
    pub(super) fn from_json(json: &serde_json::Value) -> Self {
        use serde_json::Value as Json;
        match json {
            Json::Null => Self::Nil,
            Json::Bool(flag) => Self::Bool(*flag),
            Json::Number(number) => Self::Float(number.as_f64().unwrap_or(f64::NAN)),
            Json::String(text) => Self::str(text),
            Json::Array(items) => Self::list(items.iter().map(Self::from_json).collect()),
            Json::Object(entries) => {
                Self::map(Elem::Any, entries.iter().map(|(key, value)| (key.clone(), Self::from_json(value))).collect())
            }
        }
    }

    pub(super) fn is_nil(&self) -> bool {
        matches!(self, Self::Nil | Self::Invalid)
    }

    /// Go's name of the type.
    pub(super) fn type_name(&self) -> &'static str {
        match self {
            Self::Invalid | Self::Nil => "<nil>",
            Self::Bool(_) => "bool",
            Self::Int(_) => "int",
            Self::Int64(_) => "int64",
            Self::Float(_) => "float64",
            Self::Str(_) => "string",
            Self::Version(_) => "*semver.Version",
            Self::List(Elem::Any, _) => "[]interface {}",
            Self::List(Elem::Str, _) => "[]string",
            Self::List(Elem::Int, _) => "[]int",
            Self::Map(Elem::Any, _) => "map[string]interface {}",
            Self::Map(Elem::Str, _) => "map[string]string",
            Self::Map(Elem::Int, _) => "map[string]int",
        }
    }

    /// Go's name of the kind.
    pub(super) fn kind(&self) -> &'static str {
        match self {
            Self::Invalid | Self::Nil => "invalid",
            Self::Version(_) => "ptr",
            Self::List(..) => "slice",
            Self::Map(..) => "map",
            other => other.type_name(),
        }
    }

    /// Whether `if` takes it for true.
    pub(super) fn truth(&self) -> bool {
        match self {
            Self::Invalid | Self::Nil => false,
            Self::Bool(flag) => *flag,
            Self::Int(number) | Self::Int64(number) => *number != 0,
            Self::Float(number) => *number != 0.0,
            Self::Version(_) => true,
            Self::Str(text) => !text.is_empty(),
            Self::List(_, items) => !items.is_empty(),
            Self::Map(_, entries) => !entries.borrow().is_empty(),
        }
    }

    /// Go's `reflect.DeepEqual`: types count.
    pub(super) fn deep_equal(&self, other: &Self) -> bool {
        match (self, other) {
            (Self::Invalid | Self::Nil, Self::Invalid | Self::Nil) => true,
            (Self::Bool(a), Self::Bool(b)) => a == b,
            (Self::Int(a), Self::Int(b)) | (Self::Int64(a), Self::Int64(b)) => a == b,
            (Self::Float(a), Self::Float(b)) => a == b,
            (Self::Str(a), Self::Str(b)) => a == b,
            (Self::Version(a), Self::Version(b)) => a == b,
            (Self::List(of, a), Self::List(to, b)) => {
                of == to && a.len() == b.len() && a.iter().zip(b.iter()).all(|(a, b)| a.deep_equal(b))
            }
            (Self::Map(of, a), Self::Map(to, b)) => {
                let (a, b) = (a.borrow(), b.borrow());
                of == to
                    && a.len() == b.len()
                    && a.iter().zip(b.iter()).all(|((k, a), (l, b))| k == l && a.deep_equal(b))
            }
            _ => false,
        }
    }

    /// The value as JSON, for `toJson` and `toYaml`.
    pub(super) fn to_json(&self, depth: usize) -> Result<serde_json::Value, String> {
        use serde_json::Value as Json;
        if depth > MAX_NESTING {
            return Err("json: unsupported value: encountered a cycle via map[string]interface {}".to_owned());
        }
        Ok(match self {
            Self::Invalid | Self::Nil => Json::Null,
            Self::Bool(flag) => Json::Bool(*flag),
            Self::Int(number) | Self::Int64(number) => Json::from(*number),
            Self::Float(number) => float_to_json(*number)?,
            Self::Str(text) => Json::from(&**text),
            Self::Version(version) => Json::from(version.to_string()),
            Self::List(_, items) => {
                Json::Array(items.iter().map(|item| item.to_json(depth + 1)).collect::<Result<_, _>>()?)
            }
            Self::Map(_, entries) => Json::Object(
                entries
                    .borrow()
                    .iter()
                    .map(|(key, value)| Ok((key.clone(), value.to_json(depth + 1)?)))
                    .collect::<Result<_, String>>()?,
            ),
        })
    }
}

/// A map put into itself nests without end; nothing real nests deeper than this.
pub(super) const MAX_NESTING: usize = 100;

fn float_to_json(number: f64) -> Result<serde_json::Value, String> {
    // Go prints a whole float without a point.
    #[expect(clippy::cast_possible_truncation, reason = "the range is checked")]
    if number.fract() == 0.0 && number.abs() < 9e15 && !(number == 0.0 && number.is_sign_negative()) {
        return Ok(serde_json::Value::from(number as i64));
    }
    serde_json::Number::from_f64(number)
        .map(serde_json::Value::Number)
        .ok_or_else(|| format!("json: unsupported value: {}", super::number::general(number)))
}
