//! Decides what a plain or tagged scalar means.
//!
//! In:  the full tag (empty when none) and the text.
//! Out: a typed scalar, or the problem as go-yaml words it, without `yaml: `.
//! Source: REND-265 to REND-267, REND-273 (`go.yaml.in/yaml/v2/resolve.go`).

use base64::Engine as _;

use crate::gocompat::utf8;

/// A typed scalar.
#[derive(Debug, Clone, PartialEq)]
pub(super) enum Resolved {
    Null,
    Bool(bool),
    Int(i64),
    /// Only where the number does not fit `i64`.
    Uint(u64),
    Float(f64),
    Str(String),
}

const PREFIX: &str = "tag:yaml.org,2002:";

impl Resolved {
    fn short_tag(&self) -> &'static str {
        match self {
            Self::Null => "!!null",
            Self::Bool(_) => "!!bool",
            Self::Int(_) | Self::Uint(_) => "!!int",
            Self::Float(_) => "!!float",
            Self::Str(_) => "!!str",
        }
    }
}

/// Resolves a scalar whose tag may be empty.
pub(super) fn resolve(tag: &str, text: &str) -> Result<Resolved, String> {
    let known = tag.strip_prefix(PREFIX);
    match known {
        None if tag.is_empty() => Ok(by_look(text)),
        Some("str") => Ok(Resolved::Str(text.to_owned())),
        Some("binary") => binary(text),
        Some(name @ ("bool" | "int" | "float" | "null")) => tagged(name, text),
        Some("timestamp") => timestamp(text),
        // Tags that go-yaml does not know leave the text as it is.
        _ => Ok(Resolved::Str(text.to_owned())),
    }
}

fn tagged(name: &str, text: &str) -> Result<Resolved, String> {
    let resolved = by_look(text);
    match (name, &resolved) {
        ("bool", Resolved::Bool(_)) | ("null", Resolved::Null) | ("float", Resolved::Float(_)) => Ok(resolved),
        ("int", Resolved::Int(_) | Resolved::Uint(_)) => Ok(resolved),
        ("float", Resolved::Int(number)) => Ok(Resolved::Float(to_float(*number))),
        _ => Err(cannot_decode(&resolved, text, name)),
    }
}

#[allow(clippy::cast_precision_loss)] // Go converts the same way.
fn to_float(number: i64) -> f64 {
    number as f64
}

fn cannot_decode(resolved: &Resolved, text: &str, name: &str) -> String {
    format!("cannot decode {} `{text}` as a !!{name}", resolved.short_tag())
}

fn by_look(text: &str) -> Resolved {
    if let Some(fixed) = fixed_word(text) {
        return fixed;
    }
    match text.bytes().next() {
        Some(b'.') => finite(text).map(Resolved::Float),
        Some(b'0'..=b'9' | b'+' | b'-') => number(&text.replace('_', "")),
        _ => None,
    }
    .unwrap_or_else(|| Resolved::Str(text.to_owned()))
}

fn fixed_word(text: &str) -> Option<Resolved> {
    Some(match text {
        "y" | "Y" | "yes" | "Yes" | "YES" | "true" | "True" | "TRUE" | "on" | "On" | "ON" => Resolved::Bool(true),
        "n" | "N" | "no" | "No" | "NO" | "false" | "False" | "FALSE" | "off" | "Off" | "OFF" => Resolved::Bool(false),
        "" | "~" | "null" | "Null" | "NULL" => Resolved::Null,
        ".nan" | ".NaN" | ".NAN" => Resolved::Float(f64::NAN),
        ".inf" | ".Inf" | ".INF" | "+.inf" | "+.Inf" | "+.INF" => Resolved::Float(f64::INFINITY),
        "-.inf" | "-.Inf" | "-.INF" => Resolved::Float(f64::NEG_INFINITY),
        _ => return None,
    })
}

fn number(plain: &str) -> Option<Resolved> {
    let (negative, digits) = match plain.as_bytes() {
        [b'-', ..] => (true, plain.get(1..)?),
        [b'+', ..] => (false, plain.get(1..)?),
        _ => (false, plain),
    };
    if let Some(magnitude) = magnitude(digits) {
        let signed = i128::from(magnitude) * if negative { -1 } else { 1 };
        if let Ok(int) = i64::try_from(signed) {
            return Some(Resolved::Int(int));
        }
        // Go reads unsigned numbers without any sign only.
        if digits.len() == plain.len() {
            return Some(Resolved::Uint(magnitude));
        }
    }
    if looks_like_float(digits) { finite(plain).map(Resolved::Float) } else { None }
}

/// Digits in the base that their prefix names, as Go's `ParseInt` with base 0; a leading zero means octal.
fn magnitude(digits: &str) -> Option<u64> {
    let (base, rest) = match digits.as_bytes() {
        [b'0', b'x' | b'X', ..] => (16, digits.get(2..)?),
        [b'0', b'o' | b'O', ..] => (8, digits.get(2..)?),
        [b'0', b'b' | b'B', ..] => (2, digits.get(2..)?),
        [b'0', _, ..] => (8, digits.get(1..)?),
        _ => (10, digits),
    };
    // `from_str_radix` would take a second sign.
    if rest.starts_with(['+', '-']) { None } else { u64::from_str_radix(rest, base).ok() }
}

/// Digits with an optional fraction and exponent; the sign is already gone.
fn looks_like_float(text: &str) -> bool {
    let (mantissa, exponent) = match text.split_once(['e', 'E']) {
        Some((mantissa, exponent)) => (mantissa, Some(exponent)),
        None => (text, None),
    };
    let digits = |part: &str| part.bytes().all(|byte| byte.is_ascii_digit());
    let (whole, fraction) = mantissa.split_once('.').unwrap_or((mantissa, ""));
    let mantissa_ok = digits(whole) && digits(fraction) && !(whole.is_empty() && fraction.is_empty());
    let exponent_ok = exponent.is_none_or(|exponent| {
        let exponent = exponent.strip_prefix(['+', '-']).unwrap_or(exponent);
        !exponent.is_empty() && digits(exponent)
    });
    mantissa_ok && exponent_ok
}

/// A float in range; Go refuses numbers that would be infinite.
fn finite(text: &str) -> Option<f64> {
    let dropped;
    // Go's ParseFloat accepts `_` between digits, which only texts that start with a dot still have here.
    let text = if text.contains('_') {
        dropped = underscores_dropped(text)?;
        &dropped
    } else {
        text
    };
    text.parse::<f64>().ok().filter(|float| float.is_finite())
}

/// The text without underscores, if each of them stands between two digits.
fn underscores_dropped(text: &str) -> Option<String> {
    let bytes = text.as_bytes();
    let digit = |at: Option<usize>| at.and_then(|at| bytes.get(at)).is_some_and(u8::is_ascii_digit);
    let placed =
        bytes.iter().enumerate().all(|(at, byte)| *byte != b'_' || (digit(at.checked_sub(1)) && digit(Some(at + 1))));
    placed.then(|| text.replace('_', ""))
}

fn binary(text: &str) -> Result<Resolved, String> {
    let packed: String = text.chars().filter(|letter| !matches!(letter, '\r' | '\n')).collect();
    base64::engine::general_purpose::STANDARD
        .decode(packed)
        .map(|bytes| Resolved::Str(utf8::lossy(&bytes)))
        .map_err(|_| "!!binary value contains invalid base64 data".to_owned())
}

/// Timestamps stay text; the tag only refuses text that is none.
fn timestamp(text: &str) -> Result<Resolved, String> {
    let (date, time) = match text.find(['T', 't', ' ']) {
        Some(at) => (text.get(..at).unwrap_or_default(), text.get(at + 1..)),
        None => (text, None),
    };
    let date_ok = {
        let parts: Vec<&str> = date.split('-').collect();
        matches!(parts.as_slice(), [year, month, day]
            if year.len() == 4 && within(year, 0, 9999) && within(month, 1, 12) && within(day, 1, 31))
    };
    if date_ok && time.is_none_or(clock_ok) {
        return Ok(Resolved::Str(text.to_owned()));
    }
    Err(cannot_decode(&by_look(text), text, "timestamp"))
}

fn clock_ok(time: &str) -> bool {
    let clock = time.find(['Z', '+', '-']).and_then(|at| time.get(..at)).unwrap_or(time);
    let (clock, fraction) = clock.split_once('.').unwrap_or((clock, "0"));
    let parts: Vec<&str> = clock.split(':').collect();
    matches!(parts.as_slice(), [hour, minute, second]
        if within(hour, 0, 23) && within(minute, 0, 59) && within(second, 0, 59))
        && fraction.bytes().all(|byte| byte.is_ascii_digit())
}

fn within(digits: &str, low: u16, high: u16) -> bool {
    digits.bytes().all(|byte| byte.is_ascii_digit())
        && digits.parse::<u16>().is_ok_and(|number| (low..=high).contains(&number))
}
