//! One field of a schedule: a list of values, ranges and steps.
//!
//! In:  `*`, `?`, `5`, `1-5`, `*/10`, `5/10`, `mon-fri`, and lists of these.
//! Out: the set of values, and whether a star was written.
//! Source: APP-188 (`github.com/robfig/cron/v3/parser.go`).

use super::Error;
use crate::gocompat::strconv;

/// What a field may hold.
pub(super) struct Bounds {
    min: i64,
    max: i64,
    /// Lower-case names of the values from `min` on.
    names: &'static [&'static str],
}

impl Bounds {
    pub(super) const MINUTE: Self = Self { min: 0, max: 59, names: &[] };
    pub(super) const HOUR: Self = Self { min: 0, max: 23, names: &[] };
    pub(super) const DAY: Self = Self { min: 1, max: 31, names: &[] };
    pub(super) const MONTH: Self = Self {
        min: 1,
        max: 12,
        names: &["jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec"],
    };
    pub(super) const WEEKDAY: Self = Self { min: 0, max: 6, names: &["sun", "mon", "tue", "wed", "thu", "fri", "sat"] };
}

/// A set of values below 64.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(super) struct Field {
    bits: u64,
    /// Whether `*` or `?` was written without a step above 1.
    pub(super) star: bool,
}

impl Field {
    pub(super) fn parse(text: &str, bounds: &Bounds) -> Result<Self, Error> {
        let mut field = Self::default();
        for part in text.split(',').filter(|part| !part.is_empty()) {
            let range = Self::range(part, bounds)?;
            field.bits |= range.bits;
            field.star |= range.star;
        }
        Ok(field)
    }

    /// Whether the value is in the set.
    pub(super) fn has(self, value: i8) -> bool {
        u32::try_from(value).ok().and_then(|shift| self.bits.checked_shr(shift)).is_some_and(|bits| bits & 1 == 1)
    }

    fn range(text: &str, bounds: &Bounds) -> Result<Self, Error> {
        let mut slashes = text.split('/');
        let range = slashes.next().unwrap_or_default();
        let (step, more_slashes) = (slashes.next(), slashes.next());
        let hyphens: Vec<&str> = range.split('-').collect();
        let (start, mut end, mut star) = match hyphens.as_slice() {
            ["*" | "?", ..] => (bounds.min, bounds.max, true),
            [single] => {
                let value = value(single, bounds)?;
                (value, value, false)
            }
            [low, high] => (value(low, bounds)?, value(high, bounds)?, false),
            [first, ..] => {
                value(first, bounds)?;
                return Err(Error::Hyphens(text.to_owned()));
            }
            [] => (bounds.min, bounds.max, false),
        };
        if more_slashes.is_some() {
            return Err(Error::Slashes(text.to_owned()));
        }
        let step = match step {
            None => 1,
            Some(step) => {
                let step = number(step)?;
                // `5/10` means from 5 on in steps of 10.
                if hyphens.len() == 1 {
                    end = bounds.max;
                }
                star = star && step <= 1;
                step
            }
        };
        let text = || text.to_owned();
        if start < bounds.min {
            return Err(Error::BelowMinimum { start, minimum: bounds.min, text: text() });
        }
        if end > bounds.max {
            return Err(Error::AboveMaximum { end, maximum: bounds.max, text: text() });
        }
        if start > end {
            return Err(Error::Reversed { start, end, text: text() });
        }
        let step = usize::try_from(step).ok().filter(|step| *step > 0).ok_or_else(|| Error::ZeroStep(text()))?;
        let bits = (start..=end).step_by(step).fold(0, |bits, value| bits | 1u64 << value);
        Ok(Self { bits, star })
    }
}

/// A number, or a name where the field has names.
fn value(text: &str, bounds: &Bounds) -> Result<i64, Error> {
    let lower = text.to_lowercase();
    match (bounds.min..).zip(bounds.names).find(|(_, name)| **name == lower) {
        Some((value, _)) => Ok(value),
        None => number(text),
    }
}

fn number(text: &str) -> Result<i64, Error> {
    let number = strconv::parse_int(text, "Atoi").map_err(|source| Error::Number { text: text.to_owned(), source })?;
    if number < 0 { Err(Error::Negative { number, text: text.to_owned() }) } else { Ok(number) }
}
