//! Five-field cron schedules as `robfig/cron` reads them for sync windows.
//!
//! In:  `minute hour day-of-month month day-of-week`, optionally behind `CRON_TZ=zone ` or `TZ=zone `.
//! Out: the first time after a given one; errors worded as the library words them.
//! Invariant: no descriptors (`@daily`), no seconds, Sunday is 0 and never 7.
//! Source: APP-188 (`github.com/robfig/cron/v3`).

use jiff::{Timestamp, ToSpan as _, Unit, Zoned, civil::Weekday, tz::TimeZone};

use super::strconv;

mod field;
#[cfg(test)]
mod tests;

use field::{Bounds, Field};

/// A schedule.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Schedule {
    minute: Field,
    hour: Field,
    day: Field,
    month: Field,
    weekday: Field,
    zone: TimeZone,
}

/// Why a schedule cannot be read.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum Error {
    /// Nothing was written.
    #[error("empty spec string")]
    Empty,
    /// The zone in front is unknown.
    #[error("provided bad location {zone}: unknown time zone {zone}")]
    BadZone {
        /// Zone as written.
        zone: String,
    },
    /// `@daily` and the like.
    #[error("parser does not accept descriptors: {0}")]
    Descriptor(String),
    /// Not five fields.
    #[error("expected exactly 5 fields, found {found}: [{fields}]")]
    FieldCount {
        /// How many there are.
        found: usize,
        /// The fields, joined by a space.
        fields: String,
    },
    /// A part of a field is no number and no name.
    #[error("failed to parse int from {text}: {source}")]
    Number {
        /// The part.
        text: String,
        /// What is wrong with it.
        source: strconv::Error,
    },
    /// A number below zero.
    #[error("negative number ({number}) not allowed: {text}")]
    Negative {
        /// The number.
        number: i64,
        /// The part.
        text: String,
    },
    /// `1-2-3`.
    #[error("too many hyphens: {0}")]
    Hyphens(String),
    /// `1/2/3`.
    #[error("too many slashes: {0}")]
    Slashes(String),
    /// Below the field's first value.
    #[error("beginning of range ({start}) below minimum ({minimum}): {text}")]
    BelowMinimum {
        /// First value written.
        start: i64,
        /// First value allowed.
        minimum: i64,
        /// The part.
        text: String,
    },
    /// Above the field's last value.
    #[error("end of range ({end}) above maximum ({maximum}): {text}")]
    AboveMaximum {
        /// Last value written.
        end: i64,
        /// Last value allowed.
        maximum: i64,
        /// The part.
        text: String,
    },
    /// `5-2`.
    #[error("beginning of range ({start}) beyond end of range ({end}): {text}")]
    Reversed {
        /// First value written.
        start: i64,
        /// Last value written.
        end: i64,
        /// The part.
        text: String,
    },
    /// `*/0`.
    #[error("step of range should be a positive number: {0}")]
    ZeroStep(String),
}

impl Schedule {
    /// Reads a schedule; without a zone in front it is in UTC.
    ///
    /// # Errors
    /// The first problem from left to right.
    pub fn parse(text: &str) -> Result<Self, Error> {
        if text.is_empty() {
            return Err(Error::Empty);
        }
        let (zone, rest) = zone_prefix(text)?;
        if rest.starts_with('@') {
            return Err(Error::Descriptor(rest.to_owned()));
        }
        let fields: Vec<&str> = rest.split_whitespace().collect();
        let [minute, hour, day, month, weekday] = fields.as_slice() else {
            return Err(Error::FieldCount { found: fields.len(), fields: fields.join(" ") });
        };
        Ok(Self {
            minute: Field::parse(minute, &Bounds::MINUTE)?,
            hour: Field::parse(hour, &Bounds::HOUR)?,
            day: Field::parse(day, &Bounds::DAY)?,
            month: Field::parse(month, &Bounds::MONTH)?,
            weekday: Field::parse(weekday, &Bounds::WEEKDAY)?,
            zone,
        })
    }

    /// The first time later than `after`, or `None` when five years hold none (30 February).
    pub fn next(&self, after: Timestamp) -> Option<Timestamp> {
        let after = after.to_zoned(self.zone.clone());
        let last_year = i32::from(after.year()) + 5;
        let mut at = start_of_minute(&after)?.checked_add(1.minute()).ok()?;
        while i32::from(at.year()) <= last_year {
            at = if !self.month.has(at.month()) {
                at.first_of_month().ok()?.checked_add(1.month()).ok()?.start_of_day().ok()?
            } else if !self.day_fits(&at) {
                at.tomorrow().ok()?.start_of_day().ok()?
            } else if !self.hour.has(at.hour()) {
                // Hours pass in real time, so hours that a clock change repeats or skips are met as they are.
                at.checked_add((60 - i64::from(at.minute())).minutes()).ok()?
            } else if !self.minute.has(at.minute()) {
                at.checked_add(1.minute()).ok()?
            } else {
                return Some(at.timestamp());
            };
        }
        None
    }

    /// Both day fields count; where neither is a star one of them is enough.
    fn day_fits(&self, at: &Zoned) -> bool {
        let day = self.day.has(at.day());
        let weekday = self.weekday.has(Weekday::to_sunday_zero_offset(at.weekday()));
        if self.day.star || self.weekday.star { day && weekday } else { day || weekday }
    }
}

fn start_of_minute(at: &Zoned) -> Option<Zoned> {
    at.round(jiff::ZonedRound::new().smallest(Unit::Minute).mode(jiff::RoundMode::Trunc)).ok()
}

fn zone_prefix(text: &str) -> Result<(TimeZone, &str), Error> {
    let Some(rest) = text.strip_prefix("TZ=").or_else(|| text.strip_prefix("CRON_TZ=")) else {
        return Ok((TimeZone::UTC, text));
    };
    // The library does not survive a zone with nothing behind it; here it is a zone without fields.
    let (name, rest) = rest.split_once(' ').unwrap_or((rest, ""));
    let zone = zone(name).ok_or_else(|| Error::BadZone { zone: name.to_owned() })?;
    Ok((zone, rest.trim()))
}

/// A zone by its IANA name; the empty name is UTC, as Go has it.
pub fn zone(name: &str) -> Option<TimeZone> {
    match name {
        // A container has no local zone.
        "" | "UTC" | "Local" => Some(TimeZone::UTC),
        _ => TimeZone::get(name).ok(),
    }
}
