//! Text to tokens, as Go's `text/template/parse/lex.go` cuts it.

use crate::gocompat::strconv::quote;

/// What a token is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Kind {
    Error,
    Bool,
    Char,
    CharConstant,
    Complex,
    Assign,
    Declare,
    Eof,
    Field,
    Identifier,
    LeftDelim,
    LeftParen,
    Number,
    Pipe,
    RawString,
    RightDelim,
    RightParen,
    Space,
    String,
    Text,
    Variable,
    Dot,
    Nil,
    Keyword,
}

/// A token with its place.
#[derive(Debug, Clone)]
pub(super) struct Token {
    pub kind: Kind,
    pub pos: usize,
    pub line: usize,
    pub text: String,
}

impl Token {
    /// The token as error texts name it.
    pub(super) fn describe(&self) -> String {
        match self.kind {
            Kind::Eof => "EOF".to_owned(),
            Kind::Error => self.text.clone(),
            Kind::Keyword | Kind::Nil | Kind::Dot => format!("<{}>", self.text),
            _ if self.text.len() > 10 => format!("{}...", quote(&self.text.chars().take(10).collect::<String>())),
            _ => quote(&self.text),
        }
    }

    pub(super) fn is_keyword(&self, word: &str) -> bool {
        self.kind == Kind::Keyword && self.text == word
    }
}

const SPACES: [char; 4] = [' ', '\t', '\r', '\n'];

fn is_space(letter: char) -> bool {
    SPACES.contains(&letter)
}

fn is_word(letter: char) -> bool {
    letter == '_' || letter.is_alphabetic() || letter.is_numeric()
}

struct Lexer<'a> {
    input: &'a str,
    pos: usize,
    start: usize,
    line: usize,
    start_line: usize,
    parens: usize,
    tokens: Vec<Token>,
}

/// What stops the lexer: the error's text.
type Step = Result<(), String>;

/// Cuts a whole template; the last token is the end or the error.
pub(super) fn tokens(input: &str) -> Vec<Token> {
    let mut lexer = Lexer { input, pos: 0, start: 0, line: 1, start_line: 1, parens: 0, tokens: Vec::new() };
    match lexer.run() {
        Ok(()) => lexer.emit(Kind::Eof),
        Err(problem) => {
            let (pos, line) = (lexer.start, lexer.start_line);
            lexer.tokens.push(Token { kind: Kind::Error, pos, line, text: problem });
        }
    }
    lexer.tokens
}

impl<'a> Lexer<'a> {
    fn rest(&self) -> &'a str {
        self.input.get(self.pos..).unwrap_or_default()
    }

    fn peek(&self) -> Option<char> {
        self.rest().chars().next()
    }

    fn next(&mut self) -> Option<char> {
        let letter = self.peek()?;
        self.pos += letter.len_utf8();
        self.line += usize::from(letter == '\n');
        Some(letter)
    }

    fn text(&self) -> &'a str {
        self.input.get(self.start..self.pos).unwrap_or_default()
    }

    fn emit(&mut self, kind: Kind) {
        let text = self.text().to_owned();
        self.tokens.push(Token { kind, pos: self.start, line: self.start_line, text });
        self.ignore_keeping_line();
    }

    fn ignore_keeping_line(&mut self) {
        self.start = self.pos;
        self.start_line = self.line;
    }

    fn ignore(&mut self) {
        self.line += self.text().matches('\n').count();
        self.ignore_keeping_line();
    }

    fn run(&mut self) -> Step {
        while let Some(found) = self.rest().find("{{") {
            let before = self.rest().get(..found).unwrap_or_default();
            let trims = has_left_trim(self.rest().get(found + 2..).unwrap_or_default());
            let kept = if trims { before.trim_end_matches(SPACES).len() } else { found };
            let end = self.pos + found;
            self.pos += kept;
            self.line += self.text().matches('\n').count();
            if kept > 0 {
                self.emit(Kind::Text);
            }
            self.pos = end;
            self.ignore();
            self.left_delim(trims)?;
        }
        self.pos = self.input.len();
        if self.pos > self.start {
            self.line += self.text().matches('\n').count();
            self.emit(Kind::Text);
        }
        Ok(())
    }

    fn left_delim(&mut self, trims: bool) -> Step {
        self.pos += 2;
        let marker = if trims { 2 } else { 0 };
        if self.rest().get(marker..).is_some_and(|rest| rest.starts_with("/*")) {
            self.pos += marker;
            self.ignore();
            return self.comment();
        }
        self.emit(Kind::LeftDelim);
        self.pos += marker;
        self.ignore();
        self.parens = 0;
        while self.inside()? {}
        Ok(())
    }

    fn comment(&mut self) -> Step {
        self.pos += 2;
        let end = self.rest().find("*/").ok_or("unclosed comment")?;
        self.pos += end + 2;
        let trims = self.right_delim_here().ok_or("comment ends before closing delimiter")?;
        self.after_right_delim(trims);
        self.ignore();
        Ok(())
    }

    /// Whether a closing delimiter is here, and whether it trims.
    fn right_delim_here(&self) -> Option<bool> {
        let rest = self.rest();
        if rest.starts_with("}}") {
            return Some(false);
        }
        let after = rest.strip_prefix(is_space)?.strip_prefix('-')?;
        after.starts_with("}}").then_some(true)
    }

    fn after_right_delim(&mut self, trims: bool) {
        self.pos += if trims { 4 } else { 2 };
        if trims {
            self.pos += self.rest().len() - self.rest().trim_start_matches(SPACES).len();
        }
    }

    fn right_delim(&mut self, trims: bool) {
        if trims {
            self.pos += 2;
            self.ignore();
        }
        self.pos += 2;
        self.emit(Kind::RightDelim);
        if trims {
            self.pos += self.rest().len() - self.rest().trim_start_matches(SPACES).len();
            self.ignore();
        }
    }

    /// One token inside an action; false at its end.
    fn inside(&mut self) -> Result<bool, String> {
        if let Some(trims) = self.right_delim_here() {
            if self.parens > 0 {
                return Err("unclosed left paren".to_owned());
            }
            self.right_delim(trims);
            return Ok(false);
        }
        let Some(letter) = self.next() else { return Err("unclosed action".to_owned()) };
        match letter {
            _ if is_space(letter) => self.space(),
            '=' => self.emit(Kind::Assign),
            ':' => {
                if self.next() != Some('=') {
                    return Err("expected :=".to_owned());
                }
                self.emit(Kind::Declare);
            }
            '|' => self.emit(Kind::Pipe),
            '"' => self.quoted('"', Kind::String, "unterminated quoted string")?,
            '`' => {
                while self.next().ok_or("unterminated raw quoted string")? != '`' {}
                self.emit(Kind::RawString);
            }
            '$' => self.field_or_variable(Kind::Variable)?,
            '\'' => self.quoted('\'', Kind::CharConstant, "unterminated character constant")?,
            '.' if self.peek().is_some_and(|next| !next.is_ascii_digit()) => self.field_or_variable(Kind::Field)?,
            '.' | '+' | '-' | '0'..='9' => {
                self.pos -= 1;
                self.number()?;
            }
            _ if is_word(letter) => self.identifier()?,
            '(' => {
                self.parens += 1;
                self.emit(Kind::LeftParen);
            }
            ')' => {
                self.parens = self.parens.checked_sub(1).ok_or("unexpected right paren")?;
                self.emit(Kind::RightParen);
            }
            _ if letter.is_ascii() && !letter.is_ascii_control() => self.emit(Kind::Char),
            _ => return Err(format!("unrecognized character in action: {}", code_point(Some(letter)))),
        }
        Ok(true)
    }

    fn space(&mut self) {
        while self.peek().is_some_and(is_space) {
            if self.right_delim_here().is_some() {
                // The last blank belongs to the delimiter that trims.
                break;
            }
            self.next();
        }
        self.emit(Kind::Space);
    }

    fn quoted(&mut self, end: char, kind: Kind, problem: &str) -> Step {
        loop {
            match self.next() {
                Some('\\') if self.next().is_some_and(|next| next != '\n') => {}
                Some('\\' | '\n') | None => return Err(problem.to_owned()),
                Some(letter) if letter == end => break,
                Some(_) => {}
            }
        }
        self.emit(kind);
        Ok(())
    }

    fn at_terminator(&self) -> bool {
        let stops = |letter| is_space(letter) || ['.', ',', '|', ':', ')', '('].contains(&letter);
        self.peek().is_none_or(stops) || self.rest().starts_with("}}")
    }

    fn words(&mut self) -> Step {
        while self.peek().is_some_and(is_word) {
            self.next();
        }
        if self.at_terminator() {
            return Ok(());
        }
        Err(format!("bad character {}", code_point(self.peek())))
    }

    fn field_or_variable(&mut self, kind: Kind) -> Step {
        if self.at_terminator() {
            self.emit(if kind == Kind::Variable { kind } else { Kind::Dot });
            return Ok(());
        }
        self.words()?;
        self.emit(kind);
        Ok(())
    }

    fn identifier(&mut self) -> Step {
        self.words()?;
        let kind = match self.text() {
            "block" | "break" | "continue" | "define" | "else" | "end" | "if" | "range" | "template" | "with" => {
                Kind::Keyword
            }
            "nil" => Kind::Nil,
            "true" | "false" => Kind::Bool,
            _ => Kind::Identifier,
        };
        self.emit(kind);
        Ok(())
    }

    fn number(&mut self) -> Step {
        let bad = |lexer: &Self| format!("bad number syntax: {}", quote(lexer.text()));
        if !self.scan_number() {
            return Err(bad(self));
        }
        if matches!(self.peek(), Some('+' | '-')) {
            if !self.scan_number() || !self.text().ends_with('i') {
                return Err(bad(self));
            }
            self.emit(Kind::Complex);
            return Ok(());
        }
        self.emit(Kind::Number);
        Ok(())
    }

    fn accept(&mut self, letters: &str) -> bool {
        let found = self.peek().is_some_and(|letter| letters.contains(letter));
        self.pos += usize::from(found);
        found
    }

    fn scan_number(&mut self) -> bool {
        self.accept("+-");
        let mut digits = "0123456789_";
        if self.accept("0") {
            if self.accept("xX") {
                digits = "0123456789abcdefABCDEF_";
            } else if self.accept("oO") {
                digits = "01234567_";
            } else if self.accept("bB") {
                digits = "01_";
            }
        }
        while self.accept(digits) {}
        if self.accept(".") {
            while self.accept(digits) {}
        }
        let exponent = if digits.len() == 11 { "eE" } else { "pP" };
        if (digits.len() == 11 || digits.len() == 23) && self.accept(exponent) {
            self.accept("+-");
            while self.accept("0123456789_") {}
        }
        self.accept("i");
        if self.peek().is_some_and(is_word) {
            self.next();
            return false;
        }
        true
    }
}

fn has_left_trim(rest: &str) -> bool {
    rest.strip_prefix('-').is_some_and(|after| after.starts_with(is_space))
}

/// Go's `%#U`.
fn code_point(letter: Option<char>) -> String {
    match letter {
        None => "U+FFFFFFFFFFFFFFFF".to_owned(),
        Some(letter) if letter.is_control() => format!("U+{:04X}", u32::from(letter)),
        Some(letter) => format!("U+{:04X} '{letter}'", u32::from(letter)),
    }
}
