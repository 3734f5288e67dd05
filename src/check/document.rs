//! YAML documents as trees that know their lines.
//!
//! In:  text of one or more YAML documents; JSON is YAML, too.
//! Out: one tree per document; every node and every key carries its line, counted from 1.
//! Invariant: depth and size are bounded, so that no file can exhaust memory through aliases or nesting.
//! Source: YAML 1.1 as `sigs.k8s.io/yaml` reads it.

use std::collections::HashMap;

use libyaml_safer::{Event, EventData, Mark, Parser, ScalarStyle};
use serde_json::{Map, Number, Value};

use crate::gocompat::yaml;

/// Far deeper than any manifest, far shallower than the stack.
const MAX_DEPTH: usize = 200;
/// Nodes per file after aliases are followed; the largest CRD in use has a tenth of it.
const MAX_NODES: usize = 500_000;

/// A value and where it starts.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Node {
    /// Line, counted from 1.
    pub line: u64,
    /// The value.
    pub content: Content,
}

/// What a node holds.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Content {
    /// Text as written; only an unquoted scalar can mean something else than text.
    Scalar {
        /// The text.
        text: String,
        /// Whether it stands without quotes.
        plain: bool,
    },
    /// A list.
    List(Vec<Node>),
    /// A map, in the order of the file.
    Map(Vec<Entry>),
}

/// A key, its line, and the value.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Entry {
    /// The key.
    pub key: String,
    /// Line of the key, counted from 1.
    pub line: u64,
    /// The value.
    pub value: Node,
}

/// Why a text is no YAML.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("line {line}: {message}")]
pub struct Fault {
    /// Line, counted from 1.
    pub line: u64,
    /// What is wrong.
    pub message: String,
}

/// All documents of a text.
pub fn documents(text: &str) -> Result<Vec<Node>, Fault> {
    let text = yaml::closed(text);
    let mut bytes = text.as_bytes();
    let mut parser = Parser::new();
    parser.set_input_string(&mut bytes);
    let mut builder = Builder { parser, anchors: HashMap::new(), nodes: 0 };
    let mut found = Vec::new();
    loop {
        match builder.next()?.data {
            EventData::StreamEnd => return Ok(found),
            EventData::DocumentStart { .. } => {
                builder.anchors.clear();
                let start = builder.next()?;
                found.push(builder.node(start, 0)?);
            }
            _ => {}
        }
    }
}

/// The line of a field, given as a JSON pointer into `root`; the last key wins where one is repeated.
pub fn locate(root: &Node, pointer: &str) -> Option<u64> {
    let mut line = root.line;
    let mut node = root;
    for step in pointer.split('/').skip(1) {
        let name = step.replace("~1", "/").replace("~0", "~");
        (line, node) = match &node.content {
            Content::Map(_) => node.entry(&name).map(|entry| (entry.line, &entry.value))?,
            Content::List(items) => items.get(name.parse::<usize>().ok()?).map(|item| (item.line, item))?,
            Content::Scalar { .. } => return None,
        };
    }
    Some(line)
}

impl Node {
    /// The entry of a map; the last one where a key is repeated.
    pub fn entry(&self, key: &str) -> Option<&Entry> {
        match &self.content {
            Content::Map(entries) => entries.iter().rev().find(|entry| entry.key == key),
            _ => None,
        }
    }

    /// A value below a map.
    pub fn get(&self, key: &str) -> Option<&Node> {
        self.entry(key).map(|entry| &entry.value)
    }

    /// Text of a scalar.
    pub fn text(&self) -> Option<&str> {
        match &self.content {
            Content::Scalar { text, .. } => Some(text),
            _ => None,
        }
    }

    /// Entries of a map; none for anything else.
    pub fn entries(&self) -> &[Entry] {
        match &self.content {
            Content::Map(entries) => entries,
            _ => &[],
        }
    }

    /// Items of a list; none for anything else.
    pub fn items(&self) -> &[Node] {
        match &self.content {
            Content::List(items) => items,
            _ => &[],
        }
    }

    /// Whether the node means `null`.
    pub fn is_null(&self) -> bool {
        matches!(&self.content, Content::Scalar { text, plain: true } if is_null(text))
    }

    /// The plain JSON value.
    pub fn to_value(&self) -> Value {
        match &self.content {
            Content::Scalar { text, plain: true } => plain_value(text),
            Content::Scalar { text, .. } => Value::String(text.clone()),
            Content::List(items) => items.iter().map(Node::to_value).collect(),
            Content::Map(entries) => {
                let map: Map<String, Value> =
                    entries.iter().map(|entry| (entry.key.clone(), entry.value.to_value())).collect();
                Value::Object(map)
            }
        }
    }
}

/// Makes nodes from events.
struct Builder<'a> {
    parser: Parser<&'a mut &'a [u8]>,
    anchors: HashMap<String, Node>,
    nodes: usize,
}

impl Builder<'_> {
    fn next(&mut self) -> Result<Event, Fault> {
        yaml::next_event(&mut self.parser).map_err(|problem| {
            let line = problem.mark.map_or(1, |mark| mark.line + 1);
            Fault { line, message: problem.bare }
        })
    }

    fn node(&mut self, event: Event, depth: usize) -> Result<Node, Fault> {
        let mark = event.start_mark;
        if depth > MAX_DEPTH {
            return fault(mark, "nested too deeply");
        }
        self.count(1, mark)?;
        let line = mark.line + 1;
        let (anchor, content) = match event.data {
            EventData::Scalar { anchor, tag, value, style, .. } => {
                let plain = style == ScalarStyle::Plain && tag.is_none();
                (anchor, Content::Scalar { text: value, plain })
            }
            EventData::SequenceStart { anchor, .. } => (anchor, Content::List(self.list(depth)?)),
            EventData::MappingStart { anchor, .. } => (anchor, Content::Map(self.map(depth)?)),
            EventData::Alias { anchor } => return self.alias(&anchor, mark),
            _ => return fault(mark, "a value is missing"),
        };
        let node = Node { line, content };
        if let Some(name) = anchor {
            self.anchors.insert(name, node.clone());
        }
        Ok(node)
    }

    fn list(&mut self, depth: usize) -> Result<Vec<Node>, Fault> {
        let mut items = Vec::new();
        loop {
            let event = self.next()?;
            if event.data == EventData::SequenceEnd {
                return Ok(items);
            }
            items.push(self.node(event, depth + 1)?);
        }
    }

    fn map(&mut self, depth: usize) -> Result<Vec<Entry>, Fault> {
        let mut entries = Vec::new();
        let mut merged = Vec::new();
        loop {
            let event = self.next()?;
            if event.data == EventData::MappingEnd {
                break;
            }
            let mark = event.start_mark;
            let key = self.node(event, depth + 1)?;
            let value = self.next()?;
            let value = self.node(value, depth + 1)?;
            match key.content {
                Content::Scalar { text, plain: true } if text == "<<" => self.merge(value, mark, &mut merged)?,
                Content::Scalar { text, .. } => entries.push(Entry { key: text, line: key.line, value }),
                _ => return fault(mark, "a key must be text"),
            }
        }
        // Merged entries come first, since a key that stands in the map itself wins, and the last one is taken.
        merged.extend(entries);
        Ok(merged)
    }

    /// Takes the entries of a map, or of a list of maps of which earlier ones win.
    fn merge(&mut self, value: Node, mark: Mark, into: &mut Vec<Entry>) -> Result<(), Fault> {
        match value.content {
            Content::Map(entries) => into.extend(entries),
            Content::List(items) => {
                for item in items.into_iter().rev() {
                    self.merge(item, mark, into)?;
                }
            }
            Content::Scalar { .. } => return fault(mark, "map merge requires map or sequence of maps as the value"),
        }
        Ok(())
    }

    fn alias(&mut self, name: &str, mark: Mark) -> Result<Node, Fault> {
        let Some(node) = self.anchors.get(name) else { return fault(mark, "unknown anchor") };
        let node = node.clone();
        self.count(size(&node), mark)?;
        Ok(node)
    }

    fn count(&mut self, more: usize, mark: Mark) -> Result<(), Fault> {
        self.nodes = self.nodes.saturating_add(more);
        if self.nodes > MAX_NODES { fault(mark, "too many values") } else { Ok(()) }
    }
}

fn fault<T>(mark: Mark, message: &str) -> Result<T, Fault> {
    Err(Fault { line: mark.line + 1, message: message.to_owned() })
}

fn size(node: &Node) -> usize {
    1 + node.items().iter().map(size).sum::<usize>()
        + node.entries().iter().map(|entry| size(&entry.value)).sum::<usize>()
}

fn is_null(text: &str) -> bool {
    matches!(text, "" | "~" | "null" | "Null" | "NULL")
}

/// An unquoted scalar's meaning; text unless it is clearly something else.
fn plain_value(text: &str) -> Value {
    match text {
        _ if is_null(text) => Value::Null,
        "true" | "True" | "TRUE" | "yes" | "Yes" | "YES" | "on" | "On" | "ON" => Value::Bool(true),
        "false" | "False" | "FALSE" | "no" | "No" | "NO" | "off" | "Off" | "OFF" => Value::Bool(false),
        _ => number(text).map_or_else(|| Value::String(text.to_owned()), Value::Number),
    }
}

fn number(text: &str) -> Option<Number> {
    if !text.starts_with(|first: char| first.is_ascii_digit() || "+-.".contains(first)) {
        return None;
    }
    if let Ok(whole) = text.strip_prefix('+').unwrap_or(text).parse::<i64>() {
        return Some(whole.into());
    }
    text.parse::<f64>().ok().and_then(Number::from_f64)
}
