//! The language in which the library's rules are written.
//!
//! In:  a live object.
//! Out: the health that the first deciding step gives.
//! Invariant: patterns and texts are constants of this crate; only values come from objects. A rule fails exactly where
//! it says so: with [`Step::Fails`], or with a field that must be there.
//!
//! A *pattern* names conditions as `Type=Status/Reason`; the later parts may be left out. Each part is one word, several
//! words separated by `|`, `*` for anything, or `!` and words for anything else.
//! A *text* may contain `{field}` of the condition at hand, `{.path}` of the object and `{Type:field}` of the first
//! condition of a type. `{field|words}` falls back to words, `{field|@other}` to another field, when it is absent.
//! `{field!LINE}` must be there: Argo CD's script fails in that line without it.

use serde_json::Value;

use crate::health::read::{at, condition, list, plain, text};
use crate::health::{Code, Health};

/// Steps that are tried in order; the first one that gives a health decides.
pub(super) type Rule = &'static [Step];

/// A pattern, and the code and text that it leads to.
pub(super) type Row = (&'static str, Code, &'static str);

/// One step of a rule.
#[derive(Clone, Copy)]
pub(super) enum Step {
    /// Walks `status.conditions` in stored order; the first condition that matches a row decides.
    Walk(&'static [Row]),
    /// Walks the list at a path as `Walk` does.
    Each(&'static str, &'static [Row]),
    /// Looks at the last condition only.
    Last(&'static [Row]),
    /// Compares the value at a path with words; an absent value matches no row.
    Match(&'static str, &'static [Row]),
    /// Decides when all tests hold.
    When(&'static [Test], Code, &'static str),
    /// Decides always.
    Else(Code, &'static str),
    /// Decides by code of its own.
    By(fn(&Value) -> Option<Health>),
    /// Fails with Argo CD's words when all tests hold, since Argo CD's script cannot go on there.
    Fails(&'static [Test], &'static str),
}

/// A claim about an object.
#[derive(Clone, Copy)]
pub(super) enum Test {
    /// Something stands at the path.
    Has(&'static str),
    /// Nothing stands at the path.
    Lacks(&'static str),
    /// An empty map or list stands at the path.
    Empty(&'static str),
    /// A map or list with items stands at the path.
    NotEmpty(&'static str),
    /// The value at the path is one of the words; an absent value is none.
    Is(&'static str, &'static str),
    /// The generation at the path differs from the object's.
    Stale(&'static str),
    /// The generation at the path is the object's.
    Fresh(&'static str),
    /// Some condition matches the pattern.
    Condition(&'static str),
    /// Some condition that matches the pattern lacks the field.
    Unsaid(&'static str, &'static str),
    /// A claim of its own.
    That(fn(&Value) -> bool),
}

/// `Ready` decides: False is Degraded, True is Healthy, each with the condition's message.
pub(super) const READY: Step =
    Step::Walk(&[("Ready=False", Code::Degraded, "{message}"), ("Ready=True", Code::Healthy, "{message}")]);

/// Why a rule gives no health: Argo CD's script for the kind fails on such an object, in these words.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{0}")]
pub struct Fault(String);

/// The words for a key that is read from nothing, in a line of Argo CD's script.
macro_rules! nothing {
    ($line:literal, $key:literal) => {
        concat!("<string>:", $line, ": attempt to index a non-table object(nil) with key '", $key, "'")
    };
}

/// The words for texts that cannot be joined, such as `nil and string`, in a line of Argo CD's script.
macro_rules! unjoined {
    ($line:literal, $what:literal) => {
        concat!("<string>:", $line, ": cannot perform concat operation between ", $what)
    };
}

pub(super) use {nothing, unjoined};

impl Step {
    /// The health that this step gives, if it decides.
    pub(super) fn health(&self, object: &Value) -> Result<Option<Health>, Fault> {
        match self {
            Self::Walk(rows) => walk(conditions(object), rows, object),
            Self::Each(path, rows) => walk(list(object, path), rows, object),
            Self::Last(rows) => {
                walk(conditions(object).last().map(std::slice::from_ref).unwrap_or_default(), rows, object)
            }
            Self::Match(path, rows) => {
                let value = at(object, path);
                let word = plain(value);
                let row = rows.iter().find(|(words, ..)| !value.is_null() && one_of(words, &word));
                row.map(|(_, code, message)| said(*code, message, &Value::Null, object)).transpose()
            }
            Self::When(tests, code, message) if holds(tests, object) => {
                said(*code, message, &Value::Null, object).map(Some)
            }
            Self::Fails(tests, text) if holds(tests, object) => Err(Fault((*text).to_owned())),
            Self::When(..) | Self::Fails(..) => Ok(None),
            Self::Else(code, message) => said(*code, message, &Value::Null, object).map(Some),
            Self::By(decide) => Ok(decide(object)),
        }
    }
}

fn holds(tests: &[Test], object: &Value) -> bool {
    tests.iter().all(|test| test.holds(object))
}

fn said(code: Code, message: &str, item: &Value, object: &Value) -> Result<Health, Fault> {
    Ok(Health::new(code, render(message, item, object)?))
}

impl Test {
    fn holds(&self, object: &Value) -> bool {
        match self {
            Self::Has(path) => !at(object, path).is_null(),
            Self::Lacks(path) => at(object, path).is_null(),
            Self::Empty(path) => size(at(object, path)) == Some(0),
            Self::NotEmpty(path) => size(at(object, path)).is_some_and(|size| size > 0),
            Self::Is(path, words) => !at(object, path).is_null() && one_of(words, &plain(at(object, path))),
            Self::Stale(path) => !at(object, path).is_null() && !is_observed(object, at(object, path)),
            Self::Fresh(path) => is_observed(object, at(object, path)),
            Self::Condition(pattern) => conditions(object).iter().any(|found| is_match(pattern, found)),
            Self::Unsaid(pattern, field) => {
                conditions(object).iter().any(|found| is_match(pattern, found) && at(found, field).is_null())
            }
            Self::That(claim) => claim(object),
        }
    }
}

/// The conditions of an object.
pub(super) fn conditions(object: &Value) -> &[Value] {
    list(object, "status.conditions")
}

/// How many items a map or list has.
fn size(value: &Value) -> Option<usize> {
    match value {
        Value::Object(map) => Some(map.len()),
        Value::Array(items) => Some(items.len()),
        _ => None,
    }
}

/// Whether a generation is the object's; two absent ones are equal, as in the scripts.
pub(super) fn is_observed(object: &Value, generation: &Value) -> bool {
    at(object, "metadata.generation").as_f64() == generation.as_f64()
}

/// Whether a condition matches a pattern.
pub(super) fn is_match(pattern: &str, condition: &Value) -> bool {
    let (r#type, rest) = pattern.split_once('=').unwrap_or((pattern, "*"));
    let (status, reason) = rest.split_once('/').unwrap_or((rest, "*"));
    one_of(r#type, text(condition, "type"))
        && one_of(status, text(condition, "status"))
        && one_of(reason, text(condition, "reason"))
}

fn walk(items: &[Value], rows: &[Row], object: &Value) -> Result<Option<Health>, Fault> {
    let decide = |item| Some((item, rows.iter().find(|(pattern, ..)| is_match(pattern, item))?));
    let decided = items.iter().find_map(decide);
    decided.map(|(item, (_, code, message))| said(*code, message, item, object)).transpose()
}

/// Whether a word is among `words`.
fn one_of(words: &str, word: &str) -> bool {
    match words.strip_prefix('!') {
        Some(words) => !one_of(words, word),
        None => words == "*" || words.split('|').any(|candidate| candidate == word),
    }
}

/// Fills a text's fields in. Texts are joined from the right, so of several missing fields the last one is named.
fn render(template: &str, item: &Value, object: &Value) -> Result<String, Fault> {
    let (mut out, mut fault) = (String::new(), None);
    let mut rest = template;
    while let Some((before, after)) = rest.split_once('{') {
        let (field, after) = after.split_once('}').unwrap_or((after, ""));
        out.push_str(before);
        match fill(field, item, object) {
            Ok(text) => out.push_str(&text),
            Err(line) => {
                let what = if after.is_empty() { "string and nil" } else { "nil and string" };
                fault = Some(Fault(format!("<string>:{line}: cannot perform concat operation between {what}")));
            }
        }
        rest = after;
    }
    out.push_str(rest);
    fault.map_or(Ok(out), Err)
}

/// The text of one `{field|default}`, or the line in which Argo CD's script misses it.
fn fill<'a>(field: &'a str, item: &Value, object: &Value) -> Result<String, &'a str> {
    let (field, line) = field.split_once('!').map_or((field, None), |(field, line)| (field, Some(line)));
    let (path, default) = field.split_once('|').unwrap_or((field, ""));
    let value = match (path.strip_prefix('.'), path.split_once(':')) {
        (Some(path), _) => at(object, path),
        (None, Some((r#type, field))) => condition(object, r#type).map_or(&Value::Null, |found| at(found, field)),
        (None, None) => at(item, path),
    };
    match (value, line, default.strip_prefix('@')) {
        (Value::Null, Some(line), _) => Err(line),
        (Value::Null, None, Some(other)) => Ok(plain(at(item, other))),
        (Value::Null, None, None) => Ok(default.to_owned()),
        (value, ..) => Ok(plain(value)),
    }
}
