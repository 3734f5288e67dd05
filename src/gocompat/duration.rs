//! Reads and prints durations as Go's `time.Duration` does, and the two dialects that Argo CD adds.
//!
//! In:  text such as `1h30m`, `2d`, `90`.
//! Out: signed durations in nanoseconds, as far as 64 bits reach.
//! Source: APP-273, APP-295, SYNC-236 (Go `time`, `github.com/argoproj/pkg/v2/time`, `util/env/env.go`).

use jiff::SignedDuration;

#[cfg(test)]
mod tests;

/// Why a text is no duration; worded as Go words it.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum Error {
    /// The form is wrong or the number too large.
    #[error("time: invalid duration {}", quote(.0))]
    Invalid(String),
    /// A number stands without a unit.
    #[error("time: missing unit in duration {}", quote(.0))]
    MissingUnit(String),
    /// A unit that Go does not know.
    #[error("time: unknown unit {} in duration {}", quote(unit), quote(text))]
    UnknownUnit {
        /// The unit.
        unit: String,
        /// The whole text.
        text: String,
    },
}

/// Reads a Go duration; `0` needs no unit.
///
/// # Errors
/// With Go's wording.
pub fn parse(text: &str) -> Result<SignedDuration, Error> {
    let invalid = || Error::Invalid(text.to_owned());
    let (negative, mut rest) = match text.strip_prefix('-') {
        Some(rest) => (true, rest),
        None => (false, text.strip_prefix('+').unwrap_or(text)),
    };
    if rest == "0" {
        return Ok(SignedDuration::ZERO);
    }
    if rest.is_empty() {
        return Err(invalid());
    }
    let mut total: u64 = 0;
    while !rest.is_empty() {
        let (nanos, after) = component(text, rest)?;
        total = total.checked_add(nanos).filter(|total| *total <= LIMIT).ok_or_else(invalid)?;
        rest = after;
    }
    let signed = if negative { 0i64.checked_sub_unsigned(total) } else { i64::try_from(total).ok() };
    signed.map(SignedDuration::from_nanos).ok_or_else(invalid)
}

/// Go's `time` quotes texts in its own way: every byte outside printable ASCII on its own.
fn quote(text: &str) -> String {
    let mut out = String::from("\"");
    for letter in text.chars() {
        match letter {
            '"' | '\\' => out.extend(['\\', letter]),
            ' '..='~' => out.push(letter),
            _ => letter.encode_utf8(&mut [0; 4]).bytes().for_each(|byte| out.push_str(&format!("\\x{byte:02x}"))),
        }
    }
    out.push('"');
    out
}

/// The largest magnitude: that of the smallest `i64`.
const LIMIT: u64 = 1 << 63;

/// One number with its unit, in nanoseconds, and what follows it.
fn component<'a>(text: &str, rest: &'a str) -> Result<(u64, &'a str), Error> {
    let invalid = || Error::Invalid(text.to_owned());
    let (whole, after) = split_digits(rest);
    let (fraction, after) = match after.strip_prefix('.') {
        Some(after) => split_digits(after),
        None => ("", after),
    };
    if whole.is_empty() && fraction.is_empty() {
        return Err(invalid());
    }
    let unit_end = after.find(|letter: char| letter == '.' || letter.is_ascii_digit()).unwrap_or(after.len());
    let (unit, after) = after.split_at(unit_end);
    if unit.is_empty() {
        return Err(Error::MissingUnit(text.to_owned()));
    }
    let Some(nanos_per_unit) = unit_nanos(unit) else {
        return Err(Error::UnknownUnit { unit: unit.to_owned(), text: text.to_owned() });
    };
    let whole: u64 = if whole.is_empty() { 0 } else { whole.parse().map_err(|_| invalid())? };
    let nanos = whole
        .checked_mul(nanos_per_unit)
        .and_then(|nanos| nanos.checked_add(fraction_nanos(fraction, nanos_per_unit)))
        .filter(|nanos| *nanos <= LIMIT)
        .ok_or_else(invalid)?;
    Ok((nanos, after))
}

fn split_digits(text: &str) -> (&str, &str) {
    text.split_at(text.find(|letter: char| !letter.is_ascii_digit()).unwrap_or(text.len()))
}

fn unit_nanos(unit: &str) -> Option<u64> {
    Some(match unit {
        "ns" => 1,
        // U+00B5 and U+03BC look alike; Go takes both.
        "us" | "\u{b5}s" | "\u{3bc}s" => 1_000,
        "ms" => 1_000_000,
        "s" => 1_000_000_000,
        "m" => 60_000_000_000,
        "h" => 3_600_000_000_000,
        _ => return None,
    })
}

/// Digits behind the point, as part of a unit; cut, not rounded. Go computes this part in floating point, and reads no
/// more digits than fit 63 bits.
fn fraction_nanos(digits: &str, nanos_per_unit: u64) -> u64 {
    let mut value: u64 = 0;
    let mut scale = 1.0;
    for digit in digits.bytes().map(|byte| u64::from(byte.saturating_sub(b'0'))) {
        if value > (LIMIT - 1) / 10 {
            break;
        }
        value = value * 10 + digit;
        scale *= 10.0;
    }
    #[allow(clippy::cast_precision_loss, clippy::cast_possible_truncation, clippy::cast_sign_loss)]
    let nanos = (value as f64 * (nanos_per_unit as f64 / scale)) as u64;
    nanos
}

/// Reads whole days, hours, minutes or seconds (`2d`), the dialect of Argo CD's older settings.
pub fn parse_with_days(text: &str) -> Option<SignedDuration> {
    let (digits, unit) = split_digits(text);
    let seconds = match unit {
        "s" => 1,
        "m" => 60,
        "h" => 3_600,
        "d" => 86_400,
        _ => return None,
    };
    digits.parse::<i64>().ok()?.checked_mul(seconds).map(SignedDuration::from_secs)
}

/// Reads a setting that reaches Argo CD as an environment variable: a Go duration, else whole days and the like. A
/// bare number other than `0` is neither (APP-273, APP-295).
pub fn parse_setting(text: &str) -> Option<SignedDuration> {
    parse(text).ok().or_else(|| parse_with_days(text))
}

/// Reads a retry backoff: a bare number means seconds, else a Go duration (SYNC-236).
///
/// # Errors
/// Neither a number nor a duration.
pub fn parse_or_seconds(text: &str) -> Result<SignedDuration, Error> {
    match text.parse::<i64>() {
        Ok(seconds) => Ok(SignedDuration::from_secs(seconds)),
        Err(_) => parse(text),
    }
}

/// As Go prints a duration: `1h30m0s`, `1.5s`, `100ms`, `0s`.
pub fn format(duration: SignedDuration) -> String {
    let nanos = duration.as_nanos();
    let sign = if nanos < 0 { "-" } else { "" };
    let nanos = nanos.unsigned_abs();
    let text = match nanos {
        0 => return "0s".to_owned(),
        1..1_000 => format!("{nanos}ns"),
        1_000..1_000_000 => format!("{}\u{b5}s", decimal(nanos, 3)),
        1_000_000..1_000_000_000 => format!("{}ms", decimal(nanos, 6)),
        _ => {
            const MINUTE: u128 = 60_000_000_000;
            let seconds = decimal(nanos % MINUTE, 9);
            match (nanos / MINUTE / 60, nanos / MINUTE % 60) {
                (0, 0) => format!("{seconds}s"),
                (0, minutes) => format!("{minutes}m{seconds}s"),
                (hours, minutes) => format!("{hours}h{minutes}m{seconds}s"),
            }
        }
    };
    format!("{sign}{text}")
}

/// A number with this many digits behind the point, trailing zeros left out.
fn decimal(number: u128, places: usize) -> String {
    let scale = (0..places).fold(1u128, |scale, _| scale * 10);
    let fraction = format!("{:0places$}", number % scale);
    match fraction.trim_end_matches('0') {
        "" => (number / scale).to_string(),
        fraction => format!("{}.{fraction}", number / scale),
    }
}
