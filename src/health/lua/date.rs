//! The part of Lua's `os` that scripts may use: `time` and `date`.
//!
//! In:  the time of the run, and what the script asks for.
//! Out: seconds since the epoch, or a formatted time, both in UTC.
//! Source: HEALTH-071, HEALTH-102, HEALTH-103 (`util/lua/oslib_safe.go`).

use jiff::civil::Date;
use jiff::tz::TimeZone;
use jiff::{Span, Timestamp, Zoned};
use mlua::{Error, Lua, Result, Table, Value as LuaValue};

/// The module that `require("os")` returns.
pub(super) fn module(lua: &Lua, now: Timestamp) -> Result<Table> {
    let module = lua.create_table()?;
    module.set("time", lua.create_function(move |_, fields: Option<Table>| time(fields, now))?)?;
    module.set(
        "date",
        lua.create_function(move |lua, (format, at): (Option<String>, Option<i64>)| date(lua, format, at, now))?,
    )?;
    Ok(module)
}

fn time(fields: Option<Table>, now: Timestamp) -> Result<i64> {
    let Some(fields) = fields else { return Ok(now.as_second()) };
    let number = |name: &str, default: i64| -> Result<i64> {
        Ok(match fields.raw_get::<LuaValue>(name)? {
            LuaValue::Integer(value) => value,
            LuaValue::Number(value) => format!("{:.0}", value.trunc()).parse().unwrap_or(default),
            _ => default,
        })
    };
    // Months and days out of range carry over, as they do in Go.
    let months = number("year", -1)?.saturating_mul(12).saturating_add(number("month", -1)?).saturating_sub(1);
    let out_of_range = |_| Error::runtime("time out of range");
    let year = i16::try_from(months.div_euclid(12)).map_err(|_| Error::runtime("time out of range"))?;
    let month = i8::try_from(months.rem_euclid(12) + 1).map_err(|_| Error::runtime("time out of range"))?;
    let day = Span::new().try_days(number("day", -1)?.saturating_sub(1)).map_err(out_of_range)?;
    let first = Date::new(year, month, 1).map_err(out_of_range)?;
    let midnight = first.checked_add(day).and_then(|date| date.to_zoned(TimeZone::UTC)).map_err(out_of_range)?;
    let seconds = number("hour", 12)?
        .saturating_mul(3600)
        .saturating_add(number("min", 0)?.saturating_mul(60))
        .saturating_add(number("sec", 0)?);
    Ok(midnight.timestamp().as_second().saturating_add(seconds))
}

fn date(lua: &Lua, format: Option<String>, at: Option<i64>, now: Timestamp) -> Result<LuaValue> {
    let time = match at {
        Some(second) => Timestamp::from_second(second).map_err(|_| Error::runtime("time out of range"))?,
        None => now,
    };
    let time = time.to_zoned(TimeZone::UTC);
    let format = format.as_deref().unwrap_or("%c").trim_start_matches('!');
    if format.starts_with("*t") {
        return Ok(LuaValue::Table(fields(lua, &time)?));
    }
    Ok(LuaValue::String(lua.create_string(strftime(&time, format))?))
}

fn fields(lua: &Lua, time: &Zoned) -> Result<Table> {
    let table = lua.create_table()?;
    table.set("year", time.year())?;
    table.set("month", time.month())?;
    table.set("day", time.day())?;
    table.set("hour", time.hour())?;
    table.set("min", time.minute())?;
    table.set("sec", time.second())?;
    table.set("wday", time.weekday().to_sunday_one_offset())?;
    // Argo CD leaves these two at zero.
    table.set("yday", 0)?;
    table.set("isdst", false)?;
    Ok(table)
}

/// Formats a time; letters that Argo CD does not know stay as they are.
fn strftime(time: &Zoned, format: &str) -> String {
    let mut out = String::new();
    let mut letters = format.chars();
    while let Some(letter) = letters.next() {
        match (letter, letter == '%') {
            (_, true) => match letters.next() {
                Some(flag) => push_flag(&mut out, time, flag),
                None => out.push('%'),
            },
            (letter, false) => out.push(letter),
        }
    }
    out
}

fn push_flag(out: &mut String, time: &Zoned, flag: char) {
    let pattern = match flag {
        '%' => "%%",
        'A' => "%A",
        'b' => "%b",
        'B' => "%B",
        'c' => "%d %b %y %H:%M UTC",
        'd' => "%d",
        'F' => "%Y-%m-%d",
        'H' => "%H",
        'I' => "%I",
        'm' => "%m",
        'M' => "%M",
        'p' => "%p",
        'S' => "%S",
        'x' => "%H/%M/%S",
        'X' => "%H:%M:%S",
        'y' => "%y",
        'Y' => "%Y",
        'z' => "%z",
        'Z' => "UTC",
        'P' => return out.push_str(if time.hour() < 12 { "am" } else { "pm" }),
        // Argo CD's layout for the short weekday holds no weekday.
        'a' => return out.push_str("mon"),
        'w' => return out.push_str(&time.weekday().to_sunday_zero_offset().to_string()),
        other => {
            out.push('%');
            return out.push(other);
        }
    };
    out.push_str(&time.strftime(pattern).to_string());
}
