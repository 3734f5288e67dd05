//! Writes a resource quantity the way Kubernetes stores it.
//!
//! In:  a quantity's text, such as `1000m`, `0.5`, `1024Mi`, `1e3`.
//! Out: the canonical text (`1`, `500m`, `1Gi`, `1e3`), or nothing when the text is no quantity.
//! Invariant: a canonical text stays as it is.
//! Source: DIFF-057 (apimachinery 0.36.1 `pkg/api/resource/quantity.go`).

/// How a quantity is written.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Format {
    Decimal,
    Exponent,
    Binary,
}

/// The parts of a quantity's text.
struct Parts<'a> {
    negative: bool,
    whole: &'a str,
    fraction: &'a str,
    exponent: i32,
    format: Format,
}

/// Decimal digits an int64 holds for certain; longer texts take Go's big-number path, which keeps no input text.
const SAFE_DIGITS: usize = 18;
/// Smallest unit: nano.
const NANO: i32 = -9;
const DECIMAL: [(&str, i32); 9] =
    [("n", -9), ("u", -6), ("m", -3), ("k", 3), ("M", 6), ("G", 9), ("T", 12), ("P", 15), ("E", 18)];
const BINARY: [(&str, i32); 6] = [("Ki", 10), ("Mi", 20), ("Gi", 30), ("Ti", 40), ("Pi", 50), ("Ei", 60)];

/// The canonical text of a quantity.
pub fn canonical(text: &str) -> Option<String> {
    let text = text.trim();
    if text == "0" {
        return Some(text.to_owned());
    }
    let parts = parse(text)?;
    if is_kept(&parts) {
        return Some(text.to_owned());
    }
    write(&parts)
}

fn parse(text: &str) -> Option<Parts<'_>> {
    let negative = text.starts_with('-');
    let rest = text.strip_prefix(['-', '+']).unwrap_or(text);
    let split = |text: &'_ str| text.find(|c: char| !c.is_ascii_digit()).unwrap_or(text.len());
    let (whole, rest) = rest.split_at_checked(split(rest))?;
    let (fraction, suffix) = match rest.strip_prefix('.') {
        Some(rest) => rest.split_at_checked(split(rest))?,
        None => ("", rest),
    };
    // A sign or suffix alone counts as zero, as in Go; only the empty text does not.
    if text.is_empty() {
        return None;
    }
    let (exponent, format) = suffix_of(suffix)?;
    let whole = whole.trim_start_matches('0');
    Some(Parts { negative, whole: if whole.is_empty() { "0" } else { whole }, fraction, exponent, format })
}

fn suffix_of(suffix: &str) -> Option<(i32, Format)> {
    if suffix.is_empty() {
        return Some((0, Format::Decimal));
    }
    let named = |table: &[(&str, i32)]| table.iter().find(|(name, _)| *name == suffix).map(|(_, exponent)| *exponent);
    if let Some(exponent) = named(&DECIMAL) {
        return Some((exponent, Format::Decimal));
    }
    if let Some(exponent) = named(&BINARY) {
        return Some((exponent, Format::Binary));
    }
    let digits = suffix.strip_prefix(['e', 'E'])?;
    Some((digits.parse().ok()?, Format::Exponent))
}

/// Whether Go keeps the text as written because it already is in canonical form.
fn is_kept(parts: &Parts<'_>) -> bool {
    let digits = parts.whole.len() + parts.fraction.len();
    match parts.format {
        Format::Binary => {
            // Twenty bits hold about six decimal digits; beyond fifteen in all Go leaves its fast path.
            let room = 14 - i32::try_from(digits).unwrap_or(i32::MAX) - parts.exponent * 3 / 10;
            let odd = parts.whole.parse::<i64>().is_ok_and(|value| value & 7 != 0);
            parts.fraction.is_empty() && room >= 0 && odd
        }
        Format::Decimal | Format::Exponent => {
            let scale = parts.exponent - i32::try_from(parts.fraction.len()).unwrap_or(i32::MAX);
            let shifted = format!("{}{}", parts.whole, parts.fraction);
            digits <= SAFE_DIGITS
                && scale >= NANO
                && scale % 3 == 0
                && !shifted.ends_with("000")
                && !shifted.starts_with('0')
        }
    }
}

/// The value in nano units, rounded up, and whether rounding lost nothing.
fn nanos(parts: &Parts<'_>) -> Option<i128> {
    let digits: i128 = format!("{}{}", parts.whole, parts.fraction).parse().ok()?;
    let places = i32::try_from(parts.fraction.len()).ok()?;
    if parts.format == Format::Binary {
        let scaled = digits.checked_mul(1_i128.checked_shl(u32::try_from(parts.exponent).ok()?)?)?;
        return scale(scaled, -places - NANO);
    }
    scale(digits, parts.exponent - places - NANO)
}

/// `value · 10^exponent`, rounded up.
fn scale(value: i128, exponent: i32) -> Option<i128> {
    let power = u32::try_from(exponent.abs()).ok()?;
    if exponent >= 0 {
        return value.checked_mul(10_i128.checked_pow(power)?);
    }
    match 10_i128.checked_pow(power) {
        Some(divisor) => Some(value / divisor + i128::from(value % divisor != 0)),
        None => Some(i128::from(value != 0)),
    }
}

fn write(parts: &Parts<'_>) -> Option<String> {
    const UNIT: i128 = 1_000_000_000;
    let mut amount = nanos(parts)?;
    if amount == 0 {
        return Some("0".to_owned());
    }
    if parts.format == Format::Binary {
        amount = amount.min(i128::from(i64::MAX) * UNIT);
    }
    let sign = if parts.negative { "-" } else { "" };
    let binary = parts.format == Format::Binary && amount >= 1024 * UNIT && amount % UNIT == 0;
    if binary {
        let (mut value, mut exponent) = (amount / UNIT, 0);
        while value % 1024 == 0 && exponent < 60 {
            value /= 1024;
            exponent += 10;
        }
        let suffix = BINARY.iter().find(|(_, found)| *found == exponent).map_or("", |(name, _)| name);
        return Some(format!("{sign}{value}{suffix}"));
    }
    let mut exponent = NANO;
    while amount % 1000 == 0 {
        amount /= 1000;
        exponent += 3;
    }
    let suffix = match parts.format {
        Format::Exponent if exponent == 0 => String::new(),
        Format::Exponent => format!("e{exponent}"),
        _ => DECIMAL.iter().find(|(_, found)| *found == exponent).map_or("", |(name, _)| name).to_owned(),
    };
    Some(format!("{sign}{amount}{suffix}"))
}
