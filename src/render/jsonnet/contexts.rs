//! What each expression of a source is part of, as go-jsonnet names it in stack traces.
//!
//! In:  a source that was read before without failure.
//! Out: `function <f>`, `object <anonymous>`, `thunk <x> from <$>` and such, by the expression's place.
//! Invariant: expressions that go-jsonnet leaves without a name stay without one.
//! Source: `go-jsonnet` `internal/parser/context.go`.

use std::collections::HashMap;

use rsjsonnet_lang::arena::Arena;
use rsjsonnet_lang::ast::{
    Arg, BinaryOp, Bind, CompSpecPart, Expr, ExprKind, Field, FieldName, Member, ObjInside, Param,
};
use rsjsonnet_lang::interner::StrInterner;
use rsjsonnet_lang::lexer::Lexer;
use rsjsonnet_lang::parser::Parser;
use rsjsonnet_lang::program::Program;
use rsjsonnet_lang::span::{SpanContextId, SpanId, SpanManager};

const ANONYMOUS: &str = "anonymous";

/// Start and end of an expression.
type Range = (usize, usize);

/// What is known of a source's expressions.
#[derive(Default)]
pub struct Outline {
    /// What an expression is part of.
    pub names: HashMap<Range, String>,
    /// The larger expression that go-jsonnet blames for a failure of this one.
    pub blamed: HashMap<Range, Range>,
    /// Positional arguments of a call.
    pub arguments: HashMap<Range, usize>,
}

/// Reads a source once more.
pub fn outline(program: &mut Program<'_>, context: SpanContextId, source: &str) -> Outline {
    let (arena, ast, strings) = (Arena::new(), Arena::new(), StrInterner::new());
    let spans = program.span_manager_mut();
    let lexer = Lexer::new(&arena, &ast, &strings, spans, context, source.as_bytes());
    let Ok(tokens) = lexer.lex_to_eof(false) else { return Outline::default() };
    let Ok(root) = Parser::new(&arena, &ast, &strings, spans, tokens).parse_root_expr() else {
        return Outline::default();
    };
    let mut walk = Walk { spans, outline: Outline::default() };
    walk.expr(&root, "$", ANONYMOUS);
    walk.outline
}

struct Walk<'a> {
    spans: &'a SpanManager,
    outline: Outline,
}

/// Whether go-jsonnet makes a call of its library out of the expression, which then has no name.
fn is_rewritten(kind: &ExprKind<'_, '_>) -> bool {
    matches!(
        kind,
        ExprKind::Binary(_, BinaryOp::Rem | BinaryOp::In, _)
            | ExprKind::Slice(..)
            | ExprKind::ArrayComp(..)
            | ExprKind::Object(ObjInside::Comp { .. })
            | ExprKind::Assert(..)
    )
}

impl Walk<'_> {
    fn range(&self, span: SpanId) -> Range {
        let (_, start, end) = self.spans.get_span(span);
        (start, end)
    }

    /// Notes for which of its parts an expression is blamed.
    fn blame(&mut self, expr: &Expr<'_, '_>, own: Range) {
        let mut parts: Vec<SpanId> = Vec::new();
        match &expr.kind {
            ExprKind::Assert(assert, _) => parts.push(assert.span),
            ExprKind::If(cond, ..) => parts.push(cond.span),
            ExprKind::ArrayComp(_, spec) | ExprKind::Object(ObjInside::Comp { comp_spec: spec, .. }) => {
                parts.extend(spec.iter().map(|part| match part {
                    CompSpecPart::For(part) => part.inner.span,
                    CompSpecPart::If(part) => part.cond.span,
                }));
                if let ExprKind::Object(ObjInside::Comp { name, .. }) = &expr.kind {
                    parts.push(name.span);
                }
            }
            ExprKind::Call(_, args, _) => {
                parts.extend(args.iter().filter_map(|arg| match arg {
                    Arg::Named(name, _) => Some(name.span),
                    Arg::Positional(_) => None,
                }));
                let positional = args.iter().filter(|arg| matches!(arg, Arg::Positional(_))).count();
                self.outline.arguments.insert(own, positional);
            }
            ExprKind::Object(ObjInside::Members(members)) => {
                parts.extend(members.iter().filter_map(|member| match member {
                    Member::Field(field) => Some(match field.name() {
                        FieldName::Ident(name) => name.span,
                        FieldName::String(_, span) => *span,
                        FieldName::Expr(_, brackets) => *brackets,
                    }),
                    _ => None,
                }))
            }
            _ => {}
        }
        for part in parts {
            let part = self.range(part);
            self.outline.blamed.insert(part, own);
        }
    }

    /// Names an expression and what is evaluated with it. `bind` is the variable that the expression is the value of.
    fn expr(&mut self, expr: &Expr<'_, '_>, context: &str, bind: &str) {
        let own = self.range(expr.span);
        if !is_rewritten(&expr.kind) {
            self.outline.names.entry(own).or_insert_with(|| context.to_owned());
        }
        self.blame(expr, own);
        match &expr.kind {
            ExprKind::Func(params, body) => self.function(params, body, bind),
            ExprKind::Object(inside) => self.object(inside, context, bind),
            ExprKind::ObjExt(left, inside, _) => {
                self.expr(left, context, ANONYMOUS);
                self.object(inside, context, ANONYMOUS);
            }
            ExprKind::Local(binds, body) => {
                for bind in *binds {
                    self.bind(bind, context);
                }
                self.expr(body, context, bind);
            }
            ExprKind::Call(target, args, _) => {
                self.expr(target, context, ANONYMOUS);
                let thunk = format!("thunk from <{context}>");
                for arg in *args {
                    let (Arg::Positional(value) | Arg::Named(_, value)) = arg;
                    self.expr(value, &thunk, ANONYMOUS);
                }
            }
            ExprKind::Array(items) => {
                let thunk = format!("thunk from <{context}>");
                items.iter().for_each(|item| self.expr(item, &thunk, ANONYMOUS));
            }
            ExprKind::ArrayComp(body, spec) => {
                self.comprehension(spec, context);
                self.expr(body, &format!("thunk from <{context}>"), ANONYMOUS);
            }
            _ => self.children(expr, context),
        }
    }

    /// The parts of an expression that are evaluated with it, where these need no name of their own.
    fn children(&mut self, expr: &Expr<'_, '_>, context: &str) {
        let parts: Vec<&Expr<'_, '_>> = match &expr.kind {
            ExprKind::Binary(left, _, right) | ExprKind::Index(left, right) => vec![left, right],
            ExprKind::Slice(target, begin, end, _) => std::iter::once(*target).chain(*begin).chain(*end).collect(),
            ExprKind::If(cond, then, otherwise) => [*cond, *then].into_iter().chain(*otherwise).collect(),
            ExprKind::Assert(assert, rest) => std::iter::once(&assert.cond).chain(&assert.msg).chain([*rest]).collect(),
            ExprKind::Error(inner) | ExprKind::Paren(inner) | ExprKind::Unary(_, inner) => vec![inner],
            ExprKind::SuperIndex(_, index) | ExprKind::InSuper(index, _) => vec![index],
            // A field access leaves its target without a name.
            _ => Vec::new(),
        };
        for part in parts {
            self.expr(part, context, ANONYMOUS);
        }
    }

    fn function(&mut self, params: &[Param<'_, '_>], body: &Expr<'_, '_>, name: &str) {
        let context = format!("function <{name}>");
        self.expr(body, &context, ANONYMOUS);
        for default in params.iter().filter_map(|param| param.default_value.as_ref()) {
            self.expr(default, &context, ANONYMOUS);
        }
    }

    fn bind(&mut self, bind: &Bind<'_, '_>, context: &str) {
        let name = bind.name.value.value();
        match bind.params {
            Some((params, _)) => self.function(params, &bind.value, name),
            None => self.expr(&bind.value, &format!("thunk <{name}> from <{context}>"), name),
        }
    }

    fn comprehension(&mut self, spec: &[CompSpecPart<'_, '_>], context: &str) {
        for part in spec {
            match part {
                CompSpecPart::For(part) => self.expr(&part.inner, context, ANONYMOUS),
                CompSpecPart::If(part) => self.expr(&part.cond, context, ANONYMOUS),
            }
        }
    }

    fn object(&mut self, inside: &ObjInside<'_, '_>, context: &str, bind: &str) {
        let own = format!("object <{bind}>");
        match inside {
            ObjInside::Members(members) => {
                for member in *members {
                    self.member(member, context, &own);
                }
            }
            ObjInside::Comp { name, body, comp_spec, .. } => {
                self.expr(name, context, ANONYMOUS);
                self.comprehension(comp_spec, context);
                self.expr(body, &own, ANONYMOUS);
            }
        }
    }

    fn member(&mut self, member: &Member<'_, '_>, context: &str, own: &str) {
        match member {
            Member::Local(local) => match local.bind.params {
                Some((params, _)) => self.function(params, &local.bind.value, ANONYMOUS),
                None => self.expr(&local.bind.value, own, ANONYMOUS),
            },
            Member::Assert(assert) => {
                self.expr(&assert.cond, own, ANONYMOUS);
                if let Some(message) = &assert.msg {
                    self.expr(message, own, ANONYMOUS);
                }
            }
            Member::Field(field) => {
                if let FieldName::Expr(name, _) = field.name() {
                    self.expr(name, context, ANONYMOUS);
                }
                match field {
                    Field::Value(_, _, _, value) => self.expr(value, own, ANONYMOUS),
                    Field::Func(_, params, _, _, body) => self.function(params, body, ANONYMOUS),
                }
            }
        }
    }
}
