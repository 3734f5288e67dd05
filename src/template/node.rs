//! The parsed template, and how Go prints its parts in error texts.

use std::collections::BTreeMap;
use std::fmt::{Display, Formatter, Result, Write as _};

use super::number::Number;
use crate::gocompat::strconv::quote;

/// The templates of one text by name.
pub(super) type Set = BTreeMap<String, Vec<Node>>;

/// A part with its place in the text, in bytes.
#[derive(Debug, Clone)]
pub(super) struct Node {
    pub pos: usize,
    pub kind: Kind,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Word {
    If,
    With,
    Range,
}

#[derive(Debug, Clone)]
pub(super) enum Kind {
    Text(String),
    /// An action's pipeline.
    Action(Box<Node>),
    Branch {
        word: Word,
        pipe: Box<Node>,
        list: Vec<Node>,
        otherwise: Option<Vec<Node>>,
    },
    Template(String, Option<Box<Node>>),
    Break,
    Continue,
    /// Only while parsing.
    End,
    /// Only while parsing.
    Else,
    Pipe {
        declared: Vec<Node>,
        assigns: bool,
        commands: Vec<Node>,
    },
    Command(Vec<Node>),
    Identifier(String),
    Field(Vec<String>),
    Chain(Box<Node>, Vec<String>),
    Variable(Vec<String>),
    Dot,
    Nil,
    Bool(bool),
    Number(Number),
    String {
        quoted: String,
        text: String,
    },
}

fn separated(f: &mut Formatter<'_>, nodes: &[Node], separator: &str) -> Result {
    for (at, node) in nodes.iter().enumerate() {
        if at > 0 {
            f.write_str(separator)?;
        }
        node.fmt_argument(f, separator == " ")?;
    }
    Ok(())
}

impl Node {
    fn fmt_argument(&self, f: &mut Formatter<'_>, is_argument: bool) -> Result {
        if is_argument && matches!(self.kind, Kind::Pipe { .. }) {
            return write!(f, "({self})");
        }
        write!(f, "{self}")
    }
}

impl Display for Node {
    fn fmt(&self, f: &mut Formatter<'_>) -> Result {
        match &self.kind {
            Kind::Text(text) => f.write_str(text),
            Kind::Action(pipe) => write!(f, "{{{{{pipe}}}}}"),
            Kind::Branch { word, pipe, list, otherwise } => {
                let word = match word {
                    Word::If => "if",
                    Word::With => "with",
                    Word::Range => "range",
                };
                write!(f, "{{{{{word} {pipe}}}}}")?;
                separated(f, list, "")?;
                if let Some(otherwise) = otherwise {
                    f.write_str("{{else}}")?;
                    separated(f, otherwise, "")?;
                }
                f.write_str("{{end}}")
            }
            Kind::Template(name, None) => write!(f, "{{{{template {}}}}}", quote(name)),
            Kind::Template(name, Some(pipe)) => write!(f, "{{{{template {} {pipe}}}}}", quote(name)),
            Kind::Break => f.write_str("{{break}}"),
            Kind::Continue => f.write_str("{{continue}}"),
            Kind::End => f.write_str("{{end}}"),
            Kind::Else => f.write_str("{{else}}"),
            Kind::Pipe { declared, assigns, commands } => {
                separated(f, declared, ", ")?;
                if !declared.is_empty() {
                    f.write_str(if *assigns { " = " } else { " := " })?;
                }
                separated(f, commands, " | ")
            }
            Kind::Command(arguments) => separated(f, arguments, " "),
            Kind::Identifier(name) => f.write_str(name),
            Kind::Field(names) => names.iter().try_for_each(|name| write!(f, ".{name}")),
            Kind::Chain(node, names) => {
                node.fmt_argument(f, true)?;
                names.iter().try_for_each(|name| write!(f, ".{name}"))
            }
            Kind::Variable(names) => f.write_str(&names.join(".")),
            Kind::Dot => f.write_char('.'),
            Kind::Nil => f.write_str("nil"),
            Kind::Bool(flag) => write!(f, "{flag}"),
            Kind::Number(number) => f.write_str(&number.text),
            Kind::String { quoted, .. } => f.write_str(quoted),
        }
    }
}
