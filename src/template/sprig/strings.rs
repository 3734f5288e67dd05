//! Texts.

use super::super::functions::{Context, Row};
use super::super::value::{Elem, Value};
use super::{Answer, any, int, strings_of, strval, text};
use crate::gocompat::strconv::quote;

fn of(text: impl AsRef<str>) -> Answer {
    Ok(Value::str(text))
}

pub(super) const TABLE: &[Row] = &[
    ("hello", "", |_, _| of("Hello!")),
    ("trim", "s", |_, v| of(text(&v, 0).trim())),
    ("upper", "s", |_, v| of(text(&v, 0).to_uppercase())),
    ("lower", "s", |_, v| of(text(&v, 0).to_lowercase())),
    ("title", "s", |_, v| of(title(text(&v, 0)))),
    ("untitle", "s", |_, v| of(untitle(text(&v, 0)))),
    ("trunc", "is", |_, v| of(trunc(int(&v, 0), text(&v, 1)))),
    ("substr", "iis", |_, v| substr(int(&v, 0), int(&v, 1), text(&v, 2))),
    ("repeat", "is", |c, v| repeat(c, int(&v, 0), text(&v, 1))),
    ("trimall", "ss", |_, v| of(text(&v, 1).trim_matches(|l| text(&v, 0).contains(l)))),
    ("trimAll", "ss", |_, v| of(text(&v, 1).trim_matches(|l| text(&v, 0).contains(l)))),
    ("trimSuffix", "ss", |_, v| of(text(&v, 1).strip_suffix(text(&v, 0)).unwrap_or(text(&v, 1)))),
    ("trimPrefix", "ss", |_, v| of(text(&v, 1).strip_prefix(text(&v, 0)).unwrap_or(text(&v, 1)))),
    ("nospace", "s", |_, v| of(text(&v, 0).split_whitespace().collect::<String>())),
    ("initials", "s", |_, v| of(text(&v, 0).split_whitespace().filter_map(|w| w.chars().next()).collect::<String>())),
    ("contains", "ss", |_, v| Ok(Value::Bool(text(&v, 1).contains(text(&v, 0))))),
    ("hasPrefix", "ss", |_, v| Ok(Value::Bool(text(&v, 1).starts_with(text(&v, 0))))),
    ("hasSuffix", "ss", |_, v| Ok(Value::Bool(text(&v, 1).ends_with(text(&v, 0))))),
    ("quote", "a*", |_, v| of(words(&v, |item| quote(&strval(item))))),
    ("squote", "a*", |_, v| of(words(&v, |item| format!("'{}'", strval(item))))),
    ("cat", "a*", |_, v| of(words(&v, strval))),
    ("indent", "is", |c, v| indent(c, "", int(&v, 0), text(&v, 1))),
    ("nindent", "is", |c, v| indent(c, "\n", int(&v, 0), text(&v, 1))),
    ("replace", "sss", |c, v| replace(c, &v)),
    ("plural", "ssi", |_, v| of(text(&v, usize::from(int(&v, 2) != 1)))),
    ("toString", "a", |_, v| of(strval(&any(&v, 0)))),
    ("toStrings", "a", |_, v| Ok(Value::strings(strings_of(&any(&v, 0))))),
    ("join", "sa", |_, v| of(strings_of(&any(&v, 1)).join(text(&v, 0)))),
    ("sortAlpha", "a", |_, v| {
        let mut items = strings_of(&any(&v, 0));
        items.sort();
        Ok(Value::strings(items))
    }),
    ("splitList", "ss", |_, v| Ok(Value::strings(split(text(&v, 0), text(&v, 1), None)))),
    ("split", "ss", |_, v| Ok(numbered(split(text(&v, 0), text(&v, 1), None)))),
    ("splitn", "sis", |_, v| Ok(numbered(split(text(&v, 0), text(&v, 2), Some(int(&v, 1)))))),
    ("fail", "s", |_, v| Err(text(&v, 0).to_owned())),
    ("base", "s", |_, v| of(base(text(&v, 0)))),
    ("osBase", "s", |_, v| of(base(text(&v, 0)))),
    ("dir", "s", |_, v| {
        of(clean(text(&v, 0).rsplit_once('/').map_or("", |(dir, _)| if dir.is_empty() { "/" } else { dir })))
    }),
    ("osDir", "s", |_, v| {
        of(clean(text(&v, 0).rsplit_once('/').map_or("", |(dir, _)| if dir.is_empty() { "/" } else { dir })))
    }),
    ("clean", "s", |_, v| of(clean(text(&v, 0)))),
    ("osClean", "s", |_, v| of(clean(text(&v, 0)))),
    ("ext", "s", |_, v| of(ext(text(&v, 0)))),
    ("osExt", "s", |_, v| of(ext(text(&v, 0)))),
    ("isAbs", "s", |_, v| Ok(Value::Bool(text(&v, 0).starts_with('/')))),
    ("osIsAbs", "s", |_, v| Ok(Value::Bool(text(&v, 0).starts_with('/')))),
];

fn words(values: &[Value], show: impl Fn(&Value) -> String) -> String {
    let shown: Vec<String> = values.iter().filter(|value| !value.is_nil()).map(show).collect();
    shown.join(" ")
}

fn title(text: &str) -> String {
    let mut before = ' ';
    let mut out = String::with_capacity(text.len());
    for letter in text.chars() {
        let in_word = before.is_alphanumeric() || matches!(before, '_' | '\'');
        if in_word {
            out.push(letter)
        } else {
            out.extend(letter.to_uppercase())
        }
        before = letter;
    }
    out
}

fn untitle(text: &str) -> String {
    let mut before = ' ';
    let mut out = String::with_capacity(text.len());
    for letter in text.chars() {
        if before.is_whitespace() {
            out.extend(letter.to_lowercase())
        } else {
            out.push(letter)
        }
        before = letter;
    }
    out
}

/// Go cuts bytes; half a letter is left out, because no text of Kubernetes may hold it.
fn cut(text: &str, from: usize, to: usize) -> String {
    String::from_utf8_lossy(text.as_bytes().get(from..to).unwrap_or_default()).into_owned()
}

fn trunc(count: i64, text: &str) -> String {
    let size = usize::try_from(count.unsigned_abs()).unwrap_or(usize::MAX);
    match (count < 0, size < text.len()) {
        (true, true) => cut(text, text.len() - size, text.len()),
        (false, true) => cut(text, 0, size),
        _ => text.to_owned(),
    }
}

fn substr(start: i64, end: i64, text: &str) -> Answer {
    let len = text.len();
    let to = usize::try_from(end).ok().filter(|end| *end <= len);
    let Ok(from) = usize::try_from(start) else {
        return to.map(|to| Value::str(cut(text, 0, to))).ok_or_else(|| range(&format!(":{end}"), len));
    };
    let to = to.unwrap_or(len);
    if from > to {
        return Err(range(&format!("{from}:{to}"), len).replace(&format!(" with length {len}"), ""));
    }
    of(cut(text, from, to))
}

fn range(bounds: &str, len: usize) -> String {
    format!("runtime error: slice bounds out of range [{bounds}] with length {len}")
}

fn repeat(context: &mut Context, count: i64, text: &str) -> Answer {
    let count = usize::try_from(count).map_err(|_| "strings: negative Repeat count")?;
    context.spend(count.saturating_mul(text.len()))?;
    of(text.repeat(count))
}

fn indent(context: &mut Context, before: &str, count: i64, text: &str) -> Answer {
    let count = usize::try_from(count).map_err(|_| "strings: negative Repeat count")?;
    context.spend(count.saturating_mul(text.matches('\n').count() + 1).saturating_add(text.len()))?;
    let pad = " ".repeat(count);
    of(format!("{before}{pad}{}", text.replace('\n', &format!("\n{pad}"))))
}

fn replace(context: &mut Context, values: &[Value]) -> Answer {
    let (old, new, source) = (text(values, 0), text(values, 1), text(values, 2));
    context.spend(source.matches(old).count().saturating_mul(new.len()).saturating_add(source.len()))?;
    of(source.replace(old, new))
}

fn split(separator: &str, text: &str, limit: Option<i64>) -> Vec<String> {
    let limit = match limit {
        Some(0) => return Vec::new(),
        Some(limit) => usize::try_from(limit).unwrap_or(usize::MAX),
        None => usize::MAX,
    };
    if !separator.is_empty() {
        return text.splitn(limit, separator).map(str::to_owned).collect();
    }
    let mut parts: Vec<String> = text.chars().take(limit.saturating_sub(1)).map(String::from).collect();
    let rest: String = text.chars().skip(parts.len()).collect();
    parts.extend((!rest.is_empty()).then_some(rest));
    parts
}

fn numbered(parts: Vec<String>) -> Value {
    let entries = parts.into_iter().enumerate().map(|(at, part)| (format!("_{at}"), Value::str(part)));
    Value::map(Elem::Str, entries.collect())
}

fn base(path: &str) -> &str {
    if path.is_empty() {
        return ".";
    }
    let trimmed = path.trim_end_matches('/');
    if trimmed.is_empty() { "/" } else { trimmed.rsplit('/').next().unwrap_or(trimmed) }
}

fn ext(path: &str) -> &str {
    let last = path.rsplit('/').next().unwrap_or_default();
    last.rfind('.').and_then(|at| last.get(at..)).unwrap_or_default()
}

fn clean(path: &str) -> String {
    let rooted = path.starts_with('/');
    let mut parts: Vec<&str> = Vec::new();
    for part in path.split('/') {
        match part {
            "" | "." => {}
            ".." if parts.last().is_some_and(|last| *last != "..") => drop(parts.pop()),
            ".." if rooted => {}
            _ => parts.push(part),
        }
    }
    match (rooted, parts.join("/")) {
        (true, rest) => format!("/{rest}"),
        (false, rest) if rest.is_empty() => ".".to_owned(),
        (false, rest) => rest,
    }
}
