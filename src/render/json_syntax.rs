//! Where a JSON value ends, or what is wrong with it in the words of Go's scanner.
//!
//! In:  text that starts with a value.
//! Out: the value's length in bytes, or offset and text of the first problem.
//! Source: REND-102, REND-106 (Go's `encoding/json` scanner).

/// A syntax problem.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Problem {
    /// Bytes read when the problem was noticed.
    pub offset: usize,
    /// Go's text.
    pub text: String,
}

/// What the scanner waits for.
#[derive(Clone, Copy)]
enum State {
    Value,
    ValueOrEnd,
    Key,
    KeyOrEnd,
    Colon,
    AfterValue,
}

struct Scanner<'a> {
    text: &'a str,
    at: usize,
    /// Closing characters of the open objects and arrays.
    open: Vec<char>,
}

/// Length of the value that the text starts with.
pub fn value_end(text: &str) -> Result<usize, Problem> {
    let mut scanner = Scanner { text, at: 0, open: Vec::new() };
    let mut state = State::Value;
    loop {
        if let (State::AfterValue, true) = (state, scanner.open.is_empty()) {
            return Ok(scanner.at);
        }
        state = scanner.step(state)?;
    }
}

impl Scanner<'_> {
    fn step(&mut self, state: State) -> Result<State, Problem> {
        let c = self.next_visible()?;
        match (state, c) {
            (State::ValueOrEnd, ']') | (State::KeyOrEnd, '}') => self.close(),
            (State::Value | State::ValueOrEnd, _) => self.value(c),
            (State::Key | State::KeyOrEnd, '"') => self.string().map(|()| State::Colon),
            (State::Key | State::KeyOrEnd, _) => self.fail(c, "looking for beginning of object key string"),
            (State::Colon, ':') => Ok(State::Value),
            (State::Colon, _) => self.fail(c, "after object key"),
            (State::AfterValue, ',') => Ok(if self.open.last() == Some(&'}') { State::Key } else { State::Value }),
            (State::AfterValue, c) if self.open.last() == Some(&c) => self.close(),
            (State::AfterValue, _) if self.open.last() == Some(&'}') => self.fail(c, "after object key:value pair"),
            (State::AfterValue, _) => self.fail(c, "after array element"),
        }
    }

    fn value(&mut self, c: char) -> Result<State, Problem> {
        match c {
            '{' => {
                self.open.push('}');
                return Ok(State::KeyOrEnd);
            }
            '[' => {
                self.open.push(']');
                return Ok(State::ValueOrEnd);
            }
            '"' => self.string()?,
            't' => self.literal("true")?,
            'f' => self.literal("false")?,
            'n' => self.literal("null")?,
            '-' | '0'..='9' => self.number(c)?,
            _ => return self.fail(c, "looking for beginning of value"),
        }
        Ok(State::AfterValue)
    }

    fn close(&mut self) -> Result<State, Problem> {
        self.open.pop();
        Ok(State::AfterValue)
    }

    fn string(&mut self) -> Result<(), Problem> {
        loop {
            match self.next()? {
                '"' => return Ok(()),
                '\\' => match self.next()? {
                    'b' | 'f' | 'n' | 'r' | 't' | '\\' | '/' | '"' => {}
                    'u' => {
                        for _ in 0..4 {
                            let c = self.next()?;
                            if !c.is_ascii_hexdigit() {
                                return self.fail(c, "in \\u hexadecimal character escape");
                            }
                        }
                    }
                    c => return self.fail(c, "in string escape code"),
                },
                c if c < ' ' => return self.fail(c, "in string literal"),
                _ => {}
            }
        }
    }

    fn literal(&mut self, word: &str) -> Result<(), Problem> {
        for expected in word.chars().skip(1) {
            let c = self.next()?;
            if c != expected {
                return self.fail(c, &format!("in literal {word} (expecting '{expected}')"));
            }
        }
        Ok(())
    }

    fn number(&mut self, first: char) -> Result<(), Problem> {
        let mut c = first;
        if c == '-' {
            c = self.next()?;
            if !c.is_ascii_digit() {
                return self.fail(c, "in numeric literal");
            }
        }
        if c != '0' {
            self.digits();
        }
        if self.peek() == Some('.') {
            self.at += 1;
            self.some_digits("after decimal point in numeric literal")?;
        }
        if matches!(self.peek(), Some('e' | 'E')) {
            self.at += 1;
            if matches!(self.peek(), Some('+' | '-')) {
                self.at += 1;
            }
            self.some_digits("in exponent of numeric literal")?;
        }
        Ok(())
    }

    fn some_digits(&mut self, place: &str) -> Result<(), Problem> {
        let c = self.next()?;
        if !c.is_ascii_digit() {
            return self.fail(c, place);
        }
        self.digits();
        Ok(())
    }

    fn digits(&mut self) {
        while self.peek().is_some_and(|c| c.is_ascii_digit()) {
            self.at += 1;
        }
    }

    fn peek(&self) -> Option<char> {
        self.text.get(self.at..).and_then(|rest| rest.chars().next())
    }

    fn next(&mut self) -> Result<char, Problem> {
        let c = self.peek().ok_or_else(|| Problem { offset: self.at, text: "unexpected EOF".to_owned() })?;
        self.at += c.len_utf8();
        Ok(c)
    }

    fn next_visible(&mut self) -> Result<char, Problem> {
        loop {
            let c = self.next()?;
            if !matches!(c, ' ' | '\t' | '\r' | '\n') {
                return Ok(c);
            }
        }
    }

    fn fail<T>(&self, c: char, place: &str) -> Result<T, Problem> {
        let shown = match c {
            '\'' => "'\\''".to_owned(),
            '"' => "'\"'".to_owned(),
            c if c < ' ' || c == '\\' => format!("'{}'", c.escape_default()),
            c => format!("'{c}'"),
        };
        Err(Problem { offset: self.at, text: format!("invalid character {shown} {place}") })
    }
}
