//! Cases of words, shortening and wrapping.
//!
//! Source: `github.com/huandu/xstrings` `convert.go`; `github.com/Masterminds/goutils` `wordutils.go`, `stringutils.go`.

use super::super::functions::{Context, Row};
use super::super::value::Value;
use super::{Answer, int, text};

fn of(text: impl AsRef<str>) -> Answer {
    Ok(Value::str(text))
}

pub(super) const TABLE: &[Row] = &[
    ("snakecase", "s", |_, v| of(lower_words(text(&v, 0), '_'))),
    ("kebabcase", "s", |_, v| of(lower_words(text(&v, 0), '-'))),
    ("camelcase", "s", |_, v| of(pascal(text(&v, 0)))),
    ("swapcase", "s", |_, v| of(text(&v, 0).chars().map(swapped).collect::<String>())),
    ("abbrev", "is", |_, v| of(abbreviate(text(&v, 1), 0, int(&v, 0)))),
    ("abbrevboth", "iis", |_, v| of(abbreviate_both(text(&v, 2), int(&v, 0), int(&v, 1)))),
    ("wrap", "is", |c, v| wrap(c, text(&v, 1), int(&v, 0), "\n", false)),
    ("wrapWith", "iss", |c, v| wrap(c, text(&v, 2), int(&v, 0), text(&v, 1), true)),
];

#[derive(Clone, Copy, PartialEq, Eq)]
enum Class {
    End,
    Number,
    Upper,
    Alphabet,
    Connector,
    Punctuation,
    Other,
}

fn is_connector(letter: char) -> bool {
    matches!(letter, '-' | '_') || letter.is_whitespace()
}

fn class(letter: char) -> Class {
    match letter {
        _ if is_connector(letter) => Class::Connector,
        '$' | '+' | '<' | '=' | '>' | '^' | '`' | '|' | '~' => Class::Other,
        _ if letter.is_ascii_punctuation() => Class::Punctuation,
        _ if letter.is_uppercase() => Class::Upper,
        _ if letter.is_lowercase() => Class::Alphabet,
        _ if letter.is_numeric() => Class::Number,
        _ => Class::Other,
    }
}

/// The next word: letters of one class, or a capital with the small letters after it.
fn next_word(text: &str) -> (Class, &str, &str) {
    let Some(first) = text.chars().next() else { return (Class::End, "", "") };
    let of = class(first);
    let run = |text: &str, wanted: Class| text.find(|letter| class(letter) != wanted).unwrap_or(text.len());
    let end = match of {
        Class::Upper => {
            let capitals = run(text, Class::Upper);
            let small = run(text.get(capitals..).unwrap_or_default(), Class::Alphabet);
            let last = text.get(..capitals).and_then(|start| start.char_indices().next_back()).map_or(0, |(at, _)| at);
            match (small, last) {
                (0, _) => capitals,
                (_, 0) => capitals + small,
                // The last of several capitals begins the next word.
                _ => last,
            }
        }
        of => run(text, of),
    };
    let (word, rest) = text.split_at(end);
    (of, word, rest)
}

fn is_letters(of: Class) -> bool {
    matches!(of, Class::Alphabet | Class::Number)
}

fn ends_word(of: Class) -> bool {
    matches!(of, Class::Connector | Class::Punctuation)
}

/// `FirstName` with words in small letters and a connector between them.
fn lower_words(text: &str, connector: char) -> String {
    let mut out = String::with_capacity(text.len() + 8);
    let (mut of, mut word, mut rest) = next_word(text);
    while !rest.is_empty() {
        if of != Class::Connector {
            push(&mut out, of, word, connector);
        }
        let (before, last) = (of, word);
        (of, word, rest) = next_word(rest);
        match before {
            Class::Number => {
                (of, word, rest) = push_letters(&mut out, (of, word, rest), connector);
                if of != Class::End && !ends_word(of) {
                    out.push(connector);
                }
            }
            Class::Connector => push(&mut out, before, last, connector),
            Class::Punctuation => {}
            _ if of != Class::Number => {
                if !ends_word(of) {
                    out.push(connector);
                }
            }
            _ if rest.is_empty() => {}
            _ => {
                let number = word;
                (of, word, rest) = next_word(rest);
                if of == Class::Alphabet {
                    // Small letters after a number make it a word of its own.
                    out.push(connector);
                    push(&mut out, Class::Number, number, connector);
                    (of, word, rest) = push_letters(&mut out, (of, word, rest), connector);
                    if of != Class::End && !ends_word(of) {
                        out.push(connector);
                    }
                } else {
                    push(&mut out, Class::Number, number, connector);
                    if !ends_word(of) {
                        out.push(connector);
                    }
                }
            }
        }
    }
    push(&mut out, of, word, connector);
    out
}

fn push_letters<'t>(out: &mut String, mut at: (Class, &'t str, &'t str), connector: char) -> (Class, &'t str, &'t str) {
    while is_letters(at.0) {
        push(out, at.0, at.1, connector);
        at = next_word(at.2);
    }
    at
}

fn push(out: &mut String, of: Class, word: &str, connector: char) {
    for letter in word.chars() {
        match of {
            Class::Connector => out.push(connector),
            _ => out.extend(letter.to_lowercase()),
        }
    }
}

/// `some_words` as `SomeWords`; connectors in front stay.
fn pascal(text: &str) -> String {
    let start = text.find(|letter| !is_connector(letter)).unwrap_or(text.len());
    let (front, rest) = text.split_at(start);
    let mut out = front.to_owned();
    let mut letters = rest.chars();
    let Some(first) = letters.next() else { return out };
    let mut capitals = first.is_uppercase();
    let mut current = upper(first);
    for letter in letters {
        let before = std::mem::replace(&mut current, letter);
        if is_connector(letter) && is_connector(before) {
            out.push(before);
        } else if is_connector(before) {
            capitals = letter.is_uppercase();
            current = upper(letter);
        } else {
            if capitals && letter.is_uppercase() {
                current = letter.to_lowercase().next().unwrap_or(letter);
            } else {
                capitals = false;
            }
            out.push(before);
        }
    }
    out.push(current);
    out
}

fn upper(letter: char) -> char {
    letter.to_uppercase().next().unwrap_or(letter)
}

fn swapped(letter: char) -> char {
    if letter.is_uppercase() { letter.to_lowercase().next().unwrap_or(letter) } else { upper(letter) }
}

/// Bytes as text; half a letter becomes the sign for it.
fn part(text: &[u8], from: usize, to: usize) -> String {
    String::from_utf8_lossy(text.get(from..to.min(text.len())).unwrap_or_default()).into_owned()
}

fn abbreviate(text: &str, offset: usize, width: i64) -> String {
    let bytes = text.as_bytes();
    let Some(width) = usize::try_from(width).ok().filter(|width| *width >= 4) else { return text.to_owned() };
    if bytes.len() <= width {
        return text.to_owned();
    }
    let mut offset = offset.min(bytes.len());
    if bytes.len() - offset < width - 3 {
        offset = bytes.len() - (width - 3);
    }
    if offset <= 4 {
        return part(bytes, 0, width - 3) + "...";
    }
    if width < 7 {
        return String::new();
    }
    if offset + width - 3 < bytes.len() {
        // The rest is longer than its width, so it is cut as well.
        return format!("...{}...", part(bytes, offset, offset + width - 6));
    }
    format!("...{}", part(bytes, bytes.len() - (width - 3), bytes.len()))
}

fn abbreviate_both(text: &str, left: i64, right: i64) -> String {
    if right < 4 || left > 0 && right < 7 {
        return text.to_owned();
    }
    abbreviate(text, usize::try_from(left).unwrap_or_default(), right)
}

fn wrap(context: &mut Context, text: &str, width: i64, line: &str, breaks_words: bool) -> Answer {
    let width = usize::try_from(width).unwrap_or_default().max(1);
    let line = if line.is_empty() { "\n" } else { line };
    context.spend((text.len() / width.min(2) + 1).saturating_mul(line.len()).saturating_add(text.len()))?;
    let bytes = text.as_bytes();
    let is_space = |byte: &u8| *byte == b' ';
    let mut out: Vec<u8> = Vec::with_capacity(text.len() + 16);
    let mut rest = bytes;
    while rest.len() > width {
        if rest.first().is_some_and(is_space) {
            rest = rest.get(1..).unwrap_or_default();
            continue;
        }
        let (end, skipped) = match rest.iter().take(width + 1).rposition(is_space) {
            Some(space) => (space, 1),
            None if breaks_words => (width, 0),
            None => match rest.iter().skip(width).position(is_space) {
                Some(space) => (space + width, 1),
                None => break,
            },
        };
        out.extend_from_slice(rest.get(..end).unwrap_or_default());
        out.extend_from_slice(line.as_bytes());
        rest = rest.get(end + skipped..).unwrap_or_default();
    }
    out.extend_from_slice(rest);
    of(String::from_utf8_lossy(&out))
}
