//! Runs the jq expressions of ignoreDifferences rules as `del(EXPRESSION)`.
//!
//! In:  an expression; an object; whether the time is up.
//! Out: the object without what the expression selects.
//! Invariant: a run ends soon after its time is up and never exhausts the stack; it reads no environment and ends no
//! process.
//! Source: DIFF-078 to DIFF-081 (`util/argo/normalizers/diff_normalizer.go`, gojq 0.12.19).

mod delete;
mod engine;
mod meter;
mod value;

#[cfg(test)]
mod tests;

use jaq_core::load::{Arena, File, Loader, lex, parse};
use jaq_core::{Ctx, Vars, compile, load};
use jaq_json::Val;
use serde_json::Value;

use engine::{Limits, Metered};

/// Why an expression cannot be used. The texts are gojq's.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum CompileError {
    /// The text ends too early.
    #[error("unexpected EOF")]
    UnexpectedEnd,
    /// A token stands where it must not.
    #[error("unexpected token {0:?}")]
    UnexpectedToken(String),
    /// A character begins no token.
    #[error("invalid token {0:?}")]
    InvalidToken(String),
    /// No such function.
    #[error("function not defined: {0}")]
    UnknownFunction(String),
    /// No such variable.
    #[error("variable not defined: {0}")]
    UnknownVariable(String),
    /// Brackets are nested more deeply than the parser should follow.
    #[error("expression is nested too deeply")]
    TooDeep,
}

/// Why a run gave no object.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum RunError {
    /// The program yielded nothing.
    #[error("JQ patch did not return any data")]
    NoData,
    /// The program yielded more than one value.
    #[error("JQ patch returned multiple objects")]
    Multiple,
    /// The program failed.
    #[error("JQ patch returned error: {0}")]
    Failed(String),
    /// The time is up.
    #[error("JQ patch execution timed out")]
    TimedOut,
    /// The program yielded something that is no object.
    #[error("JQ patch returned no object")]
    NotAnObject,
}

/// A compiled expression.
pub struct Program(jaq_core::Filter<Metered>);

impl Program {
    /// Compiles `del(EXPRESSION)`. The text is substituted as it is, so an expression may close the parenthesis early
    /// and go on with an update of its own.
    pub fn deleting(expression: &str) -> Result<Self, CompileError> {
        let text = meter::weave(&format!("del({expression})"))?;
        let arena = Arena::default();
        let file = File { code: text.as_str(), path: () };
        let modules = Loader::new(engine::definitions()).load(&arena, file).map_err(load_error)?;
        let compiler = jaq_core::Compiler::default().with_funs(engine::functions()).with_global_vars(["$ENV"]);
        compiler.compile(modules).map(Self).map_err(compile_error)
    }

    /// Runs the program on an object.
    pub fn run(&self, object: &Value, expired: &dyn Fn() -> bool) -> Result<Value, RunError> {
        let limits = Limits::new(&self.0.lut, expired);
        let environment = Val::obj(jaq_json::Map::default());
        let context = Ctx::<Metered>::new(limits, Vars::new([environment]));
        let mut outputs = self.0.id.run((context, value::to_jq(object)));
        let first = outputs.next().ok_or(RunError::NoData)?;
        let more = first.is_ok() && outputs.next().is_some();
        drop(outputs);
        if expired() {
            return Err(RunError::TimedOut);
        }
        let first = first.map_err(|error| match error.get_err() {
            Ok(error) => RunError::Failed(error.to_string()),
            Err(_) => RunError::Failed("break".to_owned()),
        })?;
        if more {
            return Err(RunError::Multiple);
        }
        let result = value::from_jq(&first);
        if result.is_object() { Ok(result) } else { Err(RunError::NotAnObject) }
    }
}

fn token_error(found: &str) -> CompileError {
    if found.is_empty() { CompileError::UnexpectedEnd } else { CompileError::UnexpectedToken(first_token(found)) }
}

/// The opening bracket stands for the whole block that jaq reports.
fn first_token(found: &str) -> String {
    found.chars().next().filter(|first| "([{".contains(*first)).map_or_else(|| found.to_owned(), String::from)
}

fn lex_error(error: &lex::Error<&str>) -> CompileError {
    match &error.0 {
        lex::Expect::Delim(_) => CompileError::UnexpectedEnd,
        _ if error.1.is_empty() => CompileError::UnexpectedEnd,
        _ => CompileError::InvalidToken(error.1.chars().take(1).collect()),
    }
}

fn parse_error(error: &parse::Error<&str>) -> CompileError {
    token_error(error.1)
}

fn load_error(errors: load::Errors<&str, ()>) -> CompileError {
    let found = errors.iter().find_map(|(_, error)| match error {
        load::Error::Lex(errors) => errors.first().map(lex_error),
        load::Error::Parse(errors) => errors.first().map(parse_error),
        load::Error::Io(_) => None,
    });
    found.unwrap_or(CompileError::UnexpectedEnd)
}

fn compile_error(errors: compile::Errors<&str, ()>) -> CompileError {
    let found = errors.iter().flat_map(|(_, errors)| errors).next();
    match found {
        Some((name, compile::Undefined::Filter(arity))) => CompileError::UnknownFunction(format!("{name}/{arity}")),
        Some((name, _)) => CompileError::UnknownVariable((*name).to_owned()),
        None => CompileError::UnexpectedEnd,
    }
}
