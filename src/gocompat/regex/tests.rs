//! Tests of regular expressions against the Go library's own answers.

use super::{Error, Regex};
use crate::gocompat::tables::{check, text};

#[test]
fn expressions_match_as_go_matches_them() {
    let table = include_str!("../../../corpus/golib/regexp2.json");
    let rows = check(table, |row, texts| {
        // Texts of syntax errors reach the log only, so their wording is ours.
        let regex = Regex::new(text(row, "pattern")).map_err(|_| "refused".to_owned())?;
        Ok(texts.matching(|text| regex.is_match(text).unwrap()))
    });
    assert!(rows > 80);
}

#[test]
fn endless_backtracking_is_given_up() {
    let regex = Regex::new("^(a|aa|a?)*$").unwrap();
    assert_eq!(regex.is_match(&format!("{}b", "a".repeat(200))), Err(Error::TooManySteps));
}

#[test]
fn what_is_not_supported_is_refused() {
    for pattern in ["\\p{L}", "(?<name>a)", "(?#c)", "[[:alpha:]]", "a{20000}{20000}"] {
        assert!(Regex::new(pattern).is_err(), "{pattern}");
    }
}

proptest::proptest! {
    #[test]
    fn any_pattern_reads_without_panic(pattern in "[-ab*+?|(){}\\[\\]^$.\\\\:=!<0-9,dwi]{0,16}", text in "[ab1]{0,8}") {
        if let Ok(regex) = Regex::new(&pattern) {
            let _ = regex.is_match(&text);
        }
    }
}
