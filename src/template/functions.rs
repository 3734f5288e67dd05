//! The functions that a template may call: names, parameters and what they run.

use super::value::Value;
use super::{builtin, sprig};

/// What functions see beside their arguments.
pub(super) struct Context {
    /// Bytes that functions may still make.
    bytes: usize,
}

/// How many bytes all functions of one template may make, so that `repeat` of `repeat` stays small.
const MAX_BYTES: usize = 32 << 20;

impl Context {
    pub(super) fn new() -> Self {
        Self { bytes: MAX_BYTES }
    }

    /// Takes part of the bytes that the template may make.
    pub(super) fn spend(&mut self, bytes: usize) -> Result<(), String> {
        self.bytes = self.bytes.checked_sub(bytes).ok_or("the template makes too much text")?;
        Ok(())
    }
}

/// What a function runs; the arguments have the declared types and number.
pub(super) type Run = fn(&mut Context, Vec<Value>) -> Result<Value, String>;

/// Name, parameters and body of a function. One letter is one parameter: `s` string, `i` int, `I` int64, `f` float64,
/// `b` bool, `m` map of anything, `a` anything, `v` anything including no value; `*` repeats the last.
pub(super) type Row = (&'static str, &'static str, Run);

/// A function.
pub(super) struct Function {
    signature: &'static str,
    pub run: Run,
}

impl Function {
    pub(super) fn is_variadic(&self) -> bool {
        self.signature.ends_with('*')
    }

    /// How many arguments it needs at least.
    pub(super) fn fixed(&self) -> usize {
        if self.is_variadic() { self.signature.len() - 2 } else { self.signature.len() }
    }

    /// The type of one parameter.
    pub(super) fn parameter(&self, at: usize) -> char {
        let types = self.signature.trim_end_matches('*');
        types.chars().nth(at).or(types.chars().last()).unwrap_or('a')
    }

    /// Go's name of a parameter's type.
    pub(super) fn type_name(parameter: char) -> &'static str {
        match parameter {
            's' => "string",
            'i' => "int",
            'I' => "int64",
            'f' => "float64",
            'b' => "bool",
            'm' => "map[string]interface {}",
            'l' => "[]interface {}",
            'v' => "reflect.Value",
            _ => "interface {}",
        }
    }
}

/// Argo CD's functions hide Go's own of the same name.
pub(super) fn find(name: &str) -> Option<Function> {
    let mut rows = sprig::TABLES.iter().chain([&builtin::TABLE]).flat_map(|table| table.iter());
    rows.find(|row| row.0 == name).map(|&(_, signature, run)| Function { signature, run })
}

/// Whether Argo CD has a function of that name that is not offered here.
pub(super) fn is_unsupported(name: &str) -> bool {
    sprig::UNSUPPORTED.contains(&name)
}

/// Whether a function of that name is known.
pub(super) fn exists(name: &str) -> bool {
    find(name).is_some()
}
