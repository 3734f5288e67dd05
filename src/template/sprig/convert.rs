//! Encodings, types, regular expressions and hashes.

use base64::engine::general_purpose::{GeneralPurpose, GeneralPurposeConfig, STANDARD};
use base64::{Engine as _, alphabet};
use sha2::{Digest as _, Sha256, Sha512};

use super::super::functions::Row;
use super::super::value::Value;
use super::{Answer, any, int, text};
use crate::gocompat::strconv::quote;
use crate::gocompat::{json, yaml};

fn of(text: impl AsRef<str>) -> Answer {
    Ok(Value::str(text))
}

pub(super) const TABLE: &[Row] = &[
    ("toYaml", "a", |_, v| written(&any(&v, 0).to_json(0)?)),
    ("fromYaml", "s", |_, v| from_yaml(text(&v, 0), true)),
    ("fromYamlArray", "s", |_, v| from_yaml(text(&v, 0), false)),
    ("toJson", "a", |_, v| of(any(&v, 0).to_json(0).map(|value| json::to_string(&value)).unwrap_or_default())),
    ("mustToJson", "a", |_, v| of(json::to_string(&any(&v, 0).to_json(0)?))),
    ("toRawJson", "a", |_, v| of(json::to_string_plain(&any(&v, 0).to_json(0)?))),
    ("mustToRawJson", "a", |_, v| of(json::to_string_plain(&any(&v, 0).to_json(0)?))),
    ("toPrettyJson", "a", |_, v| of(pretty(&any(&v, 0).to_json(0)?))),
    ("mustToPrettyJson", "a", |_, v| of(pretty(&any(&v, 0).to_json(0)?))),
    ("fromJson", "s", |_, v| Ok(from_json(text(&v, 0)).unwrap_or(Value::Nil))),
    ("mustFromJson", "s", |_, v| from_json(text(&v, 0))),
    ("b64enc", "s", |_, v| of(STANDARD.encode(text(&v, 0)))),
    ("b64dec", "s", |_, v| of(decoded(text(&v, 0)))),
    ("sha256sum", "s", |_, v| of(hex(&Sha256::digest(text(&v, 0))))),
    ("sha512sum", "s", |_, v| of(hex(&Sha512::digest(text(&v, 0))))),
    ("adler32sum", "s", |_, v| of(adler32(text(&v, 0)).to_string())),
    ("kindOf", "a", |_, v| of(any(&v, 0).kind())),
    ("kindIs", "sa", |_, v| Ok(Value::Bool(any(&v, 1).kind() == text(&v, 0)))),
    ("typeOf", "a", |_, v| of(any(&v, 0).type_name())),
    ("typeIs", "sa", |_, v| Ok(Value::Bool(any(&v, 1).type_name() == text(&v, 0)))),
    ("typeIsLike", "sa", |_, v| Ok(Value::Bool(any(&v, 1).type_name() == text(&v, 0)))),
    ("deepEqual", "aa", |_, v| Ok(Value::Bool(any(&v, 0).deep_equal(&any(&v, 1))))),
    ("regexMatch", "ss", |_, v| Ok(Value::Bool(regex(&v).is_ok_and(|regex| regex.is_match(text(&v, 1)))))),
    ("mustRegexMatch", "ss", |_, v| Ok(Value::Bool(regex(&v)?.is_match(text(&v, 1))))),
    ("regexFind", "ss", |_, v| of(must(&v)?.find(text(&v, 1)).map_or("", |found| found.as_str()))),
    ("mustRegexFind", "ss", |_, v| of(regex(&v)?.find(text(&v, 1)).map_or("", |found| found.as_str()))),
    ("regexFindAll", "ssi", |_, v| find_all(&must(&v)?, &v)),
    ("mustRegexFindAll", "ssi", |_, v| find_all(&regex(&v)?, &v)),
    ("regexReplaceAll", "sss", |_, v| of(must(&v)?.replace_all(text(&v, 1), text(&v, 2)))),
    ("mustRegexReplaceAll", "sss", |_, v| of(regex(&v)?.replace_all(text(&v, 1), text(&v, 2)))),
    ("regexReplaceAllLiteral", "sss", |_, v| of(must(&v)?.replace_all(text(&v, 1), regex::NoExpand(text(&v, 2))))),
    ("mustRegexReplaceAllLiteral", "sss", |_, v| of(regex(&v)?.replace_all(text(&v, 1), regex::NoExpand(text(&v, 2))))),
    ("regexSplit", "ssi", |_, v| split(&must(&v)?, &v)),
    ("mustRegexSplit", "ssi", |_, v| split(&regex(&v)?, &v)),
    ("regexQuoteMeta", "s", |_, v| of(quote_meta(text(&v, 0)))),
];

fn written(value: &serde_json::Value) -> Answer {
    let text = super::yaml::to_yaml(value)?;
    of(text.strip_suffix('\n').unwrap_or(&text))
}

fn from_yaml(text: &str, wants_map: bool) -> Answer {
    let parsed = yaml::parse(text).map_err(|error| error.to_string())?;
    match (&parsed, wants_map) {
        (serde_json::Value::Null, true) => Ok(Value::from_json(&serde_json::json!({}))),
        (serde_json::Value::Null, false) => Ok(Value::list(Vec::new())),
        (serde_json::Value::Object(_), true) | (serde_json::Value::Array(_), false) => Ok(Value::from_json(&parsed)),
        (other, _) => {
            let target = if wants_map { "map[string]interface {}" } else { "[]interface {}" };
            let kind = json::kind(other);
            Err(format!(
                "error unmarshaling JSON: while decoding JSON: json: cannot unmarshal {kind} into Go value of type {target}"
            ))
        }
    }
}

fn from_json(text: &str) -> Answer {
    serde_json::from_str(text).map(|value| Value::from_json(&value)).map_err(|error| match error.is_eof() {
        true => "unexpected end of JSON input".to_owned(),
        false => error.to_string(),
    })
}

fn pretty(value: &serde_json::Value) -> String {
    let plain = serde_json::to_string_pretty(value).unwrap_or_default();
    plain.replace('&', "\\u0026").replace('<', "\\u003c").replace('>', "\\u003e")
}

/// Go does not look at the bits that are left over.
const BASE64: GeneralPurpose =
    GeneralPurpose::new(&alphabet::STANDARD, GeneralPurposeConfig::new().with_decode_allow_trailing_bits(true));

fn decoded(text: &str) -> String {
    let text = text.replace(['\r', '\n'], "");
    match BASE64.decode(&text) {
        Ok(bytes) => String::from_utf8_lossy(&bytes).into_owned(),
        Err(base64::DecodeError::InvalidByte(at, _)) => format!("illegal base64 data at input byte {at}"),
        // Go names the start of the group that is not whole.
        Err(_) => format!("illegal base64 data at input byte {}", text.len() / 4 * 4),
    }
}

pub(super) fn hex(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}

fn adler32(text: &str) -> u32 {
    let (a, b) = text.bytes().fold((1u32, 0u32), |(a, b), byte| {
        let a = (a + u32::from(byte)) % 65_521;
        (a, (b + a) % 65_521)
    });
    b << 16 | a
}

/// Patterns are RE2's in Go; this engine reads the same family and runs in linear time as well.
fn regex(values: &[Value]) -> Result<regex::Regex, String> {
    let pattern = text(values, 0);
    regex::RegexBuilder::new(pattern)
        .size_limit(1 << 20)
        .build()
        .map_err(|_| format!("error parsing regexp: invalid pattern: `{pattern}`"))
}

/// The functions without `must` panic in Go, which says so.
fn must(values: &[Value]) -> Result<regex::Regex, String> {
    let show = |problem| format!("regexp: Compile({}): {problem}", quoted(text(values, 0)));
    regex(values).map_err(show)
}

fn quoted(pattern: &str) -> String {
    if pattern.contains('`') { quote(pattern) } else { format!("`{pattern}`") }
}

fn limit(values: &[Value]) -> usize {
    usize::try_from(int(values, 2)).unwrap_or(usize::MAX)
}

fn find_all(regex: &regex::Regex, values: &[Value]) -> Answer {
    Ok(Value::strings(regex.find_iter(text(values, 1)).take(limit(values)).map(|found| found.as_str().to_owned())))
}

fn split(regex: &regex::Regex, values: &[Value]) -> Answer {
    Ok(Value::strings(regex.splitn(text(values, 1), limit(values)).map(str::to_owned)))
}

fn quote_meta(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for letter in text.chars() {
        if r"\.+*?()|[]{}^$".contains(letter) {
            out.push('\\');
        }
        out.push(letter);
    }
    out
}
