//! Objects: fields, locals, assertions and comprehensions.
//!
//! In:  the tokens behind an opening brace.
//! Out: where the object ends, or the first problem.
//! Source: `go-jsonnet` `internal/parser/parser.go` `parseObjectRemainder`.

use super::{LOWEST, Parser, at, check_escapes};
use crate::render::jsonnet::tokens::{Kind, Problem, Token};

/// What the members so far allow a comprehension to be.
#[derive(Default)]
struct Members {
    names: Vec<String>,
    locals: Vec<String>,
    fields: usize,
    asserts: usize,
    /// Whether the last field is hidden or shown by force.
    is_special: bool,
    /// Whether the last field's name is `[computed]`.
    is_computed: bool,
}

impl Parser {
    pub(super) fn object(&mut self) -> Result<usize, Problem> {
        let mut members = Members::default();
        let (mut may_follow, mut next) = (true, self.pop());
        loop {
            if next.is("}") {
                return Ok(next.end);
            }
            if next.is("for") {
                members.allow_comprehension(&next)?;
                return self.comprehension("}");
            }
            if !may_follow {
                return Err(at(&next, "Expected a comma before next field".to_owned()));
            }
            self.member(&mut members, &next)?;
            next = self.pop();
            may_follow = next.is(",");
            if may_follow {
                next = self.pop();
            }
        }
    }

    fn member(&mut self, members: &mut Members, first: &Token) -> Result<(), Problem> {
        if first.is("local") {
            let name = self.identifier()?;
            if members.locals.contains(&name.text) {
                return Err(at(&name, format!("Duplicate local var: {}", name.text)));
            }
            members.locals.push(name.text);
            return self.definition();
        }
        if first.is("assert") {
            members.asserts += 1;
            self.expression(LOWEST)?;
            if self.peek().is_operator(":") {
                self.pop();
                self.expression(LOWEST)?;
            }
            return Ok(());
        }
        if first.kind == Kind::Identifier || first.is_string() || first.is("[") {
            return self.field(members, first);
        }
        Err(at(first, format!("Unexpected: {} while parsing field definition", first.shown())))
    }

    fn field(&mut self, members: &mut Members, name: &Token) -> Result<(), Problem> {
        members.fields += 1;
        members.is_computed = name.is("[");
        if members.is_computed {
            self.expression(LOWEST)?;
            self.expect("]")?;
        } else if name.is_string() {
            check_escapes(name)?;
        }
        let is_method = self.takes("(");
        if is_method {
            self.parameters("method parameter")?;
        }
        let operator = self.pop();
        if operator.kind != Kind::Operator {
            return Err(at(&operator, format!("Expected token OPERATOR but got {}", operator.shown())));
        }
        let colons = operator.text.strip_prefix('+').unwrap_or(&operator.text);
        if !matches!(colons, ":" | "::" | ":::") {
            let text = format!("Expected one of :, ::, :::, +:, +::, +:::, got: {}", operator.text);
            return Err(at(&operator, text));
        }
        members.is_special = colons != ":";
        if is_method && colons != operator.text {
            return Err(at(name, format!("Cannot use +: syntax sugar in a method: {}", name.text)));
        }
        if !members.is_computed {
            if members.names.contains(&name.text) {
                return Err(at(name, format!("Duplicate field: {}", name.text)));
            }
            members.names.push(name.text.clone());
        }
        self.expression(LOWEST).map(|_| ())
    }
}

impl Members {
    fn allow_comprehension(&self, place: &Token) -> Result<(), Problem> {
        let refusal = if self.asserts > 0 {
            "Object comprehension cannot have asserts"
        } else if self.fields != 1 {
            "Object comprehension can only have one field"
        } else if self.is_special {
            "Object comprehensions cannot have hidden fields"
        } else if !self.is_computed {
            "Object comprehensions can only have [e] fields"
        } else {
            return Ok(());
        };
        Err(at(place, refusal.to_owned()))
    }
}
