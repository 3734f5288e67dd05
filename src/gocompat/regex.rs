//! Regular expressions of the .NET family that `regexp2` reads, as far as lists of names need them.
//!
//! In:  a pattern with groups, classes, greedy and lazy repeats, anchors, back references, look-ahead and look-behind.
//! Out: whether a text contains a match.
//! Invariant: a search ends after a bounded number of steps; a pattern that is not understood is refused, never guessed.
//! Source: APP-232, APP-233 (`util/regex/regex.go`, `github.com/dlclark/regexp2`).

mod parse;
mod program;
mod search;
#[cfg(test)]
mod tests;

/// Why a pattern cannot be used, or a search was given up.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum Error {
    /// The pattern is malformed or uses a feature that is not supported.
    #[error("error parsing regexp: {problem}: `{pattern}`")]
    Syntax {
        /// What is wrong.
        problem: String,
        /// The pattern.
        pattern: String,
    },
    /// The pattern backtracks too much on this text.
    #[error("matching took too many steps")]
    TooManySteps,
}

/// A compiled pattern.
#[derive(Debug, Clone)]
pub struct Regex {
    program: program::Program,
}

impl Regex {
    /// Compiles a pattern.
    ///
    /// # Errors
    /// [`Error::Syntax`].
    pub fn new(pattern: &str) -> Result<Self, Error> {
        let syntax = |problem: String| Error::Syntax { problem, pattern: pattern.to_owned() };
        let tree = parse::parse(pattern).map_err(syntax)?;
        Ok(Self { program: program::compile(&tree).map_err(syntax)? })
    }

    /// Whether the text contains a match.
    ///
    /// # Errors
    /// [`Error::TooManySteps`].
    pub fn is_match(&self, text: &str) -> Result<bool, Error> {
        let letters: Vec<char> = text.chars().collect();
        search::is_match(&self.program, &letters).ok_or(Error::TooManySteps)
    }
}
