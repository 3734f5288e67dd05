//! Numbers.

use super::super::functions::{Context, Row};
use super::super::value::{Elem, Value};
use super::{Answer, any, int, text, to_float, to_int};

fn of(number: i64) -> Answer {
    Ok(Value::Int64(number))
}

fn float(number: f64) -> Answer {
    Ok(Value::Float(number))
}

pub(super) const TABLE: &[Row] = &[
    ("atoi", "s", |_, v| Ok(Value::Int(text(&v, 0).parse().unwrap_or_default()))),
    ("int", "a", |_, v| Ok(Value::Int(int(&v, 0)))),
    ("int64", "a", |_, v| of(int(&v, 0))),
    ("float64", "a", |_, v| float(to_float(&any(&v, 0)))),
    ("toDecimal", "a", |_, v| of(i64::from_str_radix(&super::strval(&any(&v, 0)), 8).unwrap_or_default())),
    ("add1", "a", |_, v| of(int(&v, 0).wrapping_add(1))),
    ("add", "a*", |_, v| of(v.iter().map(to_int).fold(0, i64::wrapping_add))),
    ("sub", "aa", |_, v| of(int(&v, 0).wrapping_sub(int(&v, 1)))),
    ("div", "aa", |_, v| divided(i64::wrapping_div, &v)),
    ("mod", "aa", |_, v| divided(i64::wrapping_rem, &v)),
    ("mul", "aa*", |_, v| of(v.iter().map(to_int).fold(1, i64::wrapping_mul))),
    ("max", "aa*", |_, v| of(v.iter().map(to_int).max().unwrap_or_default())),
    ("biggest", "aa*", |_, v| of(v.iter().map(to_int).max().unwrap_or_default())),
    ("min", "aa*", |_, v| of(v.iter().map(to_int).min().unwrap_or_default())),
    ("addf", "a*", |_, v| decimals(&[&[Value::Int(0)], v.as_slice()].concat(), added).and_then(float)),
    ("add1f", "a", |_, v| decimals(&[any(&v, 0), Value::Int(1)], added).and_then(float)),
    ("subf", "aa*", |_, v| decimals(&v, subtracted).and_then(float)),
    ("mulf", "aa*", |_, v| decimals(&v, multiplied).and_then(float)),
    ("divf", "aa*", |_, v| match v.iter().skip(1).any(|by| to_float(by) == 0.0) {
        true => Err("decimal division by 0".to_owned()),
        false => decimals(&v, quotient).and_then(float),
    }),
    ("maxf", "aa*", |_, v| float(v.iter().map(to_float).fold(f64::NEG_INFINITY, f64::max))),
    ("minf", "aa*", |_, v| float(v.iter().map(to_float).fold(f64::INFINITY, f64::min))),
    ("floor", "a", |_, v| float(to_float(&any(&v, 0)).floor())),
    ("ceil", "a", |_, v| float(to_float(&any(&v, 0)).ceil())),
    ("round", "aif*", |_, v| float(round(&v))),
    ("until", "i", |c, v| steps(c, 0, int(&v, 0), if int(&v, 0) < 0 { -1 } else { 1 }).map(ints)),
    ("untilStep", "iii", |c, v| steps(c, int(&v, 0), int(&v, 1), int(&v, 2)).map(ints)),
    ("seq", "i*", |c, v| seq(c, &v)),
];

/// A decimal number: digits and how many of them stand behind the point.
#[derive(Clone, Copy)]
struct Decimal {
    digits: i128,
    places: i32,
}

impl Decimal {
    /// The shortest decimal number that reads back as the float.
    fn of(number: f64) -> Option<Self> {
        let shown = format!("{number:e}");
        let (digits, exponent) = shown.split_once('e')?;
        let behind = digits.split_once('.').map_or(0, |(_, behind)| behind.len());
        let places = i32::try_from(behind).ok()? - exponent.parse::<i32>().ok()?;
        Some(Self { digits: digits.replace('.', "").parse().ok()?, places })
    }

    /// The digits with that many behind the point, which are not fewer than now.
    fn with(self, places: i32) -> Option<i128> {
        self.digits.checked_mul(10i128.checked_pow(u32::try_from(places - self.places).ok()?)?)
    }

    fn float(self) -> f64 {
        format!("{}e{}", self.digits, -self.places).parse().unwrap_or(f64::NAN)
    }
}

/// `None` is a number that needs more digits than there are.
type Step = fn(Decimal, Decimal) -> Option<Decimal>;

fn added(a: Decimal, b: Decimal) -> Option<Decimal> {
    let places = a.places.max(b.places);
    Some(Decimal { digits: a.with(places)?.checked_add(b.with(places)?)?, places })
}

fn subtracted(a: Decimal, b: Decimal) -> Option<Decimal> {
    added(a, Decimal { digits: -b.digits, ..b })
}

fn multiplied(a: Decimal, b: Decimal) -> Option<Decimal> {
    Some(Decimal { digits: a.digits.checked_mul(b.digits)?, places: a.places.checked_add(b.places)? })
}

/// Sixteen places, rounded half away from zero.
fn quotient(a: Decimal, b: Decimal) -> Option<Decimal> {
    let shift = 16 + b.places - a.places;
    let power = 10i128.checked_pow(shift.unsigned_abs())?;
    let (above, below) =
        if shift < 0 { (a.digits, b.digits.checked_mul(power)?) } else { (a.digits.checked_mul(power)?, b.digits) };
    let (whole, rest) = (above.checked_div(below)?, above.checked_rem(below)?);
    let rounds = rest.unsigned_abs() * 2 >= below.unsigned_abs();
    let away = if (above < 0) == (below < 0) { 1 } else { -1 };
    Some(Decimal { digits: whole + if rounds { away } else { 0 }, places: 16 })
}

/// Floats are added and so on as the decimal numbers that they are printed as.
fn decimals(values: &[Value], step: Step) -> Result<f64, String> {
    let numbers: Option<Vec<Decimal>> = values.iter().map(|value| Decimal::of(to_float(value))).collect();
    let numbers = numbers.ok_or("no finite number")?;
    let Some((first, rest)) = numbers.split_first() else { return Ok(0.0) };
    let result = rest.iter().try_fold(*first, |sum, number| step(sum, *number));
    result.map(Decimal::float).ok_or_else(|| "the number has too many digits".to_owned())
}

fn divided(run: fn(i64, i64) -> i64, values: &[Value]) -> Answer {
    match int(values, 1) {
        0 => Err("runtime error: integer divide by zero".to_owned()),
        by => of(run(int(values, 0), by)),
    }
}

#[expect(clippy::cast_possible_truncation, reason = "more places than that make the same float")]
fn round(values: &[Value]) -> f64 {
    let on = values.get(2).map_or(0.5, to_float);
    let factor = 10f64.powi(int(values, 1).clamp(-400, 400) as i32);
    let digit = factor * to_float(&any(values, 0));
    (if digit.fract() >= on { digit.ceil() } else { digit.floor() }) / factor
}

fn ints(numbers: Vec<i64>) -> Value {
    Value::List(Elem::Int, std::rc::Rc::new(numbers.into_iter().map(Value::Int).collect()))
}

fn steps(context: &mut Context, start: i64, stop: i64, step: i64) -> Result<Vec<i64>, String> {
    if start == stop || (stop < start) != (step < 0) || step == 0 {
        return Ok(Vec::new());
    }
    let count = stop.abs_diff(start).div_ceil(step.unsigned_abs());
    context.spend(usize::try_from(count).unwrap_or(usize::MAX).saturating_mul(32))?;
    Ok((0..)
        .map_while(|at: i64| {
            at.checked_mul(step)?.checked_add(start).filter(|at| if step < 0 { *at > stop } else { *at < stop })
        })
        .collect())
}

fn seq(context: &mut Context, values: &[Value]) -> Answer {
    let direction = |start: i64, end: i64| if end < start { -1 } else { 1 };
    let (start, step, end) = match values.len() {
        1 => (1, direction(1, int(values, 0)), int(values, 0)),
        2 => (int(values, 0), direction(int(values, 0), int(values, 1)), int(values, 1)),
        3 => (int(values, 0), int(values, 1), int(values, 2)),
        _ => return Ok(Value::str("")),
    };
    if end < start && step > 0 {
        return Ok(Value::str(""));
    }
    let numbers = steps(context, start, end.saturating_add(direction(start, end)), step)?;
    Ok(Value::str(numbers.iter().map(i64::to_string).collect::<Vec<_>>().join(" ")))
}
