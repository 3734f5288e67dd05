//! Matches the group and kind patterns of ignoreDifferences rules.
//!
//! In:  a glob: `*`, `**`, `?`, `[a-z]`, `[!a]`, `{a,b}`, `\x`.
//! Out: whether a text matches; no character is a separator.
//! Invariant: a pattern that does not parse matches nothing.
//! Source: DIFF-074 (gobwas/glob 0.2.3 without separators).

/// One piece of a pattern.
#[derive(Debug, Clone, PartialEq, Eq)]
enum Piece {
    Text(char),
    One,
    Many,
    Set { negated: bool, ranges: Vec<(char, char)> },
    Either(Vec<Vec<Piece>>),
}

/// A parsed pattern.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Pattern(Option<Vec<Piece>>);

impl Pattern {
    /// Parses a pattern.
    pub fn new(text: &str) -> Self {
        let chars: Vec<char> = text.chars().collect();
        let mut rest = chars.as_slice();
        Self(sequence(&mut rest, false).filter(|_| rest.is_empty()))
    }

    /// Whether the whole text matches.
    pub fn matches(&self, text: &str) -> bool {
        let chars: Vec<char> = text.chars().collect();
        self.0.as_ref().is_some_and(|pieces| matches(pieces, &chars, &|rest| rest.is_empty()))
    }
}

fn sequence(rest: &mut &[char], nested: bool) -> Option<Vec<Piece>> {
    let mut pieces = Vec::new();
    while let Some((first, tail)) = rest.split_first() {
        if nested && matches!(first, ',' | '}') {
            break;
        }
        *rest = tail;
        pieces.push(match first {
            '*' => Piece::Many,
            '?' => Piece::One,
            '[' => set(rest)?,
            '{' => either(rest)?,
            '}' => return None,
            '\\' => Piece::Text(take(rest)?),
            other => Piece::Text(*other),
        });
    }
    Some(pieces)
}

fn take(rest: &mut &[char]) -> Option<char> {
    let (first, tail) = rest.split_first()?;
    *rest = tail;
    Some(*first)
}

fn set(rest: &mut &[char]) -> Option<Piece> {
    let negated = rest.first() == Some(&'!');
    if negated {
        take(rest)?;
    }
    let mut ranges = Vec::new();
    loop {
        match take(rest)? {
            ']' if !ranges.is_empty() => return Some(Piece::Set { negated, ranges }),
            ']' => return None,
            low if rest.first() == Some(&'-') => {
                take(rest)?;
                ranges.push((low, take(rest)?));
            }
            one => ranges.push((one, one)),
        }
    }
}

fn either(rest: &mut &[char]) -> Option<Piece> {
    let mut choices = Vec::new();
    loop {
        choices.push(sequence(rest, true)?);
        match take(rest)? {
            ',' => {}
            _ => return Some(Piece::Either(choices)),
        }
    }
}

fn matches(pieces: &[Piece], text: &[char], then: &dyn Fn(&[char]) -> bool) -> bool {
    let Some((piece, rest)) = pieces.split_first() else { return then(text) };
    match piece {
        Piece::Many => (0..=text.len()).any(|skip| text.get(skip..).is_some_and(|tail| matches(rest, tail, then))),
        Piece::Either(choices) => choices.iter().any(|choice| matches(choice, text, &|tail| matches(rest, tail, then))),
        Piece::Text(_) | Piece::One | Piece::Set { .. } => {
            let Some((first, tail)) = text.split_first() else { return false };
            let fits = match piece {
                Piece::Text(expected) => first == expected,
                Piece::Set { negated, ranges } => {
                    ranges.iter().any(|(low, high)| low <= first && first <= high) != *negated
                }
                _ => true,
            };
            fits && matches(rest, tail, then)
        }
    }
}
