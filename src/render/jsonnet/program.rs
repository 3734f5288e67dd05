//! Evaluates one Jsonnet file to JSON text.
//!
//! In:  a file inside the checkout, variables, arguments and folders to search for imports.
//! Out: the JSON that go-jsonnet would print, or the text of its failure.
//! Invariant: nothing outside the checkout is read; the program cannot reach the network, the environment or a clock.
//! Source: REND-108 to REND-110 (`makeJsonnetVM`; `go-jsonnet` `vm.go`, `imports.go`).

use std::collections::HashMap;
use std::path::{Path, PathBuf};

use rsjsonnet_lang::arena::Arena;
use rsjsonnet_lang::interner::InternedStr;
use rsjsonnet_lang::program::{Callbacks, EvalStackTraceItem, ImportError, NativeError, Program, Thunk, Value};
use rsjsonnet_lang::span::{SpanContextId, SpanId};

use super::imports::Search;
use super::library::{self, PARSE_YAML, PRELUDE};
use super::tokens::KEYWORDS;
use super::trace::Trace;
use super::{Variable, text};

/// What one evaluation may see.
pub struct Setup<'a> {
    /// The file, absolute.
    pub file: &'a Path,
    /// Where imports are looked for.
    pub search: &'a Search,
    /// For `std.extVar`.
    pub ext_vars: &'a [Variable],
    /// Arguments of a function at top level.
    pub tlas: &'a [Variable],
}

/// A source that was loaded.
pub struct Source {
    /// Path, or `<extvar:name>`, as errors show it.
    pub name: String,
    /// What the evaluator read: [`PRELUDE`] and the text.
    pub code: String,
}

impl Source {
    fn new(name: &str, text: &str) -> Self {
        Self { name: name.to_owned(), code: format!("{PRELUDE}{text}") }
    }

    /// The text as it was found.
    pub fn text(&self) -> &str {
        self.code.get(PRELUDE.len()..).unwrap_or_default()
    }

    /// A place in the text, for one in the code; nothing where it lies in the prelude.
    pub fn in_text(&self, (start, end): (usize, usize)) -> Option<(usize, usize)> {
        Some((start.checked_sub(PRELUDE.len())?, end.checked_sub(PRELUDE.len())?))
    }
}

/// What the evaluator asks for while it runs, and what it learned.
pub struct Loader<'p, 'a> {
    search: &'a Search,
    /// Loaded sources, by the evaluator's identity of them.
    pub sources: HashMap<SpanContextId, Source>,
    loaded: HashMap<PathBuf, Result<Thunk<'p>, String>>,
    /// Why the last import failed.
    pub import_failure: String,
    /// Why the last function of ours failed.
    pub native_failure: String,
    /// Failures of variables given as code, by the source that stands in for them.
    pub broken_code: HashMap<SpanContextId, String>,
}

/// Call depth at which go-jsonnet gives up, and the calls that our own wrapper adds.
const MAX_STACK: usize = 500 + 3;

/// Evaluates the file.
pub fn evaluate(setup: &Setup<'_>) -> Result<String, String> {
    let arena = Arena::new();
    let mut program = Program::new(&arena);
    program.set_max_stack(MAX_STACK);
    program.register_native_func(program.intern_str(PARSE_YAML), &[program.intern_str("str")]);
    let mut loader = Loader {
        search: setup.search,
        sources: HashMap::new(),
        loaded: HashMap::new(),
        import_failure: String::new(),
        native_failure: String::new(),
        broken_code: HashMap::new(),
    };
    let bytes = std::fs::read(setup.file).map_err(|error| text::unreadable(setup.file, &error))?;
    let source = String::from_utf8_lossy(&bytes).into_owned();
    let name = setup.file.to_string_lossy().into_owned();
    let main = loader.load(&mut program, &name, &source).map_err(|problem| problem.with_code(&source))?;
    for variable in last_of_each(setup.ext_vars) {
        let thunk = loader.variable(&mut program, "extvar", variable);
        let name = program.intern_str(&variable.name);
        program.add_ext_var(name, &thunk);
    }
    let arguments = last_of_each(setup.tlas);
    let names: Vec<&str> = arguments.iter().map(|argument| argument.name.as_str()).collect();
    let wrapper = wrapper(&names);
    let (context, _) = program.span_manager_mut().insert_source_context(wrapper.len());
    let call = program
        .load_source(context, wrapper.as_bytes(), true, "")
        .map_err(|error| format!("INTERNAL ERROR: {error:?}"))?;
    let mut thunks = vec![main];
    thunks.extend(arguments.iter().map(|argument| loader.variable(&mut program, "top-level-arg", argument)));
    match program.eval_call(&call, &thunks, &[], &mut loader) {
        Ok(value) => Ok(text::with_empty_on_one_line(&value.to_string().unwrap_or_default())),
        Err(error) => {
            let trace = Trace { wrapper: (context, &wrapper), own: None, blames: false };
            Err(text::failure(&mut program, &loader, &trace, &error))
        }
    }
}

/// The last variable of each name, in the order of first mention.
fn last_of_each(variables: &[Variable]) -> Vec<&Variable> {
    let mut kept: Vec<&Variable> = Vec::new();
    for variable in variables {
        match kept.iter_mut().find(|known| known.name == variable.name) {
            Some(known) => *known = variable,
            None => kept.push(variable),
        }
    }
    kept
}

/// The program around the user's: calls it where it is a function, and prints what comes out. It is Jsonnet so that evaluation
/// stays lazy and failures say which field was being printed.
fn wrapper(names: &[&str]) -> String {
    let parameters: String = (0..names.len()).map(|index| format!(", a{index}")).collect();
    let is_name = |name: &&str| {
        let mut letters = name.chars();
        letters.next().is_some_and(|c| c.is_ascii_alphabetic() || c == '_')
            && letters.all(|c| c.is_ascii_alphanumeric() || c == '_')
            && !KEYWORDS.contains(name)
    };
    let call = match names.iter().find(|name| !is_name(name)) {
        // No function has such a parameter.
        Some(name) => format!("error {}", serde_json::Value::from(format!("function has no parameter {name}"))),
        None => {
            let given: Vec<String> = names.iter().enumerate().map(|(index, name)| format!("{name}=a{index}")).collect();
            format!("main({})", given.join(", "))
        }
    };
    format!("function(main{parameters}) std.manifestJsonEx(if std.isFunction(main) then {call} else main, '   ')")
}

impl<'p> Loader<'p, '_> {
    fn load(&mut self, program: &mut Program<'p>, name: &str, source: &str) -> Result<Thunk<'p>, text::Problem> {
        let source = Source::new(name, source);
        let (context, _) = program.span_manager_mut().insert_source_context(source.code.len());
        let loaded = program.load_source(context, source.code.as_bytes(), true, name);
        let loaded = loaded.map_err(|error| text::load_failure(program, &source, &error));
        self.sources.insert(context, source);
        loaded
    }

    /// A variable's value. Code that cannot be read fails only when the value is asked for.
    fn variable(&mut self, program: &mut Program<'p>, kind: &str, variable: &Variable) -> Thunk<'p> {
        if !variable.code {
            return program.value_to_thunk(&Value::string(&variable.value));
        }
        let name = format!("<{kind}:{}>", variable.name);
        self.load(program, &name, &variable.value).unwrap_or_else(|problem| {
            const STAND_IN: &str = "error ''";
            let (context, _) = program.span_manager_mut().insert_source_context(STAND_IN.len());
            self.broken_code.insert(context, problem.with_code(&variable.value));
            let thunk = program.load_source(context, STAND_IN.as_bytes(), true, "");
            thunk.unwrap_or_else(|_| program.value_to_thunk(&Value::null()))
        })
    }

    /// Path and content of an import.
    fn find(&mut self, program: &Program<'p>, from: SpanId, path: &str) -> Result<(PathBuf, Vec<u8>), ImportError> {
        let (context, _, _) = program.span_manager().get_span(from);
        let importer = self.sources.get(&context).map(|source| PathBuf::from(&source.name)).unwrap_or_default();
        self.search.read(&importer, path).map_err(|failure| self.failed(failure))
    }

    fn failed(&mut self, failure: String) -> ImportError {
        self.import_failure = failure;
        ImportError
    }
}

impl<'p> Callbacks<'p> for Loader<'p, '_> {
    fn import(&mut self, program: &mut Program<'p>, from: SpanId, path: &str) -> Result<Thunk<'p>, ImportError> {
        let (found, bytes) = self.find(program, from, path)?;
        let known = self.loaded.get(&found).cloned();
        let loaded = known.unwrap_or_else(|| {
            let source = String::from_utf8_lossy(&bytes).into_owned();
            let loaded =
                self.load(program, &found.to_string_lossy(), &source).map_err(|problem| problem.without_code());
            self.loaded.insert(found, loaded.clone());
            loaded
        });
        loaded.map_err(|failure| self.failed(failure))
    }

    fn import_str(&mut self, program: &mut Program<'p>, from: SpanId, path: &str) -> Result<String, ImportError> {
        let (_, bytes) = self.find(program, from, path)?;
        Ok(String::from_utf8_lossy(&bytes).into_owned())
    }

    fn import_bin(&mut self, program: &mut Program<'p>, from: SpanId, path: &str) -> Result<Vec<u8>, ImportError> {
        self.find(program, from, path).map(|(_, bytes)| bytes)
    }

    /// Traces go to the log of Argo CD's repo server, which users do not see.
    fn trace(&mut self, _: &mut Program<'p>, _: &str, _: &[EvalStackTraceItem]) {}

    fn native_call(
        &mut self,
        program: &mut Program<'p>,
        name: InternedStr<'p>,
        args: &[Value<'p>],
    ) -> Result<Value<'p>, NativeError> {
        debug_assert_eq!(name.value(), PARSE_YAML, "no other function is registered");
        let text = args.first().and_then(Value::to_string).unwrap_or_default();
        let value = library::parse_yaml(&text).map_err(|failure| {
            self.native_failure = failure;
            NativeError
        })?;
        Ok(library::to_jsonnet(program, &value))
    }
}
