//! Texts that end in a block scalar without a line end, which the parser cannot read.
//!
//! In:  a text.
//! Out: the same text with a line end where it may need one, and how to take that back from the scalar it fell into.
//! Invariant: the parser, which panics at such an end, never sees one.
//! Source: `go.yaml.in/yaml/v2/scannerc.go` `yaml_parser_scan_block_scalar`, which reads the end of the text as no line end.

use std::borrow::Cow;

use libyaml_safer::Mark;

/// The line end that was added behind a text.
pub(super) struct Ending {
    /// Bytes up to and with the added line end, without a byte order mark.
    bytes: usize,
    /// Whether the last line of the text holds nothing but blanks.
    blank: bool,
}

impl Ending {
    /// Adds a line end where the text has none and a block scalar may reach its end.
    pub(super) fn closed(text: &str) -> (Cow<'_, str>, Option<Self>) {
        let Some((before, last)) = text.rsplit_once('\n') else { return (Cow::Borrowed(text), None) };
        let may_hold_last = |line: &str| opens_block_scalar(line) && (is_root(line) || indent(last) > indent(line));
        if last.is_empty() || last.ends_with('\r') || !before.lines().any(may_hold_last) {
            return (Cow::Borrowed(text), None);
        }
        let bytes = text.trim_start_matches('\u{feff}').len() + 1;
        let blank = last.trim_matches(' ').is_empty();
        (Cow::Owned(format!("{text}\n")), Some(Self { bytes, blank }))
    }

    /// Takes the line end back from a block scalar that ends at `end`, if it became part of it.
    pub(super) fn take_back(&self, value: &mut String, end: Mark) {
        if usize::try_from(end.index).is_ok_and(|index| index < self.bytes) {
            return;
        }
        let Some(without) = value.strip_suffix('\n') else { return };
        // A last line of blanks is a line of the scalar where it is indented deeper or every break is kept; otherwise
        // the break at the end is that of the line before.
        let last = without.rsplit('\n').next().unwrap_or_default();
        if !self.blank || last.trim_matches(' ').is_empty() {
            value.pop();
        }
    }
}

fn indent(line: &str) -> usize {
    line.len() - line.trim_start_matches(' ').len()
}

/// Whether a line is the head of a scalar that is the whole document and so needs no indentation.
fn is_root(line: &str) -> bool {
    line.starts_with("---") || line.trim_start().starts_with(['|', '>'])
}

/// Whether a line may end in the head of a block scalar, such as `|-` or `>2 # comment`.
fn opens_block_scalar(line: &str) -> bool {
    let head = |text: &str| {
        let text = text.trim_end().trim_end_matches(|letter: char| letter.is_ascii_digit() || "+-".contains(letter));
        text.ends_with(['|', '>'])
    };
    head(line) || line.match_indices(" #").any(|(at, _)| line.get(..at).is_some_and(head))
}
