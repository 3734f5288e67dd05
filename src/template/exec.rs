//! Runs a template on parameters, as Go's `text/template/exec.go` does, within limits of steps, bytes and levels.

use super::format;
use super::functions::{self, Context, Function};
use super::node::{Kind, Node, Set, Word};
use super::number::Number;
use super::parse::NAME;
use super::value::{Elem, Value};
use super::{MissingKey, Options};
use crate::gocompat::strconv::quote;

/// How many parts a template may evaluate.
const MAX_STEPS: usize = 1_000_000;
/// How many bytes a template may print.
const MAX_OUTPUT: usize = 4 << 20;
/// How many templates may be inside one another; Go's own limit would need a stack that grows.
const MAX_LEVELS: usize = 200;

/// A value, and whether it was seen through an interface, which Go's error texts tell.
#[derive(Debug, Clone)]
struct Seen {
    value: Value,
    boxed: bool,
}

impl Seen {
    fn plain(value: Value) -> Self {
        Self { value, boxed: false }
    }

    fn type_name(&self) -> &'static str {
        if self.boxed { "interface {}" } else { self.value.type_name() }
    }
}

/// Why walking stops.
enum Stop {
    Break,
    Continue,
    Error(String),
}

type Walk = Result<(), Stop>;
type Eval<T> = Result<T, Stop>;

struct State<'t> {
    text: &'t str,
    set: &'t Set,
    missing_key: MissingKey,
    out: String,
    name: &'t str,
    node: Option<&'t Node>,
    variables: Vec<(String, Seen)>,
    steps: usize,
    level: usize,
    context: Context,
}

/// Runs the template named [`NAME`].
pub(super) fn execute(text: &str, set: &Set, data: &serde_json::Value, options: &Options) -> Result<String, String> {
    let root = Seen::plain(Value::from_json(data));
    let mut state = State {
        text,
        set,
        missing_key: options.missing_key,
        out: String::new(),
        name: NAME,
        node: None,
        variables: vec![("$".to_owned(), root.clone())],
        steps: 0,
        level: 0,
        context: Context::new(),
    };
    let nodes = set.get(NAME).map(Vec::as_slice).unwrap_or_default();
    match state.walk_all(&root, nodes) {
        Ok(()) | Err(Stop::Break | Stop::Continue) => Ok(state.out),
        Err(Stop::Error(problem)) => Err(problem),
    }
}

impl<'t> State<'t> {
    fn error<T>(&self, problem: impl std::fmt::Display) -> Eval<T> {
        let Some(node) = self.node else { return Err(Stop::Error(format!("template: {}: {problem}", self.name))) };
        let before = self.text.get(..node.pos).unwrap_or(self.text);
        let line = 1 + before.matches('\n').count();
        let column = before.len() - before.rfind('\n').map_or(0, |at| at + 1);
        let name = quote(self.name);
        Err(Stop::Error(format!("template: {NAME}:{line}:{column}: executing {name} at <{node}>: {problem}")))
    }

    fn at(&mut self, node: &'t Node) -> Eval<()> {
        self.node = Some(node);
        self.steps += 1;
        if self.steps > MAX_STEPS { self.error("the template takes too many steps") } else { Ok(()) }
    }

    fn write(&mut self, text: &str) -> Eval<()> {
        if self.out.len() + text.len() > MAX_OUTPUT {
            return self.error("the template prints too much");
        }
        self.out.push_str(text);
        Ok(())
    }

    fn walk_all(&mut self, dot: &Seen, nodes: &'t [Node]) -> Walk {
        nodes.iter().try_for_each(|node| self.walk(dot, node))
    }

    fn walk(&mut self, dot: &Seen, node: &'t Node) -> Walk {
        self.at(node)?;
        match &node.kind {
            Kind::Text(text) => self.write(text),
            Kind::Action(pipe) => {
                let value = self.pipeline(dot, pipe)?;
                self.at(node)?;
                if matches!(&pipe.kind, Kind::Pipe { declared, .. } if declared.is_empty()) {
                    self.write(&format::printed(&value))?;
                }
                Ok(())
            }
            Kind::Break => Err(Stop::Break),
            Kind::Continue => Err(Stop::Continue),
            Kind::Branch { word: Word::Range, pipe, list, otherwise } => {
                let mark = self.variables.len();
                let walked = self.range(dot, pipe, list, otherwise.as_deref());
                self.variables.truncate(mark);
                match walked {
                    Err(Stop::Break) => Ok(()),
                    other => other,
                }
            }
            Kind::Branch { word, pipe, list, otherwise } => {
                let mark = self.variables.len();
                let value = self.pipeline(dot, pipe)?;
                let walked = match (value.truth(), word, otherwise) {
                    (true, Word::With, _) => self.walk_all(&Seen::plain(value), list),
                    (true, ..) => self.walk_all(dot, list),
                    (false, _, Some(otherwise)) => self.walk_all(dot, otherwise),
                    (false, _, None) => Ok(()),
                };
                self.variables.truncate(mark);
                walked
            }
            Kind::Template(name, pipe) => self.template(dot, name, pipe.as_deref()),
            _ => self.error(format_args!("unknown node: {node}")),
        }
    }

    fn range(&mut self, dot: &Seen, pipe: &'t Node, list: &'t [Node], otherwise: Option<&'t [Node]>) -> Walk {
        let Kind::Pipe { declared, assigns, .. } = &pipe.kind else { return Ok(()) };
        let value = self.pipeline(dot, pipe)?;
        let boxed = |value: Value, elem: Elem| Seen { value, boxed: elem == Elem::Any };
        let pairs: Box<dyn Iterator<Item = (Value, Seen)>> = match &value {
            Value::Int(_) | Value::Int64(_) if declared.len() > 1 => {
                let shown = format::printed(&value);
                return self.error(format_args!("can't use {shown} to iterate over more than one variable"));
            }
            Value::Int(count) => Box::new((0..*count).map(|at| (Value::Invalid, Seen::plain(Value::Int(at))))),
            Value::Int64(count) => Box::new((0..*count).map(|at| (Value::Invalid, Seen::plain(Value::Int64(at))))),
            Value::List(elem, items) => {
                let (items, elem) = (items.to_vec(), *elem);
                Box::new((0..).map(Value::Int).zip(items.into_iter().map(move |item| boxed(item, elem))))
            }
            Value::Map(elem, entries) => {
                let (entries, elem) = (entries.borrow().clone(), *elem);
                Box::new(entries.into_iter().map(move |(key, item)| (Value::str(key), boxed(item, elem))))
            }
            Value::Invalid | Value::Nil => Box::new(std::iter::empty()),
            other => {
                let shown = format::printed(other);
                return self.error(format_args!("range can't iterate over {shown}"));
            }
        };
        let mark = self.variables.len();
        let mut run = false;
        for (index, item) in pairs {
            run = true;
            self.bind(declared, *assigns, mark, index, &item)?;
            let walked = self.walk_all(&item, list);
            self.variables.truncate(mark);
            match walked {
                Ok(()) | Err(Stop::Continue) => {}
                Err(stop) => return Err(stop),
            }
            self.steps += 1;
        }
        if run { Ok(()) } else { otherwise.map_or(Ok(()), |otherwise| self.walk_all(dot, otherwise)) }
    }

    fn bind(&mut self, declared: &'t [Node], assigns: bool, mark: usize, index: Value, item: &Seen) -> Eval<()> {
        let mut targets = vec![item.clone()];
        if declared.len() > 1 {
            targets.insert(0, Seen::plain(index));
        }
        for (at, target) in declared.iter().zip(targets).enumerate() {
            let (node, value) = target;
            if assigns {
                self.set_variable(node, value)?;
            } else if let Some(slot) =
                (mark - declared.len().min(mark)).checked_add(at).and_then(|slot| self.variables.get_mut(slot))
            {
                slot.1 = value;
            }
        }
        Ok(())
    }

    fn template(&mut self, dot: &Seen, name: &'t str, pipe: Option<&'t Node>) -> Walk {
        let set = self.set;
        let Some((name, nodes)) = set.get_key_value(name) else {
            return self.error(format_args!("template {} not defined", quote(name)));
        };
        if self.level >= MAX_LEVELS {
            return self.error(format_args!("exceeded maximum template depth ({MAX_LEVELS})"));
        }
        let dot = match pipe {
            Some(pipe) => self.pipeline(dot, pipe)?,
            None => Value::Invalid,
        };
        let dot = Seen::plain(dot);
        let variables = std::mem::replace(&mut self.variables, vec![("$".to_owned(), dot.clone())]);
        let (outer, node) = (std::mem::replace(&mut self.name, name), self.node);
        self.level += 1;
        self.walk_all(&dot, nodes)?;
        self.level -= 1;
        (self.name, self.node, self.variables) = (outer, node, variables);
        Ok(())
    }

    fn set_variable(&mut self, node: &Node, value: Seen) -> Eval<()> {
        let Kind::Variable(names) = &node.kind else { return Ok(()) };
        let wanted = names.first().map(String::as_str).unwrap_or_default();
        match self.variables.iter_mut().rev().find(|(name, _)| name == wanted) {
            Some(found) => found.1 = value,
            None => return self.error(format_args!("undefined variable: {wanted}")),
        }
        Ok(())
    }

    fn pipeline(&mut self, dot: &Seen, node: &'t Node) -> Eval<Value> {
        self.at(node)?;
        let Kind::Pipe { declared, assigns, commands } = &node.kind else { return self.error("no pipeline") };
        let mut last = None;
        for command in commands {
            let mut seen = self.command(dot, command, last.take())?;
            if seen.value.is_nil() {
                seen.value = Value::Invalid;
            }
            last = Some(seen.value);
        }
        let value = last.unwrap_or(Value::Invalid);
        for variable in declared {
            let Kind::Variable(names) = &variable.kind else { continue };
            if *assigns {
                self.set_variable(variable, Seen::plain(value.clone()))?;
            } else {
                self.variables.push((names.concat(), Seen::plain(value.clone())));
            }
        }
        Ok(value)
    }

    fn command(&mut self, dot: &Seen, command: &'t Node, last: Option<Value>) -> Eval<Seen> {
        let Kind::Command(arguments) = &command.kind else { return self.error("no command") };
        let Some((first, rest)) = arguments.split_first() else { return self.error("empty command") };
        match &first.kind {
            Kind::Field(_) | Kind::Chain(..) => return self.operand(dot, first, !rest.is_empty() || last.is_some()),
            Kind::Variable(names) if names.len() > 1 => {
                return self.operand(dot, first, !rest.is_empty() || last.is_some());
            }
            Kind::Identifier(name) => return self.call(dot, first, command, name, rest, last),
            _ => {}
        }
        if !matches!(first.kind, Kind::Pipe { .. }) {
            self.at(first)?;
        }
        if !rest.is_empty() || last.is_some() {
            return self.error(format_args!("can't give argument to non-function {first}"));
        }
        match &first.kind {
            Kind::Nil => self.error("nil is not a command"),
            _ => self.operand(dot, first, false),
        }
    }

    /// The value of anything but a function with arguments.
    fn operand(&mut self, dot: &Seen, node: &'t Node, has_arguments: bool) -> Eval<Seen> {
        if !matches!(node.kind, Kind::Pipe { .. }) {
            self.at(node)?;
        }
        match &node.kind {
            Kind::Field(names) => self.fields(dot.clone(), names, has_arguments),
            Kind::Variable(names) => {
                let Some((name, rest)) = names.split_first() else { return self.error("no variable") };
                let found =
                    self.variables.iter().rev().find(|(known, _)| known == name).map(|(_, value)| value.clone());
                match found {
                    Some(value) => self.fields(value, rest, has_arguments),
                    None => self.error(format_args!("undefined variable: {name}")),
                }
            }
            Kind::Chain(inner, names) => {
                if matches!(inner.kind, Kind::Nil) {
                    return self.error(format_args!("indirection through explicit nil in {node}"));
                }
                let receiver = self.operand(dot, inner, false)?;
                self.fields(receiver, names, has_arguments)
            }
            Kind::Pipe { .. } => self.pipeline(dot, node).map(Seen::plain),
            Kind::Identifier(name) => self.call(dot, node, node, name, &[], None),
            Kind::Dot => Ok(dot.clone()),
            Kind::Bool(flag) => Ok(Seen::plain(Value::Bool(*flag))),
            Kind::String { text, .. } => Ok(Seen::plain(Value::str(text))),
            Kind::Number(number) => self.ideal(number).map(Seen::plain),
            _ => self.error(format_args!("can't evaluate command {}", quote(&node.to_string()))),
        }
    }

    fn ideal(&self, number: &Number) -> Eval<Value> {
        match (number.float, number.int) {
            (Some(float), _) if number.is_float() => Ok(Value::Float(float)),
            (_, Some(int)) => Ok(Value::Int(int)),
            _ => self.error(format_args!("{} overflows int", number.text)),
        }
    }

    fn fields(&mut self, mut receiver: Seen, names: &[String], has_arguments: bool) -> Eval<Seen> {
        for (at, name) in names.iter().enumerate() {
            receiver = self.field(&receiver, name, has_arguments && at + 1 == names.len())?;
        }
        Ok(receiver)
    }

    fn field(&self, receiver: &Seen, name: &str, has_arguments: bool) -> Eval<Seen> {
        match &receiver.value {
            Value::Invalid if self.missing_key == MissingKey::Error => {
                self.error(format_args!("nil data; no entry for key {}", quote(name)))
            }
            Value::Invalid => Ok(Seen::plain(Value::Invalid)),
            Value::Nil => self.error(format_args!("nil pointer evaluating interface {{}}.{name}")),
            Value::Map(elem, entries) => {
                if has_arguments {
                    return self.error(format_args!("{name} is not a method but has arguments"));
                }
                let boxed = *elem == Elem::Any;
                match (entries.borrow().get(name), self.missing_key) {
                    (Some(value), _) => Ok(Seen { value: value.clone(), boxed }),
                    (None, MissingKey::Invalid) => Ok(Seen::plain(Value::Invalid)),
                    (None, MissingKey::Zero) if boxed => Ok(Seen { value: Value::Nil, boxed }),
                    (None, MissingKey::Zero) => Ok(Seen::plain(Value::str(""))),
                    (None, MissingKey::Error) => self.error(format_args!("map has no entry for key {}", quote(name))),
                }
            }
            Value::Version(version) => match version.method(name) {
                Some(value) => Ok(Seen::plain(value)),
                None => self.error(format_args!("can't evaluate field {name} in type *semver.Version")),
            },
            _ => self.error(format_args!("can't evaluate field {name} in type {}", receiver.type_name())),
        }
    }

    fn call(
        &mut self,
        dot: &Seen,
        node: &'t Node,
        command: &'t Node,
        name: &str,
        arguments: &'t [Node],
        last: Option<Value>,
    ) -> Eval<Seen> {
        self.at(node)?;
        let Some(function) = functions::find(name) else {
            return self.error(format_args!("{} is not a defined function", quote(name)));
        };
        let given = arguments.len() + usize::from(last.is_some());
        let fixed = function.fixed();
        if function.is_variadic() && given < fixed {
            return self
                .error(format_args!("wrong number of args for {name}: want at least {fixed} got {}", arguments.len()));
        }
        if !function.is_variadic() && given != fixed {
            return self.error(format_args!("wrong number of args for {name}: want {fixed} got {given}"));
        }
        if matches!(name, "and" | "or") {
            return self.short_circuit(dot, name == "or", arguments, last);
        }
        let mut values = Vec::with_capacity(given);
        for (at, argument) in arguments.iter().enumerate() {
            values.push(self.argument(dot, function.parameter(at), argument)?);
        }
        if let Some(last) = last {
            values.push(self.validate(Seen::plain(last), function.parameter(arguments.len()))?);
        }
        if let ("call", Some(shown), Some(value)) = (name, arguments.first(), values.first().filter(|it| !it.is_nil()))
        {
            let problem = format!("error calling call: non-function {shown} of type {}", value.type_name());
            self.at(command)?;
            return self.error(problem);
        }
        match (function.run)(&mut self.context, values) {
            Ok(value) => Ok(Seen::plain(value)),
            Err(problem) => {
                self.at(command)?;
                self.error(format_args!("error calling {name}: {problem}"))
            }
        }
    }

    fn short_circuit(&mut self, dot: &Seen, stops_on: bool, arguments: &'t [Node], last: Option<Value>) -> Eval<Seen> {
        let mut value = Value::Invalid;
        for argument in arguments {
            value = self.argument(dot, 'v', argument)?;
            if value.truth() == stops_on {
                return Ok(Seen::plain(value));
            }
        }
        Ok(Seen::plain(last.unwrap_or(value)))
    }

    fn argument(&mut self, dot: &Seen, wanted: char, node: &'t Node) -> Eval<Value> {
        self.at(node)?;
        match (&node.kind, wanted) {
            (Kind::Nil, 's' | 'i' | 'I' | 'f' | 'b') => {
                self.error(format_args!("cannot assign nil to {}", Function::type_name(wanted)))
            }
            (Kind::Nil, _) => self.validate(Seen::plain(Value::Invalid), wanted),
            (Kind::Bool(flag), 'b' | 'a' | 'v') => Ok(Value::Bool(*flag)),
            (Kind::String { text, .. }, 's' | 'a' | 'v') => Ok(Value::str(text)),
            (Kind::Number(number), 'a' | 'v') => self.ideal(number),
            (Kind::Number(Number { int: Some(int), .. }), 'i') => Ok(Value::Int(*int)),
            (Kind::Number(Number { int: Some(int), .. }), 'I') => Ok(Value::Int64(*int)),
            (Kind::Number(Number { float: Some(float), .. }), 'f') => Ok(Value::Float(*float)),
            (Kind::Bool(_) | Kind::String { .. } | Kind::Number(_), _) => {
                let expected = match wanted {
                    'b' => "bool",
                    's' => "string",
                    'i' | 'I' => "integer",
                    'f' => "float",
                    _ => {
                        let name = Function::type_name(wanted);
                        return self.error(format_args!("can't handle {node} for arg of type {name}"));
                    }
                };
                self.error(format_args!("expected {expected}; found {node}"))
            }
            _ => {
                let seen = self.operand(dot, node, false)?;
                self.validate(seen, wanted)
            }
        }
    }

    fn validate(&self, seen: Seen, wanted: char) -> Eval<Value> {
        let name = Function::type_name(wanted);
        match (&seen.value, wanted) {
            (_, 'v') => Ok(seen.value),
            (Value::Invalid, 'a') => Ok(Value::Nil),
            (_, 'a') => Ok(seen.value),
            (Value::Invalid, 'm') => Ok(Value::map(Elem::Any, std::collections::BTreeMap::new())),
            (Value::Invalid, 'l') => Ok(Value::list(Vec::new())),
            (Value::Invalid, _) => self.error(format_args!("invalid value; expected {name}")),
            (Value::Nil, _) => self.error(format_args!("wrong type for value; expected {name}; got interface {{}}")),
            (value, _) if value.type_name() == name => Ok(seen.value),
            (value, _) => self.error(format_args!("wrong type for value; expected {name}; got {}", value.type_name())),
        }
    }
}
