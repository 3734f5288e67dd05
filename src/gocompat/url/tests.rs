//! Tests of URLs against Go's own answers.

use super::{decode, path_escape, query_escape, reprint};
use crate::gocompat::tables::{check, text};

#[test]
fn urls_print_as_go_prints_them() {
    let table = include_str!("../../../corpus/golib/url.json");
    let rows = check(table, |row, _| reprint(text(row, "text")).map(Into::into).ok_or_else(|| "refused".to_owned()));
    assert!(rows > 50);
}

#[test]
fn parts_of_paths_and_queries_are_escaped_as_go_escapes_them() {
    let text = "a/b c&d+e=f:g@h$i,j;k?l%m!n'o(p)q*r~s-t_u.vé";
    assert_eq!(path_escape(text), "a%2Fb%20c&d+e=f:g@h$i%2Cj%3Bk%3Fl%25m%21n%27o%28p%29q%2Ar~s-t_u.v%C3%A9");
    assert_eq!(query_escape(text), "a%2Fb+c%26d%2Be%3Df%3Ag%40h%24i%2Cj%3Bk%3Fl%25m%21n%27o%28p%29q%2Ar~s-t_u.v%C3%A9");
    assert_eq!(decode("p%40s%zz%4"), "p@s%zz%4");
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
