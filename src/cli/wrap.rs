//! Breaks the lines of the help, so that no terminal breaks them inside words.
//!
//! In:  a command with all below it.
//! Out: the same with texts of at most [`COLUMNS`] columns.
//! Invariant: lines that are short enough stay as they are.

use clap::builder::StyledStr;
use clap::{Arg, Command};

/// Columns of a line of the help.
const COLUMNS: usize = 100;
/// Columns that stand before the text of a flag.
const INDENT: usize = 10;

/// The command, its flags and its commands with short lines.
pub fn wrapped(command: Command) -> Command {
    let text = |given: Option<&StyledStr>| given.map(|text| lines(&text.to_string(), COLUMNS));
    let (about, long) = (text(command.get_about()), text(command.get_long_about()));
    let after = text(command.get_after_help());
    let mut command = command.mut_args(flag).mut_subcommands(wrapped);
    if let Some(about) = about {
        command = command.about(about);
    }
    if let Some(long) = long {
        command = command.long_about(long);
    }
    if let Some(after) = after {
        command = command.after_help(after);
    }
    command
}

fn flag(flag: Arg) -> Arg {
    let text = |given: Option<&StyledStr>| given.map(|text| lines(&text.to_string(), COLUMNS - INDENT));
    let (help, long) = (text(flag.get_help()), text(flag.get_long_help()));
    let mut flag = flag;
    if let Some(help) = help {
        flag = flag.help(help);
    }
    if let Some(long) = long {
        flag = flag.long_help(long);
    }
    flag
}

/// Breaks lines between words; a word that is too long for a line stays whole.
fn lines(text: &str, columns: usize) -> String {
    text.split('\n').map(|line| broken(line, columns)).collect::<Vec<_>>().join("\n")
}

fn broken(line: &str, columns: usize) -> String {
    if line.chars().count() <= columns {
        return line.to_owned();
    }
    let mut out = String::new();
    let mut length = 0;
    for word in line.split(' ') {
        let width = word.chars().count();
        if length > 0 && length + 1 + width > columns {
            out.push('\n');
            length = 0;
        } else if length > 0 {
            out.push(' ');
            length += 1;
        }
        out.push_str(word);
        length += width;
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_break_between_words_and_short_ones_stay() {
        assert_eq!(lines("one two three\n  kept  as it", 8), "one two\nthree\nkept  as\nit");
        assert_eq!(lines("  short\n\nlines", 8), "  short\n\nlines");
        assert_eq!(lines("averylongword a", 8), "averylongword\na");
    }
}
