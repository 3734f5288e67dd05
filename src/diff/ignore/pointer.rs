//! Removes what a JSON pointer names.
//!
//! In:  a JSON value and a pointer.
//! Out: the value without the named member; a missing member is no error.
//! Source: DIFF-076, DIFF-077 (evanphx/json-patch 5.9.11 `patch.go`).

use serde_json::Value;

/// Why a pointer could not be followed.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum Error {
    /// A list index is no number.
    #[error("strconv.Atoi: parsing {0:?}: invalid syntax")]
    NotAnIndex(String),
    /// A list has no such item.
    #[error("Unable to access invalid index: {0}")]
    InvalidIndex(i64),
}

/// Removes the member. Text before the first `/` is ignored; a pointer without `/` names nothing.
pub fn remove(value: &mut Value, pointer: &str) -> Result<(), Error> {
    let mut parts = pointer.split('/').skip(1).map(|part| part.replace("~1", "/").replace("~0", "~")).peekable();
    let mut current = value;
    while let Some(part) = parts.next() {
        let last = parts.peek().is_none();
        current = match current {
            Value::Object(map) if last => {
                map.remove(&part);
                return Ok(());
            }
            Value::Array(items) if last => {
                items.remove(index(&part, items.len())?);
                return Ok(());
            }
            Value::Object(map) => match map.get_mut(&part) {
                Some(next) => next,
                None => return Ok(()),
            },
            // A list in the middle of the path is left silently when it lacks the item.
            Value::Array(items) => {
                let place = index(&part, items.len()).ok();
                match place.and_then(|place| items.get_mut(place)) {
                    Some(next) => next,
                    None => return Ok(()),
                }
            }
            _ => return Ok(()),
        };
    }
    Ok(())
}

/// Place in a list; negative numbers count from the end.
fn index(part: &str, length: usize) -> Result<usize, Error> {
    let number: i64 = part.parse().map_err(|_| Error::NotAnIndex(part.to_owned()))?;
    let place = if number < 0 {
        length.checked_sub(usize::try_from(number.unsigned_abs()).unwrap_or(usize::MAX))
    } else {
        usize::try_from(number).ok()
    };
    place.filter(|place| *place < length).ok_or(Error::InvalidIndex(number))
}
