//! Globs as `gobwas/glob` reads them: `*` within separators, `**` across them, `?`, `[a-c]`, `[!ab]`, `{a,b}`.
//!
//! In:  a pattern and the separators, which each caller chooses.
//! Out: whether a whole text matches; a pattern that cannot be read is an error.
//! Invariant: matching costs at most the product of pattern and text length, whatever the pattern.
//! Source: DIFF-074, APP-213, APP-214 (`util/glob/glob.go`).

#[cfg(test)]
mod tests;

/// A pattern that can be matched many times.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Glob {
    nodes: Vec<Node>,
    separators: Vec<char>,
}

/// Why a pattern cannot be read.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum Error {
    /// A `[` that is never closed.
    #[error("unexpected end of input")]
    UnexpectedEnd,
    /// Something stands between a range and its `]`.
    #[error("expected close range character")]
    RangeNotClosed,
    /// `[]` or `[!]`.
    #[error("could not parse range")]
    EmptyRange,
    /// `[z-a]`.
    #[error("hi character '{high}' should be greater than lo '{low}'")]
    Reversed {
        /// Lower end as written.
        low: char,
        /// Upper end as written.
        high: char,
    },
}

#[derive(Debug, Clone, PartialEq, Eq)]
enum Node {
    Char(char),
    /// `?`: one character that is no separator.
    Single,
    /// `*`: any characters that are no separators.
    Any,
    /// `**`: any characters.
    Super,
    List {
        letters: Vec<char>,
        negated: bool,
    },
    Range {
        low: char,
        high: char,
        negated: bool,
    },
    AnyOf(Vec<Vec<Node>>),
}

/// Whether a text matches; a pattern that cannot be read matches nothing, as Argo CD has it.
pub fn matches(pattern: &str, text: &str, separators: &[char]) -> bool {
    Glob::new(pattern, separators).is_ok_and(|glob| glob.matches(text))
}

impl Glob {
    /// Reads a pattern.
    ///
    /// # Errors
    /// A malformed `[…]`; everything else has a meaning, also `{a` and `}`.
    pub fn new(pattern: &str, separators: &[char]) -> Result<Self, Error> {
        let mut reader = Reader { letters: pattern.chars().collect(), at: 0 };
        Ok(Self { nodes: reader.top()?, separators: separators.to_vec() })
    }

    /// Whether the whole text matches.
    pub fn matches(&self, text: &str) -> bool {
        let letters: Vec<char> = text.chars().collect();
        let mut reached = vec![false; letters.len() + 1];
        reached[0] = true;
        self.advance(&self.nodes, &letters, reached).last().copied().unwrap_or(false)
    }

    /// Positions that can be reached behind `nodes` from the positions in `reached`.
    fn advance(&self, nodes: &[Node], letters: &[char], reached: Vec<bool>) -> Vec<bool> {
        nodes.iter().fold(reached, |reached, node| match node {
            Node::Char(wanted) => one(letters, &reached, |letter| letter == *wanted),
            Node::Single => one(letters, &reached, |letter| !self.separators.contains(&letter)),
            Node::List { letters: list, negated } => {
                one(letters, &reached, |letter| list.contains(&letter) != *negated)
            }
            Node::Range { low, high, negated } => {
                one(letters, &reached, |letter| (*low..=*high).contains(&letter) != *negated)
            }
            Node::Any => run(letters, &reached, |letter| !self.separators.contains(&letter)),
            Node::Super => run(letters, &reached, |_| true),
            Node::AnyOf(alternatives) => {
                let mut union = vec![false; reached.len()];
                for alternative in alternatives {
                    let ends = self.advance(alternative, letters, reached.clone());
                    union.iter_mut().zip(ends).for_each(|(slot, end)| *slot |= end);
                }
                union
            }
        })
    }
}

/// Positions behind exactly one letter that fits.
fn one(letters: &[char], reached: &[bool], fits: impl Fn(char) -> bool) -> Vec<bool> {
    let steps = letters.iter().zip(reached).map(|(letter, here)| *here && fits(*letter));
    std::iter::once(false).chain(steps).collect()
}

/// Positions behind any number of letters that fit.
fn run(letters: &[char], reached: &[bool], fits: impl Fn(char) -> bool) -> Vec<bool> {
    let mut running = false;
    let mut ends = Vec::with_capacity(reached.len());
    for (at, here) in reached.iter().enumerate() {
        let carried = running && at.checked_sub(1).and_then(|last| letters.get(last)).is_some_and(|last| fits(*last));
        running = *here || carried;
        ends.push(running);
    }
    ends
}

struct Reader {
    letters: Vec<char>,
    at: usize,
}

impl Reader {
    fn next(&mut self) -> Option<char> {
        let letter = self.letters.get(self.at).copied();
        self.at += usize::from(letter.is_some());
        letter
    }

    fn peek(&self) -> Option<char> {
        self.letters.get(self.at).copied()
    }

    /// Reads to the end, keeping the open alternatives on a stack so that deep nesting costs no call depth.
    fn top(&mut self) -> Result<Vec<Node>, Error> {
        let mut stack: Vec<(Vec<Node>, Vec<Vec<Node>>)> = Vec::new();
        let mut nodes = Vec::new();
        while let Some(letter) = self.next() {
            match letter {
                '{' => stack.push((std::mem::take(&mut nodes), Vec::new())),
                ',' if !stack.is_empty() => {
                    if let Some((_, alternatives)) = stack.last_mut() {
                        alternatives.push(std::mem::take(&mut nodes));
                    }
                }
                '}' if !stack.is_empty() => close(&mut stack, &mut nodes),
                '[' => nodes.push(self.range()?),
                '?' => nodes.push(Node::Single),
                '*' if self.peek() == Some('*') => {
                    self.at += 1;
                    nodes.push(Node::Super);
                }
                '*' => nodes.push(Node::Any),
                // A backslash at the very end stands for nothing.
                '\\' => nodes.extend(self.next().map(Node::Char)),
                _ => nodes.push(Node::Char(letter)),
            }
        }
        // Braces that are still open count as closed here.
        while !stack.is_empty() {
            close(&mut stack, &mut nodes);
        }
        Ok(nodes)
    }

    /// What follows `[`.
    fn range(&mut self) -> Result<Node, Error> {
        let negated = self.peek() == Some('!');
        if negated {
            self.at += 1;
        }
        let first = self.peek().ok_or(Error::UnexpectedEnd)?;
        if self.letters.get(self.at + 1) == Some(&'-') {
            self.at += 2;
            let high = self.next().ok_or(Error::UnexpectedEnd)?;
            self.close_range()?;
            if high < first {
                return Err(Error::Reversed { low: first, high });
            }
            return Ok(Node::Range { low: first, high, negated });
        }
        let mut letters = Vec::new();
        while let Some(letter) = self.peek().filter(|letter| *letter != ']') {
            self.at += 1;
            // The escaped letter is taken whatever it is.
            letters.extend(if letter == '\\' { self.next() } else { Some(letter) });
        }
        self.close_range()?;
        if letters.is_empty() { Err(Error::EmptyRange) } else { Ok(Node::List { letters, negated }) }
    }

    fn close_range(&mut self) -> Result<(), Error> {
        match self.next() {
            Some(']') => Ok(()),
            Some(_) => Err(Error::RangeNotClosed),
            None => Err(Error::UnexpectedEnd),
        }
    }
}

/// Ends the innermost `{…}`.
fn close(stack: &mut Vec<(Vec<Node>, Vec<Vec<Node>>)>, nodes: &mut Vec<Node>) {
    if let Some((outer, mut alternatives)) = stack.pop() {
        alternatives.push(std::mem::replace(nodes, outer));
        nodes.push(Node::AnyOf(alternatives));
    }
}
