//! Argo CD's own functions for names.

use super::super::functions::Row;
use super::super::value::Value;
use super::{Answer, text};

pub(super) const TABLE: &[Row] =
    &[("normalize", "s", |_, v| Ok(Value::str(sanitize(text(&v, 0))))), ("slugify", "a*", |_, v| slugify(&v))];

/// A name of at most 253 characters that DNS allows.
fn sanitize(name: &str) -> String {
    let allowed = |letter: char| letter.is_ascii_lowercase() || letter.is_ascii_digit() || matches!(letter, '-' | '.');
    let name: String =
        name.to_lowercase().chars().map(|letter| if allowed(letter) { letter } else { '-' }).take(253).collect();
    name.trim_matches(['-', '.']).to_owned()
}

fn slugify(values: &[Value]) -> Answer {
    let Some((last, before)) = values.split_last() else { return Ok(Value::str("")) };
    let wrong = |value: &Value, wanted: &str| {
        let got = if value.is_nil() { "nil" } else { value.type_name() };
        format!("interface conversion: interface {{}} is {got}, not {wanted}")
    };
    let most = match before.first() {
        None => 50,
        Some(Value::Int(most)) => *most,
        Some(other) => return Err(wrong(other, "int")),
    };
    let smart = match before.get(1) {
        None => true,
        Some(Value::Bool(smart)) => *smart,
        Some(other) => return Err(wrong(other, "bool")),
    };
    let Value::Str(name) = last else { return Err(wrong(last, "string")) };
    let most = usize::try_from(most).unwrap_or_default();
    let mut dashed = sanitize(name).replace('.', "-");
    if !smart {
        dashed.truncate(most);
    }
    let slug = dashed.split('-').filter(|part| !part.is_empty()).collect::<Vec<_>>().join("-");
    if !smart || most == 0 || slug.len() <= most {
        return Ok(Value::str(slug));
    }
    let cut = slug.get(..most).unwrap_or(&slug);
    let word = slug.get(..=most).and_then(|start| start.rfind('-')).and_then(|end| slug.get(..end));
    Ok(Value::str(word.unwrap_or(cut)))
}
