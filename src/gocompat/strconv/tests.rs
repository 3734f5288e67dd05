//! Tests of Go's value texts.

use super::{parse_bool, parse_int, quote};

#[test]
fn booleans_are_the_twelve_words_only() {
    for text in ["1", "t", "T", "TRUE", "true", "True"] {
        assert_eq!(parse_bool(text), Ok(true));
    }
    for text in ["0", "f", "F", "FALSE", "false", "False"] {
        assert_eq!(parse_bool(text), Ok(false));
    }
    let text = parse_bool("yes").unwrap_err().to_string();
    assert_eq!(text, r#"strconv.ParseBool: parsing "yes": invalid syntax"#);
}

#[test]
fn integers_report_syntax_and_range() {
    assert_eq!(parse_int("-12", "ParseInt"), Ok(-12));
    let text = |input| parse_int(input, "Atoi").unwrap_err().to_string();
    assert_eq!(text(""), r#"strconv.Atoi: parsing "": invalid syntax"#);
    assert_eq!(text("99999999999999999999"), r#"strconv.Atoi: parsing "99999999999999999999": value out of range"#);
}

#[test]
fn quotes_escape_what_go_cannot_print() {
    assert_eq!(
        quote("a\"b\\\n\u{7}\u{1}é\u{301}\u{a0}\u{200b}😀"),
        "\"a\\\"b\\\\\\n\\a\\x01é\u{301}\\u00a0\\u200b😀\""
    );
}
