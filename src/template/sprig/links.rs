//! Versions, URLs, hashes and durations.

use std::collections::BTreeMap;

use jiff::SignedDuration;
use ring::digest::{SHA1_FOR_LEGACY_USE_ONLY, digest};

use super::super::functions::Row;
use super::super::value::{Elem, SemVer, Value};
use super::{Answer, any, entries, text};
use crate::gocompat::semver::Constraint;
use crate::gocompat::strconv::quote;
use crate::gocompat::{duration, url};

fn of(text: impl AsRef<str>) -> Answer {
    Ok(Value::str(text))
}

pub(super) const TABLE: &[Row] = &[
    ("semver", "s", |_, v| SemVer::parse(text(&v, 0)).map(|version| Value::Version(version.into()))),
    ("semverCompare", "ss", |_, v| admits(text(&v, 0), text(&v, 1))),
    ("urlParse", "s", |_, v| parsed(text(&v, 0))),
    ("urlJoin", "m", |_, v| joined(&entries(&v, 0).borrow())),
    ("sha1sum", "s", |_, v| of(super::hex(digest(&SHA1_FOR_LEGACY_USE_ONLY, text(&v, 0).as_bytes()).as_ref()))),
    ("b32enc", "s", |_, v| of(base32(text(&v, 0).as_bytes()))),
    ("b32dec", "s", |_, v| of(from_base32(text(&v, 0)).unwrap_or_else(|problem| problem))),
    ("duration", "a", |_, v| of(duration::format(seconds(&any(&v, 0))))),
    ("durationRound", "a", |_, v| of(rounded(&any(&v, 0)))),
];

fn admits(constraint: &str, version: &str) -> Answer {
    let constraint = Constraint::parse(constraint).map_err(|_| format!("improper constraint: {constraint}"))?;
    Ok(Value::Bool(constraint.admits(&SemVer::parse(version)?.version)))
}

/// What a URL has where another character or nothing had to be.
fn url_problem(text: &str) -> String {
    let after = text.split_once("://").map_or("", |(_, rest)| rest);
    let authority = after.split(['/', '?', '#']).next().unwrap_or_default();
    let host = authority.rsplit('@').next().unwrap_or_default();
    if text.chars().any(|letter| letter.is_ascii_control()) {
        return "net/url: invalid control character in URL".to_owned();
    }
    if text.starts_with(':') {
        return "missing protocol scheme".to_owned();
    }
    if host.starts_with('[') && !host.contains(']') {
        return "missing ']' in host".to_owned();
    }
    if let Some(letter) = host.chars().find(|letter| matches!(letter, ' ' | '\\' | '^' | '`' | '{' | '|' | '}')) {
        return format!("invalid character {} in host name", quote(&letter.to_string()));
    }
    if let Some((_, port)) = host.rsplit_once(':').filter(|(_, port)| !port.bytes().all(|digit| digit.is_ascii_digit()))
    {
        return format!("invalid port {} after host", quote(&format!(":{port}")));
    }
    if authority.contains('@') && !host.is_empty() && !text.contains('%') {
        return "net/url: invalid userinfo".to_owned();
    }
    match text.find('%').and_then(|at| text.get(at..)) {
        Some(code) => format!("invalid URL escape {}", quote(&code.chars().take(3).collect::<String>())),
        None => "first path segment in URL cannot contain colon".to_owned(),
    }
}

fn scheme(text: &str) -> (String, &str) {
    let is_scheme = |scheme: &str| {
        scheme.starts_with(|first: char| first.is_ascii_alphabetic())
            && scheme.chars().all(|letter| letter.is_ascii_alphanumeric() || "+-.".contains(letter))
    };
    match text.split_once(':') {
        Some((scheme, rest)) if is_scheme(scheme) => (scheme.to_ascii_lowercase(), rest),
        _ => (String::new(), text),
    }
}

/// User and host of a text behind the scheme's colon, and the path.
fn authority<'t>(scheme: &str, rest: &'t str) -> (&'t str, &'t str, &'t str) {
    let Some(inner) = rest.strip_prefix("//").filter(|inner| !scheme.is_empty() || !inner.starts_with('/')) else {
        return ("", "", rest);
    };
    let (authority, path) = inner.split_at(inner.find('/').unwrap_or(inner.len()));
    let (user, host) = authority.rsplit_once('@').unwrap_or(("", authority));
    (user, host, path)
}

fn parsed(source: &str) -> Answer {
    let Some(printed) = url::reprint(source) else {
        return Err(format!("unable to parse url: parse {}: {}", quote(source), url_problem(source)));
    };
    let (before, fragment) = source.split_once('#').unwrap_or((source, ""));
    let (scheme, rest) = scheme(before);
    let (rest, query) = rest.split_once('?').unwrap_or((rest, ""));
    let is_opaque = !scheme.is_empty() && !rest.is_empty() && !rest.starts_with('/');
    let (opaque, hierarchy) = if is_opaque { (rest, "") } else { ("", rest) };
    let (_, host, path) = authority(&scheme, hierarchy);
    let (_, shown) = self::scheme(&printed);
    let shown = shown.split(['?', '#']).next().unwrap_or_default();
    let user = if is_opaque { "" } else { authority(&scheme, shown).0 };
    let host = url::decode(host);
    let hostname = match host.strip_prefix('[').and_then(|inner| inner.split_once(']')) {
        Some((inner, _)) => inner,
        None => host.rsplit_once(':').map_or(host.as_str(), |(name, _)| name),
    };
    let parts = [
        ("scheme", scheme.as_str()),
        ("host", &host),
        ("hostname", hostname),
        ("path", &url::decode(path)),
        ("query", query),
        ("opaque", opaque),
        ("fragment", &url::decode(fragment)),
        ("userinfo", user),
    ];
    Ok(Value::map(Elem::Any, parts.iter().map(|(name, part)| ((*name).to_owned(), Value::str(part))).collect()))
}

fn joined(parts: &BTreeMap<String, Value>) -> Answer {
    let part = |name: &str| match parts.get(name) {
        None => Ok(String::new()),
        Some(Value::Str(text)) => Ok(text.to_string()),
        Some(Value::Nil | Value::Invalid) => {
            Err("runtime error: invalid memory address or nil pointer dereference".to_owned())
        }
        Some(other) => Err(format!("unable to parse {name} key, must be of type string, but {} found", other.kind())),
    };
    let (scheme, host, path, query) = (part("scheme")?, part("host")?, part("path")?, part("query")?);
    let (opaque, fragment, user) = (part("opaque")?, part("fragment")?, part("userinfo")?);
    let whole = format!("proto://{user}@host");
    let user = match (user.is_empty(), url::reprint(&whole)) {
        (true, _) => String::new(),
        (false, Some(printed)) => authority("proto", self::scheme(&printed).1).0.to_owned() + "@",
        (false, None) => {
            let problem = url_problem(&whole);
            return Err(format!("unable to parse userinfo in dict: parse {}: {problem}", quote(&whole)));
        }
    };
    let mut out = if scheme.is_empty() { String::new() } else { format!("{scheme}:") };
    if !opaque.is_empty() {
        out.push_str(&opaque);
    } else {
        let has_authority = !host.is_empty() || !user.is_empty();
        if has_authority || !scheme.is_empty() && !path.is_empty() {
            out.push_str("//");
        }
        out.push_str(&user);
        out.push_str(&host);
        if !path.is_empty() && !path.starts_with('/') && !host.is_empty() {
            out.push('/');
        }
        if out.is_empty() && path.split('/').next().is_some_and(|segment| segment.contains(':')) {
            out.push_str("./");
        }
        out.push_str(&url::path_text(&path));
    }
    if !query.is_empty() {
        out = format!("{out}?{query}");
    }
    if !fragment.is_empty() {
        let mut shown = url::path_text(&fragment);
        for (code, letter) in [("%3F", "?"), ("%21", "!"), ("%28", "("), ("%29", ")"), ("%2A", "*")] {
            shown = shown.replace(code, letter);
        }
        out = format!("{out}#{shown}");
    }
    of(out)
}

const LETTERS: &[u8; 32] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZ234567";

fn base32(bytes: &[u8]) -> String {
    let mut out = String::with_capacity(bytes.len().div_ceil(5) * 8);
    for group in bytes.chunks(5) {
        let bits = (0..5).fold(0u64, |bits, at| bits << 8 | u64::from(group.get(at).copied().unwrap_or_default()));
        let used = (group.len() * 8).div_ceil(5);
        for at in 0..8 {
            let index = usize::try_from(bits >> (35 - 5 * at) & 31).unwrap_or_default();
            out.push(if at < used { char::from(LETTERS.get(index).copied().unwrap_or_default()) } else { '=' });
        }
    }
    out
}

fn from_base32(text: &str) -> Result<String, String> {
    let text: Vec<u8> = text.bytes().filter(|byte| !matches!(byte, b'\r' | b'\n')).collect();
    let corrupt = |at: usize| format!("illegal base32 data at input byte {at}");
    let mut out = Vec::with_capacity(text.len() * 5 / 8);
    for (group, letters) in text.chunks(8).enumerate() {
        let start = group * 8;
        let used = letters.iter().position(|letter| *letter == b'=').unwrap_or(letters.len());
        if letters.len() < 8 {
            let unknown = letters.iter().position(|letter| !LETTERS.contains(letter));
            return Err(corrupt(start + unknown.unwrap_or(0)));
        }
        let mut bits = 0u64;
        for (at, letter) in letters.iter().enumerate() {
            let digit = LETTERS.iter().position(|known| known == letter);
            let digit = match digit {
                Some(digit) if at < used => digit,
                None if at >= used && *letter == b'=' => 0,
                _ => return Err(corrupt(start + at)),
            };
            bits = bits << 5 | u64::try_from(digit).unwrap_or_default();
        }
        let is_last = start + 8 >= text.len();
        if !matches!(used, 2 | 4 | 5 | 7 | 8) || used < 8 && !is_last {
            return Err(corrupt(start + used));
        }
        let bytes = bits.to_be_bytes();
        out.extend_from_slice(bytes.get(3..3 + used * 5 / 8).unwrap_or_default());
    }
    Ok(String::from_utf8_lossy(&out).into_owned())
}

fn seconds(value: &Value) -> SignedDuration {
    match value {
        Value::Str(text) => SignedDuration::from_secs(text.parse().unwrap_or_default()),
        Value::Int64(seconds) => SignedDuration::from_secs(*seconds),
        _ => SignedDuration::ZERO,
    }
}

/// The largest unit that fits more than once.
fn rounded(value: &Value) -> String {
    let length = match value {
        Value::Str(text) => duration::parse(text).unwrap_or_default(),
        Value::Int64(nanos) => SignedDuration::from_nanos(*nanos),
        _ => SignedDuration::ZERO,
    };
    let nanos = length.unsigned_abs().as_nanos();
    let hour = 3_600_000_000_000u128;
    let units = [
        (hour * 24 * 365, "y"),
        (hour * 24 * 30, "mo"),
        (hour * 24, "d"),
        (hour, "h"),
        (hour / 60, "m"),
        (hour / 3600, "s"),
    ];
    let fit = units.iter().find(|(size, _)| nanos > *size);
    fit.map_or("0s".to_owned(), |(size, unit)| format!("{}{unit}", nanos / size))
}
