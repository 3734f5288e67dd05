//! Finds Lua's patterns in texts, with an end in sight.
//!
//! In:  a pattern and a text, both bytes; where to begin; a budget.
//! Out: the captures of the first match from there on.
//! Invariant: every byte that is looked at is paid for, so that a pattern that backtracks without end runs out of budget. The
//! interpreter's own matcher never looks at the clock. Recursion is bounded by [`MOST_REPEATS`].
//! Source: Lua 5.1 reference manual, section 5.4.1; LuaJIT adds `%f`, `%g` and zero bytes.

use super::budget::{Budget, Spent};

/// Repeated items in one pattern; each one that can give back costs a stack frame.
const MOST_REPEATS: usize = 200;

/// Longest pattern in bytes, so that reading it takes little time and room.
const LONGEST: usize = 16 * 1024;

/// Captures in one pattern.
const MOST_CAPTURES: usize = 32;

/// Bytes that take part in a search for more than themselves.
const SPECIAL: &[u8] = b"^$*+?.([%-";

/// Why a text is no pattern.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub(super) enum Malformed {
    #[error("malformed pattern (ends with '%')")]
    EndsWithPercent,
    #[error("malformed pattern (missing ']')")]
    OpenSet,
    #[error("unbalanced pattern")]
    NoBalance,
    #[error("missing '[' after '%f' in pattern")]
    NoFrontier,
    #[error("unfinished capture")]
    OpenCapture,
    #[error("invalid pattern capture")]
    NothingToClose,
    #[error("invalid capture index")]
    NoSuchCapture,
    #[error("too many captures")]
    TooManyCaptures,
    #[error("pattern too complex")]
    TooComplex,
}

/// What a capture holds.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Capture {
    /// A part of the text, as first byte and byte after the last.
    Part(usize, usize),
    /// A place in the text, counted from 0.
    Place(usize),
}

/// Where a pattern matches.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Match {
    pub start: usize,
    pub end: usize,
    /// Without the whole match.
    pub captures: Vec<Capture>,
}

/// A set of bytes.
#[derive(Clone, Copy)]
struct Set([bool; 256]);

impl Set {
    fn of(holds: impl Fn(u8) -> bool) -> Self {
        let mut set = Self([false; 256]);
        set.add(holds);
        set
    }
    fn add(&mut self, holds: impl Fn(u8) -> bool) {
        for (byte, slot) in (0..=u8::MAX).zip(self.0.iter_mut()) {
            *slot |= holds(byte);
        }
    }
    fn has(&self, byte: u8) -> bool {
        self.0.get(usize::from(byte)).copied().unwrap_or_default()
    }
}

/// How often a byte may stand.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Repeat {
    Once,
    Optional,
    /// As often as possible, at least as often as said.
    Greedy(usize),
    Lazy,
}

enum Item {
    Bytes(Box<Set>, Repeat),
    Open(usize),
    Close(usize),
    Place(usize),
    Again(usize),
    Balanced(u8, u8),
    Frontier(Box<Set>),
    End,
}

/// A pattern that was read.
pub(super) struct Pattern {
    items: Vec<Item>,
    captures: usize,
    /// Whether it matches at the beginning only.
    pub anchored: bool,
}

/// Whether a text is searched for as it is.
pub(super) fn is_plain(text: &[u8]) -> bool {
    !text.iter().any(|byte| SPECIAL.contains(byte))
}

impl Pattern {
    /// Reads a pattern; `^` means something only where the caller can anchor.
    pub fn read(text: &[u8], may_anchor: bool) -> Result<Self, Malformed> {
        if text.len() > LONGEST {
            return Err(Malformed::TooComplex);
        }
        let (anchored, text) = match text {
            [b'^', rest @ ..] if may_anchor => (true, rest),
            all => (false, all),
        };
        let mut reader = Reader { rest: text, items: Vec::new(), open: Vec::new(), captures: 0, repeats: 0 };
        while let [first, rest @ ..] = reader.rest {
            reader.rest = rest;
            reader.item(*first)?;
        }
        if !reader.open.is_empty() {
            return Err(Malformed::OpenCapture);
        }
        Ok(Self { items: reader.items, captures: reader.captures, anchored })
    }

    /// The first match that begins at `from` or, unless the pattern is anchored, later.
    pub fn find(&self, text: &[u8], from: usize, budget: &Budget) -> Result<Option<Match>, Spent> {
        let last = if self.anchored { from } else { text.len() };
        for start in from..=last {
            let found = self.at(text, start, budget)?;
            if found.is_some() {
                return Ok(found);
            }
        }
        Ok(None)
    }

    /// The match that begins at `start`.
    pub fn at(&self, text: &[u8], start: usize, budget: &Budget) -> Result<Option<Match>, Spent> {
        let mut run = Run { pattern: self, text, budget, captures: vec![Capture::Place(start); self.captures] };
        let end = run.go(0, start)?;
        Ok(end.map(|end| Match { start, end, captures: run.captures }))
    }
}

struct Reader<'a> {
    rest: &'a [u8],
    items: Vec<Item>,
    open: Vec<usize>,
    captures: usize,
    repeats: usize,
}

impl Reader<'_> {
    fn next(&mut self) -> Option<u8> {
        let (first, rest) = self.rest.split_first()?;
        self.rest = rest;
        Some(*first)
    }

    fn item(&mut self, first: u8) -> Result<(), Malformed> {
        match first {
            b'(' => self.open(),
            b')' => {
                let index = self.open.pop().ok_or(Malformed::NothingToClose)?;
                self.items.push(Item::Close(index));
                Ok(())
            }
            b'$' if self.rest.is_empty() => {
                self.items.push(Item::End);
                Ok(())
            }
            b'%' => self.escaped(),
            b'[' => {
                let set = self.set()?;
                self.repeated(set)
            }
            b'.' => self.repeated(Set::of(|_| true)),
            byte => self.repeated(Set::of(|other| other == byte)),
        }
    }

    fn open(&mut self) -> Result<(), Malformed> {
        if self.captures == MOST_CAPTURES {
            return Err(Malformed::TooManyCaptures);
        }
        let index = self.captures;
        self.captures += 1;
        if let [b')', rest @ ..] = self.rest {
            self.rest = rest;
            self.items.push(Item::Place(index));
        } else {
            self.open.push(index);
            self.items.push(Item::Open(index));
        }
        Ok(())
    }

    fn escaped(&mut self) -> Result<(), Malformed> {
        match self.next().ok_or(Malformed::EndsWithPercent)? {
            b'b' => {
                let (Some(open), Some(close)) = (self.next(), self.next()) else { return Err(Malformed::NoBalance) };
                self.items.push(Item::Balanced(open, close));
                Ok(())
            }
            b'f' => {
                if self.next() != Some(b'[') {
                    return Err(Malformed::NoFrontier);
                }
                let set = self.set()?;
                self.items.push(Item::Frontier(Box::new(set)));
                Ok(())
            }
            digit @ b'0'..=b'9' => {
                let index = usize::from(digit - b'0').checked_sub(1).ok_or(Malformed::NoSuchCapture)?;
                if index >= self.captures || self.open.contains(&index) {
                    return Err(Malformed::NoSuchCapture);
                }
                self.items.push(Item::Again(index));
                Ok(())
            }
            letter => self.repeated(Set::of(class(letter))),
        }
    }

    fn repeated(&mut self, set: Set) -> Result<(), Malformed> {
        let repeat = match self.rest.first() {
            Some(b'?') => Repeat::Optional,
            Some(b'*') => Repeat::Greedy(0),
            Some(b'+') => Repeat::Greedy(1),
            Some(b'-') => Repeat::Lazy,
            _ => Repeat::Once,
        };
        if repeat != Repeat::Once {
            self.next();
            self.repeats += 1;
        }
        if self.repeats > MOST_REPEATS {
            return Err(Malformed::TooComplex);
        }
        self.items.push(Item::Bytes(Box::new(set), repeat));
        Ok(())
    }

    /// The rest of `[…]`; a bracket that closes at once stands for itself.
    fn set(&mut self) -> Result<Set, Malformed> {
        let is_complement = self.rest.first() == Some(&b'^');
        if is_complement {
            self.next();
        }
        let mut set = Set::of(|_| false);
        let mut is_first = true;
        loop {
            match self.next().ok_or(Malformed::OpenSet)? {
                b']' if !is_first => break,
                b'%' => set.add(class(self.next().ok_or(Malformed::OpenSet)?)),
                low => match self.rest {
                    [b'-', high, rest @ ..] if *high != b']' => {
                        let high = *high;
                        self.rest = rest;
                        set.add(|byte| (low..=high).contains(&byte));
                    }
                    _ => set.add(|byte| byte == low),
                },
            }
            is_first = false;
        }
        Ok(if is_complement { Set::of(|byte| !set.has(byte)) } else { set })
    }
}

/// What `%letter` stands for.
fn class(letter: u8) -> impl Fn(u8) -> bool {
    move |byte| {
        let holds = match letter.to_ascii_lowercase() {
            b'a' => byte.is_ascii_alphabetic(),
            b'c' => byte.is_ascii_control(),
            b'd' => byte.is_ascii_digit(),
            b'g' => byte.is_ascii_graphic(),
            b'l' => byte.is_ascii_lowercase(),
            b'p' => byte.is_ascii_punctuation(),
            b's' => matches!(byte, b' ' | b'\t'..=b'\r'),
            b'u' => byte.is_ascii_uppercase(),
            b'w' => byte.is_ascii_alphanumeric(),
            b'x' => byte.is_ascii_hexdigit(),
            b'z' => byte == 0,
            _ => return byte == letter,
        };
        holds != letter.is_ascii_uppercase()
    }
}

/// One attempt at one place.
struct Run<'a> {
    pattern: &'a Pattern,
    text: &'a [u8],
    budget: &'a Budget,
    /// What was tried last; an attempt that succeeds has written each of them after the ones before it.
    captures: Vec<Capture>,
}

impl Run<'_> {
    /// Matches the items from `item` on; returns where the match ends.
    fn go(&mut self, mut item: usize, mut at: usize) -> Result<Option<usize>, Spent> {
        let pattern = self.pattern;
        while let Some(current) = pattern.items.get(item) {
            self.budget.spend(1)?;
            item += 1;
            let next = match current {
                Item::Bytes(set, Repeat::Once) => self.is_in(set, at).then_some(at + 1),
                Item::Bytes(set, repeat) => return self.repeated((set, *repeat), item, at),
                Item::Open(index) => self.capture(*index, Capture::Part(at, at), at),
                Item::Place(index) => self.capture(*index, Capture::Place(at), at),
                Item::Close(index) => match self.captures.get(*index) {
                    Some(Capture::Part(start, _)) => self.capture(*index, Capture::Part(*start, at), at),
                    _ => None,
                },
                Item::Again(index) => self.again(*index, at)?,
                Item::Balanced(open, close) => self.balanced((*open, *close), at)?,
                Item::Frontier(set) => {
                    let before = at.checked_sub(1).and_then(|at| self.text.get(at)).copied().unwrap_or(0);
                    let here = self.text.get(at).copied().unwrap_or(0);
                    (!set.has(before) && set.has(here)).then_some(at)
                }
                Item::End => (at == self.text.len()).then_some(at),
            };
            let Some(next) = next else { return Ok(None) };
            at = next;
        }
        Ok(Some(at))
    }

    fn is_in(&self, set: &Set, at: usize) -> bool {
        self.text.get(at).is_some_and(|byte| set.has(*byte))
    }

    fn capture(&mut self, index: usize, capture: Capture, at: usize) -> Option<usize> {
        *self.captures.get_mut(index)? = capture;
        Some(at)
    }

    fn repeated(&mut self, (set, repeat): (&Set, Repeat), rest: usize, at: usize) -> Result<Option<usize>, Spent> {
        let (least, most) = match repeat {
            Repeat::Once => (1, 1),
            Repeat::Optional => (0, 1),
            Repeat::Greedy(least) => (least, usize::MAX),
            Repeat::Lazy => return self.lazy(set, rest, at),
        };
        let mut end = at;
        while end - at < most && self.is_in(set, end) {
            self.budget.spend(1)?;
            end += 1;
        }
        while end >= at + least {
            let found = self.go(rest, end)?;
            if found.is_some() || end == 0 {
                return Ok(found);
            }
            end -= 1;
        }
        Ok(None)
    }

    fn lazy(&mut self, set: &Set, rest: usize, mut at: usize) -> Result<Option<usize>, Spent> {
        loop {
            let found = self.go(rest, at)?;
            if found.is_some() || !self.is_in(set, at) {
                return Ok(found);
            }
            self.budget.spend(1)?;
            at += 1;
        }
    }

    /// The text of a capture once more.
    fn again(&self, index: usize, at: usize) -> Result<Option<usize>, Spent> {
        let Some(Capture::Part(start, end)) = self.captures.get(index) else { return Ok(None) };
        let known = self.text.get(*start..*end).unwrap_or_default();
        self.budget.spend(known.len())?;
        let here = self.text.get(at..).unwrap_or_default();
        Ok(here.starts_with(known).then_some(at + known.len()))
    }

    /// From an opening byte to the one that closes it.
    fn balanced(&self, (open, close): (u8, u8), at: usize) -> Result<Option<usize>, Spent> {
        if self.text.get(at) != Some(&open) {
            return Ok(None);
        }
        let mut depth = 1_usize;
        for (index, byte) in self.text.iter().enumerate().skip(at + 1) {
            self.budget.spend(1)?;
            if *byte == close {
                depth -= 1;
                if depth == 0 {
                    return Ok(Some(index + 1));
                }
            } else if *byte == open {
                depth += 1;
            }
        }
        Ok(None)
    }
}

/// Where a text holds another, from `from` on.
pub(super) fn find_plain(text: &[u8], wanted: &[u8], from: usize, budget: &Budget) -> Result<Option<usize>, Spent> {
    let Some(last) = text.len().checked_sub(wanted.len()) else { return Ok(None) };
    for at in from..=last {
        // As much as the comparison may cost.
        budget.spend(1 + wanted.len() / 16)?;
        if text.get(at..).is_some_and(|here| here.starts_with(wanted)) {
            return Ok(Some(at));
        }
    }
    Ok(None)
}
