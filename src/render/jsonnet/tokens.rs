//! Jsonnet's tokens as go-jsonnet cuts them, for the places and words of its syntax errors.
//!
//! In:  source text.
//! Out: tokens with their places in bytes, the last one the end of the file; or the first problem.
//! Source: `go-jsonnet` `internal/parser/lexer.go`, `string_util.go`.

/// A problem: start, end, text.
pub type Problem = (usize, usize, String);

/// What a token is.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum Kind {
    /// Brackets, comma, dot, semicolon, dollar.
    Symbol,
    /// A word that is no name.
    Keyword,
    Identifier,
    Number,
    Operator,
    /// Text in quotes whose escapes count.
    Quoted,
    /// `@'…'`.
    Verbatim,
    /// `|||`.
    Block,
    #[default]
    End,
}

/// A token.
#[derive(Debug, Clone, Default)]
pub struct Token {
    /// What it is.
    pub kind: Kind,
    /// Its text; for a string what stands between the quotes.
    pub text: String,
    /// First byte.
    pub start: usize,
    /// Behind the last byte.
    pub end: usize,
    /// Name of the kind in messages, where the text is shown with it.
    label: &'static str,
}

impl Token {
    /// Whether it is this symbol or keyword.
    pub fn is(&self, text: &str) -> bool {
        matches!(self.kind, Kind::Symbol | Kind::Keyword) && self.text == text
    }

    /// Whether it is this operator.
    pub fn is_operator(&self, text: &str) -> bool {
        self.kind == Kind::Operator && self.text == text
    }

    /// Whether it is a string of any form.
    pub fn is_string(&self) -> bool {
        matches!(self.kind, Kind::Quoted | Kind::Verbatim | Kind::Block)
    }

    /// As messages name it.
    pub fn shown(&self) -> String {
        match self.kind {
            Kind::End => "end of file".to_owned(),
            Kind::Symbol | Kind::Keyword => format!("\"{}\"", self.text),
            _ if self.text.is_empty() => self.label.to_owned(),
            _ => format!("({}, \"{}\")", self.label, self.text),
        }
    }
}

/// Words that are no names.
pub const KEYWORDS: [&str; 18] = [
    "assert",
    "else",
    "error",
    "false",
    "for",
    "function",
    "if",
    "import",
    "importstr",
    "importbin",
    "in",
    "local",
    "null",
    "self",
    "super",
    "tailstrict",
    "then",
    "true",
];

/// Cuts a source into tokens.
pub fn cut(source: &str) -> Result<Vec<Token>, Problem> {
    let mut lexer = Lexer { source, at: 0, tokens: Vec::new() };
    while lexer.step()? {}
    Ok(lexer.tokens)
}

struct Lexer<'a> {
    source: &'a str,
    at: usize,
    tokens: Vec<Token>,
}

impl Lexer<'_> {
    fn rest(&self) -> &str {
        self.source.get(self.at..).unwrap_or_default()
    }

    fn peek(&self) -> Option<char> {
        self.rest().chars().next()
    }

    fn skip_while(&mut self, fits: impl Fn(char) -> bool) {
        let rest = self.rest();
        self.at += rest.find(|c: char| !fits(c)).unwrap_or(rest.len());
    }

    fn add(&mut self, kind: Kind, label: &'static str, start: usize) {
        let text = self.source.get(start..self.at).unwrap_or_default().to_owned();
        self.tokens.push(Token { kind, text, start, end: self.at, label });
    }

    /// Cuts the next token; false at the end.
    fn step(&mut self) -> Result<bool, Problem> {
        self.skip_while(|c| matches!(c, ' ' | '\t' | '\r' | '\n'));
        let start = self.at;
        let Some(c) = self.peek() else {
            self.add(Kind::End, "", start);
            return Ok(false);
        };
        match c {
            '{' | '}' | '[' | ']' | ',' | '.' | '(' | ')' | ';' => {
                self.at += 1;
                self.add(Kind::Symbol, "", start);
            }
            '0'..='9' => self.number(start)?,
            '"' => self.quoted(start, '"', "STRING_DOUBLE")?,
            '\'' => self.quoted(start, '\'', "STRING_SINGLE")?,
            '@' => self.verbatim(start)?,
            'a'..='z' | 'A'..='Z' | '_' => {
                self.skip_while(|c| c.is_ascii_alphanumeric() || c == '_');
                let word = self.source.get(start..self.at).unwrap_or_default();
                let kind = if KEYWORDS.contains(&word) { Kind::Keyword } else { Kind::Identifier };
                self.add(kind, "IDENTIFIER", start);
            }
            '#' => self.skip_while(|c| c != '\n'),
            c if is_operator_letter(c) => self.operator(start)?,
            c => return Err((start, start, format!("Could not lex the character {}", quoted_rune(Some(c))))),
        }
        Ok(true)
    }

    fn number(&mut self, start: usize) -> Result<(), Problem> {
        let mut digits = String::new();
        let mut take = |lexer: &mut Self| {
            digits.extend(lexer.peek());
            lexer.at += 1;
        };
        let starts_with_zero = self.peek() == Some('0');
        take(self);
        if starts_with_zero && self.peek() == Some('_') {
            let text = "Couldn't lex number, _ not allowed after leading 0";
            return Err((self.at, self.at, text.to_owned()));
        }
        if !starts_with_zero {
            self.digits(&mut take)?;
        }
        if self.peek() == Some('.') {
            take(self);
            self.wants_digit("decimal point")?;
            self.digits(&mut take)?;
        }
        if matches!(self.peek(), Some('e' | 'E')) {
            take(self);
            if matches!(self.peek(), Some('+' | '-')) {
                take(self);
                self.wants_digit("exponent sign")?;
            } else {
                self.wants_digit("'E'")?;
            }
            self.digits(&mut take)?;
        }
        self.tokens.push(Token { kind: Kind::Number, text: digits, start, end: self.at, label: "NUMBER" });
        Ok(())
    }

    /// Digits, and underscores between them.
    fn digits(&mut self, take: &mut impl FnMut(&mut Self)) -> Result<(), Problem> {
        loop {
            match self.peek() {
                Some('0'..='9') => take(self),
                Some('_') => {
                    self.at += 1;
                    self.wants_digit("'_'")?;
                }
                _ => return Ok(()),
            }
        }
    }

    fn wants_digit(&self, after: &str) -> Result<(), Problem> {
        match self.peek() {
            Some('0'..='9') => Ok(()),
            junk => {
                let text = format!("Couldn't lex number, junk after {after}: {}", quoted_rune(junk));
                Err((self.at, self.at, text))
            }
        }
    }

    fn quoted(&mut self, start: usize, quote: char, label: &'static str) -> Result<(), Problem> {
        self.at += 1;
        let mut is_escaped = false;
        for (offset, c) in self.source.get(self.at..).unwrap_or_default().char_indices() {
            match c {
                _ if is_escaped => is_escaped = false,
                '\\' => is_escaped = true,
                c if c == quote => return self.string(Kind::Quoted, label, (start, self.at, self.at + offset)),
                _ => {}
            }
        }
        Err((start, start, "Unterminated String".to_owned()))
    }

    fn verbatim(&mut self, start: usize) -> Result<(), Problem> {
        self.at += 1;
        let Some(quote @ ('"' | '\'')) = self.peek() else {
            let text = format!("Couldn't lex verbatim string, junk after '@': {}", quoted_rune(self.peek()));
            return Err((start, start, text));
        };
        let label = if quote == '"' { "VERBATIM_STRING_DOUBLE" } else { "VERBATIM_STRING_SINGLE" };
        self.at += 1;
        let body = self.at;
        loop {
            let Some(end) = self.rest().find(quote) else {
                return Err((start, start, "Unterminated String".to_owned()));
            };
            self.at += end + 1;
            // Two quotes stand for one.
            if self.peek() != Some(quote) {
                return self.string(Kind::Verbatim, label, (start, body, self.at - 1));
            }
            self.at += 1;
        }
    }

    fn string(&mut self, kind: Kind, label: &'static str, place: (usize, usize, usize)) -> Result<(), Problem> {
        let (start, from, to) = place;
        let text = self.source.get(from..to).unwrap_or_default().to_owned();
        self.at = to + 1;
        self.tokens.push(Token { kind, text, start, end: self.at, label });
        Ok(())
    }

    fn operator(&mut self, start: usize) -> Result<(), Problem> {
        if self.rest().starts_with("//") {
            self.skip_while(|c| c != '\n');
            return Ok(());
        }
        if self.rest().starts_with("/*") {
            let Some(end) = self.rest().get(2..).and_then(|body| body.find("*/")) else {
                return Err((start, start, "Multi-line comment has no terminating */".to_owned()));
            };
            self.at += end + 4;
            return Ok(());
        }
        if self.rest().starts_with("|||") {
            return self.block(start);
        }
        self.at += 1;
        while self.peek().is_some_and(is_operator_letter) {
            if ["//", "/*", "|||"].iter().any(|start| self.rest().starts_with(start)) {
                break;
            }
            self.at += 1;
        }
        // An operator ends with these only where it is no longer than one letter.
        while self.at > start + 1
            && self.source.get(..self.at).is_some_and(|text| text.ends_with(['+', '-', '~', '!', '$']))
        {
            self.at -= 1;
        }
        let is_dollar = self.source.get(start..self.at) == Some("$");
        self.add(if is_dollar { Kind::Symbol } else { Kind::Operator }, "OPERATOR", start);
        Ok(())
    }

    fn block(&mut self, start: usize) -> Result<(), Problem> {
        let fail = |text: &str| Err((start, start, text.to_owned()));
        self.at += 3;
        if self.peek() == Some('-') {
            self.at += 1;
        }
        self.skip_while(|c| matches!(c, ' ' | '\t' | '\r'));
        if self.peek() != Some('\n') {
            return fail("Text block requires new line after |||.");
        }
        self.skip_while(|c| c == '\n');
        let blanks = self.rest().len() - self.rest().trim_start_matches([' ', '\t']).len();
        if blanks == 0 {
            return fail("Text block's first line must start with whitespace");
        }
        let indent = self.rest().get(..blanks).unwrap_or_default().to_owned();
        let mut text = String::new();
        while self.rest().starts_with(&indent) {
            let line = self.rest().get(blanks..).unwrap_or_default();
            let Some(end) = line.find('\n') else { return fail("Unexpected EOF") };
            text.push_str(line.get(..=end).unwrap_or_default());
            self.at += blanks + end + 1;
            self.skip_while(|c| c == '\n');
        }
        self.skip_while(|c| matches!(c, ' ' | '\t'));
        if !self.rest().starts_with("|||") {
            return fail("Text block not terminated with |||");
        }
        self.at += 3;
        self.tokens.push(Token { kind: Kind::Block, text, start, end: self.at, label: "STRING_BLOCK" });
        Ok(())
    }
}

fn is_operator_letter(c: char) -> bool {
    "!$:~+-&|^=<>*/%".contains(c)
}

/// A letter as Go quotes it in ASCII; the end of the file is no letter.
fn quoted_rune(c: Option<char>) -> String {
    match c {
        None => "'\\ufffd'".to_owned(),
        Some('\'') => "'\\''".to_owned(),
        Some('\\') => "'\\\\'".to_owned(),
        Some(c) if (' '..='~').contains(&c) => format!("'{c}'"),
        Some(c @ ('\n' | '\r' | '\t')) => format!("'{}'", c.escape_default()),
        Some(c) if u32::from(c) < 0x80 => format!("'\\x{:02x}'", u32::from(c)),
        Some(c) if u32::from(c) < 0x1_0000 => format!("'\\u{:04x}'", u32::from(c)),
        Some(c) => format!("'\\U{:08x}'", u32::from(c)),
    }
}

/// What is wrong with the escapes of a string.
pub fn bad_escape(text: &str) -> Option<String> {
    let mut rest = text;
    while let Some((_, after)) = rest.split_once('\\') {
        let Some(letter) = after.chars().next() else {
            return Some("Truncated escape sequence in string literal.".to_owned());
        };
        rest = after.get(letter.len_utf8()..).unwrap_or_default();
        match letter {
            '"' | '\'' | '\\' | '/' | 'b' | 'f' | 'n' | 'r' | 't' => {}
            'u' => match bad_unicode(rest, text) {
                Ok(after) => rest = after,
                Err(problem) => return Some(problem),
            },
            other => return Some(format!("Unknown escape sequence in string literal: \\{other}")),
        }
    }
    None
}

/// Reads four hexadecimal digits, and four more for the second half of a pair.
fn bad_unicode<'a>(rest: &'a str, text: &str) -> Result<&'a str, String> {
    let hex = |text: &str| text.get(..4).and_then(|digits| u16::from_str_radix(digits, 16).ok());
    // go-jsonnet shows the start of the whole string here, not of the escape.
    let start: String = text.chars().take(4).collect();
    if rest.len() < 4 {
        return Err("Truncated unicode escape sequence in string literal.".to_owned());
    }
    let code = hex(rest).ok_or_else(|| format!("Unicode escape sequence was malformed: {start}"))?;
    let after = rest.get(4..).unwrap_or_default();
    if !(0xD800..0xE000).contains(&code) {
        return Ok(after);
    }
    if after.len() < 6 {
        return Err("Truncated unicode surrogate pair escape sequence in string literal.".to_owned());
    }
    let low = after
        .strip_prefix("\\u")
        .ok_or_else(|| "Unicode surrogate pair escape sequence missing low surrogate in string literal.".to_owned())?;
    hex(low).ok_or_else(|| format!("Unicode low surrogate escape sequence was malformed: {start}"))?;
    Ok(low.get(4..).unwrap_or_default())
}
