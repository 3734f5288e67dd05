//! Go's own functions of templates (`text/template/funcs.go`).

use std::cmp::Ordering;

use super::format::{plain, print, printed, printf};
use super::functions::Row;
use super::value::Value;

type Answer = Result<Value, String>;

pub(super) const TABLE: &[Row] = &[
    // The two are evaluated by the caller, which leaves out what need not be known.
    ("and", "vv*", |_, values| Ok(values.into_iter().next_back().unwrap_or(Value::Invalid))),
    ("or", "vv*", |_, values| Ok(values.into_iter().next_back().unwrap_or(Value::Invalid))),
    ("not", "v", |_, values| Ok(Value::Bool(!values.iter().any(Value::truth)))),
    ("len", "v", |_, values| len(&values)),
    ("index", "vv*", |_, values| index(&values)),
    ("call", "vv*", |_, values| call(&values)),
    ("print", "a*", |_, values| Ok(Value::str(print(&values)))),
    ("println", "a*", |_, values| {
        let words: Vec<String> = values.iter().map(plain).collect();
        Ok(Value::str(words.join(" ") + "\n"))
    }),
    ("printf", "sa*", |_, values| match values.split_first() {
        Some((Value::Str(format), rest)) => Ok(Value::str(printf(format, rest))),
        _ => Err("no format".to_owned()),
    }),
    ("html", "a*", |_, values| Ok(Value::str(html(&joined(&values))))),
    ("js", "a*", |_, values| Ok(Value::str(js(&joined(&values))))),
    ("urlquery", "a*", |_, values| Ok(Value::str(urlquery(&joined(&values))))),
    ("eq", "vv*", |_, values| equal_any(&values).map(Value::Bool)),
    ("ne", "vv", |_, values| Ok(Value::Bool(!two(&values, equal)?))),
    ("lt", "vv", |_, values| Ok(Value::Bool(two(&values, compare)?.is_some_and(Ordering::is_lt)))),
    ("le", "vv", |_, values| Ok(Value::Bool(two(&values, compare)?.is_some_and(Ordering::is_le)))),
    ("gt", "vv", |_, values| Ok(Value::Bool(!two(&values, compare)?.is_some_and(Ordering::is_le)))),
    ("ge", "vv", |_, values| Ok(Value::Bool(!two(&values, compare)?.is_some_and(Ordering::is_lt)))),
];

fn two<T>(values: &[Value], run: fn(&Value, &Value) -> Result<T, String>) -> Result<T, String> {
    match values {
        [a, b] => run(a, b),
        _ => Err("two values are needed".to_owned()),
    }
}

fn joined(values: &[Value]) -> String {
    match values {
        [Value::Str(text)] => text.to_string(),
        [Value::Invalid] => printed(&Value::Invalid),
        values => print(values),
    }
}

fn len(values: &[Value]) -> Answer {
    let size = match values.first() {
        Some(Value::Str(text)) => text.len(),
        Some(Value::List(_, items)) => items.len(),
        Some(Value::Map(_, entries)) => entries.borrow().len(),
        Some(Value::Nil) => return Err("len of nil pointer".to_owned()),
        Some(Value::Invalid) | None => {
            return Err("reflect: call of reflect.Value.Type on zero Value".to_owned());
        }
        Some(other) => return Err(format!("len of type {}", other.type_name())),
    };
    i64::try_from(size).map(Value::Int).map_err(|error| error.to_string())
}

fn index(values: &[Value]) -> Answer {
    let Some((item, indices)) = values.split_first() else { return Err("index of untyped nil".to_owned()) };
    if item.is_nil() {
        return Err("index of untyped nil".to_owned());
    }
    let mut item = item.clone();
    for index in indices {
        item = match (&item, index) {
            (Value::Map(_, entries), Value::Str(key)) => entries.borrow().get(&**key).cloned().unwrap_or(match &item {
                Value::Map(super::value::Elem::Str, _) => Value::str(""),
                _ => Value::Nil,
            }),
            (Value::Map(..), Value::Invalid | Value::Nil) => {
                return Err("value is nil; should be of type string".to_owned());
            }
            (Value::Map(..), other) => return Err(format!("value has type {}; should be string", other.type_name())),
            (Value::List(_, items), index) => items.get(position(index, items.len())?).cloned().unwrap_or(Value::Nil),
            (Value::Str(text), index) => {
                let byte = text.as_bytes().get(position(index, text.len())?).copied().unwrap_or_default();
                Value::Int(byte.into())
            }
            (Value::Invalid | Value::Nil, _) => return Err("index of nil pointer".to_owned()),
            (other, _) => return Err(format!("can't index item of type {}", other.type_name())),
        };
    }
    Ok(item)
}

fn position(index: &Value, len: usize) -> Result<usize, String> {
    let (Value::Int(at) | Value::Int64(at)) = index else {
        return Err(match index {
            Value::Invalid | Value::Nil => "cannot index slice/array with nil".to_owned(),
            other => format!("cannot index slice/array with type {}", other.type_name()),
        });
    };
    usize::try_from(*at).ok().filter(|at| *at < len).ok_or_else(|| format!("index out of range: {at}"))
}

fn call(values: &[Value]) -> Answer {
    match values.first() {
        None | Some(Value::Invalid | Value::Nil) => Err("call of nil".to_owned()),
        Some(other) => Err(format!("non-function {} of type {}", plain(other), other.type_name())),
    }
}

/// The basic kind, under which values compare.
fn basic(value: &Value) -> Option<&'static str> {
    match value {
        Value::Int(_) | Value::Int64(_) => Some("int"),
        Value::Bool(_) | Value::Float(_) | Value::Str(_) => Some(value.kind()),
        _ => None,
    }
}

fn equal_any(values: &[Value]) -> Result<bool, String> {
    let Some((first, rest)) = values.split_first() else { return Err("missing argument for comparison".to_owned()) };
    if rest.is_empty() {
        return Err("missing argument for comparison".to_owned());
    }
    for other in rest {
        if equal(first, other)? {
            return Ok(true);
        }
    }
    Ok(false)
}

fn equal(a: &Value, b: &Value) -> Result<bool, String> {
    if let (Some(of), Some(to)) = (basic(a), basic(b)) {
        if of != to {
            return Err(format!("incompatible types for comparison: {} and {}", a.type_name(), b.type_name()));
        }
        return Ok(match (a, b) {
            (Value::Int(a) | Value::Int64(a), Value::Int(b) | Value::Int64(b)) => a == b,
            _ => a.deep_equal(b),
        });
    }
    if a.is_nil() || b.is_nil() {
        return Ok(a.is_nil() && b.is_nil());
    }
    if a.type_name() != b.type_name() && basic(a).is_some() != basic(b).is_some() {
        return Err(format!("incompatible types for comparison: {} and {}", a.type_name(), b.type_name()));
    }
    Err(format!("non-comparable type {}: {}", printf("%s", std::slice::from_ref(b)), b.type_name()))
}

fn compare(a: &Value, b: &Value) -> Result<Option<Ordering>, String> {
    match (a, b) {
        (Value::Int(a) | Value::Int64(a), Value::Int(b) | Value::Int64(b)) => Ok(Some(a.cmp(b))),
        (Value::Float(a), Value::Float(b)) => Ok(a.partial_cmp(b)),
        (Value::Str(a), Value::Str(b)) => Ok(Some(a.cmp(b))),
        _ => match (basic(a), basic(b)) {
            (Some(of), Some(to)) if of != to => {
                Err(format!("incompatible types for comparison: {} and {}", a.type_name(), b.type_name()))
            }
            _ => Err("invalid type for comparison".to_owned()),
        },
    }
}

fn html(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for letter in text.chars() {
        match letter {
            '"' => out.push_str("&#34;"),
            '\'' => out.push_str("&#39;"),
            '&' => out.push_str("&amp;"),
            '<' => out.push_str("&lt;"),
            '>' => out.push_str("&gt;"),
            '\0' => out.push(char::REPLACEMENT_CHARACTER),
            _ => out.push(letter),
        }
    }
    out
}

fn js(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for letter in text.chars() {
        match letter {
            '\\' | '\'' | '"' => out.extend(['\\', letter]),
            '<' | '>' | '&' | '=' => out.push_str(&format!("\\u{:04X}", u32::from(letter))),
            _ if letter.is_control() => out.push_str(&format!("\\u{:04X}", u32::from(letter))),
            _ => out.push(letter),
        }
    }
    out
}

fn urlquery(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for byte in text.bytes() {
        match byte {
            b' ' => out.push('+'),
            b'-' | b'_' | b'.' | b'~' => out.push(char::from(byte)),
            _ if byte.is_ascii_alphanumeric() => out.push(char::from(byte)),
            _ => out.push_str(&format!("%{byte:02X}")),
        }
    }
    out
}
