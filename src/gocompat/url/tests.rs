//! Tests of URLs against Go's own answers.

use super::reprint;
use crate::gocompat::tables::{check, text};

#[test]
fn urls_print_as_go_prints_them() {
    let table = include_str!("../../../corpus/golib/url.json");
    let rows = check(table, |row, _| reprint(text(row, "text")).map(Into::into).ok_or_else(|| "refused".to_owned()));
    assert!(rows > 50);
}

proptest::proptest! {
    #[test]
    fn printed_urls_print_the_same_again(text in "[-a-c:/@.?#%*0-3\\[\\]{} ]{0,16}") {
        if let Some(once) = reprint(&text) {
            // A path may read as a scheme once it is printed; Go has the same gap.
            if let Some(twice) = reprint(&once) {
                proptest::prop_assert_eq!(twice, once);
            }
        }
    }
}
