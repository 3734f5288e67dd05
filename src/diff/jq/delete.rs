//! Deletes what a list of paths names, as gojq does: all paths refer to the value before any deletion.
//!
//! In:  a value and paths of keys, indices and slices.
//! Out: the value without them; what is absent, or below null, is left alone.
//! Source: DIFF-078 (gojq 0.12.19 `func.go` funcDelpaths).

use jaq_core::Error;
use jaq_json::{Num, Rc, Val};

/// One step of a path that exists.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
enum Step {
    Key(Val),
    Index(usize),
}

/// Deletes the paths of a list.
pub fn paths(value: &Val, paths: &Val) -> Result<Val, Error<Val>> {
    let Val::Arr(paths) = paths else { return Err(Error::typ(paths.clone(), "array")) };
    let mut found = Vec::new();
    for path in paths.iter() {
        let Val::Arr(path) = path else { return Err(Error::typ(path.clone(), "array")) };
        found.extend(existing(value, path)?);
    }
    found.sort_unstable();
    found.dedup();
    // From the last to the first, so that indices not yet used stay right; a parent comes after its children.
    Ok(found.iter().rev().fold(value.clone(), |value, path| delete(value, path)))
}

/// The path with indices counted from the start and slices spelled out.
fn existing(value: &Val, path: &[Val]) -> Result<Vec<Vec<Step>>, Error<Val>> {
    let Some((first, rest)) = path.split_first() else { return Ok(vec![Vec::new()]) };
    let below = |step: Step, child: Option<&Val>| match child {
        Some(child) => Ok(existing(child, rest)?.into_iter().map(|tail| prepend(step.clone(), tail)).collect()),
        None => Ok(Vec::new()),
    };
    match (value, first) {
        (Val::Null, _) => Ok(Vec::new()),
        (Val::Obj(map), Val::TStr(_) | Val::BStr(_)) => below(Step::Key(first.clone()), map.get(first)),
        (Val::Arr(items), Val::Num(number)) => match index(number, items.len()) {
            Some(place) => below(Step::Index(place), items.get(place)),
            None => Ok(Vec::new()),
        },
        (Val::Arr(items), Val::Obj(range)) => {
            let bound = |name: &str, default: usize| match range.get(&Val::from(name.to_owned())) {
                Some(Val::Num(number)) => clamp(number, items.len()),
                _ => default,
            };
            let (start, end) = (bound("start", 0), bound("end", items.len()));
            let slice = items.get(start..end.max(start)).unwrap_or_default();
            if rest.is_empty() {
                return Ok((start..end.max(start)).map(|place| vec![Step::Index(place)]).collect());
            }
            let inner: Val = slice.iter().cloned().collect();
            Ok(existing(&inner, rest)?.into_iter().map(|path| shift(path, start)).collect())
        }
        _ => Err(Error::index(value.clone(), first.clone())),
    }
}

fn prepend(step: Step, mut tail: Vec<Step>) -> Vec<Step> {
    tail.insert(0, step);
    tail
}

fn shift(mut path: Vec<Step>, by: usize) -> Vec<Step> {
    if let Some(Step::Index(place)) = path.first_mut() {
        *place += by;
    }
    path
}

fn whole(number: &Num) -> Option<i64> {
    match number {
        Num::Int(integer) => i64::try_from(*integer).ok(),
        Num::Float(float) => format!("{:.0}", float.floor()).parse().ok(),
        _ => None,
    }
}

fn index(number: &Num, length: usize) -> Option<usize> {
    let number = whole(number)?;
    let place = if number < 0 { number.checked_add_unsigned(u64::try_from(length).ok()?)? } else { number };
    usize::try_from(place).ok().filter(|place| *place < length)
}

fn clamp(number: &Num, length: usize) -> usize {
    let number = whole(number).unwrap_or_default();
    let signed = i64::try_from(length).unwrap_or(i64::MAX);
    let place = if number < 0 { number.saturating_add(signed) } else { number };
    usize::try_from(place.clamp(0, signed)).unwrap_or_default()
}

fn delete(value: Val, path: &[Step]) -> Val {
    let Some((first, rest)) = path.split_first() else { return Val::Null };
    match (value, first) {
        (Val::Obj(map), Step::Key(key)) => {
            let mut map = Rc::unwrap_or_clone(map);
            if rest.is_empty() {
                map.shift_remove(key);
            } else if let Some(child) = map.get_mut(key) {
                *child = delete(std::mem::take(child), rest);
            }
            Val::obj(map)
        }
        (Val::Arr(items), Step::Index(place)) => {
            let mut items = Rc::unwrap_or_clone(items);
            if rest.is_empty() && *place < items.len() {
                items.remove(*place);
            } else if let Some(child) = items.get_mut(*place) {
                *child = delete(std::mem::take(child), rest);
            }
            items.into_iter().collect()
        }
        (other, _) => other,
    }
}
