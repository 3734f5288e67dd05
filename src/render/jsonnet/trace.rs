//! The stack trace under a failure, as go-jsonnet prints it.
//!
//! In:  the evaluator's trace and the sources it names.
//! Out: a line per frame, innermost first, the middle of a long one left out.
//! Source: `go-jsonnet` `error_formatter.go`, `interpreter.go` `getCurrentStackTrace`.

use rsjsonnet_lang::program::{EvalStackTraceItem, Program};
use rsjsonnet_lang::span::{SpanContextId, SpanId};

use super::places::Places;
use crate::gocompat::strconv::quote;

/// Frames shown of a longer trace.
const SHOWN: usize = 20;

/// What spans are looked up in.
pub struct Trace<'a> {
    /// The program around the user's, which no trace shows.
    pub wrapper: (SpanContextId, &'a str),
    /// The expression that failed, where the evaluator names one.
    pub own: Option<SpanId>,
    /// Whether the expression around that one is shown instead.
    pub blames: bool,
}

impl Trace<'_> {
    /// The lines of the trace.
    pub fn lines(&self, program: &mut Program<'_>, places: &mut Places<'_>, stack: &[EvalStackTraceItem]) -> String {
        let mut frames: Vec<Frame> = Vec::new();
        let mut base = "During manifestation";
        for item in stack {
            if let Some(phase) = span_of(item).and_then(|span| self.phase(program, span)) {
                base = phase;
                frames.clear();
                continue;
            }
            frames.extend(frame(item));
        }
        if let Some(span) = self.own.or_else(|| under_way(stack)) {
            let is_shown = matches!((stack.last(), frames.last()),
                (Some(EvalStackTraceItem::Call { .. }), Some(Frame::At(last))) if *last == span);
            if let Some(phase) = self.phase(program, span) {
                base = phase;
                frames.clear();
            } else if !is_shown {
                frames.push(if self.blames { Frame::Around(span) } else { Frame::At(span) });
            }
        }
        let mut lines = vec![format!("\t{base}\t\n")];
        lines.extend(frames.iter().filter_map(|frame| match frame {
            Frame::Words(words) => Some(format!("\t{words}\t\n")),
            Frame::At(span) => places.line(program, *span, false),
            Frame::Around(span) => places.line(program, *span, true),
        }));
        lines.reverse();
        if lines.len() > SHOWN {
            let (above, below) = (SHOWN / 2, SHOWN - SHOWN / 2);
            let end = lines.len() - below;
            lines.splice(above..end, ["\t...\n".to_owned()]);
        }
        lines.concat()
    }

    /// For an expression of the wrapper: what go-jsonnet calls the phase in which it is evaluated.
    fn phase(&self, program: &Program<'_>, span: SpanId) -> Option<&'static str> {
        let (context, start, end) = program.span_manager().get_span(span);
        if context != self.wrapper.0 {
            return None;
        }
        let before = self.wrapper.1.get(..start).unwrap_or_default();
        // Behind the condition stands the call of a function at top level, behind that what is printed otherwise.
        Some(match self.wrapper.1.get(start..end) {
            Some("main") => "During evaluation",
            _ if before.contains(" then ") && !before.contains(" else ") => "Top-level function call",
            _ => "During manifestation",
        })
    }
}

/// The expression that was being evaluated when nothing was entered since.
fn under_way(stack: &[EvalStackTraceItem]) -> Option<SpanId> {
    let is_comparison = |item: &&EvalStackTraceItem| {
        matches!(item, EvalStackTraceItem::CompareArrayItem { .. } | EvalStackTraceItem::CompareObjectField { .. })
    };
    match stack.iter().rev().find(|item| !is_comparison(item)) {
        Some(EvalStackTraceItem::Expr { span }) => Some(*span),
        _ => None,
    }
}

/// One line of a trace.
enum Frame {
    At(SpanId),
    Around(SpanId),
    Words(String),
}

fn span_of(item: &EvalStackTraceItem) -> Option<SpanId> {
    match item {
        EvalStackTraceItem::Call { span, .. }
        | EvalStackTraceItem::ArrayItem { span, .. }
        | EvalStackTraceItem::ObjectField { span, .. } => *span,
        EvalStackTraceItem::Variable { span, .. }
        | EvalStackTraceItem::Import { span }
        | EvalStackTraceItem::Expr { span } => Some(*span),
        _ => None,
    }
}

fn frame(item: &EvalStackTraceItem) -> Option<Frame> {
    match item {
        EvalStackTraceItem::Expr { .. } => None,
        EvalStackTraceItem::ManifestArrayItem { index } => Some(Frame::Words(format!("Array element {index}"))),
        EvalStackTraceItem::ManifestObjectField { name } => Some(Frame::Words(format!("Field {}", quote(name)))),
        other => span_of(other).map(Frame::At),
    }
}
