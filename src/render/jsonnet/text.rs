//! Failures of an evaluation in go-jsonnet's words.
//!
//! In:  the evaluator's error.
//! Out: `RUNTIME ERROR: …` with a stack trace, or place and text of a syntax error with the code it stands in.
//! Source: `go-jsonnet` `error_formatter.go`, `builtins.go`, `value.go`; recorded in `corpus/golib/jsonnet.json`.

use std::io;
use std::path::Path;

use rsjsonnet_lang::ast::{BinaryOp, UnaryOp};
use rsjsonnet_lang::program::{
    AnalyzeError, EvalError, EvalErrorKind as Kind, EvalErrorValueType as Type, EvalStackTraceItem, LoadError, Program,
};
use rsjsonnet_lang::span::SpanId;

use super::places::{Places, place};
use super::program::{Loader, Source};
use super::syntax;
use super::trace::Trace;
use crate::gocompat::strconv::quote;
use crate::render::paths::go_reason;

/// A source that cannot be run.
#[derive(Debug, Clone)]
pub struct Problem {
    text: String,
    start: usize,
    end: usize,
    place: String,
}

impl Problem {
    fn new(source: &Source, span: (usize, usize), text: String) -> Self {
        Self { place: place(source, span), text, start: span.0, end: span.1 }
    }

    /// Place and text, as a failed import shows it.
    pub fn without_code(&self) -> String {
        format!("{} {}", self.place, self.text)
    }

    /// Place, text and the lines concerned.
    pub fn with_code(&self, source: &str) -> String {
        let from = source.get(..self.start).and_then(|before| before.rfind('\n')).map_or(0, |at| at + 1);
        let rest = source.get(self.end..).unwrap_or_default();
        let to = rest.find('\n').map_or(source.len(), |at| self.end + at);
        format!("{}\n\n{}\n\n", self.without_code(), source.get(from..to).unwrap_or_default())
    }
}

/// A file that cannot be opened.
pub fn unreadable(file: &Path, error: &io::Error) -> String {
    format!("INTERNAL ERROR: open {}: {}", file.display(), go_reason(error))
}

/// A source that was not understood.
pub fn load_failure(program: &Program<'_>, source: &Source, error: &LoadError) -> Problem {
    // go-jsonnet reads the whole source before it looks for variables.
    if let Some((start, end, text)) = syntax::first_problem(source.text()) {
        let text = text.replace(syntax::PLACE, &place(source, (start, end)));
        return Problem::new(source, (start, end), text);
    }
    let (span, text) = match error {
        // What go-jsonnet would accept is refused all the same, for it cannot be run here.
        LoadError::Lex(_) | LoadError::Parse(_) => return Problem::new(source, (0, 0), format!("{error:?}")),
        LoadError::Analyze(error) => analyze_failure(error),
    };
    let (_, start, end) = program.span_manager().get_span(span);
    Problem::new(source, source.in_text((start, end)).unwrap_or_default(), text)
}

fn analyze_failure(error: &AnalyzeError) -> (SpanId, String) {
    match error {
        AnalyzeError::UnknownVariable { span, name } => (*span, format!("Unknown variable: {name}")),
        AnalyzeError::SelfOutsideObject { self_span } => {
            (*self_span, "Can't use self outside of an object.".to_owned())
        }
        AnalyzeError::SuperOutsideObject { super_span } => {
            (*super_span, "Can't use super outside of an object.".to_owned())
        }
        AnalyzeError::DollarOutsideObject { dollar_span } => (*dollar_span, "No top-level object found.".to_owned()),
        AnalyzeError::RepeatedLocalName { repeated_span, name, .. } => {
            (*repeated_span, format!("Duplicate local var: {name}"))
        }
        AnalyzeError::RepeatedFieldName { repeated_span, name, .. } => {
            (*repeated_span, format!("Duplicate field: {name}"))
        }
        AnalyzeError::RepeatedParamName { repeated_span, name, .. } => {
            (*repeated_span, format!("Duplicate parameter: {name}"))
        }
        AnalyzeError::PositionalArgAfterNamed { arg_span } => {
            (*arg_span, "Positional argument after a named argument is not allowed".to_owned())
        }
        AnalyzeError::TextBlockAsImportPath { span } => {
            (*span, "Block string literals not allowed in imports".to_owned())
        }
        AnalyzeError::ComputedImportPath { span } => (*span, "Computed imports are not allowed".to_owned()),
    }
}

/// go-jsonnet prints empty objects and lists on one line.
pub fn with_empty_on_one_line(json: &str) -> String {
    let mut out = String::with_capacity(json.len());
    let mut rest = json;
    // Inside a string there is no line break, so two of them are between the brackets of something empty.
    while let Some((before, after)) = rest.split_once("\n\n") {
        out.push_str(before);
        out.push(' ');
        rest = after.trim_start_matches(' ');
    }
    out + rest
}

/// An evaluation that failed.
pub fn failure(program: &mut Program<'_>, loader: &Loader<'_, '_>, trace: &Trace<'_>, error: &EvalError) -> String {
    let (own, text) = (failed_expression(&error.kind), message(loader, &error.kind));
    let mut places = Places::new(&loader.sources);
    let trace = Trace { own, blames: blames_the_whole(&error.kind), ..*trace };
    let Some(span) = own else {
        return format!("RUNTIME ERROR: {text}\n{}", trace.lines(program, &mut places, &error.stack_trace));
    };
    // Code of a variable that could not be read is a failure of its own, without a trace.
    let (context, _, _) = program.span_manager().get_span(span);
    if let Some(problem) = loader.broken_code.get(&context) {
        return problem.clone();
    }
    let (mut text, mut checking) = (text, "");
    match &error.kind {
        Kind::AssertFailed { message, .. } if !places.is_statement(program, span) => {
            if message.is_none() {
                "Object assertion failed.".clone_into(&mut text);
            }
            // Assertions are checked when an object is printed, or when one of its fields is asked for.
            if !matches!(error.stack_trace.last(), Some(EvalStackTraceItem::ObjectField { .. })) {
                checking = "\tChecking object assertions\t\n";
            }
        }
        Kind::TooManyCallArgs { .. } => {
            let given = places.arguments(program, span);
            text = text.replace(GIVEN, &given.to_string());
        }
        _ => {}
    }
    let lines = trace.lines(program, &mut places, &error.stack_trace);
    match lines.split_once('\n') {
        Some((first, rest)) if !checking.is_empty() => format!("RUNTIME ERROR: {text}\n{first}\n{checking}{rest}"),
        _ => format!("RUNTIME ERROR: {text}\n{lines}"),
    }
}

/// Whether go-jsonnet blames the expression around the one that the evaluator names.
fn blames_the_whole(kind: &Kind) -> bool {
    matches!(
        kind,
        Kind::AssertFailed { .. }
            | Kind::CondIsNotBool { .. }
            | Kind::ForSpecValueIsNotArray { .. }
            | Kind::RepeatedFieldName { .. }
            | Kind::FieldNameIsNotString { .. }
            | Kind::UnknownCallParam { .. }
            | Kind::RepeatedCallParam { .. }
    )
}

/// Stands for the number of arguments, which the evaluator does not tell.
const GIVEN: &str = "\u{0}given\u{0}";

/// The expression that failed, where the evaluator names it.
fn failed_expression(kind: &Kind) -> Option<SpanId> {
    match kind {
        Kind::InvalidIndexedType { span, .. }
        | Kind::InvalidSlicedType { span, .. }
        | Kind::SliceIndexOrStepIsNotNumber { span, .. }
        | Kind::StringIndexIsNotNumber { span, .. }
        | Kind::ArrayIndexIsNotNumber { span, .. }
        | Kind::NumericIndexIsNotValid { span, .. }
        | Kind::NumericIndexOutOfRange { span, .. }
        | Kind::ObjectIndexIsNotString { span, .. }
        | Kind::RepeatedFieldName { span, .. }
        | Kind::FieldNameIsNotString { span, .. }
        | Kind::UnknownObjectField { span, .. }
        | Kind::FieldOfNonObject { span }
        | Kind::SuperWithoutSuperObject { span }
        | Kind::ForSpecValueIsNotArray { span, .. }
        | Kind::CondIsNotBool { span, .. }
        | Kind::InvalidUnaryOpType { span, .. }
        | Kind::AssertFailed { span, .. }
        | Kind::ExplicitError { span, .. }
        | Kind::ImportFailed { span, .. } => Some(*span),
        Kind::CalleeIsNotFunction { span, .. }
        | Kind::TooManyCallArgs { span, .. }
        | Kind::UnknownCallParam { span, .. }
        | Kind::RepeatedCallParam { span, .. }
        | Kind::CallParamNotBound { span, .. }
        | Kind::InvalidBinaryOpTypes { span, .. }
        | Kind::NumberNotBitwiseSafe { span }
        | Kind::NumberOverflow { span }
        | Kind::NumberNan { span }
        | Kind::DivByZero { span }
        | Kind::ShiftByNegative { span }
        | Kind::Other { span, .. } => *span,
        _ => None,
    }
}

/// The message.
fn message(loader: &Loader<'_, '_>, kind: &Kind) -> String {
    match kind {
        Kind::StackOverflow | Kind::InfiniteRecursion => "max stack frames exceeded.".to_owned(),
        Kind::NumericIndexIsNotValid { index, .. } => format!("Index {index} out of bounds"),
        Kind::NumericIndexOutOfRange { index, length, .. } => {
            format!("Index {index} out of bounds, not within [0, {length})")
        }
        Kind::RepeatedFieldName { name, .. } => format!("Duplicate field name: {}", quote(name)),
        Kind::UnknownObjectField { field_name, .. } => format!("Field does not exist: {field_name}"),
        Kind::FieldOfNonObject { .. } => "Value non indexable".to_owned(),
        Kind::SuperWithoutSuperObject { .. } => "Attempt to use super when there is no super class.".to_owned(),
        Kind::TooManyCallArgs { num_params, .. } => {
            format!("function expected {num_params} positional argument(s), but got {GIVEN}")
        }
        Kind::UnknownCallParam { param_name, .. } => format!("function has no parameter {param_name}"),
        Kind::RepeatedCallParam { param_name, .. } => format!("Argument {param_name} already provided"),
        Kind::CallParamNotBound { param_name, .. } => format!("Missing argument: {param_name}"),
        Kind::NativeCallFailed => loader.native_failure.clone(),
        Kind::NumberNotBitwiseSafe { .. } => {
            "numeric value outside safe integer range for bitwise operation.".to_owned()
        }
        Kind::NumberOverflow { .. } => "Overflow".to_owned(),
        Kind::NumberNan { .. } => "Not a number".to_owned(),
        Kind::DivByZero { .. } => "Division by zero.".to_owned(),
        Kind::ShiftByNegative { .. } => "Shift by negative exponent.".to_owned(),
        Kind::AssertFailed { message, .. } => message.clone().unwrap_or_else(|| "Assertion failed".to_owned()),
        Kind::AssertEqualFailed { lhs, rhs } => format!("Assertion failed. {lhs} != {rhs}"),
        Kind::ExplicitError { message, .. } | Kind::Other { message, .. } => message.clone(),
        Kind::ImportFailed { .. } => loader.import_failure.clone(),
        Kind::UnknownExtVar { name } => format!("Undefined external variable: {name}"),
        Kind::ManifestFunction => "couldn't manifest function as JSON".to_owned(),
        other => type_message(other),
    }
}

/// The message where a value has another type than it must.
fn type_message(kind: &Kind) -> String {
    let unexpected = |got: Type| format!("Unexpected type {}", type_name(got));
    match kind {
        Kind::InvalidIndexedType { got_type, .. } => {
            format!("Value non indexable: *jsonnet.value{}", go_type(*got_type))
        }
        Kind::InvalidSlicedType { got_type, .. } => {
            format!("std.slice accepts a string or an array, but got: {}", type_name(*got_type))
        }
        Kind::SliceIndexOrStepIsNotNumber { got_type, .. }
        | Kind::StringIndexIsNotNumber { got_type, .. }
        | Kind::ArrayIndexIsNotNumber { got_type, .. } => expected(*got_type, "number"),
        Kind::ObjectIndexIsNotString { got_type, .. } => expected(*got_type, "string"),
        Kind::FieldNameIsNotString { got_type, .. } => {
            format!("Field name must be string, got {}", type_name(*got_type))
        }
        Kind::ForSpecValueIsNotArray { got_type, .. } => expected(*got_type, "array"),
        Kind::CondIsNotBool { got_type, .. } => expected(*got_type, "boolean"),
        Kind::CalleeIsNotFunction { got_type, .. } => expected(*got_type, "function"),
        Kind::InvalidUnaryOpType { op: UnaryOp::LogicNot, rhs_type, .. } => expected(*rhs_type, "boolean"),
        Kind::InvalidUnaryOpType { rhs_type, .. } => expected(*rhs_type, "number"),
        Kind::InvalidBinaryOpTypes { op, lhs_type, rhs_type, .. } => binary_types(*op, *lhs_type, *rhs_type),
        Kind::InvalidStdFuncArgType { expected_types, got_type, .. } => match expected_types.as_slice() {
            [one] => expected(*got_type, type_name(*one)),
            _ => unexpected(*got_type),
        },
        Kind::CompareNullInequality => unexpected(Type::Null),
        Kind::CompareBooleanInequality => unexpected(Type::Bool),
        Kind::CompareObjectInequality => unexpected(Type::Object),
        Kind::CompareFunctions => unexpected(Type::Function),
        Kind::CompareDifferentTypesInequality { lhs_type, rhs_type } => match lhs_type {
            Type::Number | Type::String | Type::Array => expected(*rhs_type, type_name(*lhs_type)),
            _ => unexpected(*lhs_type),
        },
        Kind::PrimitiveEqualsNonPrimitive { got_type } => {
            format!("primitiveEquals operates on primitive types, got {}", type_name(*got_type))
        }
        other => format!("{other:?}"),
    }
}

fn expected(got: Type, wanted: &str) -> String {
    format!("Unexpected type {}, expected {wanted}", type_name(got))
}

fn binary_types(op: BinaryOp, left: Type, right: Type) -> String {
    match (op, left) {
        (BinaryOp::Add, Type::Number | Type::Array | Type::Object) => expected(right, type_name(left)),
        (BinaryOp::Add, _) => format!("Unexpected type {}", type_name(left)),
        (BinaryOp::LogicAnd | BinaryOp::LogicOr, Type::Bool) => expected(right, "boolean"),
        (BinaryOp::LogicAnd | BinaryOp::LogicOr, _) => expected(left, "boolean"),
        (BinaryOp::In, Type::String) => expected(right, "object"),
        (BinaryOp::In, _) => expected(left, "string"),
        (_, Type::Number) => expected(right, "number"),
        (_, _) => expected(left, "number"),
    }
}

fn type_name(kind: Type) -> &'static str {
    match kind {
        Type::Null => "null",
        Type::Bool => "boolean",
        Type::Number => "number",
        Type::String => "string",
        Type::Array => "array",
        Type::Object => "object",
        Type::Function => "function",
    }
}

/// Name of go-jsonnet's own type.
fn go_type(kind: Type) -> &'static str {
    match kind {
        Type::Null => "Null",
        Type::Bool => "Boolean",
        Type::Number => "Number",
        Type::String => "String",
        Type::Array => "Array",
        Type::Object => "Object",
        Type::Function => "Function",
    }
}
