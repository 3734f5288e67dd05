//! Lists of patterns for names, as Argo CD matches namespaces, labels and users against them.
//!
//! In:  a list, an item, and what the list's entries may be.
//! Out: whether any entry matches.
//! Source: APP-232, APP-233 (`util/glob/list.go`).

use super::glob;
use super::regex::Regex;

/// What the entries of a list may be.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum PatternMatch {
    /// Literal names.
    Exact,
    /// Globs without separators.
    Glob,
    /// Regular expressions between slashes, and globs.
    Regexp,
}

/// Whether any entry matches; an entry that cannot be read matches nothing.
pub fn matches_any<'a>(list: impl IntoIterator<Item = &'a str>, item: &str, how: PatternMatch) -> bool {
    list.into_iter().any(|entry| match how {
        PatternMatch::Exact => entry == item,
        PatternMatch::Glob => glob::matches(entry, item, &[]),
        // An expression that does not match is still tried as a glob, slashes included.
        PatternMatch::Regexp => expression_matches(entry, item) || glob::matches(entry, item, &[]),
    })
}

fn expression_matches(entry: &str, item: &str) -> bool {
    let Some(expression) = entry.strip_prefix('/').and_then(|entry| entry.strip_suffix('/')) else { return false };
    Regex::new(expression).is_ok_and(|regex| regex.is_match(item).unwrap_or(false))
}

#[cfg(test)]
mod tests {
    use super::{PatternMatch, matches_any};

    fn check(list: &[&str], item: &str, how: PatternMatch, expect: bool) {
        assert_eq!(matches_any(list.iter().copied(), item, how), expect, "{list:?} {item:?} {how:?}");
    }

    #[test]
    fn exact_lists_know_no_patterns() {
        check(&["a*", "b"], "b", PatternMatch::Exact, true);
        check(&["a*"], "ab", PatternMatch::Exact, false);
    }

    #[test]
    fn globs_cross_slashes_because_no_separator_is_set() {
        check(&["team-*"], "team-a/b", PatternMatch::Glob, true);
        check(&["/team-.*/"], "team-a", PatternMatch::Glob, false);
    }

    #[test]
    fn slashes_make_an_expression_that_matches_anywhere() {
        check(&["/^team-(a|b)$/"], "team-b", PatternMatch::Regexp, true);
        check(&["/eam/"], "team-b", PatternMatch::Regexp, true);
        check(&["/^((?!not-allowed).)*$/"], "my-not-allowed-ns", PatternMatch::Regexp, false);
        check(&["/^((?!not-allowed).)*$/"], "my-ns", PatternMatch::Regexp, true);
        check(&["team-*"], "team-b", PatternMatch::Regexp, true);
    }

    #[test]
    fn broken_entries_match_nothing() {
        check(&["/(/", "[", "/"], "x", PatternMatch::Regexp, false);
    }
}
