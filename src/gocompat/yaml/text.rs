//! From the bytes of a file to text, or why they are none.
//!
//! In:  bytes; a byte-order mark may say UTF-16, anything else is UTF-8.
//! Out: the text, or the problem as go-yaml's reader words it, without `yaml: `.
//! Source: `go.yaml.in/yaml/v2/readerc.go`.

use std::borrow::Cow;

/// Decodes the bytes.
pub(super) fn decode(bytes: &[u8]) -> Result<Cow<'_, str>, &'static str> {
    match bytes {
        [0xFF, 0xFE, wide @ ..] => utf16(wide, u16::from_le_bytes).map(Cow::Owned),
        [0xFE, 0xFF, wide @ ..] => utf16(wide, u16::from_be_bytes).map(Cow::Owned),
        _ => match std::str::from_utf8(bytes) {
            Ok(text) => Ok(Cow::Borrowed(text)),
            Err(error) => Err(utf8_problem(bytes.get(error.valid_up_to()..).unwrap_or_default())),
        },
    }
}

fn utf16(bytes: &[u8], unit: fn([u8; 2]) -> u16) -> Result<String, &'static str> {
    let (pairs, rest) = bytes.as_chunks::<2>();
    let units = pairs.iter().map(|pair| unit(*pair));
    let mut text = String::with_capacity(bytes.len());
    for letter in char::decode_utf16(units) {
        match letter {
            Ok(letter) => text.push(letter),
            Err(error) if error.unpaired_surrogate() >= 0xDC00 => return Err("unexpected low surrogate area"),
            Err(_) => return Err("expected low surrogate area"),
        }
    }
    if rest.is_empty() { Ok(text) } else { Err("incomplete UTF-16 character") }
}

/// What is wrong with the sequence that the bytes start with; they are no UTF-8 there.
fn utf8_problem(bytes: &[u8]) -> &'static str {
    let first = bytes.first().copied().unwrap_or_default();
    let (width, shortest) = match first {
        0x00..=0x7F => (1, 0),
        0xC0..=0xDF => (2, 0x80),
        0xE0..=0xEF => (3, 0x800),
        0xF0..=0xF7 => (4, 0x1_0000),
        _ => return "invalid leading UTF-8 octet",
    };
    let Some(sequence) = bytes.get(..width) else { return "incomplete UTF-8 octet sequence" };
    let mut value = u32::from(first) & (0x7F >> width);
    for octet in sequence.iter().skip(1) {
        if octet & 0xC0 != 0x80 {
            return "invalid trailing UTF-8 octet";
        }
        value = value << 6 | u32::from(octet & 0x3F);
    }
    if value < shortest { "invalid length of a UTF-8 sequence" } else { "invalid Unicode character" }
}
