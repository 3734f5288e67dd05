//! Tokens to a template, with Go's error texts (`text/template/parse/parse.go`).

use super::functions;
use super::lex::{Kind as Tok, Token, tokens};
use super::node::{Kind, Node, Set, Word};
use super::number::{Number, unquote};
use crate::gocompat::strconv::quote;

/// The name under which Argo CD parses every template.
pub(super) const NAME: &str = "base";

/// How deep actions and parentheses may nest.
const MAX_DEPTH: usize = 100;

/// One template being parsed; a definition inside another has its own.
#[derive(Default)]
struct Tree {
    name: String,
    variables: Vec<String>,
    ahead: [Option<Token>; 3],
    peeked: usize,
    ranges: usize,
    action_line: usize,
}

impl Tree {
    fn new(name: &str) -> Self {
        Self { name: name.to_owned(), variables: vec!["$".to_owned()], ..Self::default() }
    }
}

struct Parser {
    tokens: std::vec::IntoIter<Token>,
    last: Token,
    tree: Tree,
    set: Set,
    depth: usize,
}

type Parsed<T> = Result<T, String>;

/// Parses a text and all it defines.
pub(super) fn parse(text: &str) -> Parsed<Set> {
    let last = Token { kind: Tok::Eof, pos: text.len(), line: 1, text: String::new() };
    let mut parser =
        Parser { tokens: tokens(text).into_iter(), last, tree: Tree::new(NAME), set: Set::new(), depth: 0 };
    let root = parser.top()?;
    parser.add(root)?;
    Ok(parser.set)
}

fn is_empty(nodes: &[Node]) -> bool {
    nodes.iter().all(|node| matches!(&node.kind, Kind::Text(text) if text.trim().is_empty()))
}

impl Parser {
    fn lexed(&mut self) -> Token {
        if let Some(token) = self.tokens.next() {
            self.last = token;
        }
        self.last.clone()
    }

    fn ahead(&self, at: usize) -> Token {
        self.tree.ahead.get(at).cloned().flatten().unwrap_or_else(|| self.last.clone())
    }

    fn next(&mut self) -> Token {
        if self.tree.peeked > 0 {
            self.tree.peeked -= 1;
        } else {
            self.tree.ahead[0] = Some(self.lexed());
        }
        self.ahead(self.tree.peeked)
    }

    fn backup(&mut self) {
        self.tree.peeked += 1;
    }

    /// The token just read comes last.
    fn backup2(&mut self, first: Token) {
        self.tree.ahead[1] = Some(first);
        self.tree.peeked = 2;
    }

    fn backup3(&mut self, first: Token, second: Token) {
        self.tree.ahead[1] = Some(second);
        self.tree.ahead[2] = Some(first);
        self.tree.peeked = 3;
    }

    fn peek(&mut self) -> Token {
        if self.tree.peeked == 0 {
            self.tree.peeked = 1;
            self.tree.ahead[0] = Some(self.lexed());
        }
        self.ahead(self.tree.peeked - 1)
    }

    fn next_non_space(&mut self) -> Token {
        loop {
            let token = self.next();
            if token.kind != Tok::Space {
                return token;
            }
        }
    }

    fn peek_non_space(&mut self) -> Token {
        let token = self.next_non_space();
        self.backup();
        token
    }

    fn error<T>(&self, problem: impl std::fmt::Display) -> Parsed<T> {
        let line = self.tree.ahead[0].as_ref().map_or(0, |token| token.line);
        Err(format!("template: {NAME}:{line}: {problem}"))
    }

    fn unexpected<T>(&self, token: &Token, context: &str) -> Parsed<T> {
        if token.kind != Tok::Error {
            return self.error(format_args!("unexpected {} in {context}", token.describe()));
        }
        let line = self.tree.action_line;
        if line == 0 || line == token.line {
            return self.error(&token.text);
        }
        let article = if token.text.ends_with(" action") { " started" } else { " in action started" };
        self.error(format_args!("{}{article} at {NAME}:{line}", token.text))
    }

    fn expect(&mut self, kinds: &[Tok], context: &str) -> Parsed<Token> {
        let token = self.next_non_space();
        if kinds.contains(&token.kind) { Ok(token) } else { self.unexpected(&token, context) }
    }

    fn add(&mut self, root: Vec<Node>) -> Parsed<()> {
        let name = self.tree.name.clone();
        if self.set.get(&name).is_none_or(|before| is_empty(before)) {
            self.set.insert(name, root);
        } else if !is_empty(&root) {
            return self.error(format_args!("template: multiple definition of template {}", quote(&name)));
        }
        Ok(())
    }

    fn top(&mut self) -> Parsed<Vec<Node>> {
        let mut root = Vec::new();
        while self.peek().kind != Tok::Eof {
            if self.peek().kind == Tok::LeftDelim {
                let delim = self.next();
                if self.next_non_space().is_keyword("define") {
                    self.definition()?;
                    continue;
                }
                self.backup2(delim);
            }
            let node = self.text_or_action()?;
            if matches!(node.kind, Kind::End | Kind::Else) {
                return self.error(format_args!("unexpected {node}"));
            }
            root.push(node);
        }
        Ok(root)
    }

    /// Parses with a tree of its own.
    fn nested<T>(&mut self, name: &str, parse: impl FnOnce(&mut Self) -> Parsed<T>) -> Parsed<T> {
        let outer = std::mem::replace(&mut self.tree, Tree::new(name));
        let parsed = parse(self)?;
        self.tree = outer;
        Ok(parsed)
    }

    fn definition(&mut self) -> Parsed<()> {
        const CONTEXT: &str = "define clause";
        self.nested("definition", |parser| {
            let name = parser.expect(&[Tok::String, Tok::RawString], CONTEXT)?;
            parser.tree.name = parser.unquoted(&name)?;
            parser.expect(&[Tok::RightDelim], CONTEXT)?;
            parser.body(CONTEXT)
        })
    }

    /// What a definition holds, up to its end.
    fn body(&mut self, context: &str) -> Parsed<()> {
        let (root, end) = self.item_list()?;
        if !matches!(end.kind, Kind::End) {
            return self.error(format_args!("unexpected {end} in {context}"));
        }
        self.add(root)
    }

    fn unquoted(&self, token: &Token) -> Parsed<String> {
        unquote(&token.text).or_else(|problem| self.error(problem))
    }

    fn item_list(&mut self) -> Parsed<(Vec<Node>, Node)> {
        let mut list = Vec::new();
        while self.peek_non_space().kind != Tok::Eof {
            let node = self.text_or_action()?;
            if matches!(node.kind, Kind::End | Kind::Else) {
                return Ok((list, node));
            }
            list.push(node);
        }
        self.error("unexpected EOF")
    }

    fn text_or_action(&mut self) -> Parsed<Node> {
        let token = self.next_non_space();
        match token.kind {
            Tok::Text => Ok(Node { pos: token.pos, kind: Kind::Text(token.text) }),
            Tok::LeftDelim => {
                self.tree.action_line = token.line;
                let node = self.deeper(Self::action)?;
                self.tree.action_line = 0;
                Ok(node)
            }
            _ => self.unexpected(&token, "input"),
        }
    }

    fn deeper<T>(&mut self, parse: impl FnOnce(&mut Self) -> Parsed<T>) -> Parsed<T> {
        if self.depth >= MAX_DEPTH {
            return self.error("max expression depth exceeded");
        }
        self.depth += 1;
        let parsed = parse(self);
        self.depth -= 1;
        parsed
    }

    fn action(&mut self) -> Parsed<Node> {
        let token = self.next_non_space();
        let word = if token.kind == Tok::Keyword { token.text.as_str() } else { "" };
        match word {
            "block" => self.block(),
            "break" => self.leave(&token, Kind::Break, "{{break}}"),
            "continue" => self.leave(&token, Kind::Continue, "{{continue}}"),
            "else" => self.otherwise(),
            "end" => {
                let pos = self.expect(&[Tok::RightDelim], "end")?.pos;
                Ok(Node { pos, kind: Kind::End })
            }
            "if" => self.control(Word::If),
            "range" => self.control(Word::Range),
            "with" => self.control(Word::With),
            "template" => self.template(),
            _ => {
                self.backup();
                let pos = self.peek().pos;
                let pipe = self.pipeline("command", Tok::RightDelim)?;
                Ok(Node { pos, kind: Kind::Action(Box::new(pipe)) })
            }
        }
    }

    fn leave(&mut self, word: &Token, kind: Kind, context: &str) -> Parsed<Node> {
        let token = self.next_non_space();
        if token.kind != Tok::RightDelim {
            return self.unexpected(&token, context);
        }
        if self.tree.ranges == 0 {
            return self.error(format_args!("{context} outside {{{{range}}}}"));
        }
        Ok(Node { pos: word.pos, kind })
    }

    fn otherwise(&mut self) -> Parsed<Node> {
        let peek = self.peek_non_space();
        if peek.is_keyword("if") || peek.is_keyword("with") {
            return Ok(Node { pos: peek.pos, kind: Kind::Else });
        }
        let pos = self.expect(&[Tok::RightDelim], "else")?.pos;
        Ok(Node { pos, kind: Kind::Else })
    }

    fn control(&mut self, word: Word) -> Parsed<Node> {
        let context = match word {
            Word::If => "if",
            Word::With => "with",
            Word::Range => "range",
        };
        let visible = self.tree.variables.len();
        let pipe = self.pipeline(context, Tok::RightDelim)?;
        let ranges = self.tree.ranges;
        self.tree.ranges += usize::from(word == Word::Range);
        let (list, next) = self.item_list()?;
        self.tree.ranges = ranges;
        let mut otherwise = None;
        if matches!(next.kind, Kind::Else) {
            let chained = word != Word::Range && self.peek().is_keyword(context);
            otherwise = Some(if chained {
                self.next();
                vec![self.deeper(|parser| parser.control(word))?]
            } else {
                let (list, next) = self.item_list()?;
                if !matches!(next.kind, Kind::End) {
                    return self.error(format_args!("expected end; found {next}"));
                }
                list
            });
        }
        self.tree.variables.truncate(visible);
        Ok(Node { pos: pipe.pos, kind: Kind::Branch { word, pipe: Box::new(pipe), list, otherwise } })
    }

    fn template_name(&mut self, token: &Token, context: &str) -> Parsed<String> {
        if matches!(token.kind, Tok::String | Tok::RawString) {
            self.unquoted(token)
        } else {
            self.unexpected(token, context)
        }
    }

    fn block(&mut self) -> Parsed<Node> {
        const CONTEXT: &str = "block clause";
        let token = self.next_non_space();
        let name = self.template_name(&token, CONTEXT)?;
        let pipe = self.pipeline(CONTEXT, Tok::RightDelim)?;
        self.nested(&name, |parser| parser.body(CONTEXT))?;
        Ok(Node { pos: token.pos, kind: Kind::Template(name, Some(Box::new(pipe))) })
    }

    fn template(&mut self) -> Parsed<Node> {
        const CONTEXT: &str = "template clause";
        let token = self.next_non_space();
        let name = self.template_name(&token, CONTEXT)?;
        let mut pipe = None;
        if self.next_non_space().kind != Tok::RightDelim {
            self.backup();
            pipe = Some(Box::new(self.pipeline(CONTEXT, Tok::RightDelim)?));
        }
        Ok(Node { pos: token.pos, kind: Kind::Template(name, pipe) })
    }

    fn pipeline(&mut self, context: &str, end: Tok) -> Parsed<Node> {
        let pos = self.peek_non_space().pos;
        let (declared, assigns) = self.declarations(context)?;
        let mut commands: Vec<Node> = Vec::new();
        loop {
            let token = self.next_non_space();
            match token.kind {
                kind if kind == end => break,
                Tok::Bool
                | Tok::CharConstant
                | Tok::Complex
                | Tok::Dot
                | Tok::Field
                | Tok::Identifier
                | Tok::Number
                | Tok::Nil
                | Tok::RawString
                | Tok::String
                | Tok::Variable
                | Tok::LeftParen => {
                    self.backup();
                    commands.push(self.command()?);
                }
                _ => return self.unexpected(&token, context),
            }
        }
        if commands.is_empty() {
            return self.error(format_args!("missing value for {context}"));
        }
        let constant = |command: &Node| {
            let Kind::Command(arguments) = &command.kind else { return false };
            let first = arguments.first().map(|node| &node.kind);
            matches!(first, Some(Kind::Bool(_) | Kind::Dot | Kind::Nil | Kind::Number(_) | Kind::String { .. }))
        };
        if let Some(stage) = commands.iter().skip(1).position(constant) {
            return self.error(format_args!("non executable command in pipeline stage {}", stage + 2));
        }
        Ok(Node { pos, kind: Kind::Pipe { declared, assigns, commands } })
    }

    fn declarations(&mut self, context: &str) -> Parsed<(Vec<Node>, bool)> {
        let mut declared = Vec::new();
        loop {
            let variable = self.peek_non_space();
            if variable.kind != Tok::Variable {
                return Ok((declared, false));
            }
            self.next();
            let after = self.peek();
            let next = self.peek_non_space();
            let is_comma = next.kind == Tok::Char && next.text == ",";
            if matches!(next.kind, Tok::Assign | Tok::Declare) || is_comma {
                self.next_non_space();
                declared.push(variable_node(variable.pos, &variable.text));
                self.tree.variables.push(variable.text);
                if !is_comma {
                    return Ok((declared, next.kind == Tok::Assign));
                }
                if context == "range" && declared.len() < 2 {
                    if !matches!(self.peek_non_space().kind, Tok::Variable | Tok::RightDelim | Tok::RightParen) {
                        return self.error("range can only initialize variables");
                    }
                    continue;
                }
                return self.error(format_args!("too many declarations in {context}"));
            }
            if after.kind == Tok::Space {
                self.backup3(variable, after);
            } else {
                self.backup2(variable);
            }
            return Ok((declared, false));
        }
    }

    fn command(&mut self) -> Parsed<Node> {
        let pos = self.peek_non_space().pos;
        let mut arguments = Vec::new();
        loop {
            self.peek_non_space();
            arguments.extend(self.operand()?);
            let token = self.next();
            match token.kind {
                Tok::Space => continue,
                Tok::RightDelim | Tok::RightParen => self.backup(),
                Tok::Pipe => {}
                _ => return self.unexpected(&token, "operand"),
            }
            break;
        }
        if arguments.is_empty() {
            return self.error("empty command");
        }
        Ok(Node { pos, kind: Kind::Command(arguments) })
    }

    fn operand(&mut self) -> Parsed<Option<Node>> {
        let Some(node) = self.term()? else { return Ok(None) };
        if self.peek().kind != Tok::Field {
            return Ok(Some(node));
        }
        let pos = self.peek().pos;
        let mut names = Vec::new();
        while self.peek().kind == Tok::Field {
            names.push(self.next().text.trim_start_matches('.').to_owned());
        }
        let kind = match node.kind {
            Kind::Field(mut first) => {
                first.append(&mut names);
                Kind::Field(first)
            }
            Kind::Variable(mut first) => {
                first.append(&mut names);
                Kind::Variable(first)
            }
            Kind::Bool(_) | Kind::String { .. } | Kind::Number(_) | Kind::Nil | Kind::Dot => {
                return self.error(format_args!("unexpected . after term {}", quote(&node.to_string())));
            }
            _ => Kind::Chain(Box::new(node), names),
        };
        Ok(Some(Node { pos, kind }))
    }

    fn term(&mut self) -> Parsed<Option<Node>> {
        let token = self.next_non_space();
        let kind = match token.kind {
            Tok::Identifier if functions::exists(&token.text) => Kind::Identifier(token.text),
            Tok::Identifier if functions::is_unsupported(&token.text) => {
                return self.error(format_args!("function {} is not supported", quote(&token.text)));
            }
            Tok::Identifier => return self.error(format_args!("function {} not defined", quote(&token.text))),
            Tok::Dot => Kind::Dot,
            Tok::Nil => Kind::Nil,
            Tok::Variable if self.tree.variables.contains(&token.text) => Kind::Variable(vec![token.text]),
            Tok::Variable => return self.error(format_args!("undefined variable {}", quote(&token.text))),
            Tok::Field => Kind::Field(vec![token.text.trim_start_matches('.').to_owned()]),
            Tok::Bool => Kind::Bool(token.text == "true"),
            Tok::CharConstant => Kind::Number(Number::character(&token.text).or_else(|problem| self.error(problem))?),
            Tok::Complex | Tok::Number => {
                Kind::Number(Number::parse(&token.text).or_else(|problem| self.error(problem))?)
            }
            Tok::LeftParen => {
                return self.deeper(|parser| parser.pipeline("parenthesized pipeline", Tok::RightParen)).map(Some);
            }
            Tok::String | Tok::RawString => Kind::String { text: self.unquoted(&token)?, quoted: token.text },
            _ => {
                self.backup();
                return Ok(None);
            }
        };
        Ok(Some(Node { pos: token.pos, kind }))
    }
}

fn variable_node(pos: usize, name: &str) -> Node {
    Node { pos, kind: Kind::Variable(vec![name.to_owned()]) }
}
