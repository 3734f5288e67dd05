//! Puts a check of the limits wherever an expression can run for long.
//!
//! In:  the text of a program.
//! Out: the same program with a tick at the start of each definition and after each pipe.
//! Invariant: the program's values and paths stay the same; only its time and depth become bounded.
//! Source: DIFF-081.

use jaq_core::load::lex::{Lexer, StrPart, Tok, Token};

use super::engine::TICK;
use super::{CompileError, lex_error};

/// Brackets within brackets that the recursive parser may be given.
const MAX_NESTING: usize = 100;

/// Weaves ticks into a program.
pub fn weave(text: &str) -> Result<String, CompileError> {
    if nesting(text) > MAX_NESTING {
        return Err(CompileError::TooDeep);
    }
    let tokens =
        Lexer::new(text).lex().map_err(|errors| errors.first().map_or(CompileError::UnexpectedEnd, lex_error))?;
    let mut places = Vec::new();
    collect(text, &tokens, &mut places);
    places.sort_unstable();
    let mut woven = String::with_capacity(text.len() + places.len() * (TICK.len() + 4));
    let mut done = 0;
    for place in places {
        woven.push_str(text.get(done..place).unwrap_or_default());
        woven.push(' ');
        woven.push_str(TICK);
        woven.push_str(" | ");
        done = place;
    }
    woven.push_str(text.get(done..).unwrap_or_default());
    Ok(woven)
}

/// Upper bound of how deeply brackets are nested; brackets inside strings only make it larger.
fn nesting(text: &str) -> usize {
    let (mut depth, mut deepest) = (0_usize, 0);
    for character in text.chars() {
        match character {
            '(' | '[' | '{' => depth += 1,
            ')' | ']' | '}' => depth = depth.saturating_sub(1),
            _ => {}
        }
        deepest = deepest.max(depth);
    }
    deepest
}

/// Collects the places right after pipes and after the colons of definitions.
fn collect(text: &str, tokens: &[Token<&str>], places: &mut Vec<usize>) {
    let mut in_head = false;
    for Token(token, kind) in tokens {
        match kind {
            Tok::Word if *token == "def" => in_head = true,
            Tok::Sym if *token == "|" || (in_head && *token == ":") => {
                in_head = false;
                places.push(end_of(text, token));
            }
            Tok::Block(inner) if !in_head => collect(text, inner, places),
            Tok::Str(parts) => {
                for part in parts {
                    if let StrPart::Term(Token(_, Tok::Block(inner))) = part {
                        collect(text, inner, places);
                    }
                }
            }
            _ => {}
        }
    }
}

/// Where a token, which is a part of the text, ends in it.
fn end_of(text: &str, token: &str) -> usize {
    jaq_core::load::span(text, token).end
}
