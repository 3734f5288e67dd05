//! Reads and quotes single values as Go's `strconv` does, with its error texts.
//!
//! In:  text.
//! Out: values, or errors worded `strconv.ParseBool: parsing "x": invalid syntax`.
//! Source: REND-049, REND-055 (Go `strconv`).

use std::fmt::Write as _;

#[cfg(test)]
mod tests;

/// Why a text is not the value it should be.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("strconv.{function}: parsing {}: {problem}", quote(text))]
pub struct Error {
    /// Go's name of the function that refused.
    pub function: &'static str,
    /// The refused text.
    pub text: String,
    /// `invalid syntax` or `value out of range`.
    pub problem: &'static str,
}

/// `1 t T TRUE true True` and their opposites.
///
/// # Errors
/// Anything else.
pub fn parse_bool(text: &str) -> Result<bool, Error> {
    match text {
        "1" | "t" | "T" | "true" | "TRUE" | "True" => Ok(true),
        "0" | "f" | "F" | "false" | "FALSE" | "False" => Ok(false),
        _ => Err(Error { function: "ParseBool", text: text.to_owned(), problem: "invalid syntax" }),
    }
}

/// A decimal number with optional sign; `function` is the Go function whose error the caller shows, such as
/// `ParseInt` or `Atoi`.
///
/// # Errors
/// Not a number, or not within 64 bits.
pub fn parse_int(text: &str, function: &'static str) -> Result<i64, Error> {
    use std::num::IntErrorKind::{NegOverflow, PosOverflow};
    text.parse::<i64>().map_err(|error| {
        let problem = match error.kind() {
            PosOverflow | NegOverflow => "value out of range",
            _ => "invalid syntax",
        };
        Error { function, text: text.to_owned(), problem }
    })
}

/// A text in double quotes with Go escapes, as `%q` prints it.
pub fn quote(text: &str) -> String {
    let mut out = String::with_capacity(text.len() + 2);
    out.push('"');
    for letter in text.chars() {
        match letter {
            '"' => out.push_str("\\\""),
            '\\' => out.push_str("\\\\"),
            '\u{7}' => out.push_str("\\a"),
            '\u{8}' => out.push_str("\\b"),
            '\u{c}' => out.push_str("\\f"),
            '\n' => out.push_str("\\n"),
            '\r' => out.push_str("\\r"),
            '\t' => out.push_str("\\t"),
            '\u{b}' => out.push_str("\\v"),
            _ if is_printable(letter) => out.push(letter),
            _ => write_escape(&mut out, letter),
        }
    }
    out.push('"');
    out
}

fn write_escape(out: &mut String, letter: char) {
    let code = u32::from(letter);
    // Writing to a String cannot fail.
    let _ = match code {
        0..=0x7f => write!(out, "\\x{code:02x}"),
        0x80..=0xffff => write!(out, "\\u{code:04x}"),
        _ => write!(out, "\\U{code:08x}"),
    };
}

fn is_printable(letter: char) -> bool {
    if letter.is_ascii() {
        return !letter.is_ascii_control();
    }
    // Rust's debug form escapes what is not printable; a letter is put before it because a combining mark alone is
    // escaped too, which Go does not do.
    format!("a{letter}").escape_debug().count() == 2
}
