//! The language in which the library's rules are written.
//!
//! In:  a live object.
//! Out: the health that the first deciding step gives.
//! Invariant: patterns and texts are constants of this crate; only values come from objects.
//!
//! A *pattern* names conditions as `Type=Status/Reason`; the later parts may be left out. Each part is one word, several
//! words separated by `|`, `*` for anything, or `!` and words for anything else.
//! A *text* may contain `{field}` of the condition at hand, `{.path}` of the object and `{Type:field}` of the first
//! condition of a type. `{field|words}` falls back to words, `{field|@other}` to another field, when it is absent.

use serde_json::Value;

use crate::health::read::{at, condition, list, plain, text};
use crate::health::{Code, Health};

/// Steps that are tried in order; the first one that gives a health decides.
pub(super) type Rule = &'static [Step];

/// A pattern, and the code and text that it leads to.
pub(super) type Row = (&'static str, Code, &'static str);

/// One step of a rule.
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
}

/// A claim about an object.
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
}

/// `Ready` decides: False is Degraded, True is Healthy, each with the condition's message.
pub(super) const READY: Step =
    Step::Walk(&[("Ready=False", Code::Degraded, "{message}"), ("Ready=True", Code::Healthy, "{message}")]);

impl Step {
    /// The health that this step gives, if it decides.
    pub(super) fn health(&self, object: &Value) -> Option<Health> {
        match self {
            Self::Walk(rows) => walk(conditions(object), rows, object),
            Self::Each(path, rows) => walk(list(object, path), rows, object),
            Self::Last(rows) => walk(conditions(object).last().map(std::slice::from_ref)?, rows, object),
            Self::Match(path, rows) => {
                let value = at(object, path);
                let word = plain(value);
                let (_, code, message) = rows.iter().find(|(words, ..)| !value.is_null() && one_of(words, &word))?;
                Some(Health::new(*code, render(message, &Value::Null, object)))
            }
            Self::When(tests, code, message) => tests
                .iter()
                .all(|test| test.holds(object))
                .then(|| Health::new(*code, render(message, &Value::Null, object))),
            Self::Else(code, message) => Some(Health::new(*code, render(message, &Value::Null, object))),
            Self::By(decide) => decide(object),
        }
    }
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

fn walk(items: &[Value], rows: &[Row], object: &Value) -> Option<Health> {
    items.iter().find_map(|item| {
        let (_, code, message) = rows.iter().find(|(pattern, ..)| is_match(pattern, item))?;
        Some(Health::new(*code, render(message, item, object)))
    })
}

/// Whether a word is among `words`.
fn one_of(words: &str, word: &str) -> bool {
    match words.strip_prefix('!') {
        Some(words) => !one_of(words, word),
        None => words == "*" || words.split('|').any(|candidate| candidate == word),
    }
}

/// Fills a text's fields in.
fn render(template: &str, item: &Value, object: &Value) -> String {
    let mut out = String::new();
    let mut rest = template;
    while let Some((before, after)) = rest.split_once('{') {
        let (field, after) = after.split_once('}').unwrap_or((after, ""));
        out.push_str(before);
        out.push_str(&fill(field, item, object));
        rest = after;
    }
    out.push_str(rest);
    out
}

/// The text of one `{field|default}`.
fn fill(field: &str, item: &Value, object: &Value) -> String {
    let (path, default) = field.split_once('|').unwrap_or((field, ""));
    let value = match (path.strip_prefix('.'), path.split_once(':')) {
        (Some(path), _) => at(object, path),
        (None, Some((r#type, field))) => condition(object, r#type).map_or(&Value::Null, |found| at(found, field)),
        (None, None) => at(item, path),
    };
    match (value, default.strip_prefix('@')) {
        (Value::Null, Some(other)) => plain(at(item, other)),
        (Value::Null, None) => default.to_owned(),
        (value, _) => plain(value),
    }
}
