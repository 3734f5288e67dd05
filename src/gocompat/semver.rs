//! Loose semantic versions and version constraints, as tags are chosen by them.
//!
//! In:  texts from tags and from `targetRevision`.
//! Out: the highest tag that a constraint admits, in its own spelling.
//! Source: REND-016 to REND-021 (`util/versions/tags.go`, Masterminds semver 3.4.0).

mod constraint;

use std::cmp::Ordering;

pub use constraint::{Constraint, NoConstraint};

/// Why a text is no version.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum NoVersion {
    /// It does not look like one; such tags are passed over.
    #[error("invalid semantic version")]
    Unlike,
    /// It looks like one, but a number of its pre-release has a zero in front.
    #[error("version segment starts with 0")]
    LeadingZero,
    /// It looks like one, but a number is too large.
    #[error("error parsing version segment: strconv.ParseUint: parsing \"{0}\": value out of range")]
    TooLarge(String),
}

/// A version; missing minor and patch numbers count as zero, build metadata does not take part in comparisons.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Version {
    /// First number.
    pub major: u64,
    /// Second number.
    pub minor: u64,
    /// Third number.
    pub patch: u64,
    /// Pre-release part without its dash, empty for a release.
    pub pre: String,
}

impl Version {
    /// Reads `1`, `v1.2`, `1.2.3-rc.1+build`.
    ///
    /// # Errors
    /// The text is no version.
    pub fn parse(text: &str) -> Result<Self, NoVersion> {
        let core = text.strip_prefix('v').unwrap_or(text);
        let (core, metadata) = split(core, '+');
        let (core, pre) = split(core, '-');
        let is_word = |part: &str| !part.is_empty() && part.chars().all(|c| c.is_ascii_alphanumeric() || c == '-');
        let words_are_valid = |part: Option<&str>| part.is_none_or(|part| part.split('.').all(is_word));
        let numbers: Vec<&str> = core.split('.').collect();
        let numbers_are_valid = numbers.iter().all(|n| !n.is_empty() && n.chars().all(|c| c.is_ascii_digit()));
        if numbers.len() > 3 || !numbers_are_valid || !words_are_valid(pre) || !words_are_valid(metadata) {
            return Err(NoVersion::Unlike);
        }
        let pre = pre.unwrap_or_default();
        let number_starts_with_zero =
            |part: &str| part.len() > 1 && part.starts_with('0') && part.chars().all(|c| c.is_ascii_digit());
        let number = |index: usize| match numbers.get(index) {
            Some(text) => text.parse().map_err(|_| NoVersion::TooLarge((*text).to_owned())),
            None => Ok(0),
        };
        let version = Self { major: number(0)?, minor: number(1)?, patch: number(2)?, pre: pre.to_owned() };
        if pre.split('.').any(number_starts_with_zero) {
            return Err(NoVersion::LeadingZero);
        }
        Ok(version)
    }
}

fn split(text: &str, at: char) -> (&str, Option<&str>) {
    text.split_once(at).map_or((text, None), |(head, tail)| (head, Some(tail)))
}

impl Ord for Version {
    fn cmp(&self, other: &Self) -> Ordering {
        let numbers = |v: &Self| (v.major, v.minor, v.patch);
        numbers(self).cmp(&numbers(other)).then_with(|| compare_pre(&self.pre, &other.pre))
    }
}

impl PartialOrd for Version {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

/// A release is above its pre-releases; numbers are below words; a longer list wins when the start is equal.
fn compare_pre(left: &str, right: &str) -> Ordering {
    match (left.is_empty(), right.is_empty()) {
        (true, true) => return Ordering::Equal,
        (true, false) => return Ordering::Greater,
        (false, true) => return Ordering::Less,
        (false, false) => {}
    }
    let (mut left, mut right) = (left.split('.'), right.split('.'));
    loop {
        let order = match (left.next(), right.next()) {
            (None, None) => return Ordering::Equal,
            (None, Some(_)) => Ordering::Less,
            (Some(_), None) => Ordering::Greater,
            (Some(a), Some(b)) => match (a.parse::<u64>(), b.parse::<u64>()) {
                (Ok(a), Ok(b)) => a.cmp(&b),
                (Ok(_), Err(_)) => Ordering::Less,
                (Err(_), Ok(_)) => Ordering::Greater,
                (Err(_), Err(_)) => a.cmp(b),
            },
        };
        if order != Ordering::Equal {
            return order;
        }
    }
}

/// Whether a text is an exact version, if a loose one: `1.2` is.
pub fn is_version(text: &str) -> bool {
    Version::parse(text).is_ok()
}

/// Whether a text is a constraint and no exact version.
pub fn is_constraint(text: &str) -> bool {
    !is_version(text) && Constraint::parse(text).is_ok()
}

/// Why no tag was chosen.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum NoMatch {
    /// The text is neither version nor constraint.
    #[error("failed to determine semver constraint: {0}")]
    NotAConstraint(NoConstraint),
    /// A tag prefix only makes sense with a constraint.
    #[error(
        "tagPrefix \"{prefix}\" requires targetRevision to be a semver constraint, but \"{revision}\" is not a valid constraint"
    )]
    PrefixWithoutConstraint {
        /// The prefix.
        prefix: String,
        /// The text.
        revision: String,
    },
    /// A tag looks like a version and is none.
    #[error("invalid semver version in tags: {0}")]
    BrokenTag(NoVersion),
    /// No tag is admitted.
    #[error("version matching constraint not found in {0} tags")]
    NothingAdmitted(usize),
}

/// The tag that `revision` stands for: itself when it is an exact version, the highest admitted one when it is a constraint.
/// Only tags with the prefix count; the prefix is left out of the comparison.
///
/// # Errors
/// The text is no constraint, or no tag is admitted; callers that resolve Git revisions then take the text literally.
pub fn max_version(revision: &str, tags: &[&str], prefix: &str) -> Result<String, NoMatch> {
    if Version::parse(revision).is_ok() {
        return Ok(format!("{prefix}{revision}"));
    }
    let stripped: Vec<&str> = tags.iter().filter_map(|tag| tag.strip_prefix(prefix)).collect();
    let constraint = match Constraint::parse(revision) {
        Ok(constraint) => constraint,
        Err(_) if !prefix.is_empty() => {
            return Err(NoMatch::PrefixWithoutConstraint { prefix: prefix.to_owned(), revision: revision.to_owned() });
        }
        Err(_) if stripped.contains(&revision) => return Ok(revision.to_owned()),
        Err(cause) => return Err(NoMatch::NotAConstraint(cause)),
    };
    let mut best: Option<(Version, &str)> = None;
    for &tag in &stripped {
        let version = match Version::parse(tag) {
            Ok(version) => version,
            Err(NoVersion::Unlike) => continue,
            Err(cause) => return Err(NoMatch::BrokenTag(cause)),
        };
        if constraint.admits(&version) && best.as_ref().is_none_or(|(highest, _)| version > *highest) {
            best = Some((version, tag));
        }
    }
    best.map(|(_, tag)| format!("{prefix}{tag}")).ok_or(NoMatch::NothingAdmitted(stripped.len()))
}
