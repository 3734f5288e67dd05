//! Finds the first syntax error of a source as go-jsonnet words it.
//!
//! In:  a source that the evaluator refused.
//! Out: place and text; nothing where go-jsonnet's grammar accepts the source.
//! Invariant: only used for words: what runs is decided by the evaluator.
//! Source: `go-jsonnet` `internal/parser/parser.go`; recorded in `corpus/golib/jsonnet.json`.

mod object;

use super::tokens::{self, Kind, Problem, Token};

/// Start, end and text of the first problem.
pub fn first_problem(source: &str) -> Option<Problem> {
    let tokens = match tokens::cut(source) {
        Ok(tokens) => tokens,
        Err(problem) => return Some(problem),
    };
    let mut parser = Parser { tokens, at: 0 };
    let whole = parser.expression(LOWEST).and_then(|_| {
        let end = parser.peek();
        if end.kind == Kind::End { Ok(()) } else { Err(at(&end, format!("Did not expect: {}", end.shown()))) }
    });
    whole.err()
}

/// How loosely the loosest operator binds.
const LOWEST: u8 = 16;
/// How tightly a unary operator binds.
const UNARY: u8 = 4;
/// How tightly calls, indexes and field accesses bind.
const APPLY: u8 = 2;

/// How loosely each binary operator binds.
const BINARY: [(&str, u8); 19] = [
    ("*", 5),
    ("/", 5),
    ("%", 5),
    ("+", 6),
    ("-", 6),
    ("<<", 7),
    (">>", 7),
    ("<", 8),
    (">", 8),
    ("<=", 8),
    (">=", 8),
    ("in", 8),
    ("==", 9),
    ("!=", 9),
    ("&", 10),
    ("^", 11),
    ("|", 12),
    ("&&", 13),
    ("||", 14),
];

/// What an expression is, as far as imports ask.
struct Node {
    start: usize,
    end: usize,
    string: Option<Kind>,
}

struct Parser {
    tokens: Vec<Token>,
    at: usize,
}

fn at(token: &Token, text: String) -> Problem {
    (token.start, token.end, text)
}

impl Parser {
    fn token(&self, index: usize) -> Token {
        // The last token is the end of the file, which is met again and again.
        self.tokens.get(index).or(self.tokens.last()).cloned().unwrap_or_default()
    }

    fn peek(&self) -> Token {
        self.token(self.at)
    }

    fn pop(&mut self) -> Token {
        let token = self.peek();
        self.at += 1;
        token
    }

    fn takes(&mut self, symbol: &str) -> bool {
        let found = self.peek().is(symbol);
        self.at += usize::from(found);
        found
    }

    fn expect(&mut self, symbol: &str) -> Result<Token, Problem> {
        let token = self.pop();
        if token.is(symbol) {
            return Ok(token);
        }
        let wanted = if symbol.starts_with(char::is_alphabetic) { symbol.to_owned() } else { format!("\"{symbol}\"") };
        Err(at(&token, format!("Expected token {wanted} but got {}", token.shown())))
    }

    fn identifier(&mut self) -> Result<Token, Problem> {
        let token = self.pop();
        if token.kind == Kind::Identifier {
            return Ok(token);
        }
        Err(at(&token, format!("Expected token IDENTIFIER but got {}", token.shown())))
    }

    fn expression(&mut self, level: u8) -> Result<Node, Problem> {
        let begin = self.peek();
        if begin.kind == Kind::Keyword
            && let Some(special) = self.special(&begin)
        {
            return special;
        }
        if begin.kind == Kind::Operator {
            if !["!", "~", "+", "-"].contains(&begin.text.as_str()) {
                return Err(at(&begin, format!("Not a unary operator: {}", begin.text)));
            }
            if level == UNARY {
                self.pop();
                let inner = self.expression(level)?;
                return Ok(Node { start: begin.start, end: inner.end, string: None });
            }
        }
        if level == 0 {
            return self.terminal();
        }
        let mut left = self.expression(level - 1)?;
        while self.continues(level)? {
            left = self.operation(level, &begin)?;
        }
        Ok(left)
    }

    /// Whether the next token goes on with an expression of this level.
    fn continues(&self, level: u8) -> Result<bool, Problem> {
        let next = self.peek();
        if next.is("in") {
            return Ok(level == 8);
        }
        if next.kind == Kind::Operator {
            if next.text == ":" || next.text == "::" {
                return Ok(false);
            }
            let known = BINARY.iter().find(|(operator, _)| *operator == next.text);
            let (_, binds) = known.ok_or_else(|| at(&next, format!("Not a binary operator: {}", next.text)))?;
            return Ok(*binds == level);
        }
        let applies = [".", "[", "(", "{"].iter().any(|symbol| next.is(symbol));
        Ok(applies && level == APPLY)
    }

    /// An operator and what stands at its right.
    fn operation(&mut self, level: u8, begin: &Token) -> Result<Node, Problem> {
        let operator = self.pop();
        let node = |end: usize| Node { start: begin.start, end, string: None };
        if operator.is("[") {
            return self.index().map(node);
        }
        if operator.is(".") {
            return self.identifier().map(|name| node(name.end));
        }
        if operator.is("(") {
            let end = self.arguments()?;
            self.takes("tailstrict");
            return Ok(node(end));
        }
        if operator.is("{") {
            return self.object().map(node);
        }
        if operator.is("in") && self.peek().is("super") {
            return Ok(node(self.pop().end));
        }
        self.expression(level - 1).map(|right| node(right.end))
    }

    /// Index or slice behind its bracket.
    fn index(&mut self) -> Result<usize, Problem> {
        let (mut colons, mut is_ready) = (0, true);
        let mut end = self.peek();
        while colons < 3 {
            let next = self.peek();
            if next.is("]") {
                end = self.pop();
                break;
            }
            if next.is_operator(":") || next.is_operator("::") {
                colons += next.text.len();
                is_ready = true;
                end = self.pop();
            } else if is_ready {
                self.expression(LOWEST)?;
                is_ready = false;
            } else {
                return Err(at(&next, format!("Expected token \"]\" but got {}", next.shown())));
            }
        }
        if colons > 2 {
            return Err(at(&end, "Invalid slice: too many colons".to_owned()));
        }
        if colons == 0 && is_ready {
            return Err(at(&end, "ast.Index requires an expression".to_owned()));
        }
        Ok(end.end)
    }

    /// Expressions that start with a keyword.
    fn special(&mut self, begin: &Token) -> Option<Result<Node, Problem>> {
        let parse = match begin.text.as_str() {
            "assert" => Self::assertion,
            "error" => |parser: &mut Self| parser.expression(LOWEST).map(|inner| inner.end),
            "if" => Self::condition,
            "function" => Self::function,
            "import" | "importstr" | "importbin" => Self::import,
            "local" => Self::local,
            _ => return None,
        };
        self.pop();
        Some(parse(self).map(|end| Node { start: begin.start, end, string: None }))
    }

    fn assertion(&mut self) -> Result<usize, Problem> {
        self.expression(LOWEST)?;
        if self.peek().is_operator(":") {
            self.pop();
            self.expression(LOWEST)?;
        }
        self.expect(";")?;
        self.expression(LOWEST).map(|rest| rest.end)
    }

    fn condition(&mut self) -> Result<usize, Problem> {
        self.expression(LOWEST)?;
        self.expect("then")?;
        let then = self.expression(LOWEST)?;
        if self.takes("else") { self.expression(LOWEST).map(|otherwise| otherwise.end) } else { Ok(then.end) }
    }

    fn function(&mut self) -> Result<usize, Problem> {
        let open = self.pop();
        if !open.is("(") {
            return Err(at(&open, format!("Expected ( but got {}", open.shown())));
        }
        self.parameters("function parameter")?;
        self.expression(LOWEST).map(|body| body.end)
    }

    fn import(&mut self) -> Result<usize, Problem> {
        let file = self.expression(LOWEST)?;
        let fail = |text: &str| Err((file.start, file.end, text.to_owned()));
        match file.string {
            None => fail("Computed imports are not allowed"),
            Some(Kind::Block) => fail("Block string literals not allowed in imports"),
            Some(_) => Ok(file.end),
        }
    }

    fn local(&mut self) -> Result<usize, Problem> {
        let mut names = Vec::new();
        loop {
            let name = self.identifier()?;
            if names.contains(&name.text) {
                return Err(at(&name, format!("Duplicate local var: {}", name.text)));
            }
            names.push(name.text);
            self.definition()?;
            let next = self.pop();
            if next.is(";") {
                return self.expression(LOWEST).map(|body| body.end);
            }
            if !next.is(",") {
                return Err(at(&next, format!("Expected , or ; but got {}", next.shown())));
            }
        }
    }

    /// What follows the name of a local variable: parameters, `=` and the value.
    fn definition(&mut self) -> Result<(), Problem> {
        if self.takes("(") {
            self.parameters("function parameter")?;
        }
        let equals = self.pop();
        if !equals.is_operator("=") {
            return Err(at(&equals, format!("Expected operator = but got {}", equals.shown())));
        }
        self.expression(LOWEST).map(|_| ())
    }

    fn parameters(&mut self, what: &str) -> Result<usize, Problem> {
        self.list(what, |parser| {
            let name = parser.identifier();
            name.map_err(|(start, end, text)| (start, end, format!("{text} while parsing parameter")))?;
            if parser.peek().is_operator("=") {
                parser.pop();
                parser.expression(LOWEST)?;
            }
            Ok(())
        })
    }

    fn arguments(&mut self) -> Result<usize, Problem> {
        let mut named = false;
        self.list("function argument", |parser| {
            let first = parser.peek();
            let is_named = first.kind == Kind::Identifier && parser.token(parser.at + 1).is_operator("=");
            parser.at += if is_named { 2 } else { 0 };
            parser.expression(LOWEST)?;
            if named && !is_named {
                // The comma counts before the refusal does.
                let text = "Positional argument after a named argument is not allowed";
                return Err(at(&first, text.to_owned()));
            }
            named |= is_named;
            Ok(())
        })
    }

    /// Members between parentheses of which the first one was taken.
    fn list(&mut self, what: &str, mut member: impl FnMut(&mut Self) -> Result<(), Problem>) -> Result<usize, Problem> {
        let mut may_follow = true;
        loop {
            let next = self.peek();
            if next.is(")") {
                return Ok(self.pop().end);
            }
            if !may_follow {
                return Err(at(&next, format!("Expected a comma before next {what}, got {}", next.shown())));
            }
            member(self)?;
            may_follow = self.takes(",");
        }
    }

    fn terminal(&mut self) -> Result<Node, Problem> {
        let token = self.pop();
        let node = |end: usize, string: Option<Kind>| Node { start: token.start, end, string };
        match token.kind {
            Kind::End => return Err(at(&token, "Unexpected end of file".to_owned())),
            Kind::Identifier | Kind::Number => return Ok(node(token.end, None)),
            Kind::Quoted | Kind::Verbatim | Kind::Block => {
                check_escapes(&token)?;
                return Ok(node(token.end, Some(token.kind)));
            }
            _ => {}
        }
        match token.text.as_str() {
            "{" => self.object().map(|end| node(end, None)),
            "[" => self.array().map(|end| node(end, None)),
            "(" => {
                self.expression(LOWEST)?;
                self.expect(")").map(|close| node(close.end, None))
            }
            "false" | "true" | "null" | "$" | "self" => Ok(node(token.end, None)),
            "super" => {
                let next = self.pop();
                if next.is(".") {
                    self.identifier()?;
                } else if next.is("[") {
                    self.expression(LOWEST)?;
                    self.expect("]")?;
                } else {
                    return Err(at(&token, "Expected . or [ after super".to_owned()));
                }
                Ok(node(token.end, None))
            }
            _ => Err(at(&token, format!("Unexpected: {} while parsing terminal", token.shown()))),
        }
    }

    fn array(&mut self) -> Result<usize, Problem> {
        if self.peek().is("]") {
            return Ok(self.pop().end);
        }
        self.expression(LOWEST)?;
        let mut may_follow = self.takes(",");
        if self.takes("for") {
            return self.comprehension("]");
        }
        loop {
            let next = self.peek();
            if next.is("]") {
                return Ok(self.pop().end);
            }
            if !may_follow {
                return Err(at(&next, "Expected a comma before next array element".to_owned()));
            }
            self.expression(LOWEST)?;
            may_follow = self.takes(",");
        }
    }

    /// `x in y`, conditions and further loops behind `for`.
    fn comprehension(&mut self, close: &str) -> Result<usize, Problem> {
        loop {
            self.identifier()?;
            self.expect("in")?;
            self.expression(LOWEST)?;
            while self.takes("if") {
                self.expression(LOWEST)?;
            }
            let next = self.pop();
            if next.is(close) {
                return Ok(next.end);
            }
            if !next.is("for") {
                let text = format!("Expected for, if or \"{close}\" after for clause, got: {}", next.shown());
                return Err(at(&next, text));
            }
        }
    }
}

pub(super) fn check_escapes(token: &Token) -> Result<(), Problem> {
    // The place stands twice: once from the string, once from the parser around it.
    let problem = if token.kind == Kind::Quoted { tokens::bad_escape(&token.text) } else { None };
    problem.map_or(Ok(()), |text| Err(at(token, format!("{PLACE} {text}"))))
}

/// Stands for the place in a text that names it a second time.
pub const PLACE: &str = "\u{0}place\u{0}";
