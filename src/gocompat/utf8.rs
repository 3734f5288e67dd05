//! Text from bytes that may be none.
//!
//! In:  bytes.
//! Out: text in which every byte that is no part of a letter became U+FFFD; Rust's own conversion takes several bytes for one.
//! Source: Go's `unicode/utf8` and `encoding/json`.

/// The text.
pub fn lossy(mut bytes: &[u8]) -> String {
    let mut out = String::with_capacity(bytes.len());
    loop {
        match std::str::from_utf8(bytes) {
            Ok(rest) => {
                out.push_str(rest);
                return out;
            }
            Err(error) => {
                let (valid, rest) = bytes.split_at(error.valid_up_to());
                out.push_str(&String::from_utf8_lossy(valid));
                out.push(char::REPLACEMENT_CHARACTER);
                bytes = rest.get(1..).unwrap_or_default();
            }
        }
    }
}
