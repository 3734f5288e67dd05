//! Writes JSON values as YAML that readers of YAML 1.1 and 1.2 understand alike.
//!
//! In:  a JSON value.
//! Out: block style, keys in the value's order, texts plain where nobody can take them for something else.
//! Invariant: what is written reads back as the same value, here and in `kubectl`, whose reader takes a plain `yes`, `on`
//! or `0644` for something else than a text.

use serde_json::{Map, Value};

use super::parse;

/// What a value stands behind on its line.
#[derive(Clone, Copy, PartialEq, Eq)]
enum After {
    Nothing,
    Key,
    Dash,
}

/// One document, ending in a newline.
pub fn to_string(value: &Value) -> String {
    let mut out = String::new();
    node(&mut out, value, 0, After::Nothing);
    out
}

fn node(out: &mut String, value: &Value, indent: usize, after: After) {
    match value {
        Value::Object(map) if !map.is_empty() => object(out, map, indent, after),
        Value::Array(items) if !items.is_empty() => array(out, items, indent, after),
        other => {
            if after == After::Key {
                out.push(' ');
            }
            match other {
                Value::String(text) => string(out, text, indent),
                Value::Object(_) => out.push_str("{}\n"),
                other => out.push_str(&format!("{other}\n")),
            }
        }
    }
}

fn object(out: &mut String, map: &Map<String, Value>, indent: usize, after: After) {
    if after == After::Key {
        out.push('\n');
    }
    for (place, (key, value)) in map.iter().enumerate() {
        // The first key behind a dash stands on the dash's own line.
        if place > 0 || after != After::Dash {
            pad(out, indent);
        }
        out.push_str(&scalar(key));
        out.push(':');
        let deeper = if value.is_array() { indent } else { indent + 2 };
        node(out, value, deeper, After::Key);
    }
}

fn array(out: &mut String, items: &[Value], indent: usize, after: After) {
    if after == After::Key {
        out.push('\n');
    }
    for (place, item) in items.iter().enumerate() {
        if place > 0 || after != After::Dash {
            pad(out, indent);
        }
        out.push_str("- ");
        node(out, item, indent + 2, After::Dash);
    }
}

fn pad(out: &mut String, indent: usize) {
    out.extend(std::iter::repeat_n(' ', indent));
}

/// A text: as a block where it has lines, else on the line.
fn string(out: &mut String, text: &str, indent: usize) {
    if !fits_block(text) {
        out.push_str(&scalar(text));
        out.push('\n');
        return;
    }
    let ends = text.len() - text.trim_end_matches('\n').len();
    out.push_str(match ends {
        0 => "|-\n",
        1 => "|\n",
        _ => "|+\n",
    });
    // A block at the top would need no indentation, but then `---` in it would end the document.
    let indent = indent.max(2);
    for line in text.strip_suffix('\n').unwrap_or(text).split('\n') {
        if !line.is_empty() {
            pad(out, indent);
            out.push_str(line);
        }
        out.push('\n');
    }
}

/// Whether a text can be a block: it has lines, all printable, and its first one shows how far the block is indented.
fn fits_block(text: &str) -> bool {
    text.contains('\n') && !text.starts_with([' ', '\n', '\t']) && text.chars().all(|c| c == '\n' || is_printable(c))
}

/// Tabs and carriage returns are printable too, but readers disagree about them.
fn is_printable(c: char) -> bool {
    matches!(c, ' '..='~' | '\u{a0}'..='\u{2027}' | '\u{202a}'..='\u{d7ff}' | '\u{e000}'..='\u{fefe}' | '\u{ff00}'..='\u{fffd}' | '\u{10000}'..)
}

/// A text on its line.
fn scalar(text: &str) -> String {
    if is_plain(text) { text.to_owned() } else { quoted(text) }
}

/// Letters that begin no other thing than a text, and go on without a sign that has a meaning.
fn is_plain(text: &str) -> bool {
    let begins = text.starts_with(|c: char| c.is_ascii_alphabetic() || c == '/');
    let goes_on = text.chars().all(|c| c.is_ascii_alphanumeric() || "/._-+=@$:,()[]{} ".contains(c));
    let ends = !text.ends_with([' ', ':']) && !text.contains(": ");
    begins && goes_on && ends && parse(text).is_ok_and(|read| read == *text)
}

/// A text in double quotes, as JSON has it, with what cannot be printed as a number.
fn quoted(text: &str) -> String {
    let json = Value::from(text).to_string();
    let mut out = String::with_capacity(json.len());
    for c in json.chars() {
        if is_printable(c) {
            out.push(c);
        } else {
            out.push_str(&format!("\\u{:04x}", u32::from(c)));
        }
    }
    out
}
