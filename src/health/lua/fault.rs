//! Words a script's failure as Argo CD's interpreter words it, where both say the same.
//!
//! In:  the interpreter's error and the script.
//! Out: `<string>:LINE: text` without a stack trace.
//! Source: HEALTH-074, HEALTH-106. Argo CD names the key that was read from nothing; LuaJIT names the thing that is
//! nothing, so the key is looked up in the script's line, and the text stays LuaJIT's when that is ambiguous.

use std::collections::BTreeSet;

pub(super) fn text(error: &mlua::Error, script: &str) -> String {
    match error {
        mlua::Error::RuntimeError(text) => reword(first_part(text), script),
        mlua::Error::CallbackError { cause, .. } => self::text(cause, script),
        // Argo CD's parser names no place for a script that ends too early.
        mlua::Error::SyntaxError { message, .. } if message.ends_with("near '<eof>'") => {
            "<string> at EOF:   syntax error\n".to_owned()
        }
        mlua::Error::SyntaxError { message, .. } => message.clone(),
        mlua::Error::MemoryError(_) => "not enough memory".to_owned(),
        other => other.to_string(),
    }
}

/// The message without the stack trace.
fn first_part(text: &str) -> &str {
    text.split_once("\nstack traceback:").map_or(text, |(message, _)| message)
}

fn reword(text: &str, script: &str) -> String {
    let Some((line, message)) = split_position(text) else {
        return text.to_owned();
    };
    let reworded = if message.starts_with("attempt to call ") {
        Some("attempt to call a non-function object".to_owned())
    } else if message.starts_with("bad argument #") {
        // Argo CD's interpreter does not quote the function's name.
        Some(message.replacen('\'', "", 2))
    } else {
        index_of_nothing(message, script.lines().nth(line.saturating_sub(1)).unwrap_or_default())
    };
    reworded.map_or_else(|| text.to_owned(), |message| format!("<string>:{line}: {message}"))
}

/// Splits `<string>:LINE: message`.
fn split_position(text: &str) -> Option<(usize, &str)> {
    let (line, message) = text.strip_prefix("<string>:")?.split_once(": ")?;
    Some((line.parse().ok()?, message))
}

/// Rewords `attempt to index field 'status' (a nil value)`, given the script's line.
fn index_of_nothing(message: &str, line: &str) -> Option<String> {
    let rest = message.strip_prefix("attempt to index ")?;
    let (_, rest) = rest.split_once('\'')?;
    let (name, rest) = rest.split_once("' (a ")?;
    let kind = rest.strip_suffix(" value)")?;
    let keys = keys_after(name, line);
    let mut keys = keys.iter();
    match (keys.next(), keys.next()) {
        (Some(key), None) => Some(format!("attempt to index a non-table object({kind}) with key '{key}'")),
        _ => None,
    }
}

/// The different keys that a line reads from `name`.
fn keys_after<'a>(name: &str, line: &'a str) -> BTreeSet<&'a str> {
    line.match_indices(name)
        .filter(|(at, _)| !line.get(..*at).unwrap_or_default().ends_with(is_word))
        .filter_map(|(at, _)| key_at(line.get(at + name.len()..)?))
        .collect()
}

/// The key that a line goes on with: `.key`, `:key`, `["key"]`.
fn key_at(rest: &str) -> Option<&str> {
    let rest = rest.trim_start();
    if let Some(quoted) = rest.strip_prefix("[\"").or_else(|| rest.strip_prefix("['")) {
        return quoted.split(['"', '\'']).next();
    }
    let rest = rest.strip_prefix(['.', ':'])?.trim_start();
    let key = rest.split(|letter| !is_word(letter)).next()?;
    (!key.is_empty()).then_some(key)
}

fn is_word(letter: char) -> bool {
    letter == '_' || letter.is_ascii_alphanumeric()
}
