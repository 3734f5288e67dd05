//! Sprig's functions as Argo CD allows them, and Argo CD's own.
//!
//! In:  arguments of the declared types.
//! Out: what Sprig v3 gives.
//! Source: `github.com/Masterminds/sprig/v3`; Argo CD `applicationset/utils/template_functions.go`.

mod convert;
mod data;
mod links;
mod names;
mod numbers;
mod strings;
mod words;
mod yaml;

use super::format::plain;
use super::functions::Row;
use super::number::integer;
use super::value::Value;

/// All tables.
pub(super) const TABLES: &[&[Row]] =
    &[strings::TABLE, numbers::TABLE, data::TABLE, convert::TABLE, names::TABLE, links::TABLE, words::TABLE];

/// Functions of Sprig that need a clock, randomness or keys: a template that calls one is refused.
pub(super) const UNSUPPORTED: &[&str] = &[
    "ago",
    "bcrypt",
    "buildCustomCert",
    "date",
    "dateInZone",
    "dateModify",
    "date_in_zone",
    "date_modify",
    "decryptAES",
    "derivePassword",
    "encryptAES",
    "genCA",
    "genCAWithKey",
    "genPrivateKey",
    "genSelfSignedCert",
    "genSelfSignedCertWithKey",
    "genSignedCert",
    "genSignedCertWithKey",
    "htmlDate",
    "htmlDateInZone",
    "htpasswd",
    "mustDateModify",
    "must_date_modify",
    "mustToDate",
    "now",
    "randAlpha",
    "randAlphaNum",
    "randAscii",
    "randBytes",
    "randInt",
    "randNumeric",
    "shuffle",
    "toDate",
    "unixEpoch",
    "uuidv4",
];

use convert::hex;
use data::entries;

type Answer = Result<Value, String>;

/// A text argument.
fn text(values: &[Value], at: usize) -> &str {
    match values.get(at) {
        Some(Value::Str(text)) => text,
        _ => "",
    }
}

/// A whole number argument.
fn int(values: &[Value], at: usize) -> i64 {
    values.get(at).map_or(0, to_int)
}

fn any(values: &[Value], at: usize) -> Value {
    values.get(at).cloned().unwrap_or(Value::Nil)
}

/// Sprig's `toString`.
fn strval(value: &Value) -> String {
    plain(value)
}

/// `cast.ToInt64`.
fn to_int(value: &Value) -> i64 {
    match value {
        Value::Int(number) | Value::Int64(number) => *number,
        #[expect(clippy::cast_possible_truncation, reason = "Go truncates alike")]
        Value::Float(number) => *number as i64,
        Value::Bool(flag) => i64::from(*flag),
        Value::Str(text) => {
            let whole = match text.split_once('.') {
                Some((whole, zeros)) if !zeros.is_empty() && zeros.bytes().all(|digit| digit == b'0') => whole,
                _ => text,
            };
            integer(whole).and_then(|number| number.try_into().ok()).unwrap_or_default()
        }
        _ => 0,
    }
}

/// `cast.ToFloat64`.
fn to_float(value: &Value) -> f64 {
    match value {
        #[expect(clippy::cast_precision_loss, reason = "Go converts alike")]
        Value::Int(number) | Value::Int64(number) => *number as f64,
        Value::Float(number) => *number,
        Value::Bool(flag) => f64::from(u8::from(*flag)),
        Value::Str(text) => text.parse().unwrap_or_default(),
        _ => 0.0,
    }
}

/// Sprig's `strslice`.
fn strings_of(value: &Value) -> Vec<String> {
    match value {
        Value::List(_, items) => items.iter().filter(|item| !item.is_nil()).map(strval).collect(),
        Value::Nil | Value::Invalid => Vec::new(),
        other => vec![strval(other)],
    }
}
