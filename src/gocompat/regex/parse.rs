//! Reads a pattern into a tree.
//!
//! In:  the pattern's text.
//! Out: a tree; or what is wrong with the pattern.
//! Invariant: nesting is bounded, so that the tree can be walked by recursion.

/// How deep groups may nest.
const MAX_DEPTH: usize = 100;

/// A part of a pattern.
#[derive(Debug, Clone, PartialEq)]
pub(super) enum Ast {
    Empty,
    Set(Set),
    Concat(Vec<Ast>),
    Alternate(Vec<Ast>),
    Repeat { inner: Box<Ast>, min: u32, max: Option<u32>, greedy: bool },
    Group { inner: Box<Ast>, index: usize },
    Assert(Assert),
    Look { inner: Box<Ast>, behind: bool, negated: bool },
    BackReference(usize),
}

/// A place in the text.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Assert {
    Start,
    LineStart,
    End,
    EndOrFinalNewline,
    LineEnd,
    WordBoundary,
    NoWordBoundary,
}

/// A set of letters.
#[derive(Debug, Clone, PartialEq, Default)]
pub(super) struct Set {
    items: Vec<Item>,
    negated: bool,
    ignore_case: bool,
}

#[derive(Debug, Clone, PartialEq)]
enum Item {
    Range(char, char),
    Class(char),
}

impl Set {
    fn single(letter: char, flags: Flags) -> Self {
        Self { items: vec![Item::Range(letter, letter)], negated: false, ignore_case: flags.ignore_case }
    }

    fn class(name: char) -> Self {
        Self { items: vec![Item::Class(name)], negated: false, ignore_case: false }
    }

    /// Whether the letter is in the set.
    pub(super) fn has(&self, letter: char) -> bool {
        let holds = |letter: char| {
            self.items.iter().any(|item| match item {
                Item::Range(low, high) => (*low..=*high).contains(&letter),
                Item::Class(name) => in_class(*name, letter),
            })
        };
        let found =
            holds(letter) || self.ignore_case && (letter.to_lowercase().any(holds) || letter.to_uppercase().any(holds));
        found != self.negated
    }
}

/// Whether the letter belongs to a word.
pub(super) fn is_word(letter: char) -> bool {
    letter.is_alphanumeric() || letter == '_'
}

fn in_class(name: char, letter: char) -> bool {
    match name {
        'd' => letter.is_numeric(),
        'D' => !letter.is_numeric(),
        'w' => is_word(letter),
        'W' => !is_word(letter),
        's' => letter.is_whitespace(),
        'S' => !letter.is_whitespace(),
        // Any letter but the line end, and any letter at all.
        '.' => letter != '\n',
        _ => true,
    }
}

#[derive(Debug, Clone, Copy, Default)]
struct Flags {
    ignore_case: bool,
    multiline: bool,
    dot_all: bool,
    explicit_capture: bool,
}

/// Reads a whole pattern.
pub(super) fn parse(pattern: &str) -> Result<Ast, String> {
    let mut reader = Reader { letters: pattern.chars().collect(), at: 0, groups: 0, depth: 0 };
    let tree = reader.alternatives(&mut Flags::default())?;
    match reader.peek() {
        None => Ok(tree),
        Some(_) => Err("too many )'s".to_owned()),
    }
}

struct Reader {
    letters: Vec<char>,
    at: usize,
    groups: usize,
    depth: usize,
}

impl Reader {
    fn peek(&self) -> Option<char> {
        self.letters.get(self.at).copied()
    }

    fn next(&mut self) -> Option<char> {
        let letter = self.peek();
        self.at += usize::from(letter.is_some());
        letter
    }

    fn eat(&mut self, text: &str) -> bool {
        let found = text.chars().enumerate().all(|(at, letter)| self.letters.get(self.at + at) == Some(&letter));
        if found {
            self.at += text.chars().count();
        }
        found
    }

    /// Flags set inside a group hold to its end, across alternatives.
    fn alternatives(&mut self, flags: &mut Flags) -> Result<Ast, String> {
        let mut all = vec![self.sequence(flags)?];
        while self.eat("|") {
            all.push(self.sequence(flags)?);
        }
        Ok(match all.len() {
            1 => all.pop().unwrap_or(Ast::Empty),
            _ => Ast::Alternate(all),
        })
    }

    fn sequence(&mut self, flags: &mut Flags) -> Result<Ast, String> {
        let mut parts = Vec::new();
        while let Some(letter) = self.peek().filter(|letter| !matches!(letter, '|' | ')')) {
            self.at += 1;
            let part = match letter {
                '(' => self.group(flags)?,
                '[' => Ast::Set(self.class(*flags)?),
                '.' => Ast::Set(Set::class(if flags.dot_all { 'A' } else { '.' })),
                '^' => Ast::Assert(if flags.multiline { Assert::LineStart } else { Assert::Start }),
                '$' => Ast::Assert(if flags.multiline { Assert::LineEnd } else { Assert::EndOrFinalNewline }),
                '\\' => self.escape(*flags)?,
                '*' | '+' | '?' => return Err("missing argument to repetition operator".to_owned()),
                _ => Ast::Set(Set::single(letter, *flags)),
            };
            parts.push(self.repeated(part)?);
        }
        Ok(Ast::Concat(parts))
    }

    fn repeated(&mut self, inner: Ast) -> Result<Ast, String> {
        let start = self.at;
        let Some((min, max)) = self.quantifier() else { return Ok(inner) };
        if max.is_some_and(|max| max < min) {
            return Err("illegal {x,y} with x > y".to_owned());
        }
        debug_assert!(self.at > start, "a quantifier has letters");
        let greedy = !self.eat("?");
        let before = self.at;
        if self.quantifier().is_some() {
            self.at = before;
            return Err("nested quantifier".to_owned());
        }
        Ok(Ast::Repeat { inner: Box::new(inner), min, max, greedy })
    }

    /// A quantifier, if one stands here; braces that hold none are letters.
    fn quantifier(&mut self) -> Option<(u32, Option<u32>)> {
        match self.peek()? {
            '*' => self.at += 1,
            '+' => {
                self.at += 1;
                return Some((1, None));
            }
            '?' => {
                self.at += 1;
                return Some((0, Some(1)));
            }
            '{' => return self.counted(),
            _ => return None,
        }
        Some((0, None))
    }

    fn counted(&mut self) -> Option<(u32, Option<u32>)> {
        let start = self.at;
        self.at += 1;
        let min = self.number();
        let bounds = match min {
            Some(min) if self.eat("}") => Some((min, Some(min))),
            Some(min) if self.eat(",") => {
                let max = self.number();
                self.eat("}").then_some((min, max))
            }
            _ => None,
        };
        if bounds.is_none() {
            self.at = start;
        }
        bounds
    }

    fn number(&mut self) -> Option<u32> {
        let digits: String = self.letters.iter().skip(self.at).take_while(|letter| letter.is_ascii_digit()).collect();
        self.at += digits.len();
        digits.parse().ok()
    }

    fn group(&mut self, flags: &mut Flags) -> Result<Ast, String> {
        self.depth += 1;
        if self.depth > MAX_DEPTH {
            return Err("groups nest too deep".to_owned());
        }
        let look = [("?=", false, false), ("?!", false, true), ("?<=", true, false), ("?<!", true, true)]
            .into_iter()
            .find(|(text, _, _)| self.eat(text));
        let group = if let Some((_, behind, negated)) = look {
            let inner = Box::new(self.alternatives(&mut flags.clone())?);
            Ast::Look { inner, behind, negated }
        } else if self.eat("?:") {
            self.alternatives(&mut flags.clone())?
        } else if self.eat("?<") || self.eat("?'") {
            return Err("named groups are not supported".to_owned());
        } else if self.eat("?") {
            match self.inline_flags(*flags)? {
                (changed, true) => {
                    *flags = changed;
                    self.depth -= 1;
                    return Ok(Ast::Empty);
                }
                (mut changed, false) => self.alternatives(&mut changed)?,
            }
        } else if flags.explicit_capture {
            self.alternatives(&mut flags.clone())?
        } else {
            self.groups += 1;
            let index = self.groups;
            Ast::Group { inner: Box::new(self.alternatives(&mut flags.clone())?), index }
        };
        self.depth -= 1;
        if self.eat(")") { Ok(group) } else { Err("missing closing )".to_owned()) }
    }

    /// Flags behind `(?`; true when they end with `)` and so hold for the rest of the enclosing group.
    fn inline_flags(&mut self, mut flags: Flags) -> Result<(Flags, bool), String> {
        let mut on = true;
        loop {
            match self.next() {
                Some('-') => on = false,
                Some('+') => on = true,
                Some('i') => flags.ignore_case = on,
                Some('m') => flags.multiline = on,
                Some('s') => flags.dot_all = on,
                Some('n') => flags.explicit_capture = on,
                Some(')') => return Ok((flags, true)),
                Some(':') => return Ok((flags, false)),
                _ => return Err("unrecognized grouping construct".to_owned()),
            }
        }
    }

    fn escape(&mut self, flags: Flags) -> Result<Ast, String> {
        let letter = self.next().ok_or("illegal \\ at end of pattern")?;
        Ok(match letter {
            'd' | 'D' | 'w' | 'W' | 's' | 'S' => Ast::Set(Set::class(letter)),
            'A' => Ast::Assert(Assert::Start),
            'Z' => Ast::Assert(Assert::EndOrFinalNewline),
            'z' => Ast::Assert(Assert::End),
            'b' => Ast::Assert(Assert::WordBoundary),
            'B' => Ast::Assert(Assert::NoWordBoundary),
            '1'..='9' => {
                self.at -= 1;
                let index = self.number().and_then(|index| usize::try_from(index).ok()).unwrap_or(usize::MAX);
                // A reference may stand inside its own group, but not before it.
                if index > self.groups {
                    return Err("reference to undefined group number".to_owned());
                }
                Ast::BackReference(index)
            }
            _ => Ast::Set(Set::single(self.literal_escape(letter)?, flags)),
        })
    }

    fn literal_escape(&mut self, letter: char) -> Result<char, String> {
        Ok(match letter {
            't' => '\t',
            'n' => '\n',
            'r' => '\r',
            'f' => '\u{c}',
            'v' => '\u{b}',
            'a' => '\u{7}',
            'e' => '\u{1b}',
            'x' => self.hex(2)?,
            'u' => self.hex(4)?,
            _ if is_word(letter) => return Err(format!("unrecognized escape sequence \\{letter}")),
            _ => letter,
        })
    }

    fn hex(&mut self, digits: usize) -> Result<char, String> {
        let text: String = self.letters.iter().skip(self.at).take(digits).collect();
        self.at += text.chars().count();
        u32::from_str_radix(&text, 16)
            .ok()
            .filter(|_| text.chars().count() == digits)
            .and_then(char::from_u32)
            .ok_or_else(|| "insufficient hexadecimal digits".to_owned())
    }

    /// What follows `[`.
    fn class(&mut self, flags: Flags) -> Result<Set, String> {
        let mut set = Set { negated: self.eat("^"), ignore_case: flags.ignore_case, ..Set::default() };
        let mut first = true;
        loop {
            let letter = self.next().ok_or("unterminated [] set")?;
            if letter == ']' && !first {
                return Ok(set);
            }
            first = false;
            let Some(low) = self.class_letter(letter, &mut set)? else { continue };
            let is_range = self.peek() == Some('-') && self.letters.get(self.at + 1).is_some_and(|next| *next != ']');
            if !is_range {
                set.items.push(Item::Range(low, low));
                continue;
            }
            self.at += 1;
            let letter = self.next().ok_or("unterminated [] set")?;
            match self.class_letter(letter, &mut set)? {
                Some(high) if high >= low => set.items.push(Item::Range(low, high)),
                Some(_) => return Err("[x-y] range in reverse order".to_owned()),
                None => return Err("cannot include class in character range".to_owned()),
            }
        }
    }

    /// A letter of a class; classes such as `\d` go straight into the set.
    fn class_letter(&mut self, letter: char, set: &mut Set) -> Result<Option<char>, String> {
        if letter != '\\' {
            return if letter == '[' && self.peek() == Some(':') {
                Err("named classes are not supported".to_owned())
            } else {
                Ok(Some(letter))
            };
        }
        match self.next().ok_or("illegal \\ at end of pattern")? {
            name @ ('d' | 'D' | 'w' | 'W' | 's' | 'S') => {
                set.items.push(Item::Class(name));
                Ok(None)
            }
            'b' => Ok(Some('\u{8}')),
            letter => self.literal_escape(letter).map(Some),
        }
    }
}
