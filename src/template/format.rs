//! Values as Go's `fmt` prints them.

use super::number::{exponent_text, general, special};
use super::value::{MAX_NESTING, Value};
use crate::gocompat::strconv::quote;

/// What an action prints.
pub(super) fn printed(value: &Value) -> String {
    match value {
        Value::Invalid => "<no value>".to_owned(),
        other => plain(other),
    }
}

/// `%v`.
pub(super) fn plain(value: &Value) -> String {
    nested(value, 0)
}

fn nested(value: &Value, depth: usize) -> String {
    if depth > MAX_NESTING {
        return String::new();
    }
    match value {
        Value::Invalid | Value::Nil => "<nil>".to_owned(),
        Value::Bool(flag) => flag.to_string(),
        Value::Int(number) | Value::Int64(number) => number.to_string(),
        Value::Float(number) => general(*number),
        Value::Str(text) => text.to_string(),
        Value::Version(version) => version.to_string(),
        Value::List(_, items) => {
            let items: Vec<String> = items.iter().map(|item| nested(item, depth + 1)).collect();
            format!("[{}]", items.join(" "))
        }
        Value::Map(_, entries) => {
            let entries: Vec<String> =
                entries.borrow().iter().map(|(key, item)| format!("{key}:{}", nested(item, depth + 1))).collect();
            format!("map[{}]", entries.join(" "))
        }
    }
}

/// `print`: blanks between operands of which neither is a text.
pub(super) fn print(values: &[Value]) -> String {
    let mut out = String::new();
    for (at, value) in values.iter().enumerate() {
        let before = at.checked_sub(1).and_then(|at| values.get(at));
        let is_text = |value: &Value| matches!(value, Value::Str(_));
        if before.is_some_and(|before| !is_text(before) && !is_text(value)) {
            out.push(' ');
        }
        out.push_str(&plain(value));
    }
    out
}

/// The flags, width and precision of a verb.
#[derive(Default, Clone, Copy)]
struct Spec {
    minus: bool,
    plus: bool,
    sharp: bool,
    space: bool,
    zero: bool,
    width: usize,
    precision: Option<usize>,
}

/// Nothing is padded beyond this.
const MAX_WIDTH: usize = 10_000;

/// `printf`.
pub(super) fn printf(format: &str, values: &[Value]) -> String {
    let mut out = String::new();
    let mut letters = format.chars().peekable();
    let mut used = 0;
    while let Some(letter) = letters.next() {
        if letter != '%' {
            out.push(letter);
            continue;
        }
        let mut spec = Spec::default();
        while let Some(flag) = letters.next_if(|next| "+-# 0".contains(*next)) {
            match flag {
                '+' => spec.plus = true,
                '-' => spec.minus = true,
                '#' => spec.sharp = true,
                ' ' => spec.space = true,
                _ => spec.zero = true,
            }
        }
        let number = |letters: &mut std::iter::Peekable<std::str::Chars<'_>>| {
            let mut number = 0usize;
            while let Some(digit) = letters.peek().and_then(|next| next.to_digit(10)) {
                number = (number * 10 + digit as usize).min(MAX_WIDTH);
                letters.next();
            }
            number
        };
        spec.width = number(&mut letters);
        if letters.next_if_eq(&'.').is_some() {
            spec.precision = Some(number(&mut letters));
        }
        match letters.next() {
            None => out.push_str("%!(NOVERB)"),
            Some('%') => out.push('%'),
            Some(verb) => match values.get(used) {
                None => out.push_str(&format!("%!{verb}(BADINDEX)").replace("BADINDEX", "MISSING")),
                Some(value) => {
                    used += 1;
                    out.push_str(&verbed(verb, spec, value));
                }
            },
        }
    }
    if let Some(extra) = values.get(used..).filter(|extra| !extra.is_empty()) {
        let extra: Vec<String> =
            extra
                .iter()
                .map(|value| {
                    if value.is_nil() { "<nil>".to_owned() } else { format!("{}={}", value.type_name(), plain(value)) }
                })
                .collect();
        out.push_str(&format!("%!(EXTRA {})", extra.join(", ")));
    }
    out
}

fn bad(verb: char, value: &Value) -> String {
    if value.is_nil() {
        format!("%!{verb}(<nil>)")
    } else {
        format!("%!{verb}({}={})", value.type_name(), plain(value))
    }
}

fn verbed(verb: char, spec: Spec, value: &Value) -> String {
    let plus = spec.plus && verb != 'v';
    let spec = Spec { plus, ..spec };
    match (verb, value) {
        ('T', value) => padded(value.type_name().to_owned(), spec, false),
        ('v', Value::Invalid | Value::Nil) => padded("<nil>".to_owned(), spec, false),
        (_, Value::Invalid | Value::Nil) => bad(verb, value),
        (_, Value::List(_, items)) => {
            let items: Vec<String> = items.iter().map(|item| verbed(verb, spec, item)).collect();
            format!("[{}]", items.join(" "))
        }
        (_, Value::Map(_, entries)) => {
            let key = |key: &str| verbed(verb, spec, &Value::str(key));
            let entries: Vec<String> = entries
                .borrow()
                .iter()
                .map(|(name, item)| format!("{}:{}", key(name), verbed(verb, spec, item)))
                .collect();
            format!("map[{}]", entries.join(" "))
        }
        ('v' | 't', Value::Bool(flag)) => padded(flag.to_string(), spec, false),
        (_, Value::Int(number) | Value::Int64(number)) => integer(verb, spec, *number, value),
        (_, Value::Float(number)) => float(verb, spec, *number, value),
        (_, Value::Version(version)) => string(verb, spec, &version.to_string(), value),
        (_, Value::Str(text)) => string(verb, spec, text, value),
        _ => bad(verb, value),
    }
}

fn padded(text: String, spec: Spec, is_number: bool) -> String {
    let missing = spec.width.saturating_sub(text.chars().count());
    if missing == 0 {
        return text;
    }
    if spec.minus {
        return text + &" ".repeat(missing);
    }
    if spec.zero && is_number {
        let (sign, digits) = text.split_at(text.len() - text.trim_start_matches(['+', '-', ' ']).len());
        return format!("{sign}{}{digits}", "0".repeat(missing));
    }
    " ".repeat(missing) + &text
}

fn signed(negative: bool, digits: &str, spec: Spec) -> String {
    let sign = match (negative, spec.plus, spec.space) {
        (true, ..) => "-",
        (_, true, _) => "+",
        (_, _, true) => " ",
        _ => "",
    };
    format!("{sign}{digits}")
}

fn integer(verb: char, spec: Spec, number: i64, value: &Value) -> String {
    let size = number.unsigned_abs();
    let prefix = |text: &'static str| if spec.sharp { text } else { "" };
    let digits = match verb {
        'v' | 'd' => size.to_string(),
        'x' => format!("{}{size:x}", prefix("0x")),
        'X' => format!("{}{size:X}", prefix("0X")),
        'o' => format!("{}{size:o}", prefix("0")),
        'O' => format!("0o{size:o}"),
        'b' => format!("{}{size:b}", prefix("0b")),
        'c' | 'q' => {
            let letter = u32::try_from(number).ok().and_then(char::from_u32).unwrap_or(char::REPLACEMENT_CHARACTER);
            let quoted = if letter == '\'' {
                "'\\''".to_owned()
            } else {
                format!("'{}'", quote(&letter.to_string()).trim_matches('"'))
            };
            return padded(if verb == 'c' { letter.to_string() } else { quoted }, spec, false);
        }
        'U' => format!("U+{size:04X}"),
        _ => return bad(verb, value),
    };
    let digits = match spec.precision {
        Some(precision) => "0".repeat(precision.saturating_sub(digits.len())) + &digits,
        None => digits,
    };
    padded(signed(number < 0, &digits, spec), Spec { zero: spec.zero && spec.precision.is_none(), ..spec }, true)
}

fn float(verb: char, spec: Spec, number: f64, value: &Value) -> String {
    if !matches!(verb, 'v' | 'g' | 'G' | 'f' | 'F' | 'e' | 'E') {
        return bad(verb, value);
    }
    if let Some(word) = special(number) {
        return padded(word.to_owned(), Spec { zero: false, ..spec }, false);
    }
    let size = number.abs();
    let scientific = |precision: usize| {
        let text = format!("{size:.precision$e}");
        let (digits, exponent) = text.split_once('e').unwrap_or((&text, "0"));
        format!("{digits}{}", exponent_text(exponent.parse().unwrap_or_default()))
    };
    let digits = match (verb, spec.precision) {
        ('f' | 'F', precision) => format!("{size:.*}", precision.unwrap_or(6)),
        ('e' | 'E', precision) => scientific(precision.unwrap_or(6)),
        (_, None) => general(size),
        (_, Some(precision)) => {
            let precision = precision.max(1);
            let text = scientific(precision - 1);
            let exponent: i32 =
                text.split_once('e').and_then(|(_, exponent)| exponent.parse().ok()).unwrap_or_default();
            let trimmed = |text: &str| {
                if text.contains('.') {
                    text.trim_end_matches('0').trim_end_matches('.').to_owned()
                } else {
                    text.to_owned()
                }
            };
            let wide = i32::try_from(precision).unwrap_or(i32::MAX);
            if exponent < -4 || exponent >= wide {
                let (digits, exponent) = text.split_once('e').unwrap_or((&text, "+00"));
                format!("{}e{exponent}", trimmed(digits))
            } else {
                let places = usize::try_from(wide - 1 - exponent).unwrap_or_default();
                trimmed(&format!("{size:.places$}"))
            }
        }
    };
    let digits = if verb.is_ascii_uppercase() { digits.to_uppercase() } else { digits };
    padded(signed(number.is_sign_negative(), &digits, spec), spec, true)
}

fn string(verb: char, spec: Spec, text: &str, value: &Value) -> String {
    let cut: String = match spec.precision {
        Some(precision) => text.chars().take(precision).collect(),
        None => text.to_owned(),
    };
    let shown = match verb {
        'v' if spec.sharp => quote(&cut),
        'v' | 's' => cut,
        'q' if spec.sharp && !cut.contains('`') => format!("`{cut}`"),
        'q' => quote(&cut),
        'x' => cut.bytes().map(|byte| format!("{byte:02x}")).collect(),
        'X' => cut.bytes().map(|byte| format!("{byte:02X}")).collect(),
        _ => return bad(verb, value),
    };
    padded(shown, spec, true)
}
