//! Which files of a commit a pattern of the Git file generator means.
//!
//! In:  a pattern, a path from the root of the repository.
//! Out: whether the file counts.
//! Source: SET-037 (`util/git/client.go` `LsFiles`; Git's `wildmatch.c` and `pathspec.c`;
//! `github.com/bmatcuk/doublestar`).

use super::query::Globbing;
use crate::gocompat::filepath;

/// A pattern with the way it is read.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Pattern {
    text: String,
    globbing: Globbing,
}

impl Pattern {
    /// A pattern as a set writes it.
    pub fn new(text: &str, globbing: Globbing) -> Self {
        Self { text: text.trim_start_matches("./").to_owned(), globbing }
    }

    /// Whether the pattern means the file.
    pub fn matches(&self, path: &str) -> bool {
        match self.globbing {
            Globbing::Pathspec => is_below(&self.text, path) || crosses(&letters(&self.text), &letters(path)),
            Globbing::Doublestar => doublestar(&parts(&self.text), &parts(path)),
        }
    }
}

/// Whether the pattern names the file or a directory above it.
fn is_below(pattern: &str, path: &str) -> bool {
    let directory = pattern.trim_end_matches('/');
    pattern.is_empty()
        || directory == "."
        || path == pattern
        || path.strip_prefix(directory).is_some_and(|rest| rest.starts_with('/'))
}

fn letters(text: &str) -> Vec<char> {
    text.chars().collect()
}

fn parts(text: &str) -> Vec<&str> {
    text.split('/').collect()
}

/// Git's match without paths: every star crosses `/`.
fn crosses(pattern: &[char], path: &[char]) -> bool {
    // Where the last star stands, and how much it has taken, is all that going back needs.
    let (mut at, mut read) = (0, 0);
    let mut star: Option<(usize, usize)> = None;
    while read < path.len() {
        let next = match pattern.get(at) {
            Some('*') => {
                star = Some((at, read));
                at += 1;
                continue;
            }
            Some(_) => one(&pattern[at..], path[read]),
            None => None,
        };
        match (next, star) {
            (Some(length), _) => {
                at += length;
                read += 1;
            }
            (None, Some((place, taken))) => {
                star = Some((place, taken + 1));
                at = place + 1;
                read = taken + 1;
            }
            (None, None) => return false,
        }
    }
    pattern[at..].iter().all(|letter| *letter == '*')
}

/// How long the part of a pattern is that takes one letter; nothing when it does not take it.
fn one(pattern: &[char], letter: char) -> Option<usize> {
    match pattern {
        ['?', ..] => Some(1),
        ['\\', escaped, ..] => (*escaped == letter).then_some(2),
        ['[', rest @ ..] => class(rest, letter),
        [plain, ..] => (*plain == letter).then_some(1),
        [] => None,
    }
}

/// A class of letters, behind its bracket.
fn class(pattern: &[char], letter: char) -> Option<usize> {
    let negated = matches!(pattern.first(), Some('!' | '^'));
    let start = usize::from(negated);
    let (mut at, mut found) = (start, false);
    loop {
        let mut low = *pattern.get(at)?;
        if low == ']' && at > start {
            return (found != negated).then_some(at + 2);
        }
        if low == '\\' {
            at += 1;
            low = *pattern.get(at)?;
        }
        let high = match (pattern.get(at + 1), pattern.get(at + 2)) {
            (Some('-'), Some(high)) if *high != ']' => {
                at += 2;
                *high
            }
            _ => low,
        };
        found |= (low..=high).contains(&letter);
        at += 1;
    }
}

/// A glob part by part: `**` takes any number of them, also none.
fn doublestar(pattern: &[&str], path: &[&str]) -> bool {
    match (pattern, path) {
        (["**"], _) => !path.is_empty(),
        (["**", rest @ ..], _) => (0..=path.len()).any(|taken| doublestar(rest, &path[taken..])),
        ([first, rest @ ..], [name, below @ ..]) => alternatives(first, name) && doublestar(rest, below),
        ([], []) => true,
        _ => false,
    }
}

/// One part of a glob, `{a,b}` written out.
fn alternatives(pattern: &str, name: &str) -> bool {
    let braces = pattern.split_once('{').and_then(|(before, rest)| Some((before, rest.split_once('}')?)));
    match braces {
        Some((before, (choices, after))) => {
            choices.split(',').any(|choice| alternatives(&format!("{before}{choice}{after}"), name))
        }
        None => filepath::matches(pattern, name) == Ok(true),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn found(pattern: &str, globbing: Globbing) -> Vec<&'static str> {
        let paths =
            ["top.yaml", "envs/dev.json", "envs/Prod_EU/config.json", "envs/Prod_EU/skip.json", "teams/blue/apps.yaml"];
        let pattern = Pattern::new(pattern, globbing);
        paths.into_iter().filter(|path| pattern.matches(path)).collect()
    }

    #[test]
    fn a_pathspec_crosses_slashes_and_takes_directories() {
        let json = ["envs/dev.json", "envs/Prod_EU/config.json", "envs/Prod_EU/skip.json"];
        assert_eq!(found("envs/*.json", Globbing::Pathspec), json);
        assert_eq!(found("envs", Globbing::Pathspec), json);
        assert_eq!(found("envs/*/skip.json", Globbing::Pathspec), ["envs/Prod_EU/skip.json"]);
        assert_eq!(found("**/apps.yaml", Globbing::Pathspec), ["teams/blue/apps.yaml"]);
        assert_eq!(found("*/[a-c]onfig.?son", Globbing::Pathspec), ["envs/Prod_EU/config.json"]);
        assert_eq!(found("env", Globbing::Pathspec), [""; 0]);
    }

    #[test]
    fn a_glob_stops_at_slashes() {
        assert_eq!(found("envs/*.json", Globbing::Doublestar), ["envs/dev.json"]);
        assert_eq!(found("**/*.yaml", Globbing::Doublestar), ["top.yaml", "teams/blue/apps.yaml"]);
        assert_eq!(found("envs/**/{skip,dev}.json", Globbing::Doublestar), ["envs/dev.json", "envs/Prod_EU/skip.json"]);
        assert_eq!(found("envs", Globbing::Doublestar), [""; 0]);
    }
}
