//! Folds parser events of the first document into a tree whose aliases still point at their anchors.
//!
//! In:  text.
//! Out: nodes in one arena; or the problem as go-yaml words it, without `yaml: `.
//! Invariant: nesting is bounded, so that walking the tree by recursion is safe.
//! Source: `go.yaml.in/yaml/v2/decode.go` `parser`.

use std::collections::HashMap;

use libyaml_safer::{ErrorKind, Event, EventData, Mark, Parser, ScalarStyle};

use super::ending::Ending;

/// go-yaml stops at 10,000 levels, which would overflow our stack; no manifest comes near this limit.
const MAX_DEPTH: usize = 1_000;

/// Index of a node in its [`Tree`].
pub(super) type NodeId = usize;

/// One node and the line it starts on, counted from 0.
pub(super) struct Node {
    pub(super) line: u64,
    pub(super) data: Data,
}

/// What a node is.
pub(super) enum Data {
    Scalar(Scalar),
    Sequence(Vec<NodeId>),
    Mapping(Vec<(NodeId, NodeId)>),
    Alias { name: String, target: NodeId },
}

/// A scalar before its type is resolved.
pub(super) struct Scalar {
    pub(super) value: String,
    /// Full tag such as `tag:yaml.org,2002:int`; empty when none was written.
    pub(super) tag: String,
    /// Whether the text is plain, so that its look decides its type.
    pub(super) plain: bool,
}

/// The nodes of one document; `root` is absent for an empty text.
#[derive(Default)]
pub(super) struct Tree {
    nodes: Vec<Node>,
    pub(super) root: Option<NodeId>,
}

impl Tree {
    /// The node behind an id of this tree.
    pub(super) fn node(&self, id: NodeId) -> Option<&Node> {
        self.nodes.get(id)
    }

    fn add(&mut self, line: u64, data: Data) -> NodeId {
        self.nodes.push(Node { line, data });
        self.nodes.len() - 1
    }
}

/// What is said of a text that the parser panics at: a tag right before a comma, which go-yaml mostly refuses so.
pub(super) const UNREADABLE: &str = "did not find expected ',' or ']'";

/// The parser's next event; `None` as the error where the parser panics, which it does for a few texts that nobody
/// writes on purpose. A parser that panicked must not be asked again.
pub(super) fn step<R: std::io::BufRead>(parser: &mut Parser<R>) -> Result<Event, Option<libyaml_safer::Error>> {
    let caught = std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| parser.parse()));
    caught.map_err(|_| None)?.map_err(Some)
}

/// Reads the first document; what follows it is not looked at.
pub(super) fn read(text: &str) -> Result<Tree, String> {
    let (text, ending) = Ending::closed(text);
    let mut bytes = text.as_bytes();
    let mut parser = Parser::new();
    parser.set_input_string(&mut bytes);
    // Text is searched for refused escapes only where such an escape occurs at all; marks count bytes.
    let source = text.contains("\\/").then_some(text.as_ref());
    let mut builder = Builder { source, ending, ..Builder::default() };
    loop {
        let event =
            step(&mut parser).map_err(|error| error.map_or_else(|| UNREADABLE.to_owned(), |e| problem_text(&e)))?;
        if builder.take(event)? {
            return Ok(builder.tree);
        }
    }
}

/// A collection whose end has not come yet.
enum Open {
    Sequence { id: NodeId, items: Vec<NodeId> },
    Mapping { id: NodeId, pairs: Vec<(NodeId, NodeId)>, key: Option<NodeId> },
}

#[derive(Default)]
struct Builder<'a> {
    tree: Tree,
    anchors: HashMap<String, NodeId>,
    open: Vec<Open>,
    source: Option<&'a str>,
    ending: Option<Ending>,
}

impl Builder<'_> {
    /// Takes one event; true when the document is complete.
    fn take(&mut self, event: Event) -> Result<bool, String> {
        let line = event.start_mark.line;
        match event.data {
            EventData::StreamStart { .. } => {}
            EventData::StreamEnd | EventData::DocumentEnd { .. } => return Ok(true),
            EventData::DocumentStart { version_directive, .. } => {
                if version_directive.is_some_and(|version| (version.major, version.minor) != (1, 1)) {
                    return Err(at_line(line, "found incompatible YAML document"));
                }
            }
            EventData::Alias { anchor } => {
                let Some(target) = self.anchors.get(&anchor).copied() else {
                    return Err(format!("unknown anchor '{anchor}' referenced"));
                };
                let id = self.tree.add(line, Data::Alias { name: anchor, target });
                self.place(id);
            }
            EventData::Scalar { anchor, tag, mut value, plain_implicit, style, .. } => {
                if style == ScalarStyle::DoubleQuoted {
                    self.refuse_slash_escape(event.start_mark, event.end_mark)?;
                }
                if let Some(ending) = &self.ending
                    && matches!(style, ScalarStyle::Literal | ScalarStyle::Folded)
                {
                    ending.take_back(&mut value, event.end_mark);
                }
                let scalar = Scalar { value, tag: tag.unwrap_or_default(), plain: plain_implicit };
                let id = self.tree.add(line, Data::Scalar(scalar));
                self.remember(anchor, id);
                self.place(id);
            }
            EventData::SequenceStart { anchor, .. } => {
                let id = self.open_collection(line, anchor)?;
                self.open.push(Open::Sequence { id, items: Vec::new() });
            }
            EventData::MappingStart { anchor, .. } => {
                let id = self.open_collection(line, anchor)?;
                self.open.push(Open::Mapping { id, pairs: Vec::new(), key: None });
            }
            EventData::SequenceEnd | EventData::MappingEnd => self.close(),
        }
        Ok(false)
    }

    fn open_collection(&mut self, line: u64, anchor: Option<String>) -> Result<NodeId, String> {
        if self.open.len() >= MAX_DEPTH {
            return Err(format!("exceeded max depth of {MAX_DEPTH}"));
        }
        // The anchor is known before the content is, so that a node which contains itself is seen as such.
        let id = self.tree.add(line, Data::Sequence(Vec::new()));
        self.remember(anchor, id);
        Ok(id)
    }

    fn close(&mut self) {
        let (id, data) = match self.open.pop() {
            Some(Open::Sequence { id, items }) => (id, Data::Sequence(items)),
            Some(Open::Mapping { id, pairs, .. }) => (id, Data::Mapping(pairs)),
            None => return,
        };
        if let Some(node) = self.tree.nodes.get_mut(id) {
            node.data = data;
        }
        self.place(id);
    }

    /// Puts a complete node where it belongs: into the innermost open collection, or at the root.
    fn place(&mut self, id: NodeId) {
        match self.open.last_mut() {
            None => self.tree.root = Some(id),
            Some(Open::Sequence { items, .. }) => items.push(id),
            Some(Open::Mapping { pairs, key, .. }) => match key.take() {
                None => *key = Some(id),
                Some(key) => pairs.push((key, id)),
            },
        }
    }

    fn remember(&mut self, anchor: Option<String>, id: NodeId) {
        if let Some(anchor) = anchor {
            self.anchors.insert(anchor, id);
        }
    }

    /// go-yaml knows no `\/` although JSON does; our parser does, so it is looked for in the source.
    fn refuse_slash_escape(&self, start: Mark, end: Mark) -> Result<(), String> {
        let Some(source) = self.source else { return Ok(()) };
        let at = |mark: Mark| usize::try_from(mark.index).unwrap_or(usize::MAX);
        let scalar = source.get(at(start)..at(end)).unwrap_or_default();
        let mut line = start.line;
        let mut escaped = false;
        for letter in scalar.chars() {
            match letter {
                '/' if escaped => return Err(at_line(scanner_line(line), "found unknown escape character")),
                '\n' => line += 1,
                _ => {}
            }
            escaped = letter == '\\' && !escaped;
        }
        Ok(())
    }
}

pub(super) fn problem_text(error: &libyaml_safer::Error) -> String {
    let line = error.problem_mark().map_or(0, |mark| mark.line);
    let line = if error.kind() == ErrorKind::Scanner { scanner_line(line) } else { line };
    at_line(line, error.problem())
}

/// go-yaml counts lines from 0 in the parser and from 1 in the scanner, and names no line where it counts 0. Users
/// compare these texts, so the habit is kept.
fn scanner_line(line: u64) -> u64 {
    if line == 0 { 0 } else { line + 1 }
}

fn at_line(line: u64, problem: &str) -> String {
    if line == 0 { problem.to_owned() } else { format!("line {line}: {problem}") }
}
