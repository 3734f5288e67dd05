//! Tests of shell patterns against Go's own answers.

use serde_json::json;

use super::matches;
use crate::gocompat::tables::{check, text};

#[test]
fn patterns_match_as_go_matches_them() {
    let table = include_str!("../../../corpus/golib/filepath.json");
    let rows = check(table, |row, texts| {
        let answer = |text: &str| matches(self::text(row, "pattern"), text);
        let matching = texts.matching(|text| answer(text) == Ok(true));
        Ok(json!({"matching": matching, "bad": texts.matching(|text| answer(text).is_err())}))
    });
    assert!(rows > 40);
}

proptest::proptest! {
    #[test]
    fn any_pattern_reads_without_panic(pattern in "[-ab*?^\\[\\]\\\\/]{0,16}", name in "[ab/]{0,8}") {
        let _ = matches(&pattern, &name);
    }
}
