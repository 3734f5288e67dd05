//! Places in sources, as go-jsonnet prints them.
//!
//! In:  an expression that the evaluator names.
//! Out: file, line and columns; what the expression is part of; and for some expressions a larger one, because go-jsonnet blames
//! that one.
//! Source: `go-jsonnet` `ast/location.go`.

use std::collections::HashMap;

use rsjsonnet_lang::program::Program;
use rsjsonnet_lang::span::{SpanContextId, SpanId};

use super::contexts::{self, Outline};
use super::program::Source;

/// Looks places up; a source is read once more for the first of its places.
pub struct Places<'a> {
    sources: &'a HashMap<SpanContextId, Source>,
    outlines: HashMap<SpanContextId, Outline>,
}

impl<'a> Places<'a> {
    /// For these sources.
    pub fn new(sources: &'a HashMap<SpanContextId, Source>) -> Self {
        Self { sources, outlines: HashMap::new() }
    }

    /// Whether an assertion is `assert …; …` and no member of an object.
    pub fn is_statement(&mut self, program: &mut Program<'_>, span: SpanId) -> bool {
        self.outline(program, span).is_some_and(|(outline, range)| outline.blamed.contains_key(&range))
    }

    /// How many positional arguments a call has.
    pub fn arguments(&mut self, program: &mut Program<'_>, span: SpanId) -> usize {
        self.outline(program, span)
            .and_then(|(outline, range)| outline.arguments.get(&range).copied())
            .unwrap_or_default()
    }

    /// The line of a trace. The evaluator's own library and the prelude have none: they are other texts than go-jsonnet's.
    /// With `around`, of the expression that go-jsonnet blames instead.
    pub fn line(&mut self, program: &mut Program<'_>, span: SpanId, around: bool) -> Option<String> {
        let (context, _, _) = program.span_manager().get_span(span);
        let source = self.sources.get(&context)?;
        let (outline, range) = self.outline(program, span)?;
        let blamed = outline.blamed.get(&range).filter(|_| around).copied().unwrap_or(range);
        let name = outline.names.get(&blamed).map(String::as_str).unwrap_or_default();
        Some(format!("\t{}\t{name}\n", place(source, source.in_text(blamed)?)))
    }

    fn outline(&mut self, program: &mut Program<'_>, span: SpanId) -> Option<(&Outline, (usize, usize))> {
        let (context, start, end) = program.span_manager().get_span(span);
        let source = self.sources.get(&context)?;
        let read = || contexts::outline(program, context, &source.code);
        Some((self.outlines.entry(context).or_insert_with(read), (start, end)))
    }
}

/// A place in a text: lines and columns count from 1, columns in bytes.
pub fn place(source: &Source, (start, end): (usize, usize)) -> String {
    let text = source.text().as_bytes();
    let at = |offset: usize| {
        let before = text.get(..offset).unwrap_or(text);
        let line = before.iter().filter(|byte| **byte == b'\n').count() + 1;
        let column = before.iter().rev().take_while(|byte| **byte != b'\n').count() + 1;
        (line, column)
    };
    let ((line, column), (last_line, last_column)) = (at(start), at(end));
    let name = &source.name;
    if line != last_line {
        return format!("{name}:({line}:{column})-({last_line}:{last_column})");
    }
    if column == last_column {
        return format!("{name}:{line}:{column}");
    }
    format!("{name}:{line}:{column}-{last_column}")
}
