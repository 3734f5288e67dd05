//! Version constraints: `>=1.2 <2 || ~3.1, !=3.1.4`.
//!
//! In:  the text of a constraint.
//! Out: whether a version is admitted.
//! Invariant: a pre-release is admitted only by an AND group in which some constraint names a pre-release itself.
//! Source: REND-017 to REND-019 (Masterminds semver 3.4.0 `constraints.go`).

use super::Version;

/// The text is no constraint.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum NoConstraint {
    /// A group is not written as one.
    #[error("improper constraint: {0}")]
    Improper(String),
    /// A version is written as one, but its numbers are none.
    #[error("constraint parser error")]
    BrokenVersion,
}

/// Groups of which one must admit a version.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Constraint {
    groups: Vec<Vec<Part>>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Operator {
    Plain,
    NotEqual,
    Greater,
    Less,
    GreaterOrEqual,
    LessOrEqual,
    Tilde,
    Caret,
}

/// Spellings, longest first.
const OPERATORS: [(&str, Operator); 11] = [
    ("!=", Operator::NotEqual),
    (">=", Operator::GreaterOrEqual),
    ("=>", Operator::GreaterOrEqual),
    ("<=", Operator::LessOrEqual),
    ("=<", Operator::LessOrEqual),
    ("~>", Operator::Tilde),
    ("=", Operator::Plain),
    (">", Operator::Greater),
    ("<", Operator::Less),
    ("~", Operator::Tilde),
    ("^", Operator::Caret),
];

/// How much of the version was written out.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Written {
    Nothing,
    Major,
    MajorMinor,
    All,
}

#[derive(Debug, Clone, PartialEq, Eq)]
struct Part {
    operator: Operator,
    version: Version,
    written: Written,
}

impl Constraint {
    /// Reads a constraint.
    ///
    /// # Errors
    /// The text is none.
    pub fn parse(text: &str) -> Result<Self, NoConstraint> {
        let text = rewrite_ranges(text);
        let groups = text.split("||").map(parse_group).collect::<Result<_, _>>()?;
        Ok(Self { groups })
    }

    /// Whether the version satisfies one of the groups.
    pub fn admits(&self, version: &Version) -> bool {
        self.groups.iter().any(|group| {
            let takes_pre = group.iter().any(|part| !part.version.pre.is_empty());
            (version.pre.is_empty() || takes_pre) && group.iter().all(|part| part.admits(version))
        })
    }
}

impl Part {
    fn admits(&self, v: &Version) -> bool {
        let c = &self.version;
        match self.operator {
            Operator::Plain if self.written == Written::All => v == c,
            Operator::Plain | Operator::Tilde => self.admits_tilde(v),
            Operator::NotEqual => self.differs(v),
            Operator::Greater => match self.written {
                Written::Major => v.major > c.major,
                Written::MajorMinor => (v.major, v.minor) > (c.major, c.minor),
                Written::Nothing | Written::All => v > c,
            },
            Operator::Less => v < c,
            Operator::GreaterOrEqual => v >= c,
            Operator::LessOrEqual => match self.written {
                Written::All => v <= c,
                Written::Major => v.major <= c.major,
                Written::Nothing | Written::MajorMinor => {
                    v.major < c.major || (v.major == c.major && v.minor <= c.minor)
                }
            },
            Operator::Caret => self.admits_caret(v),
        }
    }

    fn admits_tilde(&self, v: &Version) -> bool {
        let c = &self.version;
        if v < c {
            return false;
        }
        // `~0.0.0` and `*` admit everything above.
        let is_partial = matches!(self.written, Written::Major | Written::MajorMinor);
        if (c.major, c.minor, c.patch) == (0, 0, 0) && !is_partial {
            return true;
        }
        v.major == c.major && (v.minor == c.minor || self.written == Written::Major)
    }

    fn differs(&self, v: &Version) -> bool {
        let c = &self.version;
        match self.written {
            Written::All => v != c,
            Written::Major => v.major != c.major,
            Written::MajorMinor => (v.major, v.minor) != (c.major, c.minor) || v.pre != c.pre,
            Written::Nothing => (v.major, v.minor, v.patch) != (c.major, c.minor, c.patch) || v != c,
        }
    }

    fn admits_caret(&self, v: &Version) -> bool {
        let c = &self.version;
        if v < c {
            return false;
        }
        if c.major > 0 || self.written == Written::Major {
            return v.major == c.major;
        }
        if v.major > 0 {
            return false;
        }
        if c.minor > 0 || self.written == Written::MajorMinor {
            return v.minor == c.minor;
        }
        v.minor == 0 && v.patch == c.patch
    }
}

/// Turns `1.2 - 2.3` into `>= 1.2, <= 2.3`.
fn rewrite_ranges(text: &str) -> String {
    let (mut out, mut rest) = (String::new(), text);
    while let Some(dash) = find_range_dash(rest) {
        let (left, right) = (&rest[..dash.0], &rest[dash.1..]);
        let version = left.rsplit([' ', '\t', ',', '|']).next().unwrap_or_default();
        let end = version_length(right).unwrap_or(0);
        out.push_str(&left[..left.len() - version.len()]);
        out.push_str(&format!(">= {version}, <= {} ", &right[..end]));
        rest = right[end..].trim_start();
    }
    out + rest
}

/// Start of the blanks before, and end of the blanks after, a dash that stands between two versions.
fn find_range_dash(text: &str) -> Option<(usize, usize)> {
    text.match_indices('-').find_map(|(at, _)| {
        let left = text[..at].trim_end();
        let right = text[at + 1..].trim_start();
        let has_blanks = left.len() < at && right.len() < text.len() - at - 1;
        let version = left.rsplit([' ', '\t', ',', '|']).next().unwrap_or_default();
        let is_version = version_length(version) == Some(version.len()) && !version.is_empty();
        (has_blanks && is_version && version_length(right).is_some()).then(|| (left.len(), text.len() - right.len()))
    })
}

fn parse_group(group: &str) -> Result<Vec<Part>, NoConstraint> {
    let improper = || NoConstraint::Improper(group.to_owned());
    let (mut parts, mut rest) = (Vec::new(), group.trim_start());
    loop {
        let (part, after) = split_part(rest).ok_or_else(improper)?;
        parts.push(part);
        let trimmed = after.trim_start();
        if trimmed.is_empty() {
            // Whether numbers are numbers is looked at when the whole group is known to be written well.
            return parts.into_iter().map(parse_part).collect();
        }
        rest = match trimmed.strip_prefix(',') {
            Some(after_comma) => after_comma.trim_start(),
            None if trimmed.len() < after.len() => trimmed,
            None => return Err(improper()),
        };
    }
}

/// Operator and version of the part that the text begins with, and the text after it.
fn split_part(text: &str) -> Option<((Operator, &str), &str)> {
    let found = OPERATORS.iter().find_map(|(spelling, op)| Some((*op, text.strip_prefix(spelling)?)));
    let (operator, rest) = found.unwrap_or((Operator::Plain, text));
    let rest = rest.trim_start();
    let (version, rest) = rest.split_at(version_length(rest)?);
    Some(((operator, version), rest))
}

fn parse_part((operator, version): (Operator, &str)) -> Result<Part, NoConstraint> {
    let (version, written) = parse_version(version)?;
    Ok(Part { operator, version, written })
}

/// Reads a version in which the last numbers may be wildcards or absent.
fn parse_version(text: &str) -> Result<(Version, Written), NoConstraint> {
    let text = text.strip_prefix('v').unwrap_or(text);
    let (core, tail) = text.split_at(text.find(['-', '+']).unwrap_or(text.len()));
    let pre = if tail.starts_with('-') { tail.split('+').next().unwrap_or_default() } else { "" };
    let numbers: Vec<&str> = core.split('.').collect();
    let known = |index: usize| numbers.get(index).copied().filter(|n| !matches!(*n, "x" | "X" | "*"));
    let (text, written) = match (known(0), known(1), known(2)) {
        (None, _, _) => (format!("0.0.0{pre}"), Written::Nothing),
        (Some(major), None, _) => (format!("{major}.0.0{pre}"), Written::Major),
        (Some(major), Some(minor), None) => (format!("{major}.{minor}.0{pre}"), Written::MajorMinor),
        (Some(_), Some(_), Some(_)) => (text.to_owned(), Written::All),
    };
    Ok((Version::parse(&text).map_err(|_| NoConstraint::BrokenVersion)?, written))
}

/// Length of the version, wildcards allowed, that the text starts with.
fn version_length(text: &str) -> Option<usize> {
    let number = |text: &str| text.find(|c: char| !(c.is_ascii_digit() || "|xX*".contains(c))).unwrap_or(text.len());
    let words = |text: &str| {
        let mut length = 0;
        loop {
            let rest = &text[length..];
            let word = rest.find(|c: char| !(c.is_ascii_alphanumeric() || c == '-')).unwrap_or(rest.len());
            if word == 0 {
                // A final dot is not part of the words.
                return length.saturating_sub(1);
            }
            length += word;
            if !text[length..].starts_with('.') {
                return length;
            }
            length += 1;
        }
    };
    let mut at = usize::from(text.starts_with('v'));
    let first = number(&text[at..]);
    if first == 0 {
        return None;
    }
    at += first;
    for _ in 0..2 {
        let more = text[at..].strip_prefix('.').map_or(0, number);
        at += if more > 0 { more + 1 } else { 0 };
    }
    for mark in ['-', '+'] {
        let more = text[at..].strip_prefix(mark).map_or(0, words);
        at += if more > 0 { more + 1 } else { 0 };
    }
    Some(at)
}
