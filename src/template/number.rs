//! Constants of templates: numbers, characters and quoted texts; floats as Go prints them.

use crate::gocompat::strconv::quote;

/// A number under every type that holds it exactly.
#[derive(Debug, Clone)]
pub(super) struct Number {
    pub text: String,
    pub int: Option<i64>,
    pub float: Option<f64>,
}

impl Number {
    /// Whether the constant is a float by its form.
    pub(super) fn is_float(&self) -> bool {
        let is_hex =
            self.text.get(..2).is_some_and(|start| start.eq_ignore_ascii_case("0x")) && !self.text.contains(['p', 'P']);
        self.float.is_some() && !is_hex && !self.text.starts_with('\'') && self.text.contains(['.', 'e', 'E', 'p', 'P'])
    }

    /// Reads a number.
    pub(super) fn parse(text: &str) -> Result<Self, String> {
        let imaginary = text.strip_suffix('i').and_then(float);
        if imaginary == Some(0.0) {
            return Ok(Self { text: text.to_owned(), int: Some(0), float: Some(0.0) });
        }
        let illegal = || format!("illegal number syntax: {}", quote(text));
        if imaginary.is_some() {
            return Err(format!("complex constants are not supported: {}", quote(text)));
        }
        let wide = integer(text);
        let int = wide.and_then(|wide| i64::try_from(wide).ok());
        let uint =
            wide.filter(|_| !text.starts_with(['+', '-']) || wide == Some(0)).and_then(|wide| u64::try_from(wide).ok());
        if int.is_some() || uint.is_some() {
            #[expect(clippy::cast_precision_loss, reason = "Go converts alike")]
            let float = int.map_or_else(|| uint.map(|uint| uint as f64), |int| Some(int as f64));
            return Ok(Self { text: text.to_owned(), int, float });
        }
        let float = float(text).ok_or_else(illegal)?;
        if !text.contains(['.', 'e', 'E', 'p', 'P']) {
            return Err(format!("integer overflow: {}", quote(text)));
        }
        #[expect(clippy::cast_possible_truncation, reason = "the range is checked")]
        let int = (float.fract() == 0.0 && float.abs() < 9.2e18).then_some(float as i64);
        Ok(Self { text: text.to_owned(), int, float: Some(float) })
    }

    /// Reads a character in single quotes.
    pub(super) fn character(text: &str) -> Result<Self, String> {
        let inner = text.strip_prefix('\'').and_then(|text| text.strip_suffix('\'')).unwrap_or_default();
        let mut letters = inner.chars();
        let letter = unescape(&mut letters, '\'').ok_or("invalid syntax")?;
        if letters.next().is_some() {
            return Err(format!("malformed character constant: {text}"));
        }
        let code = u32::from(letter);
        Ok(Self { text: text.to_owned(), int: Some(code.into()), float: Some(code.into()) })
    }
}

/// Underscores may stand between digits and after a base's prefix.
pub(super) fn integer(text: &str) -> Option<i128> {
    let unsigned = text.strip_prefix(['+', '-']).unwrap_or(text);
    let lower = unsigned.to_ascii_lowercase();
    let (digits, base) = match lower.get(..2) {
        Some("0x") => (&lower[2..], 16),
        Some("0b") => (&lower[2..], 2),
        Some("0o") => (&lower[2..], 8),
        _ if lower.len() > 1 && lower.starts_with('0') => (&lower[1..], 8),
        _ => (lower.as_str(), 10),
    };
    let misplaced = digits.ends_with('_') || digits.contains("__") || base == 10 && digits.starts_with('_');
    if misplaced {
        return None;
    }
    let plain = digits.replace('_', "");
    let plain = plain.as_str();
    if plain.is_empty() || !plain.bytes().all(|digit| digit.is_ascii_alphanumeric()) {
        return None;
    }
    let value = i128::from_str_radix(plain, base).ok()?;
    Some(if text.starts_with('-') { -value } else { value })
}

fn float(text: &str) -> Option<f64> {
    let plain = !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit() || b"+-.eE".contains(&byte));
    plain.then(|| text.parse().ok()).flatten().filter(|float: &f64| float.is_finite())
}

/// Go's `strconv.Unquote`.
pub(super) fn unquote(text: &str) -> Result<String, String> {
    if let Some(raw) = text.strip_prefix('`').and_then(|text| text.strip_suffix('`')) {
        return Ok(raw.replace('\r', ""));
    }
    let inner = text.strip_prefix('"').and_then(|text| text.strip_suffix('"')).unwrap_or_default();
    let mut letters = inner.chars();
    let mut out = String::with_capacity(inner.len());
    while !letters.as_str().is_empty() {
        out.push(unescape(&mut letters, '"').ok_or("invalid syntax")?);
    }
    Ok(out)
}

fn unescape(letters: &mut std::str::Chars<'_>, quote: char) -> Option<char> {
    let letter = letters.next()?;
    if letter == quote {
        return None;
    }
    if letter != '\\' {
        return Some(letter);
    }
    let byte = |code: u32| (code < 0x80).then(|| char::from_u32(code)).flatten().or(Some(char::REPLACEMENT_CHARACTER));
    Some(match letters.next()? {
        'a' => '\u{7}',
        'b' => '\u{8}',
        'f' => '\u{c}',
        'n' => '\n',
        'r' => '\r',
        't' => '\t',
        'v' => '\u{b}',
        '\\' => '\\',
        'x' => {
            let code = (0..2).try_fold(0, |code, _| Some(code * 16 + letters.next()?.to_digit(16)?))?;
            return if quote == '\'' { char::from_u32(code) } else { byte(code) };
        }
        'u' => char::from_u32((0..4).try_fold(0, |code, _| Some(code * 16 + letters.next()?.to_digit(16)?))?)?,
        'U' => char::from_u32(
            (0..8).try_fold(0u32, |code, _| code.checked_mul(16)?.checked_add(letters.next()?.to_digit(16)?))?,
        )?,
        first @ '0'..='7' => {
            let code = (0..2).try_fold(first.to_digit(8)?, |code, _| Some(code * 8 + letters.next()?.to_digit(8)?))?;
            return if code > 255 {
                None
            } else if quote == '\'' {
                char::from_u32(code)
            } else {
                byte(code)
            };
        }
        other if other == quote => other,
        _ => return None,
    })
}

/// The shortest digits and the decimal exponent of a finite float's magnitude: `1.5` is `("15", 0)`.
fn shortest(number: f64) -> (String, i32) {
    let text = format!("{:e}", number.abs());
    let (digits, exponent) = text.split_once('e').unwrap_or((&text, "0"));
    (digits.replace('.', ""), exponent.parse().unwrap_or_default())
}

/// Go's words for what is no number.
pub(super) fn special(number: f64) -> Option<&'static str> {
    match number {
        _ if number.is_nan() => Some("NaN"),
        f64::INFINITY => Some("+Inf"),
        f64::NEG_INFINITY => Some("-Inf"),
        _ => None,
    }
}

/// `%v` of a float: exponents below -4 and from 6 on are written as such.
pub(super) fn general(number: f64) -> String {
    if let Some(word) = special(number) {
        return word.to_owned();
    }
    let (digits, exponent) = shortest(number);
    let sign = if number.is_sign_negative() { "-" } else { "" };
    if (-4..6).contains(&exponent) {
        return format!("{number}");
    }
    let (first, rest) = digits.split_at(1);
    let point = if rest.is_empty() { "" } else { "." };
    format!("{sign}{first}{point}{rest}{}", exponent_text(exponent))
}

/// `e+06`.
pub(super) fn exponent_text(exponent: i32) -> String {
    format!("e{}{:02}", if exponent < 0 { '-' } else { '+' }, exponent.abs())
}
