//! Turns a tree of nodes into a JSON value, merge keys and aliases resolved.
//!
//! In:  the tree of one document.
//! Out: a value; or the whole error text, which starts with `yaml: ` where go-yaml is the one that refuses.
//! Invariant: work done for aliases stays a bounded share of all work.
//! Source: REND-268 to REND-272 (`go.yaml.in/yaml/v2/decode.go`, `sigs.k8s.io/yaml` `convertToJSONableObject`).

use std::collections::HashSet;

use serde_json::{Map, Number, Value};

use crate::gocompat::strconv::quote;

use super::resolve::{Resolved, resolve};
use super::tree::{Data, NodeId, Scalar, Tree};

/// What equal keys in one mapping mean.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Duplicates {
    LastWins,
    Refused,
}

/// Decodes the document; an empty one is `null`.
pub(super) fn decode(tree: &Tree, duplicates: Duplicates) -> Result<Value, String> {
    let Some(root) = tree.root else { return Ok(Value::Null) };
    let mut decoder = Decoder {
        tree,
        duplicates,
        active_aliases: HashSet::new(),
        work: Work::default(),
        repeated: Vec::new(),
        bad_key: None,
        bad_number: None,
    };
    let value = decoder.value(root).map_err(|problem| format!("yaml: {problem}"))?;
    if !decoder.repeated.is_empty() {
        return Err(format!("yaml: unmarshal errors:\n  {}", decoder.repeated.join("\n  ")));
    }
    // Go converts keys after all is decoded and numbers after all keys, so these errors come last and in this order.
    match decoder.bad_key.or(decoder.bad_number) {
        Some(problem) => Err(problem),
        None => Ok(value),
    }
}

struct Decoder<'a> {
    tree: &'a Tree,
    duplicates: Duplicates,
    active_aliases: HashSet<NodeId>,
    work: Work,
    repeated: Vec<String>,
    bad_key: Option<String>,
    bad_number: Option<String>,
}

impl Decoder<'_> {
    fn value(&mut self, id: NodeId) -> Result<Value, String> {
        self.work.step()?;
        let Some(node) = self.tree.node(id) else { return Ok(Value::Null) };
        match &node.data {
            Data::Scalar(scalar) => {
                let resolved = typed(scalar)?;
                Ok(self.json(resolved))
            }
            Data::Sequence(items) => {
                items.iter().map(|item| self.value(*item)).collect::<Result<Vec<_>, _>>().map(Value::Array)
            }
            Data::Mapping(pairs) => {
                let mut map = Map::new();
                self.fill(pairs, &mut map)?;
                Ok(Value::Object(map))
            }
            Data::Alias { name, target } => self.within_alias(id, name, |decoder| decoder.value(*target)),
        }
    }

    /// Runs `inner` for the target of an alias, which must not be inside itself.
    fn within_alias<T>(
        &mut self,
        id: NodeId,
        name: &str,
        inner: impl FnOnce(&mut Self) -> Result<T, String>,
    ) -> Result<T, String> {
        if !self.active_aliases.insert(id) {
            return Err(format!("anchor '{name}' value contains itself"));
        }
        self.work.alias_depth += 1;
        let result = inner(self);
        self.work.alias_depth -= 1;
        self.active_aliases.remove(&id);
        result
    }

    /// Adds pairs to a map in document order; a merge key overrides what stands before it.
    fn fill(&mut self, pairs: &[(NodeId, NodeId)], map: &mut Map<String, Value>) -> Result<(), String> {
        let mut seen = HashSet::new();
        for (key, value) in pairs {
            if self.is_merge(*key) {
                self.merge(*value, map)?;
                continue;
            }
            let key = self.key(*key)?;
            let decoded = self.value(*value)?;
            match key.text {
                // Go sees `1` and `"1"` as two keys here, hence the comparison before keys become text.
                Some(_) if self.duplicates == Duplicates::Refused && !seen.insert(key.go_syntax.clone()) => {
                    let line = self.tree.node(*value).map_or(0, |node| node.line) + 1;
                    self.repeated.push(format!("line {line}: key {} already set in map", key.go_syntax));
                }
                Some(text) => {
                    map.insert(text, decoded);
                }
                None => {
                    let value = go_syntax(&decoded);
                    self.bad_key.get_or_insert_with(|| {
                        format!("unsupported map key of type: {}, key: {}, value: {value}", key.go_type, key.go_syntax)
                    });
                }
            }
        }
        Ok(())
    }

    fn key(&mut self, id: NodeId) -> Result<Key, String> {
        self.work.step()?;
        let node = self.tree.node(id).map(|node| &node.data);
        match node {
            Some(Data::Scalar(scalar)) => typed(scalar).map(Key::from),
            Some(Data::Alias { name, target }) => self.within_alias(id, name, |decoder| decoder.key(*target)),
            _ => {
                let value = self.value(id)?;
                Err(format!("invalid map key: {}", go_syntax(&value)))
            }
        }
    }

    fn is_merge(&self, id: NodeId) -> bool {
        match self.tree.node(id).map(|node| &node.data) {
            Some(Data::Scalar(Scalar { value, tag, plain })) => {
                value == "<<" && (*plain || tag == "tag:yaml.org,2002:merge")
            }
            _ => false,
        }
    }

    fn merge(&mut self, id: NodeId, map: &mut Map<String, Value>) -> Result<(), String> {
        match self.tree.node(id).map(|node| &node.data) {
            Some(Data::Mapping(_) | Data::Alias { .. }) => self.merge_one(id, map),
            // Earlier entries win, so they are written last.
            Some(Data::Sequence(items)) => items.iter().rev().try_for_each(|item| self.merge_one(*item, map)),
            _ => Err(WANT_MAP.to_owned()),
        }
    }

    fn merge_one(&mut self, id: NodeId, map: &mut Map<String, Value>) -> Result<(), String> {
        self.work.step()?;
        match self.tree.node(id).map(|node| &node.data) {
            Some(Data::Mapping(pairs)) => self.fill(pairs, map),
            Some(Data::Alias { name, target }) => match self.tree.node(*target).map(|node| &node.data) {
                Some(Data::Mapping(pairs)) => self.within_alias(id, name, |decoder| decoder.fill(pairs, map)),
                _ => Err(WANT_MAP.to_owned()),
            },
            _ => Err(WANT_MAP.to_owned()),
        }
    }

    fn json(&mut self, resolved: Resolved) -> Value {
        match resolved {
            Resolved::Null => Value::Null,
            Resolved::Bool(flag) => Value::Bool(flag),
            Resolved::Int(int) => int.into(),
            // Kubernetes objects hold 64-bit signed numbers; larger ones lose precision in Go too.
            Resolved::Uint(uint) => float_number(as_float(uint)),
            Resolved::Float(float) if float.is_finite() => float_number(float),
            Resolved::Float(float) => {
                self.bad_number.get_or_insert_with(|| format!("json: unsupported value: {}", not_finite(float)));
                Value::Null
            }
            Resolved::Str(text) => Value::String(text),
        }
    }
}

const WANT_MAP: &str = "map merge requires map or sequence of maps as the value";

fn typed(scalar: &Scalar) -> Result<Resolved, String> {
    if scalar.tag.is_empty() && !scalar.plain {
        return Ok(Resolved::Str(scalar.value.clone()));
    }
    resolve(&scalar.tag, &scalar.value)
}

#[allow(clippy::cast_precision_loss)] // Go converts the same way.
fn as_float(uint: u64) -> f64 {
    uint as f64
}

/// A float as Go's object holds it after the trip through JSON text: whole numbers that fit become integers.
fn float_number(float: f64) -> Value {
    // `Display` prints the shortest digits without an exponent, which is what Go prints below 1e21.
    let whole = (float.abs() < 1e21).then(|| float.to_string().parse::<i64>().ok()).flatten();
    match whole {
        Some(int) => int.into(),
        None => Number::from_f64(float).map_or(Value::Null, Value::Number),
    }
}

fn not_finite(float: f64) -> &'static str {
    if float.is_nan() {
        "NaN"
    } else if float > 0.0 {
        "+Inf"
    } else {
        "-Inf"
    }
}

/// A mapping key, as text where JSON can have it.
struct Key {
    text: Option<String>,
    go_syntax: String,
    go_type: &'static str,
}

impl From<Resolved> for Key {
    fn from(resolved: Resolved) -> Self {
        let named = |text: String, go_type| Self { text: Some(text.clone()), go_syntax: text, go_type };
        match resolved {
            Resolved::Null => Self { text: None, go_syntax: "<nil>".to_owned(), go_type: "%!s(<nil>)" },
            Resolved::Bool(flag) => named(flag.to_string(), "bool"),
            Resolved::Int(int) => named(int.to_string(), "int"),
            Resolved::Uint(uint) => Self { text: None, go_syntax: format!("{uint:#x}"), go_type: "uint64" },
            Resolved::Float(float) => named(float_key(float), "float64"),
            Resolved::Str(text) => Self { go_syntax: quote(&text), text: Some(text), go_type: "string" },
        }
    }
}

/// A float key: shortest digits at 32-bit precision, exponent form below 1e-4 and from 1e6 on (Go `%g`).
fn float_key(float: f64) -> String {
    if float.is_nan() {
        return ".nan".to_owned();
    }
    #[allow(clippy::cast_possible_truncation)] // Go formats float keys at 32 bits.
    let float = float as f32;
    if float.is_infinite() {
        return if float > 0.0 { ".inf" } else { "-.inf" }.to_owned();
    }
    let scientific = format!("{float:e}");
    let (mantissa, exponent) = scientific.split_once('e').unwrap_or((&scientific, "0"));
    let exponent = exponent.parse::<i32>().unwrap_or_default();
    if float != 0.0 && !(-4..6).contains(&exponent) {
        let sign = if exponent < 0 { '-' } else { '+' };
        return format!("{mantissa}e{sign}{:02}", exponent.abs());
    }
    float.to_string()
}

/// A value as Go's `%#v` prints it, for error texts.
fn go_syntax(value: &Value) -> String {
    match value {
        Value::Null => "interface {}(nil)".to_owned(),
        Value::Bool(flag) => flag.to_string(),
        Value::Number(number) => number.to_string(),
        Value::String(text) => quote(text),
        Value::Array(items) => {
            format!("[]interface {{}}{{{}}}", items.iter().map(go_syntax).collect::<Vec<_>>().join(", "))
        }
        Value::Object(map) => {
            let pairs = map.iter().map(|(key, value)| format!("{}:{}", quote(key), go_syntax(value)));
            format!("map[interface {{}}]interface {{}}{{{}}}", pairs.collect::<Vec<_>>().join(", "))
        }
    }
}

/// How much was decoded, and how much of it because of aliases.
#[derive(Default)]
struct Work {
    steps: u32,
    alias_steps: u32,
    alias_depth: u32,
}

impl Work {
    /// Counts a step; refuses documents most of whose work comes from aliases. The share allowed falls from 99 % to
    /// 10 % as the document grows, so both small repetitive files and large plain ones pass.
    fn step(&mut self) -> Result<(), String> {
        const LOW: f64 = 400_000.0;
        const HIGH: f64 = 4_000_000.0;
        self.steps = self.steps.saturating_add(1);
        if self.alias_depth > 0 {
            self.alias_steps = self.alias_steps.saturating_add(1);
        }
        if self.alias_steps <= 100 || self.steps <= 1_000 {
            return Ok(());
        }
        let steps = f64::from(self.steps);
        let allowed = 0.99 - 0.89 * ((steps - LOW) / (HIGH - LOW)).clamp(0.0, 1.0);
        if f64::from(self.alias_steps) / steps > allowed {
            return Err("document contains excessive aliasing".to_owned());
        }
        Ok(())
    }
}
